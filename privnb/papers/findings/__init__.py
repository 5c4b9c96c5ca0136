"""Sentences computed from what the papers ran."""

from privnb.papers.findings.channel import errata, leakage, random_levels
from privnb.papers.findings.tradeoff import privacy_models
from privnb.papers.findings.workload import adversary_and_researcher

__all__ = ["adversary_and_researcher", "errata", "leakage", "privacy_models", "random_levels"]

"""Sentences computed from the results of the papers' experiments."""

from privnb.papers.findings.channel import leakage, random_levels
from privnb.papers.findings.tradeoff import privacy_models
from privnb.papers.findings.workload import adversary_and_researcher

__all__ = ["adversary_and_researcher", "leakage", "privacy_models", "random_levels"]

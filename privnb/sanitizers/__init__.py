"""Sanitizers, one a file: each turns a Dataset into a Release of as many rows."""

from privnb.sanitizers.base import SanitizationError, Sanitizer
from privnb.sanitizers.identity import Identity
from privnb.sanitizers.k_member import KMember
from privnb.sanitizers.laplace_noise import LaplaceNoise
from privnb.sanitizers.suppress import Suppress

__all__ = ["Identity", "KMember", "LaplaceNoise", "SanitizationError", "Sanitizer", "Suppress"]

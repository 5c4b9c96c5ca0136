"""Sanitizers, one a file: each turns a Dataset into a Release of as many rows.

`sanitize` makes a release of a table of any length.
"""

from privnb.sanitizers.anatomy import Anatomy
from privnb.sanitizers.any_length import sanitize
from privnb.sanitizers.base import SanitizationError, Sanitizer
from privnb.sanitizers.bucketize import Bucketize
from privnb.sanitizers.full_domain import FullDomain
from privnb.sanitizers.geometric_noise import GeometricNoise
from privnb.sanitizers.identity import Identity
from privnb.sanitizers.k_member import KMember
from privnb.sanitizers.laplace_noise import LaplaceNoise
from privnb.sanitizers.local_recoding import LocalRecoding
from privnb.sanitizers.mondrian import Mondrian
from privnb.sanitizers.randomized_response import RandomizedResponse
from privnb.sanitizers.suppress import Suppress
from privnb.sanitizers.top_down_specialization import TopDownSpecialization

__all__ = [  # noqa: RUF022 - the order of every list of sanitizers
    "Mondrian", "LocalRecoding", "FullDomain", "TopDownSpecialization", "KMember",
    "Bucketize", "Anatomy",
    "LaplaceNoise", "GeometricNoise", "RandomizedResponse",
    "Suppress", "Identity",
    "SanitizationError", "Sanitizer", "sanitize",
]  # fmt: skip

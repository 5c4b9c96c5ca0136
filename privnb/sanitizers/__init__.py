"""Sanitizers, one a file: each turns a Dataset into a Release of as many rows.

`sanitize` makes a release of a table of any length.
"""

from privnb.sanitizers.additive_noise import AdditiveNoise
from privnb.sanitizers.anatomy import Anatomy
from privnb.sanitizers.any_length import sanitize
from privnb.sanitizers.base import SanitizationError, Sanitizer
from privnb.sanitizers.bucketize import Bucketize
from privnb.sanitizers.condensation import Condensation
from privnb.sanitizers.data_swapping import DataSwapping
from privnb.sanitizers.full_domain import FullDomain
from privnb.sanitizers.gamma_diagonal import GammaDiagonal
from privnb.sanitizers.geometric_noise import GeometricNoise
from privnb.sanitizers.geometric_perturbation import GeometricPerturbation
from privnb.sanitizers.hybrid_masking import HybridMasking
from privnb.sanitizers.identity import Identity
from privnb.sanitizers.ipso import Ipso
from privnb.sanitizers.k_member import KMember
from privnb.sanitizers.laplace_noise import LaplaceNoise
from privnb.sanitizers.latin_hypercube import LatinHypercube
from privnb.sanitizers.local_recoding import LocalRecoding
from privnb.sanitizers.local_suppression import LocalSuppression
from privnb.sanitizers.lognormal_noise import LognormalNoise
from privnb.sanitizers.mask import Mask
from privnb.sanitizers.masking_noise import MaskingNoise
from privnb.sanitizers.microaggregation import Microaggregation
from privnb.sanitizers.mondrian import Mondrian
from privnb.sanitizers.multiple_imputation import MultipleImputation
from privnb.sanitizers.pram import Pram
from privnb.sanitizers.random_projection import RandomProjection
from privnb.sanitizers.randomized_response import RandomizedResponse
from privnb.sanitizers.rank_swapping import RankSwapping
from privnb.sanitizers.rare_categories import RareCategories
from privnb.sanitizers.resampling import Resampling
from privnb.sanitizers.resilient_perturbation import ResilientPerturbation
from privnb.sanitizers.retention_replacement import RetentionReplacement
from privnb.sanitizers.rotation import Rotation
from privnb.sanitizers.rounding import Rounding
from privnb.sanitizers.sampling import Sampling
from privnb.sanitizers.suppress import Suppress
from privnb.sanitizers.top_bottom_coding import TopBottomCoding
from privnb.sanitizers.top_down_specialization import TopDownSpecialization
from privnb.sanitizers.univariate_microaggregation import UnivariateMicroaggregation

__all__ = [  # noqa: RUF022 - the order of every list of sanitizers
    "Mondrian", "LocalRecoding", "FullDomain", "TopDownSpecialization", "KMember",
    "Bucketize", "Anatomy",
    "LaplaceNoise", "GeometricNoise", "RandomizedResponse",
    "GammaDiagonal", "Mask", "Pram", "RetentionReplacement", "AdditiveNoise", "DataSwapping",
    "RareCategories", "LocalSuppression", "Sampling",
    "Rotation", "RandomProjection", "GeometricPerturbation", "ResilientPerturbation",
    "Microaggregation", "UnivariateMicroaggregation", "Condensation",
    "MaskingNoise", "LognormalNoise", "RankSwapping", "Resampling", "Rounding", "TopBottomCoding",
    "HybridMasking", "Ipso", "LatinHypercube", "MultipleImputation",
    "Suppress", "Identity",
    "SanitizationError", "Sanitizer", "sanitize",
]  # fmt: skip

"""Sanitizers, one a file, in families: each turns a Dataset into a Release of as many rows."""

from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.generalization.anatomy import Anatomy
from privnb.sanitizers.generalization.bucketize import Bucketize
from privnb.sanitizers.generalization.full_domain import FullDomain
from privnb.sanitizers.generalization.k_member import KMember
from privnb.sanitizers.generalization.local_recoding import LocalRecoding
from privnb.sanitizers.generalization.local_suppression import LocalSuppression
from privnb.sanitizers.generalization.mondrian import Mondrian
from privnb.sanitizers.generalization.rare_categories import RareCategories
from privnb.sanitizers.generalization.suppress import Suppress
from privnb.sanitizers.generalization.top_down_specialization import TopDownSpecialization
from privnb.sanitizers.identity import Identity
from privnb.sanitizers.masking.condensation import Condensation
from privnb.sanitizers.masking.data_swapping import DataSwapping
from privnb.sanitizers.masking.microaggregation import Microaggregation
from privnb.sanitizers.masking.rank_swapping import RankSwapping
from privnb.sanitizers.masking.resampling import Resampling
from privnb.sanitizers.masking.rounding import Rounding
from privnb.sanitizers.masking.sampling import Sampling
from privnb.sanitizers.masking.top_bottom_coding import TopBottomCoding
from privnb.sanitizers.masking.univariate_microaggregation import UnivariateMicroaggregation
from privnb.sanitizers.multiplicative.geometric_perturbation import GeometricPerturbation
from privnb.sanitizers.multiplicative.random_projection import RandomProjection
from privnb.sanitizers.multiplicative.resilient_perturbation import ResilientPerturbation
from privnb.sanitizers.multiplicative.rotation import Rotation
from privnb.sanitizers.noise.additive_noise import AdditiveNoise
from privnb.sanitizers.noise.gamma_diagonal import GammaDiagonal
from privnb.sanitizers.noise.geometric_noise import GeometricNoise
from privnb.sanitizers.noise.laplace_noise import LaplaceNoise
from privnb.sanitizers.noise.lognormal_noise import LognormalNoise
from privnb.sanitizers.noise.mask import Mask
from privnb.sanitizers.noise.masking_noise import MaskingNoise
from privnb.sanitizers.noise.pram import Pram
from privnb.sanitizers.noise.randomized_response import RandomizedResponse
from privnb.sanitizers.noise.retention_replacement import RetentionReplacement
from privnb.sanitizers.synthetic.hybrid_masking import HybridMasking
from privnb.sanitizers.synthetic.ipso import Ipso
from privnb.sanitizers.synthetic.latin_hypercube import LatinHypercube
from privnb.sanitizers.synthetic.multiple_imputation import MultipleImputation

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
    "SanitizationError", "Sanitizer",
]  # fmt: skip

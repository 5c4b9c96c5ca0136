"""Attacks, one a file: each plays an adversary who has the release and knows something of people in it."""

from privnb.attacks.base import Attack
from privnb.attacks.distance_inference import DistanceInference
from privnb.attacks.distance_linkage import DistanceLinkage
from privnb.attacks.distribution_analysis import DistributionAnalysis
from privnb.attacks.eigen_analysis import EigenAnalysis
from privnb.attacks.empirical_map import EmpiricalMap
from privnb.attacks.enhanced_ica import EnhancedIca
from privnb.attacks.gaussian_map import GaussianMap
from privnb.attacks.ica import Ica
from privnb.attacks.known_projection import KnownProjection
from privnb.attacks.known_regression import KnownRegression
from privnb.attacks.known_rotation import KnownRotation
from privnb.attacks.likelihood_linkage import LikelihoodLinkage
from privnb.attacks.linkage import Linkage
from privnb.attacks.miner_inference import MinerInference
from privnb.attacks.naive_estimate import NaiveEstimate
from privnb.attacks.one_to_one import OneToOne
from privnb.attacks.pca_removal import PcaRemoval
from privnb.attacks.probabilistic_linkage import ProbabilisticLinkage
from privnb.attacks.sample_ica import SampleIca
from privnb.attacks.spectral_filtering import SpectralFiltering
from privnb.attacks.svd_filtering import SvdFiltering

__all__ = [
    "Attack", "DistanceInference", "DistanceLinkage", "DistributionAnalysis", "EigenAnalysis", "EmpiricalMap",
    "EnhancedIca", "GaussianMap", "Ica", "KnownProjection", "KnownRegression", "KnownRotation", "LikelihoodLinkage",
    "Linkage", "MinerInference", "NaiveEstimate", "OneToOne", "PcaRemoval", "ProbabilisticLinkage", "SampleIca",
    "SpectralFiltering", "SvdFiltering",
]  # fmt: skip

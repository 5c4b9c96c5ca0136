"""Attacks, one a file: each plays an adversary who has the release and knows something of people in it."""

from privnb.attacks.base import Attack
from privnb.attacks.inference.distance_inference import DistanceInference
from privnb.attacks.inference.miner_inference import MinerInference
from privnb.attacks.linkage.distance_linkage import DistanceLinkage
from privnb.attacks.linkage.likelihood_linkage import LikelihoodLinkage
from privnb.attacks.linkage.linkage import Linkage
from privnb.attacks.linkage.one_to_one import OneToOne
from privnb.attacks.linkage.probabilistic_linkage import ProbabilisticLinkage
from privnb.attacks.recovery.distribution_analysis import DistributionAnalysis
from privnb.attacks.recovery.eigen_analysis import EigenAnalysis
from privnb.attacks.recovery.empirical_map import EmpiricalMap
from privnb.attacks.recovery.enhanced_ica import EnhancedIca
from privnb.attacks.recovery.gaussian_map import GaussianMap
from privnb.attacks.recovery.ica import Ica
from privnb.attacks.recovery.known_projection import KnownProjection
from privnb.attacks.recovery.known_regression import KnownRegression
from privnb.attacks.recovery.known_rotation import KnownRotation
from privnb.attacks.recovery.naive_estimate import NaiveEstimate
from privnb.attacks.recovery.pca_removal import PcaRemoval
from privnb.attacks.recovery.sample_ica import SampleIca
from privnb.attacks.recovery.spectral_filtering import SpectralFiltering
from privnb.attacks.recovery.svd_filtering import SvdFiltering

__all__ = [
    "Attack", "DistanceInference", "DistanceLinkage", "DistributionAnalysis", "EigenAnalysis", "EmpiricalMap",
    "EnhancedIca", "GaussianMap", "Ica", "KnownProjection", "KnownRegression", "KnownRotation", "LikelihoodLinkage",
    "Linkage", "MinerInference", "NaiveEstimate", "OneToOne", "PcaRemoval", "ProbabilisticLinkage", "SampleIca",
    "SpectralFiltering", "SvdFiltering",
]  # fmt: skip

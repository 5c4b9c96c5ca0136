"""Attacks, one a file: each plays an adversary who has the release and knows something of people in it."""

from privnb.attacks.base import Attack
from privnb.attacks.gaussian_map import GaussianMap
from privnb.attacks.linkage import Linkage
from privnb.attacks.miner_inference import MinerInference
from privnb.attacks.pca_removal import PcaRemoval
from privnb.attacks.spectral_filtering import SpectralFiltering
from privnb.attacks.svd_filtering import SvdFiltering

__all__ = [
    "Attack", "GaussianMap", "Linkage", "MinerInference", "PcaRemoval", "SpectralFiltering", "SvdFiltering",
]  # fmt: skip

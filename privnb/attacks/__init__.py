"""Attacks, one a file: each plays an adversary who has the release and knows something of people in it."""

from privnb.attacks.base import Attack
from privnb.attacks.linkage import Linkage
from privnb.attacks.miner_inference import MinerInference

__all__ = ["Attack", "Linkage", "MinerInference"]

"""The papers' experiments on any dataset: which evaluations, run over a store, joined. One file a paper.

An evaluation is one task of `store.run`: it is kept under the content of its inputs, so that a run that was killed
goes on where it stopped, and two notebooks that ask for the same number compute it once.
"""

from privnb.experiments.profiles import PROFILES, Profile, weka_here
from privnb.experiments.sramka import BESIDE, absent, adversaries, gains, users

__all__ = ["BESIDE", "PROFILES", "Profile", "absent", "adversaries", "gains", "users", "weka_here"]

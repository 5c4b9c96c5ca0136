"""Miners by name: what learns one column of a table from others, and guesses it for other records.

Trained and asked on the same records (resubstitution, as adversaries do: they have no others), a tree repeats what it
was shown. A guess of a noisy number is then the noise itself, so trees for numbers have at least 50 records a leaf,
and tables and neighbours at least 50 people: a record's own released value weighs at most 2 % in its guess. Trees for
labels keep the usual small leaves, and mostly repeat the released label: a weak attack, but the one that such a miner
is.
"""

from privnb.miners.equivalents import WEKA, equivalents
from privnb.miners.estimators import NaiveBayes
from privnb.miners.fusion import stacking, vote
from privnb.miners.miner import Miner, able, cross_val_predictions, fold_numbers
from privnb.miners.reference import SETS, labellers, reference_set

__all__ = [
    "SETS", "WEKA", "Miner", "NaiveBayes", "able", "cross_val_predictions", "equivalents", "fold_numbers", "labellers",
    "reference_set", "stacking", "vote",
]  # fmt: skip

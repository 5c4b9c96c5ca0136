"""Miners, selected by name: methods that learn to predict one column of a table from other columns.

Adversaries have only the release, so they train a miner on the released records and predict the same records
(resubstitution). A tree then repeats the released values of these records; if a released number is noisy, the
prediction contains the same noise. Trees for numbers therefore have at least 50 records in each leaf, and decision
tables and nearest-neighbor miners average the numbers of at least 50 people. The released value of a record thus has a
weight of at most 2% in the prediction for this record. Trees for labels keep the usual small leaves and mostly repeat
the released label; to repeat the label is a weak attack.
"""

from privnb.miners.equivalents import WEKA, equivalents
from privnb.miners.estimators import NaiveBayes
from privnb.miners.fusion import stacking, vote
from privnb.miners.miner import Miner, cross_val_predictions, fold_numbers, select_able
from privnb.miners.reference import SETS, labellers, reference_set

__all__ = [
    "SETS",
    "WEKA",
    "Miner",
    "NaiveBayes",
    "cross_val_predictions",
    "equivalents",
    "fold_numbers",
    "labellers",
    "reference_set",
    "select_able",
    "stacking",
    "vote",
]  # fmt: skip

"""Miners by name: methods that learn one column of a table from other columns, and predict it for other records.

Adversaries have only the release, so they predict the same records on which a miner was trained (resubstitution), and a
tree then repeats the released values of these records. For a noisy number, such a prediction would be the noise itself.
Trees for numbers therefore have at least 50 records in a leaf, and tables and nearest neighbors use at least 50 people,
so that the released value of a record has a weight of at most 2% in the record's prediction. Trees for labels keep the
usual small leaves and mostly repeat the released label, which is a weak attack.
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

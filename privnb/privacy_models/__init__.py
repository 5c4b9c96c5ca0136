"""Privacy models: the level that each equivalence class reaches, and the bound that it must keep.

Enforcing and measuring share one function, `level(counts, whole)`, from class-by-value counts. Models combine by
listing: `Mondrian(KAnonymity(10), TCloseness(0.2, "occupation"))`.
"""

from privnb.privacy_models.anonymity import AlphaKAnonymity, KAnonymity, PSensitiveKAnonymity, check_k
from privnb.privacy_models.base import PrivacyModel, achieved, tally
from privnb.privacy_models.closeness import (
    BasicBetaLikeness,
    DeltaDisclosure,
    EnhancedBetaLikeness,
    JensenShannonCloseness,
    TCloseness,
)
from privnb.privacy_models.diversity import (
    ConfidenceBound,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    RecursiveDiversity,
)
from privnb.privacy_models.presence import DeltaPresence, KMap

__all__ = [
    "AlphaKAnonymity", "BasicBetaLikeness", "ConfidenceBound", "DeltaDisclosure", "DeltaPresence", "DistinctDiversity",
    "EnhancedBetaLikeness", "EntropyDiversity", "FrequencyDiversity", "JensenShannonCloseness", "KAnonymity", "KMap",
    "PSensitiveKAnonymity", "PrivacyModel", "RecursiveDiversity", "TCloseness", "achieved", "check_k", "tally",
]  # fmt: skip

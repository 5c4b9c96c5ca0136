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
from privnb.runtime.family import members

__all__ = [
    "AlphaKAnonymity", "BasicBetaLikeness", "ConfidenceBound", "DeltaDisclosure", "DeltaPresence", "DistinctDiversity",
    "EnhancedBetaLikeness", "EntropyDiversity", "FrequencyDiversity", "JensenShannonCloseness", "KAnonymity", "KMap",
    "PSensitiveKAnonymity", "PrivacyModel", "RecursiveDiversity", "TCloseness", "achieved", "check_k", "tally",
]  # fmt: skip


def __getattr__(name: str) -> type[PrivacyModel]:
    """Find a model that has a file of its own in this folder and is not listed here."""
    kinds = {kind.__name__: kind for kind in members(PrivacyModel)} if name[:1].isupper() else {}
    if name not in kinds:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return kinds[name]

"""Privacy models: the level that each equivalence class reaches, and the bound that the level must satisfy.

Enforcement and measurement share one function, `level(counts, whole)`, which reads the counts of values in each class.
Several models are combined as arguments of a sanitizer: `Mondrian(KAnonymity(10), TCloseness(0.2, "occupation"))`.
"""

from typing import Any

from privnb.privacy_models.anonymity import AlphaKAnonymity, KAnonymity, PSensitiveKAnonymity, check_k
from privnb.privacy_models.base import PrivacyModel, grade_release, tally
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
from privnb.runtime.deprecation import warn_renamed
from privnb.runtime.registry import find_classes

__all__ = [
    "AlphaKAnonymity",
    "BasicBetaLikeness",
    "ConfidenceBound",
    "DeltaDisclosure",
    "DeltaPresence",
    "DistinctDiversity",
    "EnhancedBetaLikeness",
    "EntropyDiversity",
    "FrequencyDiversity",
    "JensenShannonCloseness",
    "KAnonymity",
    "KMap",
    "PSensitiveKAnonymity",
    "PrivacyModel",
    "RecursiveDiversity",
    "TCloseness",
    "check_k",
    "grade_release",
    "tally",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Return a model that has a file in this folder but is not in the list above, or a function by its old name."""
    if name == "achieved":
        warn_renamed(name, "grade_release")
        return grade_release
    kinds = {kind.__name__: kind for kind in find_classes(PrivacyModel)} if name[:1].isupper() else {}
    if name not in kinds:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return kinds[name]

"""Measure privacy and utility of sanitized microdata.

The names that most people need are listed below, for example for `from privnb import load, Mondrian, KAnonymity`. You
can also import the other names that the subpackages export, and the methods that other installed packages provide (see
`runtime.entry_points`). A name is loaded when you first use the name.
"""

import ast
import contextlib
import time
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

BEGAN = time.time()  # no file of the package was loaded before
ROOMS = ("datasets", "privacy_models", "sanitizers", "attacks", "evaluation", "publishing")  # in the order of the loop

if TYPE_CHECKING:  # an editor reads the names here, and so does `_homes`
    from privnb.attacks.base import Attack as Attack
    from privnb.attacks.inference.miner_inference import MinerInference as MinerInference
    from privnb.attacks.linkage.linkage import Linkage as Linkage
    from privnb.datasets.dataset import (
        Dataset as Dataset,
        load as load,
        load_studies as load_studies,
    )
    from privnb.decision.by_policy import decide as decide
    from privnb.decision.policies import Policy as Policy
    from privnb.evaluation.combination_sizes import measure_combinations as measure_combinations
    from privnb.evaluation.dataset_summary import (
        count_people as count_people,
        describe as describe,
        group_records as group_records,
        measure_uniqueness as measure_uniqueness,
    )
    from privnb.evaluation.disclosure.noise_recovery import Recovered as Recovered
    from privnb.evaluation.evaluation_loop import (
        Question as Question,
        evaluate as evaluate,
    )
    from privnb.evaluation.results import join_results as join_results
    from privnb.evaluation.utility.utilities import (
        AntiUtility as AntiUtility,
        GoodUtility as GoodUtility,
    )
    from privnb.evaluation.verdict import Scenario as Scenario
    from privnb.measures.base import (
        Measure as Measure,
        measure as measure,
    )
    from privnb.microdata.release import (
        Published as Published,
        Release as Release,
    )
    from privnb.microdata.schema import (
        Attribute as Attribute,
        Role as Role,
        Schema as Schema,
    )
    from privnb.privacy_models.anonymity import KAnonymity as KAnonymity
    from privnb.privacy_models.base import (
        PrivacyModel as PrivacyModel,
        grade_release as grade_release,
    )
    from privnb.privacy_models.closeness import (
        DeltaDisclosure as DeltaDisclosure,
        TCloseness as TCloseness,
    )
    from privnb.privacy_models.diversity import (
        DistinctDiversity as DistinctDiversity,
        EntropyDiversity as EntropyDiversity,
        FrequencyDiversity as FrequencyDiversity,
    )
    from privnb.privacy_models.presence import (
        DeltaPresence as DeltaPresence,
        KMap as KMap,
    )
    from privnb.publishing.sanitize_table import sanitize as sanitize
    from privnb.runtime.errors import (
        InputError as InputError,
        PrivacyError as PrivacyError,
        PrivnbError as PrivnbError,
        ResourceError as ResourceError,
        UsageError as UsageError,
    )
    from privnb.sanitizers.base import Sanitizer as Sanitizer
    from privnb.sanitizers.errors import SanitizationError as SanitizationError
    from privnb.sanitizers.generalization.anatomy import Anatomy as Anatomy
    from privnb.sanitizers.generalization.bucketize import Bucketize as Bucketize
    from privnb.sanitizers.generalization.full_domain import FullDomain as FullDomain
    from privnb.sanitizers.generalization.k_member import KMember as KMember
    from privnb.sanitizers.generalization.local_recoding import LocalRecoding as LocalRecoding
    from privnb.sanitizers.generalization.local_suppression import LocalSuppression as LocalSuppression
    from privnb.sanitizers.generalization.mondrian import Mondrian as Mondrian
    from privnb.sanitizers.generalization.rare_categories import RareCategories as RareCategories
    from privnb.sanitizers.generalization.suppress import Suppress as Suppress
    from privnb.sanitizers.generalization.top_down_specialization import TopDownSpecialization as TopDownSpecialization
    from privnb.sanitizers.identity import Identity as Identity
    from privnb.sanitizers.masking.data_swapping import DataSwapping as DataSwapping
    from privnb.sanitizers.masking.microaggregation import Microaggregation as Microaggregation
    from privnb.sanitizers.masking.rank_swapping import RankSwapping as RankSwapping
    from privnb.sanitizers.masking.rounding import Rounding as Rounding
    from privnb.sanitizers.masking.sampling import Sampling as Sampling
    from privnb.sanitizers.masking.top_bottom_coding import TopBottomCoding as TopBottomCoding
    from privnb.sanitizers.noise.geometric_noise import GeometricNoise as GeometricNoise
    from privnb.sanitizers.noise.laplace_noise import LaplaceNoise as LaplaceNoise
    from privnb.sanitizers.noise.masking_noise import MaskingNoise as MaskingNoise
    from privnb.sanitizers.noise.pram import PRAM as PRAM
    from privnb.sanitizers.noise.randomized_response import RandomizedResponse as RandomizedResponse
    from privnb.workbench.assessment import AssessedFile as AssessedFile
    from privnb.workbench.comparison import (
        Comparison as Comparison,
        compare as compare,
    )
    from privnb.workbench.decision import (
        ReleaseCard as ReleaseCard,
        TableDecision as TableDecision,
    )
    from privnb.workbench.measurements import Measurements as Measurements
    from privnb.workbench.pages import (
        explore as explore,
        report as report,
    )
    from privnb.workbench.release import SanitizedTable as SanitizedTable
    from privnb.workbench.table import (
        Table as Table,
        read as read,
    )


def _homes() -> dict[str, str]:
    """Return the module of each name in the imports above, by name."""
    with open(__file__, encoding="utf-8") as file:
        listed = next(node for node in ast.parse(file.read()).body if isinstance(node, ast.If))
    return {
        name.name: str(node.module) for node in listed.body if isinstance(node, ast.ImportFrom) for name in node.names
    }


_HOMES = _homes()
__all__ = [*_HOMES]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # which takes longer than all else here

        return version("privnb")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if not name.startswith("_"):
        if find_spec(f"privnb.{name}"):
            return import_module(f"privnb.{name}")
        for room in (*ROOMS, "runtime.errors"):
            module = import_module(f"privnb.{room}")
            # Either the room lists the name, or it finds a method by it in a file of its own.
            if name in module.__all__ or name not in vars(module):
                with contextlib.suppress(AttributeError):
                    return getattr(module, name)
        from privnb.runtime.entry_points import find_method

        if (found := find_method(name)) is not None:
            return found
        from privnb.runtime.names import suggest

        near = suggest([name], __all__)
        raise AttributeError(
            f"privnb has no '{name}'.{near} `dir(privnb)` lists the names that privnb has: the names that "
            f"{', '.join(ROOMS)} export."
        )
    raise AttributeError(f"privnb has no '{name}'.")

"""The numbers of one setting: counts, which take a fraction of a second, and results of miners.

Counting shows no progress, because the board does not have a place for a bar.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, Protocol

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.decision import compute_points
from privnb.evaluation.digests import digest
from privnb.evaluation.disclosure import leakage
from privnb.evaluation.disclosure.disclosures import Disclosure
from privnb.evaluation.disclosure.nearer_predictions import NearerPredictions
from privnb.evaluation.evaluation_loop import (
    Case,
    MeasureQuestion,
    Question,
    answer_question,
    build_answer_rows,
    require_possible,
)
from privnb.evaluation.release_measures import AdversaryGains, InformationLoss
from privnb.evaluation.results import REASONS, collect_rows, is_single_miner, join_results, tidy
from privnb.evaluation.samples import sample_large_table
from privnb.evaluation.store import Folder, Store
from privnb.evaluation.trade_off import Losses
from privnb.evaluation.utility.good_utility import measure_good_utility
from privnb.explorer.boxes import Boxes, find_boxes
from privnb.explorer.saving import ExportTerms, export_terms
from privnb.explorer.setting import (
    STEPS,
    Setting,
    apply_roles,
    attacked_attribute,
    check_setting,
    exact_quasi_identifiers,
    make_sanitizer,
    setting_label,
    why_not_mined,
)
from privnb.explorer.worst_class import WorstClass, find_worst_class
from privnb.measures import measure_facts
from privnb.measures.base import Measure, live_measures, register_measure
from privnb.measures.disclosure.summary import reveals_small_count
from privnb.measures.utility.information_loss import suppressed_cells
from privnb.microdata import withholding
from privnb.microdata.bands import Bands, name_treatment
from privnb.microdata.counts import count_people_by_group
from privnb.microdata.release import Release, sort_by_content
from privnb.microdata.treatment import TRUE, Rows, Unreadable
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.privacy_models import grade_release
from privnb.reporting.charts.base import Aggregate, merge_small
from privnb.reporting.findings import steep_hierarchy
from privnb.runtime.errors import UsageError
from privnb.runtime.sentences import list_lines
from privnb.runtime.validation import validated
from privnb.sanitizers import Suppress
from privnb.sanitizers.base import MODEL_BY_LETTER

ResultRows = list[dict[str, Any]]

_REACHED = {"kind": "privacy", "baseline": "asked"}
register_measure(
    "l_achieved",
    **_REACHED,
    better="higher",
    bounds=(1, np.inf),
    title="Largest share of one value in a class (l)",
    sentence="In the worst class, one in l people has the most common sensitive value. With l = 1, everybody in the "
    "class has this value, so the value is disclosed.",
    source="l-diversity by frequency: Machanavajjhala et al., ICDE 2006; Xiao and Tao, VLDB 2006",
)
register_measure(
    "t_achieved",
    **_REACHED,
    bounds=(0, 1),
    title="Distance of the worst class from the whole table (t)",
    sentence="The share of people in the worst class whose sensitive value would have to change for the class to have "
    "the distribution of the whole table.",
    source="Li, Li, Venkatasubramanian, ICDE 2007, equal distances",
)
register_measure(
    "delta_achieved",
    **_REACHED,
    bounds=(0, np.inf),
    title="Largest change in how common a value is (delta)",
    sentence="In the worst class, a value is e to the delta times more or less common than in the whole table. "
    "The number is unbounded if a value is absent from a class, and so is ruled out for the people in the class.",
    source="Brickell and Shmatikov, KDD 2008, definition 1",
)


def _times(number: str) -> str:
    return "no change" if number == "1" else f"{number} times"


# The levels in words, for a reader who does not know the letters, with their letters.
IN_WORDS: dict[str, tuple[str, Callable[[float], str]]] = {
    "l_achieved": ("l", lambda level: f"{1 / level:.0%} have it"),
    "t_achieved": ("t", lambda level: f"{level:.0%} differ"),
    "delta_achieved": (
        "delta",
        lambda level: "a value is absent" if np.isinf(level) else _times(f"{np.exp(level):.3g}"),
    ),
}
# The measures of leakage on the board: the probability of a correct guess.
SHOWN = ("identity_vulnerability", "sensitive_vulnerability", "bucket_vulnerability", "attribute_vulnerability")


MAX_READINGS = 500  # in the cache
SAMPLE_ROWS = 12
CHANGE_TEXTS = {"noisy": ", with noise", "perturbed": ", with changed values"}


@dataclass(frozen=True, eq=False)
class Reading:
    """The counts of one setting.

    `results` are tidy results without numbers of fewer than `min_count` people. `sizes` holds the numbers of people by
    the size of their class or bucket, see `count_class_sizes`, or is None for noise. `rows` holds a dozen sanitized
    rows, or the reason why no rows are shown. `note` explains the release. `exact` lists the columns that are published
    as recorded: first those that an adversary knows, then the others; the last group are the columns that are published
    in bands. For a release without classes, `each` is a sentence about a row, and `promise` is a sentence that is shown
    instead of the levels of classes. `treated` are the facts of `describe_treatments`. `terms` are the terms for saving
    the release. `worst` is the class that discloses most, and `boxes` are the boxes of each pair of quasi-identifiers,
    or a sentence on why there are none. `has_several_rows` states whether people have several rows. `refused` states
    why there is no such release; in that case, there are no results.
    """

    setting: Setting
    results: pd.DataFrame
    min_count: int = LIMIT
    sizes: Aggregate | None = None
    rows: pd.DataFrame | str = "There is no release."
    note: str = ""
    exact: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] = ((), (), ())
    each: str = ""
    promise: str = ""
    treated: tuple[tuple[str, str], ...] = ()
    terms: ExportTerms = ExportTerms()  # noqa: RUF009 - immutable
    worst: WorstClass | str = ""
    boxes: Boxes | str = ""
    refused: str = ""
    has_several_rows: bool = False

    @property
    def label(self) -> str:
        """The readable name of the setting."""
        return setting_label(self.setting)


def count_setting(dataset: Dataset, setting: Setting, *, min_count: int = LIMIT) -> Reading:
    """Return the `Reading` of a setting, and cache the reading for later calls with equal records.

    Parameters
    ----------
    dataset : Dataset
    setting : Setting
    min_count : int
        Numbers about fewer people are withheld.
    """
    if reading := find_cached_reading(dataset, setting, min_count):
        return reading
    with _libraries().limit(limits=1, user_api="blas"):
        return cache_reading(dataset, _count(dataset, check_setting(setting, dataset), min_count))


def find_cached_reading(dataset: Dataset, setting: Setting, min_count: int = LIMIT) -> Reading | None:
    """Return the `Reading` of a setting if it is in the cache, and otherwise None."""
    setting = check_setting(setting, dataset)
    withholding.check_min_count(min_count)
    key = find_reading_key(dataset, setting, min_count)
    if key not in _readings:
        return None
    _readings.move_to_end(key)  # the least recently used reading is dropped first
    return replace(_readings[key], setting=setting)


def cache_reading(dataset: Dataset, reading: Reading) -> Reading:
    """Cache a reading, such as one from another process, and return it."""
    _readings[find_reading_key(dataset, reading.setting, reading.min_count)] = reading
    while len(_readings) > MAX_READINGS:
        _readings.popitem(last=False)
    return reading


_readings: OrderedDict[tuple[Any, ...], Reading] = OrderedDict()


def find_reading_key(dataset: Dataset, setting: Setting, min_count: int) -> tuple[Any, ...]:
    """Return the inputs that determine a reading and the risks; they include neither unused sliders nor the miner."""
    return digest(dataset), setting.roles, setting.sanitizer, *setting.bounds.items(), setting.seed, min_count


def mine_setting(dataset: Dataset, setting: Setting, store: Folder = "", min_count: int = LIMIT) -> pd.DataFrame:
    """Return tidy results of the miner for the user and for the adversary's scenario; mining takes seconds.

    The results are `good_utility` of the original, the release and the trivial release; `anti_utility` of the scenario,
    with `nearer_share` of the groups that the worst miner hits; and, for noise, the `accuracy_gain` of the miner.
    `why_not_mined` explains missing results. A large table is mined on a random sample, see `sample_large_table`.
    `store` is a folder for results, or empty. Numbers of fewer than `min_count` people are withheld.
    """
    setting, without = check_setting(setting, dataset), why_not_mined(setting, dataset)
    data, made = sample_large_table(apply_roles(dataset, setting)), make_sanitizer(setting, dataset)
    call = Store(store).call if store else lambda function, *given, **options: function(*given, **options)
    asked, parts = {"miners": setting.miner, "seed": setting.seed, "min_count": min_count}, []
    if "user" not in without:
        both = list(dict.fromkeys([made, Suppress()]))
        parts.append(call(measure_good_utility, data, both, target=setting.sensitive, **asked))
        if setting.kind.treatment not in TRUE:
            question = Disclosure.of(data, sensitive=setting.sensitive, miners=setting.miner)
            parts.append(require_possible(call(answer_question, data, made, setting.seed, question, min_count)))
    if "adversary" not in without:
        question = NearerPredictions(attacked_attribute(setting, dataset), setting.miner)
        found = require_possible(call(answer_question, data, made, setting.seed, question, min_count))
        parts.append(select_feared(found, setting.scenario))
    return join_results(*parts) if parts else tidy([])


def select_feared(found: pd.DataFrame, scenario: str) -> pd.DataFrame:
    """Return the results of one miner that the board shows, from an answer to `NearerPredictions`."""
    # A single miner has no ensemble, and it is the worst one by definition.
    feared = (found.scenario == scenario) & found.variant.isin(["", "weighted"])
    feared &= is_single_miner(found) | (found.control != "")
    return found[feared | (found.measure == "nearer_share") | found.status.isin(REASONS)]


@validated
def measure_setting(
    dataset: Dataset, setting: Setting, store: Folder = "", min_count: MinCount = LIMIT
) -> pd.DataFrame:
    """Return all tidy results of a setting, from counts and from the miner."""
    reading = count_setting(dataset, setting, min_count=min_count)
    return (
        reading.results
        if reading.refused
        else join_results(reading.results, mine_setting(dataset, setting, store, min_count))
    )


class HasResults(Protocol):
    """The reading of a setting or of a file."""

    @property
    def label(self) -> str:
        """The readable name of the release."""

    @property
    def results(self) -> pd.DataFrame:
        """Tidy results of one release."""


def axis_measures(kind: str, readings: Iterable[HasResults]) -> list[Measure]:
    """Return the measures of a kind, "privacy" or "utility", that the readings have and that can be an axis."""
    # Listing every registered measure would import every module that registers some, which takes a second.
    there = dict.fromkeys(name for each in readings for name in each.results.measure[each.results.variant == ""])
    return [of for of in map(measure_facts, there) if of.kind == kind and of.axis]


def locate_in_plane(
    dataset: Dataset,
    settings: Iterable[Setting],
    privacy: str,
    utility: str,
    min_count: int = LIMIT,
    files: Iterable[HasResults] = (),
) -> pd.DataFrame:
    """Return the settings as points of the privacy-utility plane, computed from counts; see `decision.points`.

    `files` are the readings of files with the same roles, which are points if they have both measures. `privacy` and
    `utility` are measures; see `axis_measures`. Raises ValueError for a measure that has no value for any of the
    settings, and for settings with different roles, because releases about other attributes cannot replace each other.
    """
    readings = [count_setting(dataset, setting, min_count=min_count) for setting in settings]
    roles = {reading.setting.roles for reading in readings}
    if len(roles) > 1:
        raise UsageError(
            "the settings must have the same quasi-identifiers and the same sensitive attribute; got "
            f"{len(roles)} choices. Leave out the settings with other roles."
        )
    there: list[Reading] = [reading for reading in readings if not reading.refused]
    asked = {privacy, utility}
    others = [each for each in files if asked <= {*each.results.measure[each.results.variant == ""]}]
    if not there and not others:
        raise UsageError("none of these settings has a release to show. Try looser bounds.")
    for axis, measure in (("privacy", privacy), ("utility", utility)):
        found = {each.name: f"'{each.title}'" for each in axis_measures(axis, [*there, *others])}
        if measure not in found:
            choices = f": {' or '.join(found.values())}." if found else ", or another sanitizer."
            raise UsageError(
                f"'{measure_facts(measure).title}' has no value for these settings. Choose another measure of "
                f"{axis}{choices}"
            )
    # The full name, because a release with k=10 and t differs from one with k=10 alone.
    every: list[HasResults] = [*there, *others]
    names = {tuple(each.results.iloc[0][["sanitizer", "parameters"]]): each.label for each in every}
    results = join_results(*(each.results[each.results.measure.isin(asked)] for each in every))
    return compute_points(results, privacy=privacy, utility=utility, names=names)


@cache
def _libraries() -> Any:
    """Return a controller of the threads of linear algebra, which wait longer than they work on a busy processor."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@lru_cache(maxsize=1)  # its risks are counted right after it
def make_case(dataset: Dataset, setting: Setting, min_count: int = LIMIT) -> Case:
    """Return the `Case` of a setting: the release and its inputs.

    Raises ValueError if the sanitizer does not accept the bounds.
    """
    return Case(apply_roles(dataset, setting), make_sanitizer(setting, dataset), setting.seed, min_count=min_count)


def _count(dataset: Dataset, setting: Setting, min_count: int) -> Reading:
    try:
        made = make_case(dataset, setting, min_count)
        release = made.release
    except ValueError as error:  # from the sanitizer or its parameters, such as an Anatomy without an l
        return Reading(setting, tidy([]), min_count, refused=str(error))
    names, steep = exact_quasi_identifiers(setting, dataset), steep_hierarchy(release)
    as_is = f"This setting assumes that an adversary does not know {', '.join(names)}." if names else ""
    why = " ".join(list_lines(steep.parts)) if steep else ""
    return Reading(
        setting,
        count_rows(made, setting.sensitive, setting.bounds),
        min_count,
        sizes=count_class_sizes(release, min_count),
        rows=_sample_rows(made),
        note=" ".join(filter(None, [release.provenance.note, why, as_is])),
        exact=_exact_columns(release),
        each=_describe_row(release),
        promise=describe_promise(release),
        treated=describe_treatments(release),
        terms=export_terms(dataset, setting, release),
        worst=find_worst_class(release, setting.sensitive, min_count),
        boxes=find_boxes(release, min_count),
        has_several_rows=dataset.headcount < len(dataset),
    )


def _sample_rows(made: Case) -> pd.DataFrame | str:
    """Return a dozen sanitized rows, or a sentence on why no rows are shown."""
    release = made.release
    if release.schema.invented and isinstance(made.min_count, withholding.ScreenLimit):
        return _invented_rows(made)
    if release.has_unprotected_rows and release.provenance.rows is Rows.SYNTHETIC:
        return "No rows are shown, because a synthetic row may still resemble the record of a real person."
    if release.has_unprotected_rows:
        return "No rows are shown, because each row is the record of one person, exact or perturbed."
    # Other people for each setting, because several releases of the same people reveal more than each of them.
    shown = release.show(rng=made.stream("show"), min_count=made.min_count)
    return f"No rows are shown, because each has fewer than {made.min_count} people." if shown.empty else shown


def _invented_rows(made: Case) -> pd.DataFrame:
    """Return a dozen whole rows of a release of records that are declared invented, as `publish` would order them."""
    rows = sort_by_content(made.release.table)
    generator = np.random.default_rng(made.stream("show"))
    drawn = generator.choice(len(rows), min(SAMPLE_ROWS, len(rows)), replace=False)
    return rows.iloc[np.sort(drawn)].reset_index(drop=True).round(1)


def _describe_row(release: Release) -> str:
    """Return a sentence about a row of a release without classes."""
    if release.provenance.rows is Rows.SYNTHETIC:
        return "Each row is synthetic and describes no real person."
    changed = next((text for kind, text in CHANGE_TEXTS.items() if release.treated(kind)), "")
    return f"Each row is the record of one person{changed}."


def describe_promise(release: Release) -> str:
    """Return why k, l, t and delta do not apply to a release, and the release's promise; empty if it has classes."""
    if not (why := release.without_classes):
        return ""
    promise = " Its guarantee is epsilon." if release.provenance.promise else ""
    return f"k, l, t and delta do not apply to this release: {why}.{promise}"


def _exact_columns(release: Release) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the columns with unchanged cells: those that an adversary knows, the others, and those in bands.

    A column of labels is left out even if a label happens to be the exact value, because the classes protect people.
    """
    untouched, known = release.treated("exact"), release.schema.quasi_identifiers
    bare = [name for name in known if name in untouched and name not in release.labelled]
    others = [name for name in release.schema.published if name in untouched and name not in known]
    banded = tuple(name for name in others if isinstance(release.schema[name].domain, Bands))
    return tuple(bare), tuple(name for name in others if name not in banded), banded


def describe_treatments(release: Release) -> tuple[tuple[str, str], ...]:
    """Return what the rows of a release stand for, and the treatment of each published column, as `(title, words)`."""
    schema = release.schema
    return (
        ("Rows", str(release.provenance.rows)),
        *((name, name_treatment(str(release.columns[name]), schema[name].domain)) for name in schema.published),
    )


def count_rows(case: Case, sensitive: str, requested: Mapping[str, float]) -> pd.DataFrame:
    """Return the tidy results of all counts of a release; `requested` holds the requested bounds by letter.

    The results are the parts of `InformationLoss`, `Losses`, `AdversaryGains` and `Leakage` that the board shows, and
    `k_achieved`, `l_achieved`, `t_achieved` and `delta_achieved`: the level of the worst class for each model, with the
    requested bound as its baseline. A release with noise has no classes, and has rows about the effect of the noise on
    cells instead. The rows of each `live` measure follow.
    """
    return collect_rows(
        [
            _counted_rows(case, sensitive, requested),
            *(build_answer_rows(MeasureQuestion(each), case) for each in live_measures()),
        ]
    )


def _counted_rows(case: Case, sensitive: str, requested: Mapping[str, float]) -> ResultRows:
    release = case.release
    # k is one of the levels, and the number of classes is one of the costs.
    found = [row for row in _answer(InformationLoss(), case) if row["measure"] != "k_achieved"]
    found += [row for row in _answer(_losses(sensitive), case) if row["measure"] != "classes"]
    levels = [] if release.groups is None else _levels(case, sensitive, requested)
    try:
        leaks = [row for row in _guesses(case, sensitive) if row["measure"] in SHOWN]
    except Unreadable:  # the note of the reading explains it
        return found + levels
    if release.classes is not None:
        found += AdversaryGains(sensitive).rows(case) + levels + [case.row("suppressed_cells", _cells(case))]
        if np.isnan(found[-1]["value"]):  # the average loss of a cell could reveal the number of suppressed cells
            found = [row | {"value": np.nan} if row["measure"] == "certainty_penalty" else row for row in found]
    return found + leaks


def _answer(question: Question, case: Case) -> ResultRows:
    """Return the rows of a question, or an empty list if the question does not apply to such a release."""
    try:
        return question.rows(case)
    except Unreadable:
        return []


@lru_cache(maxsize=8)
def _losses(sensitive: str) -> Losses:
    """Return one question for all settings, because the question caches the common parts of the settings' releases."""
    return Losses(sensitive)


def _guesses(case: Case, sensitive: str) -> ResultRows:
    """Return rows on the probability of a correct guess.

    The rows are those of `Leakage` for noise, for buckets, and for people with several rows.

    Raises Unreadable if the relation between a record and its released cells is unknown.
    """
    release = case.release
    leakage.check_readable(release)
    if release.people is not None:
        return leakage.build_people_rows(case, release, sensitive)
    leaks = leakage.build_identity_rows(case, release)
    if release.classes is None or release.buckets is not None:
        leaks += leakage.build_original_rows(case, sensitive)
    for name in release.treated("noisy"):
        leaks += leakage.build_attribute_rows(case, release, name)
    return leaks + (leakage.build_class_rows(case, release, sensitive) if release.classes is not None else [])


def _levels(case: Case, sensitive: str, requested: Mapping[str, float]) -> ResultRows:
    """Return rows with the levels of the worst class, and the requested bounds as baselines."""
    rows, few = [], reveals_small_count(case.release, sensitive, case.min_count)
    for letter, kind in MODEL_BY_LETTER.items():
        model = kind(STEPS[letter][-1], *[sensitive] * (letter != "k"))  # a level does not depend on the bound
        level = grade_release(model, case.release)
        is_told = few and letter != "k" and level > (1 if model.better == "higher" else 0)
        asked = requested.get(letter, np.nan)
        rows.append(case.row(f"{letter}_achieved", np.nan if is_told else level, better=model.better, baseline=asked))
    return rows


def _cells(case: Case) -> float:
    """Return the number of suppressed cells, or NaN if the number would describe only a few people."""
    release, min_count = case.release, case.min_count
    cells = suppressed_cells(release)
    others = cells - release.suppressed * len(release.schema.quasi_identifiers)  # cells of partly suppressed records
    reveals = withholding.reveals_few(release.suppressed_people, release.headcount, min_count)
    return np.nan if reveals or withholding.is_few(cells, min_count) or withholding.is_few(others, min_count) else cells


def count_class_sizes(release: Release, min_count: int = withholding.LIMIT) -> Aggregate | None:
    """Return the number of people by the size of their class or bucket, in steps of 1, 2 and 5.

    The `Aggregate` has two columns: `people in a class` or `people in a bucket`, and `people`. Rows of fewer than
    `min_count` people are merged. The result is None for noise, and for a table of fewer than `min_count` people.
    """
    withholding.check_min_count(min_count)
    if release.groups is None or release.headcount < min_count:
        return None
    sizes = count_people_by_group(release.groups, release.people)
    edges = [digit * 10**power for power in range(len(str(sizes.max()))) for digit in (1, 2, 5)]
    steps = np.searchsorted(edges, sizes, side="right") - 1
    people = count_people_by_group(steps[release.groups], release.people)
    ends = [*edges[1:], 10 * edges[-1]]
    labels = [f"{low:,}" if low == end - 1 else f"{low:,}-{end - 1:,}" for low, end in zip(edges, ends, strict=True)]
    first = int(np.flatnonzero(people)[0])
    merged = merge_small(pd.Series(people[first:], index=labels[first : len(people)]), min_count)
    merged.index = [re.sub(r"^([\d,]+)(-[\d,]+)? to ([\d,]+-)?", r"\1-", label) for label in merged.index]
    of = "bucket" if release.buckets is not None else "class"
    table = merged.rename_axis(f"people in a {of}").rename("people").reset_index()
    return Aggregate(table, {name: name for name in table}, min_count)

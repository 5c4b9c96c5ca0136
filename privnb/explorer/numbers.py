"""The numbers of one setting: at once what counts tell, and slower what miners tell."""

import os
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.decision import points
from privnb.evaluation.cases import Case, answer, reached
from privnb.evaluation.content import content
from privnb.evaluation.disclosure.disclosures import Disclosure
from privnb.evaluation.disclosure.nearer_predictions import Nearer
from privnb.evaluation.results import REASONS, join, of_one_miner, tidy
from privnb.evaluation.samples import record_by_record
from privnb.evaluation.store import Store
from privnb.evaluation.utility.good_utility import good_utility
from privnb.explorer.counting import class_sizes, rows
from privnb.explorer.saving import Terms, terms
from privnb.explorer.setting import Setting, attacked, checked, exposed, label, of_roles, sanitizer, unmined
from privnb.measures import facts
from privnb.measures.base import Measure
from privnb.microdata import withholding
from privnb.microdata.release import Release
from privnb.microdata.treatment import TRUE, Rows
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.reporting.charts.base import Aggregate
from privnb.reporting.findings import steep_hierarchy
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import validated
from privnb.sanitizers import Suppress

READINGS = 500  # that are kept
CHANGED = {"noisy": ", with noise", "perturbed": ", with other values in it"}


@dataclass(frozen=True, eq=False)
class Reading:
    """What counts tell of one setting.

    `results`: tidy rows, without numbers of fewer than `fewest` people. `sizes`: people by the size of their class or
    bucket, see `class_sizes`, or None for noise. `rows`: a dozen sanitized rows, or why none are shown. `note`: why the
    release came out as it did. `exact`: the columns that are as recorded, first those by which an adversary looks for
    people, then the others. `each`: what a row is, where nothing hides people in classes, and `promise`: what is said
    instead of their levels. `terms`: on what terms it is saved. `refused`: why the table cannot give what is asked;
    then there are no results.
    """

    setting: Setting
    results: pd.DataFrame
    fewest: int = LIMIT
    sizes: Aggregate | None = None
    rows: pd.DataFrame | str = "There is no release."
    note: str = ""
    exact: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    each: str = ""
    promise: str = ""
    terms: Terms = Terms()  # noqa: RUF009 - it is as fixed as a number
    refused: str = ""


def counted(dataset: Dataset, setting: Setting, *, fewest: int = LIMIT) -> Reading:
    """Return the `Reading` of a setting, and keep it for when it is asked again of equal records.

    Parameters
    ----------
    dataset : Dataset
    setting : Setting
    fewest : int
        Numbers of fewer people are withheld.

    Returns
    -------
    Reading
    """
    if found := recalled(dataset, setting, fewest):
        return found
    with _libraries().limit(limits=1, user_api="blas"):
        return remember(dataset, _read(dataset, checked(setting, dataset), fewest))


def recalled(dataset: Dataset, setting: Setting, fewest: int = LIMIT) -> Reading | None:
    """Return the `Reading` of a setting if it was counted before, else None."""
    setting = checked(setting, dataset)
    withholding.check(fewest)
    key = release_key(dataset, setting, fewest)
    if key not in _readings:
        return None
    _readings.move_to_end(key)  # what is looked at is kept longest
    return replace(_readings[key], setting=setting)


def remember(dataset: Dataset, reading: Reading) -> Reading:
    """Keep a reading that was counted elsewhere, such as in another process, and return it."""
    _readings[release_key(dataset, reading.setting, reading.fewest)] = reading
    while len(_readings) > READINGS:
        _readings.popitem(last=False)
    return reading


_readings: OrderedDict[tuple[Any, ...], Reading] = OrderedDict()


def release_key(dataset: Dataset, setting: Setting, fewest: int) -> tuple[Any, ...]:
    """Return what a reading and the risks depend on: neither a slider that the sanitizer does not read, nor a miner."""
    return content(dataset), setting.roles, setting.sanitizer, *setting.asked.items(), setting.seed, fewest


def mined(dataset: Dataset, setting: Setting, store: str | os.PathLike[str] = "", fewest: int = LIMIT) -> pd.DataFrame:
    """Return what the miner and the adversary's scenario tell of a setting, which takes seconds: tidy results.

    `good_utility` of the original, the release and the trivial one; `anti_utility` of the scenario, with
    `nearer_share` for whom the worst miner hits; of noise the miner's `accuracy_gain`. For whom a release is not mined,
    `unmined` says why. Of a large table a random sample is mined, see `record_by_record`. `store`: a folder for
    results, or empty. `fewest`: numbers of fewer people are withheld.
    """
    setting, without = checked(setting, dataset), unmined(setting, dataset)
    data, made = record_by_record(of_roles(dataset, setting)), sanitizer(setting, dataset)
    call = Store(store).call if store else lambda function, *given, **options: function(*given, **options)
    asked, parts = {"miners": setting.miner, "seed": setting.seed, "fewest": fewest}, []
    if "user" not in without:
        both = list(dict.fromkeys([made, Suppress()]))
        parts.append(call(good_utility, data, both, target=setting.sensitive, **asked))
        if setting.kind.treatment not in TRUE:
            question = Disclosure.of(data, sensitive=setting.sensitive, miners=setting.miner)
            parts.append(reached(call(answer, data, made, setting.seed, question, fewest)))
    if "adversary" not in without:
        question = Nearer(attacked(setting, dataset), setting.miner)
        found = reached(call(answer, data, made, setting.seed, question, fewest))
        # One miner is fused with nobody, and everybody's worst.
        feared = (found.scenario == setting.scenario) & found.variant.isin(["", "weighted"])
        feared &= of_one_miner(found) | (found.control != "")
        parts.append(found[feared | (found.measure == "nearer_share") | found.status.isin(REASONS)])
    return join(*parts) if parts else tidy([])


@validated
def measured(
    dataset: Dataset, setting: Setting, store: str | os.PathLike[str] = "", fewest: MinCount = LIMIT
) -> pd.DataFrame:
    """Return all that is known of a setting, `counted` and `mined`: tidy results."""
    reading = counted(dataset, setting, fewest=fewest)
    return reading.results if reading.refused else join(reading.results, mined(dataset, setting, store, fewest))


def axes(kind: str, readings: Iterable[Reading]) -> list[Measure]:
    """Return the measures that can be an axis of the plane: those of a kind that the readings have numbers of."""
    # Not of all that are stated anywhere: to import every module that states some takes a second.
    there = dict.fromkeys(name for each in readings for name in each.results.measure[each.results.variant == ""])
    return [of for of in map(facts, there) if of.kind == kind and of.axis]


def plane(
    dataset: Dataset, settings: Iterable[Setting], privacy: str, utility: str, fewest: int = LIMIT
) -> pd.DataFrame:
    """Return the settings as points of the privacy-utility plane, from counts: see `frontier.points`.

    `privacy`, `utility`: measures, see `axes`. Raises ValueError for a measure that none of them has, and for settings
    whose roles differ: releases about other attributes cannot replace each other.
    """
    readings = [counted(dataset, setting, fewest=fewest) for setting in settings]
    roles = {reading.setting.roles for reading in readings}
    if len(roles) > 1:
        raise UsageError(
            f"one plane shows releases of one choice of quasi-identifiers and sensitive attribute, got {len(roles)}. "
            "Leave out the settings of other roles."
        )
    there = [reading for reading in readings if not reading.refused]
    if not there:
        raise UsageError("none of these settings has a release to show. Ask for less.")
    for axis, measure in (("privacy", privacy), ("utility", utility)):
        found = {each.name: f"'{each.title}'" for each in axes(axis, there)}
        if measure not in found:
            others = f": {' or '.join(found.values())}." if found else ", or another sanitizer."
            raise UsageError(
                f"nothing is known of '{facts(measure).title}' here. Choose another measure of {axis}{others}"
            )
    # In full: beside k=10, a k=10 that is asked for t as well is another release.
    names = {tuple(each.results.iloc[0][["sanitizer", "parameters"]]): label(each.setting) for each in there}
    results = join(*(each.results[each.results.measure.isin([privacy, utility])] for each in there))
    return points(results, privacy=privacy, utility=utility, names=names)


@cache
def _libraries() -> Any:
    """Of linear algebra, whose threads, when others use the processor, wait for each other longer than they work."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@lru_cache(maxsize=1)  # its risks are counted right after it
def case(dataset: Dataset, setting: Setting, fewest: int = LIMIT) -> Case:
    """Return the release of a setting, with what it was made of: a `Case`.

    Raises ValueError where the sanitizer cannot be asked that.
    """
    return Case(of_roles(dataset, setting), sanitizer(setting, dataset), setting.seed, fewest=fewest)


def _read(dataset: Dataset, setting: Setting, fewest: int) -> Reading:
    try:
        made = case(dataset, setting, fewest)
        release = made.release
    except ValueError as error:  # of the sanitizer, or of its parameters, such as an Anatomy without an l
        return Reading(setting, tidy([]), fewest, refused=str(error))
    names, steep = exposed(setting, dataset), steep_hierarchy(release)
    as_is = f"An adversary is taken not to know {', '.join(names)}." if names else ""
    why = f"{steep.title}. {steep.note}" if steep else ""
    return Reading(
        setting,
        rows(made, setting),
        fewest,
        sizes=class_sizes(release, fewest),
        rows=_shown(made, names, setting),
        note=" ".join(filter(None, [release.provenance.note, why, as_is])),
        exact=_exact(release),
        each=_each(release),
        promise=_promise(release),
        terms=terms(dataset, setting, release),
    )


def _shown(made: Case, exposed: Sequence[str], setting: Setting) -> pd.DataFrame | str:
    """A dozen sanitized rows, or why none are shown."""
    release = made.release
    if setting.sensitive in exposed:
        return f"No rows are shown: '{setting.sensitive}' is in them as it is, and the dataset says that it is known."
    if release.has_unprotected_rows and release.provenance.rows is Rows.NOBODY:
        return "No rows are shown: they are nobody's, and may still be like somebody's own record."
    if release.has_unprotected_rows:
        return "No rows are shown: each is one person's own record, as it is or changed."
    # Other persons for each setting: releases of the same ones, side by side, would tell more than each.
    shown = release.show(rng=made.stream("show"), fewest=made.fewest)
    return f"No rows are shown: fewer than {made.fewest} people share each." if shown.empty else shown


def _each(release: Release) -> str:
    """What a row of a release is, where nothing hides people in classes."""
    if release.provenance.rows is Rows.NOBODY:
        return "Each row is made up: it is nobody's."
    changed = next((said for kind, said in CHANGED.items() if release.treated(kind)), "")
    return f"Each row is one person's{changed}."


def _promise(release: Release) -> str:
    """What a release without classes promises, and why no class can be looked up; empty for one with classes."""
    if not (why := release.without_classes):
        return ""
    promise = " Its promise is epsilon." if release.provenance.promise else ""
    return f"k, l, t and delta say nothing of it: {why}.{promise}"


def _exact(release: Release) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of the columns that are as recorded those by which an adversary looks for people, and the others. A label may
    happen to be the value; then it is its class that hides people.
    """
    untouched, known = release.treated("exact"), release.schema.quasi_identifiers
    bare = [name for name in known if name in untouched and name not in release.labelled]
    return tuple(bare), tuple(name for name in release.schema.published if name in untouched and name not in known)

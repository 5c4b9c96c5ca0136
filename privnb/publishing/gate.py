"""The gate: whether a release may leave, by one rule for files, frames, the explorer, decisions, cards and `check`.

With a policy its minimum class size rules. Without one the gate refuses a release that singles people out: in which
fewer people share a combination of published true values than its models promise, or one person where no model
promises a number. What the gate only reports are notices: how often people are found in altered columns, whose
sensitive value is certain, which columns cannot be known as the owner states. A person's own decision to release all
the same is an override: it is recorded with its reason.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privnb.attacks import Linkage
from privnb.attacks.linkage.linkage import linkage_to_any_row
from privnb.datasets.dataset import Dataset
from privnb.datasets.unknown_files import Unknown
from privnb.measures.disclosure.certainty import certain_groups, harms_nobody, public_shares, tells_of_others
from privnb.measures.disclosure.conclusions import SAMPLE, by_nearest_rows
from privnb.measures.disclosure.disclosed import tells_few
from privnb.measures.intervals import wilson
from privnb.microdata import withholding
from privnb.microdata.columns import plain
from privnb.microdata.counts import (
    coded,
    distinct_codes,
    most_of_people,
    once_each,
    people_among,
    people_in,
    tabulated_in_parts,
)
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.provenance import Provenance
from privnb.microdata.release import Release
from privnb.microdata.schema import Attribute, Role, Schema
from privnb.microdata.treatment import KINDS, TRUE, Law, Rows, Treatment, Unreadable
from privnb.privacy_models import KAnonymity
from privnb.runtime import expect, progress
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.names import name_list, some_of
from privnb.runtime.notices import Notice
from privnb.runtime.numerals import percent
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import validated
from privnb.sanitizers.errors import SanitizationError
from privnb.tables import spreadsheets
from privnb.tables.long_tables import Memory, TooManyCombinationsError

ONE = 2  # people who must share a combination where no model promises a number: nobody stands alone
ASKED = 300  # people, drawn at random, who are looked for in altered columns
CONCLUDED = 100_000  # people, drawn at random, of whom it is asked what altered rows make certain; of synthetic: SAMPLE
K = re.compile(r"^(?!KMap)\w+\(.*\bk=(\d+)")  # of a claim in a provenance: how many people share a combination
UNSTATED = "this file"  # where nobody stated which sanitizer made it
NAMED = 6  # columns that a sentence names at most
OVERRIDE = 'or state your reason for releasing it all the same (--allow "reason"; in Python `allow=`)'


@dataclass(frozen=True)
class Rule:
    """What a policy asks of a release that leaves.

    Parameters
    ----------
    policy : str
        The policy's name.
    floor : int
        How many people share every combination of published true values, at least.
    certain_at_most : float, optional
        Of which share of people a sensitive value may be certain; None: the policy does not say.
    broken : tuple of str
        What else of the policy the measured release breaks, in words.
    """

    policy: str
    floor: int
    certain_at_most: float | None = None
    broken: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """One thing that the gate finds: data; `str()` gives its sentence."""

    kind: ClassVar[str]

    @property
    def notice(self) -> Notice:
        """The sentence, with the kind as its code."""
        return Notice(str(self), self.kind.replace(" ", "-"))

    def data(self) -> dict[str, Any]:
        """Return the finding as plain values, in which a count of few people is withheld."""
        found = {name: _plain(value) for name, value in asdict(self).items()}
        if withholding.few(found.get("people") or 0, withholding.LIMIT):
            found |= {"people": None, "fewer_than": withholding.LIMIT}
        return {"finding": self.kind, **found, "says": str(self)}


@dataclass(frozen=True)
class SmallGroups(Finding):
    """People who share a combination of published true values with too few others.

    Parameters
    ----------
    columns : tuple of str
        All columns of the combinations.
    responsible : tuple of str
        Those without which enough people share each combination.
    exact_known : tuple of str
        Quasi-identifiers among the responsible columns.
    people, of : int
        How many people are in such combinations, and how many there are.
    least : int
        How many people must share a combination.
    policy : str
        Whose minimum class size that is; empty: the models of the release promise it.
    """

    columns: tuple[str, ...]
    responsible: tuple[str, ...]
    exact_known: tuple[str, ...]
    people: int
    of: int
    least: int
    policy: str = ""
    kind = "small groups"

    def __str__(self) -> str:
        who = f"the policy '{self.policy}' asks for" if self.policy else "its models promise"
        least = "One person stands alone" if self.least == ONE else f"Fewer than {self.least:,} people are alike"
        why = "" if self.least == ONE and not self.policy else f", and {who} {self.least:,}"
        return (
            f"{least} in {_named(self.columns)} as published{why}: {_people(self.people, self.of)}. "
            f"{_named(self.responsible)} {_are(self.responsible, 'single', 'singles')} them out. {self._ways_out}"
        )

    @property
    def _ways_out(self) -> str:
        them = "them" if self.responsible[1:] else "it"
        if len(self.exact_known) == len(self.responsible):
            return f"Choose a sanitizer that generalizes {them} and keeps a k, {OVERRIDE}."
        return (
            f"Let a model generalize {them} (role 'quasi-identifier'), leave {them} out (role 'unused'), state in the "
            f"description why nobody can know {them} (`cannot_be_known`), {OVERRIDE}."
        )


@dataclass(frozen=True)
class BrokenPolicy(Finding):
    """What a release breaks of its policy, as it was measured: in words."""

    policy: str
    what: str
    kind = "broken policy"

    def __str__(self) -> str:
        return f"It breaks the policy '{self.policy}': {self.what.rstrip('.')}."


@dataclass(frozen=True)
class NotCounted(Finding):
    """Combinations of published true values that do not fit into the memory, so that nobody counted them."""

    columns: tuple[str, ...]
    combinations: int
    kind = "not counted"

    def __str__(self) -> str:
        return (
            f"{_named(self.columns)} have more than {self.combinations:,} combinations, which do not fit into the "
            "memory, so that nobody knows how many people share each. Allow more memory, leave columns of many values "
            f"out (role 'unused'), state why nobody can know them (`cannot_be_known`), {OVERRIDE}."
        )


@dataclass(frozen=True)
class CertainValue(Finding):
    """People whose sensitive value is certain to an adversary who knows some published columns.

    Parameters
    ----------
    sensitive : str
    columns : tuple of str
        What the adversary knows.
    people, of : int
        Of how many people the value is certain, and how many there are, or were asked about.
    at_most : float, optional
        Which share of people the policy allows.
    nearest : bool
        Whether the adversary takes the nearest rows, because cells are altered or synthetic.
    drawn : bool
        Whether the people who were asked about were drawn at random.
    withheld : bool
        Whether the number of people concerns few people, see `certainty.tells_of_others`.
    """

    sensitive: str
    columns: tuple[str, ...]
    people: int
    of: int
    at_most: float | None = None
    nearest: bool = False
    drawn: bool = False
    withheld: bool = False
    kind = "certain value"

    def data(self) -> dict[str, Any]:
        return super().data() | ({"people": None} if self.withheld else {})

    def __str__(self) -> str:
        people = _people(self.people, self.of)
        if self.withheld and not withholding.few(self.people, withholding.LIMIT):
            people = f"at least {withholding.LIMIT} people, whose number {withholding.CONCERNS_FEW}"
        drawn = f" of {self.of:,} who were drawn at random" if self.drawn else ""
        by = f" by {_named(self.columns)}" if self.columns else ""
        why = (
            f"the rows that are nearest to them{by} have the same value, and it is theirs"
            if self.nearest
            else f"everybody who is alike{by} has the same value"
        )
        cap = "" if self.at_most is None else f" The policy allows {percent(self.at_most)} of people."
        return (
            f"The value of '{self.sensitive}' is certain for {people}{drawn}: {why}.{cap} A model with "
            f"distinct-l=2:{name_list([self.sensitive])} avoids that."
        )


@dataclass(frozen=True)
class FoundInAltered(Finding):
    """How often an adversary finds a person's row by cells that were altered.

    Parameters
    ----------
    columns : tuple of str
        The altered columns.
    known : tuple of str
        All that the adversary knows.
    share, low, high : float, optional
        Of how many people the row is found, with its 95% interval; None: no attack measured it.
    chance : float, optional
        Of how many people a row is found that is drawn at random.
    asked : int
        How many people were looked for.
    """

    columns: tuple[str, ...]
    known: tuple[str, ...] = ()
    share: float | None = None
    low: float | None = None
    high: float | None = None
    chance: float | None = None
    asked: int = 0
    kind = "found in altered columns"

    def data(self) -> dict[str, Any]:
        few = self.share is not None and self.share * self.asked < withholding.LIMIT
        return super().data() | ({"share": None, "low": None} if few else {})

    def __str__(self) -> str:
        altered = f"{_named(self.columns)} {_are(self.columns, 'are', 'is')} altered, and not generalized"
        if self.share is None or self.low is None or self.high is None or self.chance is None:
            return (
                f"{altered}. How often an adversary finds a person's row by it, and for whom a sensitive value is "
                "certain, was not measured."
            )
        share = f"{percent(self.share)} of people (95% CI {percent(self.low)} to {percent(self.high)})"
        if self.share * self.asked < withholding.LIMIT:
            share = f"at most {percent(max(self.high, withholding.LIMIT / self.asked))} of people"
        return (
            f"{altered}. An adversary who knows {_named(self.known)} and takes the nearest row finds that of {share}; "
            f"a row at random, 1 in {round(1 / self.chance):,}."
        )


@dataclass(frozen=True)
class Reproduced(Finding):
    """People of whom a synthetic row has all that an adversary may know, and who are alone with it in the table.

    Parameters
    ----------
    columns : tuple of str
        What the adversary knows.
    people, of : int
        For how many people such a row exists, None: nobody counted them; and how many people there are.
    """

    columns: tuple[str, ...]
    people: int | None
    of: int
    kind = "synthetic rows"

    def __str__(self) -> str:
        if self.people is None:
            return "Rows are synthetic: how many equal a person's own was not counted."
        return (
            f"Rows are synthetic. By {_named(self.columns)} a row equals that of {_people(self.people, self.of)} who "
            f"share it with nobody else in the table; a row at random is a person's own for 1 in {self.of:,}."
        )


@dataclass(frozen=True)
class Recorded(Finding):
    """What a provenance says was measured of altered or synthetic rows when they were made: a file does not tell it."""

    said: str
    kind = "recorded"

    def __str__(self) -> str:
        return self.said


@dataclass(frozen=True)
class StatedUnknowable(Finding):
    """Columns that the owner states nobody can know, each with the reason."""

    reasons: tuple[tuple[str, str], ...]
    kind = "cannot be known"

    def __str__(self) -> str:
        by_reason: dict[str, list[str]] = {}
        for name, reason in self.reasons:
            by_reason.setdefault(reason.strip().rstrip("."), []).append(name)
        said = "; ".join(f"{name_list(names)} ({reason})" for reason, names in by_reason.items())
        return f"The description states that no adversary can know {said}. Nobody checked that."


@dataclass(frozen=True)
class StatedPublic(Finding):
    """Sensitive attributes whose distribution the owner declares public: the attribute, and the commonest value and its
    share.
    """

    values: tuple[tuple[str, str, float], ...]
    kind = "public distribution"

    def __str__(self) -> str:
        said = "; ".join(f"{percent(share)} of people have {value} ({name})" for name, value, share in self.values)
        return (
            f"The description states what is public of sensitive attributes, and certainty is counted against that: "
            f"{said}. Nobody checked that."
        )


@dataclass(frozen=True)
class StatedHarmless(Finding):
    """Values of sensitive attributes that the owner states harm nobody: the attribute, the value and the reason."""

    values: tuple[tuple[str, str, str], ...]
    kind = "harmless values"

    def __str__(self) -> str:
        said = "; ".join(f"{value} ({name}: {reason.strip().rstrip('.')})" for name, value, reason in self.values)
        return f"The description states that these values harm nobody, so certainty of them is not counted: {said}."


@dataclass(frozen=True)
class TogetherAlone(Finding):
    """Sensitive values that, beside what an adversary may know, single somebody out."""

    sensitive: tuple[str, ...]
    kind = "sensitive values together"

    def __str__(self) -> str:
        return (
            f"By its labels together with what is sensitive, {_named(self.sensitive)}, somebody's record stands alone: "
            "an adversary who knows one of these values of a person may learn the others."
        )


@dataclass(frozen=True)
class Verdict:
    """What the gate says of a release.

    Parameters
    ----------
    sanitizer : str
        What the release was made by.
    reasons : tuple of Finding
        Why the release is refused; empty: it is allowed.
    notices : tuple of Finding
        What whoever releases it should know.
    override : str
        The owner's reason for releasing what is refused; empty where nothing is refused or no reason is given.
    """

    sanitizer: str
    reasons: tuple[Finding, ...] = ()
    notices: tuple[Finding, ...] = ()
    override: str = ""

    @property
    def allowed(self) -> bool:
        """Whether nothing stands against it."""
        return not self.reasons

    @property
    def may_leave(self) -> bool:
        """Whether it is allowed, or its owner has overridden the refusal."""
        return self.allowed or bool(self.override)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All reasons and notices."""
        return (*self.reasons, *self.notices)

    @property
    def refusal(self) -> str:
        """Why it is refused, in sentences; empty where it is allowed."""
        return " ".join([f"The gate refuses {self.sanitizer}.", *map(str, self.reasons)]) * bool(self.reasons)

    @property
    def sentences(self) -> list[Notice]:
        """The verdict in sentences, the most important first."""
        said = [Notice(self.refusal, "refused")] if self.reasons else []
        if self.override:
            said.append(Notice(f"Its owner overrides this refusal: {self.override}", "override"))
        return [*said, *(each.notice for each in self.notices)]

    def data(self) -> dict[str, Any]:
        """Return the verdict as plain values, for a provenance: no count of few people is in it."""
        reasons, notices = ([each.data() for each in found] for found in (self.reasons, self.notices))
        return {"allowed": self.allowed, "reasons": reasons, "notices": notices, "override": self.override}

    def check(self) -> "Verdict":
        """Return itself. Raise Refused for a release that may not leave."""
        if not self.may_leave:
            raise Refused(self)
        return self


class Refused(SanitizationError):
    """A release that may not leave. `verdict` says why."""

    def __init__(self, verdict: Verdict):
        super().__init__(f"{verdict.refusal} Nothing is written.")
        self.verdict = verdict

    def __reduce__(self) -> tuple[type["Refused"], tuple[Verdict]]:
        return type(self), (self.verdict,)


def check_allow(allow: str | None) -> str:
    """Return the reason of an override, empty for None. Raise ValueError for one that says nothing."""
    if allow is None:
        return ""
    expect.kind("allow", allow, str)
    if not allow.strip():
        raise UsageError("`allow` must be a reason; got an empty one. Say why the release may leave all the same.")
    return allow.strip()


@validated
def gate(
    release: Release,
    *,
    rule: Rule | None = None,
    known: Collection[str] = (),
    original: Dataset | None = None,
    beside: Sequence[Finding] = (),
    allow: str | None = None,
) -> Verdict:
    """Return whether a release may leave, and why not.

    Parameters
    ----------
    release : Release
        Of records or of counts. Every column that is published and may be known is in it.
    rule : Rule, optional
        What a policy asks; None: what the models of the release promise.
    known : collection of str
        Columns that an adversary may know although the release's schema says otherwise.
    original : Dataset, optional
        What the release was made of, by which people are looked for in altered columns.
    beside : sequence of Finding
        What somebody else found: a `NotCounted` refuses, all others are notices.
    allow : str, optional
        The owner's reason for releasing what is refused.

    Examples
    --------
    >>> from privnb.datasets.dataset import load
    >>> from privnb.privacy_models import KAnonymity
    >>> from privnb.sanitizers import Mondrian
    >>> adult = load("adult", "occupation", records=500)
    >>> gate(Mondrian(KAnonymity(10)).sanitize(adult, rng=1)).allowed
    True
    """
    override = check_allow(allow)
    names = known_columns(release, known)
    reasons: list[Finding] = [each for each in beside if isinstance(each, NotCounted)]
    notices: list[Finding] = [each for each in beside if not isinstance(each, NotCounted | CertainValue)]
    certain = [each for each in beside if isinstance(each, CertainValue)]
    if rule is not None:
        reasons += [BrokenPolicy(rule.policy, each) for each in rule.broken]
    if release.provenance.rows is not Rows.NOBODY:
        reasons += filter(None, [_small_groups(release, names, rule)])
        certain += _certain(release, names)
    if original is not None or not any(isinstance(each, FoundInAltered | Reproduced | Recorded) for each in beside):
        notices += found_in_altered(release, original)
        certain += certain_in_altered(release, original)
    for each in _most(certain, rule):
        over = each.at_most is not None and each.people > each.at_most * each.of + ROUNDING
        (reasons if over else notices).append(each)
    notices.sort(key=lambda each: not isinstance(each, CertainValue))  # what is certain is said first
    if not reasons and release.provenance.rows is not Rows.NOBODY:
        notices += filter(None, [_together(release, names)])
    true = release.treated(*TRUE)
    if stated := tuple((name, why) for name, why in release.schema.unknowable.items() if name in true):
        notices.append(StatedUnknowable(stated))
    sensitive = [release.schema[name] for name in release.schema.sensitive]
    declared = ((each.name, each.public_distribution) for each in sensitive if each.public_distribution)
    if public := tuple((name, *max(shares.items(), key=lambda pair: pair[1])) for name, shares in declared):
        notices.append(StatedPublic(public))
    if harmless := tuple((each.name, *pair) for each in sensitive for pair in each.harmless.items()):
        notices.append(StatedHarmless(harmless))
    return Verdict(release.provenance.sanitizer, tuple(reasons), tuple(notices), override if reasons else "")


def known_columns(release: Release, known: Collection[str] = ()) -> tuple[str, ...]:
    """Return the columns whose published cells are true and that an adversary may know, quasi-identifiers first.

    True are also cells that follow from the value alone, as of rounding and top coding: see `Provenance.recoded`.
    Among them are altered columns with missing numbers: that a number is missing is true, see `_true_codes`.
    """
    if release.provenance.rows is Rows.NOBODY:
        return ()
    schema = release.schema
    names = [name for name in schema.published if _is_true(release, name) or _has_missing(release, name)]
    own = [name for name in names if name in schema.quasi_identifiers]
    return (*own, *(name for name in names if name not in own and (schema[name].knowable or name in known)))


def _is_true(release: Release, name: str) -> bool:
    return name in release.cells and name in {*release.treated(*TRUE), *release.provenance.recoded}


def _has_missing(release: Release, name: str) -> bool:
    """Whether an altered column of the table has missing numbers."""
    altered = name in release.cells and name in release.treated("noisy", "perturbed")
    return altered and release.schema[name].numeric and bool(plain(release.cells[name]).isna().any())


def _true_codes(release: Release, name: str) -> tuple[IntArray, Sequence[Any] | Array]:
    """Return `Release.coded` of a column; of an altered one only which of its numbers are missing."""
    if _is_true(release, name) or not _has_missing(release, name):
        return release.coded(name)
    return plain(release.cells[name]).isna().to_numpy().astype(np.int64), ("a number", "missing")


def promised(release: Release) -> int:
    """Return how many people the models of a release promise to share each combination; `ONE` where none does."""
    found = [model.k for model in release.provenance.claims if hasattr(model, "k") and not hasattr(model, "population")]
    return max([ONE, *(int(k) for k in found if expect.is_whole(k))])


def _grouped(release: Release, names: Collection[str]) -> IntArray:
    """Return which rows are alike in some columns: a number from 0 for each group, integer array (rows,)."""
    columns = [_true_codes(release, name) for name in names]
    if not columns:
        return np.zeros(len(release), dtype=np.int64)
    return distinct_codes([codes for codes, _ in columns], [len(values) for _, values in columns])[1]


def _sizes(release: Release, groups: IntArray) -> IntArray:
    return people_in(groups, release.people, times=release.times)


def _small_groups(release: Release, names: tuple[str, ...], rule: Rule | None) -> SmallGroups | None:
    """Return who share a combination with too few others; None where nobody does."""
    least = promised(release) if rule is None else rule.floor
    groups = _grouped(release, names)
    small = _sizes(release, groups) < least
    if not names or not small.any():
        return None
    responsible = _responsible(release, names, least)
    return SmallGroups(
        columns=names,
        responsible=responsible,
        exact_known=tuple(name for name in responsible if name in release.schema.quasi_identifiers),
        people=release.people_among(small[groups]),
        of=release.headcount,
        least=least,
        policy="" if rule is None else rule.policy,
    )


def _responsible(release: Release, names: tuple[str, ...], least: int) -> tuple[str, ...]:
    """Return the columns without which at least so many people share each combination.

    Columns are added one by one, quasi-identifiers first and those of many values last. One that parts people too far
    is responsible, and left out of what follows.
    """
    own = release.schema.quasi_identifiers
    order = sorted(names, key=lambda name: (name not in own, len(_true_codes(release, name)[1])))
    groups: IntArray = np.zeros(len(release), dtype=np.int64)
    found = []
    for name in order:
        codes, values = _true_codes(release, name)
        _, finer = distinct_codes([groups, codes], [int(groups.max()) + 1, len(values)])
        if _sizes(release, finer).min() < least:
            found.append(name)
        else:
            groups = finer
    return tuple(name for name in names if name in found) or names


def _most(certain: Sequence[CertainValue], rule: Rule | None) -> list[CertainValue]:
    """Return of each sensitive attribute the finding of most people, with what the policy allows."""
    at_most = None if rule is None else rule.certain_at_most
    most: dict[str, CertainValue] = {}
    for each in certain:
        before = most.setdefault(each.sensitive, each)
        if each.people * before.of > before.people * each.of:
            most[each.sensitive] = each
    return [replace(each, at_most=at_most) for each in most.values()]


def _certain(release: Release, names: tuple[str, ...]) -> Iterator[CertainValue]:
    """Yield a CertainValue for each sensitive attribute whose value is certain for somebody."""
    for name in release.schema.sensitive:
        of_rows = _is_true(release, name)
        if name in names or not (of_rows or name in release.treated("bucketized")):
            continue
        if of_rows:
            groups, people, times = _alike(release, names), release.people, release.times
            codes, values = release.coded(name)
        else:
            groups, column, people, times = release.counted(name)
            codes, values = coded(column)
        certain, right = _certain_people(groups, codes, values, release.schema[name], people, times)
        if certain:
            tells = release.groups is not None and tells_few(release, name)
            withheld = _is_withheld(certain, release.headcount, right, tells)
            yield CertainValue(name, names if of_rows else (), certain, release.headcount, withheld=withheld)


def _alike(release: Release, names: tuple[str, ...]) -> IntArray:
    """Return which rows an adversary cannot tell apart: by true values, and by averages that keep a k."""
    groups = _grouped(release, names)
    if release.groups is None:
        return groups
    both = [groups, release.groups]
    return distinct_codes(both, [int(each.max()) + 1 for each in both])[1]


def _certain_people(
    groups: IntArray,
    codes: IntArray,
    values: Sequence[Any] | Array,
    attribute: Attribute,
    people: IntArray | None,
    times: IntArray | None,
) -> tuple[int, int]:
    """Return for how many people the groups make a value certain that harms somebody, and how many people are guessed
    right.
    """
    free = harms_nobody(attribute, values)
    public = public_shares(attribute, codes, values, people, times)
    sizes = people_in(groups, people, times=times)
    once = once_each(people, groups, codes)
    weights = times if people is None else None
    certain, begin, right = [], 0, 0
    for part in tabulated_in_parts(groups[once], codes[once], (len(sizes), len(values)), weights):
        certain.append(certain_groups(part, public, free, sizes=sizes[begin : begin + len(part)]))
        begin += len(part)
        right += int(part.max(axis=1).sum())
    return people_among(np.concatenate(certain)[groups], people, times), right


def _together(release: Release, names: tuple[str, ...]) -> TogetherAlone | None:
    """Return several sensitive attributes that single somebody out beside what may be known; None where none do."""
    sensitive = tuple(name for name in release.schema.sensitive if _is_true(release, name) and name not in names)
    if len(sensitive) < 2 or _sizes(release, _grouped(release, [*names, *sensitive])).min() >= ONE:
        return None
    return TogetherAlone(sensitive)


def found_in_altered(release: Release, original: Dataset | None = None) -> list[Finding]:
    """Return how often people are found by what was altered, by `ASKED` people of the table: one finding or none.

    Parameters
    ----------
    release : Release
    original : Dataset, optional
        What the release was made of; None: nothing is measured, and that is said.
    """
    schema = release.schema
    if release.provenance.rows is Rows.NOBODY:
        return [_reproduced(release, original)]
    altered = tuple(name for name in release.treated("noisy", "perturbed", "synthetic") if schema[name].knowable)
    if not altered:
        return []
    neutral = [name for name in release.treated(*TRUE, "noisy", "perturbed") if _is_neutral(release, name)]
    seen = release.with_known(neutral)
    known = tuple(seen.schema.quasi_identifiers)
    if original is None or release.times is not None or not Linkage.can_read(seen):
        return [FoundInAltered(altered, known)]
    try:
        chance, at_random = _found(seen, original.with_known(neutral))
    except (Unreadable, ValueError):  # cells that no attack can compare
        return [FoundInAltered(altered, known)]
    share = float(chance.mean())
    low, high = wilson(share * len(chance), len(chance))
    return [FoundInAltered(altered, known, share, float(low), float(high), at_random, len(chance))]


def certain_in_altered(release: Release, original: Dataset | None = None) -> list[CertainValue]:
    """Return for how many people altered or synthetic rows make a sensitive value certain, measured by people of the
    table: one finding for each attribute of which somebody's value is certain.

    Parameters
    ----------
    release, original
        As in `found_in_altered`.
    """
    nobody = release.provenance.rows is Rows.NOBODY
    altered = nobody or release.treated("noisy", "perturbed", "synthetic")
    if original is None or release.times is not None or release.groups is not None or not altered:
        return []
    neutral = [name for name in release.known_neutral if name in original.schema.knowable]
    seen, data = release.with_known(neutral), original.with_known(neutral)
    published, key = seen._published(0)
    whole, most = (np.arange(len(data)), SAMPLE) if key is None else (np.sort(key), CONCLUDED)
    records, drawn = _some_records(data, whole, most)
    attack = linkage_to_any_row() if nobody else Linkage()
    found = []
    for name in release.schema.sensitive:
        if name not in release.cells or (release.cells[name] == SUPPRESSED).all():
            continue
        try:
            concluded = by_nearest_rows(attack, data, published, records, name)
        except (Unreadable, ValueError):  # cells that no attack can compare
            continue
        certain, of = int(concluded.certain.sum()), len(concluded.certain)
        if certain:
            withheld = _is_withheld(certain, of, round(concluded.right))
            columns = tuple(seen.schema.quasi_identifiers)
            found.append(CertainValue(name, columns, certain, of, nearest=True, drawn=drawn, withheld=withheld))
    return found


def _is_withheld(people: int, of: int, right: int, tells: bool = False) -> bool:
    return bool(withholding.tells(people, of)) or tells_of_others(people, right, tells)


def _some_records(data: Dataset, records: IntArray, most: int) -> tuple[IntArray, bool]:
    """Return the records of so many people at most, integer array, and whether these were drawn."""
    owner = records if data.people is None else data.people[records]
    people = np.unique(owner)
    if len(people) <= most:
        return records, False
    return records[np.isin(owner, np.random.default_rng(0).choice(people, most, replace=False))], True


def _is_neutral(release: Release, name: str) -> bool:
    return name in release.cells and release.schema[name].role is Role.NEUTRAL and release.schema[name].knowable


def _found(release: Release, original: Dataset) -> tuple[NDArray[np.float64], float]:
    """Return how likely the row of each of some people is found, float array (people,), and by a row at random."""
    published, key = release._published(0)
    owner = np.arange(len(original)) if original.people is None else original.people
    assert key is not None  # each row is somebody's
    of_rows = owner[key]
    people = np.unique(of_rows)
    people = np.random.default_rng(0).choice(people, min(ASKED, len(people)), replace=False)
    records = np.flatnonzero(np.isin(owner, people) & np.isin(np.arange(len(original)), key))
    index, fit = Linkage().fit(published).fits(original.table.iloc[records])
    chance = np.zeros(len(records))
    for place, record in enumerate(records):
        rows = np.flatnonzero(np.unpackbits(fit[index[place]], count=len(of_rows)))
        chance[place] = np.mean(of_rows[rows] == owner[record]) if len(rows) else 0.0
    who = np.unique(owner[records], return_inverse=True)[1]
    return most_of_people(chance, who), 1 / len(np.unique(of_rows))


def _reproduced(release: Release, original: Dataset | None) -> Reproduced:
    """Return of how many people who are alone in the table a synthetic row has all that may be known."""
    of = release.headcount if original is None else original.headcount
    names = () if original is None else tuple(name for name in original.schema.knowable if name in release.cells)
    if original is None or not names:
        return Reproduced(names, None, of)
    both = pd.concat([_as_text(each, names) for each in (original.table, release.table)], ignore_index=True)
    columns = [coded(both[name]) for name in names]
    groups = distinct_codes([codes for codes, _ in columns], [len(values) for _, values in columns])[1]
    own, synthetic = groups[: len(original)], groups[len(original) :]
    size = int(groups.max()) + 1
    alone = people_in(own, original.people, size) == 1
    copied = alone & (np.bincount(synthetic, minlength=size) > 0)
    return Reproduced(names, people_among(copied[own], original.people), of)


def _as_text(table: pd.DataFrame, names: Collection[str]) -> pd.DataFrame:
    return pd.DataFrame({name: table[name].astype(str).to_numpy() for name in names})


@progress.step("asking the gate")
def judged(
    table: Unknown,
    schema: Schema,
    done: Mapping[str, Any],
    memory: Memory,
    *,
    buckets: pd.DataFrame | None = None,
    rule: Rule | None = None,
    beside: Sequence[Finding] = (),
    allow: str | None = None,
) -> Verdict:
    """Return what the gate says of a file.

    Parameters
    ----------
    table : Unknown
        The file.
    schema : Schema
        What its columns are in the table that it was made of.
    done : mapping
        The file's provenance as plain values; empty: nobody stated how it was made, and every cell counts as true.
    memory : Memory
    buckets : DataFrame, optional
        The second table of a bucketized release.
    rule, beside, allow
        As in `gate`.
    """
    there = [name for name in schema.published if spreadsheets.name_in_file(done, name) in table.names]
    provenance = provenance_of(schema, done)
    columns = {name: provenance.columns.get(name, Treatment("generalized")) for name in there}
    true = [name for name in there if columns[name].kind in TRUE or name in provenance.recoded]
    # Averages that keep a k are groups, too: what they tell, they tell of everybody in them.
    drawn = any(treatment.kind in ("noisy", "synthetic") for treatment in columns.values())
    averaged = schema.quasi_identifiers if provenance.claims and not drawn else []
    names = [name for name in there if name in averaged or (name in true and _counts(schema, name))]
    seen = Schema(schema.dataset, tuple(schema[name] for name in there))
    beside = (*beside, *_recorded(done))
    cells, times = _counted_in_file(table, names, done, memory, provenance.rows)
    if cells is None:
        beside, cells = (*beside, NotCounted(tuple(names), memory.combinations)), pd.DataFrame()
    release = Release(table=cells, schema=seen, hierarchies={}, provenance=provenance, buckets=buckets, times=times)
    return gate(release, rule=rule, beside=beside, allow=allow)


def _counted_in_file(
    table: Unknown, names: list[str], done: Mapping[str, Any], memory: Memory, rows: Rows
) -> tuple[pd.DataFrame | None, IntArray | None]:
    """Return the combinations of some columns of a file, and how often each is there; None where they are too many."""
    if not names or rows is Rows.NOBODY:
        return pd.DataFrame(index=[0]), np.ones(1, dtype=np.int64)
    try:
        cells, times = spreadsheets.read(done, names, lambda own: table.counted(own, memory, estimates=False))
    except TooManyCombinationsError:
        return None, None
    return cells.reset_index(drop=True), times


def _recorded(done: Mapping[str, Any]) -> list[Recorded]:
    """Return what was measured of altered or synthetic rows when they were made, by a provenance."""
    found = [*done.get("gate", {}).get("reasons", ()), *done.get("gate", {}).get("notices", ())]
    kinds = FoundInAltered.kind, Reproduced.kind
    return [
        Recorded(str(each["says"]))
        for each in found
        if each["finding"] in kinds or (each["finding"] == CertainValue.kind and each.get("nearest"))
    ]


def _counts(schema: Schema, name: str) -> bool:
    return schema[name].knowable or schema[name].role is Role.SENSITIVE


def provenance_of(schema: Schema, done: Mapping[str, Any]) -> Provenance:
    """Return what a provenance says that the gate needs, of plain values."""
    promised = [int(found[1]) for claim in done.get("claims", ()) if (found := K.match(claim))]
    columns = {}
    for name, said in done.get("columns", {}).items():
        kind = next((kind for kind in KINDS if str(said).startswith(kind)), "generalized")
        columns[name] = Treatment(kind, Law() if kind == "noisy" else None)
    return Provenance(
        schema.dataset,
        str(done.get("sanitizer", UNSTATED)),
        {},
        claims=(KAnonymity(max(promised)),) if promised else (),
        columns=columns,
        global_recoding=bool(done.get("recoded")),
        rows=Rows(done.get("rows", str(Rows.RECORDS))),
    )


def _people(people: int, of: int) -> str:
    """Return how many people, of how many, in words that name no count of few."""
    if withholding.few(people, withholding.LIMIT):
        return f"fewer than {withholding.LIMIT} people"
    return f"{people:,} people ({percent(people / of)})"


def _named(names: Collection[str]) -> str:
    return some_of(names, NAMED)


def _are(names: Collection[str], several: str, one: str) -> str:
    return several if len(names) > 1 else one


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value

"""The gate, which decides whether a release may be published.

The same rule applies to files, frames, the explorer, decisions, cards and `check`.

A policy states a minimum class size, and the gate refuses a release in which fewer people share a combination of
published true values. Without a policy, the models of the release may promise a minimum number of people; if no model
promises a number, the minimum is two people. The gate also reports notices, which do not lead to a refusal: how often
an adversary re-identifies people by altered columns, for how many people the sensitive value is certain, and which
columns nobody can know according to the owner. An owner who publishes a refused release overrides the gate, and the
reason is recorded.
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
from privnb.datasets.undescribed_files import UndescribedTable
from privnb.measures.disclosure.certainty import are_harmless, certain_groups, public_shares, reveals_small_rest
from privnb.measures.disclosure.conclusions import SAMPLE, conclude_from_nearest_rows
from privnb.measures.disclosure.summary import reveals_small_count
from privnb.measures.intervals import wilson
from privnb.microdata import withholding
from privnb.microdata.columns import decode_column
from privnb.microdata.counts import (
    count_people_among,
    count_people_by_group,
    encode_values,
    group_codes,
    max_per_person,
    select_person_rows,
    tabulate_in_parts,
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
from privnb.runtime.names import abbreviate_names, join_names
from privnb.runtime.notices import Notice
from privnb.runtime.numerals import write_percent
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import validated
from privnb.runtime.wording import write_people
from privnb.sanitizers.errors import SanitizationError
from privnb.tables import spreadsheets
from privnb.tables.long_tables import Memory, TooManyCombinationsError

NOBODY_ALONE = 2  # the number of people who must share a combination if no model promises a number
MAX_LOOKED_FOR = 300  # the number of random people whose rows are searched in altered columns
MAX_CONCLUDED = 100_000  # random people for whom certainty is measured in altered rows; for synthetic rows, SAMPLE
K = re.compile(r"^(?!KMap)\w+\(.*\bk=(\d+)")  # the k of a claim in a provenance
UNKNOWN_SANITIZER = "this file"  # the name of an unknown sanitizer
MAX_NAMED = 6  # the most columns that a sentence names
OVERRIDE = 'or state your reason for releasing it all the same (--allow "reason"; in Python `allow=`)'


@dataclass(frozen=True)
class PublicationRule:
    """The requirements of a policy for a release that is published.

    Parameters
    ----------
    policy : str
        The name of the policy.
    min_class_size : int
        The minimum number of people who must share each combination of published true values.
    certain_at_most : float, optional
        The maximum share of people whose sensitive value may be certain, from 0 to 1; None if the policy states no
        share.
    broken : tuple of str
        The other requirements that the measured release breaks, as sentences.
    """

    policy: str
    min_class_size: int
    certain_at_most: float | None = None
    broken: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """A finding of the gate as data; `str()` returns the finding as a sentence."""

    kind: ClassVar[str]

    @property
    def notice(self) -> Notice:
        """The finding as a notice, whose code is the kind of the finding."""
        return Notice(str(self), self.kind.replace(" ", "-"))

    def data(self) -> dict[str, Any]:
        """Return the finding as plain values; a count of few people is withheld."""
        found = {name: _plain(value) for name, value in asdict(self).items()}
        if withholding.is_few(found.get("people") or 0, withholding.LIMIT):
            found |= {"people": None, "fewer_than": withholding.LIMIT}
        return {"finding": self.kind, **found, "says": str(self)}


@dataclass(frozen=True)
class SmallGroups(Finding):
    """The finding that people share a combination of published true values with too few other people.

    Parameters
    ----------
    columns : tuple of str
        All columns whose combinations are counted.
    responsible : tuple of str
        The columns that single people out. Without these columns, enough people share each combination.
    exact_known : tuple of str
        The quasi-identifiers among the responsible columns.
    people, of : int
        The number of people who share their combination with too few other people, and the number of all people.
    least : int
        The minimum number of people who must share a combination.
    policy : str
        The policy that states the minimum number; empty if the models of the release promise it.
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
        least = (
            "One person is unique"
            if self.least == NOBODY_ALONE
            else f"Fewer than {self.least:,} people are indistinguishable"
        )
        why = "" if self.least == NOBODY_ALONE and not self.policy else f", and {who} {self.least:,}"
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
    """The finding that the measured release breaks a requirement of the policy."""

    policy: str
    what: str
    kind = "broken policy"

    def __str__(self) -> str:
        return f"It breaks the policy '{self.policy}': {self.what.rstrip('.')}."


@dataclass(frozen=True)
class NotCounted(Finding):
    """The finding that the combinations of published true values do not fit into the memory and were not counted."""

    columns: tuple[str, ...]
    combinations: int
    kind = "not counted"

    def __str__(self) -> str:
        return (
            f"{_named(self.columns)} have more than {self.combinations:,} combinations, which do not fit into the "
            "memory, so nobody knows how many people share each. Allow more memory, leave columns with many values "
            f"out (role 'unused'), state why nobody can know them (`cannot_be_known`), {OVERRIDE}."
        )


@dataclass(frozen=True)
class CertainValue(Finding):
    """The finding that an adversary who knows some published columns is certain of the sensitive value of people.

    Parameters
    ----------
    sensitive : str
    columns : tuple of str
        The columns that the adversary knows.
    people, of : int
        The number of people whose value is certain, and the number of all people or, if people were drawn, of the
        people who were examined.
    at_most : float, optional
        The maximum share of people that the policy allows, from 0 to 1.
    nearest : bool
        Whether the adversary uses the rows nearest to a person, because cells are altered or synthetic.
    drawn : bool
        Whether the examined people were drawn at random.
    withheld : bool
        Whether the number is withheld, because it reveals a group of few people; see `certainty.reveals_small_rest`.
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
        """Return the finding as plain values; a count of few people is withheld."""
        return super().data() | ({"people": None} if self.withheld else {})

    def __str__(self) -> str:
        people = _people(self.people, self.of)
        if self.withheld and not withholding.is_few(self.people, withholding.LIMIT):
            people = (
                f"at least {withholding.LIMIT} people, whose number is withheld, because it would reveal a small group "
                "of other people"
            )
        drawn = f" of {self.of:,} people drawn at random" if self.drawn else ""
        by = f" by {_named(self.columns)}" if self.columns else ""
        why = (
            f"the rows nearest to them{by} have the same value, and it is theirs"
            if self.nearest
            else f"everybody who is indistinguishable from them{by} has the same value"
        )
        cap = "" if self.at_most is None else f" The policy allows {write_percent(self.at_most)} of people."
        return (
            f"The value of '{self.sensitive}' is certain for {people}{drawn}: {why}.{cap} A model with "
            f"distinct-l=2:{join_names([self.sensitive])} avoids that."
        )


@dataclass(frozen=True)
class FoundInAltered(Finding):
    """The finding that an adversary re-identifies a share of the people by altered cells.

    Parameters
    ----------
    columns : tuple of str
        The altered columns.
    known : tuple of str
        All columns that the adversary knows.
    share, low, high : float, optional
        The share of people who are re-identified, from 0 to 1, and its 95% interval; None if no attack measured the
        share.
    chance : float, optional
        The share of people who would be re-identified if a random row were drawn for each person.
    asked : int
        The number of people whom the attack tried to re-identify.
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
        """Return the finding as plain values; a share of few people is withheld."""
        few = self.share is not None and self.share * self.asked < withholding.LIMIT
        return super().data() | ({"share": None, "low": None} if few else {})

    def __str__(self) -> str:
        altered = f"{_named(self.columns)} {_are(self.columns, 'are', 'is')} altered, and not generalized"
        if self.share is None or self.low is None or self.high is None or self.chance is None:
            return (
                f"{altered}. Nobody measured how often an adversary finds a person's row by these columns, or for how "
                "many people the sensitive value is certain."
            )
        share = (
            f"{write_percent(self.share)} of people (95% CI {write_percent(self.low)} to {write_percent(self.high)})"
        )
        if self.share * self.asked < withholding.LIMIT:
            share = f"at most {write_percent(max(self.high, withholding.LIMIT / self.asked))} of people"
        return (
            f"{altered}. An adversary who knows {_named(self.known)} and takes the nearest row finds the row of "
            f"{share}; a row at random, 1 in {round(1 / self.chance):,}."
        )


@dataclass(frozen=True)
class Reproduced(Finding):
    """The finding that unique combinations of people's knowable values also occur in synthetic rows.

    Parameters
    ----------
    columns : tuple of str
        The columns that the adversary knows.
    people, of : int
        The number of people who have such a combination, None if nobody counted these people; and the number of all
        people.
    """

    columns: tuple[str, ...]
    people: int | None
    of: int
    kind = "synthetic rows"

    def __str__(self) -> str:
        if self.people is None:
            return "The rows are synthetic. Nobody counted how many of them equal the row of a person."
        return (
            f"The rows are synthetic. In {_named(self.columns)}, a row equals the record of "
            f"{_people(self.people, self.of)} who share these values with nobody else in the table; a row at random, 1 "
            f"in {self.of:,}."
        )


@dataclass(frozen=True)
class Recorded(Finding):
    """A finding about altered or synthetic rows that is recorded in the provenance, because a file cannot show it."""

    said: str
    kind = "recorded"

    def __str__(self) -> str:
        return self.said


@dataclass(frozen=True)
class StatedUnknowable(Finding):
    """The finding that, according to the owner, nobody can know some columns.

    `reasons` holds pairs of a column and the owner's reason.
    """

    reasons: tuple[tuple[str, str], ...]
    kind = "cannot be known"

    def __str__(self) -> str:
        by_reason: dict[str, list[str]] = {}
        for name, reason in self.reasons:
            by_reason.setdefault(reason.strip().rstrip("."), []).append(name)
        said = "; ".join(f"{join_names(names)} ({reason})" for reason, names in by_reason.items())
        return f"The description states that no adversary can know {said}. Nobody checked this statement."


@dataclass(frozen=True)
class StatedPublic(Finding):
    """The finding that the owner declares the distribution of some sensitive attributes public.

    For each attribute, the finding holds the name, the most common value, and the share of this value.
    """

    values: tuple[tuple[str, str, float], ...]
    kind = "public distribution"

    def __str__(self) -> str:
        said = "; ".join(
            f"{write_percent(share)} of people have {value} ({name})" for name, value, share in self.values
        )
        return (
            f"The description declares distributions of sensitive attributes public, and certainty is counted against "
            f"them: {said}. Nobody checked these statements."
        )


@dataclass(frozen=True)
class StatedHarmless(Finding):
    """The finding that, according to the owner, some values of sensitive attributes harm nobody.

    For each value, the finding holds the attribute and the owner's reason.
    """

    values: tuple[tuple[str, str, str], ...]
    kind = "harmless values"

    def __str__(self) -> str:
        said = "; ".join(f"{value} ({name}: {reason.strip().rstrip('.')})" for name, value, reason in self.values)
        return f"The description states that these values harm nobody, so their certainty is not counted: {said}."


@dataclass(frozen=True)
class TogetherAlone(Finding):
    """The finding that sensitive values, together with values that an adversary may know, single people out.

    Parameters
    ----------
    sensitive : tuple of str
    people, of : int
        The number of people who are singled out, and the number of all people.
    """

    sensitive: tuple[str, ...]
    people: int
    of: int
    kind = "sensitive values together"

    def data(self) -> dict[str, Any]:
        """Return the finding as plain values; a count of few people, or of all but a few, is withheld."""
        return super().data() | ({"people": None} if withholding.reveals_few(self.people, self.of) else {})

    def __str__(self) -> str:
        return (
            f"The published labels and the sensitive values of {_named(self.sensitive)} single out a record together, "
            f"for {write_people(self.people / self.of, self.of)} of {self.of:,}: an adversary who knows one sensitive "
            "value of a person may learn the others."
        )


@dataclass(frozen=True)
class Verdict:
    """The verdict of the gate on a release.

    Parameters
    ----------
    sanitizer : str
        The sanitizer of the release.
    reasons : tuple of Finding
        The findings that are reasons for a refusal; empty if the release is allowed.
    notices : tuple of Finding
        The findings that the person who publishes the release should know, and that lead to no refusal.
    override : str
        The owner's reason to publish a refused release; empty if the release is allowed or if no reason is given.
    """

    sanitizer: str
    reasons: tuple[Finding, ...] = ()
    notices: tuple[Finding, ...] = ()
    override: str = ""

    @property
    def allowed(self) -> bool:
        """Whether there is no reason for a refusal."""
        return not self.reasons

    @property
    def may_leave(self) -> bool:
        """Whether the release is allowed, or its owner has overridden the refusal."""
        return self.allowed or bool(self.override)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings: the reasons and the notices."""
        return (*self.reasons, *self.notices)

    @property
    def refusal(self) -> str:
        """The refusal in sentences; empty if the release is allowed."""
        return " ".join([f"The gate refuses {self.sanitizer}.", *map(str, self.reasons)]) * bool(self.reasons)

    @property
    def sentences(self) -> list[Notice]:
        """The verdict in sentences, beginning with the most important sentence."""
        said = [Notice(self.refusal, "refused")] if self.reasons else []
        if self.override:
            said.append(Notice(f"The owner of the release overrides this refusal: {self.override}", "override"))
        return [*said, *(each.notice for each in self.notices)]

    def data(self) -> dict[str, Any]:
        """Return the verdict as plain values for a provenance, without counts of few people."""
        reasons, notices = ([each.data() for each in found] for found in (self.reasons, self.notices))
        return {"allowed": self.allowed, "reasons": reasons, "notices": notices, "override": self.override}

    def check(self) -> "Verdict":
        """Return the verdict itself.

        Raises Refused if the release must not be published.
        """
        if not self.may_leave:
            raise Refused(self)
        return self


class Refused(SanitizationError):
    """A release must not be published; `verdict` holds the reasons."""

    def __init__(self, verdict: Verdict):
        super().__init__(f"{verdict.refusal} Nothing is written.")
        self.verdict = verdict

    def __reduce__(self) -> tuple[type["Refused"], tuple[Verdict]]:
        return type(self), (self.verdict,)


def check_allow(allow: str | None) -> str:
    """Return the reason of an override; for None, return an empty text.

    Raises UsageError for a blank reason.
    """
    if allow is None:
        return ""
    expect.kind("allow", allow, str)
    if not allow.strip():
        raise UsageError(
            "`allow` must be a reason; got an empty text. State why the release may be published in spite of the "
            "refusal."
        )
    return allow.strip()


@validated
def gate(
    release: Release,
    *,
    rule: PublicationRule | None = None,
    known: Collection[str] = (),
    original: Dataset | None = None,
    findings: Sequence[Finding] = (),
    allow: str | None = None,
) -> Verdict:
    """Return the verdict whether a release may be published and, if it may not, the reasons.

    Parameters
    ----------
    release : Release
        A release that holds records or counts, with every published column that an adversary may know.
    rule : Rule, optional
        The requirements of a policy. If it is None, the release must satisfy what its models promise.
    known : collection of str
        The columns that an adversary may know in addition to the knowable columns of the schema.
    original : Dataset, optional
        The original table. An attack tries to re-identify the people of this table by altered columns.
    findings : sequence of Finding
        Earlier findings. A `NotCounted` finding leads to a refusal; all other findings are notices.
    allow : str, optional
        The owner's reason to publish a refused release.

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
    names = list_known_columns(release, known)
    reasons: list[Finding] = [each for each in findings if isinstance(each, NotCounted)]
    notices: list[Finding] = [each for each in findings if not isinstance(each, NotCounted | CertainValue)]
    certain = [each for each in findings if isinstance(each, CertainValue)]
    if rule is not None:
        reasons += [BrokenPolicy(rule.policy, each) for each in rule.broken]
    if release.provenance.rows is not Rows.SYNTHETIC:
        reasons += filter(None, [_small_groups(release, names, rule)])
        certain += _certain(release, names)
    if original is not None or not any(isinstance(each, FoundInAltered | Reproduced | Recorded) for each in findings):
        notices += measure_found_in_altered(release, original)
        certain += count_certain_in_altered(release, original)
    for each in _most(certain, rule):
        over = each.at_most is not None and each.people > each.at_most * each.of + ROUNDING
        (reasons if over else notices).append(each)
    notices.sort(key=lambda each: not isinstance(each, CertainValue))  # certain values first
    if not reasons and release.provenance.rows is not Rows.SYNTHETIC:
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


def list_known_columns(release: Release, known: Collection[str] = ()) -> tuple[str, ...]:
    """Return the columns with true cells that an adversary may know, beginning with the quasi-identifiers.

    Cells that depend only on the value, such as rounded or top-coded cells, count as true; see `Provenance.recoded`.
    Altered columns with missing numbers are included, because a missing cell is true; see `_true_codes`.
    """
    if release.provenance.rows is Rows.SYNTHETIC:
        return ()
    schema = release.schema
    names = [name for name in schema.published if _is_true(release, name) or _has_missing(release, name)]
    own = [name for name in names if name in schema.quasi_identifiers]
    return (*own, *(name for name in names if name not in own and (schema[name].knowable or name in known)))


def _is_true(release: Release, name: str) -> bool:
    return name in release.cells and name in {*release.treated(*TRUE), *release.provenance.recoded}


def _has_missing(release: Release, name: str) -> bool:
    """Return whether an altered column has missing numbers."""
    altered = name in release.cells and name in release.treated("noisy", "perturbed")
    return altered and release.schema[name].numeric and bool(decode_column(release.cells[name]).isna().any())


def _true_codes(release: Release, name: str) -> tuple[IntArray, Sequence[Any] | Array]:
    """Return the result of `Release.coded` for a column.

    For an altered column with missing numbers, the codes state only whether each number is missing.
    """
    if _is_true(release, name) or not _has_missing(release, name):
        return release.coded(name)
    return decode_column(release.cells[name]).isna().to_numpy().astype(np.int64), ("a number", "missing")


def find_promised_k(release: Release) -> int:
    """Return the minimum number of people who share each combination according to the release's models.

    Without such a model, the result is `NOBODY_ALONE`.
    """
    found = [model.k for model in release.provenance.claims if hasattr(model, "k") and not hasattr(model, "population")]
    return max([NOBODY_ALONE, *(int(k) for k in found if expect.is_whole(k))])


def _grouped(release: Release, names: Collection[str]) -> IntArray:
    """Return the number of the group of each row, as an integer array (rows,) from 0.

    A group consists of the rows with equal true values in the columns `names`.
    """
    columns = [_true_codes(release, name) for name in names]
    if not columns:
        return np.zeros(len(release), dtype=np.int64)
    return group_codes([codes for codes, _ in columns], [len(values) for _, values in columns])[1]


def _sizes(release: Release, groups: IntArray) -> IntArray:
    return count_people_by_group(groups, release.people, times=release.times)


def _small_groups(release: Release, names: tuple[str, ...], rule: PublicationRule | None) -> SmallGroups | None:
    """Return the finding about people who share a combination with too few other people; None without such people."""
    least = find_promised_k(release) if rule is None else rule.min_class_size
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
    """Return columns to leave out, so that at least `least` people share each combination of the other columns.

    Columns are added one by one, beginning with the quasi-identifiers, and in the order of their numbers of values. If
    an added column makes a group too small, the column is returned and is removed again before the next step.
    """
    own = release.schema.quasi_identifiers
    order = sorted(names, key=lambda name: (name not in own, len(_true_codes(release, name)[1])))
    groups: IntArray = np.zeros(len(release), dtype=np.int64)
    found = []
    for name in order:
        codes, values = _true_codes(release, name)
        _, finer = group_codes([groups, codes], [int(groups.max()) + 1, len(values)])
        if _sizes(release, finer).min() < least:
            found.append(name)
        else:
            groups = finer
    return tuple(name for name in names if name in found) or names


def _most(certain: Sequence[CertainValue], rule: PublicationRule | None) -> list[CertainValue]:
    """Return, for each sensitive attribute, the finding with the largest share of people.

    The findings also contain the share that the policy allows.
    """
    at_most = None if rule is None else rule.certain_at_most
    most: dict[str, CertainValue] = {}
    for each in certain:
        before = most.setdefault(each.sensitive, each)
        if each.people * before.of > before.people * each.of:
            most[each.sensitive] = each
    return [replace(each, at_most=at_most) for each in most.values()]


def _certain(release: Release, names: tuple[str, ...]) -> Iterator[CertainValue]:
    """Yield a CertainValue for each sensitive attribute whose value is certain for at least one person."""
    for name in release.schema.sensitive:
        of_rows = _is_true(release, name)
        if name in names or not (of_rows or name in release.treated("bucketized")):
            continue
        if of_rows:
            groups, people, times = _group_indistinguishable(release, names), release.people, release.times
            codes, values = release.coded(name)
        else:
            groups, column, people, times = release.counted(name)
            codes, values = encode_values(column)
        certain, right = _certain_people(groups, codes, values, release.schema[name], people, times)
        if certain:
            tells = release.groups is not None and reveals_small_count(release, name)
            withheld = _is_withheld(certain, release.headcount, right, tells)
            yield CertainValue(name, names if of_rows else (), certain, release.headcount, withheld=withheld)


def _group_indistinguishable(release: Release, names: tuple[str, ...]) -> IntArray:
    """Return the number of the group of each row, as an integer array (rows,).

    No true value, and no average over a class, distinguishes the rows of a group.
    """
    groups = _grouped(release, names)
    if release.groups is None:
        return groups
    both = [groups, release.groups]
    return group_codes(both, [int(each.max()) + 1 for each in both])[1]


def _certain_people(
    groups: IntArray,
    codes: IntArray,
    values: Sequence[Any] | Array,
    attribute: Attribute,
    people: IntArray | None,
    times: IntArray | None,
) -> tuple[int, int]:
    """Return the number of people whose value is certain and harmful, and of those whose value is guessed correctly."""
    free = are_harmless(attribute, values)
    public = public_shares(attribute, codes, values, people, times)
    sizes = count_people_by_group(groups, people, times=times)
    once = select_person_rows(people, groups, codes)
    weights = times if people is None else None
    certain, begin, right = [], 0, 0
    for part in tabulate_in_parts(groups[once], codes[once], (len(sizes), len(values)), weights):
        certain.append(certain_groups(part, public, free, sizes=sizes[begin : begin + len(part)]))
        begin += len(part)
        right += int(part.max(axis=1).sum())
    return count_people_among(np.concatenate(certain)[groups], people, times), right


def _together(release: Release, names: tuple[str, ...]) -> TogetherAlone | None:
    """Return the finding about sensitive attributes that, together with known columns, single a person out, or None."""
    sensitive = tuple(name for name in release.schema.sensitive if _is_true(release, name) and name not in names)
    if len(sensitive) < 2:
        return None
    groups = _grouped(release, [*names, *sensitive])
    alone = _sizes(release, groups) < NOBODY_ALONE
    if not alone.any():
        return None
    everybody = release.people_among(np.ones(len(groups), dtype=bool))
    return TogetherAlone(sensitive, release.people_among(alone[groups]), everybody)


def measure_found_in_altered(release: Release, original: Dataset | None = None) -> list[Finding]:
    """Return at most one finding: the share of people whom an attack re-identifies by altered cells.

    The attack tries to re-identify at most `MAX_LOOKED_FOR` people.

    Parameters
    ----------
    release : Release
    original : Dataset, optional
        The original table. If it is None, nothing is measured, and the finding states this.
    """
    schema = release.schema
    if release.provenance.rows is Rows.SYNTHETIC:
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


def count_certain_in_altered(release: Release, original: Dataset | None = None) -> list[CertainValue]:
    """Count the people whose sensitive value becomes certain through altered or synthetic rows.

    The result has one finding for each sensitive attribute for which there are such people. The people are those of the
    original table, or a random sample of them.

    Parameters
    ----------
    release, original
        See `measure_found_in_altered`.
    """
    nobody = release.provenance.rows is Rows.SYNTHETIC
    altered = nobody or release.treated("noisy", "perturbed", "synthetic")
    if original is None or release.times is not None or release.groups is not None or not altered:
        return []
    neutral = [name for name in release.known_neutral if name in original.schema.knowable]
    seen, data = release.with_known(neutral), original.with_known(neutral)
    published, key = seen._published(0)
    whole, most = (np.arange(len(data)), SAMPLE) if key is None else (np.sort(key), MAX_CONCLUDED)
    records, drawn = _some_records(data, whole, most)
    attack = linkage_to_any_row() if nobody else Linkage()
    found = []
    for name in release.schema.sensitive:
        if name not in release.cells or (release.cells[name] == SUPPRESSED).all():
            continue
        try:
            concluded = conclude_from_nearest_rows(attack, data, published, records, name)
        except (Unreadable, ValueError):  # cells that no attack can compare
            continue
        certain, of = int(concluded.certain.sum()), len(concluded.certain)
        if certain:
            withheld = _is_withheld(certain, of, round(concluded.right))
            columns = tuple(seen.schema.quasi_identifiers)
            found.append(CertainValue(name, columns, certain, of, nearest=True, drawn=drawn, withheld=withheld))
    return found


def _is_withheld(people: int, of: int, right: int, tells: bool = False) -> bool:
    return bool(withholding.reveals_few(people, of)) or reveals_small_rest(people, right, tells)


def _some_records(data: Dataset, records: IntArray, most: int) -> tuple[IntArray, bool]:
    """Return the records of at most `most` people, as an integer array, and whether people were drawn at random."""
    owner = records if data.people is None else data.people[records]
    people = np.unique(owner)
    if len(people) <= most:
        return records, False
    return records[np.isin(owner, np.random.default_rng(0).choice(people, most, replace=False))], True


def _is_neutral(release: Release, name: str) -> bool:
    return name in release.cells and release.schema[name].role is Role.NEUTRAL and release.schema[name].knowable


def _found(release: Release, original: Dataset) -> tuple[NDArray[np.float64], float]:
    """Return the probability of re-identifying each drawn person, as a float array, and that of a random row."""
    published, key = release._published(0)
    owner = np.arange(len(original)) if original.people is None else original.people
    assert key is not None  # each row belongs to a person
    of_rows = owner[key]
    people = np.unique(of_rows)
    people = np.random.default_rng(0).choice(people, min(MAX_LOOKED_FOR, len(people)), replace=False)
    records = np.flatnonzero(np.isin(owner, people) & np.isin(np.arange(len(original)), key))
    index, fit = Linkage().fit(published).fits(original.table.iloc[records])
    chance = np.zeros(len(records))
    for place, record in enumerate(records):
        rows = np.flatnonzero(np.unpackbits(fit[index[place]], count=len(of_rows)))
        chance[place] = np.mean(of_rows[rows] == owner[record]) if len(rows) else 0.0
    who = np.unique(owner[records], return_inverse=True)[1]
    return max_per_person(chance, who), 1 / len(np.unique(of_rows))


def _reproduced(release: Release, original: Dataset | None) -> Reproduced:
    """Return the finding about people whose unique combination of knowable values occurs in a synthetic row."""
    of = release.headcount if original is None else original.headcount
    names = () if original is None else tuple(name for name in original.schema.knowable if name in release.cells)
    if original is None or not names:
        return Reproduced(names, None, of)
    both = pd.concat([_as_text(each, names) for each in (original.table, release.table)], ignore_index=True)
    columns = [encode_values(both[name]) for name in names]
    groups = group_codes([codes for codes, _ in columns], [len(values) for _, values in columns])[1]
    own, synthetic = groups[: len(original)], groups[len(original) :]
    size = int(groups.max()) + 1
    alone = count_people_by_group(own, original.people, size) == 1
    copied = alone & (np.bincount(synthetic, minlength=size) > 0)
    return Reproduced(names, count_people_among(copied[own], original.people), of)


def _as_text(table: pd.DataFrame, names: Collection[str]) -> pd.DataFrame:
    return pd.DataFrame({name: table[name].astype(str).to_numpy() for name in names})


@progress.step("asking the gate")
def judge_file(
    table: UndescribedTable,
    schema: Schema,
    done: Mapping[str, Any],
    memory: Memory,
    *,
    buckets: pd.DataFrame | None = None,
    rule: PublicationRule | None = None,
    findings: Sequence[Finding] = (),
    allow: str | None = None,
) -> Verdict:
    """Return the verdict of the gate on a file.

    Parameters
    ----------
    table : Unknown
        The file to judge.
    schema : Schema
        The columns of the original table.
    done : mapping
        The provenance of the file as plain values. If it is empty, every cell counts as a true cell.
    memory : Memory
    buckets : DataFrame, optional
        The second table of a bucketized release.
    rule, findings, allow
        See `gate`.
    """
    there = [name for name in schema.published if spreadsheets.name_in_file(done, name) in table.names]
    provenance = read_provenance(schema, done)
    columns = {name: provenance.columns.get(name, Treatment("generalized")) for name in there}
    true = [name for name in there if columns[name].kind in TRUE or name in provenance.recoded]
    # Averages that keep a k also form groups, because an average describes everybody in its group.
    drawn = any(treatment.kind in ("noisy", "synthetic") for treatment in columns.values())
    averaged = schema.quasi_identifiers if provenance.claims and not drawn else []
    names = [name for name in there if name in averaged or (name in true and _counts(schema, name))]
    seen = Schema(schema.dataset, tuple(schema[name] for name in there))
    findings = (*findings, *_recorded(done))
    cells, times = _counted_in_file(table, names, done, memory, provenance.rows)
    if cells is None:
        findings, cells = (*findings, NotCounted(tuple(names), memory.combinations)), pd.DataFrame()
    release = Release(table=cells, schema=seen, hierarchies={}, provenance=provenance, buckets=buckets, times=times)
    return gate(release, rule=rule, findings=findings, allow=allow)


def _counted_in_file(
    table: UndescribedTable, names: list[str], done: Mapping[str, Any], memory: Memory, rows: Rows
) -> tuple[pd.DataFrame | None, IntArray | None]:
    """Return the combinations of some columns of a file and the counts of the combinations.

    Both items are None if the combinations do not fit into the memory.
    """
    if not names or rows is Rows.SYNTHETIC:
        return pd.DataFrame(index=[0]), np.ones(1, dtype=np.int64)
    try:
        cells, times = spreadsheets.read_unescaped(done, names, lambda own: table.counted(own, memory, estimates=False))
    except TooManyCombinationsError:
        return None, None
    return cells.reset_index(drop=True), times


def _recorded(done: Mapping[str, Any]) -> list[Recorded]:
    """Return the findings about altered or synthetic rows that a provenance records."""
    found = [*done.get("gate", {}).get("reasons", ()), *done.get("gate", {}).get("notices", ())]
    kinds = FoundInAltered.kind, Reproduced.kind
    return [
        Recorded(str(each["says"]))
        for each in found
        if each["finding"] in kinds or (each["finding"] == CertainValue.kind and each.get("nearest"))
    ]


def _counts(schema: Schema, name: str) -> bool:
    return schema[name].knowable or schema[name].role is Role.SENSITIVE


def read_provenance(schema: Schema, done: Mapping[str, Any]) -> Provenance:
    """Return the facts that the gate needs, from a provenance that consists of plain values."""
    promised = [int(found[1]) for claim in done.get("claims", ()) if (found := K.match(claim))]
    columns = {}
    for name, said in done.get("columns", {}).items():
        kind = next((kind for kind in KINDS if str(said).startswith(kind)), "generalized")
        columns[name] = Treatment(kind, Law() if kind == "noisy" else None)
    return Provenance(
        schema.dataset,
        str(done.get("sanitizer", UNKNOWN_SANITIZER)),
        {},
        claims=(KAnonymity(max(promised)),) if promised else (),
        columns=columns,
        global_recoding=bool(done.get("recoded")),
        rows=Rows(done.get("rows", str(Rows.RECORDS))),
        invented=schema.invented,
    )


def _people(people: int, of: int) -> str:
    """Return a phrase with a number of people and their share, without counts of few people."""
    if withholding.is_few(people, withholding.LIMIT):
        return f"fewer than {withholding.LIMIT} people"
    return f"{people:,} people ({write_percent(people / of)})"


def _named(names: Collection[str]) -> str:
    return abbreviate_names(names, MAX_NAMED)


def _are(names: Collection[str], several: str, one: str) -> str:
    return several if len(names) > 1 else one


def _plain(value: Any) -> Any:
    """Return a value in the form that JSON can represent."""
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value

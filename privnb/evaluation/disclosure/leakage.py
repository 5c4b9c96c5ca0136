"""What releases of a whole table leak of a person: how likely one guess is right, and the leakage in bits.

Each person is the input of a channel: see `measures.vulnerability`. A generalization tells their cells, a bucketization
their bucket, noise a random row. The baseline is always the prior vulnerability, the best guess without the release.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Self

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import secret_name
from privnb.evaluation.cases import Case, Question
from privnb.evaluation.disclosure.disclosures import stand_in
from privnb.evaluation.people import subsets_of
from privnb.evaluation.results import Row
from privnb.measures.base import state
from privnb.measures.disclosure import channel
from privnb.measures.disclosure.channel_matrix import Channel
from privnb.measures.disclosure.disclosed import right_by_group
from privnb.measures.disclosure.vulnerability import by_subset, record_channel, register_vulnerability
from privnb.microdata import withholding
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.release import Release
from privnb.microdata.treatment import Rows, Unreadable
from privnb.microdata.withholding import Counted, Number, Revealing, shown
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.names import name_list
from privnb.runtime.validation import validated
from privnb.sanitizers.noise import noise_channel

_ALVIM = "Alvim et al., PoPETs 2022(4)"
_BOOK = "Alvim et al., The Science of Quantitative Information Flow, 2020"
_GUESS = {"kind": "privacy", "better": "lower", "bounds": (0, 1)}
_BITS = {"kind": "privacy", "better": "lower", "bounds": (0, np.inf), "unit": "bits"}
state(
    "identity_vulnerability",
    **_GUESS,
    title="Row traced to its person",
    sentence="How likely a released row is traced to its person by an adversary who has a register of all "
    "quasi-identifiers; the baseline is a person at random. For noise in several attributes an estimate.",
    source=_ALVIM,
    unit="share of rows",
    format="{:%} of people",
    axis=True,
)
state(
    "attribute_vulnerability",
    **_GUESS,
    title="A person's own value",
    sentence="How likely a person's true value is guessed from its released cell alone; the baseline is the commonest "
    "value.",
    source=_BOOK,
    unit="share of people",
)
state(
    "sensitive_vulnerability",
    **_GUESS,
    title="Sensitive value guessed",
    sentence="How likely a person's sensitive value is guessed from their class; the baseline is the commonest value "
    "of the table.",
    source=_ALVIM,
    unit="share of people",
    readings={
        "at most": "A bound: what the original discloses to an adversary who knows the quasi-identifiers alone. From "
        "buckets or noise no such adversary guesses better."
    },
    axis=True,
)
state(
    "bucket_vulnerability",
    **_GUESS,
    title="Sensitive value guessed from the bucket",
    sentence="How likely a person's sensitive value is guessed by an adversary who knows their bucket; the baseline is "
    "the commonest value of the table.",
    source=_ALVIM,
    unit="share of people",
    axis=True,
)
for _what in ("identity", "attribute", "sensitive", "bucket"):
    state(
        f"{_what}_leakage",
        **_BITS,
        sentence="How many times likelier the guess becomes right by the release; 1 bit doubles it.",
        source=_BOOK,
        axis=_what != "attribute",
    )
for _what in ("sensitive", "bucket"):
    state(
        f"{_what}_additive_capacity",
        **_GUESS,
        sentence="How far what is known of a person's sensitive value moves, mean total variation.",
        source=_BOOK,
        unit="distance, 0 to 1",
        axis=True,
    )
state(
    "attribute_capacity",
    **_BITS,
    sentence="The most that a noisy cell leaks to anybody, whatever they knew and wanted.",
    source=_BOOK,
)
state(
    "expected_gain",
    kind="privacy",
    title="Expected gain of the best guess",
    sentence="What the best guess is worth on average to an adversary with these aims.",
    source="Alvim et al., CSF 2012, section 3",
    axis=True,
)


@dataclass(frozen=True)
class Known(Question):
    """What someone can tell of a person of whom they know some quasi-identifiers, for every set of these.

    They know the person's values and so their released cells. Where labels of one attribute overlap, values do not say
    which cell is theirs: then the rows are at most what they tell, the lesser of what the cells and what the original
    tells. Where cells lead to several buckets, they guess the value that is likeliest if any of a bucket's may be
    anybody's in it: who learns more from all the buckets may do better.

    Rows for each set, in `knows`: `identity_vulnerability`, how likely a guess at the person's row is right (rows found
    / people; baseline: a row at random); `sensitive_vulnerability`, how likely a guess at their sensitive value is;
    baseline: the commonest value. Of more than 10 quasi-identifiers only sets of 1 to 3, and all. Noise leaves no
    groups: its row says so in `status` and `reason`.
    """

    sensitive: str
    main = "identity_vulnerability"

    def rows(self, case: Case) -> list[Row]:
        dataset, release, rows, n = case.dataset, stand_in(case), [], len(case.dataset)
        check_record_each(release)
        if reason := release.without_classes:
            raise Unreadable(
                f"what some of a person's attributes tell is not counted for {case.sanitizer!r}: {reason}. Ask "
                "`leakage`, which looks at whole rows, or leave it out."
            )
        names, original = dataset.schema.quasi_identifiers, _subsets_of_original(dataset, self.sensitive)
        counted: Mapping[Any, Any] = original
        prior = _prior(dataset, self.sensitive)
        if not {*names, self.sensitive} <= {*release.treated("exact")}:
            counted = _by_subset(dataset, release, self.sensitive, subsets_of(names))
        for subset, most in original.items():
            groups, guessed = np.minimum(counted[subset], most)
            knowing = partial(case.row, knows=name_list(subset), better="lower")
            found, share = Counted(groups, n, rule=withholding.found), Counted(guessed, n)
            rows += [
                knowing("identity_vulnerability", found, target="identity", baseline=1 / n),
                knowing("sensitive_vulnerability", share, target=self.sensitive, baseline=prior),
            ]
        return rows


@lru_cache(maxsize=2)
def _subsets_of_original(dataset: Dataset, sensitive: str) -> dict[tuple[str, ...], tuple[int, float]]:
    names = dataset.schema.quasi_identifiers
    return by_subset({name: dataset.cells[name] for name in names}, dataset.cells[sensitive], subsets_of(names))


@dataclass(frozen=True)
class Leakage(Question):
    """What a release leaks of a person: generalization, buckets and noise on one scale.

    Rows in pairs: `..._vulnerability`, how likely one guess is right (0 to 1; baseline: without the release), and
    `..._leakage`, in bits: log2 of how many times likelier the release made that (baseline: 0).

    - `identity_...`: whose is a released row? For an adversary with a register of everybody's true quasi-identifiers
      who looks at one row. With noise in several attributes an estimate from 2,000 rows, with a 95% interval. An
      adversary who matches all noisy rows together may do better.
    - `attribute_...`, per quasi-identifier: what is a person's own value? For an adversary who sees its released cell
      alone, so at most what the row discloses.
    - `sensitive_...`: what is a person's sensitive value? For an adversary who knows their quasi-identifiers. Of
      buckets how often the guess of `Known` is right, which others may beat. Of buckets and noise also rows of variant
      "at most": what the original discloses, which nobody beats who knows quasi-identifiers alone.
    - `bucket_...`, of buckets alone: the same for an adversary who knows the person's bucket. People alike in
      quasi-identifiers may be in different buckets, so this takes more than those.

    `sensitive_additive_capacity` of classes, `bucket_additive_capacity`: the mean total variation between what is known
    of a person after and before; baseline: 0. `attribute_capacity` of noise, in bits: the most that a cell leaks to
    anybody, whatever they knew and wanted. A sanitizer that this table cannot have has one row, `classes`, of status
    "not possible".
    """

    sensitive: str

    def rows(self, case: Case) -> list[Row]:
        release = stand_in(case)
        check_record_each(release)
        check_readable(release)
        names, bucketized = case.dataset.schema.quasi_identifiers, self.sensitive not in release.cells
        rows = identity_rows(case, release)
        for name in names:
            rows += attribute_rows(case, release, name)
            if law := release.columns[name].law:
                most = np.log2(noise_channel.cell_capacity(law, case.dataset.schema[name]))
                rows.append(case.row("attribute_capacity", most, target=name, baseline=0))
        if bucketized or release.treated("noisy"):
            rows += original_rows(case, self.sensitive)
        if bucketized:
            known = tuple(names)
            people = _by_subset(case.dataset, release, self.sensitive, [known])[known][1]
            rows += _of_sensitive(case, "sensitive", people, self.sensitive)
        return rows if release.treated("noisy") else rows + class_rows(case, release, self.sensitive)


def check_price(price: Any) -> None:
    """Raise ValueError for a price that is no finite number from 0."""
    if not (expect.is_number(price) and price >= 0):
        raise UsageError(f"the price of a wrong guess must be 0 or more, got {expect.found(price)}.")


@dataclass(frozen=True, eq=False)
class Worth(Question):
    """What a guess at the sensitive value is worth to an adversary with aims of their own: g-vulnerability.

    Rows `expected_gain`: the mean over people of the best guess of an adversary who knows the person's class or bucket;
    baseline: the best one without the release; of noise of variant "at most", see `Leakage`. No value where the share
    of right guesses has none.

    Parameters
    ----------
    gain : DataFrame
        One row per guess (or any other action), one column per value of the attribute: what each guess gains for each
        true value, in any unit.
    sensitive : str

    References
    ----------
    Alvim et al., CSF 2012, section 3.
    """

    gain: pd.DataFrame
    sensitive: str
    main = "expected_gain"

    def __post_init__(self) -> None:
        expect.kind("gain", self.gain, pd.DataFrame, instead="One row per guess, one column per value.")

    @classmethod
    def priced(cls, dataset: Dataset, price: Any = 1.0) -> Self:
        """The question for an adversary who gains 1 by a right guess at the first sensitive attribute and pays `price`,
        0 or more, for a wrong one, or keeps silent.
        """
        check_price(price)
        name = secret_name(dataset, None)
        values = sorted(dataset.table[name].unique())
        gain = np.vstack([np.eye(len(values)) * (1 + price) - price, np.zeros(len(values))])
        return cls(pd.DataFrame(gain, columns=values), name)

    def rows(self, case: Case) -> list[Row]:
        release, n = stand_in(case), len(case.dataset)
        check_record_each(release)
        known = _channel(case.dataset, release, self.sensitive)
        absent = [str(value) for value in known.inputs if value not in self.gain]
        if absent:
            raise UsageError(
                f"the columns of gain say nothing of {self.sensitive} {', '.join(absent)}. Give each value a column."
            )
        gains = self.gain[list(known.inputs)].to_numpy(dtype=float)
        after = Revealing(channel.posterior_gain(known, gains), channel.posterior_vulnerability(known) * n, n)
        before = Revealing(channel.prior_gain(known, gains), channel.prior_vulnerability(known) * n, n)
        variant = "at most" if release.classes is None else ""
        return [self.row(case)(after, variant=variant, baseline=before)]


@validated
def check_record_each(release: Release) -> None:
    """Raise Unreadable where people may have several records: what is leaked here is leaked of a record."""
    if release.people is not None:
        raise Unreadable(
            "what a release leaks is counted by record, and people of this table may have several. How often a person "
            "is found, and what their classes tell, count people: see linkage and gains."
        )


def check_readable(release: Release) -> None:
    """Raise Unreadable where nothing is known of how a record's cells and its values hang together."""
    facts, moved = release.provenance, release.treated("perturbed")
    if facts.rows is not Rows.RECORDS or moved:
        reason = f"{name_list(moved)} were changed by no known law" if moved else f"its rows are {facts.rows}"
        raise Unreadable(f"what {facts.sanitizer} leaks of each record is not known: {reason}. Attack it instead.")


def _by_subset(dataset: Dataset, release: Release, sensitive: str, subsets: Sequence[Any]) -> dict[Any, Any]:
    """`by_subset` of what is released."""
    names, table, beliefs = dataset.schema.quasi_identifiers, release.table, None
    counts: Any = release.buckets
    if sensitive in table:
        value = table[sensitive]
    else:
        of = counts[counts["attribute"] == sensitive]
        share = of["count"] / of.groupby("bucket")["count"].transform("sum")
        # A row for each person and each value of their bucket, apart from the table, whose columns may have any name.
        rows = pd.DataFrame({"bucket": table["bucket"].to_numpy(), "person": np.arange(len(table))})
        rows = rows.merge(of.assign(share=share)[["bucket", "value", "share"]], on="bucket")
        table, value = table.iloc[rows["person"]].reset_index(drop=True), rows["value"]
        true = dataset.table[sensitive].to_numpy()[rows["person"]]
        beliefs = np.stack([rows["share"], value.to_numpy() == true], axis=1)
    counted = by_subset({known: table[known] for known in names}, value, subsets, beliefs)
    if _withheld(release, sensitive):
        commonest = dataset.cells[sensitive].value_counts(dropna=False).max()
        return {subset: (groups, commonest) for subset, (groups, _) in counted.items()}
    return counted


def _withheld(release: Release, sensitive: str) -> bool:
    """Whether it is published in a table of its own, which tells its shares and nothing of anybody."""
    return (release.by_class(sensitive)[1] == SUPPRESSED).all()


def _channel(dataset: Dataset, release: Release, sensitive: str) -> Channel:
    """The channel of the sensitive value, given the class or bucket; of noise that of the original."""
    if release.treated("noisy"):
        return _of_original(dataset, sensitive)
    if _withheld(release, sensitive):
        return record_channel(np.zeros(len(dataset), dtype=np.int64), dataset.cells[sensitive])
    return record_channel(*release.by_class(sensitive))


@lru_cache(maxsize=8)
def _of_original(dataset: Dataset, sensitive: str) -> Channel:
    return record_channel(dataset.alike[1], dataset.cells[sensitive])


@lru_cache(maxsize=64)
def _prior(dataset: Dataset, name: str) -> Counted:
    """The share of the commonest value."""
    return Counted(dataset.cells[name].value_counts(dropna=False).max(), len(dataset))


def identity_rows(case: Case, release: Release) -> list[Row]:
    """Rows of whose a released row is."""
    n = len(case.dataset)
    if release.treated("noisy"):
        rng = np.random.default_rng(case.stream("identify"))
        right: Any = noise_channel.identification(case.dataset, release, rng=rng)
    else:
        found = register_vulnerability(release.equivalence_classes, case.dataset.alike[1])
        right = Counted(found * n, n, rule=withholding.found)
    return _pair(case, "identity", right, 1 / n, "identity")


def people_rows(case: Case, release: Release, sensitive: str) -> list[Row]:
    """Rows of whose a released row is, and of what the sensitive value is, where people may have several records."""
    n, people = len(release), np.asarray(release.people)
    right = channel.posterior_vulnerability(record_channel(release.equivalence_classes, people)) * n
    right = Counted(right, n, rule=withholding.found)
    rows = _pair(case, "identity", right, np.bincount(people).max() / n, "identity")
    classes, values, _ = release.of_people(sensitive)
    n, everybody = release.headcount, np.zeros(len(release), dtype=np.int64)
    guessed, before = (Counted(right_by_group(each, values, people) * n, n) for each in (classes, everybody))
    what = "bucket" if sensitive not in release.cells else "sensitive"
    return rows + _pair(case, what, guessed, before, sensitive)


def attribute_rows(case: Case, release: Release, name: str) -> list[Row]:
    """Rows of what a person's own value of a quasi-identifier is."""
    values, attribute, n = case.dataset.table[name], case.dataset.schema[name], len(case.dataset)
    if law := release.columns[name].law:
        right = noise_channel.cell_vulnerability(law, attribute, values)
    else:
        right = channel.posterior_vulnerability(record_channel(release.table[name], values))
    return _pair(case, "attribute", Counted(right * n, n), _prior(case.dataset, name), name)


def original_rows(case: Case, sensitive: str) -> list[Row]:
    """Rows of what the original tells of the sensitive value: at most so much does a release without classes."""
    people = channel.posterior_vulnerability(_of_original(case.dataset, sensitive)) * len(case.dataset)
    return _of_sensitive(case, "sensitive", people, sensitive, "at most")


def class_rows(case: Case, release: Release, sensitive: str) -> list[Row]:
    """Rows of what a person's class or bucket tells of the sensitive value."""
    known, n = _channel(case.dataset, release, sensitive), len(case.dataset)
    what = "bucket" if sensitive not in release.cells else "sensitive"
    people = channel.posterior_vulnerability(known) * n
    moved = Revealing(channel.additive_capacity(known), people, n)  # with the shares of the values
    capacity = case.row(f"{what}_additive_capacity", moved, target=sensitive, baseline=0)
    return [*_of_sensitive(case, what, people, sensitive), capacity]


def _of_sensitive(case: Case, what: str, people: float, sensitive: str, variant: str = "") -> list[Row]:
    return _pair(case, what, Counted(people, len(case.dataset)), _prior(case.dataset, sensitive), sensitive, variant)


def _pair(case: Case, what: str, share: Any, prior: Number, target: str, variant: str = "") -> list[Row]:
    """The rows of a vulnerability, which is `Counted` or (share, low, high), and of its leakage in bits."""
    share, prior = share.shown(case.fewest) if isinstance(share, Counted) else share, shown(prior, case.fewest)[0]
    bits = np.log2(np.maximum(np.asarray(share) / prior, 1))  # rounding must not make a leakage of nothing negative
    row = partial(case.row, variant=variant, target=target, better="lower")
    return [
        row(f"{what}_vulnerability", share[0], interval=share[1:], baseline=prior),
        row(f"{what}_leakage", bits[0], interval=bits[1:], baseline=0),
    ]

"""Leakage of a whole table's release: the probability that a guess about a person is right, and its increase.

Each person is an input of a channel; see `measures.disclosure.vulnerability`. The output of the channel is the person's
cells in a generalization, the person's bucket in a bucketization, and a random row in a release with noise. The
baseline is always the prior vulnerability, which is the probability that the best guess without the release is right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Self

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import choose_unknown_sensitive
from privnb.evaluation.dataset_summary import list_subsets
from privnb.evaluation.disclosure.disclosures import choose_release
from privnb.evaluation.evaluation_loop import Case, Question
from privnb.evaluation.results import Row
from privnb.measures.base import register_measure
from privnb.measures.disclosure import channel
from privnb.measures.disclosure.channel_matrix import Channel
from privnb.measures.disclosure.summary import accuracy_by_group
from privnb.measures.disclosure.vulnerability import record_channel, register_vulnerability, vulnerability_by_subset
from privnb.microdata import withholding
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.release import Release
from privnb.microdata.treatment import Rows, Unreadable
from privnb.microdata.withholding import Number, ReportedCount, Revealing, withhold_number
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.names import join_names
from privnb.runtime.validation import validated
from privnb.sanitizers.noise import noise_channel

_ALVIM = "Alvim et al., PoPETs 2022(4)"
_BOOK = "Alvim et al., The Science of Quantitative Information Flow, 2020"
_GUESS = {"kind": "privacy", "better": "lower", "bounds": (0, 1)}
_BITS = {"kind": "privacy", "better": "lower", "bounds": (0, np.inf), "unit": "bits"}
register_measure(
    "identity_vulnerability",
    **_GUESS,
    title="Row traced to its person",
    sentence="This is the probability that an adversary with a register of all quasi-identifiers traces a released row "
    "to its person; the baseline is a person at random. For noise in several attributes, it is an estimate.",
    source=_ALVIM,
    unit="share of rows",
    format="{:%} of people",
    axis=True,
)
register_measure(
    "attribute_vulnerability",
    **_GUESS,
    title="A person's own value",
    sentence="This is the probability that an adversary guesses a person's true value correctly from the released "
    "cell alone; the baseline is the most common value.",
    source=_BOOK,
    unit="share of people",
)
register_measure(
    "sensitive_vulnerability",
    **_GUESS,
    title="Sensitive value guessed",
    sentence="This is the probability that an adversary who knows a person's class guesses the person's sensitive "
    "value correctly; the baseline is the most common value of the table.",
    source=_ALVIM,
    unit="share of people",
    readings={
        "at most": "A bound: what the original discloses to an adversary who knows the quasi-identifiers alone. From "
        "buckets or noise no such adversary guesses better."
    },
    axis=True,
)
register_measure(
    "bucket_vulnerability",
    **_GUESS,
    title="Sensitive value guessed from the bucket",
    sentence="This is the probability that an adversary who knows a person's bucket guesses the person's sensitive "
    "value correctly; the baseline is the most common value of the table.",
    source=_ALVIM,
    unit="share of people",
    axis=True,
)
for _what in ("identity", "attribute", "sensitive", "bucket"):
    register_measure(
        f"{_what}_leakage",
        **_BITS,
        sentence="This is the factor by which the release raises the probability of a correct guess, in bits; 1 bit "
        "doubles the probability.",
        source=_BOOK,
        axis=_what != "attribute",
    )
for _what in ("sensitive", "bucket"):
    register_measure(
        f"{_what}_additive_capacity",
        **_GUESS,
        sentence="This is the mean total variation between the distributions of a person's sensitive value that an "
        "adversary knows with the release and without it.",
        source=_BOOK,
        unit="distance, 0 to 1",
        axis=True,
    )
register_measure(
    "attribute_capacity",
    **_BITS,
    sentence="This is the largest leakage of a noisy cell to any adversary, whatever the adversary knows and wants.",
    source=_BOOK,
)
register_measure(
    "expected_gain",
    kind="privacy",
    title="Expected gain of the best guess",
    sentence="This is the mean gain of the best guess for an adversary with these aims.",
    source="Alvim et al., CSF 2012, section 3",
    axis=True,
)


@dataclass(frozen=True)
class KnownAttributes(Question):
    """Question about the vulnerability of people to an adversary who knows a set of quasi-identifiers, for every set.

    The adversary knows a person's values and therefore the released cells. If the labels of an attribute overlap, a
    value does not determine its cell. The rows then report an upper bound, which is the smaller of two vulnerabilities:
    the vulnerability by the released cells and that by the original values. If a person's cells occur in several
    buckets, the adversary guesses the most probable value, and assumes that each person in a bucket may have each value
    of the bucket. An adversary who combines the information of all buckets may do better.

    Each set is listed in the column `knows` and has two rows. `identity_vulnerability` is the probability that a guess
    at the person's row is right (rows traced / people); its baseline is a random row. `sensitive_vulnerability` is the
    probability that a guess at the sensitive value is right; its baseline is the most common value. With more than 10
    quasi-identifiers, only the sets of 1 to 3 of them and the set of all of them are used. A release with noise has no
    classes; it has a single row, whose `status` and `reason` report this.
    """

    sensitive: str
    primary_measure = "identity_vulnerability"

    def rows(self, case: Case) -> list[Row]:
        """Return the rows of a case."""
        dataset, release, rows, n = case.dataset, choose_release(case), [], len(case.dataset)
        require_one_record_each(release)
        if reason := release.without_classes:
            raise Unreadable(
                f"the disclosure by some of a person's attributes is not counted for {case.sanitizer!r}: {reason}. Use "
                "`leakage`, which looks at whole rows, or leave out the sanitizer."
            )
        names, original = dataset.schema.quasi_identifiers, _count_original_subsets(dataset, self.sensitive)
        counted: Mapping[Any, Any] = original
        prior = _count_commonest(dataset, self.sensitive)
        if not {*names, self.sensitive} <= {*release.treated("exact")}:
            counted = _count_by_subset(dataset, release, self.sensitive, list_subsets(names))
        for subset, most in original.items():
            groups, guessed = np.minimum(counted[subset], most)
            knowing = partial(case.row, knows=join_names(subset), better="lower")
            found, share = ReportedCount(groups, n, rule=withholding.withhold_group_share), ReportedCount(guessed, n)
            rows += [
                knowing("identity_vulnerability", found, target="identity", baseline=1 / n),
                knowing("sensitive_vulnerability", share, target=self.sensitive, baseline=prior),
            ]
        return rows


@lru_cache(maxsize=2)
def _count_original_subsets(dataset: Dataset, sensitive: str) -> dict[tuple[str, ...], tuple[int, float]]:
    names = dataset.schema.quasi_identifiers
    return vulnerability_by_subset(
        {name: dataset.cells[name] for name in names}, dataset.cells[sensitive], list_subsets(names)
    )


@dataclass(frozen=True)
class Leakage(Question):
    """Question about the leakage of a release: generalization, buckets and noise on one scale.

    The rows come in pairs. `..._vulnerability` is the probability that one guess is right, from 0 to 1; its baseline is
    a guess without the release. `..._leakage`, in bits, is log2 of the factor by which the release raises this
    probability; its baseline is 0.

    - `identity_...`: the adversary guesses the person of a released row. The adversary has a register of the true
      quasi-identifiers of all people and sees one row. With noise in several attributes, the value is an estimate from
      2,000 rows with a 95% interval. An adversary who matches all noisy rows together may do better.
    - `attribute_...`, for each quasi-identifier: the adversary guesses a person's true value. The adversary sees only
      the released cell of this quasi-identifier, and the cell discloses at most as much as the row.
    - `sensitive_...`: the adversary guesses a person's sensitive value. The adversary knows the person's
      quasi-identifiers. For buckets, the value is the share of right guesses of `KnownAttributes`; another adversary
      may do better. Releases with buckets or noise also have rows of the variant "at most". These rows report the
      disclosure by the original, which bounds the success of every adversary who knows only quasi-identifiers.
    - `bucket_...`, for buckets only: the adversary guesses a person's sensitive value. The adversary knows the person's
      bucket. This is more than the quasi-identifiers, because people with equal quasi-identifiers may be in different
      buckets.

    Two measures, `sensitive_additive_capacity` (for classes) and `bucket_additive_capacity`, compare what the adversary
    knows about a person's sensitive value before and after the release. Each measure is the mean total variation
    between the two distributions; the baseline is 0. `attribute_capacity`, for noise, is the largest leakage of a cell,
    in bits, to any adversary, whatever the adversary knows and wants. A sanitizer that does not fit the table has one
    row, `classes`, with the status "not possible".
    """

    sensitive: str

    def rows(self, case: Case) -> list[Row]:
        """Return the rows of a case."""
        release = choose_release(case)
        require_one_record_each(release)
        check_readable(release)
        names, bucketized = case.dataset.schema.quasi_identifiers, self.sensitive not in release.cells
        rows = build_identity_rows(case, release)
        for name in names:
            rows += build_attribute_rows(case, release, name)
            if law := release.columns[name].law:
                most = np.log2(noise_channel.cell_capacity(law, case.dataset.schema[name]))
                rows.append(case.row("attribute_capacity", most, target=name, baseline=0))
        if bucketized or release.treated("noisy"):
            rows += build_original_rows(case, self.sensitive)
        if bucketized:
            known = tuple(names)
            people = _count_by_subset(case.dataset, release, self.sensitive, [known])[known][1]
            rows += _build_sensitive_rows(case, "sensitive", people, self.sensitive)
        return rows if release.treated("noisy") else rows + build_class_rows(case, release, self.sensitive)


def check_price(price: Any) -> None:
    """Raise ValueError unless a price is a finite number of at least 0."""
    if not (expect.is_number(price) and price >= 0):
        raise UsageError(f"the price of a wrong guess must be at least 0; got {expect.describe_value(price)}.")


@dataclass(frozen=True, eq=False)
class ExpectedGain(Question):
    """Question about the g-vulnerability of the sensitive value, which is the expected gain of an adversary.

    The row `expected_gain` is the gain of the best guess about a person, averaged over all people, for an adversary who
    knows the person's class or bucket. The baseline is the gain of the best guess without the release. For noise, the
    row has the variant "at most"; see `Leakage`. The value is withheld if the share of right guesses is withheld.

    Parameters
    ----------
    gain : DataFrame
        The gain of each guess for each true value, in any unit: one row per guess or other action, and one column per
        value of the attribute.
    sensitive : str

    References
    ----------
    Alvim et al., CSF 2012, section 3.
    """

    gain: pd.DataFrame
    sensitive: str
    primary_measure = "expected_gain"

    def __post_init__(self) -> None:
        expect.kind("gain", self.gain, pd.DataFrame, instead="One row per guess, one column per value.")

    @classmethod
    def priced(cls, dataset: Dataset, price: Any = 1.0) -> Self:
        """Return the question for an adversary who may refrain from a guess.

        A right guess at the first sensitive attribute gains 1, and a wrong guess costs `price`, which must be at least
        0.
        """
        check_price(price)
        name = choose_unknown_sensitive(dataset, None)
        values = sorted(dataset.table[name].unique())
        gain = np.vstack([np.eye(len(values)) * (1 + price) - price, np.zeros(len(values))])
        return cls(pd.DataFrame(gain, columns=values), name)

    def rows(self, case: Case) -> list[Row]:
        """Return the rows of a case."""
        release, n = choose_release(case), len(case.dataset)
        require_one_record_each(release)
        known = _build_channel(case.dataset, release, self.sensitive)
        absent = [str(value) for value in known.inputs if value not in self.gain]
        if absent:
            raise UsageError(
                f"the columns of `gain` lack values of '{self.sensitive}': {', '.join(absent)}. Give each value a "
                "column."
            )
        gains = self.gain[list(known.inputs)].to_numpy(dtype=float)
        after = Revealing(channel.posterior_gain(known, gains), channel.posterior_vulnerability(known) * n, n)
        before = Revealing(channel.prior_gain(known, gains), channel.prior_vulnerability(known) * n, n)
        variant = "at most" if release.classes is None else ""
        return [self.row(case)(after, variant=variant, baseline=before)]


@validated
def require_one_record_each(release: Release) -> None:
    """Raise Unreadable if people may have several records, because this leakage is about single records."""
    if release.people is not None:
        raise Unreadable(
            "leakage is counted by record, and people of this table may have several records. Linkage and gains count "
            "people: use them for re-identification and for the disclosure by classes."
        )


def check_readable(release: Release) -> None:
    """Raise Unreadable if the relation between the cells of a record and its true values is unknown."""
    facts, moved = release.provenance, release.treated("perturbed")
    if facts.rows is not Rows.RECORDS or moved:
        reason = f"{join_names(moved)} were changed by an unknown mechanism" if moved else f"its rows are {facts.rows}"
        raise Unreadable(
            f"the leakage of each record by {facts.sanitizer} is not known: {reason}. Attack the release instead."
        )


def _count_by_subset(dataset: Dataset, release: Release, sensitive: str, subsets: Sequence[Any]) -> dict[Any, Any]:
    """Return the `vulnerability_by_subset` of a release."""
    names, table, beliefs = dataset.schema.quasi_identifiers, release.table, None
    counts: Any = release.buckets
    if sensitive in table:
        value = table[sensitive]
    else:
        of = counts[counts["attribute"] == sensitive]
        share = of["count"] / of.groupby("bucket")["count"].transform("sum")
        # One row per person and value of the bucket; not in the table itself, whose columns may have any name.
        rows = pd.DataFrame({"bucket": table["bucket"].to_numpy(), "person": np.arange(len(table))})
        rows = rows.merge(of.assign(share=share)[["bucket", "value", "share"]], on="bucket")
        table, value = table.iloc[rows["person"]].reset_index(drop=True), rows["value"]
        true = dataset.table[sensitive].to_numpy()[rows["person"]]
        beliefs = np.stack([rows["share"], value.to_numpy() == true], axis=1)
    counted = vulnerability_by_subset({known: table[known] for known in names}, value, subsets, beliefs)
    if _is_withheld(release, sensitive):
        commonest = dataset.cells[sensitive].value_counts(dropna=False).max()
        return {subset: (groups, commonest) for subset, (groups, _) in counted.items()}
    return counted


def _is_withheld(release: Release, sensitive: str) -> bool:
    """Return whether the attribute is in a separate table, which discloses shares of values but no person's value."""
    return (release.by_class(sensitive)[1] == SUPPRESSED).all()


def _build_channel(dataset: Dataset, release: Release, sensitive: str) -> Channel:
    """Return the channel from the sensitive value to the class or bucket; for noise, that of the original table."""
    if release.treated("noisy"):
        return _build_original_channel(dataset, sensitive)
    if _is_withheld(release, sensitive):
        return record_channel(np.zeros(len(dataset), dtype=np.int64), dataset.cells[sensitive])
    return record_channel(*release.by_class(sensitive))


@lru_cache(maxsize=8)
def _build_original_channel(dataset: Dataset, sensitive: str) -> Channel:
    return record_channel(dataset.alike[1], dataset.cells[sensitive])


@lru_cache(maxsize=64)
def _count_commonest(dataset: Dataset, name: str) -> ReportedCount:
    """Return the share of people who have the most common value of an attribute."""
    return ReportedCount(dataset.cells[name].value_counts(dropna=False).max(), len(dataset))


def build_identity_rows(case: Case, release: Release) -> list[Row]:
    """Return the result rows about guesses at the person of a released row."""
    n = len(case.dataset)
    if release.treated("noisy"):
        rng = np.random.default_rng(case.stream("identify"))
        right: Any = noise_channel.identification(case.dataset, release, rng=rng)
    else:
        found = register_vulnerability(release.equivalence_classes, case.dataset.alike[1])
        right = ReportedCount(found * n, n, rule=withholding.withhold_group_share)
    return _build_pair(case, "identity", right, 1 / n, "identity")


def build_people_rows(case: Case, release: Release, sensitive: str) -> list[Row]:
    """Return the rows about guesses at a row's person and at the sensitive value, if people have several records."""
    n, people = len(release), np.asarray(release.people)
    right = channel.posterior_vulnerability(record_channel(release.equivalence_classes, people)) * n
    right = ReportedCount(right, n, rule=withholding.withhold_group_share)
    rows = _build_pair(case, "identity", right, np.bincount(people).max() / n, "identity")
    classes, values, _ = release.of_people(sensitive)
    n, everybody = release.headcount, np.zeros(len(release), dtype=np.int64)
    guessed, before = (ReportedCount(accuracy_by_group(each, values, people) * n, n) for each in (classes, everybody))
    what = "bucket" if sensitive not in release.cells else "sensitive"
    return rows + _build_pair(case, what, guessed, before, sensitive)


def build_attribute_rows(case: Case, release: Release, name: str) -> list[Row]:
    """Return the result rows about guesses at a person's true value of a quasi-identifier."""
    values, attribute, n = case.dataset.table[name], case.dataset.schema[name], len(case.dataset)
    if law := release.columns[name].law:
        right = noise_channel.cell_vulnerability(law, attribute, values)
    else:
        right = channel.posterior_vulnerability(record_channel(release.table[name], values))
    return _build_pair(case, "attribute", ReportedCount(right * n, n), _count_commonest(case.dataset, name), name)


def build_original_rows(case: Case, sensitive: str) -> list[Row]:
    """Return the rows about guesses at the sensitive value from the original, a bound for releases without classes."""
    people = channel.posterior_vulnerability(_build_original_channel(case.dataset, sensitive)) * len(case.dataset)
    return _build_sensitive_rows(case, "sensitive", people, sensitive, "at most")


def build_class_rows(case: Case, release: Release, sensitive: str) -> list[Row]:
    """Return the rows about guesses at the sensitive value by an adversary who knows a person's class or bucket."""
    known, n = _build_channel(case.dataset, release, sensitive), len(case.dataset)
    what = "bucket" if sensitive not in release.cells else "sensitive"
    people = channel.posterior_vulnerability(known) * n
    moved = Revealing(channel.additive_capacity(known), people, n)  # withheld with the shares of the values
    capacity = case.row(f"{what}_additive_capacity", moved, target=sensitive, baseline=0)
    return [*_build_sensitive_rows(case, what, people, sensitive), capacity]


def _build_sensitive_rows(case: Case, what: str, people: float, sensitive: str, variant: str = "") -> list[Row]:
    return _build_pair(
        case,
        what,
        ReportedCount(people, len(case.dataset)),
        _count_commonest(case.dataset, sensitive),
        sensitive,
        variant,
    )


def _build_pair(case: Case, what: str, share: Any, prior: Number, target: str, variant: str = "") -> list[Row]:
    """Return the rows of a vulnerability, a `ReportedCount` or (share, low, high), and of its leakage in bits."""
    share, prior = (
        share.shown(case.min_count) if isinstance(share, ReportedCount) else share,
        withhold_number(prior, case.min_count)[0],
    )
    bits = np.log2(np.maximum(np.asarray(share) / prior, 1))  # rounding must not make a leakage of 0 negative
    row = partial(case.row, variant=variant, target=target, better="lower")
    return [
        row(f"{what}_vulnerability", share[0], interval=share[1:], baseline=prior),
        row(f"{what}_leakage", bits[0], interval=bits[1:], baseline=0),
    ]

"""The contracts of all sanitizers. `check_sanitizer` runs all of `CHECKS`."""

import contextlib
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from sklearn.base import clone

import privnb.privacy_models as models
from privnb.datasets.dataset import Dataset
from privnb.microdata.hierarchy import Intervals, flat
from privnb.microdata.release import Release
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.microdata.treatment import TRUE, UNTRUE, Rows, Unreadable
from privnb.privacy_models.base import PrivacyModel
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.catalogue import kinds
from privnb.sanitizers.errors import SanitizationError

SCHEMA = Schema(
    "toy",
    (
        Attribute("name", Role.IDENTIFIER),
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99)),
        Attribute("weight", Role.QUASI_IDENTIFIER, Numbers(30, 120)),
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(("a", "b", "?"))),
        Attribute("disease", Role.SENSITIVE, Categories(("flu", "cold", "cough", "gout"))),
        Attribute("ward", Role.NEUTRAL, Categories(("east", "west"))),
    ),
)
HIERARCHIES = {n: flat(SCHEMA[n]) for n in SCHEMA.quasi_identifiers} | {
    "age": Intervals(SCHEMA["age"].numbers, (5, 10, 20, 50, 100))
}
Method = TypeVar("Method")
DRAWS = 20  # attempts, because a sanitizer may find nothing to exchange in a small table


@cache
def toy(rows: int = 40, seed: int = 0, towns: tuple[str, ...] = ("a", "b", "?")) -> Dataset:
    """Return a small table with numbers, categories, a missing value, an identifier and a neutral attribute."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(rows)],
            "age": rng.integers(0, 100, rows),
            "weight": rng.integers(30, 121, rows),
            "town": rng.choice(towns, rows),
            "disease": rng.choice(["flu", "cold", "cough", "gout"], rows),
            "ward": rng.choice(["east", "west"], rows),
        }
    )
    return Dataset("toy", table, SCHEMA, HIERARCHIES)


def check_sanitizer(sanitizer: Sanitizer | type[Sanitizer]) -> None:
    """Run all contracts of sanitizers on one sanitizer, or on each example of a class of sanitizers.

    Raises
    ------
    AssertionError
        If a contract is broken; the notes of the error name the contract and the sanitizer.
    """
    run_checks(CHECKS, sanitizer.contract_examples(SCHEMA) if isinstance(sanitizer, type) else [sanitizer])


def run_checks(checks: Iterable[Callable[[Method], None]], methods: Iterable[Method]) -> None:
    """Run all checks on each method; the notes of an AssertionError name the check and the method."""
    for each in methods:
        for check in checks:
            try:
                check(each)
            except AssertionError as error:
                error.add_note(f"in {check.__name__} of {each!r}")
                raise


def release_small_table(sanitizer: Sanitizer) -> Release:
    """Return the release of the table `toy` by a sanitizer, with seed 1."""
    return sanitizer.sanitize(toy(), rng=1)


def check_rows(sanitizer: Sanitizer) -> None:
    """Check that the original does not change, and that rows are what the provenance states.

    The provenance states that the rows are all records, a subset of the records, or synthetic.
    """
    data = toy()
    before = data.table.copy()
    release = release_small_table(sanitizer)
    whose = release.provenance.rows
    if whose is Rows.RECORDS:
        assert len(release.table) == len(data), "each record must have a row"
    elif whose is Rows.SUBSET:
        assert release.records is not None
        assert len(release.table) == len({*release.records.tolist()}) < len(data), "each row must be another record"
    else:
        assert release.records is None, "a synthetic row must not have a record"
        with contextlib.suppress(Unreadable):
            raise AssertionError(f"synthetic rows have originals: {release.originals(data)}")
    pd.testing.assert_frame_equal(data.table, before)


def check_columns(sanitizer: Sanitizer) -> None:
    """Check that identifiers are not published, and that all other attributes are published in the original order."""
    release = release_small_table(sanitizer)
    columns = [name for name in SCHEMA.names() if name != "name"]
    assert release.schema.names()[: len(columns)] == columns
    in_buckets = [*(name for name in columns if name != "disease"), "bucket"]
    assert list(release.table) == (release.schema.names() if release.buckets is None else in_buckets)


def check_seed(sanitizer: Sanitizer) -> None:
    """Check that a seed determines the release and, if `randomized` is true, that other seeds change the release."""
    first = release_small_table(sanitizer).table
    pd.testing.assert_frame_equal(first, release_small_table(sanitizer).table)
    if sanitizer.randomized:
        others = [sanitizer.sanitize(toy(), rng=seed).table for seed in (7, 8, 9)]
        assert any(not first.equals(other) for other in others), "`randomized` is stated, but seeds have no effect"


def check_simulation(sanitizer: Sanitizer) -> None:
    """Check that a release with a seed is marked as a simulation, and that a release can be made without a seed."""
    source = np.random.default_rng(7)
    release = sanitizer.sanitize(toy(), rng=source)
    drew = source.bit_generator.state != np.random.default_rng(7).bit_generator.state
    assert sanitizer.draws == drew, "`draws` must state whether the generator is used"
    assert release.provenance.simulation == sanitizer.draws
    assert (release_small_table(sanitizer).provenance.public()["use"] == "release") != sanitizer.draws
    assert _unseeded(sanitizer).provenance.public()["use"] == "release"


def _unseeded(sanitizer: Sanitizer) -> Release:
    for _ in range(DRAWS):
        with contextlib.suppress(SanitizationError):
            return sanitizer.sanitize(toy(), rng=None)
    return sanitizer.sanitize(toy(), rng=None)


def check_index(sanitizer: Sanitizer) -> None:
    """Check that the labels of the table's index have no effect on the release."""
    other = Dataset("toy", toy().table.set_axis(range(len(toy()))[::-1]), SCHEMA, HIERARCHIES)
    pd.testing.assert_frame_equal(sanitizer.sanitize(other, rng=1).table, release_small_table(sanitizer).table)


def check_record_order(sanitizer: Sanitizer) -> None:
    """Check that, if `order_invariant` is true, the row of a record does not depend on the order of the records."""
    release = release_small_table(sanitizer)
    if release.provenance.rows is not Rows.RECORDS:
        assert not sanitizer.order_invariant, "`order_invariant` needs a row for each record"
        return
    order = np.random.default_rng(3).permutation(len(toy()))
    shuffled = Dataset("toy", toy().table.iloc[order], SCHEMA, HIERARCHIES)
    rows = sanitizer.sanitize(shuffled, rng=1).table
    same = rows.equals(release.table.iloc[order].reset_index(drop=True))
    assert same or not sanitizer.order_invariant, "`order_invariant` is stated, but the order of records has an effect"


def check_equal_records(sanitizer: Sanitizer) -> None:
    """Check that, if `equal_records_alike` is true, records with equal quasi-identifiers get equal rows."""
    four = pd.concat([toy(30).table] * 4, ignore_index=True)
    four["disease"] = np.repeat(["flu", "cold", "cough", "gout"], 30)
    data = Dataset("toy", four.sample(frac=1, random_state=1).reset_index(drop=True), SCHEMA, HIERARCHIES)
    release = sanitizer.sanitize(data, rng=1)
    assert release.provenance.equal_records_alike == sanitizer.equal_records_alike
    names = SCHEMA.quasi_identifiers
    if release.provenance.rows is Rows.SYNTHETIC or {*names} - {*release.treated(*TRUE)}:
        return
    own = release.originals(data).table[names].astype(str).agg("|".join, axis=1).to_numpy()
    labels = release.table[names].astype(str).agg("|".join, axis=1)
    equal = labels.groupby(own).nunique().max() == 1
    assert equal or not sanitizer.equal_records_alike, "`equal_records_alike` is stated, but equal records differ"


def holds(model: PrivacyModel, release: Release) -> bool:
    """Return whether all classes of a release satisfy a model, according to the counts of the published labels."""
    parts, whole = model.parts(release)
    return all(model.holds(counts, whole).all() for counts in parts)


def check_claims(
    sanitizer: Sanitizer, data: Dataset | None = None, keeps: Callable[[PrivacyModel, Release], bool] = holds
) -> None:
    """Check that the release satisfies every claimed model, and that every label covers the original value."""
    data = data or toy()
    release = sanitizer.sanitize(data, rng=1)
    for model in release.provenance.claims:
        assert keeps(model, release), f"{model!r} is claimed but not kept"
    for name in data.schema.quasi_identifiers:
        if name in release.treated(*UNTRUE):
            continue
        generalization: Any = data.hierarchies[name]
        labels = release.table[name].astype(str).tolist()
        codes = generalization.codes(release.originals(data).table[name]).tolist()
        covered = {label: set(generalization.covered(label)) for label in set(labels)}
        right = all(code in covered[label] for code, label in zip(codes, labels, strict=True))
        assert right, f"a label of {name} does not cover its original value"


def check_treatments(sanitizer: Sanitizer) -> None:
    """Check that the release names the columns whose cells are exact."""
    data, release = toy(), release_small_table(sanitizer)
    if release.provenance.rows is Rows.SYNTHETIC:
        assert release.treated("synthetic") == tuple(release.columns)
        return
    before = release.originals(data).table
    both = [name for name in release.table if name in before and name not in release.treated("noisy")]
    same = tuple(name for name in both if list(release.table[name]) == list(before[name]))
    assert release.treated("exact") == same
    assert "ward" in same, "a neutral attribute must be published unchanged"


def check_parameters(sanitizer: Sanitizer) -> None:
    """Check that parameters follow scikit-learn's rules: `clone` copies the sanitizer, and `repr` reproduces it."""
    assert repr(clone(sanitizer)) == repr(sanitizer)
    names = vars(models) | kinds() | {type(sanitizer).__name__: type(sanitizer)}
    assert eval(repr(sanitizer), names) == sanitizer


def check_no_seed_leaves(sanitizer: Sanitizer) -> None:
    """Check that neither a published release nor an exported file contains the seed."""
    seed = 918273645
    release = sanitizer.sanitize(toy(), rng=seed)
    published, _ = release._published(5)
    assert release.provenance.seed == seed
    for shown in (release.provenance.public(), published, release, release.provenance):
        assert str(seed) not in repr(shown)
    assert str(seed) not in release.table.to_csv()


CHECKS: tuple[Callable[[Sanitizer], None], ...] = (
    check_rows, check_columns, check_seed, check_simulation, check_index, check_record_order, check_equal_records,
    check_claims, check_treatments, check_parameters, check_no_seed_leaves,
)  # fmt: skip

"""A caller's columns may be called as our own code calls columns and arguments: all goes as with other names."""

import numpy as np
import pandas as pd
import pytest
from support import questions

from privnb import evaluation
from privnb.datasets.dataset import Dataset, load
from privnb.datasets.draft import draft
from privnb.evaluation.results import join_results
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.privacy_models import KAnonymity
from privnb.reporting import gallery
from privnb.sanitizers import (
    Anatomy,
    Bucketize,
    Identity,
    KMember,
    LaplaceNoise,
    Mondrian,
    SanitizationError,
    Suppress,
    TopDownSpecialization,
)

PLAIN = ("first", "second", "third", "fourth", "secret")  # three quasi-identifiers, a neutral and a sensitive one
NAMES = [
    ("self", "table", "rng", "people", "value"),
    ("value", "share", "true", "count", "self"),
    ("people", "count", "attribute", "true", "table"),
    ("person", "value", "row", "self", "share"),
    ("setting", "target", "measure", "rng", "true"),
    ("index", "level_0", "loss", "hit", "people"),
]


def dataset(names):
    roles = [Role.QUASI_IDENTIFIER] * 3 + [Role.NEUTRAL, Role.SENSITIVE]
    domains = [Numbers(0, 9), Categories(("a", "b")), Categories(("x", "y", "z")), Categories(("no", "yes"))]
    domains.append(Categories(("flu", "gout", "cold", "cough")))
    schema = Schema("odd", tuple(Attribute(*of) for of in zip(names, roles, domains, strict=True)))
    rng = np.random.default_rng(8)
    columns = [rng.integers(0, 10, 90), *(rng.choice(domain.values, 90) for domain in domains[1:])]
    table = pd.DataFrame(dict(zip(names, columns, strict=True)))
    return Dataset("odd", table, schema, {name: flat(schema[name]) for name in names[:3]})


def sanitizers(names):
    return [
        Identity(), Suppress(), Suppress("sensitive"), KMember(3), Mondrian(KAnonymity(4)), Bucketize(KMember(3)),
        TopDownSpecialization(KAnonymity(3), workload=names[4]),
    ]  # fmt: skip


@pytest.mark.parametrize("names", NAMES, ids=" ".join)
def test_any_names_are_read_from_a_file(tmp_path, names):
    dataset(names).table.to_csv(tmp_path / "odd.csv", index=False)
    path = draft(tmp_path / "odd.csv", folder=tmp_path / "data")
    path.write_text(path.read_text().replace("draft = true\n", "", 1))
    read = load(path)
    assert read.schema.names() == [*names]
    assert [*map(str, read.table[names[0]])] == [*map(str, dataset(names).table[names[0]])]


def counted(names):
    """What is counted of people by their columns, without a random choice."""
    data, of = dataset(names), sanitizers(names)
    found = [evaluation.describe(data), evaluation.measure_uniqueness(data, min_count=2)]
    found.append(questions.known_subsets(data, of, min_count=2))
    return join_results(*found)[["measure", "value", "low", "high"]]


@pytest.mark.parametrize("names", NAMES, ids=" ".join)
def test_any_names_give_the_same_numbers(names):
    pd.testing.assert_frame_equal(counted(names), counted(PLAIN))


@pytest.mark.slow
@pytest.mark.parametrize("names", NAMES[:2], ids=" ".join)
def test_any_names_go_through_everything_that_reads_a_table(names):
    data, of = dataset(names), [Suppress(), Suppress("sensitive"), KMember(3), Bucketize(KMember(3)), LaplaceNoise(1.0)]
    assert len(evaluation.measure_information_loss(data, of, min_count=2))
    assert len(evaluation.measure_linkage(data, of))
    assert len(questions.leakage(data, [KMember(3), Anatomy(2, names[4])], min_count=2))
    assert len(questions.disclosure(data, [Bucketize(KMember(3)), LaplaceNoise(1.0)], miners="naive Bayes"))
    assert len(questions.trade_off(data, [KMember(3), Bucketize(KMember(3))]))
    for target in names[:2]:
        assert len(questions.anti_utility(data, KMember(3), miners="naive Bayes", target=target, min_count=2))
    assert len(questions.gains_with_predictions(data, KMember(3), miners="naive Bayes", target=names[1]))
    assert gallery.show_side_by_side(data, [*of, Anatomy(2, names[4])]).table.shape == (6, 4)


@pytest.mark.parametrize("sanitizer", [Bucketize(KMember(2)), Anatomy(2, "secret")], ids=repr)
@pytest.mark.parametrize("place", [0, 3])
def test_a_column_called_bucket_is_refused_where_the_release_has_one(sanitizer, place):
    names = [*PLAIN[:place], "bucket", *PLAIN[place + 1 :]]
    with pytest.raises(
        SanitizationError, match=r"has a column 'bucket', which is a name that the release needs.*Rename the column"
    ):
        sanitizer.sanitize(dataset(names), rng=1)
    assert len(Mondrian(KAnonymity(3)).sanitize(dataset(names), rng=1)) == 90

"""Whoever has the table in its order, the code and the seeds that people use, but not the entropy, undoes nothing."""

import numpy as np
import pandas as pd
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from scipy.optimize import linear_sum_assignment
from scipy.stats import beta, binomtest, poisson, spearmanr

from privnb.datasets.dataset import Dataset
from privnb.evaluation.dataset_summary import count_people
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.privacy_models import KAnonymity
from privnb.reporting import gallery
from privnb.sanitizers import Anatomy, Bucketize, GeometricNoise, Identity, KMember, LaplaceNoise, Mondrian, Suppress
from privnb.sanitizers.generalization.anatomy import _drawn
from privnb.sanitizers.synthetic.marginals import anonymize_marginals

SEEDS = range(1, 51)  # that anybody would try
JOBS = tuple("abcdefgh")
CHANCE = 1e-6  # that a test fails though nothing is wrong


def town(people=400):
    """People in the order of their ages, in which nobody has the age of another: that finds a row, wherever it is."""
    rng = np.random.default_rng(3)
    schema = Schema(
        "town",
        (
            Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 9_999)),
            Attribute("weight", Role.QUASI_IDENTIFIER, Numbers(0, 99)),
            Attribute("job", Role.SENSITIVE, Categories(JOBS)),
        ),
    )
    table = pd.DataFrame(
        {
            "age": np.sort(rng.choice(10_000, people, replace=False)),
            "weight": rng.integers(0, 100, people),
            "job": rng.choice(JOBS, people, p=[0.17, 0.17, 0.15, 0.15, 0.1, 0.1, 0.08, 0.08]),
        }
    )
    return Dataset("town", table, schema, {name: flat(schema[name]) for name in schema.quasi_identifiers})


def places(data, published):
    """Where each record of the table stands among the rows, in which its age is as it was."""
    return pd.Series(np.arange(len(data)), published.table["age"]).loc[data.table["age"]].to_numpy()


def recovered(truth, in_bucket, buckets, l, seed):  # noqa: E741
    """The share of people whose value an attacker names who draws the lots of `Anatomy` again with `seed`.

    `in_bucket`: of each person, in the table's order, the number of their bucket; `buckets`: the buckets' table.

    Of those with a value the r-th by lot is in the r-th bucket that drew it, so in the order of these buckets lots
    rise. A person's lot and bucket are known: in each bucket the values go to whose lots fit best, first where an r-th
    of so many is expected, then among those that went to the buckets drawn before and after.
    """
    counts = buckets.groupby("value")["count"].sum().sort_index()
    drawn, left = _drawn(counts.to_numpy(), l)
    rng = np.random.default_rng(seed)
    for value in left:
        rng.choice(np.flatnonzero((drawn != value).all(axis=1)))
    lots, numbers = rng.random(len(truth)), rng.permutation(len(drawn))
    turns = pd.DataFrame({"bucket": np.repeat(numbers, l), "value": counts.index[drawn.ravel()]})
    turns["r"] = turns.groupby("value").cumcount()
    people = pd.DataFrame({"person": np.arange(len(truth)), "lot": lots, "bucket": np.asarray(in_bucket)})
    pairs = people.merge(buckets[["bucket", "value"]], on="bucket").merge(turns, "left", ["bucket", "value"])
    pairs = pairs.sort_values(["bucket", "person", "value"], ignore_index=True)
    pairs["count"] = counts.loc[pairs["value"]].to_numpy()
    pairs["r"] = pairs["r"].fillna(pairs["count"] - 1)  # whoever was left over is the last by lot
    fit = beta.logpdf(pairs["lot"], pairs["r"] + 1, pairs["count"] - pairs["r"])
    groups = [*pairs.groupby("bucket").indices.values()]
    value, lot, count = pd.factorize(pairs["value"])[0], pairs["lot"].to_numpy(), pairs["count"].to_numpy()
    slot = value * len(truth) + pairs["r"].to_numpy(dtype=int)
    near = np.full(len(counts) * len(truth), np.nan)
    for _ in range(6):
        named = []
        for rows in groups:
            size = int(len(rows) ** 0.5)
            one, other = linear_sum_assignment(fit[rows].reshape(size, size), maximize=True)
            named += [*rows[one * size + other]]
        found = np.array(named)[np.argsort(slot[named])]
        for rows in np.split(found, np.flatnonzero(np.diff(value[found])) + 1):
            nine = sliding_window_view(np.pad(lot[rows], 4, constant_values=np.nan), 9)
            near[slot[rows]] = np.nanmedian(nine, axis=1)
        fit = -np.minimum(np.abs(lot - near[slot]) * count, 30)
    return (pairs["value"].to_numpy()[found] == np.asarray(truth)[pairs["person"].to_numpy()[found]]).mean()


@pytest.mark.slow
@pytest.mark.parametrize(("l", "known"), [(2, 0.8), (5, 0.45)])
def test_no_seed_gives_back_the_values_of_anatomy(l, known):  # noqa: E741
    data = town(600)
    truth = data.table["job"]
    simulated = Anatomy(l, "job").sanitize(data, rng=7)
    assert simulated.provenance.simulation
    assert recovered(truth, simulated.table["bucket"], simulated.buckets, l, 7) > known, (
        "whoever knows the seed does find them"
    )
    published, _ = Anatomy(l, "job").sanitize(data, rng=None).publish()
    told = published.table["bucket"].to_numpy()[places(data, published)]
    most = max(recovered(truth, told, published.buckets, l, seed) for seed in SEEDS)
    found = binomtest(round(most * len(data)), len(data), 1 / l, alternative="greater")
    assert found.pvalue > CHANCE / len(SEEDS), (
        f"guessing in the bucket is right of {1 / l:.0%}, the best seed of {most:.1%}"
    )


def alike(one, other):
    """How many places two orders of the same people have in common: by chance about one, whatever their number."""
    return int((np.asarray(one) == np.asarray(other)).sum())


MOST = poisson.isf(CHANCE, 1)


def test_two_releases_cannot_be_put_side_by_side():
    data = town()
    releases = [KMember(10).sanitize(data, rng=1), Mondrian(KAnonymity(10)).sanitize(data, rng=1)]
    keys = [release.publish()[1] for release in (*releases, releases[0])]
    for one, other in ((0, 1), (0, 2)):
        assert alike(keys[one], keys[other]) <= MOST
    for key in keys:
        assert sorted(key) == [*range(len(data))]
        for seed in SEEDS:
            assert alike(key, np.random.default_rng(seed).permutation(len(data))) <= MOST
    with pytest.raises(TypeError):
        releases[0].publish(rng=1)


def level(order):
    """Whether an order says nothing of the table's: its rank correlation is within what chance allows."""
    return spearmanr(order, np.arange(len(order))).pvalue > CHANCE


def test_rows_and_buckets_say_nothing_of_the_tables_order():
    data = town()
    for sanitizer in (Bucketize(KMember(5)), Bucketize(Mondrian(KAnonymity(5))), Anatomy(2, "job")):
        release = sanitizer.sanitize(data, rng=1)
        published, key = release.publish()
        assert level(key)
        drawn = release.table["bucket"].to_numpy()
        shown = published.table["bucket"].to_numpy()[places(data, published)]
        pairs = pd.DataFrame({"drawn": drawn, "published": shown, "place": range(len(data))}).groupby(
            ["drawn", "published"]
        )
        pairs = pairs["place"].mean().reset_index()  # one draw per bucket, whose records may stand close together
        assert level(pairs.sort_values("place")["published"])
        assert pairs["drawn"].is_unique
        assert pairs["published"].is_unique
        assert alike(pairs["drawn"], pairs["published"]) <= MOST, (
            "a seeded release's numbers, which anybody can draw again"
        )
        assert published.buckets.equals(published.buckets.sort_values(["attribute", "bucket", "value"]))


@pytest.mark.parametrize("noise", [LaplaceNoise(1.0), GeometricNoise(1.0)], ids=repr)
def test_no_seed_takes_noise_away(noise):
    data = town()

    def read(release, seed):
        """The share of ages that are right once the noise of `seed` is subtracted."""
        drawn = noise.sanitize(data, rng=seed).table["age"] - data.table["age"]
        return np.isclose(release.table["age"] - drawn, data.table["age"]).mean()

    simulated = noise.sanitize(data, rng=7)
    assert simulated.provenance.simulation
    assert read(simulated, 7) == 1
    fresh = noise.sanitize(data, rng=None)
    assert not fresh.provenance.simulation
    assert max(read(fresh, seed) for seed in SEEDS) < 0.02


def in_another_order(data):
    order = np.random.default_rng(11).permutation(len(data))
    return Dataset(data.name, data.table.iloc[order], data.schema, data.hierarchies)


def test_what_is_shown_does_not_say_where_it_stands():
    """Rows that a report shows, and values of made-up people, are drawn with a seed that everybody knows."""
    data, sanitizer = town(), Mondrian(KAnonymity(5))
    for other in (data, in_another_order(data)):
        shown = sanitizer.sanitize(other, rng=1).show(min_count=5)
        assert len(shown) == 12
        assert shown.equals(sanitizer.sanitize(data, rng=1).show(min_count=5))
        assert gallery.invent_people(other).equals(gallery.invent_people(data))


def test_counts_stand_in_the_order_of_what_they_count():
    data, sets = town(), ["age", ("weight", "job")]
    pairs = zip(
        *(anonymize_marginals(each, sets, KAnonymity(5)).tables for each in (data, in_another_order(data))),
        strict=True,
    )
    assert all(one.equals(other) for one, other in pairs)
    tied = (data.table.assign(job=jobs * 200) for jobs in (["a", "b"], ["b", "a"]))
    one, other = (count_people(Dataset("town", table, data.schema, data.hierarchies), "job") for table in tied)
    assert one.equals(other)


def test_pandas_tells_nothing_beside_the_cells():
    """A table may come with an index, with attributes and with categories in the order of its records."""
    data = town()
    table = data.table.assign(job=pd.Categorical(data.table["job"], list(dict.fromkeys(data.table["job"][::-1]))))
    table.attrs["first"] = "person 1"
    table.columns.name = "person 1"
    owned = Dataset("town", table.set_axis([f"person {i}" for i in range(len(data))]), data.schema, data.hierarchies)
    for sanitizer in (Identity(), Suppress(), Bucketize(KMember(5))):
        published, _ = sanitizer.sanitize(owned, rng=1).publish()
        for each in filter(lambda found: found is not None, (published.table, published.buckets)):
            assert each.attrs == {}
            assert each.columns.name is None
            assert isinstance(each.index, pd.RangeIndex)
            assert not any(isinstance(kind, pd.CategoricalDtype) for kind in each.dtypes)

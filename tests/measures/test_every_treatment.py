"""Every measure and every attack, on releases of every treatment: a number, or a sentence that says what is not read.

No release here is of the package's sanitizers. Nothing may end in an error from within.
"""

import inspect
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import pytest
from test_measure_contracts import FOUND

from privnb.attacks import Linkage, MinerInference
from privnb.attacks.recovery.base import Recovery
from privnb.datasets.dataset import Dataset
from privnb.evaluation import Recovered
from privnb.evaluation.evaluation_loop import Case
from privnb.measures.disclosure import gains, linkage
from privnb.measures.utility import information_loss
from privnb.measures.utility.populations import LargePopulations
from privnb.measures.utility.queries import CountQueries
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.microdata.treatment import KINDS, Law, Rows, Unreadable
from privnb.miners import reference_set
from privnb.runtime.registry import find_classes
from privnb.sanitizers import Bucketize, Identity, KMember, SanitizationError, Sanitizer

SCHEMA = Schema(
    "people",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99)),
        Attribute("height", Role.QUASI_IDENTIFIER, Numbers(100, 220)),
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(("a", "b", "c"))),
        Attribute("illness", Role.SENSITIVE, Categories(("cough", "flu", "gout"))),
        Attribute("income", Role.SENSITIVE, Numbers(0, 99)),
        Attribute("ward", Role.NEUTRAL, Categories(("x", "y"))),
    ),
)
NEW = tuple(
    Attribute(name, role, Numbers(-500, 500, 0.01))
    for name, role in {"first": Role.QUASI_IDENTIFIER, "second": Role.NEUTRAL}.items()
)


def people(rows=200):
    rng = np.random.default_rng(5)
    table = {name: rng.choice(SCHEMA[name].domain.values, rows) for name in ("town", "illness", "ward")}
    numbers = {"age": (18, 90), "height": (140, 200), "income": (10, 60)}
    table |= {name: rng.integers(*ends, rows) for name, ends in numbers.items()}
    hierarchies = {name: flat(SCHEMA[name]) for name in SCHEMA.quasi_identifiers}
    return Dataset("people", pd.DataFrame(table)[SCHEMA.names()], SCHEMA, hierarchies)


DATA = people()


class _Unknown(Law):
    """A law without closed forms."""

    def __str__(self):
        return "some noise"


def _means(table, rng, *names):
    groups = np.arange(len(table)) // 10
    means = {name: table.groupby(groups)[name].transform("mean") for name in names}
    return table.assign(**means), {"perturbed": names}


def _swapped(table, rng, name):
    return table.assign(**{name: rng.permutation(table[name])}), {"perturbed": (name,)}


def _noisy(table, rng, name):
    return table.assign(**{name: table[name] + rng.normal(0, 5, len(table))}), {"noisy": {name: _Unknown()}}


def _rotated(table, rng):
    first, second = table["age"] - 50, table["height"] - 150
    turned = {"first": 0.8 * first - 0.6 * second, "second": 0.6 * first + 0.8 * second}
    return table.assign(age="*", height="*", **turned), {"new": NEW}


def _turned(table, rng):
    first, second = table["age"] - 50, table["height"] - 150
    turned = {"age": 0.8 * first - 0.6 * second, "height": 0.6 * first + 0.8 * second}
    return table.assign(**turned), {"perturbed": ("age", "height")}


def _nobodys(table, rng):
    drawn = {name: rng.permutation(table[name])[:80] for name in table}
    return pd.DataFrame(drawn).assign(first=1.5), {"rows": Rows.SYNTHETIC, "new": NEW[:1]}


def _some(table, rng):
    rows = rng.permutation(len(table))[:80]
    return table.iloc[rows], {"rows": rows}


def _some_means(table, rng):
    rows = np.arange(0, len(table), 2)
    table, facts = _means(table.iloc[rows], rng, "age")
    return table, facts | {"rows": rows}


def _starred(table, rng, *names):
    return table.assign(**dict.fromkeys(names, "*")), {}


def _partly_starred(table, rng):
    old = table["age"] > 70
    return table.assign(age="0-99", illness=table["illness"].mask(old, "*")), {}


MADE = {
    "means": lambda t, r: _means(t, r, "age", "height"),
    "means of a secret": lambda t, r: _means(t, r, "income"),
    "swapped": lambda t, r: _swapped(t, r, "town"),
    "swapped secret": lambda t, r: _swapped(t, r, "illness"),
    "noisy": lambda t, r: _noisy(t, r, "age"),
    "noisy secret": lambda t, r: _noisy(t, r, "income"),
    "rotated to new columns": _rotated,
    "rotated in place": _turned,
    "nobody's": _nobodys,
    "a subset": _some,
    "means of a subset": _some_means,
    "starred": lambda t, r: _starred(t, r, "age", "height", "town"),
    "starred secrets": lambda t, r: _starred(t, r, "illness", "income"),
    "partly starred": _partly_starred,
}


@dataclass(frozen=True)
class _Made(Sanitizer):
    name: str

    def _sanitize(self, dataset, table, rng):
        return MADE[self.name](table, np.random.default_rng(rng))


SANITIZERS = [*map(_Made, MADE), Identity(), KMember(10), Bucketize(KMember(10))]
ASKED = {
    name: (LargePopulations.of(DATA, name), CountQueries.of(DATA, name, 2, 0.3, rng=0, number=40))
    for name in ("illness", "income")
}
RECOVERIES = [
    each for kind in find_classes(Recovery) if kind.__module__.startswith("privnb.") for each in kind.examples(SCHEMA)
]
OF_RELEASES = {"release", "counts"}


def asked(sanitizer, release, sensitive):
    """Every measure of a release, and every attack, as functions without arguments, by name."""
    populations, queries = ASKED[sensitive]
    known = {
        "dataset": DATA, "release": release, "sensitive": sensitive, "target": sensitive,
        "populations": populations, "queries": queries,
    }  # fmt: skip

    def measured(function, wanted):
        counts = {"counts": gains.class_counts(release, sensitive)} if "counts" in wanted else {}
        return function(**{name: value for name, value in (known | counts).items() if name in wanted})

    def linked(columns):
        published, key = release._published(2)
        return linkage.reidentification_rate(Linkage(columns).fit(published), DATA, key)[0]

    def inferred(target):
        attack = MinerInference(reference_set("decision tree")[0], target).fit(release._published(2)[0])
        assert len(attack.predict(DATA.table)) == len(attack.baseline(DATA.table)) == len(DATA)
        return 0.0

    def undone(attack):
        rows = Recovered(attack).rows(Case(DATA, sanitizer, 1, release, min_count=2))
        return rows[0]["value"]

    for name, function in FOUND.items():
        wanted = set(inspect.signature(function).parameters)
        if wanted & OF_RELEASES:
            yield name, partial(measured, function, wanted)
    for columns in (None, ("town",), ("age", sensitive)):
        yield f"linked by {columns}", partial(linked, columns)
    for target in SCHEMA.names() if sensitive == next(iter(ASKED)) else ():  # it does not depend on what is sensitive
        yield f"inferred: {target}", partial(inferred, target)
    for attack in RECOVERIES if sensitive == next(iter(ASKED)) else ():
        yield f"undone by {attack!r}", partial(undone, attack)


@pytest.mark.slow
@pytest.mark.parametrize("sensitive", list(ASKED))
@pytest.mark.parametrize("sanitizer", SANITIZERS, ids=repr)
def test_there_is_a_number_or_a_sentence_that_names_columns_and_how_they_were_treated(sanitizer, sensitive):
    release, refused = sanitizer.sanitize(DATA, rng=1), {}
    for name, call in asked(sanitizer, release, sensitive):
        try:
            value = call()
        except Unreadable as error:
            refused[name] = str(error)
            continue
        assert not np.isnan(value), name
    columns = [*release.columns, "of each person", "its rows are synthetic", "the rows of", "key is None"]
    for name, reason in refused.items():
        assert any(each in reason for each in columns), (name, reason)
        ways = ["nobody", "of each person", "noise", "an unknown mechanism", "a sanitizer made", *KINDS]
        assert any(way in reason for way in ways), (name, reason)


def test_a_number_that_left_its_steps_is_read_as_the_nearest():
    """Means and noise are no values that occur; taken literally, no query about them would count anybody."""
    _, queries = ASKED["income"]
    for name in ("means of a secret", "noisy secret"):
        release = _Made(name).sanitize(DATA, rng=1)
        nearest = release.table["income"].round().clip(0, 99).astype(int)
        exact = Identity().sanitize(Dataset("read", DATA.table.assign(income=nearest), SCHEMA, DATA.hierarchies), rng=1)
        assert queries.answers(release).tolist() == pytest.approx(queries.answers(exact).tolist())
        assert queries.answers(release).sum() > 0


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (
            lambda t: t.assign(town=t["town"].replace({"a": "ab"})),
            r"'town' is perturbed, and \d+ of 200 cells are not a v",
        ),
        (lambda t: t.assign(town=t["town"].mask(t["age"] > 70)), r"not a value of its domain: 'missing' \(\d+\)"),
        (lambda t: t.assign(town="*"), r"not a value of its domain: '\*' \(200\)\. Publish values of its domain"),
        (lambda t: t.assign(age="about 40"), r"'age' is perturbed, and 200 of 200 cells are not a number: 'about 40'"),
        (lambda t: t.assign(age=t["age"].where(t["age"] > 30)), r"'age' is perturbed, .* not a number: 'missing'"),
        (lambda t: t.assign(age=np.inf), r"'age' is perturbed, and 200 of 200 cells are not a number: inf"),
    ],
)
def test_cells_that_nobody_could_read_make_no_release(made, message, monkeypatch):
    facts = {"perturbed": ("age", "town")}
    monkeypatch.setitem(MADE, "odd", lambda table, rng: (made(table), facts))
    with pytest.raises(SanitizationError, match=message):
        _Made("odd").sanitize(DATA, rng=1)


def test_a_measure_of_labels_says_what_it_reads():
    release = _Made("means").sanitize(DATA, rng=1)
    with pytest.raises(
        Unreadable, match=r"age, height are perturbed, and quasi-identifiers must be exact, generalized"
    ):
        information_loss.precision(release)
    with pytest.raises(
        Unreadable, match="neither adds noise to categories of 'people' nor perturbs the categories: age is per"
    ):
        information_loss.change_rate(DATA, release)
    with pytest.raises(
        Unreadable, match="neither adds noise to columns of 'people' nor perturbs the columns: age is suppr"
    ):
        information_loss.noise_losses(DATA, _Made("rotated to new columns").sanitize(DATA, rng=1))

"""Whether a published model opens a channel, on a table whose answer is known."""

import numpy as np
import pandas as pd
import pytest
from support.clinic import CLINIC

from privnb.datasets.dataset import Dataset, load
from privnb.evaluation.disclosure.published_models import attack_published_models
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, NotForThisTable, Numbers, Role, Schema


def table(secret_of):
    """2,000 people of 40 kinds, with a secret that is a function of the kind and of chance."""
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 40, 2000)
    values = tuple(f"v{number}" for number in range(40))
    attributes = (
        Attribute("kind", Role.QUASI_IDENTIFIER, Categories(values)),
        Attribute("secret", Role.SENSITIVE, Categories(("no", "yes"))),
    )
    columns = {"kind": np.array(values)[kind], "secret": np.array(["no", "yes"])[secret_of(kind, rng)]}
    schema = Schema("made-up", attributes)
    return Dataset("made-up", pd.DataFrame(columns), schema, {"kind": flat(attributes[0])})


def found(dataset, miner="unpruned tree", *, control="", **given):
    rows = attack_published_models(dataset, miner, **given)
    return rows[rows.control == control].set_index("measure")


def test_a_model_of_what_examples_do_not_tell_opens_a_channel():
    """The secret is a bit of the kind, at random: 20 examples tell of few of the 40 kinds, and the model of all."""
    bits = np.random.default_rng(3).integers(0, 2, 40)
    rows = found(table(lambda kind, rng: bits[kind]), examples=20)
    assert rows.value["model_channel"] > 0.95
    assert rows.baseline["model_channel"] < 0.8
    assert rows.low["model_gain"] > 0.15
    assert rows.value["model_p"] < 1e-6
    control = found(table(lambda kind, rng: bits[kind]), examples=20, control="random labels")
    assert control.value["model_gain"] < 0.05
    assert control.value["model_channel"] < 0.8


def test_where_the_examples_tell_all_the_model_adds_nothing():
    rows = found(table(lambda kind, rng: (kind < 20).astype(int)), examples=1500)
    assert rows.value["model_channel"] == rows.baseline["model_channel"] == 1
    assert (rows.value["model_gain"], rows.value["model_p"]) == (0, 1)


def test_a_model_that_always_says_the_same_adds_nothing():
    bits = np.random.default_rng(3).integers(0, 2, 40)
    rows = found(table(lambda kind, rng: bits[kind]), "majority", examples=100)
    assert rows.value["model_gain"] == 0


@pytest.mark.slow
def test_the_gain_is_of_pairs():
    """The difference of two shares, within its interval; its p is McNemar's."""
    rows = attack_published_models(load("adult", records=2000), "basic", examples=100)
    rows = rows[rows.control == ""]
    assert {*rows.miner} == {"naive Bayes", "decision tree", "random forest"}
    for _, own in rows.groupby("miner"):
        own = own.set_index("measure")
        gain = own.value["model_channel"] - own.baseline["model_channel"]
        assert own.value["model_gain"] == pytest.approx(gain)
        assert own.low["model_gain"] <= gain <= own.high["model_gain"]
        assert (own.value["model_p"] < 0.05) == (not own.low["model_gain"] <= 0 <= own.high["model_gain"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"examples": 1}, "`examples` must be a whole number of at least 2"),
        ({"examples": 2000}, "below the number of records, 2000"),
        ({"miner": "linear regression"}, "does not guess categories"),
        ({"miner": "nobody"}, "there is no miner"),
    ],
)
def test_bad_input_is_a_clear_error(given, said):
    with pytest.raises((ValueError, TypeError), match=said):
        found(table(lambda kind, rng: kind % 2), **given)


def test_a_number_is_no_secret():
    dataset = load(CLINIC)
    schema = Schema("n", (*dataset.schema.attributes[:2], Attribute("pay", Role.SENSITIVE, Numbers(0, 9))))
    names = [attribute.name for attribute in schema.attributes[:2]]
    numbers = Dataset(
        "n", dataset.table[names].assign(pay=3), schema,
        {n: dataset.hierarchies[n] for n in names if n in dataset.hierarchies},
    )  # fmt: skip
    with pytest.raises(NotForThisTable, match="only guesses of categories can be correct or wrong"):
        attack_published_models(numbers, "majority", examples=50)

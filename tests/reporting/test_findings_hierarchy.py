"""A hierarchy is named as the reason of a large loss where it is, and nowhere else."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from privnb import explorer
from privnb.datasets.dataset import Dataset
from privnb.explorer import Setting
from privnb.explorer.panels import render_published
from privnb.measures.utility.information_loss import certainty_penalty, penalty_by_attribute
from privnb.microdata.hierarchy import Ordered, Ranges, flat
from privnb.microdata.hierarchy.merging import merge_siblings
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.privacy_models import KAnonymity
from privnb.reporting import gallery
from privnb.reporting.findings import steep_hierarchy
from privnb.sanitizers import FullDomain, GeometricNoise, Identity, Mondrian, Suppress

TOWNS = tuple(f"town {n}" for n in range(12))
SAID = "Most of the loss comes from the hierarchy of 'home': a cell of this attribute spans 100% of the values"


@pytest.fixture(scope="module")
def people():
    """600 people, of whom two live in the rarest town: one step from a town to `*` cannot be cut."""
    draw = np.random.default_rng(5)
    home = np.repeat(TOWNS, [300, 100, 60, 40, 30, 20, 15, 12, 9, 7, 5, 2])
    columns = {"age": draw.integers(20, 80, 600), "home": home, "ill": draw.choice(["flu", "cold"], 600)}
    schema = Schema(
        "people",
        (
            Attribute("age", Role.QUASI_IDENTIFIER, Numbers(20, 79)),
            Attribute("home", Role.QUASI_IDENTIFIER, Categories(TOWNS)),
            Attribute("ill", Role.SENSITIVE, Categories(("flu", "cold"))),
        ),
    )
    trees = {"age": Ranges(Numbers(20, 79)), "home": flat(schema["home"])}
    return Dataset("people", pd.DataFrame(columns), schema, trees)


def with_tree(people, tree):
    return replace(people, hierarchies={**people.hierarchies, "home": tree})


def released(people, sanitizer=None):
    return (sanitizer or Mondrian(KAnonymity(10))).sanitize(people, rng=1)


def test_one_step_to_the_root_is_named_with_its_number(people):
    release = released(people)
    found, own = steep_hierarchy(release), penalty_by_attribute(release)
    assert np.mean([*own.values()]) == pytest.approx(certainty_penalty(release))
    assert (found.given["value"], found.given["others"]) == (own["home"], own["age"])
    assert found.given["is_flat"]
    assert found.data.startswith(SAID)
    halves = {town: f"half {n % 2}" for n, town in enumerate(TOWNS)}
    deep = replace(people.hierarchies["home"], rows=tuple((t, halves[t], "*") for t in TOWNS))
    given = steep_hierarchy(released(with_tree(people, deep))).given
    assert (given["branches"], given["is_flat"]) == (6, False)


def test_nothing_is_said_where_no_hierarchy_is_the_reason(people):
    counts = people.table.home.value_counts().to_dict()
    served = merge_siblings(flat(people.schema["home"]), counts)
    assert certainty_penalty(released(with_tree(people, served))) < certainty_penalty(released(people)) / 2
    for data, sanitizer in [
        (with_tree(people, served), None),
        (with_tree(people, Ordered("home", TOWNS)), None),
        (people, Suppress()),  # everything is lost, whatever the hierarchies are
        (people, Identity()),
        (people, GeometricNoise(1)),
        (people, FullDomain(KAnonymity(10), suppress=0.01)),  # few are suppressed: what all lose would say how many
    ]:
        assert steep_hierarchy(released(data, sanitizer)) is None


def test_it_stands_on_page_02_and_on_the_board(people):
    assert SAID in gallery.find_steep_hierarchy(people, k=10).data
    assert gallery.find_steep_hierarchy(people, k=601) is None
    setting = Setting(k=10, sensitive="ill", quasi_identifiers="age, home")
    reading = explorer.count_setting(people, setting)
    assert SAID in reading.note
    assert SAID.replace("'", "&#39;") in render_published(reading)
    served = merge_siblings(flat(people.schema["home"]), people.table.home.value_counts().to_dict())
    assert SAID not in explorer.count_setting(with_tree(people, served), setting).note

"""Linkage of people who have several records: by hand on ten rows, and by plain loops."""

import numpy as np
import pandas as pd
import pytest
from support import person_key

from privnb.attacks import Linkage
from privnb.evaluation.combination_sizes import measure_combinations
from privnb.evaluation.release_measures import measure_linkage
from privnb.measures.disclosure.linkage import random_linkage_rate, reidentification_rate, singled_out
from privnb.microdata.schema import Role
from privnb.privacy_models import KAnonymity
from privnb.sanitizers import Identity, Mondrian, Suppress

# Ann has three visits, two of them alike; Bob two alike; the other five one each.
TEN = pd.DataFrame(
    [
        ("ann", 30, "F"), ("ann", 30, "F"), ("ann", 40, "F"), ("bob", 50, "M"), ("bob", 50, "M"),
        ("cat", 30, "F"), ("dan", 50, "M"), ("eve", 40, "F"), ("fay", 40, "F"), ("gus", 99, "M"),
    ],
    columns=["patient", "age", "sex"],
).assign(town="a", ill="flu", ward="day")  # fmt: skip


def asked(sanitizer, dataset):
    published, key = sanitizer.sanitize(dataset, rng=1).publish()
    return Linkage().fit(published), dataset, key


def test_ten_rows_by_hand():
    """Of (30, F) 2 of 3 rows are Ann's, of (40, F) 1 of 3; of (50, M) 2 of 3 are Bob's; Gus stands alone."""
    ten = asked(Identity(), person_key.dataset(TEN))
    people = [1 - (1 - 2 / 3) * (1 - 1 / 3), 2 / 3, 1 / 3, 1 / 3, 1 / 3, 1 / 3, 1]
    assert reidentification_rate(*ten)[0] == pytest.approx(np.mean(people))
    assert singled_out(*ten) == 1
    # Ann is guessed at twice, each time with three rows of ten; Bob once with two; the others once with one.
    assert random_linkage_rate(*ten) == pytest.approx(np.mean([1 - 0.7**2, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1]))
    rows = asked(Identity(), person_key.dataset(TEN, patient=Role.IDENTIFIER))
    assert reidentification_rate(*rows)[0] == pytest.approx((9 * 1 / 3 + 1) / 10)
    assert random_linkage_rate(*rows) == 1 / 10


def test_who_is_alone_with_their_own_records_is_singled_out():
    own = TEN[TEN["patient"].isin(["ann", "gus"])]
    assert singled_out(*asked(Identity(), person_key.dataset(own))) == 2
    assert singled_out(*asked(Identity(), person_key.dataset(own, patient=Role.IDENTIFIER))) == 2, "Ann once, and Gus"
    assert singled_out(*asked(Suppress(), person_key.dataset(own))) == 0


@pytest.mark.slow
def test_linkage_by_plain_loops():
    visits = person_key.visits(15)
    release = Mondrian(KAnonymity(2)).sanitize(visits, rng=1)
    published, key = release.publish()
    table, missed, lucky = visits.table, {}, {}
    for who, own in table.groupby("patient"):
        mine = np.isin(key, own.index)
        missed[who] = lucky[who] = 1.0
        for record in own.drop_duplicates(["age", "sex", "town"]).index:
            fits = Linkage().fit(published).candidates(table.loc[[record]])[0]
            here = release.equivalence_classes == release.equivalence_classes[record]
            assert here.sum() <= fits
            bits = [
                Linkage().fit(published).chance(table.loc[[record]], np.array([row]))[0] for row in np.flatnonzero(mine)
            ]
            missed[who] *= 1 - sum(bits)
            lucky[who] *= 1 - mine.mean()
    found = Linkage().fit(published), visits, key
    assert reidentification_rate(*found)[0] == pytest.approx(1 - np.mean([*missed.values()]))
    assert random_linkage_rate(*found) == pytest.approx(1 - np.mean([*lucky.values()]))


def test_results_count_people():
    visits = person_key.visits()
    sanitizers = [Identity(), Mondrian(KAnonymity(12)), Suppress()]
    rows = measure_combinations(visits, sanitizers).set_index(["sanitizer", "measure"])
    links = measure_linkage(visits, sanitizers).set_index("sanitizer")
    known, who = ["age", "sex", "town"], visits.table["patient"]
    people = who.groupby([visits.table[name] for name in known]).transform("nunique")
    assert rows.value["Identity", "alone"] == pytest.approx(who[people == 1].nunique() / 400)
    assert rows.value["Suppress", "smallest_combination"] == 400
    assert rows.value["Mondrian", "smallest_combination"] >= 12
    assert links.value["Suppress"] == pytest.approx(links.baseline["Suppress"])
    assert (links.baseline > 1 / 400).all(), "who has more records is found sooner by chance"
    assert links.value["Identity"] > links.value["Mondrian"] > links.value["Suppress"]

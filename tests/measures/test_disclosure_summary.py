"""What a release tells where people have several records: each person once, counted again by plain loops."""

import numpy as np
import pandas as pd
import pytest
from support import person_key

from privnb.measures.disclosure import gains
from privnb.measures.disclosure.summary import summarize_disclosure
from privnb.microdata.schema import Role
from privnb.privacy_models import KAnonymity
from privnb.sanitizers import Bucketize, Identity, Mondrian, Suppress

OF = (gains.accuracy_gain, gains.knowledge_gain, gains.information_gain, gains.largest_disclosure)


def plain(classes, values, people):
    """Right with and without the release, the mean distance and that of the worst, from the definitions."""
    rows = pd.DataFrame({"class": classes, "value": values, "who": people})
    whole = rows.groupby("value")["who"].nunique()
    commonest, distance = {}, {}
    for number, own in rows.groupby("class"):
        here = own.groupby("value")["who"].nunique().reindex(whole.index, fill_value=0)
        commonest[number] = here.idxmax()
        distance[number] = (here / here.sum() - whole / whole.sum()).abs().sum() / 2
    right = rows[rows["value"] == rows["class"].map(commonest)]["who"].nunique() / rows["who"].nunique()
    before = rows[rows["value"] == whole.idxmax()]["who"].nunique() / rows["who"].nunique()
    return right, before, rows["class"].map(distance).groupby(rows["who"]).max().mean(), max(distance.values())


@pytest.mark.slow
def test_each_person_counts_once():
    visits = person_key.visits(150)
    for sanitizer in (Mondrian(KAnonymity(6)), Bucketize(Mondrian(KAnonymity(6))), Identity(), Suppress()):
        release = sanitizer.sanitize(visits, rng=1)
        found = summarize_disclosure(release, "ill", rng=1, of=OF)
        right, before, distance, worst = plain(release.classes, visits.table["ill"], visits.people)
        assert (found.right, found.before) == pytest.approx((right, before)), sanitizer
        assert found.gains[0] == pytest.approx(right - before)
        assert (found.gains[1], found.gains[3]) == pytest.approx((distance, worst))
        assert 0 <= found.by_chance[1] <= 1
        assert found.surest >= found.sure_before
    assert found.gains == pytest.approx((0, 0, 0, 0)), "all as one class tell nothing"


def test_what_is_known_beside_the_class_parts_it():
    visits = person_key.visits(150)
    release = Mondrian(KAnonymity(6)).sanitize(visits, rng=1)
    found = summarize_disclosure(release, "ill", rng=1, knows=["ward"], of=OF[:1])
    ill, ward = visits.table["ill"], visits.table["ward"]
    cells = pd.Series(release.classes).astype(str) + ward
    assert found.right == pytest.approx(plain(cells, ill, visits.people)[0])
    commonest = {
        each: visits.table[ward == each].groupby("ill")["patient"].nunique().idxmax() for each in ("day", "night")
    }
    before = visits.table["patient"][ill == ward.map(commonest)].nunique() / 150
    assert found.before == pytest.approx(before)


def test_a_key_that_parts_everybody_tells_as_none():
    table = person_key.table(60)
    each = table.assign(patient=np.arange(len(table)).astype(str).astype(object))
    for sanitizer in (Mondrian(KAnonymity(6)), Bucketize(Mondrian(KAnonymity(6)))):
        ours, plain_one = (
            summarize_disclosure(
                sanitizer.sanitize(person_key.dataset(each, patient=role), rng=1), "ill", rng=1, knows=["ward"], of=OF
            )
            for role in (Role.PERSON, Role.IDENTIFIER)
        )
        assert ours.gains == pytest.approx(plain_one.gains)
        assert ours[2:] == pytest.approx(plain_one[2:])

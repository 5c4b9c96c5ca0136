"""`table.assess`: a file of another tool next to the original, with the facts that its owner should know."""

import pytest
from support.clinic import CLINIC

import privnb as pn
from privnb.sanitizers import Mondrian
from privnb.sanitizers.errors import SanitizationError


@pytest.fixture(scope="module")
def assessed(tmp_path_factory):
    """A generalized half of the clinic, assessed with a hold-out that shares twenty records with the table."""
    folder = tmp_path_factory.mktemp("assess")
    table = pn.read(CLINIC)
    data = table.dataset
    Mondrian(k=20).sanitize(data, rng=1).publish()[0].table.to_csv(folder / "theirs.csv", index=False)
    names = data.schema.published
    others = data.table[names].assign(weight=199.5)
    others.iloc[:20] = data.table[names].iloc[:20]
    others.to_csv(folder / "others.csv", index=False)
    data.table[names].to_csv(folder / "same.csv", index=False)
    found = table.assess(folder / "theirs.csv", policy="k-5", holdout=folder / "others.csv", seeds=1)
    return table, folder, found


@pytest.mark.slow
def test_a_file_is_shown_next_to_the_original(assessed):
    _, folder, found = assessed
    assert repr(found) == "AssessedFile('theirs.csv', 300 rows, policy 'k-5')"
    frame = found.frame.set_index("setting")
    theirs = next(name for name in frame.index if "theirs.csv" in name)
    assert frame.loss["the original"] < frame.loss[theirs] < frame.loss["Suppression"]
    assert found.keeps == frame.kept[theirs]
    assert found.columns.set_index("column")["read as"]["age"] == "generalized"
    shown = found._repr_html_()
    assert "theirs.csv has 300 rows: the rows are the records." in shown
    assert str(folder) not in shown + found.card.text
    assert "CANARY-" not in shown + found.card.text


@pytest.mark.slow
def test_the_overlap_of_the_holdout_is_stated(assessed):
    _, _, found = assessed
    assert found.found.facts["holdout"]["equal"]["value"] == 20
    assert [notice.code for notice in found.found.notices] == ["holdout-overlap"]
    assert "An estimated 6.7% (95% CI" in found.found.notices[0]


def test_a_holdout_that_is_the_table_is_refused_before_anything_is_measured(assessed):
    table, folder, _ = assessed
    with pytest.raises(SanitizationError, match=r"most people of same\.csv have the values of a record"):
        table.assess(folder / "theirs.csv", holdout=folder / "same.csv")

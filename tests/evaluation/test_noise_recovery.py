"""What is said of an attack that recovers numbers: against a plain calculation, and withheld where it tells of few."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from privnb.attacks import GaussianMap, PCARemoval, SpectralFiltering, SVDFiltering
from privnb.attacks.recovery.base import Recovery, Solved
from privnb.attacks.recovery.recovery_knowledge import Pairs
from privnb.datasets.dataset import Dataset
from privnb.evaluation import Recovered, evaluate
from privnb.evaluation.evaluation_loop import Case
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.microdata.treatment import Law, Rows
from privnb.sanitizers import Identity, Sanitizer

NUMBERS = ("height", "weight", "pulse")
SCHEMA = Schema(
    "people",
    (
        *(Attribute(name, Role.QUASI_IDENTIFIER, Numbers(-1000, 1000, 0.001, missing="NA")) for name in NUMBERS),
        Attribute("ward", Role.NEUTRAL, Categories(("x", "y"))),
    ),
)
KEYED = Schema("people", (Attribute("who", Role.PERSON, Categories(tuple("abcdefghij"))), *SCHEMA.attributes))


@dataclass(frozen=True)
class _Gaussian(Law):
    deviation: float

    def __str__(self):
        return "Gaussian noise"

    @property
    def variance(self):
        return self.deviation**2


@dataclass(frozen=True)
class _Together(_Gaussian):
    """Noise that goes together in all columns."""

    correlation: float = 0.0

    def covariance(self, other):
        return self.correlation * self.variance


@dataclass(frozen=True)
class _Noise(Sanitizer):
    """Gaussian noise on all numbers."""

    deviation: float
    nobodys: bool = False
    correlation: float = 0.0
    treatment = "noisy"
    randomized = True
    counts_people = True

    def _sanitize(self, dataset, table, rng):
        draw = np.random.default_rng(rng)
        shared = draw.normal(0, self.deviation * self.correlation**0.5, len(table))
        for name in NUMBERS:
            read = dataset.schema[name].domain.filled(pd.to_numeric(table[name]))
            table[name] = read + shared + draw.normal(0, self.deviation * (1 - self.correlation) ** 0.5, len(table))
        if self.nobodys:
            return table, {"rows": Rows.SYNTHETIC}
        return table, {"noisy": dict.fromkeys(NUMBERS, _Together(self.deviation, self.correlation))}


@dataclass(frozen=True)
class _Neighbour(Recovery):
    """Guesses for everybody the mean of those who are known."""

    people: int = 4
    undoes = "noisy"
    knows = Pairs

    @classmethod
    def examples(cls, schema):
        return []

    def _solve(self, rows, published, names):
        return Solved(names, names, self.knowledge.originals[list(names)].mean().to_numpy(dtype=float))

    def _recovered(self, rows, rng):
        return np.tile(self.learned.solution, (len(rows), 1))

    def _expected(self):
        return self.learned.solution


def people(n, schema=SCHEMA, gaps=0):
    """Numbers that go together."""
    draw = np.random.default_rng(7)
    size = draw.normal(0, 10, n)
    table = pd.DataFrame({name: np.round(50 + size + draw.normal(0, 2, n), 3) for name in NUMBERS})
    table.loc[: gaps - 1, "pulse"] = np.nan
    table["ward"] = draw.choice(["x", "y"], n)
    if schema is KEYED:
        table["who"] = [schema["who"].domain.values[each] for each in draw.integers(0, 10, n)]
    hierarchies = {name: _flat(schema[name]) for name in NUMBERS}
    return Dataset("people", table[schema.names()], schema, hierarchies)


def _flat(attribute):
    from privnb.microdata.hierarchy import flat

    return flat(attribute)


DATA = people(400)


def asked(dataset, sanitizer, attack=PCARemoval(), min_count=10):  # noqa: B008 - it is frozen
    results = evaluate(dataset, [sanitizer], attacks=[Recovered(attack)], min_count=min_count)
    return results, results.set_index(["measure", "target", "variant", "control", "group"])


def plain(dataset, sanitizer, attack, counted=slice(None)):
    """The guesses, the rows and the truth of the same release, row by row, and the standard deviations."""
    published, key = Case(dataset, sanitizer, 1).published
    truth = dataset.table[list(NUMBERS)].to_numpy(dtype=float)
    rows = published.table[list(NUMBERS)].to_numpy(dtype=float)
    return attack.fit(published).predict(published.table), rows, truth[key], np.nanstd(truth, axis=0)


def test_the_error_and_the_share_are_those_of_a_plain_calculation():
    _, found = asked(DATA, _Noise(4))
    guess, rows, truth, unit = plain(DATA, _Noise(4), PCARemoval())

    def error(guess):
        return np.sqrt(np.mean(((guess - truth) / unit) ** 2))

    def near(guess):
        return np.mean(np.abs(guess - truth) <= 0.1 * np.abs(truth), axis=0)

    whole = "recovery_error", "", "", "", ""
    assert found.value[whole] == pytest.approx(error(guess))
    assert found.baseline[whole] == pytest.approx(1), "the mean of each column is one standard deviation off"
    assert found.value["recovery_error", "", "taken literally", "", ""] == pytest.approx(error(rows))
    assert found.value[whole] < 0.85 * found.value["recovery_error", "", "taken literally", "", ""]
    assert found.low[whole] < found.value[whole] < found.high[whole]
    for place, name in enumerate(NUMBERS):
        assert found.value["recovered_within", name, "", "", ""] == pytest.approx(near(guess)[place])
        literal = found.value["recovered_within", name, "taken literally", "", ""]
        assert literal == pytest.approx(near(rows)[place])
        of_one = np.sqrt(np.mean((guess - truth)[:, place] ** 2)) / unit[place]
        assert found.value["recovery_error", name, "", "", ""] == pytest.approx(of_one)


def test_noise_that_goes_together_as_the_numbers_do_stays():
    """The control. Numbers and noise have a correlation of 100 / 104: whoever knows that can but shrink."""
    together = 100 / 104
    for attack in (GaussianMap(), PCARemoval(), SpectralFiltering(), SVDFiltering()):
        _, apart = asked(DATA, _Noise(6), attack)
        _, found = asked(DATA, _Noise(6, correlation=together), attack)
        shrunk = (36 / 140) ** 0.5  # of variance 104 and noise 36
        assert found.value["recovery_error", "", "", "", ""] > 0.93 * shrunk
        assert apart.value["recovery_error", "", "", "", ""] < 0.9 * shrunk


def test_the_guess_of_somebody_else_is_no_better_than_the_mean():
    _, found = asked(DATA, _Noise(4))
    control = found.loc["recovery_error", "", "", "permuted", ""]
    assert control.value > control.baseline
    for name in NUMBERS:
        hit = found.loc["recovered_within", name, "", "permuted", ""]
        assert hit.value < 0.5 * found.value["recovered_within", name, "", "", ""]


def test_who_lies_furthest_from_the_mean_is_hit_by_the_group():
    _, found = asked(DATA, _Noise(10))
    guess, _, truth, unit = plain(DATA, _Noise(10), PCARemoval())
    squares = ((guess - truth) / unit) ** 2
    far = (((truth - truth.mean(axis=0)) / unit) ** 2).sum(axis=1)
    outliers = far > np.sort(far)[-41]
    for name, member in {"outliers": outliers, "others": ~outliers}.items():
        assert found.value["recovery_error", "", "", "", name] == pytest.approx(np.sqrt(squares[member].mean()))
    assert found.baseline["recovery_error", "", "", "", "outliers"] > 1.5


def test_evaluate_takes_the_attack_itself_and_says_what_a_row_is():
    results = evaluate(DATA, [_Noise(10), Identity()], attacks=(PCARemoval(), _Neighbour()))
    noisy = results[results.sanitizer == "_Noise"]
    assert set(noisy.miner) == {"PCA filtering", "_Neighbour"}
    assert set(noisy.knows[noisy.miner == "_Neighbour"]) == {"records and rows of 4 people"}
    assert set(noisy.better[noisy.measure == "recovery_error"]) == {"higher"}
    refused = results[results.sanitizer == "Identity"]
    assert list(refused.status) == ["refused", "refused"]
    assert refused.reason.str.contains("needs noisy numbers; in this release").all()


def test_a_stored_answer_is_the_same(tmp_path):
    asked = DATA, [_Noise(10)]
    found = evaluate(*asked, attacks=(PCARemoval(),), store=str(tmp_path))
    pd.testing.assert_frame_equal(found, evaluate(*asked, attacks=(PCARemoval(),)), check_dtype=False)


def test_whom_the_adversary_knows_is_not_counted_and_is_drawn_anew_for_each_seed(monkeypatch):
    told = []
    monkeypatch.setattr(Pairs, "of", classmethod(lambda cls, *given: told.append(given) or cls(*given[:2])))
    scored = []
    monkeypatch.setattr(_Neighbour, "_recovered", lambda self, rows, rng: scored.append(rows) or rows)
    evaluate(DATA, [_Noise(10)], attacks=[_Neighbour(25)], seeds=2)
    assert [len(originals) for originals, *_ in told] == [25, 25]
    assert not told[0][0].equals(told[1][0])
    for (originals, released, _), rows in zip(told, scored, strict=True):
        assert len(rows) == 375
        known = {tuple(row) for row in released[list(NUMBERS)].to_numpy()}
        assert not known & {tuple(row) for row in rows}
        near = (originals[list(NUMBERS)].to_numpy() - released[list(NUMBERS)].to_numpy()) / 10
        assert np.abs(near).max() < 6, "each record stands beside its own row"


def test_whose_other_records_are_known_is_not_counted():
    dataset = people(400, KEYED)
    _, found = asked(dataset, _Noise(10), _Neighbour(1), min_count=2)
    others = dataset.headcount - 1
    shares = found.value["recovered_within"].dropna() * others
    np.testing.assert_allclose(shares, shares.round(), atol=1e-9)
    refused = evaluate(dataset, [_Noise(10)], attacks=[_Neighbour(399)])
    assert "knows everybody of the release" in refused.reason[0]


def test_a_person_is_found_by_any_of_their_records():
    dataset = people(400, KEYED)
    _, found = asked(dataset, _Noise(0.001), min_count=2)
    assert found.value["recovered_within", "pulse", "", "", ""] == 1
    assert found.low["recovered_within", "pulse", "", "", ""] == pytest.approx(0.722, abs=1e-3), "of ten people"


@pytest.mark.parametrize("n", [5, 12, 60])
def test_what_tells_of_few_is_withheld(n):
    _, found = asked(people(n), _Noise(3))
    numbers = found.value["recovered_within"].dropna() * n
    assert all(count == 0 or 10 <= count <= n - 10 or count == n for count in numbers.round(6)[:3])
    groups = found[found.index.get_level_values("group") != ""]
    assert groups.value.isna().all(), "a tenth of them are fewer than ten people, and so is what is left of all"
    assert groups.baseline.isna().all()
    assert set(groups.status) == {"withheld"}
    assert found.value.isna().all() == (n < 10)


def test_groups_are_withheld_together():
    """With the count of all and of the others the withheld one of the outliers would follow."""
    for deviation in (1, 5, 20):
        _, found = asked(people(200), _Noise(deviation))
        for name in NUMBERS:
            pair = [found.loc["recovered_within", name, "", "", group] for group in ("outliers", "others")]
            assert pd.isna(pair[0].value) == pd.isna(pair[1].value)
            assert pd.isna(pair[0].baseline) == pd.isna(pair[1].baseline)


def test_a_missing_number_is_not_recovered():
    dataset = people(400, gaps=40)
    _, found = asked(dataset, _Noise(10))
    guess, _, truth, unit = plain(dataset, _Noise(10), PCARemoval())
    squares = ((guess - truth) / unit)[:, 2] ** 2
    assert np.isnan(squares).sum() == 40
    assert found.value["recovery_error", "pulse", "", "", ""] == pytest.approx(np.sqrt(np.nanmean(squares)))
    assert found.value.notna().all()


@pytest.mark.parametrize("wrong", [None, np.nan, "nobody", np.zeros((3, 2)), np.zeros(2)])
def test_an_attack_that_recovers_no_numbers_is_no_safety(wrong, monkeypatch):
    """All NaN would be withheld, and an array of another shape is spread over all rows."""
    spoilt = np.full((60, 3), wrong) if isinstance(wrong, float) else wrong
    monkeypatch.setattr(PCARemoval, "_recovered", lambda self, rows, rng: spoilt)
    with pytest.raises(ValueError, match=r"^PCARemoval\(.*: predict must give an array \(60, 3\) of finite numbers"):
        asked(people(60), _Noise(4))


def test_a_column_in_which_all_are_alike_has_no_unit():
    table = DATA.table.assign(pulse=7.0)
    results, _ = asked(Dataset("people", table, SCHEMA, DATA.hierarchies), _Noise(10))
    assert set(results.target) == {"", "height", "weight"}
    alike = Dataset("people", table.assign(height=1.0, weight=2.0), SCHEMA, DATA.hierarchies)
    results, _ = asked(alike, _Noise(10))
    assert "all records have the same values of height, weight, pulse" in results.reason[0]


def test_rows_of_nobody_and_more_known_people_than_rows_are_refused():
    results, _ = asked(DATA, _Noise(10, nobodys=True))
    assert "the rows of _Noise(deviation=10, nobodys=True, correlation=0.0) are synthetic" in results.reason[0]
    results, _ = asked(DATA, _Noise(10), _Neighbour(400))
    assert "knows 400 people, and the release has 400 rows" in results.reason[0]
    assert list(results.status) == ["refused"]


def test_what_cannot_be_asked_is_refused():
    with pytest.raises(ValueError, match="`c` must be a percentage"):
        Recovered(PCARemoval(), c=101)
    with pytest.raises(TypeError, match="attack must be a Recovery"):
        Recovered("PCA")

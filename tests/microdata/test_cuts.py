"""Public cuts: where the public intervals of a domain of numbers begin, and how an owner states them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from privnb.datasets.dataset import load
from privnb.microdata import cuts
from privnb.microdata.schema import Numbers, SchemaError


@pytest.mark.parametrize(
    ("domain", "grain", "some"),
    [
        ((17, 99), 5, (20, 25, 30)),
        ((0, 100), 5, (5, 10, 15)),
        ((-7, 7), 2, (-4, -2, 0)),
        ((1, 16), 2, (4, 6, 8)),  # no interval is of one value, where nobody could hide: neither 1 nor 16 is
        ((30, 200, 0.5), 10, (40, 50, 60)),
        ((0, 1, 0.01), 0.05, (0.05, 0.1, 0.15)),
        ((0, 10**8), 5_000_000, (5_000_000, 10_000_000, 15_000_000)),
        ((1000, 1050), 5, (1005, 1010, 1015)),
        ((0.5, 99.5), 5, (5.5, 10.5, 15.5)),  # 5, 10, 15 are no values: each interval begins with the first above
        ((0, 60, 3), 10, (12, 21, 30)),
        ((0, 1), 2, ()),
        ((17, 90), 5, (20, 25, 30)),
    ],
)
def test_without_cuts_there_are_round_numbers_of_the_public_domain(domain, grain, some):
    numbers = Numbers(*domain)
    assert cuts.grain(numbers) == grain
    assert numbers.cuts[:3] == some
    assert len(numbers.cuts) <= 20
    every = numbers.codes(numbers.high) + 1
    first, last = numbers.interval(np.linspace(0, every - 1, min(every, 10**6)).astype(int))
    assert (first < last).all()


def test_cuts_are_as_they_are_stated():
    assert Numbers(0, 99, cuts=(18, 65)).cuts == (18, 65)
    assert Numbers(0, 99, cuts=[0, 18]).cuts == (18,)  # that an interval begins at low is understood
    assert Numbers(0, 99, cuts=25).cuts == (25, 50, 75)
    assert Numbers(10, 40, 0.5, cuts=7.5).cuts == (15, 22.5, 30, 37.5)
    assert Numbers(17, 99, cuts=5) == Numbers(17, 99) != Numbers(17, 99, cuts=10)
    assert Numbers(0, 99, cuts=()).cuts == ()


def test_the_interval_of_each_value():
    low, high = Numbers(17, 99, cuts=(18, 65)).interval([0, 1, 47, 48, 82])
    assert (low.tolist(), high.tolist()) == ([0, 1, 1, 48, 48], [0, 47, 47, 82, 82])


@given(
    st.integers(-500, 500),
    st.integers(1, 3000),
    st.sampled_from([1, 0.5, 0.25, 0.1, 3, 7]),
    st.integers(0, 2000),
)
def test_every_value_lies_in_its_interval_and_every_interval_begins_at_a_cut(low, steps, step, code):
    domain, code = Numbers(low, low + steps * step, step), min(code, steps)
    (first,), (last,) = domain.interval([code])
    assert 0 <= first <= code <= last <= steps
    assert first == 0 or domain.value(first) in domain.cuts
    assert last == steps or domain.value(last + 1) in domain.cuts
    every = domain.interval(np.arange(steps + 1))
    assert len(np.unique(every[0])) == len(domain.cuts) + 1
    assert (every[0] < every[1]).all(), "an interval of one value hides nobody"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "[65, 18]",
            r"`cuts` must increase, because each begins a public interval; got \[65, 18\]\. Sort the cuts and",
        ),
        ("[18, 18]", "`cuts` must increase"),
        ("[18, 120]", r"0 to 99; \[120\] lie outside\. Remove these cuts"),
        ("[-1, 18]", r"\[-1\] lie outside"),
        ("[18.5, 65]", r"0 to 99; \[18\.5\] lie between two steps\. Move the cuts to a step"),
        ("2.5", r"\[2\.5, 7\.5, 12\.5\] lie between two steps"),
        ("0", "a number above 0 or a list of increasing numbers; got 0"),
        ("-5", "a number above 0"),
        ("nan", "or numbers .* with step and cuts"),
        ("inf", "or numbers .* with step and cuts"),
        ("true", "or numbers .* with step and cuts"),
        ('"10"', "or numbers .* with step and cuts"),
        ('[18, "65"]', "or numbers .* with step and cuts"),
    ],
)
def test_wrong_cuts_are_refused_with_the_column(tmp_path, given, message):
    (tmp_path / "toy.csv").write_text("age,disease\n30,flu\n40,cold\n")
    path = tmp_path / "toy.toml"
    path.write_text(
        '[dataset]\nname = "toy"\n[[files]]\npath = "toy.csv"\n[columns.age]\nrole = "quasi-identifier"\n'
        f"domain = {{ low = 0, high = 99, cuts = {given} }}\n"
        '[columns.disease]\nrole = "sensitive"\ndomain = ["flu", "cold"]\n'
    )
    with pytest.raises(SchemaError, match=f"age.* .*{message}"):
        load(path)
    path.write_text(path.read_text().replace(f"cuts = {given}", "cuts = [18, 65]"))
    assert load(path).schema["age"].domain.cuts == (18, 65)


@pytest.mark.parametrize("cuts", [True, "10", (18, "65"), float("nan"), [float("inf")], (18, True)])
def test_cuts_are_numbers(cuts):
    with pytest.raises(SchemaError, match="`cuts` must be a number above 0 or a list of increasing numbers; got "):
        Numbers(0, 99, cuts=cuts)


def test_a_width_that_parts_a_domain_too_finely_is_refused():
    with pytest.raises(SchemaError, match=r"`cuts` = 1 would divide 0 to 1e\+08 into more than 10,000 intervals"):
        Numbers(0, 10**8, cuts=1)


def _grain(cut, step):
    """The roundest number, 1, 2, 5, 10, 20, ..., of which a cut is a multiple."""
    powers = [digit * 10**power for power in range(7, -1, -1) for digit in (5, 2, 1)]
    return next((each for each in powers if cut % each == 0), step)


@given(
    st.lists(st.integers(0, 10**6), min_size=20, max_size=300),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(10, 200)), max_size=3),
)
def test_even_cuts_hold_ten_people_and_are_nobodys_number(alone, shared):
    found, counts = np.unique(
        np.concatenate([alone, *(np.repeat(value, times) for value, times in shared)]).astype(int), return_counts=True
    )
    domain = Numbers(0, 10**6)
    parted = cuts.even_cuts(domain, found.astype(float), counts, 10)
    if parted is None:
        return
    assert list(parted) == sorted(set(parted))
    sizes = np.bincount(np.searchsorted(parted, found, side="right"), counts, len(parted) + 1)
    assert sizes.min() >= 10
    assert replace(domain, cuts=parted).cuts == parted
    often = {*found[counts >= 10]}
    for cut in parted:
        if not {cut, cut - 1} & often:  # then a round number near a quantile, whoever has it
            near = (found > cut - 2.5 * _grain(cut, 1)) & (found <= cut + 2.5 * _grain(cut, 1))
            assert counts[near].sum() >= min(10, counts.sum() / 10)


def test_people_of_a_stretched_domain_are_divided_about_evenly():
    incomes = np.unique(np.exp(np.random.default_rng(3).normal(9.5, 1.2, 2_000)).round())
    parted = cuts.even_cuts(Numbers(0, 2_000_000), incomes, np.ones(len(incomes), dtype=int), 10)
    shares = np.bincount(np.searchsorted(parted, incomes, side="right")) / len(incomes)
    assert len(parted) == 9
    assert shares.max() < 0.2
    assert all(cut % 500 == 0 for cut in parted), "round numbers"


def test_a_value_that_many_people_share_is_an_interval_of_its_own():
    numbers, people = np.arange(0.0, 5000, 7), np.ones(715, dtype=int)
    people[0] = 3_000
    assert cuts.even_cuts(Numbers(0, 10_000), numbers, people, 10)[0] == 1
    assert cuts.even_cuts(Numbers(0, 10_000), numbers[:15], np.ones(15, dtype=int), 10) is None, "too few people"

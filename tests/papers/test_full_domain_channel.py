"""k-anonymity as a channel: known risks, another implementation by listing, and what the paper says of publishing."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb, prod

import numpy as np
import pytest

from privnb.measures.disclosure.channel import (
    bayes_risk,
    error_bounds,
    posterior_gain,
    prior_gain,
    prior_vulnerability,
    santhi_vardy_bound,
)
from privnb.microdata.hierarchy import Taxonomy
from privnb.papers.askari_2012.enumeration.errata import AGE, GENDER, age_domains, section_5_domains
from privnb.papers.askari_2012.enumeration.full_domain import SmallDomains

TWO_AGES = Taxonomy("age", (("20", "*"), ("30", "*")))
UNEVEN = Taxonomy("age", (("20", "20-40", "*"), ("30", "20-40", "*"), ("40", "20-40", "*"), ("50", "50", "*")))
TINY = age_domains(records=2, hierarchy=TWO_AGES)
SPACES = [
    TINY,
    age_domains(),
    age_domains(records=4),
    age_domains(records=4, k=3, hierarchy=UNEVEN),
    SmallDomains((TWO_AGES, GENDER), {"disease": ("Cold", "Flu")}, records=2, k=2),
    SmallDomains((TWO_AGES, GENDER), {}, records=4, k=2),
]


def listed(space):
    """All (original, levels, release) by taking each table apart: the release as a sorted tuple of rows."""
    trees, found = space.hierarchies, []
    kinds = list(product(*(tree.leaves for tree in trees), *space.sensitive.values()))
    for rows in combinations_with_replacement(kinds, space.records):
        for levels in product(*(range(tree.height + 1) for tree in trees)):
            labels = [{row[0]: row[level] for row in tree.rows} for tree, level in zip(trees, levels, strict=True)]
            quasi = [tuple(label[value] for label, value in zip(labels, row, strict=False)) for row in rows]
            if all(quasi.count(one) >= space.k for one in quasi):
                release = sorted(one + row[len(trees) :] for one, row in zip(quasi, rows, strict=True))
                found.append((tuple(sorted(rows)), levels, tuple(release)))
    return found


@pytest.mark.parametrize("space", SPACES, ids=range(len(SPACES)))
def test_as_listed(space):
    links = listed(space)
    channel = space.randomized()
    options = {}
    for original, *release in links:
        options.setdefault(original, []).append(tuple(release))
    assert len(channel.inputs) == len(options)
    assert len(channel.outputs) == space.number_of_releases == len({tuple(release) for _, *release in links})
    levels = [space.levels[at] for at in space.generalization]
    outputs = [(at, tuple(sorted(rows))) for at, rows in zip(levels, channel.outputs, strict=True)]
    at = {tuple(sorted(channel.inputs[i])): i for i in range(len(channel.inputs))}
    matrix = channel.matrix
    for original, releases in options.items():
        shares = dict(zip(outputs, matrix[at[original]], strict=True))
        assert {release for release, share in shares.items() if share} == set(releases)
        assert {share for share in shares.values() if share} == {Fraction(1, len(releases))}
    lowest = space.deterministic()
    for original, releases in options.items():
        first = min(releases, key=lambda release: (sum(release[0]), release[0]))
        assert outputs[int(lowest.column[lowest.row == at[original]][0])] == first


@pytest.mark.parametrize(
    ("space", "shape", "at_random", "lowest", "bound"),
    [
        (TINY, (10, 9), Fraction(2, 5), Fraction(1, 10), 0.557266),
        (age_domains(), (120, 28), Fraction(8, 9), Fraction(23, 30), 0.950094),
        (age_domains(records=4), (330, 98), Fraction(349, 396), Fraction(116, 165), None),
    ],
)
def test_known_risks(space, shape, at_random, lowest, bound):
    channel = space.randomized()
    assert (len(channel.inputs), len(channel.outputs)) == shape
    assert bayes_risk(channel) == at_random
    assert bayes_risk(space.deterministic()) == lowest
    if bound:
        assert santhi_vardy_bound(channel) == pytest.approx(bound, abs=5e-7)


@pytest.mark.slow
def test_the_paper_example_whole():
    space = section_5_domains()
    assert len(space.levels) == 6  # eq. 22 under the assumed hierarchies
    assert [len(tables) for tables in space.tables] == [3528, 804, 804, 162, 162, 21]
    assert space.number_of_releases == 5481
    channel = space.randomized()
    assert len(channel.inputs) == 98_280
    low, high = error_bounds(channel)
    assert low <= bayes_risk(channel) <= high
    assert bayes_risk(channel) > bayes_risk(space.deterministic())


@pytest.mark.parametrize("space", SPACES, ids=range(len(SPACES)))
def test_publishing(space):
    """A deterministic channel meets the lower bound. The lowest level gives away more than chance does; that is no
    matter of being deterministic, as the paper has it: to suppress everything always gives away least."""
    lowest, at_random, highest = space.deterministic(), space.randomized(), space.deterministic("highest")
    for channel in (lowest, highest):
        occurring = len(set(channel.column.tolist()))
        assert bayes_risk(channel) == error_bounds(channel)[0] == 1 - Fraction(occurring, len(channel.inputs))
    assert bayes_risk(lowest) <= bayes_risk(at_random) < bayes_risk(highest)


def test_rather_what_distorts_less():
    """The more probable the less distorted outputs, the less is lost to users, and the more is guessed."""
    space = age_domains()
    steps = [Fraction(1, 8), Fraction(1, 2), 1, 2, 8]
    lost = [space.degradation(space.randomized(step)) for step in steps]
    risks = [bayes_risk(space.randomized(step)) for step in steps]
    assert lost == sorted(lost)
    assert (
        space.degradation(space.deterministic())
        < lost[0]
        < lost[-1]
        < space.degradation(space.deterministic("highest"))
    )
    assert risks[0] < risks[2]
    half = space.randomized(0.5)
    assert not half.exact
    assert bayes_risk(half) == pytest.approx(float(bayes_risk(space.randomized("1/2"))))


def test_k_that_five_rows_cannot_be_split_by_is_five():
    risks = {k: bayes_risk(age_domains(records=5, k=k).randomized()) for k in (2, 3, 4, 5)}
    assert risks[2] < risks[3] == risks[4] == risks[5]


@pytest.mark.parametrize("space", SPACES, ids=range(len(SPACES)))
def test_the_originals_of_a_release(space):
    found = np.bincount(space.randomized().column, minlength=len(space.releases))
    rows = [space.distinct_rows(i) for i in range(len(found))]
    assert [prod(comb(kinds + often - 1, often) for kinds, often in each) for each in rows] == found.tolist()


def test_releases_are_in_the_order_of_their_generalizations():
    assert len(TINY.releases) == 9 == len(TINY.generalization)
    assert TINY.generalization.tolist() == [0] * 6 + [1] * 3
    assert all(age == "*" for age, _ in TINY.releases[8])


@pytest.mark.slow
def test_a_close_table_is_easier_to_guess():
    channel = age_domains().randomized()
    common = channel.inputs.rows_in_common()
    exact = posterior_gain(channel, common == 3)
    assert exact == 1 - bayes_risk(channel)
    but_one = posterior_gain(channel, common >= 2)
    rows_right = posterior_gain(channel, common)
    assert exact < but_one <= 1
    assert 3 * exact <= rows_right <= 3
    assert prior_gain(channel, common) < rows_right


def test_who_looks_for_a_person_wants_no_table():
    """What is published of a person whose age is known, and who is in the table: a guess of the disease."""
    space = age_domains()
    for publish in (space.randomized(), space.deterministic(), space.deterministic("highest")):
        channel = publish.restricted_to(space.originals.holding(age="20"))
        guesses = space.originals.shares("disease", age="20")
        assert prior_gain(channel, guesses) == Fraction(1, 2)
        assert Fraction(1, 2) < posterior_gain(channel, guesses) < 1
    known = channel.restricted_to(space.originals.holding(age="20", disease="Cold"))
    assert prior_vulnerability(known) > prior_vulnerability(channel)


def test_utility_of_a_population():
    space = TINY
    channel, even = space.randomized(), np.ones(4)
    before, after = space.utilities()
    double = sum(
        float(channel.prior[row] * share) * (before[row] - after[column])
        for row, column, share in zip(channel.row, channel.column, channel.probability, strict=True)
    )
    assert space.degradation(channel) == pytest.approx(double)

    ignorant, informed = (replace(space.originals, counts=counts[None]) for counts in (even, np.array([4, 3, 2, 1])))
    assert space.degradation(channel, users=[(1, ignorant)]) == pytest.approx(double)
    each = [space.degradation(channel, users=[(1, user)]) for user in (ignorant, informed)]
    assert each[0] != pytest.approx(each[1])
    both = space.degradation(channel, users=[(0.25, ignorant), (0.75, informed)])
    assert both == pytest.approx(0.25 * each[0] + 0.75 * each[1])
    with pytest.raises(ValueError, match=r"the probabilities of users must add up to 1; got 0.5"):
        space.degradation(channel, users=[(0.5, informed)])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: age_domains(records=2, k=3), "`k` must be from 1 to the number of records, 2; got 3"),
        (lambda: age_domains(k=0), "`k` must be from 1 to the number of records, 3; got 0"),
        (
            lambda: SmallDomains((AGE,), {"age": ("a",)}, 2, 2),
            r"either a quasi-identifier or sensitive; got both roles for \['age'\]",
        ),
        (lambda: TINY.randomized(0), "`step` must be above 0; got 0"),
        (lambda: TINY.deterministic("cheapest"), '`publish` must be "lowest" or "highest"; got \'cheapest\''),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()

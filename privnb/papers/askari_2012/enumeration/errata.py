"""Askari et al.'s own examples, and where the paper slips: each erratum with a counter-example, computed.

Source: Askari, Safavi-Naini, Barker, "An information theoretic privacy and utility measure for data sanitization
mechanisms", CODASPY 2012.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import comb
from typing import Any

import numpy as np
import pandas as pd

from privnb.measures.disclosure.channel import bayes_risk, conditional_entropy, prior_vulnerability, santhi_vardy_bound
from privnb.measures.disclosure.channel_matrix import Channel, label
from privnb.measures.utility.attribute_utility import average_utility
from privnb.microdata.hierarchy import Taxonomy
from privnb.papers.askari_2012.enumeration.full_domain import SmallDomains
from privnb.papers.askari_2012.enumeration.tables import Tables
from privnb.runtime.arrays import IntArray
from privnb.runtime.tolerances import ROUNDING

Erratum = tuple[Any, ...]  # as `COLUMNS`
COLUMNS = ("place", "kind", "erratum", "example", "as printed", "here")
KINDS = {
    "wrong": "the printed formula or claim fails on the example",
    "open": "the text allows both readings; ours is under `here`",
    "name": "the number is right, what it is called is not",
}

# The paper's Figures 4 and 5 are missing from the text at hand. Its domains have 4 and 2 values (section 5.3); that the
# ages are first joined in pairs, 4-2-1, and the sexes at once, 2-1, is assumed.
AGE = Taxonomy("age", (("20", "20-30", "*"), ("30", "20-30", "*"), ("40", "40-50", "*"), ("50", "40-50", "*")))
GENDER = Taxonomy("gender", (("Male", "*"), ("Female", "*")))
DISEASES = ("Cold", "Heart attack", "Diabetes")


def appendix(prior: Any = None) -> Channel:
    """The channel of the appendix, four tables in and four out, in fractions."""
    matrix = [
        ["5/17", "2/17", 0, "10/17"],
        [0, "20/35", "5/35", "10/35"],
        ["15/28", "5/28", "3/28", "5/28"],
        ["5/20", "8/20", 0, "7/20"],
    ]
    return Channel.of(matrix, prior, ("T1", "T2", "T3", "T4"), ("T'1", "T'2", "T'3", "T'4"))


def uniform(prior: Any = None) -> Channel:
    """The appendix's second channel: four tables, each published as anything."""
    return Channel.of([["1/4"] * 4] * 4, prior)


def section_5(records: int = 5, k: int = 2) -> SmallDomains:
    """The example of section 5.3, k-anonymous: age, gender, disease. Its hierarchies are assumed, see `AGE`."""
    return SmallDomains((AGE, GENDER), {"disease": DISEASES}, records, k)


def ages(records: int = 3, k: int = 2, hierarchy: Taxonomy = AGE) -> SmallDomains:
    """A smaller one, to look at whole: one quasi-identifier, and two sensitive values."""
    return SmallDomains((hierarchy,), {"disease": DISEASES[:2]}, records, k)


def printed_error(channel: Channel) -> float:
    """Eq. 3 to the letter, with the posterior P(T|T') in place of the likelihood: for a uniform prior."""
    return 1 - (channel.largest(channel.joint) / channel.output_probability).sum() / len(channel.inputs)


def printed_number_of_anonymous_tables(kinds: int, records: int, k: int) -> int:
    """Eq. 25 to the letter, for `kinds` possible rows."""
    groups = records // k
    return sum(comb(kinds, groups - i) * comb(groups - i + i * k - 1, i * k) for i in range(groups))


def errata() -> pd.DataFrame:
    """The errata one by one: a table with `COLUMNS`, the numbers computed; `KINDS` says what each kind means."""
    rows = [*_of_privacy(), *_of_utility(), *_of_counts(), *_of_the_setting()]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"as printed": float, "here": float})


# One erratum a tuple, as its row will be.
# fmt: off


def _of_privacy() -> Iterator[Erratum]:
    channel, flat = appendix(), uniform()
    uncertainty, nats = conditional_entropy(channel), conditional_entropy(flat) * math.log(2)
    yield (
        "eq. 3", "wrong", "the posterior P(T|T') stands where the likelihood P(T'|T) belongs",
        "Error_f of the appendix's channel", printed_error(channel), bayes_risk(channel),
    )
    yield (
        "eq. 7", "wrong", "the entropy lacks its minus sign, so that the bound of eq. 6 falls below 0",
        "the bound on the appendix's channel", 1 - 2**uncertainty, santhi_vardy_bound(channel),
    )
    yield (
        "eq. 6", "wrong", "the logarithm has no base; with the natural one the bound falls below the error, .75",
        "the bound on the appendix's uniform channel", 1 - 2**-nats, santhi_vardy_bound(flat),
    )
    yield (
        "section 4.1.1", "wrong", "the success rate of a blind guess is called 1 - 1/n, which is its error",
        "four tables, none known to be likelier", bayes_risk(flat), prior_vulnerability(flat),
    )
    small = ages(records=2, hierarchy=Taxonomy("age", (("20", "*"), ("30", "*"))))
    yield (
        "abstract", "wrong", "deterministic publishing is said to reduce privacy; not if all is always suppressed",
        "Error_f for 2 rows, 2 ages, k = 2: at random, always suppressed",
        bayes_risk(small.randomized()), bayes_risk(small.deterministic("highest")),
    )


def _of_utility() -> Iterator[Erratum]:
    space = ages(records=4)
    channel = space.deterministic("highest")
    lost = space.degradation(channel)
    kept = channel.output_probability.astype(np.float64) @ space.utilities()[1]
    yield (
        "eq. 16, 20", "name", "the expected loss is called a utility: it is largest for the most damaging mechanism",
        "bits lost and bits left if ages are always suppressed, 4 rows", lost, kept,
    )
    pairs = space.hierarchies, (1,)
    yield (
        "eq. 8-15", "open", "H_max of a generalized attribute: with the original domain, tables gain by generalization",
        f"tables of {len(space.originals)} that gain if 4 ages are joined in pairs",
        _gaining(space.originals, *pairs, original_domain=True), _gaining(space.originals, *pairs),
    )
    uneven = Taxonomy("age", (("20", "20-40", "*"), ("30", "20-40", "*"), ("40", "20-40", "*"), ("50", "50", "*")))
    people = pd.DataFrame({"age": ["20", "20", "30", "40"], "disease": "Cold"})
    table = Tables.of(people, {"age": AGE.leaves, "disease": DISEASES[:2]})
    yield (
        "eq. 15", "wrong", "a degradation should not fall below 0; it can, whichever the domain, if groups are unequal",
        "utility of ages 20, 20, 30, 40, all Cold, in bits: as they are, as 20-40",
        average_utility(table)[0], average_utility(table.generalized((uneven,), (1,)))[0],
    )
    table = Tables.of(pd.DataFrame({"disease": ["Cold"] * 9 + ["Heart attack"]}), {"disease": DISEASES[:2]})
    belief = replace(table, counts=table.counts[:, ::-1])
    yield (
        "eq. 18", "wrong", "U_max stands where U_Bg is meant, so that no table is of use to anybody",
        "bits of use of 9 Cold, 1 Heart attack to somebody who knew nothing",
        average_utility(table, user=table)[0], average_utility(table)[0],
    )
    shares, believed = table.counts[0] / table.counts.sum(), belief.counts[0] / belief.counts.sum()
    yield (
        "eq. 19", "wrong", "a difference of entropies does not see what a user had wrong; the relative entropy does",
        "bits of use of 9 Cold, 1 Heart attack to somebody who believed the reverse",
        average_utility(table, user=belief)[0], (shares * np.log2(shares / believed)).sum(),
    )


def _of_counts() -> Iterator[Erratum]:
    cells = Tables.every({"row": ("a", "b")}, records=5)
    yield (
        "eq. 25", "wrong", "only tables of k floor(r/k) rows are counted, so it fails where k does not divide r",
        "2-anonymous tables of 5 rows of 2 kinds", printed_number_of_anonymous_tables(2, 5, 2),
        cells.anonymous(["row"], 2).sum(),
    )
    example = section_5()
    yield (
        "eq. 25", "wrong", "whole rows are grouped, though classes are formed by the quasi-identifiers alone",
        "2-anonymous tables of section 5.3, nothing generalized",
        printed_number_of_anonymous_tables(len(example.originals.kinds), example.records, example.k),
        example.originals.anonymous(["age", "gender"], example.k).sum(),
    )
    space = ages()
    originals = np.bincount(space.randomized().column, minlength=len(space.releases))
    most = int(originals.argmax())
    rows = space.distinct_rows(most)
    text = label(space.releases[most])
    yield (
        "section 5.5", "wrong", "the originals of a release are counted by a sum over its values, not by a product",
        f"originals of ({text})", sum(often * (kinds + 1) for kinds, often in rows), originals[most],
    )
    yield (
        "section 5.5", "wrong", "a plain product would count each order of equal rows apart",
        f"originals of ({text})", math.prod(kinds**often for kinds, often in rows), originals[most],
    )
    n, m = len(space.originals), len(space.releases)
    yield (
        "sections 5.3, 5.4", "wrong", "m and n change places, so that the bound 1 - m/n of 4.1 turns negative",
        f"{n} tables, {m} releases", 1 - n / m, 1 - m / n,
    )


def _of_the_setting() -> Iterator[Erratum]:
    channel = ages(records=4).randomized()
    orders = np.array([_orders(counts) for counts in channel.inputs.counts])
    drawn = channel.believing([f"{each}/{orders.sum()}" for each in orders])
    yield (
        "eq. 21", "open", "a uniform prior over tables as multisets is none over rows in order; here the former",
        "Error_f for 4 rows of 4 ages, k = 2", bayes_risk(drawn), bayes_risk(channel),
    )
    flat = Taxonomy("age", tuple((row[0], "*") for row in AGE.rows))
    counted = [SmallDomains((tree, GENDER), {"disease": DISEASES}, 5, 2).number_of_releases for tree in (flat, AGE)]
    yield (
        "figures 4, 5", "open", "the hierarchies are not in the text, so eq. 22-24 cannot be checked; here 4-2-1, 2-1",
        "2-anonymous releases of section 5.3: ages 4-1, ages 4-2-1", *counted,
    )


# fmt: on


def _gaining(
    tables: Tables, hierarchies: Sequence[Taxonomy], levels: Sequence[int], original_domain: bool = False
) -> Any:
    """How many tables look more useful generalized than before."""
    after = tables.generalized(hierarchies, levels)
    if original_domain:
        after = replace(after, domains=tables.domains)  # of which only the number of values matters
    return (average_utility(after) > average_utility(tables) + ROUNDING).sum()


def _orders(counts: IntArray) -> int:
    """In how many orders a table's rows can stand."""
    return math.factorial(counts.sum()) // math.prod(math.factorial(count) for count in counts)

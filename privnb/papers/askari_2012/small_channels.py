"""Askari et al.'s examples as tidy results: how likely an adversary who knows the algorithm guesses a small table.

Nobody's data are in it: all tables that there can be are listed, and every number is computed exactly, in fractions.
In the results `sanitizer` says what is published, `knows` what the adversary knew before, `target` what they guess.

Source: Askari, Safavi-Naini, Barker, CODASPY 2012, sections 4 and 5, and the appendix.
"""

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from privnb.evaluation.results import row, tidy
from privnb.measures.base import state
from privnb.measures.disclosure import channel as measures
from privnb.microdata.hierarchy import Taxonomy
from privnb.papers.askari_2012.enumeration import errata

TABLE, NOTHING = "the table", "knows nothing"
EITHER, POPULATION = "either attribute", "a population of both"
RANDOM, LOWEST, HIGHEST = "any level", "the lowest", "all suppressed"
K = 2
SPACES = {  # the hierarchies are assumed, see `errata.AGE`
    "2 rows, ages 2-1": partial(errata.ages, 2, K, Taxonomy("age", (("20", "*"), ("30", "*")))),
    "3 rows, ages 4-2-1": partial(errata.ages, 3, K),
    "4 rows, ages 4-2-1": partial(errata.ages, 4, K),
    "section 5.3": partial(errata.section_5, 5, K),
}


for _name in ("values_per_row", "tables", "anonymous_tables", "releases"):
    state(_name, format="{:,}")
for _name in ("prior_bayes_risk", "lowest_bayes_risk", "highest_bayes_risk"):
    state(_name, kind="privacy", better="higher", bounds=(0, 1), unit="probability", axis=True)
state("shannon_leakage", kind="privacy", bounds=(0, math.inf), unit="bits", format="{:g}", axis=True)
state("degradation", kind="utility", unit="bits", format="{:g}", axis=True)
state("user_utility", kind="utility", better="higher", unit="bits", format="{:g}", axis=True)
state("user_degradation", kind="utility", unit="bits", format="{:g}", axis=True)


def appendix() -> pd.DataFrame:
    """The appendix's two channels against an adversary who knows nothing of the four tables, and one who knows all.

    Rows as of `space`; `sanitizer` is "its mechanism", or "anything" for the channel that publishes any table.
    """
    priors = {NOTHING: None, "knows the table": [1, 0, 0, 0]}
    channels = {"its mechanism": errata.appendix, "anything": errata.uniform}
    cases = product(channels.items(), priors.items())
    return tidy(row for (name, made), (knows, prior) in cases for row in _rows("appendix", name, made(prior), knows))


def space(name: str) -> pd.DataFrame:
    """k-anonymity by full-domain generalization of one of `SPACES`, however one of the allowed levels is chosen.

    Rows of the `original`: `values_per_row`, `tables` that may go in, `anonymous_tables` among them. Rows of each
    choice of level: `bayes_risk`, how likely the guess of the whole table is wrong (baseline: without the release),
    between `lowest_bayes_risk` and `highest_bayes_risk`, which follow from the number of `releases` alone, and below
    `santhi_vardy_bound`; `posterior_vulnerability`, how likely it is right; `min_entropy_leakage` and `degradation` (of
    utility), in bits.
    """
    listed = SPACES[name]()
    quasi = [tree.name for tree in listed.hierarchies]
    counts = {
        "values_per_row": len(listed.originals.kinds),
        "tables": len(listed.originals),
        "anonymous_tables": listed.originals.anonymous(quasi, K).sum(),
    }
    rows = [_row(name, "original", measure, value) for measure, value in counts.items()]
    channels = {  # how one of the k-anonymous generalizations of a table may be chosen
        RANDOM: listed.randomized(), "rather low": listed.randomized("1/2"),
        LOWEST: listed.deterministic("lowest"), HIGHEST: listed.deterministic("highest"),
    }  # fmt: skip
    for chosen, channel in channels.items():
        rows += _rows(name, chosen, channel, k=K)
        rows.append(_row(name, chosen, "degradation", listed.degradation(channel), k=K))
    return tidy(rows)


def aims(name: str = "3 rows, ages 4-2-1") -> pd.DataFrame:
    """What adversaries gain who know of one person in the table, or who want something else than the exact table.

    Rows `expected_gain` of a level drawn at random, baseline: without the release. `target`: the table; a close one,
    with all but one row right; how many of its rows are right, as a share; the disease of somebody aged 20. What a
    close table is the paper does not say: the second and third are our reading.
    """
    listed = SPACES[name]()
    tables, rows = listed.originals, []
    common = tables.rows_in_common()
    wanted = {
        TABLE: common == listed.records,
        "all but one row": common >= listed.records - 1,
        "its rows": common * Fraction(1, listed.records),
        "a disease": tables.shares("disease", age="20"),
    }
    channel = listed.randomized()
    adversaries = {NOTHING: channel, "knows a person": channel.knowing(tables.holding(age="20", disease="Cold"))}
    for knows, known in adversaries.items():
        for target, gain in wanted.items():
            before, after = measures.prior_gain(known, gain), measures.posterior_gain(known, gain)
            asked = {"k": K, "knows": knows, "target": target}
            rows.append(_row(name, RANDOM, "expected_gain", after, baseline=before, **asked))
    return tidy(rows)


def users(name: str = "4 rows, ages 4-2-1") -> pd.DataFrame:
    """What tables tell users of attributes, by what they knew before and what interests them.

    Rows `user_utility` of the `original` and of what is published, `user_degradation`: what is lost, all means in bits.
    `knows`: nothing, or that half of all people are 20, or a population of which half knew either.
    `target`: what interests them: one attribute, U_max of eq. 13, or each alike, eq. 14. Who knew something has their
    own knowledge taken off, eq. 17-19, of releases in their labels. Population: eq. 20.
    """
    listed = SPACES[name]()
    channel, tables = listed.randomized(), listed.originals
    ages = np.where(tables.kinds[:, 0] == 0, 3, 1) / 12  # and either disease alike
    knowing = {NOTHING: None, "knows the ages": replace(tables, counts=ages[None])}
    wanted = {"age": {"age": 1}, "disease": {"disease": 1}, EITHER: None}
    mass, rows = (channel.prior, channel.output_probability), []
    for target, weights in wanted.items():
        for knows, user in knowing.items():
            utilities = listed.utilities(weights, user)
            means = [float(shares.astype(float) @ bits) for shares, bits in zip(mass, utilities, strict=True)]
            asked, after = {"knows": knows, "target": target}, partial(_row, name, RANDOM, k=K)
            rows += [
                _row(name, "original", "user_utility", means[0], **asked),
                after("user_utility", means[1], **asked, baseline=means[0]),
                after("user_degradation", means[0] - means[1], **asked),
            ]
        both = listed.degradation(channel, weights, [(0.5, user) for user in knowing.values()])
        rows.append(after("user_degradation", both, knows=POPULATION, target=target))
    return tidy(rows)


def _rows(name: str, sanitizer: str, channel: Any, knows: str = NOTHING, k: Any = None) -> Any:
    before, after = measures.prior_vulnerability(channel), measures.posterior_vulnerability(channel)
    lowest, highest = measures.error_bounds(channel)
    row = partial(_row, name, sanitizer, k=k, knows=knows, target=TABLE)
    return [
        row("releases", np.count_nonzero(channel.output_probability)),
        row("prior_vulnerability", before),
        row("prior_bayes_risk", 1 - before),
        row("posterior_vulnerability", after, baseline=before),
        row("bayes_risk", 1 - after, baseline=1 - before),
        row("lowest_bayes_risk", lowest),
        row("highest_bayes_risk", highest),
        row("santhi_vardy_bound", measures.santhi_vardy_bound(channel)),
        row("min_entropy_leakage", math.log2(after / before), baseline=0),
        row("shannon_leakage", measures.mutual_information(channel), baseline=0),
        row("multiplicative_capacity", measures.multiplicative_capacity(channel), baseline=1),
        row("additive_capacity", measures.additive_capacity(channel), baseline=0),
    ]


def _row(name: str, sanitizer: str, measure: str, value: Any, k: Any = None, **columns: Any) -> dict[str, Any]:
    if k is not None:
        columns |= {"parameters": f"k={k}", "parameter": "k", "bound": k}
    return row(measure, value, dataset=f"askari: {name}", sanitizer=sanitizer, **columns)

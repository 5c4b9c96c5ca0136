"""The examples of Askari et al. as tidy results about guesses of a small table by an adversary who knows the algorithm.

No example contains real data: all possible tables are listed, and every number is computed exactly, in fractions. In
the results, `sanitizer` describes the published table, `knows` is the prior knowledge of the adversary, and `target` is
the target of the guess.

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

from privnb.evaluation.results import build_row, tidy
from privnb.measures.base import register_measure
from privnb.measures.disclosure import channel as measures
from privnb.microdata.hierarchy import Taxonomy
from privnb.papers.askari_2012.enumeration import errata

TABLE, NOTHING = "the table", "knows nothing"
EITHER, POPULATION = "either attribute", "a population of both"
RANDOM, LOWEST, HIGHEST = "any level", "the lowest", "all suppressed"
K = 2
SPACES = {  # the hierarchies are assumed, see `errata.AGE`
    "2 rows, ages 2-1": partial(errata.age_domains, 2, K, Taxonomy("age", (("20", "*"), ("30", "*")))),
    "3 rows, ages 4-2-1": partial(errata.age_domains, 3, K),
    "4 rows, ages 4-2-1": partial(errata.age_domains, 4, K),
    "section 5.3": partial(errata.section_5_domains, 5, K),
}


for _name in ("values_per_row", "tables", "anonymous_tables", "releases"):
    register_measure(_name, format="{:,}")
for _name in ("prior_bayes_risk", "lowest_bayes_risk", "highest_bayes_risk"):
    register_measure(_name, kind="privacy", better="higher", bounds=(0, 1), unit="probability", axis=True)
register_measure("shannon_leakage", kind="privacy", bounds=(0, math.inf), unit="bits", format="{:g}", axis=True)
register_measure("degradation", kind="utility", unit="bits", format="{:g}", axis=True)
register_measure("user_utility", kind="utility", better="higher", unit="bits", format="{:g}", axis=True)
register_measure("user_degradation", kind="utility", unit="bits", format="{:g}", axis=True)


def measure_appendix() -> pd.DataFrame:
    """Return the results of the appendix's two channels for an adversary who knows nothing and one who knows the table.

    The measures are the same as in `measure_space`. The column `sanitizer` is "its mechanism" for the first channel,
    and "anything" for the uniform channel.
    """
    priors = {NOTHING: None, "knows the table": [1, 0, 0, 0]}
    channels = {"its mechanism": errata.appendix_channel, "anything": errata.uniform_channel}
    cases = product(channels.items(), priors.items())
    return tidy(row for (name, made), (knows, prior) in cases for row in _rows("appendix", name, made(prior), knows))


def measure_space(name: str) -> pd.DataFrame:
    """Return results of k-anonymity by full-domain generalization for one of `SPACES`, by the way to choose the level.

    The sanitizer `original` has the rows `values_per_row` (the number of possible rows), `tables` (the number of input
    tables) and `anonymous_tables` (the number of k-anonymous input tables). Each way to choose the level has the row
    `bayes_risk`, the probability that the best guess of the whole table is wrong; the baseline is the same probability
    without the release. This risk is between `lowest_bayes_risk` and `highest_bayes_risk`, which follow from the number
    of `releases`, and below `santhi_vardy_bound`. `posterior_vulnerability` is the probability that the guess is
    correct. `min_entropy_leakage` and `degradation`, the loss of utility, are in bits.
    """
    listed = SPACES[name]()
    quasi = [tree.name for tree in listed.hierarchies]
    counts = {
        "values_per_row": len(listed.originals.kinds),
        "tables": len(listed.originals),
        "anonymous_tables": listed.originals.anonymous(quasi, K).sum(),
    }
    rows = [_row(name, "original", measure, value) for measure, value in counts.items()]
    channels = {  # the ways to choose among the k-anonymous generalizations of a table
        RANDOM: listed.randomized(), "rather low": listed.randomized("1/2"),
        LOWEST: listed.deterministic("lowest"), HIGHEST: listed.deterministic("highest"),
    }  # fmt: skip
    for chosen, channel in channels.items():
        rows += _rows(name, chosen, channel, k=K)
        rows.append(_row(name, chosen, "degradation", listed.degradation(channel), k=K))
    return tidy(rows)


def measure_aims(name: str = "3 rows, ages 4-2-1") -> pd.DataFrame:
    """Return the gains of adversaries with and without knowledge of one person in the table, for several targets.

    The rows `expected_gain` are for a level that is drawn at random; the baseline is the gain without the release. The
    `target` is one of four: the table; a close table, in which all rows except one must be correct; the rows of the
    table, where the gain is the share of correct rows; or the disease of a person aged 20. The paper does not define a
    close table, so the second and the third target are our readings.
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
    adversaries = {NOTHING: channel, "knows a person": channel.restricted_to(tables.holding(age="20", disease="Cold"))}
    for knows, known in adversaries.items():
        for target, gain in wanted.items():
            before, after = measures.prior_gain(known, gain), measures.posterior_gain(known, gain)
            asked = {"k": K, "knows": knows, "target": target}
            rows.append(_row(name, RANDOM, "expected_gain", after, baseline=before, **asked))
    return tidy(rows)


def measure_users(name: str = "4 rows, ages 4-2-1") -> pd.DataFrame:
    """Return the information that tables give to users, by the prior knowledge and the interest of the users.

    The rows are `user_utility` of the `original` and of the release, and the difference `user_degradation`; all three
    are means in bits. The column `knows` is nothing, or that half of all people are aged 20, or a population of users
    (eq. 20) in which one half knows nothing and the other half knows this share. The column `target` is the attribute
    of interest (U_max of eq. 13), or both attributes with equal weights (eq. 14). The information that a user has
    before the release, expressed in the labels of the release, is subtracted (eq. 17-19).
    """
    listed = SPACES[name]()
    channel, tables = listed.randomized(), listed.originals
    ages = np.where(tables.kinds[:, 0] == 0, 3, 1) / 12  # with equal shares of the diseases
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
    return build_row(measure, value, dataset=f"askari: {name}", sanitizer=sanitizer, **columns)

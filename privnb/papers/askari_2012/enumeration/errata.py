"""The examples of Askari et al., and the errata of the paper, each with a computed counter-example.

Source: Askari, Safavi-Naini, Barker, "An information theoretic privacy and utility measure for data sanitization
mechanisms", CODASPY 2012.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np
import pandas as pd

from privnb.measures.disclosure.channel import bayes_risk, conditional_entropy, prior_vulnerability, santhi_vardy_bound
from privnb.measures.disclosure.channel_matrix import Channel, short_label
from privnb.measures.utility.attribute_utility import average_utility
from privnb.microdata.hierarchy import Taxonomy
from privnb.papers.askari_2012.enumeration.full_domain import SmallDomains
from privnb.papers.askari_2012.enumeration.tables import Tables
from privnb.runtime import numerals
from privnb.runtime.arrays import IntArray
from privnb.runtime.sentences import FullTable
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.wording import sentence_case

COLUMNS = ("place", "kind", "erratum", "example", "as printed", "here")
KINDS = {
    "wrong": "the printed formula or claim fails on the example",
    "open": "the text allows both readings; the second number is ours",
    "name": "the number is correct, but its name is not",
}


@dataclass(frozen=True)
class Erratum:
    """An erratum of the paper, as a row of a table.

    `claim`: the statement or formula of the paper; `where`: the place of the claim in the paper; `correction`: the
    correct statement or formula; `kind`: a key of `KINDS`; `example`: the example for which the two numbers are
    computed; `printed`: the number according to the printed text; `right`: the correct number.
    """

    claim: str
    where: str
    correction: str
    kind: str
    example: str
    printed: float
    right: float


# Figures 4 and 5 of the paper are missing from our copy of the text. The domains have 4 and 2 values (section 5.3). We
# assume that the ages are first joined in pairs, 4-2-1, and the sexes at once, 2-1.
AGE = Taxonomy("age", (("20", "20-30", "*"), ("30", "20-30", "*"), ("40", "40-50", "*"), ("50", "40-50", "*")))
GENDER = Taxonomy("gender", (("Male", "*"), ("Female", "*")))
DISEASES = ("Cold", "Heart attack", "Diabetes")


def appendix_channel(prior: Any = None) -> Channel:
    """Return the channel of the appendix, with four input and four output tables; the probabilities are fractions."""
    matrix = [
        ["5/17", "2/17", 0, "10/17"],
        [0, "20/35", "5/35", "10/35"],
        ["15/28", "5/28", "3/28", "5/28"],
        ["5/20", "8/20", 0, "7/20"],
    ]
    return Channel.of(matrix, prior, ("T1", "T2", "T3", "T4"), ("T'1", "T'2", "T'3", "T'4"))


def uniform_channel(prior: Any = None) -> Channel:
    """Return the second channel of the appendix, which may publish any of four outputs for each of four tables."""
    return Channel.of([["1/4"] * 4] * 4, prior)


def section_5_domains(records: int = 5, k: int = 2) -> SmallDomains:
    """Return the k-anonymous example of section 5.3 with age, gender and disease, with the hierarchies of `AGE`."""
    return SmallDomains((AGE, GENDER), {"disease": DISEASES}, records, k)


def age_domains(records: int = 3, k: int = 2, hierarchy: Taxonomy = AGE) -> SmallDomains:
    """Return a smaller example whose tables can all be listed, with one quasi-identifier and two sensitive values."""
    return SmallDomains((hierarchy,), {"disease": DISEASES[:2]}, records, k)


def compute_printed_error(channel: Channel) -> float:
    """Return eq. 3 as printed, with the posterior P(T|T') instead of the likelihood P(T'|T), for a uniform prior."""
    return 1 - (channel.max_by_output(channel.joint) / channel.output_probability).sum() / len(channel.inputs)


def count_tables_as_printed(kinds: int, records: int, k: int) -> int:
    """Return eq. 25 as printed, for `kinds` possible rows."""
    groups = records // k
    return sum(comb(kinds, groups - i) * comb(groups - i + i * k - 1, i * k) for i in range(groups))


def list_errata() -> list[Erratum]:
    """Return the errata, with computed numbers."""
    found = [*_errata_of_privacy(), *_errata_of_utility(), *_errata_of_counts(), *_errata_of_setting()]
    return [replace(each, printed=float(each.printed), right=float(each.right)) for each in found]


def tabulate_errata() -> pd.DataFrame:
    """Return the errata as a frame with one row per erratum. Use `list_errata` to obtain typed records."""
    rows = [
        (each.where, each.kind, f"{each.claim}; {each.correction}", each.example, each.printed, each.right)
        for each in list_errata()
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def show_errata() -> FullTable:
    """Return, for display, a table of the errata: claim, place, example, printed number and correct number."""
    rows = [
        (
            f"{sentence_case(each.claim)}.",
            each.where,
            f"{sentence_case(each.correction)}.",
            each.kind,
            sentence_case(each.example),
            *(f"{number:.6g}".replace("-", numerals.MINUS) for number in (each.printed, each.right)),
        )
        for each in list_errata()
    ]
    columns = ["text of the paper", "where", "what holds", "kind", "example", "printed", "right"]
    return FullTable(pd.DataFrame(rows, columns=columns), f"{len(rows)} errata")


def _errata_of_privacy() -> Iterator[Erratum]:
    channel, flat = appendix_channel(), uniform_channel()
    uncertainty, nats = conditional_entropy(channel), conditional_entropy(flat) * math.log(2)
    yield Erratum(
        claim="the error of an adversary uses the posterior P(T|T')",
        where="eq. 3",
        correction="it needs the likelihood P(T'|T)",
        kind="wrong",
        example="Error_f of the channel in the appendix",
        printed=compute_printed_error(channel),
        right=bayes_risk(channel),
    )
    yield Erratum(
        claim="the entropy has no minus sign, so the bound of eq. 6 is negative",
        where="eq. 7",
        correction="the entropy is the negative sum",
        kind="wrong",
        example="the bound for the channel in the appendix",
        printed=1 - 2**uncertainty,
        right=santhi_vardy_bound(channel),
    )
    yield Erratum(
        claim="the logarithm has no base; with the natural logarithm the bound is below the error, 0.75",
        where="eq. 6",
        correction="the logarithm has base 2",
        kind="wrong",
        example="the bound for the uniform channel in the appendix",
        printed=1 - 2**-nats,
        right=santhi_vardy_bound(flat),
    )
    yield Erratum(
        claim="the success rate of a blind guess is 1 - 1/n",
        where="section 4.1.1",
        correction="1 - 1/n is the error of the guess, and its success rate is 1/n",
        kind="wrong",
        example="four equally likely tables",
        printed=bayes_risk(flat),
        right=prior_vulnerability(flat),
    )
    small = age_domains(records=2, hierarchy=Taxonomy("age", (("20", "*"), ("30", "*"))))
    yield Erratum(
        claim="deterministic publishing reduces privacy",
        where="abstract",
        correction="it does not if all quasi-identifiers are always suppressed",
        kind="wrong",
        example="Error_f for 2 rows, 2 ages and k = 2, with random and with full suppression",
        printed=bayes_risk(small.randomized()),
        right=bayes_risk(small.deterministic("highest")),
    )


def _errata_of_utility() -> Iterator[Erratum]:
    space = age_domains(records=4)
    channel = space.deterministic("highest")
    lost = space.degradation(channel)
    kept = channel.output_probability.astype(np.float64) @ space.utilities()[1]
    yield Erratum(
        claim="the expected loss is called a utility, although the most damaging mechanism has the largest one",
        where="eq. 16, 20",
        correction="the number is a loss of utility",
        kind="name",
        example="bits lost and bits left if the ages of 4 rows are always suppressed",
        printed=lost,
        right=kept,
    )
    pairs = space.hierarchies, (1,)
    yield Erratum(
        claim="H_max of a generalized attribute does not name its domain; with the original domain, generalization "
        "increases the utility of tables",
        where="eq. 8-15",
        correction="we use the generalized domain",
        kind="open",
        example=f"tables, of {len(space.originals)}, that gain utility if 4 ages are joined in pairs",
        printed=_count_gaining(space.originals, *pairs, original_domain=True),
        right=_count_gaining(space.originals, *pairs),
    )
    uneven = Taxonomy("age", (("20", "20-40", "*"), ("30", "20-40", "*"), ("40", "20-40", "*"), ("50", "50", "*")))
    people = pd.DataFrame({"age": ["20", "20", "30", "40"], "disease": "Cold"})
    table = Tables.of(people, {"age": AGE.leaves, "disease": DISEASES[:2]})
    yield Erratum(
        claim="a degradation is never negative",
        where="eq. 15",
        correction="it can be negative with either domain if the groups have unequal sizes",
        kind="wrong",
        example="bits of utility of the ages 20, 20, 30, 40, all with Cold: exact, and generalized to 20-40",
        printed=average_utility(table)[0],
        right=average_utility(table.generalized((uneven,), (1,)))[0],
    )
    table = Tables.of(pd.DataFrame({"disease": ["Cold"] * 9 + ["Heart attack"]}), {"disease": DISEASES[:2]})
    belief = replace(table, counts=table.counts[:, ::-1])
    yield Erratum(
        claim="the formula contains U_max, so no table is useful to anybody",
        where="eq. 18",
        correction="it needs U_Bg",
        kind="wrong",
        example="bits of utility of 9 Cold and 1 Heart attack for a user without prior knowledge",
        printed=average_utility(table, user=table)[0],
        right=average_utility(table)[0],
    )
    shares, believed = table.counts[0] / table.counts.sum(), belief.counts[0] / belief.counts.sum()
    yield Erratum(
        claim="a difference of entropies measures what a user learns, but it ignores wrong beliefs",
        where="eq. 19",
        correction="the relative entropy includes wrong beliefs",
        kind="wrong",
        example="bits of utility of 9 Cold and 1 Heart attack for a user who believed the reverse",
        printed=average_utility(table, user=belief)[0],
        right=(shares * np.log2(shares / believed)).sum(),
    )


def _errata_of_counts() -> Iterator[Erratum]:
    cells = Tables.every({"row": ("a", "b")}, records=5)
    yield Erratum(
        claim="only tables of k floor(r/k) rows are counted",
        where="eq. 25",
        correction="the formula fails if k does not divide r",
        kind="wrong",
        example="2-anonymous tables of 5 rows of 2 kinds",
        printed=count_tables_as_printed(2, 5, 2),
        right=cells.anonymous(["row"], 2).sum(),
    )
    example = section_5_domains()
    yield Erratum(
        claim="equal whole rows form a class",
        where="eq. 25",
        correction="only the quasi-identifiers form classes",
        kind="wrong",
        example="2-anonymous tables of section 5.3 without generalization",
        printed=count_tables_as_printed(len(example.originals.kinds), example.records, example.k),
        right=example.originals.anonymous(["age", "gender"], example.k).sum(),
    )
    space = age_domains()
    originals = np.bincount(space.randomized().column, minlength=len(space.releases))
    most = int(originals.argmax())
    rows = space.distinct_rows(most)
    text = short_label(space.releases[most])
    yield Erratum(
        claim="the number of originals of a release is a sum over its values",
        where="section 5.5",
        correction="it is a product",
        kind="wrong",
        example=f"originals of ({text}), as a sum",
        printed=sum(often * (kinds + 1) for kinds, often in rows),
        right=originals[most],
    )
    yield Erratum(
        claim="a product with one factor per row counts equal rows in every order",
        where="section 5.5",
        correction="the product must ignore the order of equal rows",
        kind="wrong",
        example=f"originals of ({text}), as a product over rows",
        printed=math.prod(kinds**often for kinds, often in rows),
        right=originals[most],
    )
    n, m = len(space.originals), len(space.releases)
    yield Erratum(
        claim="the letters m and n have the opposite meaning of section 4.1, which makes its bound 1 - m/n negative",
        where="sections 5.3, 5.4",
        correction="the number of tables is n, and the number of releases is m",
        kind="wrong",
        example=f"the bound for {n} tables and {m} releases",
        printed=1 - n / m,
        right=1 - m / n,
    )


def _errata_of_setting() -> Iterator[Erratum]:
    channel = age_domains(records=4).randomized()
    orders = np.array([_count_orders(counts) for counts in channel.inputs.counts])
    drawn = channel.with_prior([f"{each}/{orders.sum()}" for each in orders])
    yield Erratum(
        claim="the prior is uniform over tables, but tables may be multisets or ordered rows",
        where="eq. 21",
        correction="we use multisets; a prior that is uniform over multisets is not uniform over ordered rows",
        kind="open",
        example="Error_f for 4 rows of 4 ages and k = 2: ordered rows, multisets",
        printed=bayes_risk(drawn),
        right=bayes_risk(channel),
    )
    flat = Taxonomy("age", tuple((row[0], "*") for row in AGE.rows))
    counted = [SmallDomains((tree, GENDER), {"disease": DISEASES}, 5, 2).number_of_releases for tree in (flat, AGE)]
    yield Erratum(
        claim="the text lacks the hierarchies, so eq. 22-24 cannot be checked",
        where="figures 4, 5",
        correction="we use 4-2-1 for age and 2-1 for gender",
        kind="open",
        example="2-anonymous releases of section 5.3 with ages 4-1 and with ages 4-2-1",
        printed=counted[0],
        right=counted[1],
    )


def _count_gaining(
    tables: Tables, hierarchies: Sequence[Taxonomy], levels: Sequence[int], original_domain: bool = False
) -> Any:
    """Return the number of tables with a larger `average_utility` after generalization than before generalization."""
    after = tables.generalized(hierarchies, levels)
    if original_domain:
        after = replace(after, domains=tables.domains)  # only the number of values matters
    return (average_utility(after) > average_utility(tables) + ROUNDING).sum()


def _count_orders(counts: IntArray) -> int:
    """Return the number of distinct orders of the rows of a table, given the count of each kind of row."""
    return math.factorial(counts.sum()) // math.prod(math.factorial(count) for count in counts)

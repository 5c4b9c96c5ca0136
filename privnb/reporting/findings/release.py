"""What a table and its releases are like: who stands out, what sanitizing costs."""

import numpy as np

from privnb.microdata import expect
from privnb.microdata.names import names_in
from privnb.microdata.sentences import B, say
from privnb.reporting.findings.base import from_to, listed, of, share


def who_stands_out(results):
    """How many people are unique, and which two facts identify most."""
    expect.these(results=results)
    unique = of(results, "unique").assign(known=lambda r: r.knows.map(names_in).map(len))
    whole = unique.loc[unique.known.idxmax()]
    pairs = unique[unique.known == min(2, unique.known.max())].dropna(subset="value")
    records = of(results, "records").value.iloc[0]
    near = f"95 % interval {whole.low:.1%} to {whole.high:.1%}"
    near = "so few that their number is withheld" if np.isnan(whole.value) else near
    sentences = [
        f"{B}{share(whole)} of the {records:,.0f} people are the only one with their {whole.known} "
        f"quasi-identifiers{B} ({near}): whoever knows those finds their "
        "record in an unsanitized release. Without any release nobody is singled out; lower is better."
    ]
    if len(pairs):
        worst = pairs.loc[pairs.value.idxmax()]
        few = listed(names_in(worst.knows))
        sentences.append(f"To know no more than {few} is enough to single out {share(worst)} of them.")
    return say(*sentences)


def what_it_costs(results):
    """What generalization and noise cost, and whether every k that was asked for was reached."""
    expect.these(results=results)
    sentences = []
    cost = of(results, "certainty_penalty")
    cost = cost[cost.sanitizer == "KMember"]
    if len(cost):
        sentences.append(
            f"{B}A published cell spans {from_to(cost, '.0%')} of its attribute's domain on average.{B} 0 % keeps "
            "every value, 100 % is the table without quasi-identifiers; lower keeps more."
        )
        reached = of(results, "k_achieved").query("sanitizer == 'KMember'")
        levels = ", ".join(f"{row.value:.0f} ({row.parameters})" for row in reached.itertuples())
        sentences.append(f"The smallest class, counted anew from the published labels, has this many people: {levels}.")
    noise = of(results, "mean_absolute_error")
    if len(noise):
        sentences.append(
            f"Noise moves a number by {from_to(noise, '.1f')} times the width of its whole domain, and leaves every "
            "other column as it is."
        )
    return say(*sentences)


def what_detail_remains(results):
    """Which sanitizer keeps most detail at the strictest bound of each kind, and which least."""
    expect.these(results=results)
    sentences = []
    for letter, part in results.groupby("parameter", sort=False):
        bound = part.bound
        # A larger k or l asks for more, a smaller t does.
        strictest = part[bound == (bound.min() if letter == "t" else bound.max())]
        best, worst = strictest.loc[strictest.value.idxmin()], strictest.loc[strictest.value.idxmax()]
        sentences.append(
            f"{B}At {strictest.parameters.iloc[0].split(', suppress')[0]} a cell spans {best.value:.1%} of its domain "
            f"under {best.sanitizer} and {worst.value:.1%} under {worst.sanitizer}.{B}"
        )
    sentences.append(
        "All of them keep the same bound; lower keeps more detail. What that detail is worth to a miner is "
        "measured in the next notebook, not here."
    )
    return say(*sentences)

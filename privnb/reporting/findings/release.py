"""What a table and its releases are like: who stands out, what sanitizing costs."""

from privnb.microdata import expect
from privnb.microdata.names import names_in
from privnb.reporting.findings.base import Finding, extremes, report
from privnb.reporting.findings.rows import listed, of, setting_name


def uniqueness(results):
    """How many people are unique, and which two facts identify most."""
    expect.these(results=results)
    unique = of(results, "unique").assign(known=lambda r: r.knows.map(names_in).map(len))
    whole, records = unique.loc[unique.known.idxmax()], of(results, "records").value.iloc[0]
    pairs = unique[unique.known == min(2, unique.known.max())].dropna(subset="value").nlargest(1, "value")
    beside = {f"by {listed(names_in(row.knows))} alone": row.value for row in pairs.itertuples()}
    return report(
        Finding.of(
            whole,
            f"Of {records:,.0f} people unique by their {whole.known} quasi-identifiers",
            beside=beside,
            setting="",
            note="An adversary who knows these finds their record in the original.",
        )
    )


def release_costs(results):
    """What generalization and noise cost, and the smallest class of each release."""
    expect.these(results=results)
    classes = of(results, "k_achieved", sanitizer="KMember")
    sizes = listed([f"{row.value:.0f} ({setting_name(row)})" for row in classes.itertuples()] or ["none"])
    note = f"People in the smallest class, counted anew from the published labels: {sizes}." if len(classes) else ""
    return report(
        *extremes(
            of(results, "certainty_penalty", sanitizer="KMember"), "A published cell spans on average", note=note
        ),
        *extremes(of(results, "mean_absolute_error"), "Noise moves a number on average by"),
        *extremes(of(results, "change_rate"), "Noise changes a category"),
    )


def remaining_detail(results):
    """Which sanitizer keeps most detail at the strictest bound of each kind, and which least."""
    expect.these(results=results)
    found = []
    for letter, part in results.groupby("parameter", sort=False):
        # A larger k or l asks for more, a smaller t does.
        strictest = part[part.bound == (part.bound.min() if letter == "t" else part.bound.max())]
        found += extremes(strictest, f"At {letter}={strictest.bound.iloc[0]:g} a cell spans at most")
    return report(*found, "The next notebook measures what that detail is worth to a miner.")

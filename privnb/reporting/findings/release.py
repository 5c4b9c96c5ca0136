"""What a table and its releases are like: who stands out, what sanitizing costs."""

from privnb.microdata.names import names_in
from privnb.reporting.findings.base import Finding, extremes, of_results
from privnb.reporting.findings.rows import listed, of, setting_name


@of_results("unique", "records", otherwise="These results do not say who is unique.")
def uniqueness(results):
    """How many people are unique, and which two facts identify most."""
    unique = of(results, "unique").assign(known=lambda r: r.knows.map(names_in).map(len))
    whole, records = unique.loc[unique.known.idxmax()], of(results, "records").value.iloc[0]
    pairs = unique[unique.known == min(2, whole.known)].dropna(subset="value").nlargest(1, "value")
    yield Finding.of(
        whole,
        f"Unique by all {whole.known} quasi-identifiers",
        beside={f"by {listed(names_in(row.knows))} alone": row.value for row in pairs.itertuples()},
        format=f"{{:.1%}} of {records:,.0f} people",
        setting="",
        note="An adversary who knows these finds their record in the original.",
    )


@of_results(otherwise="These results do not say what sanitizing costs.")
def release_costs(results):
    """What generalization and noise cost, and the smallest class of each release."""
    classes = of(results, "k_achieved", sanitizer="KMember")
    sizes = [f"{row.value:.0f} ({setting_name(row)})" for row in classes.itertuples()]
    note = f"People in the smallest class, counted again from the published labels: {listed(sizes)}." if sizes else ""
    yield from extremes(
        of(results, "certainty_penalty", sanitizer="KMember"), "A published cell spans on average", note=note
    )
    yield from extremes(of(results, "mean_absolute_error"), "Noise moves a number on average by")
    yield from extremes(of(results, "change_rate"), "Noise changes a category")


@of_results(otherwise="These results have no sanitizer at several bounds.")
def remaining_detail(results):
    """Which sanitizer keeps most detail at the strictest bound of each kind, and which least."""
    for letter, part in results.dropna(subset="bound").groupby("parameter", sort=False):
        # A larger k or l asks for more, a smaller t does.
        strictest = part[part.bound == (part.bound.min() if letter == "t" else part.bound.max())]
        yield from extremes(strictest, f"At {letter}={strictest.bound.iloc[0]:g} a cell spans at most")

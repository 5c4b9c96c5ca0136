"""What a table and its releases are like: who stands out, what sanitizing costs."""

from privnb.microdata.names import names_in
from privnb.microdata.sentences import B
from privnb.reporting.findings.base import Finding, extremes, of_results
from privnb.reporting.findings.rows import capitalized, listed, of, setting_name

NOBODY = (
    "The description gives this table no quasi-identifier: nobody is singled out by what others know. Give each column "
    "that others may know that role."
)


@of_results("unique", "records", otherwise=NOBODY)
def uniqueness(results):
    """How many people are unique, and which two facts identify most."""
    unique, records = of(results, "unique"), of(results, "records").value.iloc[0]
    known = unique.knows.map(names_in).map(len)
    whole, pairs = unique.loc[known.idxmax()], unique[known == min(2, known.max())].dropna(subset="value")
    alone = Finding("", *whole[["value", "low", "high"]], f"{{:.1%}} of {records:,.0f} people")
    answer = (
        f"{alone.text} stand alone: nobody else has their values of all {known.max()} quasi-identifiers. A blind guess "
        f"finds 1 record in {records:,.0f}."
    )
    for pair in pairs.nlargest(1, "value").itertuples():
        names = capitalized(listed(names_in(pair.knows)))
        answer += f" {B}{names}{B} alone single{'' if known.max() > 1 else 's'} out {Finding.of(pair).number}."
    yield answer


@of_results("certainty_penalty", otherwise="These results have no sanitizer at several bounds.")
def release_costs(results):
    """Which sanitizer keeps most detail at the strictest bound of each kind, and which least."""
    answer, details = "", []
    for letter, part in results.dropna(subset="bound").groupby("parameter", sort=False):
        # A larger k or l asks for more, a smaller t does.
        strictest = part[part.bound == (part.bound.min() if letter == "t" else part.bound.max())]
        details += extremes(strictest, f"At {letter} = {strictest.bound.iloc[0]:g} a cell spans at most")
        known = strictest.dropna(subset="value").sort_values("value", kind="stable")
        if not answer and len(known):
            least, most = (known.iloc[end] for end in (0, -1))
            answer = (
                f"A published cell spans {Finding.of(least).text} under {setting_name(least)}, and "
                f"{Finding.of(most).text} under {setting_name(most)}. The original spans 0%; a table without "
                "quasi-identifiers spans 100%."
            )
    yield answer
    yield details

"""What channels tell: how likely the table is guessed, which attributes give a person away, what each release leaks."""

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

import numpy as np
import pandas as pd

from privnb.evaluation.results import Results, over_seeds, setting_name
from privnb.measures import facts
from privnb.papers.askari_2012.enumeration.errata import COLUMNS, KINDS
from privnb.papers.askari_2012.small_channels import HIGHEST, LOWEST, RANDOM
from privnb.reporting.findings.base import Finding, of_results
from privnb.reporting.findings.rows import capitalized, of, sanitized, settings
from privnb.runtime import expect
from privnb.runtime.names import names_in
from privnb.runtime.sentences import B, E, listed
from privnb.sanitizers.catalogue import group


@of_results(otherwise="These results do not say what any release leaks.")
def leakage(results: Results) -> Iterator[Any]:
    """How likely a small table is guessed, which attributes of this one give a person away, and what releases leak."""
    rows = of(results, "identity_vulnerability")
    person = ""
    if (top := _most_known(_known(rows))) is not None:
        person = f"Here {listed(names_in(top.knows))} lead to the row of {Finding.of(top, guess='by chance').text}."
    yield " ".join(filter(None, [_table(results), person]))
    rows = _known(over_seeds(sanitized(rows[rows.knows == ""])))
    tops = rows.loc[rows.groupby(rows.sanitizer.map(group), sort=False)["at"].idxmax()]
    yield [
        Finding.of(top, f"{facts(top.measure).title}, worst of {group(top.sanitizer)}") for _, top in tops.iterrows()
    ]
    absent = of(results, "classes", status="not possible")
    if len(absent):
        yield f"{settings(absent)}: not possible on this table, so there is no leakage to state."


def _table(results: pd.DataFrame) -> str:
    """How likely the adversary guesses the right one of all small tables of the largest space that is listed."""
    tables = of(results, "tables").set_index("dataset").value
    rows = of(results, "posterior_vulnerability", sanitizer=RANDOM)
    for row in rows[rows.dataset.isin(tables.index)][-1:].itertuples():
        many = f"{tables[row.dataset]:,.0f}"
        found = Finding("", row.value, format="{:.1%}", beside={"a blind guess": f"1 in {many}"})
        said = "Knowing the algorithm, an adversary guesses the right one of"
        return f"{said} {many} small tables with probability {found.text}."
    return ""


@of_results("bayes_risk", "degradation", otherwise="These results list no small tables.")
def random_levels(results: Results) -> Iterator[Any]:
    """Whether a level drawn at random protects small tables more than a fixed one, and what it costs in utility."""
    named = pd.MultiIndex.from_product([["bayes_risk", "degradation"], [RANDOM, LOWEST, HIGHEST]])
    wide = results.pivot_table(index="dataset", columns=["measure", "sanitizer"], values="value", sort=False)
    wide = wide.reindex(columns=named).dropna()
    if wide.empty:
        return
    risk, lost, spaces = wide["bayes_risk"], wide["degradation"], len(wide)
    low, high = (int((risk[level] < risk[RANDOM]).sum()) for level in (LOWEST, HIGHEST))
    claim = "Whether deterministic publishing reduces privacy differs by space"
    if (low, high) == (spaces, 0):
        claim = "Deterministic publishing as such does not reduce privacy: what counts is the level"
    yield (
        f"{B}{claim}.{B} Always the lowest level is easier to guess than a random one in {low} of {spaces} spaces, "
        f"and always suppressing all in {high}."
    )
    if (np.argsort(risk.to_numpy()) == np.argsort(lost.to_numpy())).all():
        yield f"In all {spaces} spaces what is harder to guess loses more utility."


@of_results()
def errata(
    errata: Annotated[pd.DataFrame, partial(expect.table, columns=COLUMNS, instead="`errata.errata` gives one.")],
) -> Iterator[Any]:
    """Each erratum of the paper with its counter-example: the number as printed and the number that it should be."""
    yield (
        "After each example stand two numbers: as printed, or the first that the example names; as it should be, or "
        "the second. " + " ".join(f"{E}{kind}{E}: {means}." for kind, means in KINDS.items())
    ).replace("under `here`", "the second")
    for number, row in enumerate(errata.to_dict("records"), start=1):
        yield (
            f"{number}. {B}{capitalized(row['place'])}{B} ({E}{row['kind']}{E}): {row['erratum']}. "
            f"{capitalized(row['example'])}: {B}{row['as printed']:.6g}, {row['here']:.6g}{B}."
        )


def most_revealing(rows: pd.DataFrame) -> Finding | None:
    """Which two attributes of the original tell most, beside all of them and beside each release; None without it.

    `rows`: of one measure, one row per release and set of known attributes.
    """
    rows = _known(rows)
    if (top := _most_known(rows)) is None:
        return None
    names, original = names_in(top.knows), rows[rows.sanitizer == "Identity"]
    secret = "row" if top.measure == "identity_vulnerability" else top.target
    every = original.loc[original.knows.map(names_in).map(len).idxmax()]
    others = {}
    if every.knows != top.knows:
        others[f"all {len(names_in(every.knows))} attributes"] = Finding.of(every).number
    # Labels that overlap do not say which cell is a person's, so that a release may tell less.
    for row in sanitized(rows[rows.knows == top.knows]).itertuples():
        of_these = "these two" if names[1:] else "it alone"
        others[f"{of_these} under {setting_name(row)}, at most"] = row.value if pd.notna(row.value) else row.high
    who = f"Of any two attributes, {listed(names)} tell" if names[1:] else f"{capitalized(names[0])} tells"
    subject = f"{who} most of a person's {secret}"
    return Finding.of(top, subject, setting="the original", beside=others)


def _most_known(rows: pd.DataFrame) -> pd.Series | None:
    """The row of the two attributes of the original that tell most, of one where no two are; None without any."""
    rows = rows[(rows.sanitizer == "Identity") & (rows.knows != "")]
    sizes = rows.knows.map(names_in).map(len)
    rows = rows[sizes == min(2, sizes.max())]
    return None if rows.empty else rows.loc[rows["at"].idxmax()]


def _known(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with the number that they are compared by, `at`: of a withheld one its lower bound; others are left out."""
    return rows.assign(at=rows.value.fillna(rows.low)).dropna(subset=["at", "baseline"])

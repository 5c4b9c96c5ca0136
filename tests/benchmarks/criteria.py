"""Singling out, linkability and inference in excess of a hold-out: `python criteria.py NAME`, next to anonymeter.

Both tools have the same three tables, the same parts and the same numbers of attacks. Every person of the table and of
the hold-out is attacked, so that only predicates and ties are drawn. A row of results is one criterion, with the excess
and its 95% interval in `parameters`; all its steps are timed except for the reading of the tables.
"""

import sys
from typing import NamedTuple

from measure import report, system, timed

PEOPLE, ROWS = 2000, 10_000
COPIES = 0, 40  # per cent of the people whose record is a row of the release
NUMBERS = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week")
WORDS = ("workclass", "marital-status", "race", "sex", "native-country", "occupation")
SECRET = "occupation"
PARTS = (
    ("age", "workclass", "capital-gain", "race", "sex"),
    ("education-num", "marital-status", "capital-loss", "hours-per-week", "native-country"),
)


class Work(NamedTuple):
    name: str
    records: int
    parameters: str
    peers: tuple = ("anonymeter",)
    k: tuple = ()
    needs: str = ""


def works():
    for copies in COPIES:
        yield Work(f"criteria-{copies}", ROWS, f"{copies}% of {PEOPLE} people copied", needs=f"criteria-{copies}")


def tables(copies):
    """Return the people, the released rows and the hold-out as a DataFrame with the column `part`."""
    import numpy as np
    import pandas as pd

    from privnb.datasets.dataset import DatasetDescription, find_description, read_cells

    chosen = DatasetDescription.of(find_description("adult"), None)
    whole = chosen.cleaned(read_cells(chosen.path.parent, chosen.text))[[*NUMBERS, *WORDS]].dropna()
    order = np.random.default_rng(1).permutation(len(whole))
    people, others, rest = np.split(order, [PEOPLE, 2 * PEOPLE])
    number = PEOPLE * copies // 100
    rows = np.concatenate([people[:number], rest[: ROWS - number]])
    parts = {"people": people, "release": np.random.default_rng(2).permutation(rows), "others": others}
    return pd.concat([whole.iloc[each].assign(part=name) for name, each in parts.items()], ignore_index=True)


def case(copies):
    """Return the case of a release of synthetic rows, and the game of its hold-out."""
    from pathlib import Path
    from tempfile import mkdtemp

    from privnb.datasets.dataset import Dataset, DatasetDescription, find_description
    from privnb.evaluation.evaluation_loop import Case
    from privnb.evaluation.risks.membership import MembershipGame
    from privnb.microdata.hierarchy import flat
    from privnb.microdata.schema import Role
    from privnb.sanitizers.made_elsewhere import MadeElsewhere

    whole, folder = tables(copies), Path(mkdtemp())
    chosen = DatasetDescription.of(find_description("adult"), None)
    roles = dict.fromkeys([*NUMBERS, *WORDS], Role.QUASI_IDENTIFIER) | {SECRET: Role.SENSITIVE}
    schema = chosen.columns.with_roles(roles)
    names = [name for name in schema.names() if name in roles]
    parts = {part: whole[whole.part == part][names].reset_index(drop=True) for part in ("people", "release", "others")}
    for part, table in parts.items():
        table.to_csv(folder / f"{part}.csv", index=False)
    hierarchies = {name: flat(schema[name]) for name in schema.quasi_identifiers}
    dataset = Dataset("adult", parts["people"], schema, hierarchies)
    release = MadeElsewhere(str(folder / "release.csv"), rows="synthetic", holdout=str(folder / "others.csv"))
    found = Case(dataset, release, 1)
    return found, MembershipGame.of(found), found.published[0]


def main(name):
    from privnb.evaluation.risks.criteria import ExcessInference, ExcessLinkability, ExcessSinglingOut
    from privnb.measures.disclosure.residual_risk import residual_risk

    given = case(int(name.removeprefix("criteria-")))
    rows = []
    for question in ExcessSinglingOut(), ExcessLinkability(PARTS), ExcessInference(SECRET):
        found, taken = timed(lambda question=question: question.attack(*given), warm=True)
        variants = ", ".join(f"{variant} {excess(*residual_risk(*each[:4]))}" for variant, each in found)
        called = question.primary_measure.removeprefix("excess_").replace("_", " ")
        rows.append({"system": f"{system('privnb')}, {called}", "parameters": variants.strip()} | taken)
    report(*rows)


def excess(value, low, high):
    """Write an excess with its interval."""
    return f"{value:.3f} ({low:.3f} to {high:.3f})"


if __name__ == "__main__":
    main(*sys.argv[1:])

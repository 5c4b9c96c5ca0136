"""The ledger as a page: each table and figure as its paper prints it, what was measured below each printed number.

What is shown is chosen with radio buttons and CSS alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib import resources
from math import isinf
from typing import Any

import pandas as pd

from privnb.evaluation.results import COLUMNS
from privnb.papers import full_profile
from privnb.papers.ledger import STATUSES, compare, read_published, same_digits
from privnb.reporting import rendering

PAPERS = {
    "sramka-2010": "Sramka, Safavi-Naini, Denzinger, Askari: A Practice-oriented Framework for Measuring Privacy and "
    "Utility in Data Sanitization Systems. PAIS 2010",
    "brickell-shmatikov-2008": "Brickell, Shmatikov: The Cost of Privacy: Destruction of Data-Mining Utility in "
    "Anonymized Data Publishing. KDD 2008",
    "li-li-2009": "Li, Li: On the Tradeoff Between Privacy and Utility in Data Publishing. KDD 2009",
    "askari-2012": "Askari, Safavi-Naini, Barker: An Information Theoretic Privacy and Utility Measure for Data "
    "Sanitization Mechanisms. CODASPY 2012",
    "aggarwal-yu-2008": "Aggarwal, Yu (editors): Privacy-Preserving Data Mining: Models and Algorithms. Springer 2008",
}
IN_WORDS = {"within": "within the tolerance", "differs": "off by more than the tolerance"}  # after a number
HERE, FULL, NOT_RUN, OUT = "measured here", "measured by a longer run", "not measured in this run", "out of reach"
GROUPS = (HERE, FULL, NOT_RUN, OUT)
Cell = dict[str, Any]  # a row of the ledger, or a part of the page
MEASURED = "measured"  # how the first reading of a cell is called


@dataclass(frozen=True, eq=False)
class Ledger:
    """The printed numbers beside what the notebooks of a report measured.

    `compared`: a table of `ledger.compare`; with a column `notebook`, the name of the one that measured each number.
    """

    compared: pd.DataFrame

    @classmethod
    def of(cls, tables: Mapping[str, pd.DataFrame]) -> "Ledger":
        """Compare the results of notebooks, by name, each of which ran in the setting of its paper."""
        printed = read_published()
        results = pd.concat([*tables.values()], ignore_index=True) if tables else pd.DataFrame(columns=COLUMNS)
        compared = compare(results, printed)
        compared["notebook"] = ""
        for name, table in tables.items():  # the first that measures a number is named
            left = compared.index[compared["measured"].notna() & (compared["notebook"] == "")]
            own = compare(table, printed.loc[left])["measured"].notna()
            compared.loc[left[own.to_numpy()], "notebook"] = name
        return cls(compared)

    @property
    def is_measured(self) -> bool:
        """Whether a printed number was measured."""
        return bool(self.compared["measured"].notna().any())

    @property
    def table(self) -> pd.DataFrame:
        """The rows of `ledger.csv`, with what a longer run measured where this one did not."""
        return full_profile.beside(self.compared)

    @property
    def by_notebook(self) -> dict[str, list[Cell]]:
        """What each notebook measured of what papers print, by table or figure.

        Of each table its `title`, its `paper`, its `anchor` on the ledger's page, and `counts`: how many numbers have
        which status, in words.
        """
        found: dict[str, list[Cell]] = {}
        if "notebook" not in self.compared:
            return found
        rows = self.compared[self.compared["notebook"] != ""]
        for (notebook, source, title), own in rows.groupby(["notebook", "source", "block"], sort=False):
            counts = _counts(own["status"], STATUSES)
            block = {"title": title, "anchor": _anchor(source, title), "paper": _cited(PAPERS[source])}
            block["counts"] = [f"{many} {IN_WORDS.get(status, status)}" for status, many in counts.items()]
            found.setdefault(notebook, []).append(block)
        return found

    def page(self, templates: Any, shipped: pd.DataFrame | None = None) -> str:
        """Return the HTML of the page `ledger.html`, which needs nothing else.

        Parameters
        ----------
        templates : jinja2.Environment
            That of the other pages, whose style sheet the page has too.
        shipped : DataFrame
            The numbers of the full profile; None: those that are shipped.
        """
        import jinja2
        from markupsafe import Markup

        rows = full_profile.beside(self.compared, shipped)
        rows["place"] = [_place(row) for row in rows.to_dict("records")]
        own = resources.files("privnb.papers").joinpath("templates/ledger.css").read_text(encoding="utf-8")
        loaders = [jinja2.PackageLoader("privnb.papers", "templates"), templates.loader]
        template = templates.overlay(loader=jinja2.ChoiceLoader(loaders)).get_template("ledger.html.j2")
        return template.render(
            STYLE=templates.globals["STYLE"] + Markup(own),
            papers=[_paper(source, own) for source, own in rows.groupby("source", sort=False)],
            groups=_counts(rows["place"], GROUPS),
            here=_counts(rows.loc[rows["place"] == HERE, "status"], STATUSES),
            statuses=_counts(rows["status"], STATUSES),
            total=len(rows),
            printed=_printed(rows),
            measured=_printed(rows[rows["place"] == HERE]),
            dated=rows.loc[rows["place"] == FULL, full_profile.WHEN].drop_duplicates().to_dict("records"),
        )


def _cited(title: str) -> str:
    """How a text cites a paper.

    >>> _cited("Li, Li: On the Tradeoff Between Privacy and Utility in Data Publishing. KDD 2009")
    'Li and Li 2009'
    """
    names = title.partition(":")[0].replace(" (editors)", "").split(", ")
    return f"{f'{names[0]} et al.' if len(names) > 2 else ' and '.join(names)} {title[-4:]}"


def _anchor(source: str, title: str) -> str:
    """Where a table or figure stands on the ledger's page."""
    return rendering.anchor(f"{source} {title}")


def _counts(column: pd.Series, order: Iterable[str]) -> dict[str, int]:
    """How often each of `order` stands in a column, without those that do not."""
    many = column.value_counts()
    return {name: int(many[name]) for name in order if name in many}


def _printed(rows: pd.DataFrame) -> int:
    """How many printed numbers these rows are about: of one there may be several readings."""
    return len(rows[["source", "block", "row", "column"]].drop_duplicates())


def _place(row: Cell) -> str:
    if row["status"] in ("not reproducible", "out of scope") and pd.isna(row["measured"]):
        return OUT
    if row["date"]:
        return FULL
    return NOT_RUN if row["status"] == "not run" else HERE


def _paper(source: str, rows: pd.DataFrame) -> Cell:
    """A paper: its tables and figures, those last of which nothing was or can be measured."""
    blocks = [_block(title, own, _anchor(source, title)) for title, own in rows.groupby("block", sort=False)]
    blocks.sort(key=lambda block: block["out"])
    return {"title": PAPERS[source], "name": source, "counts": _counts(rows["place"], GROUPS), "blocks": blocks}


def _block(title: str, rows: pd.DataFrame, anchor: str) -> Cell:
    """A table or figure: its lines as the paper has them, a line per reading below each printed one."""
    columns = list(dict.fromkeys(rows["column"]))
    lines = []
    for name, own in rows.groupby("row", sort=False):
        first = {cell["column"]: cell for cell in own.to_dict("records")[::-1]}
        printed = {column: _number(cell["published"], cell["unit"]) for column, cell in first.items()}
        readings = []
        for reading, cells in own.groupby("reading", sort=False):
            found = {cell["column"]: _cell(cell) for cell in cells.to_dict("records")}
            readings.append((reading or MEASURED, [found.get(column) for column in columns]))
        lines.append({"name": name, "printed": [*map(printed.get, columns)], "readings": readings})
    return {
        "title": title,
        "anchor": anchor,
        "columns": columns,
        "lines": lines,
        "notes": _notes(rows),
        "notebooks": [name for name in dict.fromkeys(rows.get("notebook", [])) if name],
        "out": bool((rows["place"] == OUT).all()),
    }


def _cell(row: Cell) -> Cell:
    """What a cell shows: the measured number, to the printed digits unless that would hide a difference."""
    judged = row["status"] in IN_WORDS and row["tolerance"] > 0
    return row | {
        "number": "" if pd.isna(row["measured"]) else _measured(row),
        "tolerance": f"±{row['tolerance']:,.6g}{row['unit']}" if judged else "",
        "spread": "" if pd.isna(row["lowest"]) else f"from {row['lowest']:.6g} to {row['highest']:.6g}",
    }


def _measured(row: Cell) -> str:
    printed, value = row["published"], row["measured"]
    if isinf(value):
        return "infinite"
    digits = max(0, -int(Decimal(printed).as_tuple().exponent))
    if row["status"] != "exact" and not same_digits(printed, value):
        while digits < 12 and Decimal(f"{value:.{digits}f}") == Decimal(printed):
            digits += 1
    return _number(f"{value:.{digits}f}", row["unit"])


def _number(digits: str, unit: str) -> str:
    """Digits with thousands separators, and the unit."""
    whole, point, part = digits.partition(".")
    return f"{int(whole):,}{point}{part}{unit}" if whole not in ("-0", "") else f"{digits}{unit}"


def _notes(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """The notes of a block, each once: `(its cells in words, empty if all, the notes that these cells have)`."""
    places: dict[str, list[Cell]] = {}
    for row in rows.to_dict("records"):
        for note in filter(None, row["note"].split("; ")):
            places.setdefault(note, []).append(row)
    found: dict[str, list[str]] = {}
    for note, cells in places.items():
        found.setdefault(_where(cells, rows), []).append(note)
    return [(where, "; ".join(notes)) for where, notes in found.items()]


def _where(cells: list[Cell], rows: pd.DataFrame) -> str:
    """Which cells these are, in words: the rows, columns and readings that tell them apart."""
    names = ["row", "column", "reading"]
    chosen = {name: list(dict.fromkeys(cell[name] for cell in cells)) for name in names}
    differing = [name for name in names if set(chosen[name]) != set(rows[name])]
    if len(rows[rows[names].isin(chosen).all(axis=1)]) == len(cells):
        return "; ".join(_listed(chosen[name]) for name in differing)
    lines: dict[str, list[str]] = {}
    for cell in cells:
        line = _listed([cell[name] for name in ("row", "reading") if cell[name]])
        lines.setdefault(line, []).append(cell["column"])
    alike: dict[str, list[str]] = {}
    for line, columns in lines.items():
        alike.setdefault(_listed(columns) if any(columns) else "", []).append(line)
    return "; ".join(f"{'; '.join(own)}{columns and f' at {columns}'}" for columns, own in alike.items())


def _listed(names: Iterable[str]) -> str:
    """Names in a row, what they begin with alike said once: `k = 2, 10`."""
    said, before = [], ""
    for name in names:
        start, equals, value = name.partition(" = ")
        said.append(value if equals and start == before else name or MEASURED)
        before = start if equals else ""
    return ", ".join(said)

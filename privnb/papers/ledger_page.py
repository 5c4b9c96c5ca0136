"""The ledger as a page: the tables and figures of each paper, with the measured numbers below the published ones.

Readers select rows with radio buttons, which need only CSS and no script.
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
from privnb.papers.ledger import NEEDS_WEKA, STATUSES, compare_with_published, have_same_digits, read_published
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
BEST_FIRST = ("exact", "within", "differs", "withheld", "not reproducible", "not run", "out of scope")
NUMBER = ["source", "block", "row", "column"]  # the place of a published number in its paper
Cell = dict[str, Any]  # a row of the ledger, or a part of the page
MEASURED = "measured"  # how the first reading of a cell is called


@dataclass(frozen=True, eq=False)
class Ledger:
    """The published numbers, compared with the numbers that the notebooks of a report measured.

    `compared`: a table of `ledger.compare_with_published` with the additional column `notebook`, the name of the
    notebook that measured the number.
    """

    compared: pd.DataFrame

    @classmethod
    def of(cls, tables: Mapping[str, pd.DataFrame]) -> "Ledger":
        """Return the ledger of the results of notebooks, by name; each notebook was run in the setting of its paper."""
        printed = read_published()
        results = pd.concat([*tables.values()], ignore_index=True) if tables else pd.DataFrame(columns=COLUMNS)
        compared = compare_with_published(results, printed)
        compared["notebook"] = ""
        for name, table in tables.items():  # the first notebook that measures a number
            left = compared.index[compared["measured"].notna() & (compared["notebook"] == "")]
            own = compare_with_published(table, printed.loc[left])["measured"].notna()
            compared.loc[left[own.to_numpy()], "notebook"] = name
        return cls(compared)

    @property
    def is_measured(self) -> bool:
        """Whether any published number was measured."""
        return bool(self.compared["measured"].notna().any())

    @property
    def table(self) -> pd.DataFrame:
        """The rows of `ledger.csv`, in which numbers of a longer run fill the rows that this report did not measure."""
        return full_profile.fill_missing(self.compared)

    @property
    def by_notebook(self) -> dict[str, list[Cell]]:
        """The published tables and figures that each notebook measured.

        Each table or figure has a `title`, a `paper`, an `anchor` on the page of the ledger, and `counts`, the number
        of published numbers with each status in words.
        """
        found: dict[str, list[Cell]] = {}
        if "notebook" not in self.compared:
            return found
        rows = self.compared[self.compared["notebook"] != ""]
        for (notebook, source, title), own in rows.groupby(["notebook", "source", "block"], sort=False):
            counts = _counts(own["status"], STATUSES)
            block = {"title": title, "anchor": _anchor(source, title), "paper": _cited(PAPERS[source])}
            block["counts"] = [f"{count} {IN_WORDS.get(status, status)}" for status, count in counts.items()]
            found.setdefault(notebook, []).append(block)
        return found

    def page(self, templates: Any, shipped: pd.DataFrame | None = None) -> str:
        """Return the HTML of the page `ledger.html`, which can be read without any other file.

        Parameters
        ----------
        templates : jinja2.Environment
            The templates of the other pages; this page has the same style sheet as these pages.
        shipped : DataFrame
            The numbers of the full profile; by default, the shipped numbers.
        """
        import jinja2
        from markupsafe import Markup

        rows = full_profile.fill_missing(self.compared, shipped)
        rows["place"] = [_place(row) for row in rows.to_dict("records")]
        own = resources.files("privnb.papers").joinpath("templates/ledger.css").read_text(encoding="utf-8")
        loaders = [jinja2.PackageLoader("privnb.papers", "templates"), templates.loader]
        not_run = rows[rows["place"] == NOT_RUN]
        template = templates.overlay(loader=jinja2.ChoiceLoader(loaders)).get_template("ledger.html.j2")
        return template.render(
            STYLE=templates.globals["STYLE"] + Markup(own),
            papers=[_paper(source, own) for source, own in rows.groupby("source", sort=False)],
            groups=_counts(rows["place"], GROUPS),
            here=_counts(rows.loc[rows["place"] == HERE, "status"], STATUSES),
            statuses=_counts(rows["status"], STATUSES),
            total=len(rows),
            printed=_printed(rows),
            best=_counts(_best_statuses(rows), BEST_FIRST),
            needs_weka=int(not_run["note"].str.contains(NEEDS_WEKA, regex=False).sum()),
            measured=_printed(rows[rows["place"] == HERE]),
            dated=rows.loc[rows["place"] == FULL, full_profile.WHEN].drop_duplicates().to_dict("records"),
        )


def _cited(title: str) -> str:
    """Return the short citation of a paper for use in a text.

    >>> _cited("Li, Li: On the Tradeoff Between Privacy and Utility in Data Publishing. KDD 2009")
    'Li and Li 2009'
    """
    names = title.partition(":")[0].replace(" (editors)", "").split(", ")
    return f"{f'{names[0]} et al.' if len(names) > 2 else ' and '.join(names)} {title[-4:]}"


def _anchor(source: str, title: str) -> str:
    """Return the anchor of a table or figure on the page of the ledger."""
    return rendering.anchor(f"{source} {title}")


def _counts(column: pd.Series, order: Iterable[str]) -> dict[str, int]:
    """Return the number of occurrences of each value of `order` in a column, without values that do not occur."""
    counts = column.value_counts()
    return {name: int(counts[name]) for name in order if name in counts}


def _printed(rows: pd.DataFrame) -> int:
    """Return the number of published numbers in these rows; a number with several readings counts once."""
    return len(rows[NUMBER].drop_duplicates())


def _best_statuses(rows: pd.DataFrame) -> pd.Series:
    """Return, for each published number, the status of its best reading."""
    ranks = rows["status"].map({status: rank for rank, status in enumerate(BEST_FIRST)})
    return rows.loc[ranks.groupby([rows[name] for name in NUMBER]).idxmin(), "status"]


def _place(row: Cell) -> str:
    if row["status"] in ("not reproducible", "out of scope") and pd.isna(row["measured"]):
        return OUT
    if row["date"]:
        return FULL
    return NOT_RUN if row["status"] == "not run" else HERE


def _paper(source: str, rows: pd.DataFrame) -> Cell:
    """Return a paper with its tables and figures; tables and figures without any measurable number come last."""
    blocks = [_block(title, own, _anchor(source, title)) for title, own in rows.groupby("block", sort=False)]
    blocks.sort(key=lambda block: block["out"])
    return {"title": PAPERS[source], "name": source, "counts": _counts(rows["place"], GROUPS), "blocks": blocks}


def _block(title: str, rows: pd.DataFrame, anchor: str) -> Cell:
    """Return a table or figure with the lines of the paper, and one line per reading below each of these lines."""
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
    """Return a cell whose measured number has the published number of digits, or more digits to show a difference."""
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
    while digits < 12 and not _agrees(row, Decimal(f"{value:.{digits}f}")):
        digits += 1
    return _number(f"{value:.{digits}f}", row["unit"])


def _agrees(row: Cell, shown: Decimal) -> bool:
    """Return whether a rounded measured number compares with the published number in the same way as the number itself.

    The comparison is whether the two numbers are equal and, in a row whose status depends on the tolerance, whether
    their difference is within the tolerance.
    """
    printed = Decimal(row["published"])
    if row["status"] == "exact" or have_same_digits(row["published"], row["measured"]):
        return True
    near, shown_near = (
        abs(number - printed) <= Decimal(f"{row['tolerance']}") for number in (Decimal(f"{row['measured']}"), shown)
    )
    return shown != printed and (row["status"] not in IN_WORDS or near == shown_near)


def _number(digits: str, unit: str) -> str:
    """Return a number with thousands separators and its unit."""
    whole, point, part = digits.partition(".")
    return f"{int(whole):,}{point}{part}{unit}" if whole not in ("-0", "") else f"{digits}{unit}"


def _notes(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """Return pairs of cells in words and the notes on these cells; each note of the block occurs once.

    The text of the cells is empty if the notes are on all cells.
    """
    places: dict[str, list[Cell]] = {}
    for row in rows.to_dict("records"):
        for note in filter(None, row["note"].split("; ")):
            places.setdefault(note, []).append(row)
    found: dict[str, list[str]] = {}
    for note, cells in places.items():
        found.setdefault(_where(cells, rows), []).append(note)
    return [(where, "; ".join(notes)) for where, notes in found.items()]


def _where(cells: list[Cell], rows: pd.DataFrame) -> str:
    """Return the cells in words: the rows, columns and readings that identify them."""
    names = ["row", "column", "reading"]
    chosen = {name: list(dict.fromkeys(cell[name] for cell in cells)) for name in names}
    differing = [name for name in names if set(chosen[name]) != set(rows[name])]
    if len(rows[rows[names].isin(chosen).all(axis=1)]) == len(cells):
        return "; ".join(_listed(chosen[name]) for name in differing)
    lines: dict[str, list[str]] = {}
    for cell in cells:
        line = _listed([cell[name] for name in ("row", "reading") if cell[name]])
        lines.setdefault(line, []).append(cell["column"])
    by_columns: dict[str, list[str]] = {}
    for line, columns in lines.items():
        by_columns.setdefault(_listed(columns) if any(columns) else "", []).append(line)
    return "; ".join(f"{'; '.join(own)}{columns and f' at {columns}'}" for columns, own in by_columns.items())


def _listed(names: Iterable[str]) -> str:
    """Return names joined by commas, without repeating a start that consecutive names share: `k = 2, 10`."""
    parts, before = [], ""
    for name in names:
        start, equals, value = name.partition(" = ")
        parts.append(value if equals and start == before else name or MEASURED)
        before = start if equals else ""
    return ", ".join(parts)

"""The numbers of longer runs, which the package contains because measuring these numbers takes hours.

Only `make ledger` writes `full_profile.csv`. This command runs the notebooks that re-run papers, with the second
reading of each paper and with the profile `full`. The command continues where an earlier run stopped, and takes the
numbers from the ledgers of the notebooks.
"""

import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pandas as pd

from privnb.papers import ledger
from privnb.runtime.errors import UsageError

PATH = Path(__file__).with_suffix(".csv")
NAME = ["source", "item"]
FOUND = ["measured", "lowest", "highest", "difference", "status", "note"]
WHEN = ["date", "commit"]


def read_numbers(path: str | Path = PATH) -> pd.DataFrame:
    """Return the numbers of a file (default: the shipped file) as a frame with columns `NAME`, `FOUND` and `WHEN`."""
    missing = {name: [""] for name in ("measured", "lowest", "highest", "difference")}
    return pd.read_csv(path, keep_default_na=False, na_values=missing, dtype={"commit": str})


def fill_missing(compared: pd.DataFrame, shipped: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return a ledger in which numbers of the full profile fill the rows that the run did not measure.

    Parameters
    ----------
    compared : DataFrame
        The ledger of a run, from `ledger.compare_with_published`.
    shipped : DataFrame
        The result of `read_numbers`. If None, the shipped file is read.

    Returns
    -------
    DataFrame
        The rows of `compared` with the columns `WHEN`, which are empty in a row whose number comes from the run or is
        missing.
    """
    shipped = (read_numbers() if shipped is None else shipped).set_index(NAME)
    filled = compared.set_index(NAME).assign(**dict.fromkeys(WHEN, ""))
    unmeasured = filled["measured"].isna() & (filled["status"] != "withheld")
    names = filled.index[unmeasured].intersection(shipped.index, sort=False)
    filled.loc[names, [*FOUND, *WHEN]] = shipped.loc[names, [*FOUND, *WHEN]]
    return filled.reset_index()[[*compared.columns, *WHEN]]


def write_numbers(reports: Iterable[str | Path], path: str | Path = PATH) -> pd.DataFrame:
    """Write the measured numbers of some reports to a file, with today's date and the commit of this checkout.

    Parameters
    ----------
    reports : list of str or Path
        Folders of reports with the profile `full`. If two reports measured the same number, the function writes the
        number of the first report.
    path : str or Path
        The file to write.

    Returns
    -------
    DataFrame
        The written rows, as `read_numbers` returns them, in the order of `published.csv`.

    Raises
    ------
    ValueError
        If the reports measured no printed number, or if the checkout has uncommitted changes.
    """
    rows = pd.concat([read_numbers(Path(report) / "ledger.csv") for report in reports])
    own = rows["date"] == ""  # rows with a date come from an earlier run
    rows = rows[own & (rows["measured"].notna() | (rows["status"] == "withheld"))].drop_duplicates(NAME)
    if rows.empty:
        raise UsageError(
            "`reports` must contain measured numbers of the papers; got none. Give reports of the notebooks that "
            "re-run papers."
        )
    names = pd.MultiIndex.from_frame(ledger.read_published()[NAME])
    rows = rows.set_index(NAME).reindex(names.intersection(pd.MultiIndex.from_frame(rows[NAME]), sort=False))
    rows = rows.assign(date=f"{datetime.now(UTC):%Y-%m-%d}", commit=read_commit()).reset_index()[[*NAME, *FOUND, *WHEN]]
    rows.to_csv(path, index=False, lineterminator="\n")
    return rows


def read_commit() -> str:
    """Return the first 12 digits of the commit of this checkout. Raises ValueError for uncommitted changes."""
    git = partial(subprocess.run, cwd=PATH.parent, capture_output=True, text=True, check=True)
    changed = git(["git", "status", "--porcelain", "--untracked-files=no", "--", ".", f":!{PATH.name}"]).stdout.strip()
    if changed:
        raise UsageError(
            f"the checkout has uncommitted changes:\n{changed}\nCommit the changes, and run the command again."
        )
    return git(["git", "rev-parse", "--short=12", "HEAD"]).stdout.strip()

"""What longer runs measured: shipped, so that nobody has to wait for hours to see it.

`full_profile.csv` is made by `make ledger` alone, never by hand: it runs the notebooks that re-run papers in their
second reading, and with the profile `full`, goes on where an earlier run stopped, and takes the numbers from their
ledgers.
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


def read(path: str | Path = PATH) -> pd.DataFrame:
    """The numbers of a file, the shipped ones or a ledger's: a frame with the columns `NAME`, `FOUND` and `WHEN`."""
    missing = {name: [""] for name in ("measured", "lowest", "highest", "difference")}
    return pd.read_csv(path, keep_default_na=False, na_values=missing, dtype={"commit": str})


def beside(compared: pd.DataFrame, shipped: pd.DataFrame | None = None) -> pd.DataFrame:
    """A ledger whose rows that its run did not measure are those that the full profile measured.

    Parameters
    ----------
    compared : DataFrame
        The ledger of a run, from `ledger.compare`.
    shipped : DataFrame
        What `read` returns; None: read it.

    Returns
    -------
    DataFrame
        The rows of `compared` with the columns `WHEN`: empty texts where the number is the run's own, or missing.
    """
    shipped = (read() if shipped is None else shipped).set_index(NAME)
    together = compared.set_index(NAME).assign(**dict.fromkeys(WHEN, ""))
    unmeasured = together["measured"].isna() & (together["status"] != "withheld")
    names = together.index[unmeasured].intersection(shipped.index, sort=False)
    together.loc[names, [*FOUND, *WHEN]] = shipped.loc[names, [*FOUND, *WHEN]]
    return together.reset_index()[[*compared.columns, *WHEN]]


def write(reports: Iterable[str | Path], path: str | Path = PATH) -> pd.DataFrame:
    """Write what some reports measured to a file, with today's date and the commit of this checkout.

    Parameters
    ----------
    reports : list of str or Path
        Folders of reports with the profile `full`. Where two have measured the same number, the first one's is taken.
    path : str or Path
        The file.

    Returns
    -------
    DataFrame
        What was written: the rows that `read` returns, in the order of `published.csv`.

    Raises
    ------
    ValueError
        If they measured no printed number, and if the checkout has changes that no commit holds.
    """
    rows = pd.concat([read(Path(report) / "ledger.csv") for report in reports])
    own = rows["date"] == ""  # what is dated was shipped with an earlier run
    rows = rows[own & (rows["measured"].notna() | (rows["status"] == "withheld"))].drop_duplicates(NAME)
    if rows.empty:
        raise UsageError("these reports measured no printed number. Give reports of the notebooks that re-run papers.")
    names = pd.MultiIndex.from_frame(ledger.read_published()[NAME])
    rows = rows.set_index(NAME).reindex(names.intersection(pd.MultiIndex.from_frame(rows[NAME]), sort=False))
    rows = rows.assign(date=f"{datetime.now(UTC):%Y-%m-%d}", commit=commit()).reset_index()[[*NAME, *FOUND, *WHEN]]
    rows.to_csv(path, index=False, lineterminator="\n")
    return rows


def commit() -> str:
    """The commit whose files these are, 12 digits. Raises ValueError if some of them are in no commit."""
    git = partial(subprocess.run, cwd=PATH.parent, capture_output=True, text=True, check=True)
    changed = git(["git", "status", "--porcelain", "--untracked-files=no", "--", ".", f":!{PATH.name}"]).stdout.strip()
    if changed:
        raise UsageError(
            f"these files are not as a commit has them:\n{changed}\nCommit them, and run the command again."
        )
    return git(["git", "rev-parse", "--short=12", "HEAD"]).stdout.strip()

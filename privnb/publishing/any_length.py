"""A release of a table of any length, wherever it is: in files, or a lazy frame of an engine."""

import os
from typing import TYPE_CHECKING, Any

from privnb.sanitizers.base import Sanitizer

if TYPE_CHECKING:
    from privnb.publishing.made import Made


def sanitize(
    table: Any,
    model: str | Sanitizer,
    out: str | os.PathLike[str] | None = None,
    *,
    algorithm: str = "Mondrian",
    dataset: str | os.PathLike[str] | None = None,
    study: str | None = None,
    memory: str = "2GB",
    allow: str | None = None,
) -> "Made":
    """Make a release of a table of any length.

    Parameters
    ----------
    table : str, path-like or lazy frame
        A CSV or Parquet file, a folder of such parts, or the name of a described dataset; or a DuckDB relation, a
        Polars LazyFrame or a Spark DataFrame.
    model : str or Sanitizer
        What its classes keep: letters with their bounds, `"k=10, t=0.2:salary"`, where the attribute after the colon
        may be left out if one is sensitive; or a sanitizer.
    out : str or path-like
        Of files, where the release goes: a file that ends in .parquet or .csv, or a folder. A frame has none.
    algorithm : str
        The class of the sanitizer that keeps `model`, or its title: "local recoding".
    dataset : str or path-like, optional
        The dataset whose description says what the columns are. A frame needs one.
    study : str, optional
        As in `load`.
    memory : str
        What this process may take at most, such as "800MB" or "2GB".
    allow : str, optional
        The owner's reason for a release that the gate refuses; provenance and output repeat it.

    Returns
    -------
    from_files.Written or from_frames.Returned
        Of a frame with the release as its `frame`, of the same engine.

    Raises
    ------
    SanitizationError
    SchemaError
    OSError
        As in `from_files.sanitize` and `from_frames.sanitize`.
    TypeError
        For files without `out`, a frame with one, and for what is neither.
    """
    options: dict[str, Any] = {
        "algorithm": algorithm,
        "dataset": dataset,
        "study": study,
        "memory": memory,
        "allow": allow,
    }
    if isinstance(table, str | os.PathLike):
        from privnb.publishing import from_files

        if out is None:
            raise TypeError("out must be given for a table in files: where the release is written to.")
        return from_files.sanitize(table, model, out, **options)
    from privnb.publishing import from_frames

    if out is not None:
        raise TypeError("out is for tables in files. The release of a frame is a frame, which you write.")
    return from_frames.sanitize(table, model, **options)

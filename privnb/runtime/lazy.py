"""Libraries for tables that are imported on first use: `from privnb.runtime.lazy import pd, pa`.

The import of each of these libraries takes longer than the import of everything else that `from privnb import Mondrian`
needs. A module that imports from this module begins with `from __future__ import annotations`, because the evaluation
of an annotation would load the library.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb
    import narwhals as nw
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc
else:

    class Later:
        """A module that is imported when it is first used."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module(self._name), name)

    duckdb, nw, pa, pc, pd = map(Later, ("duckdb", "narwhals", "pyarrow", "pyarrow.compute", "pandas"))

__all__ = ["duckdb", "nw", "pa", "pc", "pd"]

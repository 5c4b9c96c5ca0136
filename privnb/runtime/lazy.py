"""Libraries of tables of any length, imported when something of them is first asked for.

`from privnb.runtime.lazy import pa, pc`: pyarrow takes longer to import than all that `from privnb import Mondrian`
needs. A module that uses this one starts with `from __future__ import annotations`, since an annotation that is
evaluated asks for the library. pandas is in `lazy_pandas`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb
    import narwhals as nw
    import pyarrow as pa
    import pyarrow.compute as pc
else:

    class Later:
        """A module that is imported when it is used."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module(self._name), name)

    duckdb, nw, pa, pc = map(Later, ("duckdb", "narwhals", "pyarrow", "pyarrow.compute"))

__all__ = ["duckdb", "nw", "pa", "pc"]

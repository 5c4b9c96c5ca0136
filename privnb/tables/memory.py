"""The memory that a table of any length is given: the engine's part, and how many combinations fit into the rest."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from privnb.microdata.schema import SchemaError
from privnb.runtime import expect
from privnb.runtime.processes import usable_cores
from privnb.tables.long_tables import TIMES, LongTable

if TYPE_CHECKING:
    import pyarrow as pa

BASE, COMBINATION = 350, 0.0008  # megabytes: the process itself, and what one combination takes in it at most
THREAD = 600  # megabytes in which one thread of the engine counts a million combinations
LEAST, MOST, UNITS = 500, 1e9, {"MB": 1, "GB": 1000}  # the engine takes no size beyond 2^64 bytes


class TooManyCombinationsError(SchemaError):
    """More combinations than fit into the memory."""


class Memory(NamedTuple):
    """What the whole process may take at most: as it was `said`, and in `megabytes`."""

    said: str
    megabytes: float

    @classmethod
    def of(cls, said: object) -> Memory:
        """Return what a person says, such as "800MB" or "2GB".

        Raises ValueError for what is not a size, for too little for any table and for more than any machine has.
        """
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(MB|GB)\s*", str(said), re.IGNORECASE)
        size = float(found[1]) * UNITS[found[2].upper()] if found else 0
        if not LEAST <= size <= MOST:
            raise ValueError(
                f"memory must be a size such as 2GB, at least {LEAST}MB and at most {MOST / 1000:,.0f}GB, "
                f"got {expect.found(said)}."
            )
        return cls(str(said), size)

    def engine(self, folder: Path) -> dict[str, Any]:
        """Return the settings of an engine that works next to its combinations; `folder` takes what does not fit."""
        return {"memory_limit": f"{(self.megabytes - BASE) / 2:.0f}MB", "temp_directory": str(folder)}

    def counting(self, folder: Path) -> dict[str, Any]:
        """Return the settings of an engine that counts combinations and is closed before anything is made of them."""
        whole = (self.megabytes - BASE) * 0.8  # the rest is for what it hands over
        threads = min(usable_cores(), max(1, int(whole / THREAD)))
        return {"memory_limit": f"{whole:.0f}MB", "temp_directory": str(folder), "threads": threads}

    @property
    def combinations(self) -> int:
        """How many fit."""
        return int((self.megabytes - BASE) / COMBINATION)

    def counted(self, table: LongTable, names: list[str], cure: str) -> pa.Table:
        """Return the distinct combinations of some columns of a LongTable, as its `counted` gives them.

        Raises TooManyCombinationsError for more than fit into the memory, which ends in what to do, the `cure`.
        """
        found = table.counted(names, self.combinations)
        self.check(found, cure)
        return found

    def check(self, found: pa.Table, instead: str) -> None:
        """Raise TooManyCombinationsError for more combinations than fit, with what to do `instead`.

        `found`: as `LongTable.counted` gives it for so many at most.
        """
        if len(found) <= self.combinations:
            return
        counts = {name: len(found.column(name).unique()) for name in found.column_names if name != TIMES}
        if len(counts) == 1:
            raise TooManyCombinationsError(
                f"'{next(iter(counts))}' has more than {self.combinations:,} different values, which do not fit into "
                f"{self.said}. {instead}"
            )
        worst = sorted(counts, key=lambda name: counts[name])[:-4:-1]
        said = ", ".join(f"{name} ({counts[name]:,})" for name in worst)
        raise TooManyCombinationsError(
            f"more than {self.combinations:,} different combinations of {len(counts)} columns do not fit into "
            f"{self.said}. Of so many, these have most values: {said}. {instead}"
        )

"""A release that is asked for: of which table, by which sanitizer, in how much memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

from privnb.datasets.dataset import Chosen
from privnb.datasets.doubled import compared, doubled
from privnb.microdata.schema import PUBLISHED, Attribute, Role, SchemaError
from privnb.publishing.in_words import asked
from privnb.runtime import expect
from privnb.sanitizers.base import Sanitizer
from privnb.tables import long_tables, reading
from privnb.tables.long_tables import LongTable, Memory

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Opened = Callable[..., AbstractContextManager[LongTable]]  # opens the records; see `long_tables.opened`
Model = Annotated[
    str | Sanitizer, lambda name, value: expect.kind(name, value, str, Sanitizer, instead='Give one such as "k=10".')
]
Study = Annotated[
    str | None,
    lambda name, value: expect.kind(name, value, str, type(None), instead="Name a study of the description."),
]
FEW = 100  # different values of a neutral column that is counted; one of more is published record by record


@dataclass(frozen=True)
class Job:
    """A release that is asked for.

    Parameters
    ----------
    chosen : Chosen
        What the columns are.
    sanitizer : Sanitizer
    memory : Memory
    opened : function
        Opens the records of the table.
    counted : list of str
        The columns that are counted.
    single : list of str
        The columns that are published record by record.
    scratch : Path
        A folder for what does not fit into the memory.
    """

    chosen: Chosen
    sanitizer: Sanitizer
    memory: Memory
    opened: Opened
    counted: list[str]
    single: list[str]
    scratch: Path = Path()

    @classmethod
    def of(
        cls,
        chosen: Chosen,
        model: str | Sanitizer,
        algorithm: str,
        memory: Memory,
        opened: Callable[[list[str]], Opened],
        scratch: Path = Path(),
    ) -> Job:
        """Return the job of a sanitizer, or of a model in words. Raise SchemaError for a table without columns.

        `opened` returns what opens the records of some columns.
        """
        renamed = renamings(chosen)
        sanitizer = model if isinstance(model, Sanitizer) else asked(model, algorithm, chosen.schema, renamed)
        published = [each for each in chosen.schema.attributes if each.role in (*PUBLISHED, Role.PERSON)]
        if not published:
            raise SchemaError(
                f"'{chosen.schema.dataset}' has no column to publish: each is an identifier, or unused. Draft a "
                "description of it with `privnb new`, and say there what its columns are."
            )
        counted, single = ([each.name for each in published if _is_long(each) is long] for long in (False, True))
        return cls(chosen, sanitizer, memory, opened([*counted, *single]), counted, single, scratch)

    def counting(self, **how: Any) -> AbstractContextManager[LongTable]:
        """Open the records, to count them. `how`: see `long_tables.opened`."""
        return self.opened(**self.memory.counting(self.scratch), **how)

    def without_blank_rows(self) -> Job:
        """Return the job of those rows alone that have a cell in any column: others are no records."""
        return replace(self, opened=partial(self.opened, held=True))

    def check_gaps(self, records: int | None = None) -> None:
        """Raise SchemaError for records with missing values in any column, where the description refuses them.

        `records`: how many there are, if that is known.
        """
        if self.chosen.refused is None:
            return
        if records is None:
            with self.counting(complete=None, held=True) as table:
                records = table.record_count()
        with self.counting(complete=self.chosen.refused) as table:
            check_gaps(records, table.record_count())

    def cleaned(self, found: pa.Table, names: list[str]) -> pd.DataFrame:
        """Return columns of an engine's answer as the description says.

        `found`: records, or combinations with how many records have each.
        """
        counts = long_tables.TIMES in found.column_names
        times = found.column(long_tables.TIMES).to_pandas() if counts else None
        return self.chosen.cleaned(reading.of_arrow(found.select(names)), names, times)


def renamings(chosen: Chosen) -> Mapping[str, str]:
    """Return the names of a description's columns by those in its files."""
    renamed = chosen.text.get("renamed", MappingProxyType({}))
    assert isinstance(renamed, Mapping)
    return renamed


def check_gaps(records: int, complete: int) -> None:
    """Raise SchemaError unless all records are complete. Both are how many there are."""
    if lacking := records - complete:
        raise SchemaError(
            f'{lacking:,} of {records:,} records have missing values, and records_with_missing = "refuse". Fill them '
            'in, or choose "keep" or "drop".'
        )


def copies(chosen: Chosen, table: LongTable) -> str:
    """Return a sentence if each record of a table occurs more than once, see `doubled`; else an empty text."""
    roles = {each.name: each.role for each in chosen.columns.attributes}
    names = compared(roles | {chosen.schema.person: Role.PERSON} if chosen.schema.person else roles)
    names = [name for name in names if name in table.own]
    return doubled(*table.repetition(names)) if names else ""


def _is_long(attribute: Attribute) -> bool:
    """Whether a column is published record by record: a neutral one of many values."""
    domain = attribute.domain
    size = 0 if domain is None else len(domain.values) if hasattr(domain, "values") else domain.size
    return attribute.role is Role.NEUTRAL and not 0 < size <= FEW

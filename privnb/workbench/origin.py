"""The interface of a table that a release, a comparison or a decision uses."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from privnb.datasets.dataset import Dataset
from privnb.datasets.outside import Outside
from privnb.microdata.schema import Role


class Origin(Protocol):
    """A described table, such as a `workbench.table.Table`."""

    path: Path
    study: str | None
    outside: Outside

    @property
    def name(self) -> str:
        """The name of the dataset."""
        ...

    @property
    def dataset(self) -> Dataset:
        """The records."""
        ...

    @property
    def roles_changed(self) -> Mapping[str, Role] | None:
        """The roles that differ from the description."""
        ...

    def in_roles(self, roles: Mapping[str, Role]) -> Dataset:
        """Return the records in other roles of some columns."""
        ...

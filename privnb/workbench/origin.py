"""The interface of the table from which a release, a comparison or a decision is made."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from privnb.datasets.dataset import Dataset
from privnb.datasets.outside import Outside
from privnb.microdata.schema import Role


class Origin(Protocol):
    """The interface of a described table, such as a `workbench.table.Table`."""

    path: Path
    study: str | None
    outside: Outside

    @property
    def name(self) -> str:
        """The name of the dataset."""
        ...

    @property
    def dataset(self) -> Dataset:
        """The records of the table."""
        ...

    @property
    def roles_changed(self) -> Mapping[str, Role] | None:
        """The roles that differ from the roles in the description, by column; None if no role differs."""
        ...

    def in_roles(self, roles: Mapping[str, Role]) -> Dataset:
        """Return the records, with the roles of some columns replaced by `roles`."""
        ...

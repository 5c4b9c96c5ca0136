"""What a release, a comparison and a decision know of the table that they are of."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from privnb.datasets.dataset import Dataset
from privnb.datasets.outside import Outside
from privnb.microdata.schema import Role


class Origin(Protocol):
    """A described table: `workbench.table.Table` is one."""

    path: Path
    study: str | None
    outside: Outside

    @property
    def name(self) -> str: ...

    @property
    def dataset(self) -> Dataset: ...

    @property
    def roles_changed(self) -> Mapping[str, Role] | None: ...

    def in_roles(self, roles: Mapping[str, Role]) -> Dataset: ...

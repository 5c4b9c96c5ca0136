"""The tab of the columns of a description with studies: the study to use, and the roles that it states."""

from __future__ import annotations

from typing import Any

from privnb.app.tab import Tab
from privnb.datasets import description
from privnb.datasets.dataset import DatasetDescription


class StudiesTab(Tab):
    """Choose a study, and see the role of each column; the roles of a study are changed in a text editor."""

    key, title = "columns", "Columns"

    def draw(self) -> None:
        """Draw the menu of studies and the roles."""
        text = description.read_description(self.state.path)
        study = self.state.study or text["dataset"].get("default_study", next(iter(text["studies"])))
        schema = DatasetDescription.of(self.state.path, study).schema
        self.put(
            "body",
            "studies",
            studies={name: own.get("description", name) for name, own in text["studies"].items()},
            study=study,
            roles=[(each.name, str(each.role)) for each in schema.attributes],
            file=self.state.path.name,
        )

    def act(self, name: str, value: Any) -> None:
        """Perform the action of a control."""
        if name == "study":
            self.state.set("study", value)
            self.state.set("choice", None)
        self.refresh()

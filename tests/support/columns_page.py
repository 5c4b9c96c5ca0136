"""The page of the columns alone, without the other tabs of the app."""

from privnb.app.columns import YourTable, find_description_of
from privnb.datasets.description_editor import DescriptionEditor


def open_columns(file="", name=""):
    """Return the page of the columns of a file, which is described first, or of a described table of this name."""
    return YourTable(DescriptionEditor.open(str(find_description_of(file, name))))

"""A measure."""

from typing import Any

from privnb import measure


@measure(kind="utility", better="lower", bounds=(0, 1), unit="share of cells", live=True)
def kept_cells(dataset: Any, release: Any) -> float:
    """Share of the quasi-identifiers' cells that a release does not publish as they are.

    Source: the clinic.
    """
    changed = [name for name in dataset.schema.quasi_identifiers if release.columns[name].kind != "exact"]
    return len(changed) / len(dataset.schema.quasi_identifiers)

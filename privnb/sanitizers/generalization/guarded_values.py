"""Sensitive values generalized no more than the people of their class want.

Source: Xiao and Tao, "Personalized Privacy Preservation", SIGMOD 2006, section 5 (SA-generalization); Aggarwal and Yu
2008, chapter 19.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd

from privnb.measures.disclosure.personal import breaches, guarded_share
from privnb.microdata.hierarchy import Taxonomy
from privnb.microdata.release import Release
from privnb.runtime.arrays import Array, FloatArray
from privnb.runtime.tolerances import EXACT
from privnb.runtime.validation import Share, instead, validated
from privnb.sanitizers.errors import SanitizationError


class Guarded(NamedTuple):
    """`table`: the release's, with sensitive labels that may be nodes; `breaches`: of each person, float array (n,);
    `loss`: mean width of the sensitive labels, 0 exact, 1 all suppressed."""

    table: pd.DataFrame
    breaches: FloatArray
    loss: float


SensitiveTree = Annotated[
    Taxonomy, instead(Taxonomy, "Give that of the sensitive attribute, whose nodes people can guard.")
]


@validated
def guarded(release: Release, tree: SensitiveTree, guards: Any, *, most: Share) -> Guarded:
    """A release whose sensitive values are generalized until nobody's breach probability exceeds `most`.

    In each class, for whoever is worst off: the row is lifted to the node above that lowers their breach most for the
    width that it adds. Which rows are lifted depends on the wishes; somebody who knows these may learn more.

    Parameters
    ----------
    release : Release
        Of generalized quasi-identifiers, from any sanitizer of classes, one row per record.
    tree : Taxonomy
        Of a sensitive attribute, whose name it has.
    guards : array (n,) of str
        The guarding node of each person, in the order of the records; empty: none.
    most : float
        Above 0, at most 1.

    Returns
    -------
    Guarded

    Raises
    ------
    SchemaError
        For a guarding node that the taxonomy lacks.
    SanitizationError
        Where a class has too many people who guard too much, also with all values suppressed.
    """
    if tree.name not in release.schema.sensitive:
        raise SanitizationError(
            f"'{tree.name}' is no sensitive attribute of the release; those are {', '.join(release.schema.sensitive)}."
        )
    release.check_classes("Guarded values are")
    table, classes = release.table.copy(), release.defined_classes
    labels = table[tree.name].astype(str).to_numpy(dtype=object).copy()
    guards = np.asarray(guards, dtype=object)
    worst = breaches(tree, classes, labels, guards)
    above = {
        label: row[level + 1 :] for row in tree.rows for level, label in enumerate(row) if level == row.index(label)
    }
    for each in np.unique(classes[worst > most]):
        rows = np.flatnonzero(classes == each)
        labels[rows] = _lifted(tree, above, labels[rows], guards[rows], most)
    found = breaches(tree, classes, labels, guards)
    if found.max(initial=0) > most + EXACT:
        raise SanitizationError(f"a class still breaches a wish with {found.max():.2g}, more than {most:g}.")
    table[tree.name] = labels
    return Guarded(table, found, float(np.mean([tree.width(label) for label in labels])))


def _lifted(tree: Taxonomy, above: Mapping[str, Sequence[str]], labels: Array, guards: Array, most: float) -> Array:
    """The labels of one class."""
    labels, alone = labels.copy(), np.zeros(len(labels), dtype=np.int64)
    while (now := breaches(tree, alone, labels, guards)).max() > most + EXACT:
        guard = guards[now.argmax()]
        best: tuple[float, str, str] | None = None
        for label in dict.fromkeys(labels):
            share = guarded_share(tree, label, guard)
            higher = next((node for node in above[label] if guarded_share(tree, node, guard) < share), None)
            if higher is None:
                continue
            worth = (share - guarded_share(tree, higher, guard)) / (tree.width(higher) - tree.width(label))
            if best is None or worth > best[0]:
                best = (worth, label, higher)
        if best is None:
            raise SanitizationError(
                f"a class of {len(labels)} people cannot keep the breach of '{guard}' at {most:g}: with all values "
                f"suppressed it is {now.max():.2g}. Raise most, or ask for larger guarding nodes of fewer people."
            )
        labels[np.flatnonzero(labels == best[1])[0]] = best[2]
    return labels

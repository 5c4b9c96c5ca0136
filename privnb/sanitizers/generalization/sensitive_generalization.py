"""Generalization of sensitive values, only as far as the people of each class request.

Source: Xiao and Tao, "Personalized Privacy Preservation", SIGMOD 2006, section 5 (SA-generalization); Aggarwal and Yu
2008, chapter 19.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd

from privnb.measures.disclosure.personal import breach_probabilities, guarded_share
from privnb.microdata.hierarchy import Taxonomy
from privnb.microdata.release import Release
from privnb.runtime.arrays import Array, FloatArray
from privnb.runtime.tolerances import EXACT
from privnb.runtime.validation import Share, instead, validated
from privnb.sanitizers.errors import SanitizationError


class GeneralizedValues(NamedTuple):
    """A release with generalized sensitive values.

    Attributes
    ----------
    table : DataFrame
        The table of the release, with sensitive labels that may be nodes of the taxonomy.
    breaches : float array (n,)
        The breach probability of each person.
    loss : float
        The mean width of the sensitive labels: 0 if all are exact, and 1 if all are suppressed.
    """

    table: pd.DataFrame
    breaches: FloatArray
    loss: float


SensitiveTree = Annotated[
    Taxonomy, instead(Taxonomy, "Give that of the sensitive attribute, whose nodes people can guard.")
]


@validated
def generalize_sensitive_values(
    release: Release, tree: SensitiveTree, guards: Any, *, most: Share
) -> GeneralizedValues:
    """Generalize sensitive values until no breach probability exceeds `most`.

    In each class, the algorithm repeatedly takes the person with the highest breach probability, and generalizes the
    value whose generalization lowers this probability most per unit of added width. The choice of values depends on the
    guarding nodes, so an adversary who knows these nodes may learn more.

    Parameters
    ----------
    release : Release
        A release with generalized quasi-identifiers, from any sanitizer that makes classes, and one row per record.
    tree : Taxonomy
        The taxonomy of a sensitive attribute; the taxonomy has the name of the attribute.
    guards : array (n,) of str
        The guarding node of each person, in the order of the records; an empty text requests no protection.
    most : float
        The largest breach probability that is allowed, above 0 and at most 1.

    Returns
    -------
    GeneralizedValues

    Raises
    ------
    SchemaError
        If the taxonomy lacks a guarding node.
    SanitizationError
        If the breach probability of a class is still above `most` when all values of the class are suppressed.
    """
    if tree.name not in release.schema.sensitive:
        raise SanitizationError(
            f"'{tree.name}' is not a sensitive attribute of the release, which has "
            f"{', '.join(release.schema.sensitive)}."
        )
    release.check_classes("Guarded values are")
    table, classes = release.table.copy(), release.defined_classes
    labels = table[tree.name].astype(str).to_numpy(dtype=object).copy()
    guards = np.asarray(guards, dtype=object)
    worst = breach_probabilities(tree, classes, labels, guards)
    above = {
        label: row[level + 1 :] for row in tree.rows for level, label in enumerate(row) if level == row.index(label)
    }
    for each in np.unique(classes[worst > most]):
        rows = np.flatnonzero(classes == each)
        labels[rows] = _lifted(tree, above, labels[rows], guards[rows], most)
    found = breach_probabilities(tree, classes, labels, guards)
    if found.max(initial=0) > most + EXACT:
        raise SanitizationError(
            f"the breach probability of a class is still {found.max():.2g}; at most {most:g} is allowed. Raise `most`."
        )
    table[tree.name] = labels
    return GeneralizedValues(table, found, float(np.mean([tree.width(label) for label in labels])))


def _lifted(tree: Taxonomy, above: Mapping[str, Sequence[str]], labels: Array, guards: Array, most: float) -> Array:
    """Return the labels of one class after generalization."""
    labels, alone = labels.copy(), np.zeros(len(labels), dtype=np.int64)
    while (now := breach_probabilities(tree, alone, labels, guards)).max() > most + EXACT:
        guard = guards[now.argmax()]
        best: tuple[float, str, str] | None = None
        for label in dict.fromkeys(labels):
            share = guarded_share(tree, label, guard)
            higher = next((node for node in above[label] if guarded_share(tree, node, guard) < share), None)
            if higher is None:
                continue
            gain = (share - guarded_share(tree, higher, guard)) / (tree.width(higher) - tree.width(label))
            if best is None or gain > best[0]:
                best = (gain, label, higher)
        if best is None:
            raise SanitizationError(
                f"a class of {len(labels)} people cannot limit the breach probability of '{guard}' to {most:g}: if all "
                f"values are suppressed, the probability is {now.max():.2g}. Raise `most`, or let fewer people guard "
                "smaller nodes."
            )
        labels[np.flatnonzero(labels == best[1])[0]] = best[2]
    return labels

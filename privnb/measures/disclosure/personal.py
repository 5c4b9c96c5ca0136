"""Personalized privacy, in which each person chooses a node of the taxonomy of sensitive values to be protected.

This node is called the guarding node. A breach occurs if an adversary who finds a person's class correctly claims that
the person has a value below the person's guarding node. The sensitive values of a class may be published as nodes of
the taxonomy; all leaves below a published node are then equally likely.

Source: Xiao and Tao, "Personalized Privacy Preservation", SIGMOD 2006; Aggarwal and Yu 2008, section 2.3.2 and chapter
19.
"""

from typing import Annotated, Any

import numpy as np

from privnb.measures.base import register_measure
from privnb.microdata.counts import tabulate
from privnb.microdata.hierarchy import Taxonomy
from privnb.microdata.schema import SchemaError
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import instead, validated

register_measure(
    "breach_probability",
    kind="privacy",
    title="Breach probability",
    sentence="An adversary who knows the quasi-identifiers learns with this probability what a person wants nobody to "
    "learn. Lower protects more.",
    source="Xiao and Tao, SIGMOD 2006",
    format="{:%}",
)


Tree = Annotated[Taxonomy, instead(Taxonomy, "Take it from the hierarchies of a dataset.")]


@validated
def guarded_share(tree: Tree, label: str, guard: str) -> float:
    """Return the share of the leaves of a published label that are below a guarding node, from 0 to 1; lower is better.

    Parameters
    ----------
    tree : Taxonomy
    label, guard : str
        Nodes or leaves.

    Raises
    ------
    SchemaError
        If the taxonomy does not contain the guarding node or the label.
    """
    leaves, below = _leaves(tree, label, "published label"), _leaves(tree, guard, "guarding node")
    # The leaves of a node are neighbors.
    both = min(leaves[-1], below[-1]) - max(leaves[0], below[0]) + 1
    return max(int(both), 0) / len(leaves)


def _leaves(tree: Taxonomy, node: str, what: str) -> IntArray:
    try:
        return tree.covered(expect.text(f"each of the {what}s", node, "a node"))
    except SchemaError:
        known = dict.fromkeys(label for row in tree.rows for label in row[1:])
        raise SchemaError(
            f"the taxonomy of '{tree.name}' has no {what} '{node}'. Try a leaf, or one of {', '.join(known)}."
        ) from None


@validated
def breach_probabilities(tree: Tree, classes: IntArray, labels: Any, guards: Any) -> FloatArray:
    """Return the probability of a breach for each person, given the person's guarding node.

    To the adversary, each row of a class is equally likely to belong to each person in the class.

    Parameters
    ----------
    tree : Taxonomy
    classes : integer array (n,)
        The class of each row, from 0.
    labels, guards : array (n,) of str
        The published sensitive label of each row, and the guarding node of each person; an empty text means no guarding
        node.

    Returns
    -------
    float array (n,)
        The probabilities, from 0 to 1; 0 for a person without a guarding node. Lower is better.

    Source: Xiao and Tao, SIGMOD 2006, section 4, for one row per person.
    """
    if classes.ndim != 1 or classes.dtype.kind not in "iu" or not len(classes) or classes.min() < 0:
        raise UsageError(
            f"`classes` must be whole numbers of at least 0, one for each row; got {expect.describe_value(classes)}. "
            "Give `release.classes`."
        )
    labels, guards = np.asarray(labels, dtype=object), np.asarray(guards, dtype=object)
    expect.column("labels", labels, len(classes))
    expect.column("guards", guards, len(classes))
    names, codes = np.unique(labels.astype(str), return_inverse=True)
    counts = tabulate(classes, codes, (int(np.max(classes)) + 1, len(names)))
    found = np.zeros(len(classes))
    for guard in set(guards.tolist()) - {""}:
        shares = np.array([guarded_share(tree, name, guard) for name in names])
        found = np.where(guards == guard, ((counts @ shares) / np.maximum(counts.sum(axis=1), 1))[classes], found)
    return found

"""Privacy that each person sets: a guarding node of the sensitive attribute's taxonomy that nobody may learn of them.

A breach is that an adversary who finds a person's class claims a value below their guarding node, and is right. The
values of a class may be published as nodes: of such a label each leaf is as likely.

Source: Xiao and Tao, "Personalized Privacy Preservation", SIGMOD 2006; Aggarwal and Yu 2008, section 2.3.2 and chapter
19.
"""

from typing import Annotated, Any

import numpy as np

from privnb.measures.base import state
from privnb.microdata.counts import tabulate
from privnb.microdata.hierarchy import Taxonomy
from privnb.microdata.schema import SchemaError
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import instead, validated

state(
    "breach_probability",
    kind="privacy",
    title="Breach of one's own wish",
    sentence="How likely an adversary who knows the quasi-identifiers tells of somebody what they want nobody to tell.",
    source="Xiao and Tao, SIGMOD 2006",
    format="{:%}",
)


Tree = Annotated[Taxonomy, instead(Taxonomy, "Take it from the hierarchies of a dataset.")]


@validated
def guarded_share(tree: Tree, label: str, guard: str) -> float:
    """Share of the leaves of a published label that lie below a guarding node: 0 to 1, lower is better.

    Parameters
    ----------
    tree : Taxonomy
    label, guard : str
        Nodes or leaves.

    Returns
    -------
    float

    Raises
    ------
    SchemaError
        For a guarding node, or a label, that the taxonomy lacks.
    """
    leaves, below = _leaves(tree, label, "published label"), _leaves(tree, guard, "guarding node")
    # The leaves of a node stand side by side.
    both = min(leaves[-1], below[-1]) - max(leaves[0], below[0]) + 1
    return max(int(both), 0) / len(leaves)


def _leaves(tree: Taxonomy, node: str, what: str) -> IntArray:
    try:
        return tree.covered(expect.text(f"each of the {what}s", node, "a node"))
    except SchemaError:
        known = dict.fromkeys(label for row in tree.rows for label in row[1:])
        raise SchemaError(
            f"the taxonomy of '{tree.name}' has no {what} '{node}'. Name a leaf, or one of {', '.join(known)}."
        ) from None


@validated
def breaches(tree: Tree, classes: IntArray, labels: Any, guards: Any) -> FloatArray:
    """How likely it is that an adversary rightly claims a value below the guarding node of each person of a release.

    They take everybody in a class for the owner of any of its rows, as likely as each other one.

    Parameters
    ----------
    tree : Taxonomy
    classes : integer array (n,)
        From 0.
    labels, guards : array (n,) of str
        Published sensitive labels and guarding nodes; an empty guard guards nothing.

    Returns
    -------
    float array (n,)
        0 to 1, lower is better; 0 where nothing is guarded.

    Source: Xiao and Tao, SIGMOD 2006, section 4, for one row each.
    """
    if classes.ndim != 1 or classes.dtype.kind not in "iu" or not len(classes) or classes.min() < 0:
        raise UsageError(f"classes must be whole numbers from 0, one a row, got {expect.found(classes)}.")
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

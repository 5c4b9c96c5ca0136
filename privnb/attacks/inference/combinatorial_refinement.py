"""Combinatorial refinement of local recoding: where coarse rows cannot be, because a finer run would have taken them.

Local recoding by repeated runs, as in ARX, generalizes a table to one level for each attribute, publishes all classes
of at least k people, and passes on the other people to the next run, which uses other levels. The people of the last
run are suppressed. `FullDomain` with suppression is such a recoding with a single run. A release discloses the levels
of each run, and therefore more than its labels. With the release alone, without auxiliary data, an adversary concludes:

1. A class of a run contains all people that were left before this run and have its labels. Nobody whose row was
   published by a later run has these labels.
2. A combination of labels that a run did not publish belongs to fewer than k of the people that were left. The number
   of people in later runs with this combination is at most k - 1.

Divide the public domain into cells, the combinations of the finest level of each attribute among all runs. By (1), a
cell belongs to the first run that published a class with this cell, and to this class alone. Let n_c be the number of
people in cell c. The numbers n_c are whole numbers of at least 0, their sum over the cells of a class is the number of
rows of the class, and by (2) their sum over the cells of an unpublished combination of run i that belong to later runs
is at most k - 1. The minimum and the maximum of each n_c under these constraints are certificates: if the maximum is 0,
no person of the class is in the cell, and if the minimum is above 0, somebody is. Two integer programs compute them.
The bounds use neither the loss that the algorithm minimizes nor its ties, so they hold for any such algorithm; an
adversary who knows the loss may exclude more.

`FullDomain` differs in one respect: if fewer than k people are left, a smallest class is suppressed together with them.
The people left are then at most k - 1 + p, where p is the size of the smallest published class, and the combination of
the class belongs to at most p people. If that many people or fewer are left after a run, the bound of (2) is therefore
the maximum of k - 1 and p.

Two programs are solved for each kind of cell; cells of one class that share all limits are of one kind. The attack is
meant for small tables: at most `MAX_CELLS` cells, of which at most `MAX_OPEN` belong to later runs.

Source: Chhillar et al., "Combinatorial Refinement", arXiv 2509.03350, 2025, for the idea of an attack on local
recoding by programs and without auxiliary data. We have not read the paper; the constraints and their derivation are
ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, csr_array

from privnb.microdata.counts import count_combinations
from privnb.microdata.hierarchy import Intervals, Taxonomy
from privnb.microdata.treatment import Unreadable
from privnb.privacy_models import check_k
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.errors import UsageError

MAX_CELLS, MAX_OPEN = 20_000, 2_000
IMPOSSIBLE = "`runs` must be those of one release, but no table leads to them"
NOBODY = -1  # the class of a cell that belongs to no row of the release


@dataclass(frozen=True, eq=False)
class RefinedRows:
    """The cells of the public domain in which the coarse rows of a release can be.

    Attributes
    ----------
    levels : dict of str to integer array
        The node of each position of an attribute at its finest published level. A cell is a combination of nodes, and
        the nodes of the last attribute vary fastest.
    sizes : integer array (classes,)
        The number of rows of each class of the runs after the first; the suppressed rows are the last class.
    run : integer array (classes,)
        The run of each class, from 0; that of the suppressed rows is the number of runs.
    labelled : boolean array (classes, cells)
        Whether the labels of the class cover the cell.
    least, most : integer array (cells,)
        The bounds of the number of people of these classes in each cell.
    owner : integer array (cells,)
        The class to which the people in the cell belong, or -1 if no person of these classes can be in the cell.
    """

    levels: Mapping[str, IntArray]
    sizes: IntArray
    run: IntArray
    labelled: BoolArray
    least: IntArray
    most: IntArray
    owner: IntArray

    @cached_property
    def possible(self) -> BoolArray:
        """Whether a person of the class can be in the cell, as a boolean array (classes, cells)."""
        return (self.owner == np.arange(len(self.sizes))[:, None]) & (self.most > 0)

    def locate(self, positions: Mapping[str, IntArray]) -> IntArray:
        """Return the cells of people, by the positions of their values in the hierarchies: integer array (m,)."""
        return _combine([nodes[positions[name]] for name, nodes in self.levels.items()], [*self.levels.values()])


def refine_runs(runs: Sequence[pd.DataFrame], hierarchies: Mapping[str, Any], k: int) -> RefinedRows:
    """Return the cells in which the rows of later runs can be.

    Parameters
    ----------
    runs : list of DataFrame
        The published labels of the quasi-identifiers, one table for each run in the order of the runs. The last table
        has the suppressed rows, and may be empty.
    hierarchies : dict of str to Taxonomy or Intervals
        The hierarchies of all quasi-identifiers.
    k : int
        The minimum number of people in a class.

    Returns
    -------
    RefinedRows

    Raises
    ------
    Unreadable
        If a hierarchy has no levels, if the labels of a run are of several levels, or if there are too many cells.
    ValueError
        If no run with these k can have made the release.
    """
    check_k(k)
    if len(runs) < 2 or not all(map(len, runs[:-1])):
        raise UsageError(
            f"`runs` must have rows of at least one run, and then the suppressed rows; got {len(runs)} tables with "
            f"{', '.join(str(len(run)) for run in runs)} rows. Give an empty last table if nobody is suppressed."
        )
    trees = {name: _read_tree(name, hierarchies[name]) for name in hierarchies}
    published = [count_combinations(run[[*trees]].astype(str)) for run in runs[:-1]]
    for classes in published:
        if classes.multiplicities.min(initial=k) < k:
            raise UsageError(f"`runs` must have classes of at least k={k} rows. Give the k of the release.")
    levels = [{name: _find_level(name, hierarchies[name], tree, each.values[name]) for name, tree in trees.items()}
              for each in published]  # fmt: skip
    finest = {name: tree[min(each[name] for each in levels)] for name, tree in trees.items()}
    cells = prod(int(nodes.max()) + 1 for nodes in finest.values())
    if cells > MAX_CELLS:
        raise Unreadable(f"the release has {cells:,} cells, but the attack reads at most {MAX_CELLS:,}.")
    grid = np.unravel_index(np.arange(cells), [int(nodes.max()) + 1 for nodes in finest.values()])
    # A position in each node; the nodes of a level are numbered from 0.
    leaf = {
        name: np.unique(nodes, return_index=True)[1][own]
        for (name, nodes), own in zip(finest.items(), grid, strict=True)
    }
    owner, taken = np.full(cells, NOBODY), np.zeros(cells, dtype=bool)
    combinations: list[IntArray] = []
    labelled: list[BoolArray] = []
    sizes: list[int] = []
    run_of: list[int] = []  # each class of a later run
    for number, (classes, level) in enumerate(zip(published, levels, strict=True)):
        node = [trees[name][level[name]] for name in trees]
        combination = _combine([own[leaf[name]] for own, name in zip(node, trees, strict=True)], node)
        of = [[hierarchies[name].covered(label)[0] for label in classes.values[name]] for name in trees]
        own = _combine([each[place] for each, place in zip(node, of, strict=True)], node)
        for place, size in zip(own, classes.multiplicities, strict=True):
            if number:
                covered = combination == place
                owner[covered & ~taken] = len(sizes)
                labelled.append(covered)
                sizes.append(int(size))
                run_of.append(number)
        taken |= np.isin(combination, own)
        combinations.append(combination)
    if len(runs[-1]):
        owner[~taken] = len(sizes)
        labelled.append(np.ones(cells, dtype=bool))
        sizes.append(len(runs[-1]))
        run_of.append(len(published))
    if not np.isin(np.arange(len(sizes)), owner).all():
        raise UsageError(f"{IMPOSSIBLE}: an earlier run published all combinations of a class.")
    numbers = [len(run) for run in runs]
    caps = [_cap(k, int(each.multiplicities.min()), sum(numbers[place + 1 :])) for place, each in enumerate(published)]
    limits = [(np.where(np.array([*run_of, 0])[owner] > number, combination, NOBODY), cap)
              for number, (combination, cap) in enumerate(zip(combinations, caps, strict=True))]  # fmt: skip
    least, most = _bound(owner, sizes, limits)
    return RefinedRows(
        levels=finest,
        sizes=np.array(sizes, dtype=np.int64),
        run=np.array(run_of, dtype=np.int64),
        labelled=np.array(labelled, dtype=bool).reshape(-1, cells),
        least=least,
        most=most,
        owner=owner,
    )


def _read_tree(name: str, hierarchy: Any) -> IntArray:
    """Return the node of each position at each level, as an integer array (levels, positions)."""
    if not isinstance(hierarchy, Taxonomy) and type(hierarchy) is not Intervals:
        raise Unreadable(
            f"'{name}' has no public levels, so the levels of a run are unknown. Give the attribute a taxonomy or "
            "intervals, or leave it out of the quasi-identifiers."
        )
    return np.asarray(hierarchy.groups)


def _find_level(name: str, hierarchy: Any, tree: IntArray, labels: pd.Series) -> int:
    """Return the finest level of which all labels are nodes; a finer level than the true one excludes less."""
    covers = [hierarchy.covered(label) for label in labels.unique()]
    for number, nodes in enumerate(tree):
        sizes = np.bincount(nodes)
        if all((nodes[own] == nodes[own[0]]).all() and sizes[nodes[own[0]]] == len(own) for own in covers):
            return number
    raise Unreadable(f"the labels of '{name}' in one run are of several levels. Give the runs of full-domain recoding.")


def _combine(columns: Sequence[IntArray], nodes: Sequence[IntArray]) -> IntArray:
    """Return the number of each combination of nodes, with the nodes of the last attribute varying fastest."""
    return np.ravel_multi_index(list(columns), [int(each.max()) + 1 for each in nodes])


def _cap(k: int, smallest: int, left: int) -> int:
    """Return the largest number of people of an unpublished combination; see the module for a suppressed class."""
    return k - 1 if left > k - 1 + smallest else max(k - 1, smallest)


def _bound(owner: IntArray, sizes: Sequence[int], limits: Sequence[tuple[IntArray, int]]) -> tuple[IntArray, IntArray]:
    """Return the least and the largest number of people in each cell, as two integer arrays (cells,).

    `limits` has, for each run, the combination of each cell, or -1 if no limit applies, and the largest number of
    people of a combination.
    """
    least, most = np.zeros(len(owner), dtype=np.int64), np.zeros(len(owner), dtype=np.int64)
    cells = np.flatnonzero(owner != NOBODY)
    if len(cells) > MAX_OPEN:
        raise Unreadable(
            f"the coarse rows can be in {len(cells):,} cells, but the attack solves programs for at most {MAX_OPEN:,}."
        )
    constraints = [LinearConstraint(_sum_groups(owner[cells], len(sizes)), sizes, sizes)] if sizes else []
    kinds = [owner[cells]]
    for combination, cap in limits:
        found, group, times = np.unique(combination[cells], return_inverse=True, return_counts=True)
        constraints.append(LinearConstraint(_sum_groups(group, len(found)), 0, np.where(found < 0, np.inf, cap)))
        kinds.append(np.where((times[group] == 1) & (found[group] >= 0), len(found), group))
    # Cells of one class that share the same combinations, or have a combination alone, have the same bounds.
    _, first, kind = np.unique(np.column_stack(kinds), axis=0, return_index=True, return_inverse=True)
    for bounds, sign in ((least, 1), (most, -1)):
        bounds[cells] = np.array([_solve(place, sign, len(cells), constraints) for place in first])[kind.ravel()]
    return least, most


def _solve(place: int, sign: int, cells: int, constraints: Sequence[LinearConstraint]) -> int:
    """Return the least (sign 1) or the largest (sign -1) number of people in one cell."""
    weights = np.zeros(cells)
    weights[place] = sign
    found = milp(weights, constraints=constraints, bounds=Bounds(0, np.inf), integrality=np.ones(cells))
    if found.x is None:
        raise UsageError(f"{IMPOSSIBLE}. Check their order and `k`.")
    return round(found.x[place])


def _sum_groups(group: IntArray, groups: int) -> csr_array:
    """Return the matrix that sums the cells of each group, (groups, cells)."""
    return coo_array((np.ones(len(group)), (group, np.arange(len(group)))), shape=(groups, len(group))).tocsr()

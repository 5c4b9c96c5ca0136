"""Imputation of blocked cells, with which an adversary may recover hidden rules.

The adversary guesses from the known cells of a record whether the record has a blocked item: the item is more likely if
more of its companions, the items that usually occur together with the item, are present. The method "all" treats each
blocked cell as a present item; this is correct if blocking hides only present items.

Source: Verykios, Elmagarmid, Bertino, Saygin, Dasseni, "Association Rule Hiding", TKDE 16(4), 2004 (for the risk);
Aggarwal and Yu 2008, section 10.3. The method "companions", which guesses with naive Bayes, was added by this package.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from privnb.miners.baskets import Baskets
from privnb.runtime.arrays import BoolArray, FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import validated

How = Literal["all", "companions"]


@validated
def fill_blocked(baskets: Baskets, how: How = "all") -> Baskets:
    """Return the baskets with a guess for each blocked cell.

    Parameters
    ----------
    baskets : Baskets
        The records, with blocked cells in `unknown`.
    how : str
        "all": every blocked item is guessed to be present. "companions": an item is guessed to be present if naive
        Bayes, trained on the known cells, gives the item a probability above one half. If the baskets come from a
        table, an item is guessed to be present if it is the most likely value of its attribute.

    Returns
    -------
    Baskets
        The records without blocked cells.
    """
    if baskets.unknown is None:
        raise UsageError("`baskets` must have blocked cells; got none. Try the result of `block`.")
    blocked = baskets.unknown.any(axis=0)
    has = baskets.has | baskets.unknown
    if how == "companions":
        scores = np.full(has.shape, -np.inf)
        for place in np.flatnonzero(blocked).tolist():
            rows = baskets.unknown[:, place]
            scores[rows, place] = _score(baskets, baskets.unknown, place, rows)
        guessed = scores > 0 if baskets.kinds is None else _likeliest(scores, baskets.kinds)
        has = baskets.has | (baskets.unknown & guessed)
    return replace(baskets, has=has, unknown=None)


def _likeliest(scores: FloatArray, kinds: Sequence[object]) -> BoolArray:
    """Return, as a boolean array (n, items), which item has the highest score of its attribute in each record."""
    found = np.zeros(scores.shape, dtype=bool)
    for kind in dict.fromkeys(kinds):
        places = [place for place, each in enumerate(kinds) if each == kind]
        best = scores[:, places].argmax(axis=1)
        found[np.arange(len(scores)), np.array(places)[best]] = True
    return found


def _score(baskets: Baskets, unknown: BoolArray, place: int, rows: BoolArray) -> FloatArray:
    """Return the log odds, by naive Bayes, that each record in `rows` has the item at `place`.

    `rows`: boolean array (n,), which selects the records.
    """
    score = np.zeros(1)
    others = np.delete(np.arange(len(baskets.items)), place)
    if baskets.kinds is not None:  # other values of the attribute are blocked together with the item
        others = np.array([other for other in others if baskets.kinds[other] != baskets.kinds[place]])
    for own, sign in ((baskets.has[:, place], 1), (~baskets.has[:, place], -1)):
        among = own & ~unknown[:, place]
        known = ~unknown[among][:, others]
        share = (baskets.has[among][:, others].sum(axis=0) + 1) / (known.sum(axis=0) + 2)
        there, asked = baskets.has[rows][:, others], ~unknown[rows][:, others]
        logs = np.where(there, np.log(share), np.log(1 - share)) * asked
        score = score + sign * (np.log(among.sum() + 1) + logs.sum(axis=1))
    return np.round(score, 9)


@validated
def filling_accuracy(original: Baskets, blocked: Baskets, guessed: Baskets) -> tuple[float, float]:
    """Return the share of blocked cells that are filled correctly, first by the guesses and then by the baseline.

    For each item, the baseline guesses present or absent, whichever is more common among the known cells of the item.

    Parameters
    ----------
    original, blocked, guessed : Baskets
        Baskets with the same records and items.

    Returns
    -------
    tuple of two float
        Two shares, from 0 to 1; lower is better for the owner who blocked the cells. The shares are NaN if there are no
        blocked cells.
    """
    cells = blocked.unknown
    if cells is None or not cells.any():
        return np.nan, np.nan
    common = blocked.has.sum(axis=0) * 2 > (~cells).sum(axis=0)
    truth = original.has[cells]
    baseline = np.broadcast_to(common, cells.shape)[cells]
    return float((guessed.has[cells] == truth).mean()), float((baseline == truth).mean())

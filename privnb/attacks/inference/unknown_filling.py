"""Whoever fills blocked cells in may have the hidden rules again.

An adversary guesses whether an item is there from the known cells of the same record: it is likelier where
more of the item's usual companions are. `all` takes each unknown for an item that is there, as it is where blocking
hides present items alone.

Source: Verykios, Elmagarmid, Bertino, Saygin, Dasseni, "Association Rule Hiding", TKDE 16(4), 2004 (the danger);
Aggarwal and Yu 2008, section 10.3. The guess by companions is this package's: naive Bayes.
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
def filled(baskets: Baskets, how: How = "all") -> Baskets:
    """Return the baskets with each blocked cell guessed.

    Parameters
    ----------
    baskets : Baskets
        With `unknown`.
    how : str
        "all": the item is there; "companions": where naive Bayes, learned from the known cells, finds it likelier
        than not; of a table, where it is the likeliest value of its attribute.

    Returns
    -------
    Baskets
        Without unknown cells.
    """
    if baskets.unknown is None:
        raise UsageError("no cell of these baskets is blocked. Give what `block` returns.")
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
    """Of the values of each attribute the one of the highest score in each record: bool array (n, items)."""
    found = np.zeros(scores.shape, dtype=bool)
    for kind in dict.fromkeys(kinds):
        places = [place for place, each in enumerate(kinds) if each == kind]
        best = scores[:, places].argmax(axis=1)
        found[np.arange(len(scores)), np.array(places)[best]] = True
    return found


def _score(baskets: Baskets, unknown: BoolArray, place: int, rows: BoolArray) -> FloatArray:
    """By how much likelier records, bool array (n,), have the item than not, as naive Bayes says: log odds."""
    score = np.zeros(1)
    others = np.delete(np.arange(len(baskets.items)), place)
    if baskets.kinds is not None:  # other values of its attribute are blocked with it
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
def rightly_filled(original: Baskets, blocked: Baskets, guessed: Baskets) -> tuple[float, float]:
    """Return the share of the blocked cells that are guessed rightly, and that of the commoner answer for each item.

    Parameters
    ----------
    original, blocked, guessed : Baskets
        Of the same records and items.

    Returns
    -------
    tuple of two float
        0 to 1; lower is better for the owner who blocked. NaN without blocked cells. The second is the baseline: for
        each item whichever answer, there or not, is commoner among the known cells.
    """
    cells = blocked.unknown
    if cells is None or not cells.any():
        return np.nan, np.nan
    common = blocked.has.sum(axis=0) * 2 > (~cells).sum(axis=0)
    truth = original.has[cells]
    baseline = np.broadcast_to(common, cells.shape)[cells]
    return float((guessed.has[cells] == truth).mean()), float((baseline == truth).mean())

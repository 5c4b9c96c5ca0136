"""Which counts of few people follow from a table of counts of which some are withheld.

A code path of its own: whole numbers are sought (integer programming) that all that is known of the table allows.
"""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp


def follows(cells, margins, withheld, limit):
    """The counts of 1 to limit - 1 people that can have one value only, as text: of cells, and of those of a whole who
    are in none of its parts, or in none that is shown.

    `cells`: `{name: people}`; `margins`: (whole, parts, rest), see `withholding.Margin`; `withheld`: the names
    of cells that are not shown. Known are the margins, the cells shown, and of each withheld one, and of each rest of
    a public number of people, whether it is nobody, few people or more.
    """
    names = list(cells)
    at = {name: place for place, name in enumerate(names)}
    counts = [(name, cells[name], _known(cells[name], name in withheld, limit)) for name in names]
    equations, to = [], []
    shown = [(whole, [part for part in parts if part not in withheld], True) for whole, parts, _ in margins]
    for place, (whole, parts, rest) in enumerate([*margins, *shown]):
        public = whole not in cells
        left = (whole if public else cells[whole]) - sum(cells[part] for part in parts)
        known = (0, 0) if not rest else _known(left, True, limit) if public and place < len(margins) else (0, np.inf)
        ones = dict.fromkeys((at[part] for part in parts), 1) | {len(counts): 1} | ({} if public else {at[whole]: -1})
        counts.append((f"{whole} less {', '.join(map(str, parts))}", left, known))
        equations.append(ones)
        to.append(whole if public else 0)
    matrix = np.zeros((len(equations), len(counts)))
    for line, ones in enumerate(equations):
        matrix[line, list(ones)] = list(ones.values())
    asked = {
        "bounds": Bounds(*zip(*(known for _, _, known in counts), strict=True)),
        "integrality": np.ones(len(counts)),
        "constraints": [LinearConstraint(matrix, to, to)] if equations else [],
    }
    few = [place for place, (_, people, _) in enumerate(counts) if 0 < people < limit]
    true, free = np.array([people for _, people, _ in counts]), np.zeros(len(counts), bool)
    for place, sign in ((place, sign) for place in few for sign in (1, -1)):
        if not free[place]:
            # The true counts are allowed, so whatever differs in another solution does not follow.
            free |= _other(place, sign, asked, true)
    return list(dict.fromkeys(counts[place][0] for place in few if not free[place]))


def _known(people, withheld, limit):
    if not withheld:
        return people, people
    return (1, limit - 1) if 0 < people < limit else (limit if people else 0, np.inf)


def _other(place, sign, asked, true):
    """Which counts are not the `true` ones where one of them is the least (sign 1) or the greatest (-1)."""
    ones = np.zeros(len(true))
    ones[place] = sign
    found = milp(ones, **asked)
    assert found.status in (0, 3, 4), found.message
    return np.round(found.x) != true if found.status == 0 else ones != 0

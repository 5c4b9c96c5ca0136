"""What masking of numbers takes and loses: `python masking.py NAME`. The loss is SSE/SST, in `parameters`, per cent."""

import sys
from functools import partial
from typing import NamedTuple

from measure import report, system, timed

ADULT, MILLION = 45_222, 1_000_000


class Work(NamedTuple):
    """`does`: makes ready, and returns the numbers, integer array (n, columns), and what is to be timed: their groups,
    or, where nothing is averaged, a release."""

    name: str
    records: int
    parameters: str
    does: object
    peers: tuple = ()
    k: tuple = ()


def works():
    yield Work("mdav-3", ADULT, "k=3, three numbers", partial(mdav, 3, ADULT))
    yield Work("mdav-10", ADULT, "k=10, three numbers", partial(mdav, 10, ADULT))
    yield Work("mdav-million-10", MILLION, "k=10, three numbers", partial(mdav, 10, MILLION))
    yield Work("averages-3", ADULT, "k=3, one number", averages, ("microaggregation",), (3,))
    yield Work("rank-swapping-15", ADULT, "p=15, three numbers", swapped)


def numbers(records):
    """The three numbers of Adult; of more records drawn with replacement and moved by up to 2 steps, for else few are
    distinct."""
    import inputs
    import numpy as np

    found = inputs.numbers().to_numpy(dtype=np.int64)
    if records > len(found):
        rng = np.random.default_rng(1)
        found = found[rng.integers(len(found), size=records)] * 100
        found += rng.integers(-200, 201, size=found.shape)
    return found


def mdav(k, records):
    from privnb.sanitizers.algorithms import nearest_groups

    found = numbers(records)

    def run():
        space, points, _ = nearest_groups.locate_records(found, [None] * found.shape[1])
        return nearest_groups.mdav(space, points, k)

    return found, run


def averages():
    from privnb.sanitizers.algorithms.optimal_groups import find_optimal_groups

    found = numbers(ADULT)[:, :1]
    return found, lambda: find_optimal_groups(found[:, 0], 3)


def swapped():
    import inputs

    from privnb.sanitizers import RankSwapping

    dataset = inputs.of_numbers()
    return None, lambda: RankSwapping().sanitize(dataset, rng=1)


def lost(found, groups):
    """SSE/SST in per cent of standardized columns: Domingo-Ferrer and Mateo-Sanz, TKDE 2002."""
    import numpy as np

    scaled = (found - found.mean(axis=0)) / found.std(axis=0)
    sizes = np.bincount(groups)
    within = sum(((x - (np.bincount(groups, x) / sizes)[groups]) ** 2).sum() for x in scaled.T)
    return 100 * within / scaled.size


def main(name):
    work = next(work for work in works() if work.name == name)
    found, run = work.does()
    result, taken = timed(run, warm=True)
    said = "" if found is None else f"SSE/SST={lost(found, result):.6g} %"
    report({"system": system("privnb"), "parameters": said} | taken)


if __name__ == "__main__":
    main(*sys.argv[1:])

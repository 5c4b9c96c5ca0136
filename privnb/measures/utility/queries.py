"""COUNT queries: how well a release answers how many people of a group have certain sensitive values.

As in Xiao and Tao, "Anatomy", VLDB 2006, and Li and Li, KDD 2009, section 5.2: SELECT COUNT(*) WHERE some
quasi-identifiers and the sensitive attribute each have one of a random set of values.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from privnb.datasets.dataset import Dataset
from privnb.measures.base import measure
from privnb.measures.utility.reconstruction import Boxes, HierarchyLine, check_number, codes_of, values_asked
from privnb.microdata.release import Release
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Randomness, Share, validated

Reading = Literal["product", "literal"]
READINGS: tuple[Reading, ...] = get_args(Reading)


@dataclass(frozen=True, repr=False, eq=False)
class CountQueries:
    """Random COUNT queries about the original, to be put to releases; made by `CountQueries.of`.

    `sets[name]`: boolean array (queries, parts of the line), the values of a quasi-identifier that each query allows,
    all where it does not ask; `chosen`: boolean array (queries, sensitive values + 1), the same of `values`; `actual`:
    integer array (queries,), the true counts.
    """

    HINT: ClassVar[str] = "CountQueries.of makes them."
    sensitive: str
    values: Array
    lines: Mapping[str, HierarchyLine]
    sets: Mapping[str, BoolArray]
    chosen: BoolArray
    actual: Array

    @classmethod
    @validated
    def of(
        cls,
        dataset: Dataset,
        sensitive: str,
        dimension: int,
        selectivity: Share,
        *,
        rng: Randomness,
        number: int = 1000,
        reading: Reading = "product",
    ) -> "CountQueries":
        """Draw queries, each about some random quasi-identifiers and the sensitive attribute.

        Parameters
        ----------
        dataset : Dataset
        sensitive : str
        dimension : int
            How many quasi-identifiers each query asks for (qd), from 1.
        selectivity : float
            A share above 0, at most 1 (sel).
        rng : int, Generator or None
        number : int
            Of queries, 1 to 100,000.
        reading : str
            For an attribute A of which |A| values occur: "product": each query names ceil(|A| sel^(1/(qd + 1))) of them
            at random, so that, were all combinations equally common, it would count the share `sel` of all people
            (Anatomy's, which fits what Li and Li report); "literal": ceil(|A| sel) of them, as Li and Li's words say,
            which leaves many queries nobody to count.

        Returns
        -------
        CountQueries

        Raises
        ------
        ValueError
            For a dimension, selectivity, number or reading that cannot be, for a quasi-identifier as `sensitive`, and
            where too many values occur to name them.
        """
        names = dataset.schema.quasi_identifiers
        for what, value, most in (("dimension", dimension, len(names)), ("number", number, 100_000)):
            if isinstance(value, bool) or not (isinstance(value, Integral) and 1 <= value <= most):
                raise UsageError(f"{what} must be a whole number from 1 to {most}, got {expect.found(value)}.")
        values = values_asked(dataset, sensitive)
        share = selectivity ** (1 / (dimension + 1)) if reading == "product" else selectivity
        generator = np.random.default_rng(rng)
        asked = _draw(generator, number, len(names), dimension / len(names))[:, :-1]
        lines, sets = {}, {}
        for name, involved in zip(names, asked.T, strict=True):
            lines[name], occurring = _occurring(dataset, name)
            drawn = _draw(generator, number, occurring, share)
            sets[name] = drawn[:, : lines[name].part.max() + 1] | ~involved[:, None]
        chosen = _draw(generator, number, len(values), share)
        found = cls(sensitive, values, lines, sets, chosen, np.empty(0))
        actual = found._answers(Boxes.of_original(dataset, sensitive, lines))
        return replace(found, actual=np.rint(actual).astype(np.int64))

    def __len__(self) -> int:
        return len(self.chosen)

    def __repr__(self) -> str:
        return f"CountQueries({len(self)} about {', '.join(self.lines)} and {self.sensitive}, {self.empty} of nobody)"

    @property
    def empty(self) -> int:
        """How many queries count nobody in the original: they have no relative error and are left out of every mean."""
        return int((self.actual == 0).sum())

    def answers(self, release: Release) -> FloatArray:
        """The counts to be expected from what is published: float array (queries,).

        Read as in `tradeoff.utility_losses`: all values of a cell equally likely, all of a bucket for each of its
        people, a noisy number as the nearest of its domain.
        """
        return self._answers(Boxes.of_release(release, self.sensitive, self.lines, self.values))

    def _answers(self, boxes: Boxes) -> FloatArray:
        return (boxes.expected(len(self), self.sets) * self.chosen).sum(axis=1)


@validated
def relative_errors(queries: CountQueries, release: Release) -> FloatArray:
    """|count from the release - true count| / true count of each query that counts somebody.

    Parameters
    ----------
    queries : CountQueries
    release : Release

    Returns
    -------
    float array (queries that count somebody,)
        0: right; 1: off by as many people as there are; no upper bound; lower is better.

    Raises
    ------
    ValueError
        Where all queries count nobody.

    Source: Li and Li, KDD 2009, section 5.2.
    """
    counted = queries.actual > 0
    if not counted.any():
        raise UsageError(
            f"all {len(queries)} queries count nobody in the original, so there is no relative error. Draw queries of "
            "a higher selectivity."
        )
    actual = queries.actual[counted]
    return np.abs(queries.answers(release)[counted] - actual) / actual


# What both measures of `relative_errors` state.
OF_ERRORS: dict[str, Any] = {"kind": "utility", "better": "lower", "bounds": (0, math.inf), "varies": True}
OF_ERRORS |= {"unit": "share of the true count", "baseline": "trivial release"}


@measure(**OF_ERRORS)
def average_relative_error(queries: CountQueries, release: Release) -> float:
    """How far off the release answers a COUNT query on average, as a share of the true count.

    Mean of `relative_errors`. A few queries of very small counts may decide it, under generalization above all: see
    `median_relative_error`.

    Source: Li and Li, KDD 2009, section 5.2.
    """
    return float(relative_errors(queries, release).mean())


@measure(**OF_ERRORS)
def median_relative_error(queries: CountQueries, release: Release) -> float:
    """Half of the COUNT queries are answered at least as well, as a share of the true count.

    Median of `relative_errors`, of which the paper reports the mean.

    Source: Li and Li, KDD 2009, section 5.2.
    """
    return float(np.median(relative_errors(queries, release)))


def _draw(generator: np.random.Generator, number: int, size: int, share: float) -> BoolArray:
    """That share of `size` things at random, rounded up, `number` times over: boolean array (number, size + 1).

    The last column is for what is never chosen.
    """
    wanted = math.ceil(round(size * share, 9))  # 0.3 of 10 is 3, not 4
    drawn = generator.random((number, size)).argsort(axis=1).argsort(axis=1) < wanted
    return np.column_stack([drawn, np.zeros(number, dtype=bool)])


def _occurring(dataset: Dataset, name: str) -> tuple[HierarchyLine, int]:
    """An attribute's line with a part for each value that occurs, and the last for the others; how many occur."""
    hierarchy = dataset.hierarchies[name]
    positions = np.unique(codes_of(dataset, name, hierarchy))
    check_number(name, len(positions))
    part = np.full(hierarchy.size, len(positions))
    part[positions] = np.arange(len(positions))
    return HierarchyLine(hierarchy, part), len(positions)

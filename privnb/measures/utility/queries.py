"""COUNT queries, and the errors of a release in the numbers of people in groups who have some sensitive values.

The queries follow Xiao and Tao, "Anatomy", VLDB 2006, and Li and Li, KDD 2009, section 5.2: SELECT COUNT(*) WHERE some
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
from privnb.measures.utility.reconstruction import (
    Boxes,
    HierarchyLine,
    check_value_count,
    codes_on_line,
    list_queried_values,
)
from privnb.microdata.release import Release
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Randomness, Share, validated

Reading = Literal["product", "literal"]
READINGS: tuple[Reading, ...] = get_args(Reading)


@dataclass(frozen=True, repr=False, eq=False)
class CountQueries:
    """Random COUNT queries with their answers from the original, which are compared with the answers from releases.

    Attributes
    ----------
    sets : dict of str to boolean array (queries, parts of the line)
        The values of each quasi-identifier that each query allows; all values if the query does not contain the
        attribute.
    chosen : boolean array (queries, sensitive values + 1)
        Whether each query allows each of the sensitive `values`; the last column is False.
    actual : integer array (queries,)
        The true counts, which are the answers from the original.
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
        """Draw random queries, each about random quasi-identifiers and the sensitive attribute.

        Parameters
        ----------
        dataset : Dataset
        sensitive : str
        dimension : int
            The number of quasi-identifiers in each query (qd), at least 1.
        selectivity : float
            The share of people that a query is meant to count (sel), above 0 and at most 1.
        rng : int, Generator or None
        number : int
            The number of queries, 1 to 100,000.
        reading : str
            The rule for the number of values that a query allows for an attribute A of which |A| values occur.
            "product": ceil(|A| sel^(1/(qd + 1))), with which a query counts the share `sel` of all people if all
            combinations are equally common. This rule is that of Anatomy, and agrees with the results of Li and Li.
            "literal": ceil(|A| sel), as in the text of Li and Li; with this rule, many queries count nobody.

        Raises
        ------
        ValueError
            If an argument is out of range, if `sensitive` is a quasi-identifier, or if too many values of an attribute
            occur.
        """
        names = dataset.schema.quasi_identifiers
        for what, value, most in (("dimension", dimension, len(names)), ("number", number, 100_000)):
            if isinstance(value, bool) or not (isinstance(value, Integral) and 1 <= value <= most):
                raise UsageError(
                    f"`{what}` must be a whole number from 1 to {most}; got {expect.describe_value(value)}."
                )
        values = list_queried_values(dataset, sensitive)
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
        """Return the number of queries that count nobody in the original.

        Such queries have no relative error, so every mean is without these queries.
        """
        return int((self.actual == 0).sum())

    def answers(self, release: Release) -> FloatArray:
        """Return the expected answer to each query according to the published table, as a float array (queries,).

        The table is read as in `tradeoff.utility_losses`: all values of a cell are equally likely, all values of a
        bucket are equally likely for each person in the bucket, and a noisy number counts as the nearest value of its
        domain.
        """
        return self._answers(Boxes.of_release(release, self.sensitive, self.lines, self.values))

    def _answers(self, boxes: Boxes) -> FloatArray:
        return (boxes.expected(len(self), self.sets) * self.chosen).sum(axis=1)


@validated
def relative_errors(queries: CountQueries, release: Release) -> FloatArray:
    """Return |count from the release - true count| / true count, for each query with a true count above 0.

    Parameters
    ----------
    queries : CountQueries
    release : Release

    Returns
    -------
    float array (queries that count somebody,)
        The relative errors. An error is 0 if the answer is correct, and 1 if the absolute error equals the true count;
        there is no upper bound. Lower is better.

    Raises
    ------
    ValueError
        If all queries count nobody.

    Source: Li and Li, KDD 2009, section 5.2.
    """
    counted = queries.actual > 0
    if not counted.any():
        raise UsageError(
            f"all {len(queries)} queries count nobody in the original, so there is no relative error. Try a higher "
            "`selectivity`."
        )
    actual = queries.actual[counted]
    return np.abs(queries.answers(release)[counted] - actual) / actual


# The common facts of both measures of `relative_errors`.
ERROR_FACTS: dict[str, Any] = {"kind": "utility", "better": "lower", "bounds": (0, math.inf), "varies": True}
ERROR_FACTS |= {"unit": "share of the true count", "baseline": "trivial release"}


@measure(
    sentence="The release answers a COUNT query with this error on average, relative to the true number of people. "
    "Lower is better.",
    **ERROR_FACTS,
)
def average_relative_error(queries: CountQueries, release: Release) -> float:
    """Return the mean of the `relative_errors` of all queries.

    A few queries with very small counts may dominate the mean, especially under generalization; see
    `median_relative_error`.

    Source: Li and Li, KDD 2009, section 5.2.
    """
    return float(relative_errors(queries, release).mean())


@measure(
    sentence="The release answers half of the COUNT queries with at most this error, relative to the true number of "
    "people. Lower is better.",
    **ERROR_FACTS,
)
def median_relative_error(queries: CountQueries, release: Release) -> float:
    """Return the median of `relative_errors`; the paper reports the mean.

    Source: Li and Li, KDD 2009, section 5.2.
    """
    return float(np.median(relative_errors(queries, release)))


def _draw(generator: np.random.Generator, number: int, size: int, share: float) -> BoolArray:
    """Draw random sets of the share `share` of `size` values, as a boolean array (number, size + 1).

    The number of values in a set is rounded up. The last column is False, for values that are never chosen.
    """
    wanted = math.ceil(round(size * share, 9))  # 0.3 of 10 is 3, not 4
    drawn = generator.random((number, size)).argsort(axis=1).argsort(axis=1) < wanted
    return np.column_stack([drawn, np.zeros(number, dtype=bool)])


def _occurring(dataset: Dataset, name: str) -> tuple[HierarchyLine, int]:
    """Return an attribute's line, whose parts are the values that occur and the rest, and the number of such values."""
    hierarchy = dataset.hierarchies[name]
    positions = np.unique(codes_on_line(dataset, name, hierarchy))
    check_value_count(name, len(positions))
    part = np.full(hierarchy.size, len(positions))
    part[positions] = np.arange(len(positions))
    return HierarchyLine(hierarchy, part), len(positions)

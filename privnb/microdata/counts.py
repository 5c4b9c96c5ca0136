"""Distinct combinations of attribute values, and the number of records with each combination.

Privacy models, gains and losses need only counts. The grouping of records is the only step that reads every record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.lazy import pd


class DistinctRows(NamedTuple):
    """The distinct rows of a table.

    `values` is a DataFrame of m distinct rows, sorted by the codes of the columns. `multiplicities`, an integer array
    (m,), is the number of records that are equal to each distinct row. `index`, an integer array (n,), is the position
    of the distinct row to which each of the n records is equal.
    """

    values: pd.DataFrame
    multiplicities: IntArray
    index: IntArray  # type: ignore[assignment]  # a tuple has a method of that name

    def __repr__(self) -> str:  # never show the rows, which may be records
        return f"DistinctRows({len(self.values)} of {len(self.index)} records)"


def count_combinations(table: pd.DataFrame) -> DistinctRows:
    """Group equal rows of a DataFrame, and return the distinct rows, their multiplicities, and the group of each row.

    The result does not depend on the index of the table, and only `index` depends on the order of the records.

    >>> count_combinations(pd.DataFrame({"sex": ["F", "M", "F"]})).multiplicities.tolist()
    [2, 1]
    """
    columns = encode_columns(table)
    first, index = group_codes([codes for codes, _ in columns], [len(values) for _, values in columns])
    return DistinctRows(table.iloc[first].reset_index(drop=True), np.bincount(index, minlength=len(first)), index)


def encode_values(column: Any) -> tuple[IntArray, Array]:
    """Return the code of each entry of a column, and the distinct values of the column.

    `column` is a Series or an array (n,) of any type. The codes are an integer array (n,). The values are sorted, and a
    missing value comes last.
    """
    codes, values = factorize(column, sort=True)
    if codes.min(initial=0) < 0:  # so that missing values need no extra pass
        codes[codes < 0] = len(values)
        values = np.append(values.astype(object), np.nan)
    return codes, values


def encode_columns(table: pd.DataFrame) -> list[tuple[IntArray, Array]]:
    """Return the result of `encode_values` for each column.

    If the table has no columns, return the result for one column whose values are all equal.
    """
    return [encode_values(table[name]) for name in table] or [(np.zeros(len(table), dtype=np.int64), np.array([None]))]


def is_coded(dtype: Any) -> bool:
    """Return whether a column of this type is stored as codes; see the module `columns`."""
    return isinstance(dtype, pd.CategoricalDtype)


def factorize(values: Any, **options: Any) -> tuple[IntArray, Any]:
    """Return the result of `pd.factorize(np.asarray(values), **options)`, but faster.

    The function is faster than pandas for coded values, and for columns in which many equal texts are the same object,
    because the function reads each value or object only once. Without `sort`, coded values keep the order of their
    categories.

    >>> codes, distinct = factorize(["b", "a", "b"])
    >>> codes.tolist(), distinct.tolist()
    ([0, 1, 0], ['b', 'a'])
    """
    values = getattr(values, "array", values)
    if isinstance(values, pd.Categorical):
        return _of_categories(values.codes, np.asarray(values.categories), options)
    values = np.asarray(values)
    if options.get("sort") and values.dtype.kind == "i" and len(values) >= 1000:
        if 0 <= values.min() and values.max() < len(values):  # such as class numbers
            first, index = _distinct(values, int(values.max()) + 1)
            return index, values[first]
    if values.dtype != object or len(values) < 1000:  # reading a few values is faster
        return pd.factorize(values, **options)
    number, place = factorize_objects(values)
    codes, distinct = pd.factorize(values[place], **options)
    return codes[number], distinct


def factorize_categories(values: Any) -> tuple[IntArray, Any]:
    """Return the result of `factorize(values)`, but include all categories of coded values, even unused categories.

    The function is faster than `factorize`, and serves callers that only look up the values. A missing value has the
    code -1.

    >>> factorize_categories(pd.Categorical(["b", "b", None, "b"], categories=["a", "b"]))[1].tolist()
    ['a', 'b']
    """
    array = getattr(values, "array", values)
    if isinstance(array, pd.Categorical) and len(array.categories) < len(array):
        return array.codes, np.asarray(array.categories)
    return factorize(values)


def _of_categories(codes: IntArray, categories: Array, options: Mapping[str, Any]) -> tuple[IntArray, Array]:
    """Return the result of `factorize` for values that are given as codes; categories without a value are left out."""
    codes = codes.astype(np.intp)  # the type to which NumPy converts every index
    occurs = np.zeros(len(categories) + 1, dtype=bool)  # the last entry is for a missing value
    occurs[codes] = True
    occurs = occurs[:-1]
    number, distinct = np.full(len(categories) + 1, -1), categories[occurs]
    if options:
        number[:-1][occurs], distinct = pd.factorize(distinct, **options)
    else:  # no two categories are equal
        number[:-1][occurs] = np.arange(len(distinct))
    return number[codes], distinct


def factorize_objects(values: Array) -> tuple[IntArray, IntArray]:
    """Return the number of the Python object of each entry of an array (n,); equal objects may have different numbers.

    The result is two integer arrays: the number of the object of each entry, (n,), and a position in the array at which
    each object occurs, (m,).
    """
    addresses = np.frombuffer(np.ascontiguousarray(values), dtype=np.intp) if len(values) else np.empty(0, np.intp)
    number, distinct = pd.factorize(addresses)
    place = np.empty(len(distinct), dtype=np.intp)
    place[number] = np.arange(len(values))
    return number, place


FEW = 100  # the number of cells that are compared before whole columns


def are_equal(first: pd.Series, second: pd.Series) -> bool:
    """Return whether two Series hold equal values; Series that share the same memory are equal without a comparison.

    >>> column = pd.Series([1.5, np.nan])
    >>> are_equal(column, column.copy(deep=False)), are_equal(column, column.copy()), are_equal(column, column[::-1])
    (True, True, False)
    """
    if is_coded(first.dtype) and is_coded(second.dtype):
        return _same_codes(first.array, second.array)
    first, second = (c.astype(c.cat.categories.dtype) if is_coded(c.dtype) else c for c in (first, second))
    if _of_one_kind(first.dtype, second.dtype):
        second = second.astype(first.dtype)
    return _same_cells(*(column.to_numpy() for column in (first, second))) or first.equals(second)


def _of_one_kind(first: Any, second: Any) -> bool:
    """Return whether cells of two types can be equal: the types are the same, or both are types of pandas for text."""
    return first == second or (isinstance(first, pd.StringDtype) and isinstance(second, pd.StringDtype))


def _same_cells(first: Array, second: Array) -> bool:
    return first.__array_interface__ == second.__array_interface__


def _same_codes(first: pd.Categorical, second: pd.Categorical) -> bool:
    """Return whether two Categoricals hold equal values, without decoding their cells."""
    codes, others = first.codes, second.codes
    if not first.categories.equals(second.categories):
        if not _of_one_kind(first.categories.dtype, second.categories.dtype):
            return False
        number = second.categories.get_indexer(first.categories)
        number = np.append(np.where(number < 0, -2, number), -1)  # -2: not in the second; -1: missing
        if len(codes) > FEW and not np.array_equal(
            number[codes[:FEW]], others[:FEW]
        ):  # nearly all unequal columns differ here
            return False
        codes = number[codes]
    return _same_cells(codes, others) or np.array_equal(codes, others)


def group_codes(columns: Sequence[Array], widths: Iterable[int]) -> tuple[IntArray, IntArray]:
    """Return the first position of each distinct row of some integer columns, and the number of each row's group.

    `columns` are integer arrays (n,) of numbers from 0 up, and `widths` holds, for each column, a number that is larger
    than all numbers of the column. Rows that are equal form a group, and the groups are in sorted order. Returns two
    integer arrays, (m,) and (n,).
    """
    n = len(columns[0])
    key: IntArray = np.zeros(n, dtype=np.int64)
    room = 1
    for column, width in zip(columns, map(int, widths), strict=True):  # NumPy's integers would overflow silently
        if room * width >> (63 - _bits(n)):  # too many combinations for 64 bits with a position: renumber them
            first, key = _distinct(key, room)
            room = len(first)
        key *= width
        key += column
        room *= width
    return _distinct(key, room)


def _distinct(key: IntArray, room: int) -> tuple[IntArray, IntArray]:
    """Return the result of `group_codes` for one column of numbers below `room`.

    Numbers are grouped by position if `room` is not much larger than the number of rows, by hashing if few numbers are
    distinct, and by sorting otherwise.
    """
    n = len(key)
    if room <= n or _few_differ(key):
        if room <= n:
            occurs = np.zeros(room, dtype=bool)
            occurs[key] = True
            index = (np.cumsum(occurs) - 1)[key]
        else:
            index = pd.factorize(key, sort=True)[0]
        first = np.empty(index.max(initial=-1) + 1, dtype=np.int64)
        first[index[::-1]] = np.arange(n)[::-1]
        return first, index
    if room >> (63 - _bits(n)):  # one column of numbers that are not codes
        key = pd.factorize(key, sort=True)[0]
    numbers, places = _sorted(key)
    new = np.ones(n, dtype=bool)
    np.not_equal(numbers[1:], numbers[:-1], out=new[1:])
    index = np.empty(n, dtype=np.int64)
    index[places] = np.cumsum(new) - 1
    return places[new], index


def _few_differ(key: IntArray, looked_at: int = 4096) -> bool:
    """Return whether an integer array (n,) is long and has at most about n / 10 distinct numbers.

    The estimate uses the equal pairs in a sample: if s numbers are drawn from d distinct numbers, about s^2 / (2 d)
    pairs are equal.
    """
    some = np.sort(key[:: max(1, len(key) // looked_at)][:looked_at])
    equal = np.count_nonzero(some[1:] == some[:-1])
    return len(key) > 10 * looked_at and bool(equal > 10 * looked_at**2 / (2 * len(key)))


def _sorted(numbers: IntArray) -> tuple[IntArray, IntArray]:
    """Return an integer array (n,) of numbers of at least 0 in stable sorted order, and the original positions.

    Each number is combined with its position into a single number, and the combined numbers are sorted. In NumPy, this
    method is several times as fast as a stable sort.
    """
    bits = _bits(len(numbers))
    both = numbers.astype(np.int64) << bits
    both |= np.arange(len(both))
    both.sort()
    return both >> bits, both & ((1 << bits) - 1)


def _bits(n: int) -> int:
    """Return the number of bits that a position among `n` positions needs."""
    return max(n - 1, 0).bit_length()


def stable_order(numbers: IntArray) -> IntArray:
    """Return `np.argsort(numbers, kind="stable")` for integers of at least 0, such as classes, codes or counts.

    >>> stable_order(np.array([1, 0, 1, 0])).tolist()
    [1, 3, 0, 2]
    """
    if len(numbers) < 1000 or int(numbers.max()) >> (63 - _bits(len(numbers))):
        return np.argsort(numbers, kind="stable")
    return _sorted(numbers)[1]


def shrink_codes(codes: IntArray, width: int) -> IntArray:
    """Return codes below `width` in the smallest integer type that holds them.

    A shuffle of such codes takes half the time and uses the same random draws.
    """
    return codes.astype(np.min_scalar_type(width - 1))


def class_value_counts(classes: IntArray, values: Any, times: IntArray | None = None) -> IntArray:
    """Return how often each value, in sorted order, occurs in each class, as an integer array (classes, values).

    `classes` is an integer array (n,) with numbers from 0 to m - 1, and `values` is an array (n,). `times`, an integer
    array (n,), is the number of records that each row represents; by default, each row is 1 record.
    """
    codes, distinct = encode_values(values)
    return tabulate(classes, codes, (int(np.max(classes)) + 1, len(distinct)), times)


def tabulate(rows: IntArray, columns: IntArray, shape: tuple[int, int], weights: Array | None = None) -> IntArray:
    """Return how often each pair of a row and a column number occurs, as an integer array of `shape`.

    `rows` and `columns` are integer arrays (n,). With `weights`, an array (n,) of whole numbers, the result is the sum
    of the weights of each pair.
    """
    counts = np.bincount(rows * shape[1] + columns, weights, minlength=shape[0] * shape[1])
    return counts.astype(np.int64, copy=False).reshape(shape)


def select_person_rows(people: IntArray | None, *columns: IntArray) -> Any:
    """Return an index that selects one row for each person and combination of `columns`, to count each person once.

    The numbers of distinct people in several groups do not add up to the number of people in all of these groups
    together, because a person with rows in several groups counts in each of these groups. For every grouping, people
    are therefore counted from the distinct pairs of a group and a person. The number of such pairs is at most the
    number of rows.

    Parameters
    ----------
    people : integer array (n,), or None
        The number of the person of each row, from 0; if None, each row belongs to a different person.
    columns : integer arrays (n,)
        Codes from 0.

    Returns
    -------
    integer array, or a slice of all rows if `people` is None

    >>> groups = np.array([0, 0, 1])
    >>> np.bincount(groups[select_person_rows(np.array([5, 5, 5]), groups)]).tolist()
    [1, 1]
    """
    if people is None:
        return slice(None)
    every = [*columns, people]
    return group_codes(every, [int(column.max(initial=0)) + 1 for column in every])[0]


def count_people_by_group(
    groups: IntArray, people: IntArray | None = None, number: int = 0, times: IntArray | None = None
) -> IntArray:
    """Return the number of distinct people in each group, as an integer array (groups,).

    `groups`, an integer array (n,), is the group of each row, from 0. `people`, an integer array (n,), is the person of
    each row; if it is None, each row belongs to a different person. `number` is the minimum length of the result.
    `times`, an integer array (n,), is the number of people that each row represents, and is used only if `people` is
    None.
    """
    if people is not None or times is None:
        return np.bincount(groups[select_person_rows(people, groups)], minlength=number)
    return np.bincount(groups, times, number).astype(np.int64)


def count_people_among(rows: Array, people: IntArray | None = None, times: IntArray | None = None) -> int:
    """Return the number of people with at least one of the rows that `rows`, a boolean array (n,), selects."""
    if people is None:
        return int(np.sum(rows if times is None else times[rows]))
    return len(np.unique(people[rows]))


def max_per_person(values: Array, people: IntArray | None = None) -> Array:
    """Return the largest value of each person, as a float array (people,).

    `values`, an array (n,), and `people`, an integer array (n,), hold a value and the person of each row. Without
    `people`, return `values`.
    """
    if people is None:
        return values
    most = np.full(int(people.max()) + 1, -np.inf)
    np.maximum.at(most, people, values)
    return most[most > -np.inf]


CELLS = 2**22  # the number of cells of a table of counts that are computed at a time


def tabulate_in_parts(
    rows: IntArray, columns: IntArray, shape: tuple[int, int], weights: Array | None = None
) -> Iterator[IntArray]:
    """Yield the result of `tabulate` in parts that consist of consecutive rows, as integer arrays (some, shape[1])."""
    step = max(1, CELLS // shape[1])
    if shape[0] <= step:
        yield tabulate(rows, columns, shape, weights)
        return
    order = stable_order(rows)
    rows, columns, weights = rows[order], columns[order], None if weights is None else weights[order]
    for begin in range(0, shape[0], step):
        part = slice(*np.searchsorted(rows, [begin, begin + step]))
        some = min(step, shape[0] - begin), shape[1]
        yield tabulate(rows[part] - begin, columns[part], some, None if weights is None else weights[part])

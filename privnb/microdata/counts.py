"""The count-first view: distinct combinations of attribute values with their multiplicities.

Privacy models, gains and losses need only counts. Grouping is the one step that touches every record.

One module: what counts rows groups them, in the same few passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.lazy import pd


class DistinctRows(NamedTuple):
    """The distinct rows of a table.

    `values`: DataFrame of m distinct rows, sorted by their columns' codes; `multiplicities`: integer array (m,);
    `index`: integer array (n,), the distinct row that each of the n records holds.
    """

    values: pd.DataFrame
    multiplicities: IntArray
    index: IntArray  # type: ignore[assignment]  # a tuple has a method of that name

    def __repr__(self) -> str:  # never the rows: they may be records
        return f"DistinctRows({len(self.values)} of {len(self.index)} records)"


def combinations(table: pd.DataFrame) -> DistinctRows:
    """Group equal rows of a DataFrame: its distinct rows, how often each stands, and where.

    The result does not depend on the table's index, nor (but for `index`) on the order of its records.

    >>> combinations(pd.DataFrame({"sex": ["F", "M", "F"]})).multiplicities.tolist()
    [2, 1]
    """
    columns = coded_columns(table)
    first, index = distinct_codes([codes for codes, _ in columns], [len(values) for _, values in columns])
    return DistinctRows(table.iloc[first].reset_index(drop=True), np.bincount(index, minlength=len(first)), index)


def coded(column: Any) -> tuple[IntArray, Array]:
    """The distinct values of a column, and which of them stands where.

    `column`: Series or array (n,) of any kind. Returns the position of each entry, integer array (n,), and the
    distinct values in sorted order, a missing one last.
    """
    codes, values = factorized(column, sort=True)
    if codes.min(initial=0) < 0:  # so found, missing values take no pass of their own
        codes[codes < 0] = len(values)
        values = np.append(values.astype(object), np.nan)
    return codes, values


def coded_columns(table: pd.DataFrame) -> list[tuple[IntArray, Array]]:
    """What `coded` gives of each column of a DataFrame; of one without columns, one in which all rows are equal."""
    return [coded(table[name]) for name in table] or [(np.zeros(len(table), dtype=np.int64), np.array([None]))]


def is_coded(dtype: Any) -> bool:
    """Whether a column of this type is kept as codes, see `columns`."""
    return isinstance(dtype, pd.CategoricalDtype)


def factorized(values: Any, **options: Any) -> tuple[IntArray, Any]:
    """What `pd.factorize(np.asarray(values), **options)` gives, sooner where values are coded already, or where many
    equal texts are one object, as in columns of labels: each value or object is then read once, and not each cell. Of
    coded values the order is that of the categories, unless they are sorted.

    >>> codes, distinct = factorized(["b", "a", "b"])
    >>> codes.tolist(), distinct.tolist()
    ([0, 1, 0], ['b', 'a'])
    """
    values = getattr(values, "array", values)
    if isinstance(values, pd.Categorical):
        return _of_categories(values.codes, np.asarray(values.categories), options)
    values = np.asarray(values)
    if options.get("sort") and values.dtype.kind == "i" and len(values) >= 1000:
        if 0 <= values.min() and values.max() < len(values):  # such as numbers of classes
            first, index = _distinct(values, int(values.max()) + 1)
            return index, values[first]
    if values.dtype != object or len(values) < 1000:  # to look for equal objects takes longer than to read so few
        return pd.factorize(values, **options)
    number, place = objects(values)
    codes, distinct = pd.factorize(values[place], **options)
    return codes[number], distinct


def looked_up(values: Any) -> tuple[IntArray, Any]:
    """What `factorized(values)` gives, but of coded values with each category, which need not occur: sooner for whoever
    looks the values up. A missing one has the code -1.

    >>> looked_up(pd.Categorical(["b", "b", None, "b"], categories=["a", "b"]))[1].tolist()
    ['a', 'b']
    """
    array = getattr(values, "array", values)
    if isinstance(array, pd.Categorical) and len(array.categories) < len(array):
        return array.codes, np.asarray(array.categories)
    return factorized(values)


def _of_categories(codes: IntArray, categories: Array, options: Mapping[str, Any]) -> tuple[IntArray, Array]:
    """What `factorized` gives of codes: not every category need occur."""
    codes = codes.astype(np.intp)  # as numpy makes of them whenever it is given them as an index
    occurs = np.zeros(len(categories) + 1, dtype=bool)  # the last is that of a missing value
    occurs[codes] = True
    occurs = occurs[:-1]
    number, distinct = np.full(len(categories) + 1, -1), categories[occurs]
    if options:
        number[:-1][occurs], distinct = pd.factorize(distinct, **options)
    else:  # no two categories are equal
        number[:-1][occurs] = np.arange(len(distinct))
    return number[codes], distinct


def objects(values: Array) -> tuple[IntArray, IntArray]:
    """Which object stands where in an array (n,) of some, whether or not it equals others: two integer arrays, the
    number of each entry's object, (n,), and a place of each object, (m,).
    """
    addresses = np.frombuffer(np.ascontiguousarray(values), dtype=np.intp) if len(values) else np.empty(0, np.intp)
    number, distinct = pd.factorize(addresses)
    place = np.empty(len(distinct), dtype=np.intp)
    place[number] = np.arange(len(values))
    return number, place


FEW = 100  # cells of two columns that are compared before all are


def same(first: pd.Series, second: pd.Series) -> bool:
    """Whether two Series hold equal values, at once where they are the same cells.

    >>> column = pd.Series([1.5, np.nan])
    >>> same(column, column.copy(deep=False)), same(column, column.copy()), same(column, column[::-1])
    (True, True, False)
    """
    if is_coded(first.dtype) and is_coded(second.dtype):
        return _same_codes(first.array, second.array)
    first, second = (c.astype(c.cat.categories.dtype) if is_coded(c.dtype) else c for c in (first, second))
    if _of_one_kind(first.dtype, second.dtype):
        second = second.astype(first.dtype)
    return _same_cells(*(column.to_numpy() for column in (first, second))) or first.equals(second)


def _of_one_kind(first: Any, second: Any) -> bool:
    """Whether cells of two types can be equal: of texts it does not matter how pandas keeps them."""
    return first == second or (isinstance(first, pd.StringDtype) and isinstance(second, pd.StringDtype))


def _same_cells(first: Array, second: Array) -> bool:
    return first.__array_interface__ == second.__array_interface__


def _same_codes(first: pd.Categorical, second: pd.Categorical) -> bool:
    """The same of two Categoricals, of which no cell is written out."""
    codes, others = first.codes, second.codes
    if not first.categories.equals(second.categories):
        if not _of_one_kind(first.categories.dtype, second.categories.dtype):
            return False
        number = second.categories.get_indexer(first.categories)
        number = np.append(np.where(number < 0, -2, number), -1)  # what the second has not; what is missing
        if len(codes) > FEW and not np.array_equal(number[codes[:FEW]], others[:FEW]):  # as of nearly all that differ
            return False
        codes = number[codes]
    return _same_cells(codes, others) or np.array_equal(codes, others)


def distinct_codes(columns: Sequence[Array], widths: Iterable[int]) -> tuple[IntArray, IntArray]:
    """Group equal rows of integer columns: the first position of each distinct row, in sorted order, and where each
    stands.

    `columns`: integer arrays (n,), each from 0 to below its width. Returns two integer arrays, (m,) and (n,).
    """
    n = len(columns[0])
    key: IntArray = np.zeros(n, dtype=np.int64)
    room = 1
    for column, width in zip(columns, map(int, widths), strict=True):  # numpy's integers would wrap around in silence
        if room * width >> (63 - _bits(n)):  # no room for the places: number the combinations so far anew
            first, key = _distinct(key, room)
            room = len(first)
        key *= width
        key += column
        room *= width
    return _distinct(key, room)


def _distinct(key: IntArray, room: int) -> tuple[IntArray, IntArray]:
    """What `distinct_codes` gives of one column, numbers below `room`: by the place of each number where there are not
    many more than rows, by hashing where few are distinct, else by sorting, which takes as long however many are.
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
    if room >> (63 - _bits(n)):  # one column of numbers that are no codes
        key = pd.factorize(key, sort=True)[0]
    numbers, places = _sorted(key)
    new = np.ones(n, dtype=bool)
    np.not_equal(numbers[1:], numbers[:-1], out=new[1:])
    index = np.empty(n, dtype=np.int64)
    index[places] = np.cumsum(new) - 1
    return places[new], index


def _few_differ(key: IntArray, looked_at: int = 4096) -> bool:
    """Whether of many numbers, integer array (n,), a tenth or less seem to be distinct, by how many of some are equal:
    of s numbers among d about s^2 / 2d pairs are.
    """
    some = np.sort(key[:: max(1, len(key) // looked_at)][:looked_at])
    equal = np.count_nonzero(some[1:] == some[:-1])
    return len(key) > 10 * looked_at and bool(equal > 10 * looked_at**2 / (2 * len(key)))


def _sorted(numbers: IntArray) -> tuple[IntArray, IntArray]:
    """Numbers from 0, integer array (n,), in order, and the place of each, equal ones as they stand. Each is sorted as
    one number with its place, which numpy does several times as fast as it finds an order that is stable.
    """
    bits = _bits(len(numbers))
    both = numbers.astype(np.int64) << bits
    both |= np.arange(len(both))
    both.sort()
    return both >> bits, both & ((1 << bits) - 1)


def _bits(n: int) -> int:
    """Of a number that is the place of one of `n`."""
    return max(n - 1, 0).bit_length()


def stable_order(numbers: IntArray) -> IntArray:
    """What `np.argsort(numbers, kind="stable")` gives of classes, codes or counts: integers from 0, array (n,).

    >>> stable_order(np.array([1, 0, 1, 0])).tolist()
    [1, 3, 0, 2]
    """
    if len(numbers) < 1000 or int(numbers.max()) >> (63 - _bits(len(numbers))):
        return np.argsort(numbers, kind="stable")
    return _sorted(numbers)[1]


def small(codes: IntArray, width: int) -> IntArray:
    """Codes from 0 to below `width` as the smallest integers that hold them: as many draws shuffle them in half the
    time.
    """
    return codes.astype(np.min_scalar_type(width - 1))


def class_value_counts(classes: IntArray, values: Any, times: IntArray | None = None) -> IntArray:
    """How often each value stands in each class: integer array (classes, values), columns in sorted order of the
    values.

    `classes`: integer array (n,) with numbers 0..m-1; `values`: array (n,); `times`: how many records each is.
    """
    codes, distinct = coded(values)
    return tabulate(classes, codes, (int(np.max(classes)) + 1, len(distinct)), times)


def tabulate(rows: IntArray, columns: IntArray, shape: tuple[int, int], weights: Array | None = None) -> IntArray:
    """How often each pair stands, or the sum of its whole-number weights: integer array of `shape`.

    `rows`, `columns`: integer arrays (n,).
    """
    counts = np.bincount(rows * shape[1] + columns, weights, minlength=shape[0] * shape[1])
    return counts.astype(np.int64, copy=False).reshape(shape)


def once_each(people: IntArray | None, *columns: IntArray) -> Any:
    """One row of each person among those that are equal in `columns`: what indexes it, so that a count of the rest
    counts a person once.

    Distinct people do not add up over groups: a person with rows in several is in each. So they are counted anew for
    every grouping, from these pairs of group and person, of which there are never more than rows.

    Parameters
    ----------
    people : integer array (n,), or None
        Whose each row is, from 0; None: each row is another person's.
    columns : integer arrays (n,)
        From 0.

    Returns
    -------
    integer array, or a slice of everything without `people`

    >>> groups = np.array([0, 0, 1])
    >>> np.bincount(groups[once_each(np.array([5, 5, 5]), groups)]).tolist()
    [1, 1]
    """
    if people is None:
        return slice(None)
    every = [*columns, people]
    return distinct_codes(every, [int(column.max(initial=0)) + 1 for column in every])[0]


def people_in(
    groups: IntArray, people: IntArray | None = None, number: int = 0, times: IntArray | None = None
) -> IntArray:
    """How many people are in each group, `once_each`: integer array (groups,).

    `groups`: integer array (n,) from 0; `people`: whose each row is, integer array (n,), or None where each is another
    person's; `number`: of groups, at least; `times`: of how many people each row is where `people` does not say it.
    """
    if people is not None or times is None:
        return np.bincount(groups[once_each(people, groups)], minlength=number)
    return np.bincount(groups, times, number).astype(np.int64)


def people_among(rows: Array, people: IntArray | None = None, times: IntArray | None = None) -> int:
    """How many people have one of the `rows`, boolean array (n,): int. `people`, `times`: as of `people_in`."""
    if people is None:
        return int(np.sum(rows if times is None else times[rows]))
    return len(np.unique(people[rows]))


def most_of_people(values: Array, people: IntArray | None = None) -> Array:
    """The largest of each person's `values`, array (n,): float array (people,); as they are without `people`."""
    if people is None:
        return values
    most = np.full(int(people.max()) + 1, -np.inf)
    np.maximum.at(most, people, values)
    return most[most > -np.inf]


CELLS = 2**22  # of a table of counts at a time


def tabulated_in_parts(
    rows: IntArray, columns: IntArray, shape: tuple[int, int], weights: Array | None = None
) -> Iterator[IntArray]:
    """What `tabulate` gives, some rows at a time: yields integer arrays (some, shape[1]), one below the other."""
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

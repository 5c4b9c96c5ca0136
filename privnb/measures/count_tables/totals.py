"""Single values that follow exactly from published totals, which are sums, maxima and minima.

The value of a record, or of a group that is published as one record, follows from sums if it is a linear combination of
the sums. The module solves the linear equations exactly, over the rational numbers. It does not use bounds on the
values; for bounds on counts, see `cell_bounds`. The module treats sums and maxima separately, because the joint problem
is hard.

Source: Chin, "Security Problems on Inference Control for SUM, MAX, and MIN Queries", JACM 33(3), 1986; Dobkin, Jones,
Lipton, "Secure Databases: Protection Against User Influence", TODS 4(1), 1979; Kenthapadi, Mishra, Nissim, "Simulatable
Auditing", PODS 2005; Aggarwal and Yu 2008, section 2.5.3 and chapter 17.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, NamedTuple

from privnb.microdata.schema import SchemaError
from privnb.runtime import expect, progress
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Path
from privnb.tables import reading

KINDS = ("sum", "max", "min")
SIGNS = {"max": 1, "min": -1}  # the tightest maximum is the smallest, the tightest minimum the largest
COLUMNS = ("total", "covers", "value")


class Total(NamedTuple):
    """A published total, with its `name`, its `value`, its `kind`, and `of`, the frozenset of the names that it covers.

    >>> Total("all", frozenset({"a", "b"}), 7).kind
    'sum'
    """

    name: str
    of: frozenset[str]
    value: Fraction
    kind: str = "sum"


Row = tuple[dict[str, Fraction], dict[str, Fraction], Fraction]  # coefficients by name, times by total, and value


class InferredValue(NamedTuple):
    """A name, its inferred value, and a proof, which maps the name of each total to its factor (a Fraction).

    The value is the sum of the totals, each multiplied by its factor.

    >>> str(InferredValue("c", Fraction(5), {"all": Fraction(1), "a and b": Fraction(-1)}))
    'c = 5: all - a and b'
    """

    name: str
    value: Fraction
    proof: dict[str, Fraction]

    def __str__(self) -> str:
        parts = [
            f"{'-' if times < 0 else '+'} {'' if abs(times) == 1 else f'{abs(times)} x '}{total}"
            for total, times in sorted(self.proof.items(), key=lambda part: -part[1])
        ]
        return f"{self.name} = {_shown(self.value)}: {' '.join(parts).removeprefix('+ ')}"


def _shown(number: Any) -> str:
    """Return a fraction as text, as a decimal number if the number has finitely many digits."""
    number = Fraction(number)
    exact = Fraction(str(float(number))) == number if abs(number) < 10**15 else False
    return str(number.numerator) if number.denominator == 1 else f"{float(number)}" if exact else str(number)


def read_totals(path: Path) -> list[Total]:
    """Return the totals in a file, which has one total in each row.

    The columns are `total` (the name of the total), `covers` (the names of the records or groups, separated by `;`) and
    `value`. A cell of the optional column `kind` is `sum`, `max` or `min`; a blank cell means `sum`.

    Parameters
    ----------
    path : path-like
        The path of a CSV file, or of another file that contains a table.

    Raises
    ------
    FileNotFoundError
    SchemaError
        If the file is not a table of totals. The text of the error contains the number of the wrong row.
    """
    table, _, _ = reading.read_undescribed(path)
    if absent := [name for name in COLUMNS if name not in table]:
        raise SchemaError(
            f"{path}: a table of totals must have the columns total, covers and value; got {', '.join(table)}. Add "
            f"{', '.join(absent)}: the name of each total, the names that it covers, separated by ;, and its value."
        )
    rows = table.astype(object).where(table.notna(), "")
    kinds = rows["kind"] if "kind" in rows else [""] * len(rows)
    totals = []
    for line, (name, covers, value, kind) in enumerate(zip(*(rows[c] for c in COLUMNS), kinds, strict=True), 1):
        of, number = [each.strip() for each in covers.split(";")], _number(value)
        fault = ""
        if not name:
            fault = "total must not be blank. Give the total a name"
        elif not all(of) or len({*of}) < len(of):
            fault = (
                f"covers must list different names; got {expect.describe_value(covers)}. Name each record or group "
                "once, separated by ;"
            )
        elif kind and kind not in KINDS:
            fault = f"kind must be one of {', '.join(KINDS)}; got {kind!r}"
        elif number is None:
            fault = (
                f"value must be a finite number; got {value!r}. Write a point before the decimals, or leave out the row"
            )
        if fault or number is None:
            raise SchemaError(f"{path}, row {line}: {fault}.")
        totals.append(Total(name, frozenset(of), number, kind or "sum"))
    try:
        check_totals(totals)
    except ValueError as error:
        raise SchemaError(f"{path}: {error}") from None
    return totals


def _number(text: str) -> Fraction | None:
    try:
        found = Decimal(text)
    except InvalidOperation:
        return None
    return Fraction(found) if found.is_finite() and abs(found.adjusted()) < 1000 else None


@progress.step("solving the totals")
def solve_totals(totals: Sequence[Total]) -> list[InferredValue]:
    """Return the single values that follow exactly from published sums, maxima and minima.

    Parameters
    ----------
    totals : list of Total

    Returns
    -------
    list of InferredValue
        The inferred values in the order of their names, one for each name; fewer values protect better. An empty list
        means only that no value follows from these totals alone; an adversary may also know bounds or single values.

    Raises
    ------
    ValueError
        If totals contradict each other. The text of the error contains the names of these totals.

    Examples
    --------
    >>> total = lambda name, value: Total(name, frozenset(name), value)
    >>> [str(each) for each in solve_totals([total("abc", 9), total("ab", 4), total("cd", 7)])]
    ['c = 5: abc - ab', 'd = 2: ab + cd - abc']
    """
    check_totals(totals)
    sums = [total for total in totals if total.kind == "sum"]
    followed = [*_extremes(totals, "max"), *_extremes(totals, "min"), *_solved(sums)]
    _refuse_contradictions(totals, followed)
    found = {each.name: each for each in followed}
    return [found[name] for name in sorted(found)]


def check_totals(totals: Sequence[Total]) -> None:
    """Raise TypeError or ValueError unless `totals` are `Total` objects with different names that cover some names."""
    expect.all_of("totals", totals, Total, instead='Total("all", frozenset({"a", "b"}), 7) is one.')
    names = [total.name for total in totals]
    for total in totals:
        if names.count(total.name) > 1:
            raise UsageError(f"`totals` must have different names; got '{total.name}' more than once.")
        if not isinstance(total.of, frozenset) or not total.of:
            raise UsageError(
                f"the total '{total.name}' must cover a frozenset of names; got {expect.describe_value(total.of)}."
            )
        expect.number(f"the value of the total '{total.name}'", total.value)
        expect.one_of(f"the kind of the total '{total.name}'", total.kind, KINDS)


def _refuse_contradictions(totals: Sequence[Total], followed: list[InferredValue]) -> None:
    """Raise ValueError if totals of different kinds contradict each other; not all contradictions are detected."""
    bounds = {kind: _tightest(totals, kind) for kind in SIGNS}
    for name in sorted({*bounds["max"]} & {*bounds["min"]}):
        most, least = bounds["max"][name], bounds["min"][name]
        if least.value > most.value:
            why = f"'{name}' has at most {_shown(most.value)} and at least {_shown(least.value)}"
            raise _contradiction({most.name, least.name}, why)
    values: dict[str, InferredValue] = {}
    for each in followed:
        first = values.setdefault(each.name, each)
        if first.value != each.value:
            why = f"'{each.name}' has both {_shown(first.value)} and {_shown(each.value)}"
            raise _contradiction({*first.proof, *each.proof}, why)
    for kind, bounded in (("max", "at most"), ("min", "at least")):
        sign, tight = SIGNS[kind], bounds[kind]
        for each in (each for each in followed if each.name in tight):
            bound = tight[each.name]
            if sign * each.value > sign * bound.value:
                why = f"'{each.name}' has {_shown(each.value)} and {bounded} {_shown(bound.value)}"
                raise _contradiction({*each.proof, bound.name}, why)
        for total in (each for each in totals if each.kind == "sum" and each.of <= {*tight}):
            own = [tight[name] for name in total.of]
            reached = sum(Fraction(bound.value) for bound in own)
            if sign * total.value > sign * reached:
                why = f"the names that '{total.name}' covers have {bounded} {_shown(reached)} together"
                raise _contradiction({total.name, *(bound.name for bound in own)}, why)


def _tightest(totals: Sequence[Total], kind: str) -> dict[str, Total]:
    """Return, for each name, the smallest maximum or the largest minimum among the totals that cover the name."""
    mine = [total for total in totals if total.kind == kind]
    names = {name for total in mine for name in total.of}
    return {name: min((t for t in mine if name in t.of), key=lambda t: SIGNS[kind] * t.value) for name in names}


def _contradiction(names: Iterable[str], why: str, cure: str = "Correct one.") -> ValueError:
    return ValueError(f"the totals {', '.join(sorted(names))} contradict each other: {why}. {cure}")


def _solved(sums: list[Total]) -> list[InferredValue]:
    """Return the values that the sums determine, each with the factors of the sums, by Gauss-Jordan elimination."""
    rows: dict[str, Row] = {}  # by the name that no other row has: ({name: coefficient}, {total: times}, value)
    for total in sorted(sums, key=lambda each: (len(each.of), each.name)):  # short proofs first
        own = (dict.fromkeys(sorted(total.of), Fraction(1)), {total.name: Fraction(1)}, Fraction(total.value))
        for pivot in [name for name in own[0] if name in rows]:
            own = _less(own, rows[pivot], own[0][pivot])
        if not own[0]:
            if own[2]:
                exact = "Correct one, or leave out rounded totals: conclusions from totals are exact."
                raise _contradiction(own[1], f"their values differ by {_shown(abs(own[2]))}", exact)
            continue
        pivot = next(iter(own[0]))
        own = _less(({}, {}, Fraction(0)), own, -1 / own[0][pivot])
        for other, row in rows.items():
            if pivot in row[0]:
                rows[other] = _less(row, own, row[0][pivot])
        rows[pivot] = own
    return [InferredValue(name, value, proof) for name, (of, proof, value) in rows.items() if len(of) == 1]


def _less(row: Row, other: Row, times: Fraction) -> Row:
    """Return a row of the linear equations minus a multiple of another row."""
    names, proof = dict(row[0]), dict(row[1])
    for mine, its in ((names, other[0]), (proof, other[1])):
        for name, coefficient in its.items():
            mine[name] = mine.get(name, 0) - times * coefficient
            if not mine[name]:
                del mine[name]
    return names, proof, row[2] - times * other[2]


def _extremes(totals: Sequence[Total], kind: str) -> Iterator[InferredValue]:
    """Yield the values that follow from maxima or minima.

    If only one name can reach a maximum or minimum, its value is this maximum or minimum.
    """
    sign, tight = SIGNS[kind], _tightest(totals, kind)
    mine = [total for total in totals if total.kind == kind]
    for total in mine:
        able = [name for name in total.of if tight[name].value == total.value]
        if not able:
            below = [other.name for other in mine if other.of & total.of and sign * other.value < sign * total.value]
            raise _contradiction([total.name, *below], f"nobody in '{total.name}' can have {_shown(total.value)}")
        if len(able) == 1:
            others = {other.name for name in total.of - {*able} for other in mine if name in other.of}
            proof = dict.fromkeys([total.name, *sorted(others - {total.name})], Fraction(1))
            yield InferredValue(able[0], Fraction(total.value), proof)

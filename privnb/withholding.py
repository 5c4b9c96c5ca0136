"""Which numbers are not shown, because they would tell of few people."""

from numbers import Integral

LIMIT = 10  # a count of fewer people is not shown, unless a reader asks for another limit


def check(limit, name="fewest"):
    """`limit` as an int: the least count of people that is shown. `name`: the parameter that the error names.

    Raises ValueError unless it is a whole number from 2: under another one nothing, or not all, would be withheld.

    >>> check(10)
    10
    """
    if isinstance(limit, bool) or not isinstance(limit, Integral) or limit < 2:
        raise ValueError(
            f"{name} must be a whole number from 2, got {limit!r}: a count of one is a person. "
            f"Usual is {LIMIT}, which leaves out every count of 1 to {LIMIT - 1} people."
        )
    return int(limit)

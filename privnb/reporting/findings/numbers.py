"""Numbers of results as plain values, from which templates make texts by the filters of `privnb.runtime.wording`."""

from typing import Any

import numpy as np
import pandas as pd

from privnb.evaluation.results import name_setting
from privnb.measures import measure_facts


def make_number(value: Any, low: Any = None, high: Any = None, format: str = "{:g}", **more: Any) -> dict[str, Any]:
    """Return a number with its 95% interval and its format, as a dict; a withheld value is None and has its bounds.

    Parameters
    ----------
    value, low, high : float or None
    format : str
        The format of the number, with the unit and, for a share, the whole, such as "{:%} of people".
    **more
        Further plain values, such as `setting` or `baseline`.

    Examples
    --------
    >>> make_number(0.5, float("nan"), format="{:%}", setting="Mondrian, k = 5")
    {'value': 0.5, 'low': None, 'high': None, 'format': '{:%}', 'setting': 'Mondrian, k = 5'}
    """
    ends = {"value": value, "low": low, "high": high}
    return {name: to_json_number(each) for name, each in ends.items()} | {"format": format} | more


def number_of_row(row: Any, **more: Any) -> dict[str, Any]:
    """Return the number of a row of results, with its `setting`, `baseline`, `target` and the facts of its measure.

    Parameters
    ----------
    row : Series
    **more
        Further plain values, which replace values of the row with the same names.
    """
    facts = measure_facts(row.measure)
    stated = {
        "format": facts.format,
        "setting": name_setting(row),
        "baseline": to_json_number(row.baseline),
        "baseline_is": facts.baseline,
        "better": row.better,
        "target": "" if pd.isna(row.target) else str(row.target),
    }
    return make_number(row.value, row.low, row.high, **stated | more)


def to_json_number(value: Any) -> float | None:
    """Return a number in the form for JSON: None for NaN and None, and a Python float for any other number."""
    return None if value is None or np.isnan(value) else float(value)

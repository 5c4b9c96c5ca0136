"""pandas, imported when something of it is first asked for: `from privnb.runtime import lazy_pandas as pd`.

pandas takes longer to import than all that `from privnb import Mondrian` needs besides. A module that uses this one
starts with `from __future__ import annotations`, since an annotation that is evaluated asks for pandas.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import (
        Categorical as Categorical,
        CategoricalDtype as CategoricalDtype,
        DataFrame as DataFrame,
        Index as Index,
        Series as Series,
    )


def __getattr__(name: str) -> Any:
    import pandas

    return getattr(pandas, name)

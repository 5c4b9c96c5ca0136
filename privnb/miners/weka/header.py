"""A table as Weka reads it."""

from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from privnb.miners.weka.java import Machine
from privnb.runtime.arrays import Array, FloatArray


class Header:
    """The attributes as Weka reads them.

    `labels`: {name: Index of nominal values, or None for numbers}; `classes`: the sorted labels of the class, None for
    numbers.
    """

    def __init__(self, table: pd.DataFrame, target: Any) -> None:
        """`table`: DataFrame (n, attributes) of numbers and Categoricals; `target`: numbers or labels, array (n,)."""
        target = pd.Series(np.asarray(target))
        self.labels = {name: None if is_numeric_dtype(table[name]) else table[name].cat.categories for name in table}
        self.classes = None if is_numeric_dtype(target) else np.array(sorted(set(target.astype(str))), dtype=object)

    def instances(self, java: Machine, table: pd.DataFrame, target: Any = None) -> Any:
        """Weka's Instances of n records, a DataFrame of numbers and Categoricals; without `target` no class."""
        if list(table) != list(self.labels):
            raise ValueError(f"the miner learned from columns {list(self.labels)}, got {list(table)}. Encode those.")
        columns = [self._column(table[name], values) for name, values in self.labels.items()]
        if target is None:
            columns.append(np.full(len(table), np.nan))
        elif self.classes is None:
            columns.append(np.asarray(target, dtype=float))
        else:
            columns.append(np.searchsorted(self.classes, pd.Series(np.asarray(target)).astype(str).to_numpy(object)))
        vector = java.JClass("weka.core.FastVector")
        attributes = vector()
        for name, values in [*self.labels.items(), ("the class", self.classes)]:
            attribute = java.JClass("weka.core.Attribute")
            if values is None:
                attributes.addElement(attribute(str(name)))
                continue
            nominal = vector()
            for value in values:
                nominal.addElement(java.JString(str(value)))
            attributes.addElement(attribute(str(name), nominal))
        data = java.JClass("weka.core.Instances")("records", attributes, len(table))
        data.setClassIndex(len(columns) - 1)
        # Since 3.7 Instance is an interface.
        record = java.JClass("weka.core.Instance")
        record = java.JClass("weka.core.DenseInstance") if record.class_.isInterface() else record
        for row in java.JArray(java.JDouble, 2)(np.column_stack(columns).astype(float)):
            data.add(record(1.0, row))  # NaN is Weka's own missing value
        return data

    def guesses(self, found: FloatArray) -> Array:
        """Weka's numbers, float array (n,), as numbers or as labels; None for no class."""
        if self.classes is None:
            return found
        return np.array([*self.classes, None], dtype=object)[np.nan_to_num(found, nan=-1).astype(int)]

    def _column(self, column: pd.Series, values: Any) -> FloatArray:
        if (values is None) != is_numeric_dtype(column):
            kinds = ("numbers", "labels") if values is None else ("labels", "numbers")
            raise ValueError(
                f"column '{column.name}': the miner learned from {kinds[0]} and is asked for {kinds[1]}. "
                "Encode with like= the records that it learned from."
            )
        if values is None:
            return column.to_numpy(dtype=float)
        known = np.append(values.get_indexer(column.cat.categories).astype(float), -1)  # the last serves code -1
        codes = known[column.cat.codes.to_numpy()]
        return np.where(codes < 0, np.nan, codes)

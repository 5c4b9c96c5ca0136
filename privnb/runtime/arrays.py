"""Types of arrays whose elements have the same type; docstrings state the shapes of arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
IntArray = NDArray[np.integer[Any]]
FloatArray = NDArray[np.floating[Any]]
BoolArray = NDArray[np.bool_]
Int = int | np.integer[Any]  # a whole number of Python or from an array

"""Types of arrays by what they hold; shapes are stated in docstrings."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
IntArray = NDArray[np.integer[Any]]
FloatArray = NDArray[np.floating[Any]]
BoolArray = NDArray[np.bool_]
Int = int | np.integer[Any]  # one whole number, of Python or out of an array

"""What the server of worker processes loads, once: each worker begins with all of it, and loads none of it again."""

import numba.core.registry
import pandas  # noqa: F401
import scipy.stats  # noqa: F401
import sklearn.ensemble
import sklearn.model_selection  # noqa: F401

from privnb.evaluation import content
from privnb.sanitizers.algorithms import partitioning  # noqa: F401

# Of the code that the server has loaded: a file that is changed later changes nothing in its workers.
content.fingerprint()

# What numba does before its first kernel, be that compiled or not, takes half as long as all imports together.
numba.core.registry.cpu_target.typing_context.refresh()
numba.core.registry.cpu_target.target_context.refresh()

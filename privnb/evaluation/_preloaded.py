"""What the server of worker processes loads, once: each worker begins with all of it, and loads none of it again."""

import importlib

import numba.core.registry
import pandas  # noqa: F401
import scipy.stats  # noqa: F401
import sklearn.ensemble
import sklearn.model_selection  # noqa: F401

from privnb.evaluation import content

# Of all that the fingerprint covers: a file that is changed later changes nothing in the server's workers.
content.fingerprint()
for name in content.sources():
    importlib.import_module(name)

# What numba does before its first kernel, be that compiled or not, takes half as long as all imports together.
numba.core.registry.cpu_target.typing_context.refresh()
numba.core.registry.cpu_target.target_context.refresh()

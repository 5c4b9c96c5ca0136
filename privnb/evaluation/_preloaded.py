"""Modules that the server of worker processes imports once, so that no worker process imports them again."""

import importlib

import numba.core.registry
import pandas  # noqa: F401
import scipy.stats  # noqa: F401
import sklearn.ensemble
import sklearn.model_selection  # noqa: F401

from privnb.evaluation import digests

# The server imports every module of the fingerprint. A file that changes later does not change its workers.
digests.fingerprint()
for name in digests.list_sources():
    importlib.import_module(name)

# numba prepares its first kernel, compiled or not, in half the time of all imports.
numba.core.registry.cpu_target.typing_context.refresh()
numba.core.registry.cpu_target.target_context.refresh()

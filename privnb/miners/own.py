"""Custom miners: any classifier or regressor of scikit-learn, alone or as the last step of a pipeline."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from privnb.miners.estimators import OneThread
from privnb.miners.miner import Failed, Miner
from privnb.runtime import expect
from privnb.runtime.arrays import Array
from privnb.runtime.errors import UsageError, UsageTypeError
from privnb.runtime.names import join_names
from privnb.runtime.own_methods import describe_failure

INVENTED = 40  # records with which an error is reproduced
SEED = 0  # for random estimators without a seed, as in the package's own miners
TRY = "Try HistGradientBoostingClassifier() for labels, or HistGradientBoostingRegressor() for numbers."


@dataclass(frozen=True, eq=False)
class Guarded:
    """A custom estimator whose errors and predictions are checked.

    The estimator runs on one thread, because a fit takes ten times as long if threads wait for each other on a busy
    machine. Every error of the estimator is raised again as `Failed`, so that an evaluation records a refusal and
    continues. The message of `Failed` contains the class and the line of the estimator's error. The estimator's own
    message may quote records; `Failed` therefore includes this message only if the estimator raises the same error for
    invented numbers.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor that is not fitted.
    called : str
        The name of the miner that contains the estimator.
    written : str
        The class and parameters of the estimator; for a pipeline, those of its last step.
    labels : int
        The number of labels that the estimator has learned; 0 for numbers.
    """

    estimator: Any
    called: str
    written: str = ""
    labels: int = 0

    def fit(self, features: Array, target: Array) -> Self:
        """Fit the estimator to features, an array (n, f), and to numbers or positions of labels, an array (n,)."""
        try:
            OneThread(self.estimator).fit(features, target)
        except MemoryError:
            raise
        except Exception as error:
            raise self._failed("learning", self._said(error, features, target)) from error
        object.__setattr__(self, "labels", int(target.max()) + 1 if target.dtype.kind in "iu" else 0)
        return self

    def predict(self, features: Array) -> Array:
        """Return the checked guess for each record, as an array (n,)."""
        try:
            guesses = np.asarray(OneThread(self.estimator).predict(features))
        except MemoryError:
            raise
        except Exception as error:
            raise self._failed("predicting", self._said(error, features)) from error
        if guesses.shape != (len(features),):
            raise self._failed(
                "predicting", f"the estimator gave an array of shape {guesses.shape} for {len(features)} records"
            )
        if guesses.dtype.kind not in "biuf":
            raise self._failed(
                "predicting", "the estimator gave values that are not numbers, but was trained on numbers"
            )
        if not np.isfinite(guesses).all():
            raise self._failed("predicting", "the estimator gave numbers that are not finite")
        if not self.labels:
            return guesses.astype(float)
        codes = guesses.astype(np.int64)
        if (codes != guesses).any() or not ((codes >= 0) & (codes < self.labels)).all():
            raise self._failed("predicting", "the estimator gave labels that it was not trained on")
        return codes

    def _said(self, error: Exception, features: Array, target: Array | None = None) -> str:
        """Return where an error was raised, and the error's message if invented numbers lead to the same error."""
        from sklearn.base import clone

        said, rng = describe_failure(self.estimator, error), np.random.default_rng(SEED)
        of_labels = self.labels > 0 if target is None else target.dtype.kind in "iu"
        invented = rng.integers(0, 2, (INVENTED, features.shape[1])).astype(features.dtype)
        try:
            answers = np.arange(INVENTED) % 2 if of_labels else rng.random(INVENTED)
            clone(self.estimator).fit(invented, answers).predict(invented)
        except Exception as again:
            message = next(iter(str(again).splitlines()), "").rstrip(".")
            if message and type(again) is type(error):
                return f"{said}. Invented numbers lead to the same error, with the message: {message}"
        return said

    def _failed(self, doing: str, why: str) -> Failed:
        return Failed(
            f"the miner '{self.called}' failed in {doing}: {why}. It gets an array of numbers from "
            "`privnb.miners.encoding.encode`. Change the estimator, or leave it out."
        )


def make_miner(estimator: Any, name: str = "", argument: str = "miners") -> Miner:
    """Return a miner that contains a clone of an estimator; a random estimator without a seed gets a seed.

    A classifier predicts labels; a regressor predicts numbers. Every parameter `random_state` that is None is set to 0
    in the clone, including those in the steps of a pipeline.

    Parameters
    ----------
    estimator : estimator
        A classifier or a regressor of scikit-learn, or a pipeline that ends in one.
    name : str
        The name of the miner in results. By default, this is the class of the estimator; for a pipeline, it is the
        class of the last step.
    argument : str
        The name of the argument in error messages.

    Raises
    ------
    TypeError
        If the object cannot predict, or if scikit-learn cannot clone it.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.linear_model import Ridge
    >>> make_miner(make_pipeline(StandardScaler(), Ridge()))
    Miner(name='Ridge')
    """
    from sklearn.base import clone

    kind = _kind(estimator)
    if not kind:
        made = isinstance(estimator, type) and hasattr(estimator, "predict")
        raise UsageTypeError(
            f"`{argument}` must be names of miners, or classifiers or regressors that predict; got "
            f"{expect.describe_value(estimator)}. {f'Try {estimator.__name__}().' if made else TRY}"
        )
    try:
        own = clone(estimator)
        unseeded = [
            each for each, value in own.get_params().items() if each.split("__")[-1] == "random_state" and value is None
        ]
        own.set_params(**dict.fromkeys(unseeded, SEED))
    except Exception as error:
        raise UsageTypeError(
            f"`{argument}` must be estimators that scikit-learn can clone; got a {type(estimator).__name__}, for which "
            f"`sklearn.base.clone` raised {type(error).__name__}. Set the parameters of the estimator only in "
            "`__init__`."
        ) from error
    last = _last(estimator)
    called = name or type(last).__name__
    given = Guarded(own, called, " ".join(repr(last).split()))
    return Miner(called, classifier=given) if kind == "classifier" else Miner(called, regressor=given)


def guard_miner(miner: Any) -> Any:
    """Return a `Miner` with guarded estimators; return any other miner unchanged."""
    if not isinstance(miner, Miner):
        return miner
    return replace(
        miner, classifier=_guard(miner.classifier, miner.name), regressor=_guard(miner.regressor, miner.name)
    )


def _guard(estimator: Any, called: str) -> Any:
    return estimator if estimator is None or isinstance(estimator, Guarded) else Guarded(estimator, called)


def is_custom_miner(miner: Any) -> bool:
    """Return whether a miner contains a custom estimator; results list the columns that such a miner cannot predict."""
    return isinstance(getattr(miner, "classifier", None) or getattr(miner, "regressor", None), Guarded)


def name_apart(miners: Sequence[Any]) -> tuple[Any, ...]:
    """Return the miners with unique names; if estimators have the same class, their names also contain the parameters.

    Raises UsageError if two miners still have the same name.
    """
    times = Counter(miner.name for miner in miners)
    found = tuple(_in_full(miner) if times[miner.name] > 1 else miner for miner in miners)
    if twice := [name for name, number in Counter(miner.name for miner in found).items() if number > 1]:
        raise UsageError(
            f"`miners` must have different names; got two with the name {join_names(twice)}. Try "
            'privnb.miners.Miner("a name", classifier=...).'
        )
    return found


def _in_full(miner: Any) -> Any:
    given: Any = getattr(miner, "classifier", None) or getattr(miner, "regressor", None)
    if not is_custom_miner(miner) or miner.name != type(_last(given.estimator)).__name__:
        return miner
    return replace(miner, name=given.written)


def _last(estimator: Any) -> Any:
    """Return the last step of a pipeline that is not itself a pipeline; return any other estimator unchanged."""
    while getattr(estimator, "steps", None):
        estimator = estimator.steps[-1][1]
    return estimator


def _kind(estimator: Any) -> str:
    """Return "classifier" or "regressor" for the kind of an object, or "" if the object is neither."""
    from sklearn.base import is_classifier, is_regressor

    if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        return ""
    try:
        found = {"classifier": is_classifier(estimator), "regressor": is_regressor(estimator)}
        return next((kind for kind, fits in found.items() if fits and hasattr(estimator, "predict")), "")
    except Exception:  # a pipeline without a last step has no tags
        return ""

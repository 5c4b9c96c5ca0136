"""Predictions by a set of miners from a release, for people from whom the miners learned and for other people."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd

from privnb.attacks import MinerInference
from privnb.attacks.inference.miner_inference import bare_guess
from privnb.microdata.release import Published, Release
from privnb.microdata.treatment import Rows, Unreadable
from privnb.miners import cross_val_predictions, reference_set, select_able, stacking, vote, weka
from privnb.miners.encoding import Encoded, encode
from privnb.miners.miner import Failed
from privnb.miners.own import is_custom_miner
from privnb.runtime.arrays import Array
from privnb.runtime.errors import UsageError
from privnb.runtime.names import join_names
from privnb.runtime.progress import track
from privnb.runtime.validation import instead
from privnb.sanitizers.base import Sanitizer

# The status, of `results.REASONS`, of a miner that fails with an error of each type.
FAILURES: dict[type[Exception], str] = {
    weka.Unfinished: "unfinished", weka.Unavailable: "unavailable", weka.DataRefused: "refused", Failed: "refused",
}  # fmt: skip


def normalize_miners(miners: Any) -> Any:
    """Return miners in the form that a question stores: names as one text, and anything else as a tuple of miners.

    Raises
    ------
    UsageTypeError
        For an object that cannot predict.
    UsageError
        For an unknown name.
    """
    if isinstance(miners, list | tuple) and miners and all(isinstance(each, str) for each in miners):
        miners = ", ".join(miners)
    return miners if isinstance(miners, str) else reference_set(miners)


# The names of sets and miners as a text, an estimator of scikit-learn's kind, or a list of both.
Miners = Annotated[Any, lambda name, value: normalize_miners(value)]
MinerNames = Annotated[str, instead(str, 'Name a set of miners, such as "basic".')]


class Predictions(NamedTuple):
    """Predictions of one column of a release, as arrays (n,) in the order of the dataset.

    `guesses` is `{miner: array}`. `baseline` is the guess without the release. `failed` is `{miner: status}` for the
    miners that ran out of time ("unfinished"), are not installed ("unavailable") or do not accept such data
    ("refused"). These miners have no guesses and are left out of averages. `reasons` is `{miner: sentence}` for the
    same miners; the sentence is empty if no reason is known.
    """

    guesses: dict[str, Array]
    baseline: np.ndarray
    failed: dict[str, str]
    reasons: Mapping[str, str] = MappingProxyType({})

    def columns(self, name: str) -> dict[str, str]:
        """Return the columns of a row of results for a miner without a guess."""
        return {"miner": name, "status": self.failed[name], "reason": self.reasons.get(name, "")}


class WithMiners:
    """A question with a parameter `miners`, which is stored in the form that `normalize_miners` returns."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "miners", normalize_miners(vars(self)["miners"]))


def resolve_miners(miners: Any) -> Sequence[Any]:
    """Return the miners of these names or sets from `miners.reference_set`, or from the real Weka.

    Examples
    --------
    >>> [miner.name for miner in resolve_miners("majority, decision stump")]
    ['majority', 'decision stump']
    """
    return (
        weka.find_miners_by_name(miners) if isinstance(miners, str) and weka.is_weka(miners) else reference_set(miners)
    )


def explain_refusals(miners: Sequence[Any], column: Any) -> dict[str, str]:
    """Return, as `{miner: sentence}`, why some of the user's own miners cannot guess a column of this kind.

    Miners of the package's sets that cannot guess the column are left out without a reason, because each set has miners
    for both kinds of columns.
    """
    return {
        each.name: each.explain_refusal(column)
        for each in miners
        if is_custom_miner(each) and not each.predicts(column)
    }


def name_miners(miners: Any) -> str:
    """Return the names of miners as a text for an error message."""
    return miners if isinstance(miners, str) else join_names(miner.name for miner in resolve_miners(miners))


def predict_in_sample(release: Release, target: str, miners: Miners, *, rng: Sequence[int] | int) -> Predictions:
    """Predict `target` for the records from which the `miners` learn.

    The predictions are M(S(DB), S(x)) of section 2.4 of Sramka et al. 2010. The attack sees only the published table,
    in an order that `rng` decides. Miners that cannot guess a column of this kind are left out.

    Raises
    ------
    UsageError
        If none of the miners can guess the column.
    """
    published, key = _require_records(release)._published(rng)
    assert key is not None  # synthetic rows were refused above
    encoded = _encode_others(published, published.table, target)  # once for all miners

    def guess(miner: Any) -> Array:
        # As MinerInference does with one miner, which has nothing but the release.
        predicted = miner.fit(encoded, published.table[target]).predict(encoded)
        ordered = np.empty(len(key), dtype=predicted.dtype)
        ordered[key] = predicted
        return ordered

    return _predict_each(release, target, miners, guess)


def predict_cross_validated(release: Release, target: str, miners: Miners, *, folds: int, seed: int) -> Predictions:
    """Predict `target` for people from whom the `miners` did not learn.

    The predictions are those of a cross-validation over the release, with all records of a person in one fold. If the
    table has fewer people than `folds`, there is one fold per person. If a miner predicts nothing for an attribute that
    is published unchanged, its guess is "", which is never right.
    """
    folds = min(folds, release.headcount)
    column, encoded = _require_records(release).table[target].to_numpy(), _encode_others(release, release.table, target)

    def guess(miner: Any) -> Array:
        predicted = cross_val_predictions(miner, encoded, column, folds=folds, seed=seed, people=release.people)
        # Elsewhere the released cell replaces a missing guess. Here it is the person's true value.
        exact = target not in release.schema.quasi_identifiers and column.dtype.kind not in "fiu"
        return np.where(pd.isna(predicted), "", predicted).astype(object) if exact else predicted

    return _predict_each(release, target, miners, guess)


def predict_ensemble(release: Release, target: str, miners: Miners, guesses: Mapping[str, Any]) -> dict[str, Any]:
    """Combine the `guesses` of the `miners` as an adversary may, and return `{fusion: array (n,)}`.

    The adversary can judge each miner only by the release. The fusions are those of the miners "fusion: vote" and
    "fusion: stacked".
    """
    members = [miner for miner in resolve_miners(miners) if miner.name in guesses]
    given = [guesses[miner.name] for miner in members]
    trust = stacking(members, _encode_others(release, release.table, target), release.table[target].to_numpy())
    return {"fusion: vote": vote(given), "fusion: stacked": trust(given)}


def derive_seed(seed: int, sanitizer: Sanitizer | None, purpose: str) -> list[int]:
    """Return the seed for one purpose, so that draws for different purposes are independent.

    The noise, the shuffling and the drawing of a run must be independent, and so must the noise of two settings. The
    seed is derived from the sanitizer's `key`, which a test keeps constant. `sanitizer` is None for draws that all
    sanitizers share.
    """
    return [seed, zlib.crc32(f"{sanitizer and sanitizer.key} {purpose}".encode())]


def _encode_others(release: Published | Release, table: pd.DataFrame, target: str) -> Encoded:
    others = [name for name in release.schema.published if name != target]
    return encode(table, others, release.schema, release.hierarchies)


def _require_records(release: Release) -> Release:
    MinerInference.check(release)
    if release.provenance.rows is not Rows.RECORDS:
        raise Unreadable(
            f"the rows of {release.provenance.sanitizer} are {release.provenance.rows}, so guesses cannot be compared "
            "with the record of each row. Use `attacks.MinerInference`, which guesses for people."
        )
    return release


def _predict_each(release: Release, target: str, asked: Miners, guess: Callable[..., Any]) -> Predictions:
    """Return the predictions of `guess(miner)`, an array (n,), for each miner that can guess the column."""
    column = release.table[target]
    every = resolve_miners(asked)
    miners, others = select_able(every, column)
    reasons = explain_refusals(every, column)
    if not miners and not reasons:
        raise UsageError(
            f"{others} cannot predict '{target}' in the form that this release publishes. Add another miner to MINERS."
        )
    failed, guesses = dict.fromkeys(reasons, "refused"), {}
    for miner in track(miners, f"mine {target}"):
        try:
            guessed = guess(miner)
        except tuple(FAILURES) as error:
            failed[miner.name] = FAILURES[type(error)]
            reasons[miner.name] = str(error) if isinstance(error, Failed) else ""
        else:
            # If a miner predicts nothing, as some of Weka's do, the adversary keeps the released cell.
            nothing = pd.isna(guessed)
            guesses[miner.name] = np.where(nothing, column.to_numpy(), guessed) if nothing.any() else guessed
    return Predictions(guesses, bare_guess(release, target, len(release)), failed, reasons)

"""What the miners of a set guess of a release: of people whom they learned from, and of people whom they did not."""

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
from privnb.miners import able, cross_val_predictions, reference_set, stacking, vote, weka
from privnb.miners.encoding import Encoded, encode
from privnb.miners.miner import Failed
from privnb.miners.own import is_own
from privnb.runtime.arrays import Array
from privnb.runtime.errors import UsageError
from privnb.runtime.names import name_list
from privnb.runtime.progress import track
from privnb.runtime.validation import instead
from privnb.sanitizers.base import Sanitizer

# Why a miner has no guess, as `results.REASONS` say it.
FAILURES: dict[type[Exception], str] = {
    weka.Unfinished: "unfinished", weka.Unavailable: "unavailable", weka.Refused: "refused", Failed: "refused",
}  # fmt: skip


def settle_miners(miners: Any) -> Any:
    """Return miners as a question keeps them: names as a text, anything else as a tuple of miners.

    Raises UsageTypeError for what cannot predict, and UsageError for a name that is no miner's.
    """
    if isinstance(miners, list | tuple) and miners and all(isinstance(each, str) for each in miners):
        miners = ", ".join(miners)
    return miners if isinstance(miners, str) else reference_set(miners)


# The names of sets and miners as a text, an estimator of scikit-learn's kind, or a list of both.
Miners = Annotated[Any, lambda name, value: settle_miners(value)]
MinerNames = Annotated[str, instead(str, 'Name a set of miners, such as "three".')]


class Mined(NamedTuple):
    """Guesses of one column of a release, arrays (n,) in the dataset's order.

    `guesses`: `{miner: array}`. `baseline`: the guess without the release. `failed`: `{miner: reason}` of those that
    ran out of time ("unfinished"), are not there ("unavailable") or do not take such data ("refused"): they have no
    guesses, and belong to no average. `reasons`: `{miner: sentence}` of those, empty where there is none.
    """

    guesses: dict[str, Array]
    baseline: np.ndarray
    failed: dict[str, str]
    reasons: Mapping[str, str] = MappingProxyType({})

    def columns(self, name: str) -> dict[str, str]:
        """Return what a row of results says of a miner without a guess, by column."""
        return {"miner": name, "status": self.failed[name], "reason": self.reasons.get(name, "")}


class AsksMiners:
    """A question with a parameter `miners`, which it keeps as `settle_miners` gives them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "miners", settle_miners(vars(self)["miners"]))


def miners_of(miners: Any) -> Sequence[Any]:
    """The miners that are asked for: those of `miners.reference_set`, or the real Weka's of `weka.named`.

    >>> [miner.name for miner in miners_of("majority, decision stump")]
    ['majority', 'decision stump']
    """
    return weka.named(miners) if isinstance(miners, str) and weka.is_weka(miners) else reference_set(miners)


def explain_refusals(miners: Sequence[Any], column: Any) -> dict[str, str]:
    """Return why those of somebody's own miners cannot guess a column that are of another kind: `{miner: sentence}`.

    Of the package's sets such miners are left out: a set has some of either kind.
    """
    return {each.name: each.explain_refusal(column) for each in miners if is_own(each) and not each.predicts(column)}


def name_miners(miners: Any) -> str:
    """Return how an error names miners."""
    return miners if isinstance(miners, str) else name_list(miner.name for miner in miners_of(miners))


def mine(release: Release, target: str, miners: Miners, *, rng: Sequence[int] | int) -> Mined:
    """What the `miners` guess of `target` for the records that they learn from: a `Mined`.

    Section 2.4 of Sramka et al. 2010, M(S(DB), S(x)). The attack sees the shuffled published table alone; `rng`
    shuffles. Miners that cannot guess such a column are left out; raises ValueError if that is all of them.
    """
    published, key = _attackable(release)._published(rng)
    assert key is not None  # rows of nobody are not attackable
    encoded = _encoded(published, published.table, target)  # once for all miners

    def guess(miner: Any) -> Array:
        # What MinerInference does with one miner: the release is all that it has.
        predicted = miner.fit(encoded, published.table[target]).predict(encoded)
        ordered = np.empty(len(key), dtype=predicted.dtype)
        ordered[key] = predicted
        return ordered

    return _each(release, target, miners, guess)


def unseen(release: Release, target: str, miners: Miners, *, folds: int, seed: int) -> Mined:
    """What the `miners` guess of `target` for people whom they did not learn from: a `Mined`.

    By cross-validation over the release: what is known of a person is the same, but the release tells of others. All
    records of a person are in one fold, and a table of fewer people than `folds` has one fold per person. Where a miner
    names nothing of an attribute that is published as it is, the guess is "", which is never right.
    """
    folds = min(folds, release.headcount)
    column, encoded = _attackable(release).table[target].to_numpy(), _encoded(release, release.table, target)

    def guess(miner: Any) -> Array:
        predicted = cross_val_predictions(miner, encoded, column, folds=folds, seed=seed, people=release.people)
        # The released cell of the very person, which stands for no guess elsewhere, would be the truth.
        exact = target not in release.schema.quasi_identifiers and column.dtype.kind not in "fiu"
        return np.where(pd.isna(predicted), "", predicted).astype(object) if exact else predicted

    return _each(release, target, miners, guess)


def fused(release: Release, target: str, miners: Miners, guesses: Mapping[str, Any]) -> dict[str, Any]:
    """What an adversary guesses who combines the `miners`, given their `guesses`: `{fusion: array (n,)}`.

    As the miners "fusion: vote" and "fusion: stacked" do, which the release alone teaches how far to trust each.
    """
    members = [miner for miner in miners_of(miners) if miner.name in guesses]
    given = [guesses[miner.name] for miner in members]
    trust = stacking(members, _encoded(release, release.table, target), release.table[target].to_numpy())
    return {"fusion: vote": vote(given), "fusion: stacked": trust(given)}


def stream(seed: int, sanitizer: Sanitizer | None, purpose: str) -> list[int]:
    """The seed of one purpose: noise, shuffling and drawing lots must not go together, nor two settings' noise.

    It depends on the sanitizer's `key`, of which a test keeps every one as it is. `sanitizer`: None for what concerns
    all of them alike.
    """
    return [seed, zlib.crc32(f"{sanitizer and sanitizer.key} {purpose}".encode())]


def _encoded(release: Published | Release, table: pd.DataFrame, target: str) -> Encoded:
    others = [name for name in release.schema.published if name != target]
    return encode(table, others, release.schema, release.hierarchies)


def _attackable(release: Release) -> Release:
    MinerInference.check(release)
    if release.provenance.rows is not Rows.RECORDS:
        raise Unreadable(
            f"guesses are compared with the record of each row, and the rows of {release.provenance.sanitizer} are "
            f"{release.provenance.rows}. Use `attacks.MinerInference`, which guesses for people as they are known."
        )
    return release


def _each(release: Release, target: str, asked: Miners, guess: Callable[..., Any]) -> Mined:
    """The `Mined` of `guess(miner)`, an array (n,), for each miner that can."""
    column = release.table[target]
    every = miners_of(asked)
    miners, others = able(every, column)
    reasons = explain_refusals(every, column)
    if not miners and not reasons:
        raise UsageError(
            f"{others} cannot predict '{target}' as this release publishes it. Add another miner to MINERS."
        )
    failed, guesses = dict.fromkeys(reasons, "refused"), {}
    for miner in track(miners, f"mine {target}"):
        try:
            guessed = guess(miner)
        except tuple(FAILURES) as error:
            failed[miner.name] = FAILURES[type(error)]
            reasons[miner.name] = str(error) if isinstance(error, Failed) else ""
        else:
            # Where a miner names nothing, as some of Weka's do, the adversary keeps what was released.
            nothing = pd.isna(guessed)
            guesses[miner.name] = np.where(nothing, column.to_numpy(), guessed) if nothing.any() else guessed
    return Mined(guesses, bare_guess(release, target, len(release)), failed, reasons)

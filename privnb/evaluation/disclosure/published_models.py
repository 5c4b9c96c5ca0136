"""Test whether a published model opens an inference channel for an adversary who has some examples.

The owner publishes a classifier that predicts the sensitive attribute from the quasi-identifiers, and no records. The
adversary knows the quasi-identifiers of all people and the sensitive values of a few people. The adversary learns a
classifier C1 from these examples, and a classifier C2 from the same examples with one more column: the prediction of
the published model. If C2 is right more often than C1 about the other people, by more than chance, the model opens a
channel. The test applies to these two classifiers; other examples would lead to other classifiers. The control, whose
model is learned from random labels, shows how much two classifiers may differ without a channel.

The published model is learned from the same people whose values the adversary guesses. The test does not cover models
that read attributes unknown to the adversary, or that predict an attribute which is not sensitive.

Source: Kantarcioglu, Jin, Clifton, "When do Data Mining Results Violate Privacy?", KDD 2004; Aggarwal and Yu 2008,
sections 8.2.2 and 13.8.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import choose_unknown_sensitive
from privnb.evaluation.predictions import Miners, name_miners, resolve_miners
from privnb.evaluation.results import build_row, estimate_share, join_results, tidy
from privnb.evaluation.store import Folder, Store, run_tasks
from privnb.measures.base import register_measure
from privnb.measures.intervals import normal_interval
from privnb.microdata import withholding
from privnb.microdata.schema import Attribute, NotForThisTable, Role, Schema
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.miners import cross_val_predictions, select_able
from privnb.miners.encoding import Encoded, encode
from privnb.miners.miner import Miner
from privnb.runtime import expect
from privnb.runtime.arrays import Array
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import validated

ADVERSARY = "naive Bayes, decision table"  # a decision table uses the model's prediction only if it helps
FOLDS = 5
SEED = 1  # of the examples and of the random labels
RANDOM = "random labels"
MODEL_COLUMN = "prediction of the model"  # the column of C2 with the predictions of the published model

_SOURCE = "Kantarcioglu, Jin, Clifton, KDD 2004; Aggarwal and Yu 2008, section 8.2.2"
register_measure(
    "model_channel",
    kind="privacy",
    title="Right with the published model",
    sentence="This is the share of people whose sensitive value an adversary with some examples and the published "
    "model guesses correctly.",
    source=_SOURCE,
    unit="share of people",
    baseline="without the model",
    varies=True,
)
register_measure(
    "model_gain",
    kind="privacy",
    bounds=(-1, 1),
    title="Gain by the published model",
    sentence="This is the share of people whose sensitive value is guessed correctly only because of the published "
    "model.",
    source=_SOURCE,
    unit="share of people",
    format="{:+%} of people",
    varies=True,
)
register_measure(
    "model_p",
    bounds=(0, 1),
    title="Probability by chance",
    sentence="This is the probability of a difference at least this large if the model added nothing: McNemar's exact "
    "test.",
    source="McNemar, Psychometrika 12(2), 1947",
    format="{:g}",
    varies=True,
)


@validated
def attack_published_models(
    dataset: Dataset,
    miners: Miners = "standard",
    *,
    examples: int = 500,
    min_count: MinCount = LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """Test whether the published model of each miner opens an inference channel.

    C1 and C2 are each learned by the miner of `ADVERSARY` that is right most often about the examples, in a
    cross-validation with five folds.

    Parameters
    ----------
    dataset : Dataset
        n records, one per person. The first sensitive attribute is guessed; it must be categorical.
    miners : str, estimator, or list of those
        The miners whose models are published; see `miners.reference_set`.
    examples : int
        The number of randomly drawn people whose sensitive value the adversary knows, at least 2 and below n.
    min_count : int
        Shares of fewer people are withheld.
    store : str
        The folder that stores finished results; if empty, results are not stored.

    Returns
    -------
    DataFrame
        Tidy results by `miner`. The row `model_channel` is the accuracy of C2, with the accuracy of C1 as baseline. The
        row `model_gain` is the difference between the two, with the 95% interval of a paired difference. The row
        `model_p` is the p-value of the two-sided exact test of McNemar. Rows whose `control` is "random labels" are
        about models learned from randomly permuted sensitive values; such models do not open a channel.

    Raises
    ------
    NotForThisTable
        If the dataset has no sensitive attribute or no quasi-identifier, if people may have several records, or if the
        sensitive attribute is a number.
    ValueError
        If the number of examples leaves no people to learn from or to guess, or if no miner predicts categories.
    """
    target = choose_unknown_sensitive(dataset, None)
    _check(dataset, target)
    if not (expect.is_whole(examples) and 2 <= examples < len(dataset)):
        raise UsageError(
            f"`examples` must be a whole number of at least 2 and below the number of records, {len(dataset)}; got "
            f"{expect.describe_value(examples)}."
        )
    published = select_able(resolve_miners(miners), _find_values(dataset, target))[0]
    if not published:
        raise UsageError(f"'{name_miners(miners)}' does not guess categories such as '{target}'. Name other miners.")
    asked = [miner.name if isinstance(miners, str) else miner for miner in published]
    tasks = [
        partial(attack_published_model, dataset, miner, target, control, examples, min_count)
        for control in ("", RANDOM)
        for miner in asked
    ]
    return join_results(
        *(run_tasks(tasks, Store(store), description="models") if store else [task() for task in tasks])
    )


def attack_published_model(
    dataset: Dataset, asked: Any, target: str, control: str, examples: int, min_count: int
) -> pd.DataFrame:
    """Return the rows of `attack_published_models` for one miner, given itself or by name, and one `control`."""
    [miner] = resolve_miners(asked)
    rng, secret = np.random.default_rng(SEED), _find_values(dataset, target)
    order = rng.permutation(len(dataset))
    known, others = np.sort(order[:examples]), np.sort(order[examples:])
    names = dataset.schema.quasi_identifiers
    public = encode(dataset.table, names, dataset.schema, dataset.hierarchies)
    learned = rng.permutation(secret) if control else secret
    says = miner.fit(public, learned).predict(public).astype(str)
    column = Attribute(MODEL_COLUMN, Role.NEUTRAL, dataset.schema[target].domain)
    schema = Schema(dataset.schema.dataset, (*dataset.schema.attributes, column))
    more = encode(dataset.table.assign(**{MODEL_COLUMN: says}), [*names, MODEL_COLUMN], schema, dataset.hierarchies)
    right = []
    for encoded in (public, more):
        model = _choose_miner(resolve_miners(ADVERSARY), encoded[known], secret[known]).fit(
            encoded[known], secret[known]
        )
        right.append(model.predict(encoded[others]).astype(str) == secret[others])
    without, having = right
    add = partial(
        build_row,
        dataset=dataset.name,
        sanitizer="a published model",
        seed=SEED,
        miner=miner.name,
        target=target,
        control=control,
    )
    n, lost, won = len(having), int((without & ~having).sum()), int((having & ~without).sum())
    if withholding.reveals_few(np.array([having.sum(), without.sum()]), n, min_count).any():
        interval = withholding.withhold_share(int(having.sum()), n, min_count)[1:]
        return tidy([add("model_channel", np.nan, interval=interval, status="withheld")])
    gain = (won - lost) / n
    error = np.sqrt(max(won + lost - (won - lost) ** 2 / n, 0)) / n
    from scipy.stats import binomtest  # takes a third of a second to import

    chance = max(binomtest(won, won + lost).pvalue, 1e-300) if won + lost else 1.0  # a smaller float may be 0
    channel = estimate_share(int(having.sum()), n)
    return tidy(
        [
            add("model_channel", channel, baseline=without.mean(), of=n, min_count=min_count),
            add("model_gain", gain, interval=normal_interval(gain, error), baseline=0.0),
            add("model_p", chance),
        ]
    )


def _find_values(dataset: Dataset, target: str) -> Array:
    return np.asarray(dataset.cells[target].astype(str))


def _choose_miner(miners: Sequence[Miner], encoded: Encoded, secret: Array) -> Miner:
    """Return the miner with the highest cross-validated accuracy on these records, or the first such miner in a tie."""
    folds = min(FOLDS, len(secret))
    guesses = (cross_val_predictions(miner, encoded, secret, folds=folds) for miner in miners)
    return miners[int(np.argmax([(guess.astype(str) == secret).sum() for guess in guesses]))]


def _check(dataset: Dataset, target: str) -> None:
    reason = ""
    if dataset.schema[target].numeric:
        reason = f"a model of '{target}' guesses numbers, and only guesses of categories can be correct or wrong"
    elif dataset.people is not None:
        reason = "people may have several records, and each is asked about once"
    elif not dataset.schema.quasi_identifiers:
        reason = "it has no quasi-identifier column that an adversary would know"
    if reason:
        raise NotForThisTable(f"no published model of '{dataset.name}' is judged: {reason}. Choose another attribute.")

"""Whether a published model opens an inference channel: what it adds for an adversary who has some examples.

Somebody publishes a classifier that guesses the sensitive attribute by the quasi-identifiers, and no record. The
adversary knows the quasi-identifiers of everybody, and of a few people the sensitive value, too. They learn a
classifier C1 from these few, and C2 from the same, with one column more: what the published model says of each. If C2
is right more often than C1 about the others, by more than chance, the model opens a channel. The test is of these two
classifiers: from other examples others would be learned. How far two may differ without a channel, the control says,
whose model was learned from random labels.

It is asked of a model that was learned from the people whom it is asked about, as a published one is. Cases in which
the model reads what the adversary does not know, or guesses what is no secret, are not asked.

Source: Kantarcioglu, Jin, Clifton, "When do Data Mining Results Violate Privacy?", KDD 2004; Aggarwal and Yu 2008,
sections 8.2.2 and 13.8.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import secret_name
from privnb.evaluation.predictions import Miners, miners_of, name_miners
from privnb.evaluation.results import guessed, join, row, tidy
from privnb.evaluation.store import Folder, Store, run
from privnb.measures.base import state
from privnb.measures.intervals import normal_interval
from privnb.microdata import withholding
from privnb.microdata.schema import Attribute, NotForThisTable, Role, Schema
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.miners import able, cross_val_predictions
from privnb.miners.encoding import Encoded, encode
from privnb.miners.miner import Miner
from privnb.runtime import expect
from privnb.runtime.arrays import Array
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import validated

ADVERSARY = "naive Bayes, decision table"  # a table reads the model's word where it helps, and else nothing of it
FOLDS = 5
SEED = 1  # draws the examples, and deals out
RANDOM = "random labels"
SAYS = "what the model says"  # the column that C2 has beside the quasi-identifiers

_SOURCE = "Kantarcioglu, Jin, Clifton, KDD 2004; Aggarwal and Yu 2008, section 8.2.2"
state(
    "model_channel",
    kind="privacy",
    title="Right with the published model",
    sentence="How often an adversary with a few examples and the published model guesses the secret of others.",
    source=_SOURCE,
    unit="share of people",
    baseline="without it",
    varies=True,
)
state(
    "model_gain",
    kind="privacy",
    bounds=(-1, 1),
    title="Gain by the published model",
    sentence="How many more people the adversary guesses right who has the published model, too.",
    source=_SOURCE,
    unit="share of people",
    format="{:+%} of people",
    varies=True,
)
state(
    "model_p",
    bounds=(0, 1),
    title="Probability by chance",
    sentence="How likely so large a difference, either way, would be if the model added nothing: McNemar's exact test.",
    source="McNemar, Psychometrika 12(2), 1947",
    format="{:g}",
    varies=True,
)


@validated
def models_published(
    dataset: Dataset, miners: Miners = "five", *, examples: int = 500, fewest: MinCount = LIMIT, store: Folder = ""
) -> pd.DataFrame:
    """Whether the published model of each miner opens a channel, and how far two classifiers differ without one.

    C1 and C2 are learned by that miner of `ADVERSARY` which is right most often about the examples, five folds of them.

    Parameters
    ----------
    dataset : Dataset
        n records, one per person. The secret is the first sensitive attribute, of categories.
    miners : str, estimator, or list of those
        Whose models are published, see `miners.reference_set`.
    examples : int
        Of so many people, drawn at random, the adversary knows the secret; from 2, below n.
    fewest : int
        Shares of fewer people are withheld.
    store : str
        The folder that keeps what is finished; empty: none.

    Returns
    -------
    DataFrame
        Tidy results by `miner`: `model_channel`, whose baseline is C1; `model_gain`, their difference with the 95%
        interval of a paired one; `model_p`, of the two-sided exact test of McNemar. And the same of `control` "random
        labels": the models are learned from secrets that were dealt out anew, so that no channel is there.

    Raises
    ------
    NotForThisTable
        Where nothing is sensitive or known, people have several records, or the secret is a number.
    ValueError
        For a number of examples that leaves nobody to learn from, or to guess; and for miners that guess no categories.
    """
    target = secret_name(dataset, None)
    _check(dataset, target)
    if not (expect.is_whole(examples) and 2 <= examples < len(dataset)):
        raise UsageError(
            f"examples must be a whole number from 2 and below the {len(dataset)} records, got "
            f"{expect.found(examples)}."
        )
    published = able(miners_of(miners), _secret(dataset, target))[0]
    if not published:
        raise UsageError(f"'{name_miners(miners)}' guesses no categories such as '{target}'. Name other miners.")
    asked = [miner.name if isinstance(miners, str) else miner for miner in published]
    tasks = [
        partial(published_model, dataset, miner, target, control, examples, fewest)
        for control in ("", RANDOM)
        for miner in asked
    ]
    return join(*(run(tasks, Store(store), description="models") if store else [task() for task in tasks]))


def published_model(
    dataset: Dataset, asked: Any, target: str, control: str, examples: int, fewest: int
) -> pd.DataFrame:
    """As `models_published`, of one miner, by its name or itself, with or without its control."""
    [miner] = miners_of(asked)
    rng, secret = np.random.default_rng(SEED), _secret(dataset, target)
    order = rng.permutation(len(dataset))
    known, others = np.sort(order[:examples]), np.sort(order[examples:])
    names = dataset.schema.quasi_identifiers
    public = encode(dataset.table, names, dataset.schema, dataset.hierarchies)
    learned = rng.permutation(secret) if control else secret
    says = miner.fit(public, learned).predict(public).astype(str)
    column = Attribute(SAYS, Role.NEUTRAL, dataset.schema[target].domain)
    schema = Schema(dataset.schema.dataset, (*dataset.schema.attributes, column))
    more = encode(dataset.table.assign(**{SAYS: says}), [*names, SAYS], schema, dataset.hierarchies)
    right = []
    for encoded in (public, more):
        model = _best(miners_of(ADVERSARY), encoded[known], secret[known]).fit(encoded[known], secret[known])
        right.append(model.predict(encoded[others]).astype(str) == secret[others])
    without, having = right
    add = partial(
        row,
        dataset=dataset.name,
        sanitizer="a published model",
        seed=SEED,
        miner=miner.name,
        target=target,
        control=control,
    )
    n, lost, won = len(having), int((without & ~having).sum()), int((having & ~without).sum())
    if withholding.tells(np.array([having.sum(), without.sum()]), n, fewest).any():
        interval = withholding.share(int(having.sum()), n, fewest)[1:]
        return tidy([add("model_channel", np.nan, interval=interval, status="withheld")])
    gain = (won - lost) / n
    error = np.sqrt(max(won + lost - (won - lost) ** 2 / n, 0)) / n
    from scipy.stats import binomtest  # takes a third of a second to import

    chance = max(binomtest(won, won + lost).pvalue, 1e-300) if won + lost else 1.0  # below that a float is 0
    channel = guessed(int(having.sum()), n)
    return tidy(
        [
            add("model_channel", channel, baseline=without.mean(), of=n, fewest=fewest),
            add("model_gain", gain, interval=normal_interval(gain, error), baseline=0.0),
            add("model_p", chance),
        ]
    )


def _secret(dataset: Dataset, target: str) -> Array:
    return np.asarray(dataset.cells[target].astype(str))


def _best(miners: Sequence[Miner], encoded: Encoded, secret: Array) -> Miner:
    """Of several miners the one that is right most often about unseen ones of these records; of equals the first."""
    folds = min(FOLDS, len(secret))
    guesses = (cross_val_predictions(miner, encoded, secret, folds=folds) for miner in miners)
    return miners[int(np.argmax([(guess.astype(str) == secret).sum() for guess in guesses]))]


def _check(dataset: Dataset, target: str) -> None:
    reason = ""
    if dataset.schema[target].numeric:
        reason = f"a model of '{target}' guesses numbers, and right or wrong is asked of categories"
    elif dataset.people is not None:
        reason = "people may have several records, and each is asked about once"
    elif not dataset.schema.quasi_identifiers:
        reason = "it has no quasi-identifier column that an adversary would know"
    if reason:
        raise NotForThisTable(f"no published model of '{dataset.name}' is judged: {reason}. Choose another attribute.")

"""The examples of Askari, Safavi-Naini, Barker 2012, and their question asked of releases of any dataset.

In the paper the adversary guesses a whole small table. Of a table of thousands of people they guess one person: who it
is, or their sensitive value. Both are channels, and measured alike.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import product

import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import secret_name, sensitive_name
from privnb.evaluation.cases import Question, answer
from privnb.evaluation.disclosure import leakage
from privnb.evaluation.parameters import numbers
from privnb.evaluation.profiles import evaluated, together
from privnb.evaluation.releases import Gains
from privnb.evaluation.store import Folder
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.papers.askari_2012 import small_channels
from privnb.privacy_models import KAnonymity
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import validated
from privnb.sanitizers import Identity, Mondrian, catalogue
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.catalogue import reference_sanitizers


@validated
def small_tables(*, store: Folder = "") -> pd.DataFrame:
    """All small examples: `small_channels.appendix`, `aims`, `users`, and `space` of each of `SPACES`, the paper's
    last.
    """
    spaces = [partial(small_channels.space, name) for name in small_channels.SPACES]
    tasks = [partial(small_channels.appendix), partial(small_channels.aims), partial(small_channels.users), *spaces]
    return together(evaluated({"": tasks}, store, "list small tables").values())


@validated
def channels(
    dataset: Dataset,
    *,
    k: str | float = "10",
    l: str | float = "2",  # noqa: E741 - the field's letter
    epsilon: str | float = "1",
) -> list[Sanitizer]:
    """One sanitizer of each kind, `catalogue.family`, for each value of its parameter, between the two ends.

    Parameters
    ----------
    dataset : Dataset
    k, l, epsilon : str, int or float
        One number, or several separated by commas.

    Returns
    -------
    list of Sanitizer

    Raises
    ------
    ValueError
        Where one has no number.
    """
    values = numbers("K", k, int), numbers("L", l, int), numbers("EPSILON", epsilon, float)
    if not all(values):
        raise UsageError("K, L and EPSILON need one number or several each, separated by commas.")
    every = dict.fromkeys(
        each
        for a, b, c in product(*values)
        for each in catalogue.family(dataset, k=a, l=b, epsilon=c, of=catalogue.OF_PAPERS)
    )
    order = list(dict.fromkeys(map(type, every)))
    first, last = reference_sanitizers()
    return [first, *sorted(every, key=lambda sanitizer: order.index(type(sanitizer))), last]


@validated
def known_attributes(
    dataset: Dataset, *, k: str | float = "10", fewest: MinCount = LIMIT, store: Folder = ""
) -> pd.DataFrame:
    """`leakage.Known` of the original, and of its generalization by Mondrian for each value of `k`.

    Parameters
    ----------
    dataset : Dataset
    k : str or int
        One number, or several separated by commas.
    fewest : int
        Counts below are withheld.
    store : str
        The folder that keeps what is finished; empty: none.

    Returns
    -------
    DataFrame
        Tidy results.
    """
    sanitizers = [Identity(), *(Mondrian(KAnonymity(value)) for value in numbers("K", k, int))]
    question = leakage.Known(secret_name(dataset, None))
    return together(_asked(dataset, sanitizers, question, fewest, store, "every set of attributes").values())


@validated
def priced(
    dataset: Dataset, sanitizers: Sequence[Sanitizer], *, price: float = 1, fewest: MinCount = LIMIT, store: Folder = ""
) -> pd.DataFrame:
    """`leakage.Worth` of each sanitizer: what a guess is worth to an adversary who pays for wrong ones.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : list of Sanitizer
    price : float
        Of a wrong guess, 0 or more; a right one gains 1.
    fewest, store
        As of `known_attributes`.

    Returns
    -------
    DataFrame
        Tidy results.
    """
    question = leakage.Worth.priced(dataset, price)
    found = together(_asked(dataset, sanitizers, question, fewest, store, "worth of guesses").values())
    return found[found.status != "not possible"].reset_index(drop=True)


@validated
def leaked(
    dataset: Dataset, sanitizers: Sequence[Sanitizer], *, fewest: MinCount = LIMIT, store: Folder = ""
) -> pd.DataFrame:
    """`leakage.Leakage` of each sanitizer; of those whose releases have classes or buckets also both gains of Brickell
    and Shmatikov, `releases.Gains`, unless they would tell a share that is withheld.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : list of Sanitizer
        One that this table cannot have leaves a row `classes` of status "not possible".
    fewest, store
        As of `known_attributes`.

    Returns
    -------
    DataFrame
        Tidy results.
    """
    found = _asked(dataset, sanitizers, leakage.Leakage(secret_name(dataset, None)), fewest, store, "leakage")
    capacity = ("sensitive_additive_capacity", "bucket_additive_capacity")
    shown = [each for each, rows in found.items() if rows[rows.measure.isin(capacity)].value.notna().any()]
    gains = _asked(dataset, shown, Gains(sensitive_name(dataset, None)), fewest, store, "gains")
    return together([*found.values(), *gains.values()])


def _asked(
    dataset: Dataset, sanitizers: Iterable[Sanitizer], question: Question, fewest: int, store: Folder, description: str
) -> dict[Sanitizer, pd.DataFrame]:
    """The results of each sanitizer."""
    tasks = {each: [partial(answer, dataset, each, 1, question, fewest)] for each in sanitizers}
    return evaluated(tasks, store, description)

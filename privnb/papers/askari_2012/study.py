"""The examples of Askari, Safavi-Naini, Barker 2012, and the measures of the paper for releases of any dataset.

In the paper, the adversary guesses a whole small table. For a table of thousands of people, the adversary guesses the
row or the sensitive value of one person. In both cases, the sanitizer is a channel, and the measures are the same.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import product

import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import choose_sensitive, choose_unknown_sensitive
from privnb.evaluation.disclosure import leakage
from privnb.evaluation.evaluation_loop import Question, answer_question
from privnb.evaluation.parameters import parse_numbers
from privnb.evaluation.profiles import drop_repeated_rows, run_evaluations
from privnb.evaluation.release_measures import AdversaryGains
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
def measure_small_tables(*, store: Folder = "") -> pd.DataFrame:
    """Return the results of all functions of `small_channels`, and of `measure_space` for each of `SPACES`."""
    spaces = [partial(small_channels.measure_space, name) for name in small_channels.SPACES]
    tasks = [
        partial(small_channels.measure_appendix),
        partial(small_channels.measure_aims),
        partial(small_channels.measure_users),
        *spaces,
    ]
    return drop_repeated_rows(run_evaluations({"": tasks}, store, "list small tables").values())


@validated
def list_channels(
    dataset: Dataset,
    *,
    k: str | float = "10",
    l: str | float = "2",  # noqa: E741 - the field's letter
    epsilon: str | float = "1",
) -> list[Sanitizer]:
    """Return one sanitizer of each kind for each value of its parameter, and the reference sanitizers as both ends.

    Parameters
    ----------
    dataset : Dataset
    k, l, epsilon : str, int or float
        One number, or several separated by commas.

    Raises
    ------
    ValueError
        If one of k, l and epsilon contains no number.
    """
    values = parse_numbers("K", k, int), parse_numbers("L", l, int), parse_numbers("EPSILON", epsilon, float)
    if not all(values):
        raise UsageError("K, L and EPSILON must each be one number, or several separated by commas.")
    every = dict.fromkeys(
        each
        for a, b, c in product(*values)
        for each in catalogue.build_one_per_class(dataset, k=a, l=b, epsilon=c, of=catalogue.PAPER_TREATMENTS)
    )
    order = list(dict.fromkeys(map(type, every)))
    first, last = reference_sanitizers()
    return [first, *sorted(every, key=lambda sanitizer: order.index(type(sanitizer))), last]


@validated
def measure_known_attributes(
    dataset: Dataset, *, k: str | float = "10", min_count: MinCount = LIMIT, store: Folder = ""
) -> pd.DataFrame:
    """Measure `leakage.KnownAttributes` for the original, and for a generalization by Mondrian for each value of `k`.

    Parameters
    ----------
    dataset : Dataset
    k : str or int
        One number, or several separated by commas.
    min_count : int
        Counts below this number are withheld.
    store : str
        The folder for finished results. If `store` is empty, no results are kept.

    Returns
    -------
    DataFrame
        Tidy results.
    """
    sanitizers = [Identity(), *(Mondrian(KAnonymity(value)) for value in parse_numbers("K", k, int))]
    question = leakage.KnownAttributes(choose_unknown_sensitive(dataset, None))
    return drop_repeated_rows(
        _evaluate(dataset, sanitizers, question, min_count, store, "every set of attributes").values()
    )


@validated
def measure_guess_values(
    dataset: Dataset,
    sanitizers: Sequence[Sanitizer],
    *,
    price: float = 1,
    min_count: MinCount = LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """Measure `leakage.ExpectedGain` for each sanitizer, the mean gain of a guess if incorrect guesses have a price.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : list of Sanitizer
    price : float
        The price of an incorrect guess, 0 or more; a correct guess gains 1.
    min_count, store
        See `measure_known_attributes`.

    Returns
    -------
    DataFrame
        Tidy results.
    """
    question = leakage.ExpectedGain.priced(dataset, price)
    found = drop_repeated_rows(_evaluate(dataset, sanitizers, question, min_count, store, "worth of guesses").values())
    return found[found.status != "not possible"].reset_index(drop=True)


@validated
def measure_leakage(
    dataset: Dataset, sanitizers: Sequence[Sanitizer], *, min_count: MinCount = LIMIT, store: Folder = ""
) -> pd.DataFrame:
    """Measure `leakage.Leakage` for each sanitizer.

    For releases with classes or buckets, the results also contain the two gains of Brickell and Shmatikov
    (`release_measures.AdversaryGains`), unless these gains would reveal a share that is withheld.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : list of Sanitizer
        A sanitizer that does not fit the table gets a row `classes` with the status "not possible".
    min_count, store
        See `measure_known_attributes`.

    Returns
    -------
    DataFrame
        Tidy results.
    """
    found = _evaluate(
        dataset, sanitizers, leakage.Leakage(choose_unknown_sensitive(dataset, None)), min_count, store, "leakage"
    )
    capacity = ("sensitive_additive_capacity", "bucket_additive_capacity")
    shown = [each for each, rows in found.items() if rows[rows.measure.isin(capacity)].value.notna().any()]
    gains = _evaluate(dataset, shown, AdversaryGains(choose_sensitive(dataset, None)), min_count, store, "gains")
    return drop_repeated_rows([*found.values(), *gains.values()])


def _evaluate(
    dataset: Dataset,
    sanitizers: Iterable[Sanitizer],
    question: Question,
    min_count: int,
    store: Folder,
    description: str,
) -> dict[Sanitizer, pd.DataFrame]:
    """Return, for each sanitizer, the results of a question."""
    tasks = {each: [partial(answer_question, dataset, each, 1, question, min_count)] for each in sanitizers}
    return run_evaluations(tasks, store, description)

"""The parameters of the notebooks and papers: texts of numbers, and the sanitizers that they ask for."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np

from privnb.datasets import description
from privnb.datasets.dataset import Dataset, find
from privnb.evaluation.attributes import sensitive_name
from privnb.privacy_models import KAnonymity
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.names import some_of
from privnb.runtime.sentences import Sentences, say
from privnb.runtime.validation import AttributeName, validated
from privnb.sanitizers import KMember, LaplaceNoise, Mondrian


def sramka_sanitizers(k: str | int = "", epsilon: str | float = "", *, dataset: Dataset | None = None) -> list[Any]:
    """K-member clusterings and Laplace noise, one for each value asked for.

    Where the dataset has a key of people, whom neither counts, Mondrian stands for the clusterings, see `no_noise`.

    Parameters
    ----------
    k, epsilon : str, int or float
        One number, or several separated by commas; empty: none.
    dataset : Dataset, optional
        That they are for.

    Returns
    -------
    list of Sanitizer

    >>> sramka_sanitizers(k="2, 10", epsilon=0.5)
    [KMember(k=2, start=0), KMember(k=10, start=0), LaplaceNoise(epsilon=0.5, sensitivity=None)]
    """
    if dataset is not None:
        expect.kind("dataset", dataset, Dataset, instead=Dataset.HINT)
    keyed = dataset is not None and dataset.schema.person
    chosen = [Mondrian(KAnonymity(value)) if keyed else KMember(value) for value in numbers("K", k, int)]
    chosen += [LaplaceNoise(value) for value in numbers("EPSILON", epsilon, float)]
    if not chosen:
        raise UsageError("there is no sanitizer to run: give one value or more of k or epsilon.")
    return chosen


K = (2, 10, 50, 100)  # Sramka et al. 2010, section 4


def _check_numbers(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is a number, or text."""
    if not (isinstance(value, str) or expect.is_number(value)):
        raise UsageError(f"{name} must be a number, or several as text with commas between, got {expect.found(value)}.")


Numbers = Annotated[str | float, _check_numbers]


@validated
def default_k(k: Numbers, dataset: Dataset) -> str | float:
    """`k` as it is asked for; where that is empty, those of `K` for which the dataset has people enough.

    Parameters
    ----------
    k : str or int
        One number, or several separated by commas.
    dataset : Dataset

    Returns
    -------
    str or int

    Raises
    ------
    ValueError
        For a k above the number of people.
    """
    if not str(k).strip():
        return ", ".join(str(value) for value in K if value <= dataset.headcount)
    if more := [str(value) for value in numbers("K", k, int) if value > dataset.headcount]:
        raise UsageError(
            f"K asks for {', '.join(more)}, and {dataset.name} has {dataset.headcount} {_who(dataset)}: nobody could "
            "hide among so many. Ask for less, leave K empty, or take more RECORDS."
        )
    return k


@validated
def too_large_k(k: Numbers, dataset: Dataset) -> Sentences | None:
    """A sentence on the defaults that `default_k` leaves out.

    Parameters
    ----------
    k, dataset
        As of `default_k`.

    Returns
    -------
    Sentences or None
        None where it leaves out none.
    """
    more = [str(value) for value in K if value > dataset.headcount]
    if str(k).strip() or not more:
        return None
    return say(
        f"K is empty, so that its defaults are taken but {', '.join(more)}: the table has {dataset.headcount} "
        f"{_who(dataset)}."
    )


def _who(dataset: Dataset) -> str:
    return "records" if dataset.people is None else "people"


@validated
def possible_epsilon(epsilon: str | float, dataset: Dataset) -> str | float:
    """`epsilon` as it is asked for; empty where no quasi-identifier is a number, to which noise can be added, where
    numbers may be missing and epsilon does not cover which are, and where people may have several records, of which an
    epsilon promises one alone.

    Parameters
    ----------
    epsilon : str or float
        One number, or several separated by commas.
    dataset : Dataset

    Returns
    -------
    str or float
    """
    for value in numbers("EPSILON", epsilon, float):
        expect.positive("epsilon", value)
    return "" if dataset.schema.person or not _noisy(dataset) or _secretly_missing(dataset) else epsilon


def _noisy(dataset: Dataset) -> list[str]:
    """Return the quasi-identifiers to which noise can be added."""
    return [name for name in dataset.schema.quasi_identifiers if dataset.schema[name].numeric]


def _secretly_missing(dataset: Dataset) -> list[str]:
    """Return the quasi-identifiers that are numbers and may be missing, and that nobody may know to be missing."""
    domains = {name: dataset.schema[name].numbers for name in _noisy(dataset)}
    return [name for name, each in domains.items() if each.missing is not None and not each.missing_is_public]


@validated
def no_noise(dataset: Dataset) -> Sentences | None:
    """A sentence where `possible_epsilon` leaves out all noise of a dataset, and whatever stands for it, else None."""
    if dataset.schema.person:
        return say(
            f"People of '{dataset.name}' may have several records, by '{dataset.schema.person}'. k-member clustering "
            "and noise promise something of each record alone. Mondrian, whose k counts people, stands for the one; "
            "the other is left out."
        )
    if possible_epsilon("1", dataset):
        return None
    if missing := _secretly_missing(dataset):
        return say(
            f"Numbers of {some_of(missing)} may be missing, and epsilon does not cover which are, so noise is left "
            "out. If everybody may know that, state missing_is_public = true in the domain."
        )
    return say(
        f"No quasi-identifier of '{dataset.name}' is a number to which noise can be added, so noise is left out."
    )


@validated
def predicted(dataset: Dataset, target: AttributeName) -> Dataset:
    """The dataset as a miner sees it who predicts categories: with `target` in bands where it is a number.

    Parameters
    ----------
    dataset : Dataset
    target : str
        Empty: the first sensitive attribute.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        For what is not published, and for a number that is a quasi-identifier.
    NotForThisTable
        Where there is no sensitive attribute, and no other is named.
    """
    return dataset.in_bands(sensitive_name(dataset, target))


def numbers(name: str, text: str | float, kind: Callable[[str], Any]) -> list[Any]:
    """The numbers in `text`, separated by commas, without repeats; `name` is the parameter that errors name."""
    parts = [part.strip() for part in str(text).split(",") if part.strip()]
    try:
        found = list(dict.fromkeys(kind(part) for part in parts))
        if not np.isfinite(found).all():
            raise ValueError
        return found
    except (ValueError, TypeError):  # numpy's, of a whole number beyond its own
        number = "a whole number" if kind is int else "a number"
        raise UsageError(
            f"{name} must be one number or several separated by commas, each {number}; got {text!r}."
        ) from None


def numbers_within(
    name: str, text: str | float, kind: Callable[[str], Any], within: Callable[[Any], bool], what: str
) -> list[Any]:
    """As `numbers`, one or more of them, each `within` the bounds that `what` says: "whole number from 2"."""
    found = numbers(name, text, kind)
    if not found or not all(map(within, found)):
        raise UsageError(f"{name} must be one {what} or several separated by commas, got {expect.found(text)}.")
    return found


def some(name: str, values: Any) -> Sequence[Any]:
    """The values. Raises TypeError unless they are numbers, and ValueError where there are none."""
    if not expect.numbers(name, values):
        raise UsageError(f"{name} must be a list of one number or more, got none.")
    return values


def number(text: str) -> float:
    """A number, whole where it is, so that results name it "l=3"."""
    return int(float(text)) if float(text).is_integer() else float(text)


def study(name: str, asked: Any = "") -> str:
    """Which study of a dataset's description to load.

    Parameters
    ----------
    name : str
        Of the dataset.
    asked : str
        The study that is taken, unless empty; else li-li, if it is there.

    Returns
    -------
    str
        Empty: the default one.
    """
    expect.strings(asked=asked)
    if asked:
        return asked
    return "li-li" if "li-li" in description.read(find(name)).get("studies", {}) else ""

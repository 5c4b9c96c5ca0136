"""Parameters of the notebooks: texts that list numbers, and the sanitizers that these numbers request."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np

from privnb.datasets import description
from privnb.datasets.dataset import Dataset, find_description
from privnb.evaluation.attributes import choose_sensitive
from privnb.privacy_models import KAnonymity
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import AttributeName, validated
from privnb.sanitizers import KMember, LaplaceNoise, Mondrian


def build_sramka_sanitizers(
    k: str | int = "", epsilon: str | float = "", *, dataset: Dataset | None = None
) -> list[Any]:
    """Return a k-member clustering for each k, and a sanitizer with Laplace noise for each epsilon.

    If the dataset has a person column, Mondrian replaces the clusterings, because the k of Mondrian counts people.

    Parameters
    ----------
    k, epsilon : str, int or float
        One number, or several numbers separated by commas; if empty, no sanitizer of this kind is returned.
    dataset : Dataset, optional
        The dataset that the sanitizers are meant for.

    Returns
    -------
    list of Sanitizer

    Examples
    --------
    >>> build_sramka_sanitizers(k="2, 10", epsilon=0.5)
    [KMember(k=2, start=0), KMember(k=10, start=0), LaplaceNoise(epsilon=0.5, sensitivity=None)]
    """
    if dataset is not None:
        expect.kind("dataset", dataset, Dataset, instead=Dataset.HINT)
    keyed = dataset is not None and dataset.schema.person
    chosen = [Mondrian(KAnonymity(value)) if keyed else KMember(value) for value in parse_numbers("K", k, int)]
    chosen += [LaplaceNoise(value) for value in parse_numbers("EPSILON", epsilon, float)]
    if not chosen:
        raise UsageError("there is no sanitizer to run. Give at least one value of k or epsilon.")
    return chosen


DEFAULT_K = (2, 10, 50, 100)  # Sramka et al. 2010, section 4


def _check_numbers(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is a number or a text."""
    if not (isinstance(value, str) or expect.is_number(value)):
        raise UsageError(f"{name} must be a number, or text; got {expect.describe_value(value)}.")


Numbers = Annotated[str | float, _check_numbers]


@validated
def choose_k(k: Numbers, dataset: Dataset) -> str | float:
    """Return `k` or, if `k` is empty, those numbers of `DEFAULT_K` that do not exceed the number of people.

    Parameters
    ----------
    k : str, int or float
        One number, or several numbers separated by commas; if empty, the defaults.
    dataset : Dataset

    Returns
    -------
    str, int or float

    Raises
    ------
    UsageError
        If one of the numbers exceeds the number of people.
    """
    if not str(k).strip():
        return ", ".join(str(value) for value in DEFAULT_K if value <= dataset.headcount)
    if more := [str(value) for value in parse_numbers("K", k, int) if value > dataset.headcount]:
        raise UsageError(
            f"K must not exceed the {dataset.headcount} {_unit(dataset)} of {dataset.name}; got {', '.join(more)}. "
            "Choose a smaller K, leave K empty, or raise RECORDS."
        )
    return k


def _unit(dataset: Dataset) -> str:
    return "records" if dataset.people is None else "people"


@validated
def choose_epsilon(epsilon: str | float, dataset: Dataset) -> str | float:
    """Return `epsilon`, or an empty text if no noise with an epsilon can be added to the dataset.

    Such noise cannot be added in three cases: if no quasi-identifier is numeric; if numbers may be missing, and it is
    not public which numbers are missing, because epsilon does not protect this fact; or if people may have several
    records, because epsilon protects only one record of a person.

    Parameters
    ----------
    epsilon : str or float
        One number, or several numbers separated by commas.
    dataset : Dataset

    Returns
    -------
    str or float
    """
    for value in parse_numbers("EPSILON", epsilon, float):
        expect.positive("epsilon", value)
    return "" if dataset.schema.person or not _find_noisy(dataset) or find_privately_missing(dataset) else epsilon


def _find_noisy(dataset: Dataset) -> list[str]:
    """Return the quasi-identifiers to which noise can be added."""
    return [name for name in dataset.schema.quasi_identifiers if dataset.schema[name].numeric]


@validated
def find_privately_missing(dataset: Dataset) -> list[str]:
    """Return the numeric quasi-identifiers whose numbers may be missing, unless it is public which are missing."""
    domains = {name: dataset.schema[name].numbers for name in _find_noisy(dataset)}
    return [name for name, each in domains.items() if each.missing is not None and not each.missing_is_public]


@validated
def band_target(dataset: Dataset, target: AttributeName) -> Dataset:
    """Return the dataset, with the attribute `target` in bands if it is numeric, for miners that predict categories.

    Parameters
    ----------
    dataset : Dataset
    target : str
        The attribute to put into bands; if empty, the first sensitive attribute.

    Returns
    -------
    Dataset

    Raises
    ------
    UsageError
        If the attribute is not published, or is a numeric quasi-identifier.
    NotForThisTable
        If `target` is empty and the table has no sensitive attribute.
    """
    return dataset.in_bands(choose_sensitive(dataset, target))


def parse_numbers(name: str, text: str | float, kind: Callable[[str], Any]) -> list[Any]:
    """Return the numbers that `text` lists, separated by commas, without repeats; errors mention `name`."""
    parts = [part.strip() for part in str(text).split(",") if part.strip()]
    try:
        found = list(dict.fromkeys(kind(part) for part in parts))
        if not np.isfinite(found).all():
            raise ValueError
        return found
    except (ValueError, TypeError):  # numpy raises TypeError for a whole number that is too large for it
        number = "a whole number" if kind is int else "a number"
        raise UsageError(
            f"{name} must be one number or several separated by commas, each {number}; got {text!r}."
        ) from None


def parse_numbers_within(
    name: str, text: str | float, kind: Callable[[str], Any], within: Callable[[Any], bool], what: str
) -> list[Any]:
    """Return the numbers in `text`, at least one; each must satisfy the function `within`, which `what` describes."""
    found = parse_numbers(name, text, kind)
    if not found or not all(map(within, found)):
        raise UsageError(
            f"{name} must be one {what} or several separated by commas; got {expect.describe_value(text)}."
        )
    return found


def check_numbers(name: str, values: Any) -> Sequence[Any]:
    """Return the values unchanged; raise an error unless they are numbers and there is at least one."""
    if not expect.numbers(name, values):
        raise UsageError(f"{name} must be a list of at least one number; got an empty list.")
    return values


def parse_number(text: str) -> float:
    """Return the number in a text, as an int if it is whole, so that results show "l=3" and not "l=3.0"."""
    return int(float(text)) if float(text).is_integer() else float(text)


def choose_study(name: str, asked: Any = "") -> str:
    """Return the name of the study to load from a dataset's description.

    Parameters
    ----------
    name : str
        The name of the dataset.
    asked : str
        The requested study. If empty, the study is li-li if the description has this study, and otherwise the default
        study.

    Returns
    -------
    str
        The name of the study; an empty name means the default study.
    """
    expect.strings(asked=asked)
    if asked:
        return asked
    return "li-li" if "li-li" in description.read_description(find_description(name)).get("studies", {}) else ""

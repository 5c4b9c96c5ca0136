"""Choice of the attribute that a question is about: the attribute that the caller gives, or a default."""

from privnb.datasets.dataset import Dataset
from privnb.microdata.schema import NotForThisTable
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import AttributeName, validated


@validated
def check_published(dataset: Dataset, name: str) -> str:
    """Return `name` unchanged if releases of the dataset publish the attribute of this name.

    Parameters
    ----------
    dataset : Dataset
    name : str
        The name of an attribute.

    Returns
    -------
    str

    Raises
    ------
    UsageError
        If releases do not publish the attribute.
    """
    if dataset.schema[name].name not in dataset.schema.published:
        raise UsageError(f"'{name}' is not published. Choose one of {', '.join(dataset.schema.published)}.")
    return name


@validated
def choose_sensitive(dataset: Dataset, sensitive: AttributeName | None) -> str:
    """Return the attribute `sensitive`, or the first sensitive attribute of the dataset if none is given.

    Parameters
    ----------
    dataset : Dataset
    sensitive : str or None
        The attribute; if empty or None, the first sensitive attribute.

    Returns
    -------
    str

    Raises
    ------
    UsageError
        If releases do not publish the attribute, or if the attribute is numeric and its value is missing for some
        people.
    NotForThisTable
        If the table has no sensitive attribute.
    """
    if not sensitive and not dataset.schema.sensitive:
        raise NotForThisTable(
            f"'{dataset.name}' has no sensitive attribute. Give a column the role sensitive in its description."
        )
    name = check_published(dataset, sensitive or dataset.schema.sensitive[0])
    if dataset.schema[name].numeric and dataset.cells[name].isna().any():
        raise UsageError(
            f"'{name}' is a number that is missing for some people. Use its bands, `dataset.in_bands('{name}')`, which "
            "have a band for missing numbers."
        )
    return name


@validated
def find_sensitive(dataset: Dataset) -> str | None:
    """Return the first sensitive attribute, or None if the table has no sensitive attribute."""
    return choose_sensitive(dataset, None) if dataset.schema.sensitive else None


@validated
def choose_unknown_sensitive(dataset: Dataset, sensitive: AttributeName | None) -> str:
    """Return the attribute that `choose_sensitive` returns; refuse a quasi-identifier.

    Parameters
    ----------
    dataset : Dataset
    sensitive : str or None
        The attribute; if empty or None, the first sensitive attribute.

    Returns
    -------
    str

    Raises
    ------
    UsageError
        If the attribute is a quasi-identifier, which the adversary knows.
    """
    name = choose_sensitive(dataset, sensitive)
    if name in dataset.schema.quasi_identifiers:
        raise UsageError(
            f"'{name}' is a quasi-identifier of '{dataset.name}', so the adversary knows it. Name another attribute."
        )
    return name


@validated
def choose_target(dataset: Dataset) -> str:
    """Return the first numeric quasi-identifier, or the first quasi-identifier if no quasi-identifier is numeric."""
    names = dataset.schema.quasi_identifiers
    if not names:
        raise NotForThisTable(
            f"'{dataset.name}' has no quasi-identifier. Give at least one column the role quasi-identifier."
        )
    return next((name for name in names if dataset.schema[name].numeric), names[0])

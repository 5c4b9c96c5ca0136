"""Which attribute is asked about: by its name, or the one that is taken where none is named."""

from privnb.datasets.dataset import Dataset
from privnb.microdata.schema import NotForThisTable
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import AttributeName, validated


@validated
def published_name(dataset: Dataset, name: str) -> str:
    """`name`, if a release of the dataset holds that attribute.

    Parameters
    ----------
    dataset : Dataset
    name : str

    Returns
    -------
    str

    Raises
    ------
    ValueError
        Where it is not published.
    """
    if dataset.schema[name].name not in dataset.schema.published:
        raise UsageError(f"'{name}' is not published. Choose one of {', '.join(dataset.schema.published)}.")
    return name


@validated
def sensitive_name(dataset: Dataset, sensitive: AttributeName | None) -> str:
    """`sensitive`, or without one the first sensitive attribute.

    Parameters
    ----------
    dataset : Dataset
    sensitive : str or None
        Empty or None: the first sensitive attribute.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        Where it is not published, and for a number that is missing for some.
    NotForThisTable
        Where there is none.
    """
    if not sensitive and not dataset.schema.sensitive:
        raise NotForThisTable(
            f"'{dataset.name}' has no sensitive attribute. Give a column that role in its description."
        )
    name = published_name(dataset, sensitive or dataset.schema.sensitive[0])
    if dataset.schema[name].numeric and dataset.cells[name].isna().any():
        raise UsageError(
            f"'{name}' is a number that some people lack, and counted value by value. Ask about its bands, of which a "
            f"missing one is the last: `dataset.in_bands('{name}')`."
        )
    return name


@validated
def first_secret(dataset: Dataset) -> str | None:
    """The first sensitive attribute, or None where a table has none, for what asks of it only where it is there."""
    return sensitive_name(dataset, None) if dataset.schema.sensitive else None


@validated
def secret_name(dataset: Dataset, sensitive: AttributeName | None) -> str:
    """`sensitive_name` of what is no quasi-identifier.

    Parameters
    ----------
    dataset, sensitive
        As of `sensitive_name`.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        For a quasi-identifier too, for the adversary knows it.
    """
    name = sensitive_name(dataset, sensitive)
    if name in dataset.schema.quasi_identifiers:
        raise UsageError(f"'{name}' is a quasi-identifier of '{dataset.name}': it is known and no secret. Ask another.")
    return name


@validated
def first_number(dataset: Dataset) -> str:
    """The first numeric quasi-identifier, or else the first: what is mined unless a notebook names another one."""
    names = dataset.schema.quasi_identifiers
    if not names:
        raise NotForThisTable(f"'{dataset.name}' has no quasi-identifier. Give one or more columns that role.")
    return next((name for name in names if dataset.schema[name].numeric), names[0])

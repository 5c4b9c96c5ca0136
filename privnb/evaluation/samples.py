"""Samples of large tables: for what takes up each record by itself, and what makes hundreds of releases."""

from privnb.datasets.dataset import Dataset
from privnb.microdata.counts import coded
from privnb.runtime import expect
from privnb.runtime.sentences import Sentences, say
from privnb.runtime.validation import validated

__all__ = ["record_by_record", "sampled"]

LEARNED = 50_000  # records: what takes minutes with so many would take hours with a million
GUESSED = 10_000_000  # records times values of a sensitive attribute: a miner weighs each value for each record
SAMPLE = 5_000  # of more: with 20,000 and eleven quasi-identifiers 08 alone takes an hour


@validated
def record_by_record(dataset: Dataset, records: int = 0) -> Dataset:
    """The dataset, or a random sample of `SAMPLE` of its records where it has more than `LEARNED`, or so many sensitive
    values that there are more than `GUESSED` to weigh.

    For pages whose miners or clusterings take up each record by itself, or that make hundreds of releases. What needs
    counts alone is of all.

    Parameters
    ----------
    dataset : Dataset
    records : int
        What RECORDS asks for: a sample of one's own choice is taken as it is. 0: none was chosen.

    Returns
    -------
    Dataset
    """
    expect.whole("records", records, 0)
    n = len(dataset)
    if records or n <= SAMPLE or (n <= LEARNED and n * _values(dataset) <= GUESSED):
        return dataset
    return dataset.sample(SAMPLE, rng=0)


def _values(dataset: Dataset) -> int:
    """How many values the sensitive attribute has that has most; numbers are learned in few bands, or as numbers."""
    schema = dataset.schema
    return max((len(coded(dataset.cells[a])[1]) for a in schema.sensitive if not schema[a].numeric), default=0)


@validated
def sampled(dataset: Dataset, records: int) -> Sentences | None:
    """A sentence where a dataset is the sample that `record_by_record` takes.

    Parameters
    ----------
    dataset : Dataset
    records : int
        Of the table that it was taken of, n or more.

    Returns
    -------
    Sentences or None
        None where it is the table itself.
    """
    expect.whole("records", records, len(dataset))
    if len(dataset) == records:
        return None
    return say(
        "Some of this page (miners, clusterings, hundreds of releases) takes long with many records or many sensitive "
        f"values, so it measures a random sample: {len(dataset):,} of the {records:,} records. Its releases are of the "
        "sample. At the same k, a release of all records loses less. RECORDS chooses another number."
    )

"""Random samples of large tables, for work that processes records one by one or makes hundreds of releases."""

from privnb.datasets.dataset import Dataset
from privnb.microdata.counts import encode_values
from privnb.runtime import expect
from privnb.runtime.validation import validated

MAX_RECORDS = 50_000  # work that takes minutes with this number of records would take hours with a million
MAX_CELLS = 10_000_000  # records times sensitive values, because a miner weighs each value for each record
SAMPLE_SIZE = 5_000  # with 20,000 records and eleven quasi-identifiers notebook 08 takes an hour


@validated
def sample_large_table(dataset: Dataset, records: int = 0) -> Dataset:
    """Return the dataset or, if it is large, a random sample of `SAMPLE_SIZE` of its records.

    A dataset is large if it has more than `MAX_RECORDS` records, or if the number of records times the number of
    sensitive values exceeds `MAX_CELLS`.

    Parameters
    ----------
    dataset : Dataset
    records : int
        The number of records that the user chose. If it is above 0, the whole dataset is returned; 0 means no choice.

    Returns
    -------
    Dataset
    """
    expect.whole("records", records, 0)
    n = len(dataset)
    if records or n <= SAMPLE_SIZE or (n <= MAX_RECORDS and n * _count_values(dataset) <= MAX_CELLS):
        return dataset
    return dataset.sample(SAMPLE_SIZE, rng=0)


def _count_values(dataset: Dataset) -> int:
    """Return the largest number of values of a categorical sensitive attribute; numbers are learned in few bands."""
    schema = dataset.schema
    return max((len(encode_values(dataset.cells[a])[1]) for a in schema.sensitive if not schema[a].numeric), default=0)

"""Samples of large tables: for what takes up each record by itself, and what makes hundreds of releases."""

from privnb.microdata import expect
from privnb.microdata.sentences import say

LEARNED = 50_000  # records: what takes minutes with so many would take hours with a million
SAMPLE = 5_000  # of more: with 20,000 and eleven quasi-identifiers 08 alone takes an hour


def record_by_record(dataset, records=0):
    """The dataset, or a random sample of `SAMPLE` of its records where it has more than `LEARNED`.

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
    expect.these(dataset=dataset)
    expect.whole("records", records, 0)
    return dataset if records or len(dataset) <= LEARNED else dataset.sample(SAMPLE, rng=0)


def sampled(dataset, records):
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
    expect.these(dataset=dataset)
    expect.whole("records", records, len(dataset))
    if len(dataset) == records:
        return None
    return say(
        "Some of this page (miners, clusterings, hundreds of releases) takes long with many records, so it measures a "
        "random sample: "
        f"{len(dataset):,} of the {records:,} records. Its releases are of the sample. At the same k, a release of all "
        "records loses less. RECORDS chooses another number."
    )

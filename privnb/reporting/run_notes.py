"""Notes at the top of a notebook, about omissions of a run and about counts that may surprise a reader."""

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import find_sensitive
from privnb.evaluation.parameters import DEFAULT_K, choose_epsilon, find_privately_missing
from privnb.evaluation.trade_off import find_large_populations
from privnb.microdata.bands import Bands
from privnb.runtime import expect
from privnb.runtime.sentences import Part, Sentences, say
from privnb.runtime.validation import validated
from privnb.runtime.wording import write

__all__ = ["show_notes"]


@validated
def show_notes(
    dataset: Dataset,
    whole: Dataset | None = None,
    *,
    k: str | int | None = None,
    noise: bool = False,
    utility_loss: bool = False,
) -> Sentences | None:
    """Return the notes of a run, with a paragraph for each note.

    If numbers are counted in bands, a note always states this.

    Parameters
    ----------
    dataset : Dataset
        The table that the notebook measures.
    whole : Dataset, optional
        The whole table, if `dataset` may be a sample of this table; None if no sample is taken.
    k : str or int, optional
        The parameter K of a notebook in which the default of K depends on the table; None for any other notebook.
    noise : bool
        Whether the notebook adds noise.
    utility_loss : bool
        Whether the notebook measures the utility loss of large groups.

    Returns
    -------
    Sentences or None
        The notes; None if there is nothing to note, so that a notebook shows nothing.
    """
    notes: list[Part] = []
    if whole is not None:
        expect.kind("whole", whole, Dataset, instead=Dataset.HINT)
        notes += _note_sample(len(dataset), len(whole))
    notes += _note_bands(dataset)
    if k is not None:
        notes += _note_default_k(k, dataset)
    if noise:
        notes += _note_missing_noise(dataset)
    if utility_loss:
        notes += _note_few_conditions(dataset)
    return say(*notes) if notes else None


def _note_sample(sampled: int, records: int) -> list[Part]:
    return [] if sampled == records else write("reporting/run_notes", "sample", sampled, records)


def _note_bands(dataset: Dataset) -> list[Part]:
    bands = [each for each in dataset.schema.attributes if isinstance(each.domain, Bands)]
    return [part for each in bands for part in write("reporting/run_notes", "bands", each.name, each.domain)]


def _note_default_k(k: str | int, dataset: Dataset) -> list[Part]:
    too_large = [str(value) for value in DEFAULT_K if value > dataset.headcount]
    if str(k).strip() or not too_large:
        return []
    unit = "records" if dataset.people is None else "people"
    return write("reporting/run_notes", "default_k", too_large, dataset.headcount, unit)


def _note_missing_noise(dataset: Dataset) -> list[Part]:
    if dataset.schema.person:
        return write("reporting/run_notes", "several_records", dataset.name, dataset.schema.person)
    if choose_epsilon("1", dataset):
        return []
    if missing := find_privately_missing(dataset):
        return write("reporting/run_notes", "missing_numbers", missing)
    return write("reporting/run_notes", "no_number", dataset.name)


def _note_few_conditions(dataset: Dataset) -> list[Part]:
    sensitive = find_sensitive(dataset)
    found = find_large_populations(dataset, sensitive) if sensitive else None
    if found is None or found.conditions is None:
        return []
    return write("reporting/run_notes", "few_conditions", len(found), found.conditions)

"""The numbers of a pinned file that another tool made, measured with the same questions as a setting of the board."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.disclosure.disclosures import Disclosure
from privnb.evaluation.disclosure.nearer_predictions import NearerPredictions
from privnb.evaluation.evaluation_loop import Case, Question, answer_case, answer_question, require_possible
from privnb.evaluation.results import join_results, tidy
from privnb.evaluation.samples import sample_large_table
from privnb.evaluation.utility.good_utility import UserUtility
from privnb.explorer.pins import FilePin, open_file
from privnb.explorer.readings import count_rows, describe_promise, describe_treatments, select_feared
from privnb.explorer.risks import answer_risks
from privnb.explorer.setting import Setting, apply_roles, attacked_attribute, check_setting
from privnb.microdata.treatment import UNTRUE
from privnb.microdata.withholding import LIMIT, check_min_count
from privnb.runtime.errors import PrivnbError, UsageError
from privnb.runtime.progress import track
from privnb.sanitizers import Identity, Suppress
from privnb.sanitizers.made_elsewhere import MadeElsewhere

SEED = 1  # the order of the records stays that of the table, which rows in order need
LACKING = "not in the file"


@dataclass(frozen=True, eq=False)
class FileReading:
    """The counts of one pinned file under the roles of a setting.

    `results` are tidy results, without numbers of fewer than `min_count` people. `treated` are the facts of
    `readings.describe_treatments`. `note` explains how the rows were matched, and `promise` why k, l, t and delta do
    not apply. `refused` states why the file cannot be read as a release of the table; in that case, there are no
    results.
    """

    pin: FilePin
    roles: tuple[str, str]
    results: pd.DataFrame
    treated: tuple[tuple[str, str], ...] = ()
    note: str = ""
    promise: str = ""
    refused: str = ""

    @property
    def label(self) -> str:
        """The name of the file."""
        return self.pin.name


def read_file(dataset: Dataset, setting: Setting, pin: FilePin, folder: Path, min_count: int = LIMIT) -> FileReading:
    """Read a pinned file as a release of a dataset, and count what the board counts of a setting.

    Parameters
    ----------
    dataset : Dataset
    setting : Setting
        The setting whose quasi-identifiers and sensitive attribute apply to the file.
    pin : FilePin
    folder : Path
        The folder of the pins.
    min_count : int
        Numbers about fewer people are withheld.
    """
    check_min_count(min_count)
    setting = check_setting(setting, dataset)
    try:
        made = open_file(pin, folder)
        case = _make_case(dataset, setting.roles, made, made.key, min_count)
        results, lacking = count_rows(case, setting.sensitive, {}), made.read(case.dataset).lacking
    except PrivnbError as error:
        return FileReading(pin, setting.roles, tidy([]), refused=str(error))
    treated = tuple((name, LACKING if name in lacking else how) for name, how in describe_treatments(case.release))
    note, promise = case.release.provenance.note, describe_promise(case.release)
    return FileReading(pin, setting.roles, results, treated, note, promise)


def read_files(
    dataset: Dataset, setting: Setting, pins: Sequence[FilePin], folder: Path, min_count: int = LIMIT
) -> list[FileReading]:
    """Return the readings of several pinned files, as a task for another process; see `read_file`."""
    return [read_file(dataset, setting, pin, folder, min_count) for pin in track(pins, "files")]


def measure_file_risks(
    dataset: Dataset,
    setting: Setting,
    pin: FilePin,
    folder: Path,
    names: Iterable[str],
    min_count: int = LIMIT,
    before: Mapping[Any, Any] | None = None,
) -> tuple[dict[str, pd.DataFrame], dict[Any, Any]]:
    """Measure risks of a pinned file, with the questions that `risks.measure_slow_risks` asks about a setting.

    All records are measured, also those of a large table, because the classes of a file are smaller in a sample.

    Parameters
    ----------
    dataset, setting, pin, folder, min_count
        As in `read_file`.
    names, before
        As in `risks.measure_slow_risks`.

    Returns
    -------
    results, before
        As in `risks.measure_slow_risks`.

    Raises
    ------
    UsageError
        If the file has changed or vanished.
    """
    check_min_count(min_count)
    setting = check_setting(setting, dataset)
    made = open_file(pin, folder)
    return answer_risks(_make_case(dataset, setting.roles, made, made.key, min_count), setting, names, before)


def mine_file(dataset: Dataset, setting: Setting, pin: FilePin, folder: Path, min_count: int = LIMIT) -> pd.DataFrame:
    """Return tidy results of the miner of a setting for a pinned file; see `readings.mine_setting`.

    A large table is mined on the rows of the people in the random sample on which settings are mined.

    Parameters
    ----------
    dataset, setting, pin, folder, min_count
        As in `read_file`.

    Raises
    ------
    UsageError
        If the file has changed or vanished.
    """
    check_min_count(min_count)
    setting = check_setting(setting, dataset)
    case = _make_sampled_case(dataset, setting, open_file(pin, folder), min_count)
    user = UserUtility(setting.sensitive, setting.miner)
    references = [answer_question(case.dataset, each, SEED, user, min_count) for each in (Identity(), Suppress())]
    asked: list[Question] = [user]
    if case.release.treated(*UNTRUE):
        asked.append(Disclosure.of(case.dataset, sensitive=setting.sensitive, miners=setting.miner))
    nearer = NearerPredictions(attacked_attribute(setting, dataset), setting.miner)
    own = [_answer(each, case) for each in asked]
    return join_results(references[0], *own, references[1], select_feared(_answer(nearer, case), setting.scenario))


def _answer(question: Question, case: Case) -> pd.DataFrame:
    """Return the answer to a question; if the miner cannot predict the published form, one row with the reason."""
    try:
        return require_possible(answer_case(question, case))
    except UsageError as error:
        return tidy([question.row(case)(np.nan, status="refused", reason=str(error))])


@lru_cache(maxsize=4)
def _make_case(dataset: Dataset, roles: tuple[str, str], made: MadeElsewhere, key: str, min_count: int) -> Case:
    """Return the case of a file; `key` has the digest of the file, because the path does not show its content."""
    known, sensitive = roles
    data = apply_roles(dataset, Setting(quasi_identifiers=known, sensitive=sensitive))
    return Case(data, made, SEED, made.sanitize(data), min_count)


def _make_sampled_case(dataset: Dataset, setting: Setting, made: MadeElsewhere, min_count: int) -> Case:
    """Return the case of a file or, for a large table, of the sampled people's rows of the file."""
    case = _make_case(dataset, setting.roles, made, made.key, min_count)
    sample = sample_large_table(case.dataset)
    if sample is case.dataset:
        return case
    return Case(sample, made, SEED, made.release_of_sample(case.dataset, sample), min_count)

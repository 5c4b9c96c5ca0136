"""The lines of Python that make the release of a setting, and the command that reports its numbers."""

import os
import re
import shlex
from dataclasses import asdict, replace

from privnb import privacy_models, sanitizers
from privnb.datasets.dataset import Dataset, Source
from privnb.evaluation.predictions import stream
from privnb.explorer.setting import LETTERS, Setting, checked, sanitizer
from privnb.microdata import withholding
from privnb.microdata.withholding import MinCount
from privnb.runtime.validation import validated

CAUTION = "# A seed undoes what is drawn with it: this release is for trying out; rng=None draws one for publication.\n"


@validated
def code(dataset: Dataset, setting: Setting, source: Source = "") -> str:
    """Lines of Python that make the release of a setting, the very one that is measured, and its published form.

    Parameters
    ----------
    dataset : Dataset
        As `load` gave it, all of it or a sample.
    setting : Setting
    source : str
        What `load` was given as its name, where that is the path of a description file.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        For a setting that means nothing.
    """
    setting = checked(setting, dataset)
    made, own = sanitizer(setting, dataset), _roles(setting, dataset)
    name, study, records = _origin(dataset, source)
    given = f", {study!r}" * bool(study) + f", records={records}" * bool(records)
    roles = ", ".join(f"{field}={names!r}" for field, names in own.items())
    named = set(re.findall(r"[A-Z]\w+(?=\()", repr(made)))
    imports = "from privnb.datasets.dataset import load\n"
    imports += "from privnb.explorer.setting import Setting, of_roles\n" * bool(own)
    for home in (privacy_models, sanitizers):
        if there := sorted(named & set(home.__all__)):
            imports += f"from {home.__name__} import {', '.join(there)}\n"
    rng = stream(setting.seed, made, "sanitize") if made.draws else setting.seed
    return (
        f"{imports}\ndataset = load({name!r}{given})\n"
        + f"dataset = of_roles(dataset, Setting({roles}))\n" * bool(own)
        + CAUTION * made.draws
        + f"release = {made!r}.sanitize(dataset, rng={rng!r})\n"
        + f"published, _ = {f'{made!r}.sanitize(dataset, rng=None)' if made.draws else 'release'}.publish()\n"
    )


@validated
def command(dataset: Dataset, setting: Setting, source: Source = "", fewest: MinCount = withholding.LIMIT) -> str:
    """The command that reports the numbers of a setting, quoted for a shell, without defaults and idle sliders.

    Parameters
    ----------
    dataset, setting, source
        As of `code`.
    fewest : int
        Numbers of fewer people are withheld.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        For a setting that means nothing.
    """
    setting = checked(setting, dataset)
    name, study, records = _origin(dataset, source)
    usual = {"study": "", "records": 0, **asdict(Setting()), "fewest": withholding.LIMIT}
    asked = asdict(setting) | {"quasi_identifiers": "", "sensitive": ""} | _roles(setting, dataset)
    idle = [letter for letter in LETTERS if letter not in setting.asked]
    given = (
        usual | asked | {"study": study, "records": records, "fewest": fewest} | {each: usual[each] for each in idle}
    )
    words = ["privnb", "report", name, "--notebook", "09_explore"]
    for field, value in given.items():
        words += ["-p", f"{field.upper()}={value}"] if value != usual[field] else []
    return shlex.join(words)


def _roles(setting: Setting, dataset: Dataset) -> dict[str, str]:
    """Those fields of a checked setting that name attributes other than the dataset's own: `{field: names}`."""
    usual = checked(replace(setting, quasi_identifiers="", sensitive=""), dataset)
    if setting.roles == usual.roles:
        return {}
    return {"quasi_identifiers": setting.quasi_identifiers, "sensitive": setting.sensitive}


def _origin(dataset: Dataset, source: str | os.PathLike[str]) -> tuple[str, str, int]:
    """What `load` was given: name or path, study, and the number of records of a sample, or 0."""
    whole, *sample = re.split(r" \((\d+) records\)$", dataset.name)
    name, _, study = whole.partition("/")
    return str(source or name), study, int(sample[0]) if sample else 0

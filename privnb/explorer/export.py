"""The lines of Python that make the release of a setting, and the command for a report of its numbers."""

import os
import re
import shlex
from dataclasses import asdict, replace

from privnb import privacy_models, sanitizers
from privnb.datasets.dataset import Dataset, Source
from privnb.evaluation.predictions import derive_seed
from privnb.explorer.setting import LETTERS, Setting, check_setting, make_sanitizer
from privnb.microdata import withholding
from privnb.microdata.withholding import MinCount
from privnb.runtime.validation import validated

CAUTION = "# Anybody who knows the seed can undo this release: use it for trying out, and rng=None for publication.\n"


@validated
def write_code(dataset: Dataset, setting: Setting, source: Source = "") -> str:
    """Return lines of Python that make the measured release of a setting and the release's published form.

    Parameters
    ----------
    dataset : Dataset
        The result of `load`: the whole dataset or a sample.
    setting : Setting
    source : str
        The first argument of `load`, if it was the path of a description file.

    Raises
    ------
    ValueError
        For an invalid setting.
    """
    setting = check_setting(setting, dataset)
    made, own = make_sanitizer(setting, dataset), _changed_roles(setting, dataset)
    name, study, records = parse_source(dataset, source)
    given = f", {study!r}" * bool(study) + f", records={records}" * bool(records)
    roles = ", ".join(f"{field}={names!r}" for field, names in own.items())
    named = set(re.findall(r"[A-Z]\w+(?=\()", repr(made)))
    imports = "from privnb.datasets.dataset import load\n"
    imports += "from privnb.explorer import Setting, apply_roles\n" * bool(own)
    for home in (privacy_models, sanitizers):
        if there := sorted(named & set(home.__all__)):
            imports += f"from {home.__name__} import {', '.join(there)}\n"
    rng = derive_seed(setting.seed, made, "sanitize") if made.draws else setting.seed
    return (
        f"{imports}\ndataset = load({name!r}{given})\n"
        + f"dataset = apply_roles(dataset, Setting({roles}))\n" * bool(own)
        + CAUTION * made.draws
        + f"release = {made!r}.sanitize(dataset, rng={rng!r})\n"
        + f"published, _ = {f'{made!r}.sanitize(dataset, rng=None)' if made.draws else 'release'}.publish()\n"
    )


@validated
def write_command(
    dataset: Dataset, setting: Setting, source: Source = "", min_count: MinCount = withholding.LIMIT
) -> str:
    """Return the command for a report of a setting, quoted for a shell, without defaults and inactive sliders.

    Parameters
    ----------
    dataset, setting, source
        The arguments of `write_code`.
    min_count : int
        Numbers about fewer people are withheld.

    Raises
    ------
    ValueError
        For an invalid setting.
    """
    setting = check_setting(setting, dataset)
    name, study, records = parse_source(dataset, source)
    usual = {"study": "", "records": 0, **asdict(Setting()), "min_count": withholding.LIMIT}
    asked = asdict(setting) | {"quasi_identifiers": "", "sensitive": ""} | _changed_roles(setting, dataset)
    idle = [letter for letter in LETTERS if letter not in setting.bounds]
    given = (
        usual
        | asked
        | {"study": study, "records": records, "min_count": min_count}
        | {each: usual[each] for each in idle}
    )
    words = ["privnb", "report", name, "--notebook", "09_explore"]
    for field, value in given.items():
        words += ["-p", f"{field.upper()}={value}"] if value != usual[field] else []
    return shlex.join(words)


def _changed_roles(setting: Setting, dataset: Dataset) -> dict[str, str]:
    """Return the role fields of a checked setting if they differ from those of the dataset: `{field: names}`."""
    usual = check_setting(replace(setting, quasi_identifiers="", sensitive=""), dataset)
    if setting.roles == usual.roles:
        return {}
    return {"quasi_identifiers": setting.quasi_identifiers, "sensitive": setting.sensitive}


def parse_source(dataset: Dataset, source: str | os.PathLike[str]) -> tuple[str, str, int]:
    """Return the arguments of `load`: name or path, study, and the number of records of a sample, or 0."""
    whole, *sample = re.split(r" \((\d+) records\)$", dataset.name)
    name, _, study = whole.partition("/")
    return str(source or name), study, int(sample[0]) if sample else 0

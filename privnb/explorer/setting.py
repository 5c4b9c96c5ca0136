"""What an analyst asks for at the board: one release, who would use it and who would attack it.

One module, for what may be asked, what is refused and what it is called follow from the same facts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import first_number, sensitive_name
from privnb.measures import facts
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import NotForThisTable, Role
from privnb.microdata.treatment import TRUE
from privnb.miners import labellers, reference_set
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.names import name_list, names_in, unquoted
from privnb.runtime.validation import validated
from privnb.sanitizers import Sanitizer, catalogue
from privnb.sanitizers.base import MODELS, USUAL

LETTERS = tuple(USUAL)
FALLING = ("t", "delta", "epsilon")  # bounds of which the smaller is stricter
# The steps of the sliders, each from loose to strict; 0: not asked for.
STEPS = {
    "k": (2, 3, 5, 10, 20, 50, 100, 200, 500, 1000),
    "l": (0, 1.2, 1.5, 2, 3, 4, 5, 6, 7, 8, 10),
    "t": (0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05),
    "delta": (0, 4, 3, 2.5, 2, 1.5, 1.2, 1, 0.8, 0.5),
    "epsilon": (10, 5, 3, 2, 1, 0.5, 0.3, 0.1, 0.03, 0.01),
}
SCENARIOS = facts("anti_utility").readings


CHECKED = "_checked"  # of a setting: for which dataset it is known to mean something


@dataclass(frozen=True)
class Setting:
    """One release and its two readers; the notebook's parameters are these fields in capitals.

    Parameters
    ----------
    sanitizer : str
        One of `catalogue.kinds()`.
    k, l, t, delta : int, float
        The bounds of its privacy models, all of which every class keeps (`MODELS`; t by equal distances); k is 2 or
        more, 0 of the others: not asked for.
    epsilon : float
        What noise spends on each attribute, or on each record where it draws them together; above 0.
    quasi_identifiers : str
        Names separated by commas, empty: the dataset's.
    sensitive : str
        One name, empty: the dataset's first.
    miner : str
        Who learns from the release, for its user and for its adversary.
    scenario : str
        What the owner fears, see `nearer_predictions`.
    seed : int
        Of the noise, the random draws and the folds.
    """

    HINT: ClassVar[str] = "Give one such as Setting(k=10)."

    sanitizer: str = "Mondrian"
    k: int = 10
    l: float = 0  # noqa: E741 - the field's letter
    t: float = 0
    delta: float = 0
    epsilon: float = 1.0
    quasi_identifiers: str = ""
    sensitive: str = ""
    miner: str = "naive Bayes"
    scenario: str = "A"
    seed: int = 1

    @property
    def roles(self) -> tuple[str, str]:
        """Who may know what, and what they should not learn: releases with other roles are no alternatives."""
        return self.quasi_identifiers, self.sensitive

    @cached_property  # a key press asks for it a dozen times
    def kind(self) -> type[Sanitizer]:
        """The class of its sanitizer, with its facts."""
        return catalogue.kinds()[self.sanitizer]

    def __reduce__(self) -> tuple[Any, ...]:
        # With its class, which another process imports so, wherever it is from.
        return _unpickled, (catalogue.kinds().get(self.sanitizer), *astuple(self))

    @property
    def asked(self) -> dict[str, float]:
        """The bounds that this sanitizer is asked to keep: `{letter: number}`."""
        return {letter: getattr(self, letter) for letter in self.kind.letters if getattr(self, letter)}

    def first_bounds(self, sanitizer: str) -> dict[str, float]:
        """The bounds that another sanitizer cannot do without and that nobody has asked for yet: `{letter: number}`."""
        kind = catalogue.kinds().get(sanitizer, Sanitizer)  # of an unknown one others tell what there is
        return {letter: USUAL[letter] for letter in kind.requires if not getattr(self, letter)}


def _unpickled(kind: object, *values: Any) -> Setting:
    return Setting(*values)


@validated
def label(setting: Setting) -> str:
    """Return what a person calls a setting.

    >>> label(Setting(k=20, t=0.3)), label(Setting("Suppress"))
    ('Mondrian, k = 20, t = 0.3', 'Suppression')
    """
    return catalogue.label(setting.sanitizer, setting.asked)


@validated
def choices(dataset: Dataset) -> dict[str, tuple[str, ...]]:
    """What each control that is no slider offers for this table: `{control: tuple of names}`.

    Sanitizers that some choice of quasi-identifiers allows; attributes that can be quasi-identifiers, or sensitive, the
    dataset's own first; miners of categories; scenarios.
    """
    return dict(_choices(dataset, tuple(catalogue.kinds().items())))


@lru_cache(maxsize=8)  # a key press asks twice
def _choices(dataset: Dataset, kinds: tuple[tuple[str, type[Sanitizer]], ...]) -> dict[str, tuple[str, ...]]:
    published, own = dataset.schema.published, dataset.schema.sensitive
    any_role = [dataset.schema[name] for name in published]
    return {
        "sanitizer": tuple(name for name, kind in kinds if catalogue.fits(kind, sensitive=any_role, known=any_role)),
        "quasi_identifiers": tuple(published),
        "sensitive": (*own, *(name for name in published if name not in own)),
        "miner": labellers(),
        "scenario": tuple(SCENARIOS),
    }


@validated
def changed(setting: Setting, **fields: Any) -> Setting:
    """Return a setting with other values in some fields."""
    return replace(setting, **fields)


def idle(setting: Setting, dataset: Dataset) -> dict[str, str]:
    """The controls that this setting does not read.

    Parameters
    ----------
    setting : Setting
    dataset : Dataset

    Returns
    -------
    dict of str to str
        By control the reason, a sentence.
    """
    setting = checked(setting, dataset)
    kind, letters = setting.sanitizer, setting.kind.letters
    reads = f"it reads {', '.join(letters)}" if letters else "it has no parameter"
    reasons = {letter: f"{kind} has no {letter}: {reads}." for letter in LETTERS if letter not in letters}
    control = {"adversary": "scenario", "user": "miner"}  # a user is never alone without a miner
    return reasons | {control[whom]: why for whom, why in unmined(setting, dataset).items()}


def unmined(setting: Setting, dataset: Dataset) -> dict[str, str]:
    """For whom this release is not mined.

    Parameters
    ----------
    setting : Setting
    dataset : Dataset

    Returns
    -------
    dict of str to str
        By "user" or "adversary" why not.
    """
    setting, treatment = checked(setting, dataset), setting.kind.treatment
    if treatment == "bucketized":
        return dict.fromkeys(
            ("user", "adversary"), "Miners do not read buckets, which hide whose a sensitive value is."
        )
    target = attacked(setting, dataset)
    if treatment == "exact":
        return {"adversary": "Every value is published exactly: no prediction can be nearer."}
    if treatment in TRUE or not dataset.schema[target].numeric:
        return {}
    if getattr(reference_set(setting.miner)[0], "regressor", None):
        return {}
    return {
        "adversary": f"{setting.sanitizer} publishes '{target}' as numbers, which {setting.miner} cannot guess. Choose "
        "another miner, such as decision tree."
    }


def attacked(setting: Setting, dataset: Dataset) -> str:
    """The quasi-identifier that the adversary wants to know more exactly: the first number, or else the first; where
    categories are randomised, the first of these.

    Parameters
    ----------
    setting : Setting
    dataset : Dataset

    Returns
    -------
    str
    """
    chosen = of_roles(dataset, setting)
    if setting.kind.changes == "categories":
        names = chosen.schema.quasi_identifiers
        return next((name for name in names if not chosen.schema[name].numeric), names[0])
    return first_number(chosen)


def check_bounds(setting: Setting) -> None:
    """Raise ValueError for a bound, an epsilon or a seed that means nothing, whatever the dataset."""
    expect.kind("setting", setting, Setting)
    for letter, model in MODELS.items():
        bound = getattr(setting, letter)
        if letter == "k" or not (expect.is_number(bound) and bound == 0):
            model(bound, *["any"] * (letter != "k"))  # which refuses a bound that means nothing
    expect.positive("epsilon", setting.epsilon)
    expect.whole("SEED", setting.seed, 0)


@validated
def checked(setting: Setting, dataset: Dataset) -> Setting:
    """The setting with the names of its attributes filled in, whole numbers as such.

    Parameters
    ----------
    setting : Setting
    dataset : Dataset

    Returns
    -------
    Setting

    Raises
    ------
    ValueError
        For what is not among `choices`, a bound that no model has, and an attribute in two roles.
    """
    if getattr(setting, CHECKED, None) is dataset:
        return setting
    offered, schema = choices(dataset), dataset.schema
    for field in ("sanitizer", "miner", "scenario", "quasi_identifiers", "sensitive"):
        expect.kind(field, getattr(setting, field), str)
    for control in ("sanitizer", "miner", "scenario"):
        _among(control, [getattr(setting, control)], offered[control])
    check_bounds(setting)
    named = names_in(setting.quasi_identifiers)
    _among("quasi_identifiers", named, offered["quasi_identifiers"])
    left = [name for name in schema.sensitive if name not in named]
    sensitive = sensitive_name(dataset, unquoted(setting.sensitive) or next(iter(left), None))
    known = [name for name in schema.published if name in (named or schema.quasi_identifiers) and name != sensitive]
    if sensitive in named:
        raise UsageError(
            f"'{sensitive}' cannot be both known and sensitive: choose another SENSITIVE, or take it from "
            "QUASI_IDENTIFIERS."
        )
    if not known:
        raise NotForThisTable(
            f"'{dataset.name}' has no quasi-identifier but '{sensitive}'. Give one or more columns that role."
        )
    numbers = {letter: _plain(getattr(setting, letter)) for letter in LETTERS}
    found = changed(setting, **numbers, quasi_identifiers=name_list(known), sensitive=sensitive)
    object.__setattr__(found, CHECKED, dataset)  # no field: a copy with another field is checked anew
    return found


def of_roles(dataset: Dataset, setting: Setting) -> Dataset:
    """The dataset with the setting's quasi-identifiers and sensitive attribute.

    Its own other sensitive attributes stay so; all others become neutral. An attribute that is no quasi-identifier in
    the dataset is generalized as its public domain allows, see `hierarchy.flat`.

    Parameters
    ----------
    dataset : Dataset
    setting : Setting

    Returns
    -------
    Dataset
    """
    return _of_roles(dataset, *checked(setting, dataset).roles)


@lru_cache(maxsize=16)
def _of_roles(dataset: Dataset, quasi_identifiers: str, sensitive: str) -> Dataset:
    schema, known = dataset.schema, names_in(quasi_identifiers)
    own = {attribute.name: attribute.role for attribute in schema.attributes}
    roles = own | dict.fromkeys(set(schema.published) - set(schema.sensitive), Role.NEUTRAL)
    roles |= dict.fromkeys(known, Role.QUASI_IDENTIFIER) | {sensitive: Role.SENSITIVE}
    if roles == own:
        return dataset
    hierarchies = {name: dataset.hierarchies.get(name) or flat(schema[name]) for name in known}
    name = f"{dataset.name} (known: {quasi_identifiers}; sensitive: {sensitive})"
    return Dataset(name, dataset.cells, schema.with_roles(roles), hierarchies).in_bands(sensitive)


def exposed(setting: Setting, dataset: Dataset) -> list[str]:
    """The dataset's own quasi-identifiers that are published as they are, as the setting takes them for unknown. Of
    buckets not the sensitive one: they hide whose its values are.

    Parameters
    ----------
    setting : Setting
    dataset : Dataset

    Returns
    -------
    list of str
    """
    setting = checked(setting, dataset)
    known = names_in(setting.quasi_identifiers) + [setting.sensitive] * (setting.kind.treatment == "bucketized")
    return [name for name in dataset.schema.quasi_identifiers if name not in known]


def sanitizer(setting: Setting, dataset: Dataset) -> Sanitizer:
    """The sanitizer that is asked for.

    Parameters
    ----------
    setting : Setting
    dataset : Dataset

    Returns
    -------
    Sanitizer

    Raises
    ------
    ValueError
        For an Anatomy without a whole l of 2 or more.
    """
    setting = checked(setting, dataset)
    required = {letter: getattr(setting, letter) for letter in setting.kind.requires}
    return setting.kind.at(required | setting.asked, setting.sensitive)


def _among(control: str, names: Iterable[str], offered: Sequence[str]) -> None:
    unknown = [name for name in names if name not in offered]
    if unknown:
        raise UsageError(
            f"{control.upper()} is {'some' if control == 'quasi_identifiers' else 'one'} of {name_list(offered)}; got "
            f"{', '.join(map(repr, unknown))}."
        )


def _plain(number: float) -> float:
    """A number, whole where it is: 2 and 2.0 are one setting, and draw the same noise."""
    return int(number) if float(number).is_integer() else float(number)

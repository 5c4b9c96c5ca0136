"""The setting of the board: one release, the user of the release, and the adversary."""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import choose_sensitive, choose_target
from privnb.measures import measure_facts
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import NotForThisTable, Role
from privnb.microdata.treatment import TRUE
from privnb.miners import labellers, reference_set
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.names import join_names, parse_names, unquote
from privnb.runtime.validation import validated
from privnb.sanitizers import Sanitizer, catalogue
from privnb.sanitizers.base import DEFAULT_BOUNDS, MODEL_BY_LETTER

LETTERS = tuple(DEFAULT_BOUNDS)
FALLING = ("t", "delta", "epsilon")  # bounds for which smaller is stricter
# The steps of the sliders, each from loose to strict; 0: off.
STEPS = {
    "k": (2, 3, 5, 10, 20, 50, 100, 200, 500, 1000),
    "l": (0, 1.2, 1.5, 2, 3, 4, 5, 6, 7, 8, 10),
    "t": (0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05),
    "delta": (0, 4, 3, 2.5, 2, 1.5, 1.2, 1, 0.8, 0.5),
    "epsilon": (10, 5, 3, 2, 1, 0.5, 0.3, 0.1, 0.03, 0.01),
}
SCENARIOS = measure_facts("anti_utility").readings


CHECKED = "_checked"  # the attribute of a setting that holds the dataset it was checked for


@dataclass(frozen=True)
class Setting:
    """One release, the user of the release, and the adversary.

    The parameters of the notebook are the fields of this class, in capitals.

    Parameters
    ----------
    sanitizer : str
        The name of a sanitizer in `catalogue.kinds()`.
    k, l, t, delta : int, float
        The bounds of the sanitizer's privacy models (`MODEL_BY_LETTER`; t is for equal distances between values), which
        every class satisfies. k is at least 2; for the other bounds, 0 turns the bound off.
    epsilon : float
        The budget of the noise per attribute, or per record if the sanitizer draws whole records; above 0.
    quasi_identifiers : str
        Names separated by commas; if empty, the quasi-identifiers of the dataset.
    sensitive : str
        One name; if empty, the first sensitive attribute of the dataset.
    miner : str
        The miner of the user and of the adversary.
    scenario : str
        The attack that the owner fears, see `nearer_predictions`.
    seed : int
        The seed of the noise, the random draws and the folds.
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
        """The quasi-identifiers and the sensitive attribute; releases with different roles are not alternatives."""
        return self.quasi_identifiers, self.sensitive

    @cached_property  # a key press asks for it a dozen times
    def kind(self) -> type[Sanitizer]:
        """The class of the sanitizer."""
        return catalogue.kinds()[self.sanitizer]

    def __reduce__(self) -> tuple[Any, ...]:
        # The class is part of the pickle, so that another process imports its module.
        return _unpickled, (catalogue.kinds().get(self.sanitizer), *astuple(self))

    @property
    def bounds(self) -> dict[str, float]:
        """The bounds that apply to the sanitizer, as `{letter: number}`."""
        return {letter: getattr(self, letter) for letter in self.kind.letters if getattr(self, letter)}

    def first_bounds(self, sanitizer: str) -> dict[str, float]:
        """Return the bounds that another sanitizer requires and this setting lacks, as `{letter: number}`."""
        kind = catalogue.kinds().get(sanitizer, Sanitizer)  # `check_setting` refuses an unknown name
        return {letter: DEFAULT_BOUNDS[letter] for letter in kind.requires if not getattr(self, letter)}


def _unpickled(kind: object, *values: Any) -> Setting:
    return Setting(*values)


@validated
def setting_label(setting: Setting) -> str:
    """Return a readable name of a setting.

    >>> setting_label(Setting(k=20, t=0.3)), setting_label(Setting("Suppress"))
    ('Mondrian, k = 20, t = 0.3', 'Suppression')
    """
    return catalogue.sanitizer_label(setting.sanitizer, setting.bounds)


@validated
def list_choices(dataset: Dataset) -> dict[str, tuple[str, ...]]:
    """Return the options of each menu for a table: `{control: tuple of names}`.

    The options are the sanitizers that fit some choice of quasi-identifiers, the attributes that can be
    quasi-identifiers or sensitive (with the sensitive attributes of the dataset first), the miners that predict
    categories, and the scenarios.
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
def change_setting(setting: Setting, **fields: Any) -> Setting:
    """Return a copy of a setting with other values in some fields."""
    return replace(setting, **fields)


def inactive_controls(setting: Setting, dataset: Dataset) -> dict[str, str]:
    """Return the controls that have no effect for a setting, each with the reason as a sentence."""
    setting = check_setting(setting, dataset)
    kind, letters = setting.sanitizer, setting.kind.letters
    reads = f"it has {', '.join(letters)}" if letters else "it has no parameters"
    reasons = {letter: f"{kind} does not use {letter}; {reads}." for letter in LETTERS if letter not in letters}
    control = {"adversary": "scenario", "user": "miner"}  # without a miner for the user there is none for either
    return reasons | {control[whom]: why for whom, why in why_not_mined(setting, dataset).items()}


def why_not_mined(setting: Setting, dataset: Dataset) -> dict[str, str]:
    """Return why a release is not mined for its "user" or for the "adversary", as `{reader: reason}`."""
    setting, treatment = check_setting(setting, dataset), setting.kind.treatment
    if treatment == "bucketized":
        return dict.fromkeys(
            ("user", "adversary"), "Miners cannot use buckets, which hide the person behind a sensitive value."
        )
    target = attacked_attribute(setting, dataset)
    if treatment == "exact":
        return {"adversary": "Every value is published exactly, so no prediction can be nearer to the truth."}
    if treatment in TRUE or not dataset.schema[target].numeric:
        return {}
    if getattr(reference_set(setting.miner)[0], "regressor", None):
        return {}
    return {
        "adversary": f"{setting.sanitizer} publishes '{target}' as numbers, which {setting.miner} cannot predict. "
        "Choose another miner, such as decision tree."
    }


def attacked_attribute(setting: Setting, dataset: Dataset) -> str:
    """Return the quasi-identifier that the adversary predicts.

    The result is the first numeric quasi-identifier or, if none is numeric, the first quasi-identifier. If the
    sanitizer changes only categories, the result is the first categorical quasi-identifier.
    """
    chosen = apply_roles(dataset, setting)
    if setting.kind.changes == "categories":
        names = chosen.schema.quasi_identifiers
        return next((name for name in names if not chosen.schema[name].numeric), names[0])
    return choose_target(chosen)


def check_bounds(setting: Setting) -> None:
    """Raise ValueError for a bound, an epsilon or a seed that is invalid for every dataset."""
    expect.kind("setting", setting, Setting)
    for letter, model in MODEL_BY_LETTER.items():
        bound = getattr(setting, letter)
        if letter == "k" or not (expect.is_number(bound) and bound == 0):
            model(bound, *["any"] * (letter != "k"))  # the model refuses an invalid bound
    expect.positive("epsilon", setting.epsilon)
    expect.whole("SEED", setting.seed, 0)


@validated
def check_setting(setting: Setting, dataset: Dataset) -> Setting:
    """Return a setting with the names of its attributes filled in and whole numbers as integers.

    Raises
    ------
    ValueError
        For a name that is not in `list_choices`, an invalid bound, or an attribute with two roles.
    """
    if getattr(setting, CHECKED, None) is dataset:
        return setting
    offered, schema = list_choices(dataset), dataset.schema
    for field in ("sanitizer", "miner", "scenario", "quasi_identifiers", "sensitive"):
        expect.kind(field, getattr(setting, field), str)
    for control in ("sanitizer", "miner", "scenario"):
        _check_offered(control, [getattr(setting, control)], offered[control])
    check_bounds(setting)
    named = parse_names(setting.quasi_identifiers)
    _check_offered("quasi_identifiers", named, offered["quasi_identifiers"])
    left = [name for name in schema.sensitive if name not in named]
    sensitive = choose_sensitive(dataset, unquote(setting.sensitive) or next(iter(left), None))
    known = [name for name in schema.published if name in (named or schema.quasi_identifiers) and name != sensitive]
    if sensitive in named:
        raise UsageError(
            f"'{sensitive}' cannot be both known and sensitive. Choose another SENSITIVE, or remove the attribute from "
            "QUASI_IDENTIFIERS."
        )
    if not known:
        raise NotForThisTable(
            f"'{dataset.name}' has no quasi-identifier other than '{sensitive}'. Give at least one more column the "
            "role quasi-identifier."
        )
    numbers = {letter: _simplify(getattr(setting, letter)) for letter in LETTERS}
    found = change_setting(setting, **numbers, quasi_identifiers=join_names(known), sensitive=sensitive)
    object.__setattr__(found, CHECKED, dataset)  # not a field, so that a changed copy is checked again
    return found


def apply_roles(dataset: Dataset, setting: Setting) -> Dataset:
    """Return the dataset with the quasi-identifiers and the sensitive attribute of a setting.

    Other sensitive attributes of the dataset stay sensitive; all other attributes become neutral. A quasi-identifier
    without a hierarchy is generalized as its public domain allows; see `hierarchy.flat`.
    """
    return _apply_roles(dataset, *check_setting(setting, dataset).roles)


@lru_cache(maxsize=16)
def _apply_roles(dataset: Dataset, quasi_identifiers: str, sensitive: str) -> Dataset:
    schema, known = dataset.schema, parse_names(quasi_identifiers)
    own = {attribute.name: attribute.role for attribute in schema.attributes}
    roles = own | dict.fromkeys(set(schema.published) - set(schema.sensitive), Role.NEUTRAL)
    roles |= dict.fromkeys(known, Role.QUASI_IDENTIFIER) | {sensitive: Role.SENSITIVE}
    if roles == own:
        return dataset
    hierarchies = {name: dataset.hierarchies.get(name) or flat(schema[name]) for name in known}
    name = f"{dataset.name} (known: {quasi_identifiers}; sensitive: {sensitive})"
    return Dataset(name, dataset.cells, schema.with_roles(roles), hierarchies).in_bands(sensitive)


def exact_quasi_identifiers(setting: Setting, dataset: Dataset) -> list[str]:
    """Return the quasi-identifiers of the dataset that the setting assumes to be unknown and publishes exactly.

    The result does not include the sensitive attribute of a bucketized release, because buckets hide the person behind
    a value.
    """
    setting = check_setting(setting, dataset)
    known = parse_names(setting.quasi_identifiers) + [setting.sensitive] * (setting.kind.treatment == "bucketized")
    return [name for name in dataset.schema.quasi_identifiers if name not in known]


def make_sanitizer(setting: Setting, dataset: Dataset) -> Sanitizer:
    """Return the sanitizer of a setting; raise ValueError for an `Anatomy` unless l is a whole number of at least 2."""
    setting = check_setting(setting, dataset)
    required = {letter: getattr(setting, letter) for letter in setting.kind.requires}
    return setting.kind.from_bounds(required | setting.bounds, setting.sensitive)


def find_setting(sanitizer: Sanitizer, dataset: Dataset) -> Setting | None:
    """Return the setting whose release a sanitizer makes; None if the controls cannot express the sanitizer."""
    models = getattr(sanitizer, "models", ())
    bounds = {letter: getattr(sanitizer, letter) for letter in LETTERS if hasattr(sanitizer, letter)}
    for letter, kind in MODEL_BY_LETTER.items():
        found = next((model for model in models if type(model) is kind), None)
        bounds |= {letter: getattr(found, letter)} if found else {}
    try:
        setting = check_setting(Setting(type(sanitizer).__name__, **bounds), dataset)
        return setting if make_sanitizer(setting, dataset) == sanitizer else None
    except (ValueError, TypeError):
        return None


def _check_offered(control: str, names: Iterable[str], offered: Sequence[str]) -> None:
    unknown = [name for name in names if name not in offered]
    if unknown:
        raise UsageError(
            f"{control.upper()} must be {'some' if control == 'quasi_identifiers' else 'one'} of "
            f"{join_names(offered)}; got {', '.join(map(repr, unknown))}."
        )


def _simplify(number: float) -> float:
    """Return a whole number as an integer, so that 2 and 2.0 are the same setting, with the same noise."""
    return int(number) if float(number).is_integer() else float(number)

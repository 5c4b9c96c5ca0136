"""What every sanitizer is: parameters that repr shows faithfully, and one verb, `sanitize`."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace

import numpy as np
import pandas as pd

from privnb.microdata import expect
from privnb.microdata.hierarchy import SUPPRESSED, Intervals, Taxonomy
from privnb.microdata.release import Provenance, Release
from privnb.microdata.schema import Role
from privnb.microdata.treatment import Rows, Treatment, treated
from privnb.privacy_models import DeltaDisclosure, FrequencyDiversity, KAnonymity, PrivacyModel, TCloseness
from privnb.privacy_models.requirement import Requirement
from privnb.sanitizers.claims import refusal

FACTS = ("claims", "promise", "noisy", "perturbed", "rows", "new", "note", "buckets")  # what a sanitizer says


class SanitizationError(ValueError):
    """What was asked of a sanitizer cannot be done to this table."""


# The bounds that users vary, by letter, with their privacy model; "epsilon" is spent on each attribute. All lists of
# settings, sliders and pages know these.
MODELS = {"k": KAnonymity, "l": FrequencyDiversity, "t": TCloseness, "delta": DeltaDisclosure}
USUAL = {"k": 10, "l": 2, "t": 0.2, "delta": 1.0, "epsilon": 1.0}


class Sanitizer(ABC):
    """A sanitization mechanism. Subclasses are frozen dataclasses of their parameters; nothing learned stays on them.

    `get_params` and `repr` follow scikit-learn, so that `sklearn.base.clone` works. A class states its facts here and
    nowhere else; contract tests, gallery, frontier and explorer read them of every class that is imported. What it does
    and who it is by are the first sentence and the source of its docstring.

    Attributes
    ----------
    treatment : str
        What it does to the columns that it changes, one of `treatment.KINDS`.
    letters : tuple of str
        The bounds, of `USUAL`, that it can be asked for; the first is its main one. Parameters of these names, unless
        `at` says otherwise.
    requires : tuple of str
        Those of them that it cannot do without.
    changes : str
        "numbers" or "categories", if it changes these quasi-identifiers alone and needs one.
    needs_sensitive : str
        "any" or "categories", if it needs a sensitive attribute, or one of categories.
    reference : bool
        Whether it is one of the two that all others lie between: publish everything, publish no quasi-identifier.
    global_recoding : bool
        Whether a value is published alike wherever it stands.
    slow : bool
        Whether it searches for seconds under models of values.
    order_invariant : bool
        Whether the same records in another order give the same rows.
    randomized : bool
        Whether the seed matters to results, so that evaluations repeat it.
    draws : bool
        Whether anything in the release is drawn, were it only the numbers of its buckets; whoever knows the seed can
        undo that.
    """

    treatment = "generalized"
    letters = ()
    requires = ()
    changes = ""
    needs_sensitive = ""
    reference = False
    global_recoding = False
    slow = False
    order_invariant = True
    randomized = False

    @classmethod
    def at(cls, bounds, sensitive=None):
        """One that is asked for these bounds, `{letter: number}`; `sensitive`: the attribute that they are about."""
        own = [field.name for field in fields(cls)]
        return cls(**bounds, **({"sensitive": sensitive} if "sensitive" in own else {}))

    @classmethod
    def accepts(cls, letter, value):
        """Whether it can be asked for this value of one of its letters."""
        return True

    @classmethod
    def keeping(cls, models, sensitive=None):
        """One whose classes keep all `models`, the first of which may be k-anonymity; None where it cannot."""
        k, *others = models
        return cls.at({"k": k.k}, sensitive) if "k" in cls.letters and type(k) is KAnonymity and not others else None

    @classmethod
    def examples(cls, schema):
        """A few that a small table of this schema can have, for the contract tests: a list."""
        sensitive = next(iter(schema.sensitive), None)
        return [cls.at({letter: USUAL[letter] for letter in cls.requires or cls.letters[:1]}, sensitive)]

    @property
    def draws(self):
        return self.randomized

    @property
    def key(self):
        """The text that draws are derived from, frozen: a class or parameter that gets another name overrides this with
        what its `repr` was, so that no published number moves.
        """
        return repr(self)

    def __sklearn_clone__(self):
        return self  # nothing learned stays on it, so there is nothing to leave behind

    def get_params(self, deep=False):
        """The parameters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def changed_params(self):
        """The parameters that differ from their defaults, as `name=value` text: how results name a setting."""
        changed = [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default]
        return ", ".join(
            ", ".join(map(str, value)) if name == "models" else f"{name}={_short(value)}" for name, value in changed
        )

    def sanitize(self, dataset, *, rng):
        """Make a Release of `dataset`, one row a record; the dataset is not changed.

        `rng`: an int seed or a numpy Generator: what is drawn with it is a simulation, for a seed undoes it. None draws
        afresh what may be published, noise from OpenDP. It is recorded in the provenance. Raises SanitizationError when
        the table cannot give what was asked, and for a release that is not what it says: every claimed model is graded,
        every label compared with its original (see `claims`).
        """
        expect.these(dataset=dataset, rng=rng)
        table, facts = self._sanitize(dataset, dataset.table[dataset.schema.published].copy(), rng)
        release = self._released(dataset, table, dict(facts), rng)
        self._refuse_unlike(dataset, release)
        public = with_public_ends(release)
        if public is not release:
            self._refuse_unlike(dataset, public)  # its classes are others
        return public

    def _refuse_unlike(self, dataset, release):
        if reason := refusal(dataset, release):
            raise SanitizationError(f"{self!r}: {reason}.")

    def _released(self, dataset, table, facts, rng):
        """The Release, not checked yet. `facts`: as `_sanitize` gives them."""
        if unknown := sorted(set(facts) - set(FACTS)):
            raise TypeError(f"{type(self).__name__}._sanitize gives the facts {unknown}; they are {', '.join(FACTS)}.")
        expect.kind(f"the table of {type(self).__name__}._sanitize", table, pd.DataFrame)
        buckets, rows, new = facts.pop("buckets", None), facts.pop("rows", Rows.RECORDS), facts.pop("new", ())
        records = None if isinstance(rows, Rows) else _positions(rows, len(dataset))
        rows = rows if records is None else Rows.SUBSET
        stated = _stated(facts, rows, [attribute.name for attribute in new])
        provenance = Provenance(
            dataset=dataset.name,
            sanitizer=repr(self),
            parameters=self.get_params(),
            columns=_treatments(dataset, table, rows, records) | stated,
            rows=rows,
            # Noise and rows of nobody are drawn, whoever forgot it.
            simulation=bool(self.draws or treated(stated, "noisy", "synthetic")) and rng is not None,
            seed=None if isinstance(rng, np.random.Generator) else rng,
            **facts,
        )
        schema = dataset.schema.with_roles(
            {a.name: a.role for a in dataset.schema.attributes if a.role != Role.IDENTIFIER}
        )
        schema = replace(schema, attributes=(*schema.attributes, *new)) if new else schema
        return Release(table, schema, dataset.hierarchies, provenance, buckets, dataset.shared, records)

    @abstractmethod
    def _sanitize(self, dataset, table, rng):
        """The released table, made of `table`, a copy of the published columns; and facts for its Provenance.

        Facts are some of `FACTS`: `claims`, `promise` and `note` are the Provenance's, `buckets` the Release's. Most of
        what was done to a column is seen in the table: exact, generalized, suppressed and bucketized ones need no word.
        Said are `noisy`: `{name: Law}` of columns with noise; `perturbed`: names of columns that were changed in any
        other way, such as means of groups; `new`: the `Attribute`s of columns that the dataset has not; `rows`: whose
        the rows are, where they are not the records in order: an integer array, the positions of a subset of the
        records, or `Rows.NOBODY`.
        """


def _stated(facts, rows, new):
    """What a sanitizer says of columns, which no table can show; takes it from `facts`: `{name: Treatment}`."""
    noisy, perturbed = facts.pop("noisy", {}), facts.pop("perturbed", ())
    expect.kind("noisy", noisy, Mapping, instead="Give the law of each column's noise, or name it in `perturbed`.")
    expect.texts("perturbed", perturbed, "columns")
    stated = {name: Treatment("noisy", law) for name, law in noisy.items()}
    return stated | dict.fromkeys([*perturbed, *new], Treatment("synthetic" if rows is Rows.NOBODY else "perturbed"))


def _positions(rows, n):
    """The positions of a subset of `n` records, checked: integer array."""
    found = np.asarray(expect.vector("rows", rows))
    if found.dtype.kind not in "iu" or len(np.unique(found)) < len(found) or not 0 <= found.min() <= found.max() < n:
        raise ValueError(f"rows must be positions of different records, from 0 to {n - 1}, got {expect.found(rows)}.")
    return found


def _treatments(dataset, table, rows, records):
    """How each column of the dataset was treated, as the table shows it: `{name: Treatment}`."""
    before = dataset.table[dataset.schema.published]
    if rows is Rows.NOBODY:
        return dict.fromkeys(before, Treatment("synthetic"))
    if not table.columns.is_unique:
        return {}  # the release is refused
    if records is not None:
        before, table = before.iloc[records].reset_index(drop=True), table.reset_index(drop=True)
    return {name: Treatment(_kind(before[name], table[name]) if name in table else "bucketized") for name in before}


def _kind(before, cells):
    if cells.equals(before):
        return "exact"
    hidden = cells.isin([SUPPRESSED])
    if not hidden.any():
        return "generalized"
    kept = cells[~hidden].astype(object).equals(before[~hidden].astype(object))
    return "suppressed" if kept else "generalized"


expect.word("sanitizer", Sanitizer, several="sanitizers", instead="Give one such as KMember(10).")
expect.word("partition", Sanitizer, several="partitions", instead="Give one such as Mondrian(KAnonymity(10)).")


@dataclass(frozen=True, init=False, repr=False)
class ModelBasedSanitizer(Sanitizer):
    """A sanitizer of which every class keeps all of `models`, listed first: `Mondrian(KAnonymity(10), ...)`.

    Other parameters are named. Raises ValueError without a model and TypeError for what is none.
    """

    models: tuple[PrivacyModel, ...]
    letters = tuple(MODELS)

    def __init__(self, *models, **options):
        known = {field.name: field.default for field in fields(self) if field.name != "models"}
        unknown = sorted(set(options) - set(known))
        if unknown:
            raise TypeError(f"{type(self).__name__} has no parameter {unknown}; it has {', '.join(known) or 'none'}.")
        absent = [name for name, default in known.items() if default is MISSING and name not in options]
        if absent:
            raise TypeError(f"{type(self).__name__} needs {', '.join(f'{name}=' for name in absent)}.")
        expect.these(models=models)
        if not models:
            raise ValueError(f"{type(self).__name__} needs a privacy model to keep, such as KAnonymity(10).")
        object.__setattr__(self, "models", models)
        for name, default in known.items():
            object.__setattr__(self, name, options.get(name, default))
        self.__post_init__()

    def __post_init__(self):
        """Where a sanitizer checks its other parameters."""

    @classmethod
    def at(cls, bounds, sensitive=None):
        return cls.keeping(models_of(bounds, sensitive), sensitive)

    @classmethod
    def keeping(cls, models, sensitive=None):
        return cls(*models)

    def __repr__(self):
        options = [
            f"{f.name}={getattr(self, f.name)!r}"
            for f in fields(self)
            if f.name != "models" and getattr(self, f.name) != f.default
        ]
        return f"{type(self).__name__}({', '.join([*map(repr, self.models), *options])})"


def models_of(bounds, sensitive):
    """The privacy models that bounds ask for, `{letter: number}`: a list, k-anonymity first.

    >>> models_of({"t": 0.2, "k": 5}, "salary")
    [KAnonymity(k=5), TCloseness(t=0.2, sensitive='salary', distance='equal')]
    """
    return [
        model(bounds[letter], *([] if letter == "k" else [sensitive]))
        for letter, model in MODELS.items()
        if letter in bounds
    ]


def recoded(dataset, table, requirement, classes):
    """`table` with each class's smallest generalization in its quasi-identifiers.

    `classes`: integer array, the class of each row of `requirement`; numbers from 0.
    """
    of_records = classes[requirement.index]
    for a, name in enumerate(dataset.schema.quasi_identifiers):
        labels = dataset.hierarchies[name].labels(requirement.codes[:, a], classes)
        table[name] = labels[of_records]
    return table


def with_public_ends(release):
    """The release without labels that end at one person's own value, but for those that a study keeps exact.

    Its classes are joined ones: what models say of shares and of sizes they keep, but not what presence says of a
    population.
    """
    return release.widened([name for name in release.labelled if not release.hierarchies[name].exact])


def lines(generalizations):
    """What `recoding` has to know of each attribute: the nodes at each level, or how many positions its line has."""
    return [g.groups if isinstance(g, Taxonomy) or type(g) is Intervals else g.size for g in generalizations]


def requirement_of(sanitizer, dataset, extra=(), *, alone=False):
    """The sanitizer's models bound to `dataset`, see `Requirement`.

    Raises SanitizationError where not even one class of all records keeps them.
    """
    if not dataset.schema.quasi_identifiers:
        raise SanitizationError(
            f"{sanitizer!r}: '{dataset.name}' has no quasi-identifier to generalize. Give a column that role."
        )
    for model in sanitizer.models:
        # An adversary knows quasi-identifiers already, and identifiers are not published.
        role = None if model.sensitive is None else dataset.schema[model.sensitive].role
        if role not in (None, Role.SENSITIVE, Role.NEUTRAL):
            raise SanitizationError(
                f"{sanitizer!r}: {model!r} protects '{model.sensitive}', which has the role '{role}' in "
                f"'{dataset.name}'. Give it the role 'sensitive', or name a column that has it."
            )
    requirement = Requirement(sanitizer.models, dataset, extra, alone=alone)
    reason = requirement.refusal(np.zeros(len(requirement.people), dtype=np.int64), 1)
    if reason:
        raise SanitizationError(f"{sanitizer!r} cannot be reached: {reason}. Relax that model, or leave it out.")
    return requirement


def _short(value):
    if isinstance(value, Sanitizer):
        return f"{type(value).__name__} {value.changed_params()}".rstrip()
    if isinstance(value, Mapping):
        return " ".join(f"{name}:{number}" for name, number in value.items())
    return value

"""The base class of sanitizers, which have parameters that `repr` shows faithfully and one main method, `sanitize`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, replace
from itertools import groupby
from typing import Annotated, Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.random import Generator

from privnb.microdata.bands import Bands
from privnb.microdata.provenance import Provenance
from privnb.microdata.release import Release
from privnb.microdata.rows import CombinationTable, Microdata
from privnb.microdata.schema import PUBLISHED, Categories, Numbers, Schema
from privnb.microdata.treatment import KINDS, Rows, select_columns
from privnb.privacy_models import DeltaDisclosure, FrequencyDiversity, KAnonymity, PrivacyModel, TCloseness
from privnb.runtime import expect
from privnb.runtime.deprecation import warn_renamed
from privnb.runtime.errors import PrivnbError, UsageTypeError
from privnb.runtime.lazy import pd
from privnb.runtime.names import join_names
from privnb.runtime.own_methods import describe_failure, is_own
from privnb.runtime.registry import check_fact, find_classes
from privnb.runtime.validation import Randomness, Validated, validated
from privnb.sanitizers.claims import explain_mismatch, find_perturbed
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.missing_numbers import GAP_TREATMENTS, Gaps
from privnb.sanitizers.treatments import check_positions, infer_treatments, read_stated_treatments

FACTS = ("claims", "promise", "noisy", "perturbed", "rows", "new", "note", "buckets")  # statements of a sanitizer
LOAD = "Try load(name), or `.dataset` of a table."
MAX_RECORDS = 1_000_000  # maximum number of records that a sanitizer receives at once


# The bounds that users vary, by letter, with their privacy model, which epsilon lacks; lists of settings, sliders and
# pages use these.
MODEL_BY_LETTER = {"k": KAnonymity, "l": FrequencyDiversity, "t": TCloseness, "delta": DeltaDisclosure}
DEFAULT_BOUNDS = {"k": 10, "l": 2, "t": 0.2, "delta": 1.0, "epsilon": 1.0}

RENAMED_METHODS = {
    "at": "from_bounds",
    "keeping": "from_models",
    "accepts": "accepts_value",
    "settings": "default_settings",
    "examples": "contract_examples",
}

Facts = dict[str, Any]  # some of `FACTS`
Sanitized: TypeAlias = "tuple[pd.DataFrame, Facts]"  # the released table, and the facts that it cannot show


class FreshEntropy(Generator):
    """A source of random draws without a seed: nobody can repeat these draws, so they may be published."""


def _microdata(name: str, value: object) -> None:
    if not isinstance(value, Microdata):
        raise UsageTypeError(f"{name} must be a Dataset; got {expect.describe_value(value)}. {LOAD}")


AnyMicrodata = Annotated[Any, _microdata]  # a `Dataset`, or a `CombinationTable`


def _old_method(old: str, new: str) -> Any:
    def call(cls: type[Any], *arguments: Any, **named: Any) -> Any:
        warn_renamed(f"{cls.__name__}.{old}", new)
        # A class that overrides the old name may call it by `super()`: the new name is then the override itself.
        home = next(each for each in cls.__mro__ if new in vars(each) and (each is Sanitizer or old not in vars(each)))
        return vars(home)[new].__get__(None, cls)(*arguments, **named)

    return classmethod(call)


class Sanitizer(Validated, ABC):
    """A sanitization mechanism: subclasses are frozen dataclasses of their parameters, without learned state.

    `get_params` and `repr` follow scikit-learn, so that `sklearn.base.clone` works. A class states its facts as the
    attributes below and nowhere else; contract tests, gallery, frontier and explorer read these facts from every class
    that is imported. The first sentence of a class's docstring describes the method, and `Source:` lists the authors of
    the method.

    A subclass defines one method, `_sanitize(self, dataset, table, rng)`, which `sanitize` calls and checks:

    - `dataset` is the original: its `schema`, `hierarchies` and `codes` (integer array per column) define how values
      generalize. For a class with the fact `by_combinations`, `dataset` may be a `CombinationTable`.
    - `table`, a DataFrame, is a copy of the dataset's published columns, in the order of the records, and may be
      changed.
    - `rng` is always a numpy Generator; it is a `FreshEntropy` if the draws are for publication.
    - The method returns the released table, or a tuple of this table and a dict of facts that the table cannot show:
      some of `claims`, `promise`, `note`, `noisy`, `perturbed`, `new`, `rows` and `buckets`, or none of these (`{}`).
      Claims, such as `{"claims": (KAnonymity(5),)}`, are graded before the release exists. The facts must include the
      columns that have noise, or that were changed in any other way than by labels. If the method returns only a table,
      the facts are inferred: a column is exact if it equals the original, generalized if its labels cover the values of
      the records, suppressed if all changed cells are `*`, and otherwise perturbed. The provenance then reports this
      inference.

    Attributes
    ----------
    title : str
        The name that readers see. If it is empty, this is the name of the class.
    treatment : str
        The treatment of the columns that the method changes, one of `treatment.KINDS`.
    letters : tuple of str
        The letters of the bounds that the method accepts, from `DEFAULT_BOUNDS`; the first bound is the main one. Each
        letter is the name of a parameter, unless the class overrides `from_bounds`.
    requires : tuple of str
        The bounds without which the method cannot run.
    spends_per : str
        The unit on which epsilon is spent: "record", or "attribute", so that the epsilons of a record's attributes add
        up.
    changes : str
        "numbers" or "categories", if the method changes only quasi-identifiers of this kind and needs at least one of
        them; "two numbers", if the method needs two numbers.
    needs_sensitive : str
        "any", if the method needs a sensitive attribute; "categories", if the method needs a sensitive attribute with
        categories.
    reference : bool
        Whether the release is one of the two reference releases, between which all other releases lie: all columns are
        exact, or there is no quasi-identifier.
    reads_file : bool
        Whether the class reads a release from a file instead of making one, so that lists of sanitizers leave the class
        out.
    global_recoding : bool
        Whether a value is published in the same way throughout the table.
    slow : bool
        Whether the search takes seconds for models of sensitive values.
    counts_people : bool
        Whether the promises are about people if the dataset has a key of people. All other methods make promises about
        records and refuse such a dataset.
    order_invariant : bool
        Whether the same records in another order give the same rows.
    equal_records_alike : bool
        Whether records with equal quasi-identifiers are published with equal quasi-identifiers. An adversary who knows
        this fact can exclude rows. Risks therefore assume that the adversary knows it, unless a class states that it
        may publish equal records differently.
    randomized : bool
        Whether the seed changes results, so that evaluations repeat the method.
    draws : bool
        Whether any part of the release is drawn at random, even if only the numbers of buckets are drawn. Anyone with
        the seed can undo the draws.
    coded : bool
        Whether the argument `table` of the method has the columns of `Dataset.cells`, which take less memory, instead
        of the columns of `Dataset.table`.
    by_combinations : bool
        Whether the method needs only the distinct combinations and the number of records with each combination, so that
        a `CombinationTable` suffices. The time then depends on the number of combinations and not on the length of the
        table.
    promises_k : bool
        Whether the classes of a method satisfy k-anonymity if the method has the letter k and no other model.
    in_parts : bool
        Whether the method keeps its promise if a long table is divided into parts of random records that are sanitized
        separately.
    missing_numbers : str
        How the method treats missing numbers in the columns that `_numbers_read` returns: one of
        `missing_numbers.GAP_TREATMENTS`.
    """

    HINT: ClassVar[str] = "Give one such as KMember(10)."

    title: ClassVar[str] = ""
    treatment: ClassVar[str] = "generalized"
    letters: ClassVar[tuple[str, ...]] = ()
    requires: ClassVar[tuple[str, ...]] = ()
    spends_per: ClassVar[str] = "attribute"
    changes: ClassVar[str] = ""
    needs_sensitive: ClassVar[str] = ""
    reference: ClassVar[bool] = False
    reads_file: ClassVar[bool] = False
    global_recoding: ClassVar[bool] = False
    slow: ClassVar[bool] = False
    counts_people: ClassVar[bool] = False
    order_invariant: Any = False  # this and the next two: bool, or a property
    randomized: Any = False
    by_combinations: Any = False
    equal_records_alike: ClassVar[bool] = True
    coded: ClassVar[bool] = False
    promises_k: ClassVar[bool] = True
    in_parts: ClassVar[bool] = False
    missing_numbers: ClassVar[str] = "kept"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for old in RENAMED_METHODS.keys() & vars(cls).keys():
            warn_renamed(f"{cls.__name__}.{old}", RENAMED_METHODS[old])
            setattr(cls, RENAMED_METHODS[old], vars(cls)[old])
        check_fact(cls, "treatment", KINDS)
        check_fact(cls, "letters", DEFAULT_BOUNDS, several=True)
        check_fact(cls, "requires", cls.letters, several=True)
        check_fact(cls, "spends_per", ("attribute", "record"))
        check_fact(cls, "changes", ("", "numbers", "categories", "two numbers"))
        check_fact(cls, "needs_sensitive", ("", "any", "categories"))
        check_fact(cls, "equal_records_alike", (True, False))
        check_fact(cls, "missing_numbers", GAP_TREATMENTS)

    @classmethod
    def from_bounds(cls, bounds: Mapping[str, float], sensitive: str | None = None) -> Self:
        """Return a sanitizer with these bounds, `{letter: number}`; `sensitive` is the attribute of the bounds."""
        parameters: dict[str, Any] = dict(bounds)
        if "sensitive" in _parameters(cls):
            parameters["sensitive"] = sensitive
        return cls(**parameters)

    @classmethod
    def accepts_value(cls, letter: str, value: float) -> bool:
        """Return whether the class accepts this value of the bound with this letter."""
        return True

    @classmethod
    def from_models(cls, models: Sequence[Any], sensitive: str | None = None) -> Self | None:
        """Return a sanitizer whose classes satisfy all `models`, the first of which may be k-anonymity.

        The result is None if the class has no such sanitizer.
        """
        k, *others = models
        able = cls.promises_k and "k" in cls.letters and type(k) is KAnonymity and not others
        return cls.from_bounds({"k": k.k}, sensitive) if able else None

    @classmethod
    def default_settings(cls, sensitive: str | None = None) -> list[Self]:
        """Return a list of one or two sanitizers, which lists of releases show if the class has no letters.

        Lists show a class with letters at its bounds instead. Lists do not show a class that has a parameter without a
        default, except for `sensitive`.
        """
        is_settled = not cls.letters and not cls.reference and {*_without_default(cls)} <= {"sensitive"}
        return [cls.from_bounds({}, sensitive)] if is_settled else []

    @classmethod
    def contract_examples(cls, schema: Schema) -> list[Self]:
        """Return a list of a few sanitizers for a small table of this schema, for the contract tests."""
        sensitive = next(iter(schema.sensitive), None)
        return [
            cls.from_bounds({letter: DEFAULT_BOUNDS[letter] for letter in cls.requires or cls.letters[:1]}, sensitive)
        ]

    at, keeping, accepts, settings, examples = (_old_method(old, new) for old, new in RENAMED_METHODS.items())

    def fits(self, records: int) -> bool:
        """Return whether the method can sanitize this number of records: as combinations, in parts, or all at once."""
        return self.by_combinations or self.in_parts or records <= MAX_RECORDS

    @property
    def draws(self) -> bool:
        """Whether any part of the release is drawn at random."""
        return self.randomized

    @property
    def contents(self) -> tuple[str, ...]:
        """The digests of the files that the method reads; empty for a method that reads no file."""
        return ()

    @property
    def key(self) -> str:
        """The text from which draws are derived; the text never changes.

        A class that was renamed, or whose parameter was renamed, returns its former `repr`, so that no published number
        changes.
        """
        return repr(self)

    def __sklearn_clone__(self) -> Self:
        return self  # a sanitizer has no learned state

    def get_params(self, deep: bool = False) -> dict[str, Any]:
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in _parameters(self)}

    def changed_params(self) -> str:
        """Return the parameters that differ from their defaults, as `name=value` text.

        Results use this text as the name of a setting.
        """
        changed = [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default]  # type: ignore[arg-type]
        return ", ".join(
            ", ".join(map(str, value)) if name == "models" else f"{name}={_short(value)}" for name, value in changed
        )

    @validated
    def sanitize(self, dataset: AnyMicrodata, *, rng: Randomness = None) -> Release:
        """Make a Release of `dataset`, with one row per record; the dataset stays unchanged.

        Parameters
        ----------
        dataset : Dataset
            The original, or a `CombinationTable` for a sanitizer that works `by_combinations`.
        rng : int, Generator or None, optional
            With None, the release is drawn with fresh entropy, and noise comes from OpenDP, so the release may be
            published. A release that was drawn with a seed or a Generator is a simulation, because a person with the
            seed can undo the draws. The provenance records the seed.

        Returns
        -------
        Release

        Raises
        ------
        SanitizationError
            If the table does not allow the request, if the table has a key of people and the sanitizer counts records,
            or if the release does not match the sanitizer's statements. Every claimed model is graded, and every label
            is compared with the original value (see `claims`). Other errors of a sanitizer from another package are
            wrapped in this error.

        Examples
        --------
        >>> from privnb.datasets.dataset import load
        >>> from privnb.sanitizers import Mondrian
        >>> Mondrian(k=10).sanitize(load("adult", records=100), rng=None).provenance.claims
        (KAnonymity(k=10),)
        """
        if isinstance(dataset, CombinationTable) and not self.by_combinations:
            raise UsageTypeError(f"dataset must be a Dataset; got {expect.describe_value(dataset)}. {LOAD}")
        if not self.counts_people:
            check_one_record_each(repr(self), dataset)
        try:
            return self._checked(dataset, rng)
        except (PrivnbError, MemoryError):
            raise
        except Exception as error:
            if not is_own(self):
                raise
            raise SanitizationError(
                f"{self!r} fails with {describe_failure(self, error)}. The message of the error may quote records, so "
                f"it is not shown. Try `{type(self).__name__}(...).sanitize(dataset)`, whose traceback shows the "
                "message."
            ) from error

    def _checked(self, dataset: Any, rng: Randomness) -> Release:
        """Return the release after all checks."""
        source = FreshEntropy(np.random.PCG64()) if rng is None else np.random.default_rng(rng)
        unused, table = str(source.bit_generator.state), dataset.cells if self.coded else dataset.table
        table, gaps = table[dataset.schema.published].copy(deep=False), None
        if self.missing_numbers != "kept":
            gaps = Gaps.of(self._numbers_read(dataset.schema), self, dataset.schema, table)
            table = gaps.filled(table, source)
        index = table.index
        made: Any = self._sanitize(dataset.lent(), table, source)
        bare = isinstance(made, pd.DataFrame)
        # # The treatments of a table without facts are not known yet, so its columns with gaps keep their other cells.
        table, facts = (made, {"perturbed": [*gaps.missing] if gaps else []}) if bare else self._split_facts(made)
        if gaps is not None:
            table, facts = gaps.restore(table, facts, restored=self.missing_numbers == "restored")
        drawn = rng is not None and str(source.bit_generator.state) != unused
        if bare:
            facts = self._infer_facts(dataset, table, str(facts.get("note", "")), index)
        release = self._released(dataset, table, dict(facts), rng, drawn)
        try:
            public = widen_to_public_ends(release)
            reason = explain_mismatch(dataset, public)
        except Exception:  # the table cannot be read
            reason = explain_mismatch(dataset, release)
            if not reason:
                raise
        else:  # if the labels of the sanitizer are wrong, too, the reason quotes them
            reason = reason and (explain_mismatch(dataset, release) or reason)
        if reason:
            raise SanitizationError(f"{self!r}: {reason}.")
        if public.provenance.promise is not None:
            check_domains(repr(self), dataset.schema)
        return public

    def _split_facts(self, made: Any) -> Sanitized:
        """Return the table and the facts that `_sanitize` returned. Raises UsageTypeError for any other result."""
        if not (isinstance(made, tuple) and len(made) == 2 and isinstance(made[1], Mapping)):
            raise UsageTypeError(
                f"{type(self).__name__}._sanitize must return a table, or a tuple of a table and a dict of facts; got "
                f"{expect.describe_value(made)}. Try `return table`."
            )
        table, facts = made
        return table, dict(facts)

    def _infer_facts(self, dataset: Microdata, table: pd.DataFrame, note: str, index: Any) -> Facts:
        """Return inferred facts of a table that was returned without facts, and a note about the inference.

        `index`: the index of the table that `_sanitize` received.
        """
        if len(table) != len(dataset) or not table.columns.is_unique:
            return {"note": note}  # the release will be refused
        if not table.index.equals(index):
            raise SanitizationError(
                f"{self!r}: the rows of the returned table must be the records in their order, but the order of the "
                "index differs. "
                'Return the rows in order, or return (table, {"rows": positions}).'
            )
        release = self._released(dataset, table, {}, None, False)
        perturbed = find_perturbed(dataset, release)
        kinds = {name: each.kind for name, each in release.columns.items()} | dict.fromkeys(perturbed, "perturbed")
        order = sorted(kinds, key=lambda name: kinds[name])
        columns = (f"{join_names([*names])} {kind}" for kind, names in groupby(order, lambda name: kinds[name]))
        inferred = (
            f"{type(self).__name__} does not state what it did to each column. privnb inferred it from the table: "
            f"{'; '.join(columns)}."
        )
        return {"perturbed": perturbed, "note": " ".join(filter(None, [note, inferred]))}

    def _released(self, dataset: Microdata, table: pd.DataFrame, facts: Facts, rng: Randomness, drawn: bool) -> Release:
        """Return the Release before it is checked.

        `facts`: the facts from `_sanitize`; `drawn`: whether `_sanitize` drew with a seed.
        """
        if unknown := sorted(set(facts) - set(FACTS)):
            raise UsageTypeError(
                f"{type(self).__name__}._sanitize must return facts named {', '.join(FACTS)}; got {unknown}."
            )
        expect.kind(f"the table of {type(self).__name__}._sanitize", table, pd.DataFrame)
        expect.all_of("claims", facts.get("claims", ()), PrivacyModel, instead="Try (KAnonymity(10),).")
        if notes := getattr(dataset, "notes", ()):
            facts["note"] = " ".join(filter(None, [*notes, facts.get("note")]))
        buckets, rows, new = facts.pop("buckets", None), facts.pop("rows", Rows.RECORDS), facts.pop("new", ())
        records = None if isinstance(rows, Rows) else check_positions(rows, len(dataset))
        rows = rows if records is None else Rows.SUBSET
        stated = read_stated_treatments(facts, rows, [attribute.name for attribute in new])
        provenance = Provenance(
            dataset=dataset.name,
            sanitizer=repr(self),
            parameters=self.get_params(),
            columns=infer_treatments(dataset, table, rows, records) | stated,
            rows=rows,
            equal_records_alike=self.equal_records_alike,
            global_recoding=self.global_recoding,
            # # Noise, synthetic rows and the numbers of buckets are drawn, even if the sanitizer uses its own seed.
            simulation=rng is not None
            and bool(
                drawn or self.draws or buckets is not None or select_columns(stated, "noisy") or rows is Rows.SYNTHETIC
            ),
            seed=None if isinstance(rng, Generator) else rng,
            invented=dataset.schema.invented,
            **facts,
        )
        published = (attribute for attribute in dataset.schema.attributes if attribute.role in PUBLISHED)
        schema = replace(dataset.schema, attributes=(*published, *new))
        own, nobody = slice(None) if records is None else records, rows is Rows.SYNTHETIC
        people = None if dataset.people is None or nobody else dataset.people[own]
        weights = None if dataset.weights is None or nobody else dataset.weights[own]
        hidden = [name for name in dataset.schema.published if name not in table]
        apart = None if dataset.people is None else dataset.cells[hidden].iloc[own]
        known = dataset.hierarchies, provenance, buckets, dataset.shared
        return Release(table, schema, *known, records, people, weights, apart, dataset.times)

    def _numbers_read(self, schema: Schema) -> list[str]:
        """Return the numeric columns in which the method needs a number in every cell."""
        return [name for name in schema.quasi_identifiers if schema[name].numeric]

    @abstractmethod
    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized | pd.DataFrame:
        """Return the released table and facts about it; `table` is a copy of the published columns.

        A method may return only the table: the treatment of each column is then inferred, and the Provenance reports
        the inference. Facts are some of `FACTS`: `claims`, `promise` and `note` belong to the Provenance, and `buckets`
        belongs to the Release. Exact, generalized, suppressed and bucketized columns are recognized in the table. A
        method must state the following facts if they apply. `noisy`: `{name: Law}` of columns with noise; `perturbed`:
        names of columns that were changed in any other way, such as means of groups; `new`: the `Attribute`s of columns
        that the dataset lacks; `rows`: the origin of the rows, if they are not the records in order: an integer array
        with the positions of a subset of the records, or `Rows.SYNTHETIC`.
        """


def check_domains(what: str, schema: Schema) -> None:
    """Raise SanitizationError if the domain of a published attribute was widened to the values of the records.

    `what`: the sanitizer or function that promises epsilon.
    """
    if widened := [each.name for each in schema.attributes if each.role in PUBLISHED and _is_widened(each.domain)]:
        raise SanitizationError(
            f"{what} cannot promise an epsilon, because the domain of {join_names(widened)} was widened to the values "
            "of the records. Correct the description, or choose a sanitizer without epsilon."
        )


def _is_widened(domain: Numbers | Categories | None) -> bool:
    return domain is not None and (domain.numbers if isinstance(domain, Bands) else domain).widened


def check_one_record_each(what: str, dataset: Microdata) -> None:
    """Raise SanitizationError if the dataset has a key of people; `what` is the method, which counts records."""
    if not dataset.schema.person:
        return
    # # Only classes of the package are named: results repeat the sentence, which must not depend on other imports.
    known = [kind for kind in find_classes(Sanitizer) if kind.counts_people and not kind.reference]
    able = [kind.__name__ for kind in known if kind.__module__.startswith("privnb.")]
    raise SanitizationError(
        f"{what} counts records, but '{dataset.schema.person}' is the key of people who may have several records. "
        f"Choose a sanitizer that counts people: {', '.join(able)}."
    )


def widen_to_public_ends(release: Release) -> Release:
    """Return the release without labels that end at one person's value, except in columns that a study keeps exact.

    The classes of the result are unions of the classes of `release`. Models of shares and of sizes therefore still
    hold, but models of presence in a population may not.
    """
    return release.widened([name for name in release.labelled if not release.hierarchies[name].exact])


def _parameters(sanitizer: Any) -> list[str]:
    return [field.name for field in fields(sanitizer)]


def _without_default(sanitizer: Any) -> list[str]:
    return [each.name for each in fields(sanitizer) if each.default is MISSING and each.default_factory is MISSING]


def _short(value: object) -> object:
    if isinstance(value, Sanitizer):
        return f"{type(value).__name__} {value.changed_params()}".rstrip()
    if isinstance(value, Mapping):
        return " ".join(f"{name}:{number}" for name, number in value.items())
    return value

"""What every sanitizer is: parameters that repr shows faithfully, and one verb, `sanitize`."""

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
from privnb.microdata.rows import Counted, Microdata
from privnb.microdata.schema import PUBLISHED, Categories, Numbers, Schema
from privnb.microdata.treatment import KINDS, Rows, treated
from privnb.privacy_models import DeltaDisclosure, FrequencyDiversity, KAnonymity, PrivacyModel, TCloseness
from privnb.runtime import expect
from privnb.runtime.errors import PrivnbError, UsageTypeError
from privnb.runtime.family import check_fact, members
from privnb.runtime.lazy import pd
from privnb.runtime.names import name_list
from privnb.runtime.own_methods import failure, is_own
from privnb.runtime.validation import Randomness, Validated, validated
from privnb.sanitizers.claims import find_perturbed, refusal
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.missing_numbers import TREATMENTS, Gaps
from privnb.sanitizers.statements import positions, stated, treatments

FACTS = ("claims", "promise", "noisy", "perturbed", "rows", "new", "note", "buckets")  # what a sanitizer says
LOAD = "Load one: load(name), or take `.dataset` of a table."
MOST_AT_ONCE = 1_000_000  # records that are given to a sanitizer at once, at most


# The bounds that users vary, by letter, with their privacy model; "epsilon" has none. All lists of settings, sliders
# and pages know these.
MODELS = {"k": KAnonymity, "l": FrequencyDiversity, "t": TCloseness, "delta": DeltaDisclosure}
USUAL = {"k": 10, "l": 2, "t": 0.2, "delta": 1.0, "epsilon": 1.0}

Facts = dict[str, Any]  # some of `FACTS`
Sanitized: TypeAlias = "tuple[pd.DataFrame, Facts]"  # the released table, and what it cannot show


class FreshEntropy(Generator):
    """What a sanitizer draws with where nobody gives a seed: nobody can draw it again, so that it may be published."""


def _microdata(name: str, value: object) -> None:
    if not isinstance(value, Microdata):
        raise UsageTypeError(f"{name} must be a Dataset, got {expect.found(value)}. {LOAD}")


AnyMicrodata = Annotated[Any, _microdata]  # a `Dataset`, or `Counted`


class Sanitizer(Validated, ABC):
    """A sanitization mechanism. Subclasses are frozen dataclasses of their parameters; nothing learned stays on them.

    `get_params` and `repr` follow scikit-learn, so that `sklearn.base.clone` works. A class states its facts here and
    nowhere else; contract tests, gallery, frontier and explorer read them of every class that is imported. What it does
    and who it is by are the first sentence and the source of its docstring.

    One method is to be written, `_sanitize(self, dataset, table, rng)`, which `sanitize` calls and checks:

    - `dataset` is the original: its `schema`, `hierarchies` and `codes` (integer array per column) say how values
      generalize. Of a class with the fact `by_combinations` it may be `Counted`.
    - `table`, DataFrame, is a copy of its published columns, in the order of the records, to be changed.
    - `rng` is always a numpy Generator; a `FreshEntropy` where what is drawn is for publication.
    - It returns the released table, or a tuple of that and a dict of facts that no table can show: `{}`, or some of
      `claims`, `promise`, `note`, `noisy`, `perturbed`, `new`, `rows` and `buckets`. `{"claims": (KAnonymity(5),)}` is
      graded before the release exists; columns with noise or changed in another way than to labels must be said. Of a
      table alone this is inferred: a column is exact where it equals the original, generalized where its labels cover
      the records' values, suppressed where other cells are `*`, and else perturbed. The provenance then says so.

    Attributes
    ----------
    title : str
        What a person calls it; empty: the name of the class.
    treatment : str
        What it does to the columns that it changes, one of `treatment.KINDS`.
    letters : tuple of str
        The bounds, of `USUAL`, that it can be asked for; the first is its main one. Parameters of these names, unless
        `at` says otherwise.
    requires : tuple of str
        Those of them that it cannot do without.
    spends_per : str
        What epsilon is spent on, of one that has it: "attribute", so that those of a record add up, or "record".
    changes : str
        "numbers" or "categories", if it changes these quasi-identifiers alone and needs one; "two numbers", if it needs
        two.
    needs_sensitive : str
        "any" or "categories", if it needs a sensitive attribute, or one of categories.
    reference : bool
        Whether it is one of the two that all others lie between: publish everything, publish no quasi-identifier.
    global_recoding : bool
        Whether a value is published alike wherever it stands.
    slow : bool
        Whether it searches for seconds under models of values.
    counts_people : bool
        Whether its promises are about people where the dataset has a key of people; others, whose hold for a record,
        refuse such a dataset.
    order_invariant : bool
        Whether the same records in another order give the same rows.
    equal_records_alike : bool
        Whether records with equal quasi-identifiers are published with equal ones. An adversary who knows that can
        exclude rows, so risks take it to be so unless a class says that it divides equal records.
    randomized : bool
        Whether the seed matters to results, so that evaluations repeat it.
    draws : bool
        Whether anything in the release is drawn, were it the numbers of buckets; whoever knows the seed can undo that.
    coded : bool
        Whether it is given columns of `Dataset.cells`, which cost less, and not of `Dataset.table`.
    by_combinations : bool
        Whether it asks only which combinations there are and how many records have each, so that `Counted` ones will
        do: a table of any size costs it no more than they do.
    promises_k : bool
        Whether one with the letter k, asked for no other model, makes classes that keep k-anonymity.
    in_parts : bool
        Whether a long table may be given to it part by part, each of records drawn at random, without another promise.
    missing_numbers : str
        How it treats the missing numbers of the columns that `_numbers_read` names, see `missing_numbers.TREATMENTS`.
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
    global_recoding: ClassVar[bool] = False
    slow: ClassVar[bool] = False
    counts_people: ClassVar[bool] = False
    order_invariant: Any = False  # bool, here and of the next; a property of some
    randomized: Any = False
    by_combinations: Any = False
    equal_records_alike: ClassVar[bool] = True
    coded: ClassVar[bool] = False
    promises_k: ClassVar[bool] = True
    in_parts: ClassVar[bool] = False
    missing_numbers: ClassVar[str] = "kept"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        check_fact(cls, "treatment", KINDS)
        check_fact(cls, "letters", USUAL, several=True)
        check_fact(cls, "requires", cls.letters, several=True)
        check_fact(cls, "spends_per", ("attribute", "record"))
        check_fact(cls, "changes", ("", "numbers", "categories", "two numbers"))
        check_fact(cls, "needs_sensitive", ("", "any", "categories"))
        check_fact(cls, "equal_records_alike", (True, False))
        check_fact(cls, "missing_numbers", TREATMENTS)

    @classmethod
    def at(cls, bounds: Mapping[str, float], sensitive: str | None = None) -> Self:
        """One that is asked for these bounds, `{letter: number}`; `sensitive`: the attribute that they are about."""
        parameters: dict[str, Any] = dict(bounds)
        if "sensitive" in _parameters(cls):
            parameters["sensitive"] = sensitive
        return cls(**parameters)

    @classmethod
    def accepts(cls, letter: str, value: float) -> bool:
        """Whether it can be asked for this value of one of its letters."""
        return True

    @classmethod
    def keeping(cls, models: Sequence[Any], sensitive: str | None = None) -> Self | None:
        """One whose classes keep all `models`, the first of which may be k-anonymity; None where it cannot."""
        k, *others = models
        able = cls.promises_k and "k" in cls.letters and type(k) is KAnonymity and not others
        return cls.at({"k": k.k}, sensitive) if able else None

    @classmethod
    def settings(cls, sensitive: str | None = None) -> list[Self]:
        """One or two that lists of releases show of a kind that no letter varies: a list. Others have their bounds; a
        user's own that has another parameter without a default is in no list.
        """
        is_settled = not cls.letters and not cls.reference and {*_without_default(cls)} <= {"sensitive"}
        return [cls.at({}, sensitive)] if is_settled else []

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        """A few that a small table of this schema can have, for the contract tests: a list."""
        sensitive = next(iter(schema.sensitive), None)
        return [cls.at({letter: USUAL[letter] for letter in cls.requires or cls.letters[:1]}, sensitive)]

    def fits(self, records: int) -> bool:
        """Return whether it can be given so many records: as combinations, in parts, or all at once."""
        return self.by_combinations or self.in_parts or records <= MOST_AT_ONCE

    @property
    def draws(self) -> bool:
        return self.randomized

    @property
    def key(self) -> str:
        """The text that draws are derived from, frozen: a class or parameter that gets another name overrides this with
        what its `repr` was, so that no published number moves.
        """
        return repr(self)

    def __sklearn_clone__(self) -> Self:
        return self  # nothing learned stays on it, so there is nothing to leave behind

    def get_params(self, deep: bool = False) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in _parameters(self)}

    def changed_params(self) -> str:
        """The parameters that differ from their defaults, as `name=value` text: how results name a setting."""
        changed = [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default]  # type: ignore[arg-type]
        return ", ".join(
            ", ".join(map(str, value)) if name == "models" else f"{name}={_short(value)}" for name, value in changed
        )

    @validated
    def sanitize(self, dataset: AnyMicrodata, *, rng: Randomness = None) -> Release:
        """Make a Release of `dataset`, one row a record; the dataset is not changed.

        Parameters
        ----------
        dataset : Dataset
            Or `Counted`, of a sanitizer that works `by_combinations`.
        rng : int, Generator or None, optional
            None draws with fresh entropy, noise from OpenDP, and the release may be published. What is drawn with a
            seed or a Generator is a simulation, for a seed undoes it. A seed is recorded in the provenance.

        Returns
        -------
        Release

        Raises
        ------
        SanitizationError
            When the table cannot give what was asked, has a key of people whom this one does not count, and for a
            release that is not what it says: every claimed model is graded, every label compared with its original (see
            `claims`). Any other error of a sanitizer that is not the package's is its cause.
        """
        if isinstance(dataset, Counted) and not self.by_combinations:
            raise UsageTypeError(f"dataset must be a Dataset, got {expect.found(dataset)}. {LOAD}")
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
                f"{self!r} fails with {failure(self, error)}. The message of the error may quote records and is not "
                f"shown. Try `{type(self).__name__}(...).sanitize(dataset)`: the traceback shows it."
            ) from error

    def _checked(self, dataset: Any, rng: Randomness) -> Release:
        """Return the release, checked."""
        source = FreshEntropy(np.random.PCG64()) if rng is None else np.random.default_rng(rng)
        unused, table = str(source.bit_generator.state), dataset.cells if self.coded else dataset.table
        table, gaps = table[dataset.schema.published].copy(deep=False), None
        if self.missing_numbers != "kept":
            gaps = Gaps.of(self._numbers_read(dataset.schema), self, dataset.schema, table)
            table = gaps.filled(table, source)
        index = table.index
        made: Any = self._sanitize(dataset.lent(), table, source)
        bare = isinstance(made, pd.DataFrame)
        # Nothing is known of a bare table yet: in its columns with gaps, what stands next to them is kept.
        table, facts = (made, {"perturbed": [*gaps.missing] if gaps else []}) if bare else self._split_facts(made)
        if gaps is not None:
            table, facts = gaps.left(table, facts, restored=self.missing_numbers == "restored")
        drawn = rng is not None and str(source.bit_generator.state) != unused
        if bare:
            facts = self._infer_facts(dataset, table, str(facts.get("note", "")), index)
        release = self._released(dataset, table, dict(facts), rng, drawn)
        try:
            public = with_public_ends(release)
            reason = refusal(dataset, public)
        except Exception:  # of a table that cannot be read
            reason = refusal(dataset, release)
            if not reason:
                raise
        else:  # it is said of the labels as the sanitizer wrote them, if those are wrong too
            reason = reason and (refusal(dataset, release) or reason)
        if reason:
            raise SanitizationError(f"{self!r}: {reason}.")
        if public.provenance.promise is not None:
            check_domains(repr(self), dataset.schema)
        return public

    def _split_facts(self, made: Any) -> Sanitized:
        """What `_sanitize` returned, a table and facts. Raises UsageTypeError for anything else."""
        if not (isinstance(made, tuple) and len(made) == 2 and isinstance(made[1], Mapping)):
            raise UsageTypeError(
                f"{type(self).__name__}._sanitize must return a table, or a tuple of a table and a dict of facts; got "
                f"{expect.found(made)}. Try `return table`."
            )
        table, facts = made
        return table, dict(facts)

    def _infer_facts(self, dataset: Microdata, table: pd.DataFrame, note: str, index: Any) -> Facts:
        """Infer the facts of a bare table, and say so in its note. `index`: of the table that `_sanitize` was given."""
        if len(table) != len(dataset) or not table.columns.is_unique:
            return {"note": note}  # the release is refused
        if not table.index.equals(index):
            raise SanitizationError(
                f"{self!r}: the rows of its table must be the records in their order, and its index has another order. "
                'Return them in order, or return (table, {"rows": positions}).'
            )
        release = self._released(dataset, table, {}, None, False)
        perturbed = find_perturbed(dataset, release)
        kinds = {name: each.kind for name, each in release.columns.items()} | dict.fromkeys(perturbed, "perturbed")
        order = sorted(kinds, key=lambda name: kinds[name])
        columns = (f"{name_list([*names])} {kind}" for kind, names in groupby(order, lambda name: kinds[name]))
        said = (
            f"{type(self).__name__} does not state what it did to each column. privnb inferred it from the table: "
            f"{'; '.join(columns)}."
        )
        return {"perturbed": perturbed, "note": " ".join(filter(None, [note, said]))}

    def _released(self, dataset: Microdata, table: pd.DataFrame, facts: Facts, rng: Randomness, drawn: bool) -> Release:
        """The Release, not checked yet. `facts`: as `_sanitize` gives them; `drawn`: whether it drew with a seed."""
        if unknown := sorted(set(facts) - set(FACTS)):
            raise UsageTypeError(
                f"{type(self).__name__}._sanitize gives the facts {unknown}; they are {', '.join(FACTS)}."
            )
        expect.kind(f"the table of {type(self).__name__}._sanitize", table, pd.DataFrame)
        expect.all_of("claims", facts.get("claims", ()), PrivacyModel, instead="Give some such as (KAnonymity(10),).")
        if notes := getattr(dataset, "notes", ()):
            facts["note"] = " ".join(filter(None, [*notes, facts.get("note")]))
        buckets, rows, new = facts.pop("buckets", None), facts.pop("rows", Rows.RECORDS), facts.pop("new", ())
        records = None if isinstance(rows, Rows) else positions(rows, len(dataset))
        rows = rows if records is None else Rows.SUBSET
        said = stated(facts, rows, [attribute.name for attribute in new])
        provenance = Provenance(
            dataset=dataset.name,
            sanitizer=repr(self),
            parameters=self.get_params(),
            columns=treatments(dataset, table, rows, records) | said,
            rows=rows,
            equal_records_alike=self.equal_records_alike,
            global_recoding=self.global_recoding,
            # Noise, rows of nobody and the numbers of buckets are drawn, be it with a seed of the sanitizer's own.
            simulation=rng is not None
            and bool(drawn or self.draws or buckets is not None or treated(said, "noisy") or rows is Rows.NOBODY),
            seed=None if isinstance(rng, Generator) else rng,
            **facts,
        )
        published = (attribute for attribute in dataset.schema.attributes if attribute.role in PUBLISHED)
        schema = replace(dataset.schema, attributes=(*published, *new))
        own, nobody = slice(None) if records is None else records, rows is Rows.NOBODY
        people = None if dataset.people is None or nobody else dataset.people[own]
        weights = None if dataset.weights is None or nobody else dataset.weights[own]
        hidden = [name for name in dataset.schema.published if name not in table]
        apart = None if dataset.people is None else dataset.cells[hidden].iloc[own]
        known = dataset.hierarchies, provenance, buckets, dataset.shared
        return Release(table, schema, *known, records, people, weights, apart, dataset.times)

    def _numbers_read(self, schema: Schema) -> list[str]:
        """Name the numeric columns in which the method needs a number in every cell."""
        return [name for name in schema.quasi_identifiers if schema[name].numeric]

    @abstractmethod
    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized | pd.DataFrame:
        """The released table, made of `table`, a copy of the published columns; and facts for its Provenance.

        The table alone will do: then what was done to each column is inferred, and the Provenance says so.
        Facts are some of `FACTS`: `claims`, `promise` and `note` are the Provenance's, `buckets` the Release's. Most of
        what was done to a column is seen in the table: exact, generalized, suppressed and bucketized ones need no word.
        Said are `noisy`: `{name: Law}` of columns with noise; `perturbed`: names of columns that were changed in any
        other way, such as means of groups; `new`: the `Attribute`s of columns that the dataset has not; `rows`: whose
        the rows are, where they are not the records in order: an integer array, the positions of a subset of the
        records, or `Rows.NOBODY`.
        """


def check_domains(what: str, schema: Schema) -> None:
    """Raise SanitizationError for a domain that was widened to what the records hold; `what`: what promises epsilon."""
    if widened := [each.name for each in schema.attributes if each.role in PUBLISHED and _is_widened(each.domain)]:
        raise SanitizationError(
            f"{what} promises an epsilon, and no promise of noise holds, because the domain of {name_list(widened)} "
            "was widened to what the records hold. Correct the description, or choose a sanitizer without epsilon."
        )


def _is_widened(domain: Numbers | Categories | None) -> bool:
    return domain is not None and (domain.numbers if isinstance(domain, Bands) else domain).widened


def check_one_record_each(what: str, dataset: Microdata) -> None:
    """Raise SanitizationError for a dataset with a key of people; `what`: what counts its records."""
    if not dataset.schema.person:
        return
    # Of the package's alone: the sentence stands in results, and must not change with what else is imported.
    known = [kind for kind in members(Sanitizer) if kind.counts_people and not kind.reference]
    able = [kind.__name__ for kind in known if kind.__module__.startswith("privnb.")]
    raise SanitizationError(
        f"{what} counts records, and '{dataset.schema.person}' is the key of people who may have several. Choose one "
        f"that counts people: {', '.join(able)}."
    )


def with_public_ends(release: Release) -> Release:
    """The release without labels that end at one person's own value, but for those that a study keeps exact.

    Its classes are joined ones: what models say of shares and of sizes they keep, but not what presence says of a
    population.
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

"""Checks, in the rows of a file, of the privacy models that the release claims, or of any other models."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from privnb.datasets.dataset import DatasetDescription
from privnb.datasets.undescribed_files import UndescribedTable
from privnb.microdata.counts import encode_values
from privnb.microdata.release import Release
from privnb.microdata.schema import Categories, Schema, SchemaError
from privnb.microdata.treatment import Rows, Unreadable
from privnb.privacy_models import PrivacyModel
from privnb.privacy_models.base import grade_release, why_ungraded
from privnb.privacy_models.star import Labels, Star
from privnb.publishing.gate import read_provenance
from privnb.runtime import progress
from privnb.runtime.registry import find_classes
from privnb.tables import spreadsheets
from privnb.tables.long_tables import Memory


class Recount(NamedTuple):
    """A model that was counted again in a file.

    Attributes
    ----------
    model : str
        The model, written as it is claimed or requested.
    level : float or None
        The level of the worst class; None if the model cannot be counted.
    is_kept : bool or None
        Whether the model holds; None if the model cannot be counted.
    why_not : str
        A sentence that states why the model cannot be counted; empty if the model can be counted.
    """

    model: str
    level: float | None
    is_kept: bool | None
    why_not: str = ""

    def __str__(self) -> str:
        if self.is_kept is None:
            return f"{self.model} was not counted again: {self.why_not}"
        word = "kept" if self.is_kept else "not kept"
        return f"{self.model} is {word}: the worst class reaches {self.level:.4g}."


@progress.step("counting the models again")
def recount_models(
    models: Sequence[PrivacyModel],
    table: UndescribedTable,
    schema: Schema,
    done: Mapping[str, Any],
    memory: Memory,
    *,
    buckets: pd.DataFrame | None = None,
    person: str | None = None,
    described: DatasetDescription | None = None,
    star: Star = "own",
) -> list[Recount]:
    """Return, for each model, whether the rows of a file satisfy it.

    Parameters
    ----------
    models : sequence of PrivacyModel
    table : Unknown
        The file in which the models are counted.
    schema : Schema
        The columns of the original table.
    done : mapping
        The provenance of the file as plain values; empty if the file has no provenance.
    memory : Memory
    buckets : DataFrame, optional
        The second table of a bucketized release.
    person : str, optional
        The column of the file that identifies the person of a row. If it is None, each row belongs to a different
        person.
    described : DatasetDescription, optional
        The description, which lists the texts that mean a missing value; all of these texts count as the same value.
    star : str
        The meaning of `*` and of missing quasi-identifiers, see `privacy_models.star`.
    """
    columns = {name: spreadsheets.name_in_file(done, name) for name in schema.published}
    there = [name for name, own in columns.items() if own in table.names]
    needed = {*schema.quasi_identifiers, *(model.sensitive for model in models if model.sensitive)}
    names = [name for name in there if name in needed] + ([] if person is None else [person])
    cells, times = spreadsheets.read_unescaped(done, names, lambda written: table.counted(written, memory))
    if described is not None:
        cells = described.with_one_mark(cells)
    people = None if person is None else encode_values(cells[person])[0]
    cells = cells.drop(columns=[] if person is None else [person])
    seen = Schema(schema.dataset, tuple(schema[name] for name in there))
    provenance = read_provenance(schema, done)
    release = Release(
        table=cells.reset_index(drop=True), schema=seen, hierarchies={}, provenance=provenance, buckets=buckets,
        times=times, people=people,
    )  # fmt: skip
    return [_recount(model, release, schema, star) for model in models]


def _recount(model: PrivacyModel, release: Release, schema: Schema, star: Star) -> Recount:
    if why := _unreadable(model, release, schema):
        return Recount(repr(model), None, None, why)
    if star != "own" and (release.people is not None or release.buckets is not None):
        what = "people with several records" if release.buckets is None else "buckets"
        return Recount(repr(model), None, None, f"{what} cannot be counted with --star {star}. Use --star own.")
    try:
        level = float(grade_release(model, release))
        counts, whole = _counts(model, release)
        if star != "own":
            counts = Labels.of_release(star, release).confuse(counts).counts
            level = float(model.worst(model.level(counts, whole)))
    except Unreadable as error:
        return Recount(repr(model), None, None, str(error))
    return Recount(repr(model), level, bool(model.holds(counts, whole).all()))


def _counts(model: PrivacyModel, release: Release) -> tuple[Any, Any]:
    return model.counted(release), model.parts(release)[1]


def _unreadable(model: PrivacyModel, release: Release, schema: Schema) -> str:
    """Return the reason why a model cannot be counted in a file; empty if the model can be counted."""
    if release.provenance.rows is Rows.SYNTHETIC:
        return "the rows are synthetic."
    name = model.sensitive
    if name is not None and name not in release.schema.names() and release.buckets is None:
        return f"'{name}' is not in the file, or has another role there."
    if name is not None and getattr(model, "distance", "equal") != "equal":
        domain = schema[name].domain
        if not isinstance(domain, Categories):
            return f"the file does not state the order of the values of '{name}'. Name the description."
    return why_ungraded(model, release)


def check_provenance(done: Any, file: str) -> None:
    """Raise SchemaError if a fact in a provenance has the wrong type.

    `done` holds the plain values of the provenance, and `file` is the name of the release.
    """
    for words, (names, is_valid) in FORMS.items():
        if wrong := [name for name in names if name in done and not is_valid(done[name])]:
            raise SchemaError(
                f"the provenance of {file} is not valid: `{wrong[0]}` must be {words}. Make the release again."
            )


def _texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def _findings(value: Any) -> bool:
    lists = [value.get(name, []) for name in ("reasons", "notices")] if isinstance(value, dict) else [None]
    return all(isinstance(own, list) and all(_texts_of(each, "finding", "says") for each in own) for own in lists)


def _texts_of(value: Any, *names: str) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(name), str) for name in names)


# The facts of a provenance. For each valid form: the names of the facts, and a check of that form.
FORMS: Mapping[str, tuple[Sequence[str], Callable[[Any], bool]]] = {
    "an object": (["made", spreadsheets.FACTS], lambda value: isinstance(value, dict)),
    "an object of texts": (["columns", "roles", "derived", "renamed"], _texts),
    "a list of texts": (["claims"], lambda value: isinstance(value, list) and _texts(dict(enumerate(value)))),
    "null, or an object with a number epsilon": (
        ["promise"],
        lambda value: value is None or (isinstance(value, dict) and isinstance(value.get("epsilon"), int | float)),
    ),
    "an object with lists of findings": (["gate"], _findings),
    f"one of {', '.join(Rows)}": (["rows"], lambda value: value in [*map(str, Rows)]),
}


def read_claims(done: Mapping[str, Any]) -> tuple[list[PrivacyModel], list[Recount]]:
    """Return the models that a provenance claims, and the claims that cannot be counted in a file.

    >>> read_claims({"claims": ["KAnonymity(k=10)", "DeltaPresence(...)"]})
    ([KAnonymity(k=10)], [Recount(model='DeltaPresence(...)', level=None, is_kept=None, why_not='the provenance does \
not state its parameters.')])
    """
    kinds = {kind.__name__: kind for kind in find_classes(PrivacyModel)}
    models, unread = list[PrivacyModel](), list[Recount]()
    for claim in done.get("claims", ()):
        try:
            call = ast.parse(claim, mode="eval").body
            assert isinstance(call, ast.Call)
            assert isinstance(call.func, ast.Name)
            assert not call.args
            given = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
            models.append(kinds[call.func.id](**given))
        except (SyntaxError, AssertionError, ValueError, KeyError, TypeError):
            unread.append(Recount(str(claim), None, None, "the provenance does not state its parameters."))
    if promise := done.get("promise"):
        why = "it is a promise of the mechanism, which cannot be seen in a file."
        unread.append(Recount(f"epsilon={promise['epsilon']:g}", None, None, why))
    return models, unread

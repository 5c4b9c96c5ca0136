"""How a decision ends: the chosen release, its provenance and its card come into place together, or none of them.

The file is made, read again and described where nobody else sees it. How likely a sensitive value is guessed is counted
in the file itself: of the records in another order some sanitizers make other classes than were measured. A file that
is refused leaves nothing, and the runner-up is made in the same way.
"""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privnb.datasets.dataset import Dataset
from privnb.datasets.unknown_files import Unknown
from privnb.decision import card
from privnb.decision.card import Card, CardError
from privnb.decision.policies import Policy
from privnb.decision.policy_search import Searched
from privnb.evaluation.results import SETTING, guessed
from privnb.measures.disclosure.certainty import (
    NEAR,
    certain_groups,
    harms_nobody,
    nearly_certain_groups,
    public_shares,
    tells_of_others,
)
from privnb.measures.intervals import wilson
from privnb.microdata import withholding
from privnb.microdata.counts import coded, combinations, tabulated_in_parts
from privnb.microdata.release import Release
from privnb.microdata.schema import NotForThisTable, Role, Schema, SchemaError
from privnb.microdata.treatment import TRUE
from privnb.publishing import from_files, leaks
from privnb.publishing.gate import CertainValue, Rule, Verdict, check_allow, judged
from privnb.publishing.job import Made, Outside
from privnb.publishing.leaks import LeakError
from privnb.runtime import unfinished, validation
from privnb.runtime.arrays import IntArray
from privnb.runtime.errors import PrivacyError
from privnb.runtime.numerals import percent
from privnb.runtime.sentences import say
from privnb.runtime.tolerances import nearly_equal
from privnb.runtime.validation import instead, validated
from privnb.sanitizers.claims import broken_in_rows
from privnb.sanitizers.errors import SanitizationError
from privnb.tables import spreadsheets
from privnb.tables.long_tables import Memory
from privnb.tables.writing import CODEBOOK, DESCRIPTOR, FACTS, PAGE, output, staged

SAID = "what is printed"
MEMORY = "2GB"

Render = Callable[[Card], Mapping[str, str]]  # texts of a card by the ends of their files' names: its data and its page


class FileRefused(PrivacyError):
    """A file of a release that may not leave; the message says why, a sentence."""


REFUSALS = FileRefused, SanitizationError, SchemaError, CardError, LeakError


class Ended(NamedTuple):
    """How a decision ended.

    Attributes
    ----------
    found : Searched
        Each release whose file was refused is ruled out in it.
    sentences : list of str
        For the owner: they hold no original record. Warnings about a written release are a Notice each.
    card : Card or None
        The card next to the file; None if nothing was written.
    """

    found: Searched
    sentences: list[str]
    card: Card | None = None

    @property
    def said(self) -> str:
        """The sentences as one text."""
        return "\n".join(self.sentences)


@validated
def refuse_place(out: validation.Path, *, spreadsheet_safe: bool = False, force: bool = False) -> None:
    """Raise SchemaError or OSError, before anything runs, where no release can be written to `out`."""
    with staged(output(out, spreadsheet_safe=spreadsheet_safe, force=force)):
        pass


@validated
def end(
    source: validation.Path,
    found: Annotated[Searched, instead(Searched, "`decision.policy_search.searched` gives it.")],
    dataset: Dataset,
    out: str | os.PathLike[str] | None = None,
    *,
    render: Render,
    study: str | None = None,
    sample: int = 0,
    spreadsheet_safe: bool = False,
    outside: Outside = "refuse",
    bounds: bool = False,
    force: bool = False,
    memory: str = MEMORY,
    allow: str | None = None,
    roles: Mapping[str, Role] | None = None,
    call: str = "",
) -> Ended:
    """Say what was decided, and write the release that is chosen.

    Parameters
    ----------
    source : str or path-like
        The described dataset that is released: its name, or its description file.
    found : Searched
        The result of `searched`.
    dataset : Dataset
        What was searched: `source`, or a sample of it.
    out : str or path-like, optional
        A new file that ends in .parquet or .csv, or a new folder; None: nothing is written.
    render : function
        Returns the texts of a card that are written next to its release.
    study, sample, spreadsheet_safe, outside, bounds, force, memory, call
        As in `from_files.sanitize`; without a `call` the provenance names source, policy and sanitizer.
    allow : str, optional
        The owner's reason for a release that breaks the policy: if none keeps it, the nearest one is written. Output,
        provenance and card repeat the reason.
    roles : dict of str to Role, optional
        As in `load`: those in which `found` was searched.

    Returns
    -------
    Ended
        Without a card where nothing was written.

    Raises
    ------
    LeakError
        Where what would be printed holds an original record.
    SchemaError, OSError
        As in `refuse_place`, and for a file that cannot be read or written; nothing is left of it.
    """
    _scan({SAID: _text(found.sentences)}, source)
    if out is None:
        return Ended(found, [_text(found.sentences)])
    out = Path(out)
    given: dict[str, Any] = {"study": study, "sample": sample, "spreadsheet_safe": spreadsheet_safe, "render": render}
    called = call or f"decided under the policy '{found.decision.policy.title}', of {Path(source).name}"
    given |= {"outside": outside, "bounds": bounds, "force": force, "memory": memory, "call": called}
    allow, in_roles = check_allow(allow) or None, {**(roles or {}), **found.roles}
    while found.chosen is not None:
        try:
            return _written(source, found, dataset, out, roles=in_roles, **given)
        except REFUSALS as error:
            found = replace(found, decision=found.decision.without_chosen(_reason(error)))
    for _, of in found.decision.nearest_first.iterrows() if allow else ():
        with contextlib.suppress(*REFUSALS):
            return _written(source, found, dataset, out, of=of, allow=allow, roles=in_roles, **given)
    said = [*found.sentences, f"No release is left to write: there is nothing at {out.name}."]
    _scan({SAID: _text(said)}, source)
    return Ended(found, [_text(said)])


def shown(
    source: str | os.PathLike[str], found: Searched, dataset: Dataset, *, render: Render, study: str | None = None
) -> Card:
    """Return the card that the chosen release would leave with, or, where none can leave, the nearest that can be made.

    No file is kept. Where the decision is of a sample, so is a release that takes up each record: of all it takes
    minutes. Arguments and errors are those of `end`.

    Raises
    ------
    NotForThisTable
        Where no release can be made.
    """
    with unfinished.folder() as folder:
        out = folder / "released.csv"
        sample = len(dataset) if found.records and dataset.people is None else 0
        ended = end(source, found, dataset, out, render=render, study=study, sample=sample)
        decision = ended.found.decision
        if ended.card is not None:  # of what was measured, for this file does not stay
            return card.card(out, decision, found.results, dataset)
        for _, of in decision.nearest_first.iterrows():
            with contextlib.suppress(*REFUSALS):
                given: dict[str, Any] = {"rule": rule_of(decision.policy, of.reasons), "roles": found.roles}
                given |= {"study": study, "sample": sample, "memory": MEMORY}
                from_files.sanitize(source, found.sanitizer_of(of), out, rehearsal=True, **given)
                return card.card(out, decision, found.results, dataset, of)
    raise NotForThisTable("No release but the original can be made. Allow more settings.")


def _written(
    source: str | os.PathLike[str],
    found: Searched,
    dataset: Dataset,
    out: Path,
    *,
    render: Render,
    of: Any = None,
    allow: str | None = None,
    memory: str = MEMORY,
    **given: Any,
) -> Ended:
    """Put the release in its place, by default the chosen one. Raise whatever refuses it; then nothing is left."""
    ended, rule = list[Ended](), rule_of(found.decision.policy, () if of is None else of.reasons)

    def beside(made: Path, written: Made, release: Release) -> Mapping[str, str]:
        policy, done = found.decision.policy, written.provenance
        # Rows are people, and everybody's group can be looked up.
        exact = written.buckets is None and release.schema.person is None and release.groups is not None
        file, room = Unknown.of(made), Memory.of(memory)
        known = _known(file, dataset.schema, done) if exact else []
        names = [*release.schema.quasi_identifiers, *release.schema.sensitive, *known]
        names = [name for name in names if spreadsheets.name_in_file(done, name) in file.names]
        # Formulas as they were before they were escaped.
        cells, times = spreadsheets.read(done, names, lambda there: file.counted(there, room))
        near = policy.near_certainty
        secrets = [*secrets_in(cells, release.schema, times, known, near)] if exact else []
        if why := next(_broken(cells.drop(columns=known), times, release, secrets, policy, allow), ""):
            raise FileRefused(why)
        buckets = written.buckets
        verdict = judged(file, dataset.schema, done, room, buckets=buckets, rule=rule, allow=allow).check()
        results = recounted(found, secrets, verdict) if of is None else found.results
        signed = card.card(made, found.decision, results, dataset, of)
        answer = signed.content["answer"]
        if not answer["keeps"] and not allow:
            raise FileRefused(" ".join(answer["sentences"][:2]))
        texts, page = render(signed), out.with_name(out.name + PAGE)
        there = {each: made.with_name(made.name + each) for each in (FACTS, CODEBOOK, DESCRIPTOR)}
        own = {ending: path.read_text(encoding="utf-8") for ending, path in there.items()}
        named = {out.name + ending: text for ending, text in {**own, **texts}.items()}
        # Without the folder, which is the owner's and may be called like somebody.
        shown = _sentences(found, replace(written, path=Path(out.name)), answer, page.name)
        _scan({SAID: "\n".join(shown), **named}, source)
        ended.append(Ended(found, _sentences(found, written, answer, page.resolve().as_uri()), signed))
        return texts

    sanitizer = found.sanitizer_of(found.decision.chosen if of is None else of)
    from_files.sanitize(source, sanitizer, out, memory=memory, beside=beside, rule=rule, allow=allow, **given)
    return ended[0]


class Secret(NamedTuple):
    """A sensitive attribute in a file: how sure the surest guess is, how many people are guessed right, how many there
    are, the sum of the squared sizes of classes, and for how many people a value is nearly certain.
    """

    name: str
    surest: float
    right: int
    people: int
    squares: int
    near: int = 0


def secrets_in(
    cells: pd.DataFrame,
    schema: Schema,
    times: NDArray[np.integer] | None,
    known: Sequence[str] = (),
    near: float = NEAR,
) -> Iterator[Secret]:
    """Yield each sensitive attribute of a file of more than one value.

    Parameters
    ----------
    cells : DataFrame
        The rows of the file, or its distinct combinations.
    schema : Schema
    times : integer array (rows,), optional
        How often each row is there; None: once.
    known : sequence of str
        The neutral columns that an adversary may know, beside the quasi-identifiers.
    near : float
        The least share that is nearly certain.
    """
    classes = combinations(cells[[*schema.quasi_identifiers, *known]]).index
    for name in filter(cells.columns.__contains__, schema.sensitive):
        codes, values = coded(cells[name])
        if len(values) < 2:
            continue
        found, attribute = Secret(name, 0.0, 0, 0, 0), schema[name]
        public, harmless = public_shares(attribute, codes, values, times=times), harms_nobody(attribute, values)
        for part in tabulated_in_parts(classes, codes, (classes.max() + 1, len(values)), times):
            most, all_of_it = part.max(axis=1), part.sum(axis=1)
            likely = certain_groups(part, public, harmless)
            likely |= nearly_certain_groups(part, public, attribute, values, near)
            numbers = most.sum(), all_of_it.sum(), np.square(all_of_it, dtype=np.int64).sum(), all_of_it[likely].sum()
            sums = (before + int(more) for before, more in zip(found[2:], numbers, strict=True))
            found = Secret(name, max(found.surest, (most / all_of_it).max()), *sums)
        yield found


def surer(found: Sequence[Secret], policy: Policy) -> Iterator[str]:
    """Yield why a sensitive value is surer in a file than its policy allows, though it was not in the release that was
    measured: sentences.
    """
    again = "The file is made again, of the records in another order than was measured."
    for each in found:
        for cap in policy.caps:
            above = each.surest > cap.most and not nearly_equal(each.surest, cap.most)
            if cap.measure == "attribute_risk" and cap.variant and above:
                yield (
                    f"In this file somebody's {each.name} can be guessed with a probability of {percent(each.surest)}, "
                    f"above the cap of {percent(cap.most)}. {again}"
                )
            share = each.near / each.people
            if cap.measure == "nearly_certain" and share > cap.most and not nearly_equal(share, cap.most):
                yield (
                    f"In this file the {each.name} of {_nearly_certain(each)} is nearly certain, above the cap of "
                    f"{percent(cap.most)}. {again}"
                )


def _nearly_certain(found: Secret) -> str:
    if withholding.tells(found.near, found.people) or tells_of_others(found.near, found.right):
        return f"people, whose number {withholding.CONCERNS_FEW},"
    return f"{percent(found.near / found.people)} of people"


def recounted(decided: Searched, found: Sequence[Secret], verdict: Verdict) -> pd.DataFrame:
    """Return the results of a decision with the number of people whose value is certain in the file itself, as the gate
    counted it, and nearly certain. What was withheld stays so.
    """
    certain = {each.sensitive: each.people for each in verdict.findings if isinstance(each, CertainValue)}
    results = decided.results.copy()
    chosen = (results[SETTING] == [*decided.decision.chosen[SETTING]]).all(axis=1)
    for each in found:
        for measure, people in (("made_certain", certain.get(each.name, 0)), ("nearly_certain", each.near)):
            share, low, high = guessed(people, each.people).shown(withholding.LIMIT)
            if share > 0:  # people of one class are certain together: as many count as one as a class has (Kish)
                alike = each.squares / each.people
                low, high = wilson(people / alike, each.people / alike)
            if tells_of_others(people, each.right):
                share, low, high = np.nan, 1 / each.people, 1.0
            here = chosen & (results.measure == measure) & (results.target == each.name)
            here &= results.value.notna() & ~np.isclose(results.value, share)
            results.loc[here, ["value", "low", "high"]] = share, low, high
    return results


def _sentences(found: Searched, written: Made, answer: Mapping[str, Any], page: str) -> list[str]:
    """Return a decision and its file in sentences, with a blank line between their parts."""
    return [_text(found.sentences), "", *written.said, "", *answer["sentences"], f"Its card: {page}"]


def _known(file: Unknown, schema: Schema, done: dict[str, Any]) -> list[str]:
    """Return the neutral columns of a file that an adversary may know and whose true values are in it."""
    return [
        name
        for name in schema.names(Role.NEUTRAL)
        if schema[name].knowable
        and spreadsheets.name_in_file(done, name) in file.names
        and str(done["columns"].get(name, "")).startswith(TRUE)
    ]


def rule_of(policy: Policy, broken: Sequence[str] = ()) -> Rule:
    """Return what a policy asks of the gate. `broken`: what the release breaks of it as it was measured, in words."""
    certain = [cap.at_most for cap in policy.caps if cap.risk == "certainty"]
    return Rule(policy.title, policy.floor, min(certain, default=None), tuple(broken))


def _broken(
    cells: pd.DataFrame,
    times: IntArray | None,
    release: Release,
    secrets: Sequence[Secret],
    policy: Policy,
    allowed: str | None,
) -> Iterator[str]:
    """Yield why the rows of a file may not leave, counted again in it: sentences.

    `allowed`: the owner's reason to override the policy.
    """
    yield from (f"{reason[0].upper()}{reason[1:]}." for reason in broken_in_rows(release, cells, times))
    if not allowed:
        yield from surer(secrets, policy)


def _scan(texts: Mapping[str, str], source: str | os.PathLike[str]) -> None:
    """Raise LeakError if a text, by the name of its file, holds an original record of `source`."""
    with unfinished.folder() as folder:
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        leaks.check(folder, [source], kept="Nothing was written.")


def _reason(error: Exception) -> str:
    """Return why a file was refused, a sentence."""
    if isinstance(error, LeakError):
        return f"What would stand beside it holds what is of single people: {error.leaks[0]}."
    said = str(error)
    return f"{said[0].upper()}{said[1:]}"


def _text(sentences: Iterable[Any]) -> str:
    return say(*sentences).data.replace("**", "")

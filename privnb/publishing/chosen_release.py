"""Publish the release that a decision has chosen: either the file, its provenance and its card, or nothing.

The file is made, read again and described in a hidden folder. The probability of guessing a sensitive value is computed
from the rows of the file, because some sanitizers form other classes if the records are in another order. If the file
must not be published, it is removed, and the release that the decision ranks next is made in the same way.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privnb.datasets.dataset import Dataset
from privnb.datasets.undescribed_files import UndescribedTable
from privnb.decision import card
from privnb.decision.card import Card, CardError
from privnb.decision.explanation import explain_decision
from privnb.decision.policies import Policy
from privnb.decision.policy_search import PolicySearch
from privnb.decision.reasons import Reason
from privnb.decision.signature import Signature
from privnb.evaluation.results import SETTING_COLUMNS, estimate_share
from privnb.measures.disclosure.certainty import (
    NEAR,
    are_harmless,
    certain_groups,
    nearly_certain_groups,
    public_shares,
    reveals_small_rest,
)
from privnb.measures.intervals import wilson
from privnb.microdata import withholding
from privnb.microdata.counts import count_combinations, encode_values, tabulate_in_parts
from privnb.microdata.release import Release
from privnb.microdata.schema import NotForThisTable, Role, Schema, SchemaError
from privnb.microdata.treatment import TRUE
from privnb.publishing import from_files, leaks
from privnb.publishing.gate import CertainValue, PublicationRule, Verdict, check_allow, judge_file
from privnb.publishing.leaks import LeakError
from privnb.publishing.release_job import Outside, PublishedTable
from privnb.runtime import temporary, validation
from privnb.runtime.arrays import IntArray
from privnb.runtime.errors import PrivacyError
from privnb.runtime.language import ENGLISH, in_language
from privnb.runtime.numerals import write_percent
from privnb.runtime.sentences import Sentences, strip_markup
from privnb.runtime.tolerances import nearly_equal
from privnb.runtime.validation import instead, validated
from privnb.runtime.wording import Worded, line, write
from privnb.sanitizers.claims import explain_broken_claims
from privnb.sanitizers.errors import SanitizationError
from privnb.tables import spreadsheets
from privnb.tables.long_tables import Memory
from privnb.tables.writing import CODEBOOK, DESCRIPTOR, FACTS, PAGE, check_output, stage

PRINTED = "what is printed"
MEMORY = "2GB"

Render = Callable[[Card], Mapping[str, str]]  # the data and the page of a card, keyed by the endings of the file names


class FileRefused(PrivacyError):
    """The file of a release must not be published; the message is a sentence with the reason."""


REFUSALS = FileRefused, SanitizationError, SchemaError, CardError, LeakError


class PublicationResult(NamedTuple):
    """The result of publishing the release that a decision has chosen.

    Attributes
    ----------
    found : PolicySearch
        The search for a release, in which each release whose file must not be published is ruled out.
    sentences : list of str
        The sentences for the owner, which contain no original records. Warnings about a written release are Notices.
    card : Card or None
        The card that was written next to the file; None if nothing was written.
    """

    found: PolicySearch
    sentences: list[str]
    card: Card | None = None

    @property
    def text(self) -> str:
        """The sentences as one text."""
        return "\n".join(self.sentences)


@validated
def check_place(out: validation.Path, *, spreadsheet_safe: bool = False, force: bool = False) -> None:
    """Raise SchemaError or OSError if no release can be written to `out`.

    The check is made before any computation.
    """
    with stage(check_output(out, spreadsheet_safe=spreadsheet_safe, force=force)):
        pass


@validated
def publish_chosen(
    source: validation.Path,
    found: Annotated[PolicySearch, instead(PolicySearch, "`decision.policy_search.search_policy` gives it.")],
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
    signature: Signature | None = None,
    language: str = ENGLISH,
) -> PublicationResult:
    """Write the release that a decision has chosen, and return sentences about the decision and the release.

    Parameters
    ----------
    source : str or path-like
        The described dataset that is released: the name of the dataset, or the path of its description.
    found : PolicySearch
        The result of `search_policy`.
    dataset : Dataset
        The records that the search used: all records of `source`, or a sample.
    out : str or path-like, optional
        The path of a new file that ends in .parquet or .csv, or of a new folder. If it is None, nothing is written.
    render : function
        A function that returns the texts of a card, which are written next to the release.
    study, sample, spreadsheet_safe, outside, bounds, force, memory, call
        See `from_files.sanitize`. If `call` is empty, the provenance contains the source, the policy and the sanitizer
        instead.
    allow : str, optional
        The owner's reason for a release that breaks the policy. If it is given and no release complies with the policy,
        the release nearest to the policy is written. The output, the provenance and the card repeat the reason.
    roles : dict of str to Role, optional
        The roles that the search used; see `load`.
    signature : Signature, optional
        The statements of the person who signs the card.
    language : str
        The language of the sentences and of the page of the card, such as "de"; see `privnb.runtime.language`. The
        files of data, such as the card's JSON, are the same in every language.

    Returns
    -------
    PublicationResult
        The result; its card is None if nothing was written.

    Raises
    ------
    LeakError
        If the printed text would contain an original record.
    SchemaError, OSError
        For the reasons that `check_place` states, and for a file that cannot be read or written. Nothing is left at
        `out`.
    """
    with in_language(language):
        said = write_decision(found, dataset)
    _scan({PRINTED: said}, source)
    if out is None:
        return PublicationResult(found, [said])
    out = Path(out)
    given: dict[str, Any] = {"study": study, "sample": sample, "spreadsheet_safe": spreadsheet_safe, "render": render}
    given |= {"signature": signature, "language": language}
    called = call or f"decided under the policy '{found.decision.policy.title}', of {Path(source).name}"
    given |= {"outside": outside, "bounds": bounds, "force": force, "memory": memory, "call": called}
    allow, in_roles = check_allow(allow) or None, {**(roles or {}), **found.roles}
    while found.chosen is not None:
        try:
            return _written(source, found, dataset, out, said, roles=in_roles, **given)
        except REFUSALS as error:
            found = replace(found, decision=found.decision.without_chosen(_reason(error)))
            with in_language(language):
                said = write_decision(found, dataset)
    for _, of in found.decision.nearest_first.iterrows() if allow else ():
        with contextlib.suppress(*REFUSALS):
            return _written(source, found, dataset, out, said, of=of, allow=allow, roles=in_roles, **given)
    with in_language(language):
        unwritten = strip_markup(line("decision/decision", "unwritten", out.name))
        said = f"{said}\n\n{unwritten}"
    _scan({PRINTED: said}, source)
    return PublicationResult(found, [said])


def preview_card(
    source: str | os.PathLike[str],
    found: PolicySearch,
    dataset: Dataset,
    *,
    render: Render,
    study: str | None = None,
    roles: Mapping[str, Role] | None = None,
    signature: Signature | None = None,
) -> Card:
    """Return the card of the chosen release, or of the release nearest to the policy if none may be published.

    The function keeps no file. If the search used a sample, a sanitizer that works record by record also runs on a
    sample, because it would need minutes for the whole table. The arguments and the errors are those of
    `publish_chosen`.

    Raises
    ------
    NotForThisTable
        If no release can be made.
    """
    with temporary.temporary_folder() as folder:
        out = folder / "released.csv"
        sample = len(dataset) if found.records and dataset.people is None else 0
        ended = publish_chosen(source, found, dataset, out, render=render, study=study, sample=sample, roles=roles)
        decision = ended.found.decision
        if ended.card is not None:  # the card describes the measured release, because this file is removed
            return card.make_card(out, decision, found.results, dataset, signature=signature)
        for _, of in decision.nearest_first.iterrows():
            with contextlib.suppress(*REFUSALS):
                given: dict[str, Any] = {
                    "rule": gate_rule(decision.policy, of.reasons),
                    "roles": {**(roles or {}), **found.roles},
                }
                given |= {"study": study, "sample": sample, "memory": MEMORY}
                from_files.sanitize(source, found.sanitizer_of(of), out, rehearsal=True, **given)
                return card.make_card(out, decision, found.results, dataset, of, signature=signature)
    raise NotForThisTable("No release other than the original can be made. Allow more settings.")


def _written(
    source: str | os.PathLike[str],
    found: PolicySearch,
    dataset: Dataset,
    out: Path,
    decided: str,
    *,
    render: Render,
    of: Any = None,
    allow: str | None = None,
    memory: str = MEMORY,
    signature: Signature | None = None,
    language: str = ENGLISH,
    **given: Any,
) -> PublicationResult:
    """Write the release `of`, which is the chosen release by default.

    If the release must not be published, raise an error and keep no file. `decided` is the text of the decision.
    """
    ended, rule = list[PublicationResult](), gate_rule(found.decision.policy, () if of is None else of.reasons)

    def companions(made: Path, written: PublishedTable, release: Release) -> Mapping[str, str]:
        policy, done = found.decision.policy, written.provenance
        # Each row is a person, and the group of each person is known.
        exact = written.buckets is None and release.schema.person is None and release.groups is not None
        file, room = UndescribedTable.of(made), Memory.of(memory)
        known = _known(file, dataset.schema, done) if exact else []
        names = [*release.schema.quasi_identifiers, *release.schema.sensitive, *known]
        names = [name for name in names if spreadsheets.name_in_file(done, name) in file.names]
        # Read formulas without their escapes.
        cells, times = spreadsheets.read_unescaped(done, names, lambda there: file.counted(there, room))
        near = policy.near_certainty
        secrets = [*count_sensitive(cells, release.schema, times, known, near)] if exact else []
        if why := next(_broken(cells.drop(columns=known), times, release, secrets, policy, allow), ""):
            raise FileRefused(why)
        buckets = written.buckets
        verdict = judge_file(file, dataset.schema, done, room, buckets=buckets, rule=rule, allow=allow).check()
        results = recount_results(found, secrets, verdict) if of is None else found.results
        signed = card.make_card(made, found.decision, results, dataset, of, signature=signature)
        answer = signed.content["answer"]
        if not answer["keeps"] and not allow:
            raise FileRefused(strip_markup(line("decision/card", "headline", signed.content)))
        page = out.with_name(out.name + PAGE)
        with in_language(language):
            texts = render(signed)
            # Leave the folder out: its name may be that of a person.
            shown = _sentences(decided, replace(written, path=Path(out.name)), signed, page.name)
            said = _sentences(decided, written, signed, page.resolve().as_uri())
        there = {each: made.with_name(made.name + each) for each in (FACTS, CODEBOOK, DESCRIPTOR)}
        own = {ending: path.read_text(encoding="utf-8") for ending, path in there.items()}
        named = {out.name + ending: text for ending, text in {**own, **texts}.items()}
        _scan({PRINTED: "\n".join(shown), **named}, source)
        ended.append(PublicationResult(found, said, signed))
        return texts

    sanitizer = found.sanitizer_of(found.decision.chosen if of is None else of)
    from_files.sanitize(source, sanitizer, out, memory=memory, companions=companions, rule=rule, allow=allow, **given)
    return ended[0]


class SensitiveCounts(NamedTuple):
    """The counts of a sensitive attribute in a file.

    `surest` is the largest probability, over the classes, that a guess of the value is correct. `right` is the number
    of people whose value is guessed correctly, and `people` is the number of all people. `squares` is the sum of the
    squared class sizes. `near` is the number of people whose value is certain or nearly certain.
    """

    name: str
    surest: float
    right: int
    people: int
    squares: int
    near: int = 0


def count_sensitive(
    cells: pd.DataFrame,
    schema: Schema,
    times: NDArray[np.integer] | None,
    known: Sequence[str] = (),
    near: float = NEAR,
) -> Iterator[SensitiveCounts]:
    """Yield the counts of each sensitive attribute that has at least two different values in a file.

    Parameters
    ----------
    cells : DataFrame
        The rows of the file, or the distinct combinations of values in the rows.
    schema : Schema
    times : integer array (rows,), optional
        The number of records that each row represents. If it is None, each row is 1 record.
    known : sequence of str
        The neutral columns that an adversary may know in addition to the quasi-identifiers.
    near : float
        The smallest probability that counts as nearly certain.
    """
    classes = count_combinations(cells[[*schema.quasi_identifiers, *known]]).index
    for name in filter(cells.columns.__contains__, schema.sensitive):
        codes, values = encode_values(cells[name])
        if len(values) < 2:
            continue
        found, attribute = SensitiveCounts(name, 0.0, 0, 0, 0), schema[name]
        public, harmless = public_shares(attribute, codes, values, times=times), are_harmless(attribute, values)
        for part in tabulate_in_parts(classes, codes, (classes.max() + 1, len(values)), times):
            most, all_of_it = part.max(axis=1), part.sum(axis=1)
            likely = certain_groups(part, public, harmless)
            likely |= nearly_certain_groups(part, public, attribute, values, near)
            numbers = most.sum(), all_of_it.sum(), np.square(all_of_it, dtype=np.int64).sum(), all_of_it[likely].sum()
            sums = (before + int(more) for before, more in zip(found[2:], numbers, strict=True))
            found = SensitiveCounts(name, max(found.surest, (most / all_of_it).max()), *sums)
        yield found


def explain_exceeded(found: Sequence[SensitiveCounts], policy: Policy) -> Iterator[str]:
    """Yield a sentence for each cap on certainty that a file exceeds although the measured release stayed below it."""
    again = "The file is made again from the records in another order."
    for each in found:
        for cap in policy.caps:
            above = each.surest > cap.most and not nearly_equal(each.surest, cap.most)
            if cap.measure == "attribute_risk" and cap.variant and above:
                yield (
                    f"In this file, the {each.name} of a person can be guessed with a probability of "
                    f"{write_percent(each.surest)}, which exceeds the cap of {write_percent(cap.most)}. {again}"
                )
            share = each.near / each.people
            if cap.measure == "nearly_certain" and share > cap.most and not nearly_equal(share, cap.most):
                yield (
                    f"In this file, the {each.name} of {_nearly_certain(each)} is nearly certain, which exceeds the "
                    f"cap of {write_percent(cap.most)}. {again}"
                )


def _nearly_certain(found: SensitiveCounts) -> str:
    if withholding.reveals_few(found.near, found.people) or reveals_small_rest(found.near, found.right):
        return f"people, whose number {withholding.CONCERNS_FEW},"
    return f"{write_percent(found.near / found.people)} of people"


def recount_results(decided: PolicySearch, found: Sequence[SensitiveCounts], verdict: Verdict) -> pd.DataFrame:
    """Return the results of a decision with the shares of certain and nearly certain values counted in the file.

    The counts of people whose value is certain come from the gate's `verdict`. Withheld numbers stay withheld.
    """
    certain = {each.sensitive: each.people for each in verdict.findings if isinstance(each, CertainValue)}
    results = decided.results.copy()
    chosen = (results[SETTING_COLUMNS] == [*decided.decision.chosen[SETTING_COLUMNS]]).all(axis=1)
    for each in found:
        for measure, people in (("made_certain", certain.get(each.name, 0)), ("nearly_certain", each.near)):
            share, low, high = estimate_share(people, each.people).shown(withholding.LIMIT)
            if share > 0:  # all values of a class are certain together, so a class counts as one observation (Kish)
                alike = each.squares / each.people
                low, high = wilson(people / alike, each.people / alike)
            if reveals_small_rest(people, each.right):
                share, low, high = np.nan, 1 / each.people, 1.0
            here = chosen & (results.measure == measure) & (results.target == each.name)
            here &= results.value.notna() & ~np.isclose(results.value, share)
            results.loc[here, ["value", "low", "high"]] = share, low, high
    return results


def write_decision(found: PolicySearch, dataset: Dataset) -> str:
    """Return the text of a decision in the present language, with blank lines between the paragraphs."""
    explained = explain_decision(found, dataset)
    counted = write("decision/decision", "counts", explained)
    return Sentences(*Worded("decision/decision", explained).parts, *counted).data


def _sentences(decided: str, written: PublishedTable, signed: Card, page: str) -> list[str]:
    """Return sentences about a decision and its file in the present language, with blank lines between the parts."""
    answer = Worded("decision/card", signed.content).data
    reviewed = Sentences(*write("decision/evidence", "overview", signed.content)).data
    of_file = [strip_markup(line("decision/card", "in_english")), *written.sentences]
    place = strip_markup(line("decision/card", "place", page))
    return [decided, "", *filter(None, of_file), "", answer, "", reviewed, "", place]


def _known(file: UndescribedTable, schema: Schema, done: dict[str, Any]) -> list[str]:
    """Return the neutral columns of a file that have true values and that an adversary may know."""
    return [
        name
        for name in schema.names(Role.NEUTRAL)
        if schema[name].knowable
        and spreadsheets.name_in_file(done, name) in file.names
        and str(done["columns"].get(name, "")).startswith(TRUE)
    ]


def gate_rule(policy: Policy, broken: Sequence[Reason] = ()) -> PublicationRule:
    """Return the rule of a policy for the gate; `broken` lists the requirements that the measured release breaks."""
    certain = [cap.at_most for cap in policy.caps if cap.risk == "certainty"]
    return PublicationRule(policy.title, policy.min_class_size, min(certain, default=None), tuple(map(str, broken)))


def _broken(
    cells: pd.DataFrame,
    times: IntArray | None,
    release: Release,
    secrets: Sequence[SensitiveCounts],
    policy: Policy,
    allowed: str | None,
) -> Iterator[str]:
    """Yield the reasons why a file must not be published, as sentences.

    The reasons follow from the rows of the file, which have been counted again.

    `allowed` is the owner's reason to override the policy; the caps of the policy are then not checked.
    """
    yield from (f"{reason[0].upper()}{reason[1:]}." for reason in explain_broken_claims(release, cells, times))
    if not allowed:
        yield from explain_exceeded(secrets, policy)


def _scan(texts: Mapping[str, str], source: str | os.PathLike[str]) -> None:
    """Raise LeakError if a text contains an original record of `source`; `texts` maps file names to texts."""
    with temporary.temporary_folder() as folder:
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        leaks.check_outputs(folder, [source], kept="Nothing was written.")


def _reason(error: Exception) -> str:
    """Return a sentence about the reason why a file must not be published."""
    if isinstance(error, LeakError):
        return f"A file next to it would hold data of single people: {error.leaks[0]}."
    said = str(error)
    return f"{said[0].upper()}{said[1:]}"

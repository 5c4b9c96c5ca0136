"""Adversaries who know more than the quasi-identifiers of a person: values, the algorithm, or another release.

Each number is given for the people in the release, for other people as the control, and without the release. The
control shows how much of the success is due to what the release states about the population: only a higher success for
the people in the release is due to their records.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd

from privnb.attacks import Composition, Corruption, Homogeneity, Minimality
from privnb.attacks.inference.value_attack import ValueAttack
from privnb.datasets.dataset import Dataset, Portion
from privnb.evaluation.attributes import choose_target
from privnb.evaluation.experiments.bucket_attack import IN_RELEASE, OTHERS
from privnb.evaluation.parameters import parse_number, parse_numbers
from privnb.evaluation.results import SETTING_COLUMNS, Results, Row, average_seeds, make_row_builder, tidy
from privnb.measures.base import register_measure
from privnb.measures.intervals import wilson
from privnb.microdata.schema import NotForThisTable
from privnb.microdata.treatment import Unreadable
from privnb.microdata.withholding import LIMIT, MinCount, ReportedCount
from privnb.privacy_models import FrequencyDiversity, KAnonymity, TCloseness
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import AttributeName, Seeds, optional, validated
from privnb.sanitizers import Anatomy, Identity, Mondrian, SanitizationError, Suppress, TopDownSpecialization
from privnb.sanitizers.base import Sanitizer

EXCLUDED = 2  # false values that the adversary with background knowledge can exclude
SIMPLE, IN_BOTH = Homogeneity.title, "people in both releases"
BACKGROUND = f"background knowledge, {EXCLUDED} values excluded"

register_measure(
    "value_guess",
    kind="privacy",
    title="Sensitive values guessed",
    sentence="This is the share of people whose sensitive value the adversary guesses correctly.",
    source="Machanavajjhala et al., ICDE 2006; Wong et al., VLDB 2007; Ganta et al., KDD 2008; the control is ours",
    unit="share of people",
    format="{:%}",
    baseline="the most common value of the release for everybody",
)
register_measure(
    "value_certain",
    kind="privacy",
    title="Sensitive values that are certain",
    sentence="This is the share of people for whom the adversary excludes all values except the true one.",
    source="Machanavajjhala et al., ICDE 2006; Wong et al., VLDB 2007; Ganta et al., KDD 2008",
    unit="share of people",
    format="{:%}",
    baseline="without the release, which excludes no value",
)
register_measure(
    "value_likelier",
    kind="privacy",
    title="Sensitive values that became twice as likely",
    sentence="This is the share of people whose sensitive value is at least twice as probable for the adversary as "
    "without the release (skewness).",
    source="Li, Li, Venkatasubramanian, ICDE 2007, section 3; the factor of two is ours",
    unit="share of people",
    format="{:%}",
    baseline="without the release, which changes no probability",
)
register_measure(
    "value_group_certain",
    kind="privacy",
    title="Groups of similar values that are certain",
    sentence="This is the share of people for whom the adversary excludes all values outside one group of similar "
    "values (similarity).",
    source="Li, Li, Venkatasubramanian, ICDE 2007, section 3",
    unit="share of people",
    format="{:%}",
    baseline="without the release, which excludes no value",
)
Sanitizers = Annotated[Sequence[Sanitizer], lambda name, value: expect.all_of(name, value, Sanitizer)]


def _check_one_record(dataset: Dataset) -> None:
    """Raise NotForThisTable if people have several records: the attacks guess about records, one for each person."""
    if dataset.schema.person:
        raise NotForThisTable(
            f"these attacks guess about single records, and people of '{dataset.name}' may have several records. "
            "Choose another table."
        )


def _check_groups(name: str, value: Any) -> None:
    if not isinstance(value, Mapping) or not all(isinstance(each, str) for pair in value.items() for each in pair):
        raise UsageError(
            f"`{name}` must be a dict of a group for each sensitive value; got {expect.describe_value(value)}. Try "
            '{"gastritis": "stomach"}.'
        )


@validated
def check_attack_inputs(*, corrupted: Portion, shared: Portion, seeds: Seeds) -> None:
    """Raise UsageError for an input that `attack_one_release` or `attack_two_releases` would refuse."""


@validated
def build_attacked_family(
    dataset: Dataset,
    target: AttributeName,
    *,
    k: str | float = "2, 5, 50",
    l: str | float = 2,  # noqa: E741 - the field's letters
    t: str | float = 0.2,
) -> list[Sanitizer]:
    """Return sanitizers whose releases are attacked: the two reference sanitizers, and methods with classes or buckets.

    Parameters
    ----------
    dataset : Dataset
    target : str
        A sensitive attribute.
    k, l, t : str, int or float
        One number, or several numbers separated by commas: the bounds of k-anonymity; of l-diversity, which limits the
        share of each value in a class to 1/l; and of t-closeness.

    Raises
    ------
    NotForThisTable
        If the table has no quasi-identifier, or several records per person.
    """
    choose_target(dataset)  # nobody is known without a quasi-identifier
    _check_one_record(dataset)
    ks, ls, ts = parse_numbers("K", k, int), parse_numbers("L", l, parse_number), parse_numbers("T", t, parse_number)
    diverse = [FrequencyDiversity(each, target) for each in ls]
    return [
        Identity(),
        *(Mondrian(KAnonymity(each)) for each in ks),
        *(Mondrian(model) for model in diverse),
        *(Mondrian(TCloseness(each, target)) for each in ts),
        *(TopDownSpecialization(model, workload=target) for model in diverse),
        *(Anatomy(int(each), target) for each in ls),
        Suppress(),
    ]


@validated
def attack_one_release(
    dataset: Dataset,
    sanitizers: Sanitizers,
    target: AttributeName,
    *,
    corrupted: Portion = 0.2,
    similar: Annotated[Mapping[str, str] | None, optional(_check_groups)] = None,
    seeds: Seeds = 1,
    min_count: MinCount = LIMIT,
) -> pd.DataFrame:
    """Attack releases of half of the people by adversaries who know more and more; the other half is the control.

    The adversaries know the quasi-identifiers of a person and, one after the other, nothing else (homogeneity), that
    the person does not have the two values that would mislead most (background knowledge, the worst case), the records
    of some other people (corruption), and the algorithm together with the quasi-identifiers of everybody (minimality).

    Parameters
    ----------
    dataset : Dataset
    sanitizers : list of Sanitizer
        Sanitizers; a release without equivalence classes and buckets has a row that states the reason.
    target : str
        A sensitive attribute.
    corrupted : float
        The share of people whose records the adversary knows, above 0 and below 1.
    similar : dict of str to str, optional
        The group of each sensitive value, such as `{"gastritis": "stomach", "flu": "lungs"}`; a value that is not
        listed is a group of its own. Without groups, there are no rows `value_group_certain`.
    seeds : int
        The number of random halves for each sanitizer.
    min_count : int
        Shares of fewer people are withheld.

    Returns
    -------
    DataFrame
        The rows `value_guess`, `value_certain` and `value_likelier` for each sanitizer, seed and adversary (the column
        `miner`), with the `variant` "people in the release" or "other people". The adversary with background knowledge
        has no row `value_likelier`.
    """
    _check_one_record(dataset)
    rows: list[Row] = []
    for seed in range(1, seeds + 1):
        members, others = dataset.split(0.5, rng=seed)
        for sanitizer in sanitizers:
            row = make_row_builder(dataset, sanitizer, seed, min_count)
            try:
                published = sanitizer.sanitize(members, rng=seed).publish()[0]
                simple = Homogeneity(target).fit(published)
            except (SanitizationError, Unreadable) as error:
                rows.append(_build_failure(row, target, SIMPLE, error))
                continue
            is_known = np.random.default_rng(seed).random(len(members)) < corrupted
            attacks: list[ValueAttack[Any]] = [simple, Corruption(target).given(members.table[is_known]).fit(published)]
            try:
                register = members.table[members.schema.quasi_identifiers]
                known: Any = sanitizer  # refused by `given` if it does not stop at the bound
                attacks.append(Minimality(target).given(known, register).fit(published))
            except (UsageError, Unreadable) as error:
                rows.append(_build_failure(row, target, Minimality.title, error))
            for variant, table in ((IN_RELEASE, members.table[~is_known]), (OTHERS, others.table)):
                for found in [
                    *(measure_success(each, table, similar) for each in attacks),
                    _exclude_values(simple, table),
                ]:
                    rows += _build_rows(row, target, variant, found)
    return tidy(rows)


@validated
def attack_two_releases(
    dataset: Dataset,
    sanitizers: Sanitizers,
    target: AttributeName,
    *,
    shared: Portion = 1 / 9,
    seeds: Seeds = 1,
    min_count: MinCount = LIMIT,
) -> pd.DataFrame:
    """Attack the people who are in two releases of one sanitizer by the composition of both releases.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : list of Sanitizer
        Sanitizers; a release without equivalence classes and buckets has a row that states the reason.
    target : str
        A sensitive attribute.
    shared : float
        The share of people who are in both releases, above 0 and below 1; each release also contains half of the other
        people.
    seeds : int
        The number of random pairs of releases.
    min_count : int
        Shares of fewer people are withheld.

    Returns
    -------
    DataFrame
        The rows `value_guess` and `value_certain` for each sanitizer and seed, with the `variant` "people in both
        releases"; the `miner` is the composition attack, or the homogeneity attack on the first release alone.
    """
    _check_one_record(dataset)
    rows: list[Row] = []
    for seed in range(1, seeds + 1):
        order = np.random.default_rng(seed).permutation(len(dataset))
        number = round(shared * len(dataset))
        both = dataset.select_records(order[:number])
        tables = [dataset.select_records(np.r_[order[:number], order[number + part :: 2]]) for part in (0, 1)]
        for sanitizer in sanitizers:
            row = make_row_builder(dataset, sanitizer, seed, min_count)
            try:
                first, second = (sanitizer.sanitize(each, rng=seed).publish()[0] for each in tables)
                simple, joint = Homogeneity(target).fit(first), Composition(target).given(second).fit(first)
            except (SanitizationError, Unreadable) as error:
                rows.append(_build_failure(row, target, Composition.title, error))
                continue
            for attack in (simple, joint):
                rows += _build_rows(row, target, IN_BOTH, measure_success(attack, both.table))
    return tidy(rows)


class Findings(NamedTuple):
    """The success of an adversary about m people, as boolean arrays (m,).

    `guess` states whether the guess is right, `certain` whether the adversary calls a value certain, and `chance`
    whether a guess without the release is right. `likelier` states whether the value has at least twice the probability
    that it has without the release, and `group` whether the group of similar values is certain; None if not measured.
    """

    adversary: str
    guess: BoolArray
    certain: BoolArray
    chance: BoolArray
    likelier: BoolArray | None = None
    group: BoolArray | None = None


@validated
def measure_success(
    attack: ValueAttack[Any],
    table: pd.DataFrame,
    similar: Annotated[Mapping[str, str] | None, optional(_check_groups)] = None,
) -> Findings:
    """Return the success of an attack about the people of a table.

    Parameters
    ----------
    attack : ValueAttack
        An attack that was fitted to a release.
    table : DataFrame
        A table of m people with their original values.
    similar : dict of str to str, optional
        The group of each sensitive value; see `attack_one_release`.
    """
    true, posterior = table[attack.target].astype(str).to_numpy(), attack.posterior(table)
    guess = (attack.values[posterior.argmax(axis=1)] == true) & posterior.any(axis=1)
    certain, chance = (posterior > 0).sum(axis=1) == 1, attack.baseline(table) == true
    own = pd.Index(attack.values).get_indexer(true)
    probability = np.where(own < 0, 0, np.take_along_axis(posterior, np.maximum(own, 0)[:, None], axis=1)[:, 0])
    likelier = (own >= 0) & (probability >= 2 * attack.prior[own])
    group = None
    if similar is not None:
        codes = pd.factorize(np.array([similar.get(value, value) for value in attack.values]))[0]
        possible = np.array([(posterior[:, codes == code] > 0).any(axis=1) for code in range(codes.max() + 1)])
        group = (possible.sum(axis=0) == 1) & (own >= 0) & possible[codes[own], np.arange(len(own))]
    return Findings(attack.called, guess, certain, chance, likelier, group)


def _exclude_values(simple: Homogeneity, table: pd.DataFrame) -> Findings:
    """Return the findings of the adversary with background knowledge."""
    # A value that the release does not contain has a column of zeros.
    posterior = np.pad(simple.posterior(table), ((0, 0), (0, 1)))
    prior = np.tile([*simple.prior, 0], (len(table), 1))
    true = pd.Index(simple.values).get_indexer(table[simple.target].astype(str))
    (guess, certain), (chance, _) = (exclude_values(each, true, EXCLUDED) for each in (posterior, prior))
    return Findings(BACKGROUND, guess, certain & guess, chance)


def _build_failure(row: Callable[..., Row], target: str, attack: str, error: Exception) -> Row:
    """Return a row that states why an attack has no number."""
    status = "not possible" if isinstance(error, SanitizationError) else "refused"
    own = dict(target=target, variant=IN_RELEASE, miner=attack, status=status, reason=str(error))
    return row("value_guess", np.nan, **own)


@validated
def compare_with_control(results: Results) -> pd.DataFrame:
    """Return the mean over seeds of each number about people in releases, with the column `others`, the control.

    The column `excess` is the part of the value that exceeds both the control and the guess without the release by an
    adversary with the same knowledge.

    Parameters
    ----------
    results : DataFrame
        Tidy results with the variants of `attack_one_release` and `attack_two_releases`.
    """
    rows = average_seeds(results)
    key = ["dataset", *SETTING_COLUMNS, "measure", "miner", "target"]
    control = rows[rows.variant == OTHERS].set_index(key).value
    rows = rows[rows.variant.isin([IN_RELEASE, IN_BOTH]) & rows.value.notna()]
    others = control.reindex(pd.MultiIndex.from_frame(rows[key])).to_numpy()
    return rows.assign(others=others, excess=rows.value - np.fmax(others, rows.baseline))


@validated
def exclude_values(posterior: FloatArray, true: IntArray, excluded: int) -> tuple[BoolArray, BoolArray]:
    """Return whether each person's value is guessed correctly, and is certain, if false values can be excluded.

    The adversary excludes the false values with the highest probabilities, which is the worst case.

    Parameters
    ----------
    posterior : float array (m, values)
        The probability of each value for each person.
    true : integer array (m,)
        The position of the true value of each person; -1 is the last position.
    excluded : int
        The number of false values that the adversary excludes.

    Returns
    -------
    two boolean arrays (m,)
    """
    true = np.where(true < 0, posterior.shape[1] - 1, true)
    own = np.take_along_axis(posterior, true[:, None], axis=1)[:, 0]
    false = posterior.copy()
    np.put_along_axis(false, true[:, None], 0, axis=1)
    left = np.sort(false, axis=1)[:, ::-1][:, excluded:]
    most = left.max(axis=1, initial=0)
    return own > most, (own > 0) & (most == 0)


def _build_rows(row: Callable[..., Row], target: str, variant: str, found: Findings) -> list[Row]:
    """Return the rows of an adversary. Raises AssertionError if a value of a member is certain and wrong."""
    if variant != OTHERS and (found.certain & ~found.guess).any():
        raise AssertionError(f"the attack '{found.adversary}' called a wrong value certain")
    n, rows, none = len(found.guess), [], np.zeros(1, dtype=bool)
    numbers = {
        "value_guess": (found.guess, found.chance),
        "value_certain": (found.certain & found.guess, none),
        "value_likelier": (found.likelier, none),
        "value_group_certain": (found.group, none),
    }
    for measure, (is_right, is_chance) in numbers.items():
        if is_right is not None:
            people, chance = int(is_right.sum()), int(is_chance.sum())
            own = dict(of=n, baseline=ReportedCount(chance, n), target=target, variant=variant, miner=found.adversary)
            rows.append(row(measure, ReportedCount(people, n, wilson(people, n)), **own))
    return rows

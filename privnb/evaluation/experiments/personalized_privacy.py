"""Information loss of personalized privacy: some people ask for a larger k or guard their sensitive value.

No table records the wishes of its people. The wishes are therefore drawn at random, with the same probability for each
person.

Source: Xiao and Tao, "Personalized Privacy Preservation", SIGMOD 2006; Aggarwal and Yu (eds.) 2008, section 2.3.2.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, cast

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import choose_target, choose_unknown_sensitive
from privnb.evaluation.parameters import parse_numbers_within
from privnb.evaluation.results import Row, build_row, estimate_share, tidy
from privnb.measures.base import register_measure
from privnb.measures.disclosure.personal import breach_probabilities
from privnb.measures.utility.information_loss import certainty_penalty
from privnb.microdata import withholding
from privnb.microdata.hierarchy import Taxonomy, flat
from privnb.microdata.schema import Attribute, Categories, NotForThisTable, Role, Schema
from privnb.microdata.withholding import LIMIT, MinCount, ReportedCount
from privnb.privacy_models import KAnonymity, check_k
from privnb.privacy_models.anonymity import OwnAnonymity
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import EXACT
from privnb.runtime.validation import Share, validated
from privnb.sanitizers import Mondrian, SanitizationError
from privnb.sanitizers.generalization.sensitive_generalization import generalize_sensitive_values

OWN_K, LARGER_K, SMALLER_K = "as each asks", "the larger for all", "the smaller for all"
BEFORE, AFTER = "values as they are", "values generalized"
COLUMN = "own k"
SEED = 1  # of the wishes

register_measure(
    "wishes_kept",
    kind="privacy",
    better="higher",
    title="Wishes kept",
    sentence="This is the share of people who get the larger k, among the people who ask for it.",
    source="Aggarwal and Yu 2008, section 2.3.2",
    unit="share of people",
)
register_measure(
    "wishes_breached",
    kind="privacy",
    title="Guards breached",
    sentence="This is the share of people whose breach probability exceeds the bound, among the people who guard their "
    "value.",
    source="Xiao and Tao, SIGMOD 2006",
    unit="share of people",
    baseline="without quasi-identifiers",
)
register_measure(
    "value_loss",
    kind="utility",
    title="Loss of the sensitive values",
    sentence="This is the mean share of the sensitive values that a released label covers: 0 exact, 1 suppressed.",
    source="Xiao and Tao, SIGMOD 2006",
    format="{:%}",
)


def _check_shares(name: str, value: Any) -> None:
    if not expect.numbers(name, value) or not all(0 < each < 1 for each in value):
        raise UsageError(f"{name} must be numbers above 0 and below 1; got {expect.describe_value(value)}.")


Shares = Annotated[Sequence[float], _check_shares]


@validated
def check_wishes(dataset: Dataset) -> Dataset:
    """Return the dataset if personal wishes can be drawn for its people.

    Raises
    ------
    NotForThisTable
        If the dataset has no categorical sensitive attribute or no quasi-identifier, or if people may have several
        records.
    """
    secret = choose_unknown_sensitive(dataset, None)
    if dataset.schema[secret].numeric:
        raise NotForThisTable(
            f"'{secret}' is a number, but people can guard only categories. Name another sensitive attribute."
        )
    choose_target(dataset)  # raises if there is no quasi-identifier
    if dataset.schema.person:
        raise NotForThisTable(
            f"a wish belongs to one record, and people of '{dataset.name}' may have several records. Choose another "
            "table."
        )
    return dataset


def parse_shares(text: str) -> list[float]:
    """Return the shares of people that a text lists: numbers above 0 and below 1, in ascending order."""
    return sorted(parse_numbers_within("WISHING", text, float, lambda each: 0 < each < 1, "share above 0 and below 1"))


@validated
def check_ks(k: int, larger: int, dataset: Dataset) -> tuple[int, int]:
    """Return the usual k and the larger k if both fit the table.

    Parameters
    ----------
    k, larger : int
        The usual k of all people, and the larger k that some people ask for.
    dataset : Dataset

    Returns
    -------
    tuple of int

    Raises
    ------
    ValueError
        If the larger k is not a whole number above `k`.
    NotForThisTable
        If the table has fewer people than the larger k.
    """
    check_k(k)
    if not (expect.is_whole(larger) and larger > k):
        raise UsageError(f"K_LARGER must be a whole number above K_USUAL, {k}; got {expect.describe_value(larger)}.")
    if larger > len(dataset):
        raise NotForThisTable(
            f"'{dataset.name}' has {len(dataset)} people, fewer than K_LARGER, {larger}. Lower K_LARGER."
        )
    return k, larger


def check_pair(name: str, ks: tuple[int, int]) -> None:
    """Raise ValueError unless `ks` holds two whole numbers above 1, of which the second is larger than the first."""
    if not (isinstance(ks, tuple | list) and len(ks) == 2 and all(map(expect.is_whole, ks)) and 1 < ks[0] < ks[1]):
        raise UsageError(
            f"{name} must hold two values, the smaller k and the larger k; got {expect.describe_value(ks)}."
        )


def check_breach(share: float) -> float:
    """Return the largest accepted breach probability; raise ValueError unless it is above 0 and at most 1."""
    return expect.share("BREACH", share)


@validated
def compare_own_k(
    dataset: Dataset, shares: Shares, ks: tuple[int, int], *, min_count: MinCount = LIMIT
) -> pd.DataFrame:
    """Compare the information loss of Mondrian with a personal k to the information loss with one k for all people.

    Parameters
    ----------
    dataset : Dataset
    shares : list of float
        The shares of people who ask for the larger k.
    ks : tuple of int
        The smaller k and the larger k.
    min_count : int
        Shares of fewer people are withheld.

    Returns
    -------
    DataFrame
        The rows `certainty_penalty` and `wishes_kept` for each share, which is in the column `bound`, and for each
        `variant`.
    """
    check_pair("ks", ks)
    k, larger = check_ks(*ks, dataset)
    one_k = {SMALLER_K: KAnonymity(k), LARGER_K: KAnonymity(larger)}
    for_all = {variant: Mondrian(model).sanitize(dataset, rng=SEED) for variant, model in one_k.items()}
    found, draws = [], np.random.default_rng(SEED).random(len(dataset))
    for share in shares:
        asks = draws < share
        chosen = Mondrian(OwnAnonymity((k, larger), COLUMN)).sanitize(_add_wishes(dataset, asks, ks), rng=SEED)
        for variant, release in (for_all | {OWN_K: chosen}).items():
            add = partial(_build_row, dataset, share, min_count=min_count, variant=variant)
            found.append(add("certainty_penalty", certainty_penalty(release)))
            have = np.bincount(release.defined_classes)[release.defined_classes] >= larger
            found.append(_build_share_row("wishes_kept", (have & asks).sum(), asks.sum(), add))
    return tidy(found)


def _add_wishes(dataset: Dataset, asks: BoolArray, ks: tuple[int, int]) -> Dataset:
    """Return the dataset with a column that holds the k of each person."""
    column = Attribute(COLUMN, Role.SENSITIVE, Categories(tuple(map(str, ks))))
    schema = Schema(dataset.schema.dataset, (*dataset.schema.attributes, column))
    own = np.where(asks, str(ks[1]), str(ks[0]))
    return Dataset(dataset.name, dataset.table.assign(**{COLUMN: own}), schema, dataset.hierarchies)


def _build_row(dataset: Dataset, share: float, measure: str, value: float | ReportedCount, **columns: Any) -> Row:
    """Return a row of results for a share of people with a wish."""
    about: dict[str, Any] = {"parameters": f"wishing={share:g}", "parameter": "wishing", "bound": share, "seed": SEED}
    return build_row(measure, value, dataset=dataset.name, sanitizer="Mondrian", **about, **columns)


def _build_share_row(measure: str, part: int, whole: int, add: Callable[..., Row], without: int | None = None) -> Row:
    """Return the row of a share; `without` is the count in a release without quasi-identifiers, for the baseline."""
    if not whole:
        return add(measure, np.nan, status="not possible", reason="nobody has a wish")
    baseline = np.nan if without is None else withholding.ReportedCount(int(without), int(whole))
    return add(measure, estimate_share(int(part), int(whole)), baseline=baseline)


@validated
def compare_guards(
    dataset: Dataset, shares: Shares, most: Share, k: int, *, min_count: MinCount = LIMIT
) -> pd.DataFrame:
    """Measure how often a release breaches guarded values, and the information loss of preventing these breaches.

    Each guarded value is the person's true value of the sensitive attribute.

    Parameters
    ----------
    dataset : Dataset
    shares : list of float
        The shares of people who guard their value.
    most : float
        The largest breach probability that people accept.
    k : int
        The k of the release by Mondrian.
    min_count : int
        See `compare_own_k`.

    Returns
    -------
    DataFrame
        The rows `wishes_breached` and `value_loss` for each share, which is in the column `bound`, before and after the
        sensitive values are generalized (`variant`). Before the generalization, the baseline of `wishes_breached` is
        the share of breaches in a release without quasi-identifiers; these breaches follow from the frequencies of the
        values. If no generalization satisfies the bound, the row `value_loss` for the generalized values has no value
        and gives the reason.
    """
    check_k(k)
    secret = choose_unknown_sensitive(dataset, None)
    tree = cast(Taxonomy, flat(dataset.schema[secret]))
    release = Mondrian(KAnonymity(k)).sanitize(dataset, rng=SEED)
    values = release.table[secret].astype(str).to_numpy(dtype=object)
    found, draws = [], np.random.default_rng(SEED).random(len(dataset))
    for share in shares:
        wishes = np.where(draws < share, values, "")
        add = partial(_build_row, dataset, share, min_count=min_count, target=secret)
        sure = breach_probabilities(tree, release.defined_classes, values, wishes)
        known = breach_probabilities(tree, np.zeros_like(release.defined_classes), values, wishes)
        before, without = ((sure > most + EXACT).sum(), (wishes != "").sum()), (known > most + EXACT).sum()
        found.append(_build_share_row("wishes_breached", *before, partial(add, variant=BEFORE), without))
        found.append(add("value_loss", 0.0, variant=BEFORE))
        try:
            made = generalize_sensitive_values(release, tree, wishes, most=most)
        except SanitizationError as error:
            found.append(add("value_loss", np.nan, variant=AFTER, reason=str(error), status="refused"))
            continue
        found.append(
            _build_share_row(
                "wishes_breached", (made.breaches > most + EXACT).sum(), before[1], partial(add, variant=AFTER)
            )
        )
        found.append(add("value_loss", made.loss, variant=AFTER))
    return tidy(found)

"""What it costs if everybody chooses: some people ask for a larger k, or guard their value of the secret.

Nobody's wishes are known of a table, so that they are drawn: a share of the people, each alike.

Source: Xiao and Tao, "Personalized Privacy Preservation", SIGMOD 2006; Aggarwal and Yu (eds.) 2008, section 2.3.2.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, cast

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import first_number, secret_name
from privnb.evaluation.parameters import numbers_within
from privnb.evaluation.results import Row, guessed, row, tidy
from privnb.measures.base import state
from privnb.measures.disclosure.personal import breaches
from privnb.measures.utility.information_loss import certainty_penalty
from privnb.microdata import withholding
from privnb.microdata.hierarchy import Taxonomy, flat
from privnb.microdata.schema import Attribute, Categories, NotForThisTable, Role, Schema
from privnb.microdata.withholding import LIMIT, Counted, MinCount
from privnb.privacy_models import KAnonymity, check_k
from privnb.privacy_models.anonymity import OwnAnonymity
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import EXACT
from privnb.runtime.validation import Share, validated
from privnb.sanitizers import Mondrian, SanitizationError
from privnb.sanitizers.generalization.guarded_values import guarded

OWN, ALL, FEW = "as each asks", "the larger for all", "the smaller for all"
BEFORE, AFTER = "values as they are", "values generalized"
COLUMN = "own k"
SEED = 1  # of the wishes

state(
    "wishes_kept",
    kind="privacy",
    better="higher",
    title="Wishes kept",
    sentence="Share of the people who ask for the larger k who have it.",
    source="Aggarwal and Yu 2008, section 2.3.2",
    unit="share of people",
)
state(
    "wishes_breached",
    kind="privacy",
    title="Guards breached",
    sentence="Share of the people who guard their value whose breach probability exceeds the bound.",
    source="Xiao and Tao, SIGMOD 2006",
    unit="share of people",
    baseline="without quasi-identifiers",
)
state(
    "value_loss",
    kind="utility",
    title="Loss of the secret's values",
    sentence="Share of the secret's values that a label of it may stand for, on average: 0 exact, 1 suppressed.",
    source="Xiao and Tao, SIGMOD 2006",
    format="{:%}",
)


def _check_shares(name: str, value: Any) -> None:
    if not expect.numbers(name, value) or not all(0 < each < 1 for each in value):
        raise UsageError(f"{name} must be numbers above 0 and below 1, got {expect.found(value)}.")


Shares = Annotated[Sequence[float], _check_shares]


@validated
def with_wishes(dataset: Dataset) -> Dataset:
    """The dataset. Raises NotForThisTable without a secret of categories, or quasi-identifiers, and where people have
    several records."""
    secret = secret_name(dataset, None)
    if dataset.schema[secret].numeric:
        raise NotForThisTable(f"'{secret}' is a number, and people guard categories. Name another sensitive attribute.")
    first_number(dataset)  # there is nobody to look for without a quasi-identifier
    if dataset.schema.person:
        raise NotForThisTable(f"wishes are of a record each, and people of '{dataset.name}' may have several.")
    return dataset


def wishing(text: str) -> list[float]:
    """The shares of people that a parameter names, ascending: a list of numbers above 0 and below 1."""
    return sorted(numbers_within("WISHING", text, float, lambda each: 0 < each < 1, "share above 0 and below 1"))


@validated
def check_ks(k: int, larger: int, dataset: Dataset) -> tuple[int, int]:
    """The two k of wishes, checked.

    Parameters
    ----------
    k, larger : int
        What everybody has, and what some ask for.
    dataset : Dataset

    Returns
    -------
    tuple of int

    Raises
    ------
    ValueError
        Unless the first is smaller.
    NotForThisTable
        Where the table has fewer people than the second.
    """
    check_k(k)
    if not (expect.is_whole(larger) and larger > k):
        raise UsageError(f"K_LARGER must be a whole number above K_USUAL, {k}, got {expect.found(larger)}.")
    if larger > len(dataset):
        raise NotForThisTable(f"'{dataset.name}' has {len(dataset)} people, fewer than K_LARGER, {larger}. Lower it.")
    return k, larger


def check_pair(name: str, ks: tuple[int, int]) -> None:
    """Raise ValueError unless `ks` are the smaller and the larger k of everybody and of those who ask."""
    if not (isinstance(ks, tuple | list) and len(ks) == 2 and all(map(expect.is_whole, ks)) and 1 < ks[0] < ks[1]):
        raise UsageError(f"{name} must be the smaller and the larger k, got {expect.found(ks)}.")


def check_breach(share: float) -> float:
    """The largest breach probability, checked: a share above 0, at most 1."""
    return expect.share("BREACH", share)


@validated
def own_k(dataset: Dataset, shares: Shares, ks: tuple[int, int], *, fewest: MinCount = LIMIT) -> pd.DataFrame:
    """What Mondrian loses where a share of the people asks for the larger k, beside one k for all.

    Parameters
    ----------
    dataset : Dataset
    shares : list of float
        Of the people who ask for the larger k.
    ks : tuple of int
        The smaller, and the larger one.
    fewest : int
        Shares of fewer people are withheld.

    Returns
    -------
    DataFrame
        By `bound`, the share: `certainty_penalty` and `wishes_kept` by `variant`.
    """
    check_pair("ks", ks)
    k, larger = check_ks(*ks, dataset)
    one_k = {FEW: KAnonymity(k), ALL: KAnonymity(larger)}
    for_all = {variant: Mondrian(model).sanitize(dataset, rng=SEED) for variant, model in one_k.items()}
    found, draws = [], np.random.default_rng(SEED).random(len(dataset))
    for share in shares:
        asks = draws < share
        chosen = Mondrian(OwnAnonymity((k, larger), COLUMN)).sanitize(_asking(dataset, asks, ks), rng=SEED)
        for variant, release in (for_all | {OWN: chosen}).items():
            add = partial(_added, dataset, share, fewest=fewest, variant=variant)
            found.append(add("certainty_penalty", certainty_penalty(release)))
            have = np.bincount(release.defined_classes)[release.defined_classes] >= larger
            found.append(_share("wishes_kept", (have & asks).sum(), asks.sum(), add))
    return tidy(found)


def _asking(dataset: Dataset, asks: BoolArray, ks: tuple[int, int]) -> Dataset:
    """The table with the column of wishes."""
    column = Attribute(COLUMN, Role.SENSITIVE, Categories(tuple(map(str, ks))))
    schema = Schema(dataset.schema.dataset, (*dataset.schema.attributes, column))
    own = np.where(asks, str(ks[1]), str(ks[0]))
    return Dataset(dataset.name, dataset.table.assign(**{COLUMN: own}), schema, dataset.hierarchies)


def _added(dataset: Dataset, share: float, measure: str, value: float | Counted, **columns: Any) -> Row:
    """A row of results about so many people with a wish."""
    about: dict[str, Any] = {"parameters": f"wishing={share:g}", "parameter": "wishing", "bound": share, "seed": SEED}
    return row(measure, value, dataset=dataset.name, sanitizer="Mondrian", **about, **columns)


def _share(measure: str, part: int, whole: int, add: Callable[..., Row], without: int | None = None) -> Row:
    """A row of a share; `without`: of how many it would be so without quasi-identifiers."""
    if not whole:
        return add(measure, np.nan, status="not possible", reason="nobody has a wish")
    baseline = np.nan if without is None else withholding.Counted(int(without), int(whole))
    return add(measure, guessed(int(part), int(whole)), baseline=baseline)


@validated
def guards(dataset: Dataset, shares: Shares, most: Share, k: int, *, fewest: MinCount = LIMIT) -> pd.DataFrame:
    """How many of the people who guard their value are breached in a release, and what it costs that nobody is.

    Everybody who guards guards their own value of the secret.

    Parameters
    ----------
    dataset : Dataset
    shares : list of float
        Of the people who guard.
    most : float
        The largest breach probability.
    k : int
        Of the release, by Mondrian.
    fewest : int
        As of `own_k`.

    Returns
    -------
    DataFrame
        By `bound`, the share: `wishes_breached` and `value_loss`, before and after; baseline of the former before: who
        is breached by how common each value is, in a release without quasi-identifiers. Where no generalization keeps
        the bound the latter is missing, with its reason.
    """
    check_k(k)
    secret = secret_name(dataset, None)
    tree = cast(Taxonomy, flat(dataset.schema[secret]))
    release = Mondrian(KAnonymity(k)).sanitize(dataset, rng=SEED)
    values = release.table[secret].astype(str).to_numpy(dtype=object)
    found, draws = [], np.random.default_rng(SEED).random(len(dataset))
    for share in shares:
        wishes = np.where(draws < share, values, "")
        add = partial(_added, dataset, share, fewest=fewest, target=secret)
        sure = breaches(tree, release.defined_classes, values, wishes)
        known = breaches(tree, np.zeros_like(release.defined_classes), values, wishes)
        before, without = ((sure > most + EXACT).sum(), (wishes != "").sum()), (known > most + EXACT).sum()
        found.append(_share("wishes_breached", *before, partial(add, variant=BEFORE), without))
        found.append(add("value_loss", 0.0, variant=BEFORE))
        try:
            made = guarded(release, tree, wishes, most=most)
        except SanitizationError as error:
            found.append(add("value_loss", np.nan, variant=AFTER, reason=str(error), status="refused"))
            continue
        found.append(
            _share("wishes_breached", (made.breaches > most + EXACT).sum(), before[1], partial(add, variant=AFTER))
        )
        found.append(add("value_loss", made.loss, variant=AFTER))
    return tidy(found)

"""The finding about the loss of a release in which people choose their own k or guard a value."""

from typing import Annotated, Any

import pandas as pd

from privnb.evaluation.experiments.personalized_privacy import AFTER, BEFORE, LARGER_K, OWN_K, SMALLER_K, check_pair
from privnb.evaluation.results import Results
from privnb.reporting.findings.numbers import number_of_row
from privnb.reporting.findings.rows import select_known_rows, select_rows
from privnb.runtime.validation import validated
from privnb.runtime.wording import Worded


@validated
def personal_wishes(results: Results, ks: Annotated[tuple[int, int], check_pair]) -> Worded:
    """Return the finding about the loss with an own k per person, and about the effect of guarding a value.

    The loss is compared with the loss with one k for all people.

    Parameters
    ----------
    results : DataFrame
        The results of `experiments.own_k` and `experiments.guards`, joined.
    ks : tuple of int
        The smaller k and the larger k, as for `own_k`.
    """
    data: dict[str, Any] = {"ks": [*ks], "loss": _loss(select_rows(results, "certainty_penalty"))}
    share = data["loss"]["share"] if data["loss"] else None
    kept = select_known_rows(results, "wishes_kept", variant=SMALLER_K, bound=share)
    after = select_rows(results, "value_loss", variant=AFTER)
    impossible = after[after.value.isna()].bound.min()
    return Worded(
        "reporting/findings_personal_wishes",
        data
        | {
            "kept": _first(kept),
            "breached": _first(select_known_rows(results, "wishes_breached", variant=BEFORE)),
            "generalized": _first(after.dropna(subset="value").nlargest(1, "bound")),
            "impossible": None if pd.isna(impossible) else float(impossible),
        },
    )


def _loss(losses: pd.DataFrame) -> dict[str, Any] | None:
    """Return the losses for the smallest share of people who have a wish."""
    if losses.empty:
        return None
    share = losses.bound.min()
    here = losses[losses.bound == share]
    variants = {"own": OWN_K, "larger": LARGER_K, "smaller": SMALLER_K}
    numbers = {name: _first(here[here.variant == variant]) for name, variant in variants.items()}
    return {"share": float(share)} | numbers


def _first(rows: pd.DataFrame) -> dict[str, Any] | None:
    """Return the number of the first row, with the share of people who have a wish; None without a row."""
    return next((number_of_row(row, share=float(row.bound)) for _, row in rows.head(1).iterrows()), None)

"""The risks of a release together with an earlier release of the same people, which an adversary holds, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from privnb.evaluation.evaluation_loop import Case, Question
from privnb.evaluation.results import Row, tidy
from privnb.evaluation.risks.attribute import AttributeRisk
from privnb.evaluation.risks.certainty import Certainty
from privnb.evaluation.risks.identity import ReidentificationRisk
from privnb.evaluation.versions import Version, find_version, join_versions

COUNTED = (ReidentificationRisk, AttributeRisk, Certainty)  # the risks that an earlier release can raise


@dataclass(frozen=True, eq=False)
class Together(Question):
    """A risk of a release, alone or together with an earlier release, whichever is larger.

    The pair is read as one release with joint classes, see `versions.join_versions`: the adversary is assumed to know
    the class of a person in each release, and to match the rows of one record. The risk of the pair is therefore an
    upper bound.

    Parameters
    ----------
    question : Question
        The identity risk, an attribute risk, or certainty.
    previous : Version
        The earlier release.
    """

    question: Any
    previous: Version

    def __str__(self) -> str:
        return f"{self.question} together with {self.previous.name}"

    @property
    def stochastic(self) -> bool:
        """Return whether the answer depends on the seed even if the release does not."""
        return bool(self.question.stochastic)

    def row(self, case: Case) -> Callable[..., Row]:
        """Return a function that builds a row with the columns of the question."""
        row: Callable[..., Row] = self.question.row(case)
        return row

    def rows(self, case: Case) -> list[Row]:
        """Return, for each number, the row of the release alone or that of the pair, whichever risk is larger."""
        alone = self.question.rows(case)
        name = getattr(self.question, "sensitive", "")
        known = case.known
        new = find_version(known.dataset, known.release)
        if name and name not in new.cells and name not in self.previous.cells:
            return list(alone)  # neither release shows a person's value in the person's row
        pair = join_versions(known.dataset, self.previous, new)
        both = Case(known.dataset, case.sanitizer, case.seed, pair, case.min_count)
        return take_worst(alone, self.question.rows(both))


def with_previous(questions: list[Any], previous: Version | None) -> list[Any]:
    """Return the questions about a release, those of `COUNTED` also about the release together with an earlier one."""
    if previous is None:
        return questions
    return [Together(each, previous) if isinstance(each, COUNTED) else each for each in questions]


def take_worst(alone: list[Row], together: list[Row]) -> list[Row]:
    """Return each of the rows `alone`, or the row of the same number in `together` if its risk is larger.

    An unknown risk over all people counts as larger than any known risk, because it does not meet a cap. An unknown
    risk of a group, which is withheld, does not hide a known risk. A number that does not depend on the release, and a
    number in one list only, is kept.
    """
    found = {_key(row): row for row in [*tidy(together).to_dict("records")]}
    own = tidy(alone).to_dict("records")
    worst = [max((row, found.pop(_key(row), row)), key=_upper) for row in own]
    rows = [*worst, *found.values()]
    return [{str(name): value for name, value in row.items()} for row in rows]


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("measure", "variant", "target", "group"))


def _upper(row: Row) -> tuple[float, float]:
    """Return the upper end of a risk, and its value, for the comparison of two risks."""
    upper = row["high"] if np.isfinite(row["high"]) else row["value"]
    bound = upper if np.isfinite(upper) else -np.inf if row["group"] else np.inf
    return bound, row["value"] if np.isfinite(row["value"]) else bound

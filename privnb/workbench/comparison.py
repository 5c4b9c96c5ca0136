"""Several releases of one table beside each other, and the choice among them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import pandas as pd

from privnb import decision
from privnb.decision import policies, policy_search
from privnb.decision.by_policy import LOSS
from privnb.decision.policies import Policy
from privnb.evaluation.cases import evaluate, questions_of_measures
from privnb.evaluation.results import SETTING, join, setting, setting_name
from privnb.microdata.withholding import LIMIT
from privnb.publishing import in_words
from privnb.runtime import expect, validation
from privnb.runtime.errors import PrivnbError, UsageError, UsageTypeError
from privnb.runtime.validation import validated
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.catalogue import reference_sanitizers
from privnb.workbench.decision import TableDecision
from privnb.workbench.measurements import Measurements
from privnb.workbench.origin import Origin
from privnb.workbench.release import predicted
from privnb.workbench.views import Noun, view

POLICY = "ontario-2025"


class Comparison(Noun):
    """Releases of one table, measured in the same way.

    `compare` makes one. The two reference releases, the original and the one without quasi-identifiers, are always
    among them.

    Attributes
    ----------
    table : Table
    sanitizers : list of Sanitizer
        Without the two references.
    policy : Policy
        What was measured: its caps and needs.
    results : DataFrame
        Tidy results with all their columns.
    failed : dict of str to str
        Why sanitizers have no release of this table, by their settings.

    Examples
    --------
    >>> from privnb import Mondrian, read
    >>> comparison = compare(read("twelve"), [Mondrian(k=3), Mondrian(k=20)], policy="groups-of-3", seeds=1)
    >>> comparison.frame[["setting", "kept"]].values.tolist()
    [['Suppression', True], ['Mondrian, k = 3', True], ['the original', False], ['Mondrian, k = 20', False]]
    >>> list(comparison.failed)
    ['Mondrian, k = 20']
    """

    def __init__(
        self,
        table: Origin,
        sanitizers: Sequence[Sanitizer],
        policy: Policy,
        results: pd.DataFrame,
        failed: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.table, self.sanitizers, self.policy, self.results = table, [*sanitizers], policy, results
        self.failed = failed

    def __repr__(self) -> str:
        return f"Comparison('{self.table.name}', {len(self.sanitizers)} sanitizers, policy {self.policy.name!r})"

    @cached_property
    def measurements(self) -> Measurements:
        """All numbers, narrow in `.frame` and whole in `.results`."""
        return Measurements(self.results)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row for each release: what users lose, from 0 (the original) to 1 (no quasi-identifiers), each capped
        risk, whether the policy is kept, and why not.
        """
        decided = self.choose().found.decision
        risks = decided.vectors[decided.vectors.axis != LOSS]
        wide = risks.pivot(index="setting", columns="axis", values="value").reset_index()
        releases = decided.releases[["setting", "loss", "kept", "reasons"]]
        table = releases.merge(wide, on="setting", how="left")
        table = table.assign(reasons=table.reasons.map("; ".join)).rename(columns={"reasons": "why not"})
        failed = pd.DataFrame({"setting": [*self.failed], "kept": False, "why not": [*self.failed.values()]})
        return pd.concat([table, failed], ignore_index=True) if self.failed else table

    def _repr_html_(self) -> str:
        chosen = self.choose()
        failed = f"{len(self.failed)} of {len(self.sanitizers)} sanitizers have no release; the table says why."
        return view([*chosen.parts[:2], *[failed] * bool(self.failed)], self.frame)

    def plot(self, x: str = "", y: str = "") -> Any:
        """Return a chart: what users lose by each release, and how much of its tightest cap it uses; or, with the names
        of a privacy and a utility measure that were measured, these two.
        """
        from privnb.decision.points import points
        from privnb.reporting import charts

        if not x and not y:
            return charts.within_caps(self.choose().found.decision)
        if not x or not y:
            raise UsageError(f"x and y must both be names of measures, or neither; got {x!r} and {y!r}.")
        return charts.frontier(points(self.results, privacy=x, utility=y))

    def choose(self, policy: str | os.PathLike[str] | None = None) -> TableDecision:
        """Choose the release that a policy leads to, among those compared.

        The caps and needs of the policy alone count. Numbers of `models` and `measures` are shown, and count where the
        policy names their measure among its needs.

        Parameters
        ----------
        policy : str or path-like, optional
            None: the policy of the comparison. Another one can ask only for what was measured.

        Returns
        -------
        TableDecision
        """
        from privnb.decision.halving import Rung

        read = self.policy if policy is None else policies.read(policy)
        data = self.table.dataset
        decided = decision.decide(self.results, policy_search.with_possible_needs(data, read), people=data.headcount)
        tried = [*reference_sanitizers(), *self.sanitizers]
        steps = [(Rung(len(data), len(self.sanitizers)), self.sanitizers)]
        return TableDecision(self.table, data, policy_search.Searched(decided, self.results, steps, tried))


@validated
def compare(
    table: Origin,
    sanitizers: Any,
    *,
    policy: validation.Path = POLICY,
    models: Any = (),
    target: str | None = None,
    measures: Any = (),
    seeds: int = 0,
    store: str = "",
) -> Comparison:
    """Compare sanitizers on a table: risks, and what users lose.

    Parameters
    ----------
    table : Table
        Of `read`.
    sanitizers : Sanitizer or list of Sanitizer
        Such as `[Mondrian(k=k) for k in (5, 10, 20)]`.
    policy : str or path-like
        The policy whose caps and needs are measured, by its name or file.
    models : str, estimator or list, optional
        Models of users that predict `target` from each release: see `SanitizedTable.utility`.
    target : str, optional
        What they predict; None: the first sensitive column.
    measures : function, or list of functions
        Functions that are marked with `@measure`.
    seeds : int
        Repeats of what is drawn; 0: 3.
    store : str
        A folder that keeps what is finished, so that a comparison that was stopped goes on; empty: none.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from privnb import KMember, Mondrian, read
    >>> compare(read("twelve"), [Mondrian(k=3), KMember(3)], policy="groups-of-3")
    Comparison('twelve', 2 sanitizers, policy 'groups-of-3')
    """
    from privnb.evaluation.utility.good_utility import Kept

    if not hasattr(table, "in_roles"):
        raise UsageTypeError(
            f"table must be a Table; got {expect.found(table)}. Try privnb.read(...), which makes one."
        )
    data, asked = table.dataset, policies.read(policy)
    given = [sanitizers] if isinstance(sanitizers, Sanitizer | str) else sanitizers
    expect.all_of("sanitizers", given, Sanitizer, str, instead="Give some such as [Mondrian(k=10), KMember(10)].")
    tried = [in_words.asked(each, "Mondrian", data.schema) if isinstance(each, str) else each for each in given]
    if not tried:
        raise UsageError("sanitizers must have at least one; got none. Give some such as [Mondrian(k=10)].")
    repeats = seeds or policy_search.SEEDS["quick"]
    both, able = [*reference_sanitizers(), *tried], policy_search.with_possible_needs(data, asked)
    extra = questions_of_measures(measures)
    if models:
        extra.append(Kept(predicted(data.schema, target), models))
    # The user's own first: an error of theirs shows before anything else is measured.
    own = evaluate(data, both, measures=extra, seeds=repeats, store=store) if extra else None
    results = policy_search.measure_releases(data, both, able, "quick", repeats, LIMIT, store)
    if own is not None:
        results = join(results, own)
    return Comparison(table, tried, asked, results, _failures(table, tried, results))


def _failures(table: Origin, tried: Sequence[Sanitizer], results: pd.DataFrame) -> dict[str, str]:
    """Return why sanitizers have no release, by their settings."""
    made, failed = {*map(tuple, results[SETTING].to_numpy())}, dict[str, str]()
    for sanitizer in tried:
        key = setting(sanitizer)
        if tuple(key[name] for name in SETTING) not in made:
            name = setting_name(pd.Series(key))
            try:
                sanitizer.sanitize(table.dataset)
                failed[name] = "it was not measured"
            except PrivnbError as error:
                failed[name] = str(error)
    return failed

"""Comparison of several releases of one table, and the choice of one of these releases."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import pandas as pd

from privnb import decision
from privnb.decision import policies, policy_search
from privnb.decision.by_policy import LOSS, Decision
from privnb.decision.policies import Policy
from privnb.decision.promises import list_promises
from privnb.decision.reasons import join_reasons
from privnb.decision.search_record import record_search
from privnb.evaluation.evaluation_loop import build_measure_questions, evaluate
from privnb.evaluation.results import SETTING_COLUMNS, describe_setting, join_results, name_setting
from privnb.microdata.withholding import LIMIT
from privnb.publishing import model_spec
from privnb.runtime import expect, validation
from privnb.runtime.errors import PrivnbError, UsageError, UsageTypeError
from privnb.runtime.validation import validated
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.catalogue import reference_sanitizers
from privnb.workbench.decision import TableDecision
from privnb.workbench.measurements import Measurements
from privnb.workbench.origin import Origin
from privnb.workbench.release import choose_prediction_target
from privnb.workbench.views import Noun, view

DEFAULT_POLICY = "ontario-2025"


class Comparison(Noun):
    """Releases of one table, measured in the same way.

    The function `compare` returns a comparison. A comparison always includes the two reference releases: the original,
    and the release without quasi-identifiers.

    Attributes
    ----------
    table : Table
    sanitizers : list of Sanitizer
        The compared sanitizers, without the sanitizers of the two reference releases.
    policy : Policy
        The policy whose caps and required utility were measured.
    results : DataFrame
        Tidy results with all columns.
    failed : dict of str to str
        For each sanitizer that cannot make a release of this table, the reason, by the setting of the sanitizer.

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
        """All numbers, as a narrow table in `.frame` and with all columns in `.results`."""
        return Measurements(self.results)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row for each release: the loss of users, the capped risks, and whether the release complies.

        If a release does not comply with the policy, the row contains the reason.

        The loss is between 0 (the original) and 1 (no quasi-identifiers).
        """
        table = list_releases(self.choose().found.decision)
        failed = pd.DataFrame({"setting": [*self.failed], "kept": False, "why not": [*self.failed.values()]})
        return pd.concat([table, failed], ignore_index=True) if self.failed else table

    def _repr_html_(self) -> str:
        chosen = self.choose()
        failed = (
            f"{len(self.failed)} of {len(self.sanitizers)} sanitizers have no release; the table states the reasons."
        )
        return view([*chosen.sentences[:2], *[failed] * bool(self.failed)], self.frame)

    def plot(self, x: str = "", y: str = "") -> Any:
        """Return a chart of each release: the loss of users, and the risk as a share of the tightest cap.

        If `x` is a privacy measure and `y` is a utility measure, the chart shows these two measures instead.
        """
        from privnb.decision.points import compute_points
        from privnb.reporting import charts

        if not x and not y:
            return charts.within_caps(self.choose().found.decision)
        if not x or not y:
            raise UsageError(f"`x` and `y` must both be names of measures, or both be left out; got {x!r} and {y!r}.")
        return charts.frontier(compute_points(self.results, privacy=x, utility=y))

    def choose(self, policy: str | os.PathLike[str] | None = None) -> TableDecision:
        """Choose one of the compared releases by a policy.

        The choice depends only on the caps and the required utility of the policy. Results of `models` and `measures`
        are shown, but they affect the choice only if the policy requires them.

        Parameters
        ----------
        policy : str or path-like, optional
            The policy; by default, it is the policy of the comparison. The comparison must include every measure that
            the policy uses.

        Returns
        -------
        TableDecision
        """
        from privnb.decision.halving import Rung

        read = self.policy if policy is None else policies.read(policy)
        data = self.table.dataset
        possible, promises = policy_search.with_possible_needs(data, read), list_promises(self.sanitizers)
        decided = decision.decide(self.results, possible, data.headcount, promises)
        decided = record_search(self.table.path, decided)
        tried = [*reference_sanitizers(), *self.sanitizers]
        steps = [(Rung(len(data), len(self.sanitizers)), self.sanitizers)]
        return TableDecision(self.table, data, policy_search.PolicySearch(decided, self.results, steps, tried))


def list_releases(decided: Decision) -> pd.DataFrame:
    """Return one row for each release: the loss of users, whether the policy is met, why not, and the capped risks."""
    risks = decided.vectors[decided.vectors.axis != LOSS]
    wide = risks.pivot(index="setting", columns="axis", values="value").reset_index()
    releases = decided.releases[["setting", "loss", "kept", "reasons"]]
    table = releases.merge(wide, on="setting", how="left")
    return table.assign(reasons=table.reasons.map(join_reasons)).rename(columns={"reasons": "why not"})


@validated
def compare(
    table: Origin,
    sanitizers: Any,
    *,
    policy: validation.Path = DEFAULT_POLICY,
    models: Any = (),
    target: str | None = None,
    measures: Any = (),
    seeds: int = 0,
    store: str = "",
) -> Comparison:
    """Compare sanitizers on a table, by risks and by the losses of users.

    Parameters
    ----------
    table : Table
        A table that `read` returned.
    sanitizers : Sanitizer or list of Sanitizer
        The sanitizers, such as `[Mondrian(k=k) for k in (5, 10, 20)]`.
    policy : str or path-like
        The policy whose caps and required utility are measured: the name of the policy, or the path of its file.
    models : str, estimator or list, optional
        Models of users, which learn from each release to predict `target`; see `SanitizedTable.utility`.
    target : str, optional
        The column that the models predict. By default, it is the first sensitive column.
    measures : function, or list of functions
        Further measures, which are functions with the decorator `@measure`.
    seeds : int
        How often each random step is repeated, with different seeds; 0 means 3 times.
    store : str
        A folder for completed evaluations, so that a stopped comparison can continue. If it is empty, nothing is
        stored.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from privnb import KMember, Mondrian, read
    >>> compare(read("twelve"), [Mondrian(k=3), KMember(3)], policy="groups-of-3")
    Comparison('twelve', 2 sanitizers, policy 'groups-of-3')
    """
    from privnb.evaluation.utility.good_utility import UserUtility

    if not hasattr(table, "in_roles"):
        raise UsageTypeError(
            f"`table` must be a Table; got {expect.describe_value(table)}. Try privnb.read(...), which makes a Table."
        )
    data, asked = table.dataset, policies.read(policy)
    given = [sanitizers] if isinstance(sanitizers, Sanitizer | str) else sanitizers
    expect.all_of("sanitizers", given, Sanitizer, str, instead="Give some such as [Mondrian(k=10), KMember(10)].")
    tried = [
        model_spec.parse_sanitizer(each, "Mondrian", data.schema) if isinstance(each, str) else each for each in given
    ]
    if not tried:
        raise UsageError("`sanitizers` must hold at least one sanitizer; got none. Try [Mondrian(k=10)].")
    repeats = seeds or policy_search.SEEDS["quick"]
    both, able = [*reference_sanitizers(), *tried], policy_search.with_possible_needs(data, asked)
    extra = build_measure_questions(measures)
    if models:
        extra.append(UserUtility(choose_prediction_target(data.schema, target), models))
    # The methods of the user run first, so that their errors appear before anything else is measured.
    own = evaluate(data, both, measures=extra, seeds=repeats, store=store) if extra else None
    results = policy_search.measure_releases(data, both, able, "quick", repeats, LIMIT, store)
    if own is not None:
        results = join_results(results, own)
    return Comparison(table, tried, asked, results, _failures(table, tried, results))


def _failures(table: Origin, tried: Sequence[Sanitizer], results: pd.DataFrame) -> dict[str, str]:
    """Return the reason for each sanitizer that cannot make a release, by the setting of the sanitizer."""
    made, failed = {*map(tuple, results[SETTING_COLUMNS].to_numpy())}, dict[str, str]()
    for sanitizer in tried:
        key = describe_setting(sanitizer)
        if tuple(key[name] for name in SETTING_COLUMNS) not in made:
            name = name_setting(pd.Series(key))
            try:
                sanitizer.sanitize(table.dataset)
                failed[name] = "it was not measured"
            except PrivnbError as error:
                failed[name] = str(error)
    return failed

"""The tab of the policy: the caps in words, the owner's own caps, and their consequence for measured releases."""

from __future__ import annotations

import contextlib
import datetime
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from privnb.app import tasks
from privnb.app.state import AppState
from privnb.app.tab import Tab
from privnb.datasets.dataset import list_data_files, load, load_schema
from privnb.datasets.description import read_description
from privnb.decision import policies
from privnb.decision.by_policy import LOSS, Decision
from privnb.decision.policies import Cap, Policy
from privnb.decision.policy_changes import compare_policies, keep_earlier, list_unprotected, policy_values
from privnb.runtime.errors import PrivnbError, UsageError
from privnb.runtime.names import join_names
from privnb.runtime.numerals import write_share
from privnb.runtime.sentences import list_lines, strip_markup
from privnb.runtime.wording import line, write

OWN = "policy.toml"  # the owner's policy, next to the description
PERCENT = "cap "
CLASS_SIZE = "min_class_size"
TEXTS = {"title": "Title of our policy", "recipient": "Recipients", "source": "Who states the caps, and why"}
SMALL = 50_000_000  # the size in bytes of data files that are read to count people
OWN_GROUP, PUBLIC, RESTRICTED = "Your own policy", "For a release to anybody", "For recipients under an agreement"


OF_ONE = ("identity", "attribute", "linkability")  # risks of which a policy can also cap that of the worst-off person
EACH = [Cap(risk, 1.0) for risk in policies.CAPPED] + [Cap(risk, 1.0, "largest") for risk in OF_ONE]
POSSIBLE = {cap.subject: cap for cap in sorted(EACH, key=lambda cap: policies.CAPPED.index(cap.risk))}


class CapRow(NamedTuple):
    """A cap in words, its value in percent, and the risk of the chosen release if it has been measured."""

    name: str
    subject: str
    question: str
    percent: str
    measured: str
    verdict: str


class PolicyTab(Tab):
    """Choose a policy, change its caps, and see at once which measured release the caps lead to."""

    key, title = "policy", "Policy"

    def __init__(self, state: AppState) -> None:
        self._draft: Policy | None = None  # the policy with the owner's changes, before it is saved
        self._asks, self._kept = False, ""  # whether a file would be replaced, and the name of its copy
        self._refusals = Counter[str]()  # by control; a new number draws the control again, with the value that applies
        super().__init__(state)

    @property
    def saved(self) -> Policy:
        """The selected policy, as its file states it."""
        return policies.read(self.state.policy)

    @property
    def policy(self) -> Policy:
        """The selected policy with the owner's changes."""
        return self._draft or self.saved

    def draw(self) -> None:
        """Draw the menu, the caps, and the consequence of the caps."""
        policy, decision = self.policy, self._judged()
        release = None if decision is None else self._shown(decision)
        self.put(
            "body",
            "policy",
            policy=policy,
            name=self.state.policy,
            titles=self._titles(),
            caps=[*self._rows(policy.caps, decision, release)],
            release="Chosen release" if release is None else release.setting,
            is_changed=self._draft is not None,
            outcome="" if decision is None else strip_markup(self._outcome(decision)),
            stale=self.state.stale(),
            own=OWN,
            earlier=self._earlier(),
            kept=self._kept,
            texts=[(name, label, getattr(policy, name)) for name, label in TEXTS.items()],
            unprotected=join_names(self._unprotected(policy)),
            too_few=self._count_too_few_people(policy),
            refusals=self._refusals,
        )

    def act(self, name: str, value: Any) -> None:
        """Perform the action of a control."""
        asked, self._asks, self._kept = self._asks, False, ""
        try:
            self._change(name, value, is_confirmed=asked)
        except UsageError:
            self._refusals[name] += 1
            self.draw()
            raise
        self.state.has_unsaved_policy = self._draft is not None
        self.refresh()

    def _change(self, name: str, value: Any, *, is_confirmed: bool) -> None:
        """Change the policy, or save it."""
        if name == "policy":
            self._draft = None
            policies.read(value)  # refused here if the file is not a policy
            self.state.set("policy", value)
        elif name == "save":
            self._save(is_confirmed=is_confirmed)
        elif name == "reset":
            self._draft = None
        elif name == CLASS_SIZE:
            self._draft = self._changed(min_class_size=_whole(value, self.policy.min_class_size))
        elif name in TEXTS:
            text = str(value).strip()
            if not text:
                raise UsageError(
                    f"“{TEXTS[name]}” must not be empty; “{getattr(self.policy, name)}” still applies. Type a text."
                )
            self._draft = self._changed(**{name: text})
        elif name.startswith(PERCENT):
            self._draft = self._changed(caps=self._with_cap(name.removeprefix(PERCENT), value))

    def _changed(self, **changes: Any) -> Policy | None:
        """Return the policy with changes, as a policy of the owner; None if it is again the saved policy."""
        own = self._owned()
        changed = replace(self._draft or own, **changes)
        if {*changed.caps} == {*own.caps}:
            changed = replace(changed, caps=own.caps)
        return None if changed == own else changed

    def _owned(self) -> Policy:
        """Return the saved policy as a policy of the owner, who is a source of its caps; its convention is dropped.

        `verified` stays: it states whether anybody has read the source of the caps that the owner does not change.
        """
        saved = self.saved
        if Path(self.state.policy).parent == self._own_path().parent:
            return saved
        title, source = f"Our policy, after “{saved.title}”", line("app/texts", "source", saved.title, saved.source)
        return replace(saved, title=title, source=strip_markup(source), convention="")

    def _with_cap(self, which: str, value: Any) -> tuple[Cap, ...]:
        """Return the caps with a new value for one of them; a cap of the saved policy keeps its reading."""
        caps = _with_cap(self.policy.caps, which, value)
        saved = {(cap.subject, cap.at_most): cap for cap in self.saved.caps}
        return tuple(saved.get((cap.subject, cap.at_most), cap) for cap in caps)

    def _count_too_few_people(self, policy: Policy) -> int:
        """Return the number of people in the table if it is below the minimum class size of the policy; otherwise, 0.

        The number of a large table is known only from a choice.
        """
        if self.state.why_not_described or policy.min_class_size == self.saved.min_class_size:
            return 0
        path, choice = self.state.path, self.state.choice
        if choice is not None:
            people = int(choice.explanation["table"]["people"])
        elif sum(file.stat().st_size for file in list_data_files(path.parent, read_description(path))) > SMALL:
            return 0
        else:
            people = load(str(path), self.state.study).headcount
        return people if people < policy.min_class_size else 0

    def _titles(self) -> dict[str, dict[str, str]]:
        """Return the titles of the policies by name, in groups by recipient."""
        groups: dict[str, dict[str, str]] = {OWN_GROUP: {}, PUBLIC: {}, RESTRICTED: {}}
        names = policies.list_policy_names()
        for name in names:
            policy = policies.read(name)
            groups[PUBLIC if policy.recipient.startswith("anybody") else RESTRICTED][name] = policy.title
        for path in dict.fromkeys([*self._own_files(), self.state.policy]):
            if path not in names:
                groups[OWN_GROUP][path] = f"{policies.read(path).title} ({Path(path).name})"
        return {group: titles for group, titles in groups.items() if titles}

    def _unprotected(self, policy: Policy) -> list[str]:
        """Return the sensitive attributes if the policy caps no risk that their values are disclosed."""
        if self.state.why_not_described:
            return []
        return list_unprotected(policy_values(policy), load_schema(str(self.state.path), self.state.study).sensitive)

    def _own_path(self) -> Path:
        return self.state.path.with_name(OWN)

    def _own_files(self) -> Iterator[str]:
        """Yield the paths of the owner's policy and of its earlier versions."""
        own = self._own_path()
        if own.is_file():
            yield str(own)
        for path in sorted(own.parent.glob(f"{own.stem}-*{own.suffix}"), reverse=True):
            with contextlib.suppress(PrivnbError, OSError):
                policies.read(path)
                yield str(path)

    def _earlier(self) -> dict[str, Any]:
        """Return the day and the differences of the file that saving would replace; empty unless the page asks."""
        if not self._asks:
            return {}
        own = self._own_path()
        day = datetime.date.fromtimestamp(own.stat().st_mtime)
        try:
            old = policies.read(own)
        except PrivnbError as error:
            return {"title": OWN, "day": day.isoformat(), "differences": [str(error)]}
        found = write("decision/policy_changes", "differences", compare_policies(old, self.policy))
        return {"title": old.title, "day": day.isoformat(), "differences": list_lines(found)}

    def _judged(self) -> Decision | None:
        """Return the decision of these caps over the measured releases; None if they cannot be judged."""
        choice = self.state.choice
        if choice is None or choice.table != self.state.digest():
            return None
        try:
            return tasks.judge_again(choice, replace(self.policy, needs=choice.found.decision.policy.needs)).decision
        except (PrivnbError, ValueError):
            return None

    def _shown(self, decision: Decision) -> Any:
        """Return the row of the chosen release or, if none complies, of the release nearest to the policy."""
        return decision.chosen if decision.chosen is not None else next(decision.nearest_first.itertuples(), None)

    def _rows(self, caps: Sequence[Cap], decision: Decision | None, release: Any) -> Any:
        risks = None
        if decision is not None and release is not None:
            risks = decision.vectors[decision.vectors.setting == release.setting].set_index("axis")
        for place, cap in enumerate(caps):
            measured = verdict = ""
            if risks is not None and cap.subject in risks.index:
                row = risks.loc[cap.subject]
                measured = write_share(row.value, row.low, row.high)
                verdict = "meets the cap" if row.high <= cap.most else "exceeds the cap"
            yield CapRow(f"{PERCENT}{place}", cap.subject, _question(cap), f"{100 * cap.at_most:g}", measured, verdict)
        for subject, cap in POSSIBLE.items():
            if subject not in {cap.subject for cap in caps}:
                yield CapRow(f"{PERCENT}{subject}", subject, _question(cap), "", "", "no cap")

    def _outcome(self, decision: Decision) -> str:
        choice = self.state.choice
        assert choice is not None
        chosen = decision.chosen
        if chosen is None:
            return "With these caps, none of the measured releases complies with the policy."
        lost = decision.vectors[(decision.vectors.axis == LOSS) & (decision.vectors.setting == chosen.setting)].iloc[0]
        return line("app/texts", "outcome", chosen.setting, float(lost.value))

    def _save(self, *, is_confirmed: bool) -> None:
        """Save the policy; ask first if this replaces a file with other conditions, and keep a copy of the file."""
        if self._draft is None:
            raise UsageError("there are no changes to save. Change a cap first.")
        own = self._own_path()
        if own.is_file() and not is_confirmed:
            self._asks = True
            return
        if own.is_file():
            self._kept = keep_earlier(own).name
        policies.write_policy(self._draft, own)
        self._draft = None
        self.state.set("policy", str(own))


def _question(cap: Cap) -> str:
    """Return the question that a capped risk answers."""
    return line("app/texts", "question", strip_markup(line("decision/risks", "question", cap.risk)), cap.statistic)


def _with_cap(caps: Sequence[Cap], which: str, value: Any) -> tuple[Cap, ...]:
    """Return the caps with a new value for one of them; a new risk is added, and an empty value removes a cap.

    `which` is the position of a cap, or the subject of one of `POSSIBLE`, which is not capped yet.

    Raises
    ------
    UsageError
        For a value that is not a percentage, and if no cap would be left.
    """
    if not which.isdigit():
        return (*caps, replace(POSSIBLE[which], at_most=_share(value, which)))
    place, rest = int(which), list(caps)
    if str(value).strip():
        rest[place] = replace(rest[place], at_most=_share(value, rest[place].subject, rest[place]), people=None)
    elif len(rest) == 1:
        raise UsageError("a policy must cap at least one risk. Add another cap first.")
    else:
        del rest[place]
    return tuple(rest)


def _share(value: Any, subject: str, now: Cap | None = None) -> float:
    """Return the share of a cap in percent; if it is refused, state the cap that still applies."""
    try:
        share = float(value) / 100
    except (TypeError, ValueError):
        share = -1.0
    if not 0 <= share <= 1:
        still = "there is still no such cap" if now is None else f"{100 * now.at_most:g} still applies"
        raise UsageError(
            f"the cap on the {subject} must be a number of percent from 0 to 100; got {value!r}, so {still}. Type a "
            "number."
        )
    return round(share, 6)


def _whole(value: Any, now: int) -> int:
    if not str(value).isdigit() or int(value) < 2:
        raise UsageError(
            f"the minimum class size must be a whole number of at least 2; got {value!r}, so {now} still applies. Type "
            "a number."
        )
    return int(value)

"""What a release card says first: whether the file keeps the policy, with which reservations, the worst of each risk.

All of it is derived from the content of the card, so that a reader of the card can derive it again.
"""

from collections.abc import Iterator
from typing import Any

from privnb.decision import policies
from privnb.decision.by_policy import LARGE, lost_about
from privnb.decision.prose import say
from privnb.measures.disclosure.certainty import SURE
from privnb.measures.utility.populations import SUPPORT
from privnb.runtime.tolerances import ROUNDING

KEEPS, RESERVED, BREAKS = "keeps the policy", "keeps the policy, with reservations", "breaks the policy"
EVEN = 0.5  # a risk without a cap is a reservation from where it is more likely than not
OF_ONE = ("identity", "attribute", "linkability")  # risks that are measured for one person

Part = dict[str, Any]  # of a card, plain values

# What each risk is, where its name is read first.
MEANS = {
    "identity": "a person's row is found",
    "attribute": "a person's secret is guessed",
    "certainty": "the file discloses a person's secret with certainty",
    "linkability": "two parts of a record are joined",
    "membership": "it shows who is in the table",
    "anti-utility": "a machine guesses what the owner wants to hide",
}


def answer(content: Part) -> Part:
    """Return the answer of a card: whether it keeps the policy, why not, and what stands against it all the same.

    Parameters
    ----------
    content : dict
        Of a card, without its answer.

    Returns
    -------
    dict
        `keeps`; `status`: one of `KEEPS`, `RESERVED`, `BREAKS`; `reservations` and `worst`, lists of sentences;
        `sentences`: all of it in order.
    """
    release, policy, risks = content["release"], content["policy"], content["risks"]
    caps = [cap for risk in risks for cap in risk["caps"]]
    kept = sum(cap["kept"] for cap in caps)
    small = release["k"] is not None and release["k"] < policy["floor"]
    verdict = content["done"].get("gate")
    keeps = kept == len(caps) and not small and (verdict is None or verdict["allowed"])
    is_ready = policy["name"] in policies.ready()
    reserved = [sentence for risk in risks for sentence in certain(risk)]
    first = [*reserved]
    reserved += [sentence for risk in risks for sentence in _reservations(risk)]
    if unknown := [risk["risk"] for risk in risks if risk["unknown"]]:
        reserved += say("answer", "unknown", unknown)
    reserved += say("answer", "making", content, is_ready)
    worst = [said for risk in risks for said in (*_of_a_person(risk), *_of_a_group(risk)) if said not in reserved]
    status = BREAKS if not keeps else RESERVED if reserved else KEEPS
    said = [*say("answer", "first", content, status), *(say("answer", "small", content) if small else [])]
    said += [*first, *say("answer", "caps", content, kept, len(caps))]
    said += [*(each for each in reserved if each not in first), *worst, *_of_what_else(content)]
    return {"keeps": keeps, "status": status, "reservations": reserved, "worst": worst, "sentences": said}


def _reservations(risk: Part) -> Iterator[str]:
    """Yield what the caps on a risk do not say, or say leniently."""
    if not any(cap["statistic"] == "largest" for cap in risk["caps"]) and _likely(risk["worst_person"]):
        yield from _of_a_person(risk)
    if risk["risk"] == "certainty":
        return
    if not risk["caps"] and _likely(risk["mean"]):
        yield from say("answer", "average", risk)
    elif not risk["caps"] and _likely(risk["worst_group"]):
        yield from _of_a_group(risk)
    for cap in risk["caps"]:
        if cap["kept"]:
            yield from say("answer", "cap", cap, risk, lenient(cap))


def certain(risk: Part) -> list[str]:
    """Return what a file discloses with certainty; empty but for the risk of certainty."""
    return say("answer", "certain", risk)


def nearly_certain(risk: Part, share: float) -> list[str]:
    """Return for how many people a file makes a value as likely as `share` or more."""
    return say("answer", "nearly_certain", risk, share)


def _of_what_else(content: Part) -> Iterator[str]:
    """Yield what is not a reservation."""
    free = [risk["risk"] for risk in content["risks"] if not risk["caps"]]
    if free:
        yield from say("answer", "uncapped", free)
    for risk in content["risks"]:
        yield from say("answer", "rest", risk, unsure(content, risk))
        yield from nearly_certain(risk, content["policy"]["near_certainty"])
        if (others := risk["others"]) and others["value"] is not None:
            yield from say("answer", "without_them", others)
    if "anti-utility" in free:
        yield f"Anti-utility: {MEANS['anti-utility']}."
    by = content["uses"]["by"]
    yield from say("answer", "lost", content, lost_about(by), SUPPORT if by == LARGE else 0)


def _of_a_person(risk: Part) -> list[str]:
    worst = risk["worst_person"]
    if worst is None or risk["risk"] not in OF_ONE or (worst["high"] is None and worst["value"] is None):
        return []
    return say("answer", "person", risk, worst["value"] is not None and worst["value"] >= SURE)


def _of_a_group(risk: Part) -> list[str]:
    return [] if risk["worst_group"] is None else say("answer", "group", risk)


def _likely(number: Part | None) -> bool:
    """Return whether a number is more likely than not, and larger than without the file."""
    if number is None or number["value"] is None:
        return False
    return number["value"] >= EVEN and number["value"] > (number["baseline"] or 0)


def unsure(content: Part, risk: Part) -> int:
    """Return for how many groups the interval of a mean risk reaches above a cap that is kept on average, and does not
    lie above it.

    Parameters
    ----------
    content : dict
        Of a card.
    risk : dict
        One of its risks.
    """
    caps = [cap["cap"] for cap in risk["caps"] if cap["statistic"] == "mean" and not cap["group"] and cap["kept"]]
    groups = content["worst_groups"]["shown"] if caps else []
    of_it = [each for each in groups if each["row"]["measure"] == policies.measure_of(risk["risk"])]
    ends = [(each["low"], each["high"]) for each in of_it if each["high"] is not None]
    return sum(low <= min(caps) + ROUNDING < high for low, high in ends)


def lenient(cap: Part) -> bool:
    """Return whether a cap is kept as it is read, and not as it is written."""
    return cap["kept"] and cap["high"] > cap["written"] + ROUNDING

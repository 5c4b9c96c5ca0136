"""What a release card says first: whether the file keeps the policy, with which reservations, the worst of each risk.

All of it is derived from the content of the card, so that whoever has a card can derive it again.
"""

import math

from privnb.decision import policies
from privnb.decision.by_policy import LARGE, in_words, lost_about
from privnb.measures.disclosure.certainty import SURE
from privnb.measures.utility.populations import SUPPORT
from privnb.microdata.withholding import CONCERNS_FEW
from privnb.runtime.names import some_of
from privnb.runtime.numerals import percent
from privnb.runtime.sentences import listed
from privnb.runtime.tolerances import ROUNDING

KEEPS, RESERVED, BREAKS = "keeps the policy", "keeps the policy, with reservations", "breaks the policy"
EVEN = 0.5  # a risk without a cap is a reservation from where it is more likely than not
NAMED = 3  # groups that a sentence names, at most

# What each risk is, where its name is read first.
MEANS = {
    "identity": "a person's row is found",
    "attribute": "a person's secret is guessed",
    "certainty": "the file discloses a person's secret with certainty",
    "linkability": "two parts of a record are joined",
    "membership": "it shows who is in the table",
    "anti-utility": "a machine guesses what the owner wants to hide",
}
# What befalls a person, of whom the risk is measured for one.
BEFALLS = {
    "identity": "row can be found",
    "attribute": "{target} can be guessed",
    "linkability": "two parts can be joined",
}


def answer(content):
    """The answer of a card: whether it keeps the policy, why not, and what stands against it all the same.

    Parameters
    ----------
    content : dict
        Of a card, without its answer.

    Returns
    -------
    dict
        `keeps`; `status`: one of `KEEPS`, `RESERVED`, `BREAKS`; `reservations` and `worst`, lists of sentences;
        `sentences`: all of it in order, each of at most 20 words, but for names.
    """
    release, policy, risks = content["release"], content["policy"], content["risks"]
    caps = [cap for risk in risks for cap in risk["caps"]]
    kept = sum(cap["kept"] for cap in caps)
    small = release["k"] is not None and release["k"] < policy["floor"]
    verdict = content["done"].get("gate")
    keeps = kept == len(caps) and not small and (verdict is None or verdict["allowed"])
    people = {risk["risk"]: _of_a_person(risk) for risk in risks}
    groups = {risk["risk"]: _of_a_group(risk) for risk in risks}
    reserved = [*_of_risks(risks, people, groups), *_of_the_making(content)]
    worst = [said for pair in zip(people.values(), groups.values(), strict=True) for said in pair]
    worst = [said for said in worst if said and said not in reserved]
    status = BREAKS if not keeps else RESERVED if reserved else KEEPS
    verb, _, more = status.partition(" the policy")
    said = [f"The release {verb} the policy '{policy['title']}'{more}.", *_of_the_gate(verdict)]
    if small:
        said.append(f"Its rarest combination of quasi-identifiers has fewer than {policy['floor']} rows: too few.")
    of_all = f"It keeps {kept} of the policy's {len(caps)} caps on risks."
    first = [sentence for risk in risks for sentence in certain(risk)]
    said += first
    said.append("It keeps the policy's only cap on risks." if kept == len(caps) == 1 else of_all)
    said.append(f"The policy lets it go to {policy['recipient']}.")
    said += [*(each for each in reserved if each not in first), *worst, *_of_what_else(content)]
    return {"keeps": keeps, "status": status, "reservations": reserved, "worst": worst, "sentences": said}


def _of_the_gate(verdict):
    """Return why the gate refuses a release, and why it leaves all the same: a list of sentences."""
    if verdict is None or verdict["allowed"]:
        return []
    said = ["The gate refuses this release.", *(reason["says"] for reason in verdict["reasons"])]
    return [*said, f"Its owner releases it all the same: {verdict['override']}"] if verdict["override"] else said


def _of_risks(risks, people, groups):
    """What the caps do not say: sentences, what is disclosed with certainty first."""
    yield from (sentence for risk in risks for sentence in certain(risk))
    for risk in risks:
        worst, mean = risk["worst_person"], risk["mean"]
        if not _capped(risk, "largest") and _likely(worst):
            yield people[risk["risk"]]
        if risk["risk"] == "certainty":
            continue
        if not risk["caps"] and _likely(mean):
            yield f"On average {percent(mean['value'])} {risk['counts']}; the policy sets no cap."
        elif not risk["caps"] and _likely(risk["worst_group"]):
            yield groups[risk["risk"]]
        for cap in risk["caps"]:
            yield from _of_a_cap(cap, risk)
    unknown = [risk["risk"] for risk in risks if risk["unknown"]]
    if unknown:
        yield f"Unknown: {listed(unknown)}. Unknown does not mean low."


def certain(risk):
    """Return what a file discloses with certainty: a list of sentences; empty but for the risk of certainty."""
    said = [
        f"The file discloses the {_secret(each)} of {_people(each)} with certainty; without the file it is certain for "
        "nobody."
        for each in risk["certain"]
    ]
    if risk["risk"] == "certainty" and risk["withheld"]:
        said.append(
            f"Whether the file discloses somebody's {listed([name or 'secret' for name in risk['withheld']])} with "
            f"certainty {CONCERNS_FEW}."
        )
    return said


def nearly_certain(risk, share):
    """Return for how many people a file makes a value as likely as `share` or more: a list of sentences."""
    return [
        f"The file makes the {_secret(each)} of {_people(each)} at least {percent(share)} likely; without the file it "
        "is that likely for nobody."
        for each in risk["nearly_certain"]
    ]


def _secret(number):
    return number["row"].get("target", "secret")


def _people(number):
    share = f"{percent(number['value'])}"
    return f"{number['people']:,} people ({share})" if number.get("people") else f"{share} of people"


def _of_a_cap(cap, risk):
    """How a cap is kept that is not kept for everybody, or not to the letter: sentences."""
    if not cap["kept"]:
        return
    if over := cap["exceeded_in"]:
        named = [f"{each['row']['group']} {percent(each['value'])}" for each in over[:NAMED]]
        more = f" and {len(over) - NAMED} more" if over[NAMED:] else ""
        many = f"{len(over)} group{'s' if over[1:] else ''}"
        kept = f"The cap on {risk['risk']} is kept on average, and the whole interval is above it in {many}"
        yield f"{kept}: {', '.join(named)}{more}."
    if lenient(cap):
        read = f"read as one of {round(1 / cap['cap'])}"
        yield (
            f"The cap on {risk['risk']} is kept by the lenient reading alone: {percent(cap['high'])} is above "
            f"{percent(cap['written'])}, {read}."
        )


def _of_the_making(content):
    """What of the policy, the measurement and the file itself stands against a plain answer: sentences."""
    policy, done, decision = content["policy"], content["done"], content["decision"]
    if not policy["verified"]:
        if policy["name"] in policies.ready():
            yield "Of the policy's source only a digest was read, not the source itself: its caps are our reading."
        else:
            yield "The policy does not say that anybody checked it against its source."
    if others := content["unmeasured"]:
        yield f"Nobody measured what the file gives away of {some_of(others)}, which is sensitive, too."
    if decision["chosen"] != decision["release"]:
        yield "The policy does not choose this release."
    if content["measured_on"] != done.get("dataset"):
        yield f"The risks were measured on {content['measured_on']}, and not on the file's own records."
    if not str(done["use"]).startswith("release"):
        yield "It was drawn with a seed, which undoes it. It is not for publication."
    if policy["changed"]:
        yield "The policy was changed after the decision. Decide anew."


def _of_what_else(content):
    """What is no reservation: sentences."""
    free = [risk["risk"] for risk in content["risks"] if not risk["caps"]]
    if free:
        yield f"The policy sets no cap on {listed(free)}."
    for risk in content["risks"]:
        if many := unsure(content, risk):
            groups = f"{many} {'other ' if risk['caps'][0]['exceeded_in'] else ''}group{'s' * (many > 1)}"
            yield f"Whether {risk['risk']} keeps its cap in {groups} is not known: the intervals reach above it."
        yield from nearly_certain(risk, content["policy"]["near_certainty"])
        if (others := risk["others"]) and others["value"] is not None:
            share, secret = percent(others["value"]), others["row"].get("target", "secret")
            yield f"From all other people's records alone the {secret} of {share} of people is guessed right."
    if "anti-utility" in free:
        yield f"Anti-utility: {MEANS['anti-utility']}."
    lost = content["uses"]["lost"]
    if lost["value"] is not None:
        about = lost_about(content["uses"]["by"])
        yield f"It loses {percent(lost['value'])} of what there is to lose {about}."
        yield "0% is the original, and 100% a file without quasi-identifiers."
        if content["uses"]["by"] == LARGE:
            yield f"Large are groups of at least {percent(SUPPORT)} of people; about smaller ones it may lose more."
    if content["decision"]["drawn"]:
        yield "The file is one of many that could have been made: its own numbers may differ from the measured ones."


def _of_a_person(risk):
    """The risk of the worst-off person beside that without the file and the cap: a sentence, empty if not measured."""
    worst = risk["worst_person"]
    if worst is None or risk["risk"] not in BEFALLS or (worst["high"] is None and worst["value"] is None):
        return ""
    share = worst["value"] if worst["value"] is not None else worst["high"]
    most = "" if worst["value"] is not None else "at most "
    befalls = BEFALLS[risk["risk"]].format(target=worst["row"].get("target", "secret"))
    sure = worst["value"] is not None and share >= SURE
    who, how = ("Somebody's", " with certainty") if sure else ("The worst-off person's", "")
    without = "" if worst["baseline"] is None else f" ({percent(worst['baseline'])} without the file)"
    return f"{who} {befalls}{how}: {most}{percent(share)}{without}; {_cap_said(risk, 'largest')}."


def _of_a_group(risk):
    """The group of which the mean risk is largest: a sentence, empty if none is above 0."""
    worst = risk["worst_group"]
    if worst is None:
        return ""
    many = "" if worst["people"] is None else f", {worst['people']:,} people"
    name = risk["risk"][0].upper() + risk["risk"][1:]
    return f"{name} is worst in {worst['row']['group']}{many}: {with_interval(worst)}; {_cap_said(risk, '')}."


def _cap_said(risk, statistic):
    """What the policy says of a risk of the worst-off person, "largest", or of a mean, ""."""
    if not risk["caps"]:
        return "the policy sets no cap"
    if not (found := [cap for cap in risk["caps"] if cap["statistic"] == (statistic or "mean")]):
        return f"the policy caps {'the average' if statistic else 'the worst-off person'} alone"
    cap = found[0]
    if not statistic and not cap["group"]:
        return "the cap is on the average"
    return f"the cap of {percent(cap['cap'])} is {'kept' if cap['kept'] else 'not kept'}"


def _capped(risk, statistic):
    return any(cap["statistic"] == statistic for cap in risk["caps"])


def _likely(number):
    """Whether a number is more likely than not, and larger than without the file."""
    if number is None or number["value"] is None:
        return False
    return number["value"] >= EVEN and number["value"] > (number["baseline"] or 0)


def unsure(content, risk):
    """Return for how many groups the interval of a mean risk reaches above a cap that is kept on average, and does not
    lie above it: a whole number.

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


def lenient(cap):
    """Whether a cap is kept as it is read, and not as it is written."""
    return cap["kept"] and cap["high"] > cap["written"] + ROUNDING


def with_interval(number):
    """A share with its 95% interval; of a withheld one the bound that is known.

    >>> with_interval({"value": None, "low": None, "high": 0.2})
    'at most 20%'
    """
    value, low, high = (number[name] for name in ("value", "low", "high"))
    if value is None:
        return "withheld" if high is None else in_words(math.nan, math.nan, high)
    return in_words(value, *((value, value) if low is None else (low, high)))

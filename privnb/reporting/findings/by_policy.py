"""What a policy leads to, and what a release card says first: which release, what it keeps, what rules others out."""

from typing import Annotated

from privnb.decision.by_policy import lost_about
from privnb.decision.card import Card
from privnb.decision.policy_search import Searched
from privnb.runtime import numerals
from privnb.runtime.sentences import B, Sentences, say
from privnb.runtime.validation import instead, validated


@validated
def by_policy(
    found: Annotated[Searched, instead(Searched, "`decision.policy_search.searched` gives it.")],
) -> Sentences:
    """The decision in sentences, the answer first.

    Parameters
    ----------
    found : Searched
        Of `decision.policy_search.searched`.

    Returns
    -------
    Sentences
    """
    return say(*found.sentences)


@validated
def release_card(card: Card) -> Sentences:
    """The answer of a card in sentences, then why.

    Parameters
    ----------
    card : Card

    Returns
    -------
    Sentences
    """
    content = card.content
    answer, policy, lost = content["answer"], content["policy"], content["uses"]["lost"]["value"]
    caps = [cap for risk in content["risks"] for cap in risk["caps"]]
    kept = sum(cap["kept"] for cap in caps)
    about = lost_about(content["uses"]["by"])
    users = "" if lost is None else f", and {numerals.bare('{:%}', lost)} of what there is to lose {about} is lost"
    verb, _, more = answer["status"].partition(" the policy")
    counted = f"{kept} of {len(caps)} caps kept"
    first = f"{B}{content['decision']['release']}{B} {verb} {policy['title']}{more}: {counted}{users}."
    return say(first, [each for each in answer["sentences"][1:] if each not in answer["reservations"]])

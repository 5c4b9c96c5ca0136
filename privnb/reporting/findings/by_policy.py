"""Which release a policy leads to, what it keeps, and what rules the others out."""

from privnb.decision.policy_search import Searched
from privnb.runtime import expect
from privnb.runtime.sentences import say


def by_policy(found):
    """The decision in sentences, the answer first.

    Parameters
    ----------
    found : Searched
        Of `decision.policy_search.searched`.

    Returns
    -------
    Sentences
    """
    expect.kind("found", found, Searched, instead="`decision.policy_search.searched` gives it.")
    return say(*found.sentences)

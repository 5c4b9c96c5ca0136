"""Which release a policy leads to, what it keeps, and what rules the others out."""

from privnb.microdata import expect
from privnb.microdata.sentences import say
from privnb.studies.policy_search import Searched


def by_policy(found):
    """The decision in sentences, the answer first.

    Parameters
    ----------
    found : Searched
        Of `studies.searched`.

    Returns
    -------
    Sentences
    """
    expect.kind("found", found, Searched, instead="`studies.searched` gives it.")
    return say(*found.sentences)

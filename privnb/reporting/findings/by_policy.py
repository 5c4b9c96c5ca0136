"""Which release a policy leads to, what it keeps, and what rules the others out."""

from typing import Annotated

from privnb.decision.policy_search import Searched
from privnb.runtime.sentences import Sentences, say
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

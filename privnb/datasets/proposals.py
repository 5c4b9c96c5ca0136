"""Domains that a draft read from the records and that nobody has confirmed: what every report says of them."""

from __future__ import annotations

import tomllib

from privnb.datasets.dataset import find
from privnb.datasets.document import proposals
from privnb.microdata.schema import PUBLISHED
from privnb.runtime import validation
from privnb.runtime.sentences import Sentences, say


def sentence(name: validation.Path) -> Sentences | None:
    """What `unconfirmed` says of the description of a dataset, named as for `dataset.load`: `Sentences`, or None."""
    text = unconfirmed(find(name).read_text(encoding="utf-8"))
    return say(text) if text else None


def unconfirmed(text: str) -> str:
    """How many domains of what is published were read from the records, and what that means.

    Parameters
    ----------
    text : str
        Of a description.

    Returns
    -------
    str
        A sentence; empty if there is none.
    """
    columns = tomllib.loads(text).get("columns", {})  # a report may be of what is no whole description
    stated = [name for name, entry in columns.items() if "domain" in entry and entry["role"] in PUBLISHED]
    proposed = {*proposals(text)}.intersection(stated)
    if not proposed:
        return ""
    return (
        f"{len(proposed)} of {len(stated)} domains were read from the records, and nobody has replaced them: which "
        "values there can be and where ranges end tells of the records, and no promise of noise holds. The lines "
        "marked PROPOSAL in the description file say which."
    )

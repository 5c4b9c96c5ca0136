"""The card of the release that a policy leads to: the file is made, counted and measured, and not kept."""

import json

from privnb.decision.card import card, check
from privnb.evaluation.results import SETTING, setting
from privnb.microdata import expect, unfinished, writing
from privnb.microdata.schema import NotForThisTable
from privnb.studies.by_policy import Searched


def carded(dataset, found, *, rng=1):
    """The card of the chosen release, or of the one that is nearest to the policy where it chooses none.

    Parameters
    ----------
    dataset : Dataset
    found : Searched
        Of `searched`.
    rng : int, Generator or None
        Draws what is random; a release drawn with a seed is a simulation, and its card says so.

    Returns
    -------
    Card

    Raises
    ------
    NotForThisTable
        Where nothing but the original was measured.
    """
    expect.kind("found", found, Searched, instead="`studies.searched` gives it.")
    expect.these(dataset=dataset, rng=rng)
    of = found.decision.nearest
    if of is None:
        raise NotForThisTable("No release but the original was measured. Allow more settings.")
    wanted = [*of[SETTING]]
    sanitizer = next(each for each in found.sanitizers if [setting(each)[name] for name in SETTING] == wanted)
    release = sanitizer.sanitize(dataset, rng=rng)
    with unfinished.folder() as folder:
        path = folder / "released.csv"
        columns, times, _ = release.counted_rows()
        writing.write(path, columns, times)
        facts = json.dumps(release.provenance.public(), indent=1) + "\n"
        path.with_name(path.name + writing.FACTS).write_text(facts, encoding="utf-8")
        return card(path, found.decision, found.results, dataset, of)


def of_the_card(card, found):
    """The rows of results that a card is of.

    Parameters
    ----------
    card : Card
    found : Searched

    Returns
    -------
    DataFrame
    """
    check(card)
    expect.kind("found", found, Searched, instead="`studies.searched` gives it.")
    wanted = [card.content["decision"][name] for name in SETTING]
    return found.results[(found.results[SETTING] == wanted).all(axis=1)].reset_index(drop=True)

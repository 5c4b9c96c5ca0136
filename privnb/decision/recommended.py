"""What is recommended, and what it gives away and keeps beside the original: what a report's summary is made of."""

from functools import partial

import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.decision.policy_search import Searched
from privnb.decision.summary import recommendation
from privnb.evaluation import trade_off
from privnb.evaluation.attributes import first_secret
from privnb.evaluation.cases import Linked, answer
from privnb.evaluation.combinations import Combinations
from privnb.evaluation.disclosure import disclosures
from privnb.evaluation.experiments.users_and_adversaries import adversaries
from privnb.evaluation.profiles import ProfileName, evaluated, profile_of, together
from privnb.evaluation.releases import Costs
from privnb.evaluation.results import Results, join
from privnb.evaluation.store import Folder
from privnb.evaluation.utility import workload
from privnb.microdata.schema import Role
from privnb.runtime.names import some_of
from privnb.runtime.numerals import percent
from privnb.runtime.sentences import Sentences, listed, say
from privnb.runtime.validation import validated
from privnb.sanitizers.catalogue import reference_sanitizers

__all__ = ["as_they_are", "decided", "what_would_help"]

HALF = 0.5  # of what users can lose


@validated
def decided(
    dataset: Dataset, results: Results, found: Searched, *, profile: ProfileName = "quick", store: Folder = ""
) -> pd.DataFrame:
    """The results with the decision, and the risks and utilities of the original and of what is chosen.

    Parameters
    ----------
    dataset : Dataset
    results : DataFrame
        Of `appraised`.
    found : Searched
        Of `searched`.
    profile : str
        How much is run, by name: one of `PROFILES`.
    store : str
        The folder that keeps what is finished; empty: none.

    Returns
    -------
    DataFrame
        `results`, the row of `decision.summary.recommendation`, and what `decision.summary` reads of both releases:
        who is singled out, found, linked, guessed and known for a member, nearer predictions of the worst miner, and
        what users keep. Where nothing is chosen, of the original alone.
    """
    profile_of(profile)
    note, floor = as_they_are(dataset), found.decision.policy.floor
    many = len(dataset.schema.quasi_identifiers)
    whose = ", one per person" if dataset.schema.person is None else f" of {dataset.headcount:,} people"
    of_table = f"{len(dataset):,} records{whose}, {many} quasi-identifier{'s' * (many > 1)}."
    caps, certainty = found.decision.caps, found.decision.certainty
    (first, _), *more = found.steps
    tried = f"First {first.settings} settings were tried on {first.records:,} records." if more else ""
    helps = what_would_help(found, dataset)
    if helps and found.chosen is None:
        helps = f"{helps.rstrip('.')}; page 08 says what comes nearest."
    said = " ".join(filter(None, [of_table, tried, caps, certainty, helps, note.data if note else ""]))
    row = recommendation(found.results, found.decision.choice, found.decision.why, said)
    (original, bare), target, size = reference_sanitizers(), first_secret(dataset), profile_of(profile)
    questions = [Combinations(floor), Linked(), Costs()]
    if target:
        questions += [disclosures.Disclosure(target), trade_off.Losses(target)]
    if target and not dataset.schema[target].numeric:  # a number is seldom predicted exactly
        miner, (_, folds) = next(iter(size.workloads.items()))
        questions.append(workload.Utility(target, miner, folds=folds))
    both = [original, *filter(None, [found.chosen])]
    tasks = [partial(answer, dataset, each, 1, question) for each in both for question in questions]
    tasks.append(partial(answer, dataset, bare, 1, Costs()))
    seen = evaluated({"": tasks}, store, "look at what is chosen")[""]
    mined = [adversaries(dataset, both, profile=profile, seeds=1, store=store)] if target else []
    return together([join(results, row, found.of_risks, seen, *mined)])


@validated
def what_would_help(found: Searched, dataset: Dataset) -> str:
    """What to do where no release keeps the policy; only what was measured to help is advised.

    Parameters
    ----------
    found : Searched
        Of `searched`.
    dataset : Dataset

    Returns
    -------
    str
        A sentence, or nothing.
    """
    decision, schema = found.decision, dataset.schema
    if decision.chosen is not None:
        lost = decision.chosen.loss
        return f"Its users lose more than half of what there is to lose ({percent(lost)})." if lost > HALF else ""
    if not schema.sensitive and any(cap.risk == "attribute" for cap in decision.policy.caps):
        return (
            "This policy caps what is guessed of a sensitive attribute, and this table has none. Give a column the "
            "role sensitive, or choose a policy that caps identification alone, such as ema-0070."
        )
    names = [name for name in schema.knowable if schema[name].role is Role.NEUTRAL]
    if names and not found.in_vain:
        return (
            f"An adversary may know {some_of(names)}, published as in the table. `privnb decide` also tries to "
            "generalize these columns (role quasi-identifier) and to leave them out (role unused). If nobody can know "
            "them, state why in the description (cannot_be_known)."
        )
    return ""


@validated
def as_they_are(dataset: Dataset) -> Sentences | None:
    """Return what is published as in the table, and which of several sensitive attributes the numbers are about.

    Parameters
    ----------
    dataset : Dataset

    Returns
    -------
    Sentences or None
        None where there is none.
    """
    schema, said = dataset.schema, []
    names, reasons = schema.names(Role.NEUTRAL), dict.fromkeys(schema.unknowable.values())
    if len(sensitive := dataset.schema.names(Role.SENSITIVE)) > 1:
        said.append(
            f"The attribute risk is that of the worst of {len(sensitive)} sensitive attributes, {listed(sensitive)}. "
            f"Of {sensitive[0]} alone are the losses of privacy and utility, and what l-diversity and its like "
            "protect: to protect another one so, make it the only one in a study of the description file."
        )
    if not sensitive:
        said.append("No attribute is sensitive, so nobody's is guessed, and what users lose is counted in detail.")
    if names:
        stated = {reason: [each for each in names if schema.unknowable.get(each) == reason] for reason in reasons}
        said += [
            f"{listed(own)} {'are' if own[1:] else 'is'} published as in the table. The owner states that no adversary "
            f"can know {'them' if own[1:] else 'it'}: {reason.rstrip('.')}."
            for reason, own in stated.items()
        ]
        if known := [name for name in names if name not in schema.unknowable]:
            said.append(
                f"{listed(known)} {'are' if known[1:] else 'is'} published as in the table, and every risk counts what "
                f"an adversary who knows {'them' if known[1:] else 'it'} learns."
            )
    return say(" ".join(said)) if said else None

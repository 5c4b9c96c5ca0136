"""What is recommended, and what it gives away and keeps beside the original: what a report's summary is made of."""

from functools import partial

from privnb.decision import choices, reason
from privnb.decision.summary import recommendation
from privnb.evaluation import disclosures, trade_off, workload
from privnb.evaluation.attributes import sensitive_name
from privnb.evaluation.cases import Linked, answer
from privnb.evaluation.combinations import Combinations
from privnb.evaluation.releases import Costs
from privnb.evaluation.results import join, setting
from privnb.microdata import expect
from privnb.microdata.schema import Role
from privnb.microdata.sentences import say
from privnb.sanitizers.catalogue import ends
from privnb.studies.profiles import evaluated, profile_of, together
from privnb.studies.sramka_2010 import adversaries


def decided(dataset, sanitizers, results, releases, policy, *, profile="quick", store=""):
    """The results with the recommendation, and the risks and utilities of the original and of what is recommended.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : list of Sanitizer
        Those that were compared.
    results : DataFrame
        Of `appraised`.
    releases : DataFrame
        `decision.points` of these, with the policy's floor.
    policy : Policy
        What the owner accepts.
    profile : str
        How much is run, by name: one of `PROFILES`.
    store : str
        The folder that keeps what is finished; empty: none.

    Returns
    -------
    DataFrame
        `results`, the row of `decision.summary.recommendation`, and what `decision.summary` reads of both releases:
        who is singled out, found and guessed, whose sensitive value is surest, nearer predictions of the worst miner,
        and what users keep. Where nothing is recommended, of the original alone.
    """
    expect.these(dataset=dataset, sanitizers=sanitizers, results=results, releases=releases, policy=policy)
    expect.these(profile=profile, store=store)
    table, floor = choices(releases, **policy.caps(releases)), policy.floor
    note = as_they_are(dataset)
    row = recommendation(results, table, reason(releases, table, policy), note.data if note else "")
    (original, bare), target, size = ends(), sensitive_name(dataset, None), profile_of(profile)
    questions = [Combinations(floor), Linked(), disclosures.Disclosure(target), Costs(), trade_off.Losses(target)]
    if not dataset.schema[target].numeric:  # a number is seldom predicted exactly
        miner, (_, folds) = next(iter(size.workloads.items()))
        questions.append(workload.Utility(target, miner, folds=folds))
    both = [original, *(each for each in sanitizers if _named(each) == tuple(row[["sanitizer", "parameters"]].iloc[0]))]
    tasks = [partial(answer, dataset, each, 1, question) for each in both for question in questions]
    tasks.append(partial(answer, dataset, bare, 1, Costs()))
    found = evaluated({"": tasks}, store, "look at what is recommended")[""]
    mined = adversaries(dataset, both, profile=profile, seeds=1, store=store)
    return together([join(results, row, found, mined)])


def as_they_are(dataset):
    """On neutral attributes, which every release publishes as they are: no risk here counts what they tell.

    Parameters
    ----------
    dataset : Dataset

    Returns
    -------
    Sentences or None
        None where there is none.
    """
    expect.these(dataset=dataset)
    many = len(dataset.schema.names(Role.NEUTRAL))
    if not many:
        return None
    what = f"{many} neutral attributes are" if many > 1 else "1 neutral attribute is"
    return say(
        f"{what} published exactly, and no risk here counts what they tell: whoever knows them may find a person. "
        "Give what others may know the role quasi-identifier."
    )


def _named(sanitizer):
    named = setting(sanitizer)
    return named["sanitizer"], named["parameters"]

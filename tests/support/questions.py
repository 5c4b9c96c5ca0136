"""One question asked of several releases of one seed, by the name of what is asked."""

from privnb.evaluation.attributes import check_published, choose_sensitive, choose_target, choose_unknown_sensitive
from privnb.evaluation.disclosure.disclosures import Disclosure, InformationShares, list_trivial_sanitizers
from privnb.evaluation.disclosure.leakage import ExpectedGain, KnownAttributes, Leakage
from privnb.evaluation.disclosure.nearer_predictions import NearerPredictions
from privnb.evaluation.disclosure.predicted_gains import PredictedGains
from privnb.evaluation.evaluation_loop import answer_for_each, evaluate, require_possible
from privnb.evaluation.risks import build_questions
from privnb.evaluation.trade_off import Losses
from privnb.evaluation.utility.workload import WorkloadGain, WorkloadUtility
from privnb.sanitizers import Identity


def risks(dataset, sanitizers, *, sensitive=None, min_count=10):
    return evaluate(dataset, sanitizers, measures=build_questions(dataset, sensitive=sensitive), min_count=min_count)


def trade_off(dataset, sanitizers, *, sensitive=None, seed=1, min_count=10, **asked):
    return answer_for_each(
        dataset,
        sanitizers,
        Losses(choose_unknown_sensitive(dataset, sensitive), **asked),
        seed=seed,
        min_count=min_count,
    )


def known_subsets(dataset, sanitizers, *, sensitive=None, seed=1, min_count=10):
    return require_possible(
        answer_for_each(
            dataset,
            sanitizers,
            KnownAttributes(choose_unknown_sensitive(dataset, sensitive)),
            seed=seed,
            min_count=min_count,
        )
    )


def leakage(dataset, sanitizers, *, sensitive=None, seed=1, min_count=10):
    return answer_for_each(
        dataset, sanitizers, Leakage(choose_unknown_sensitive(dataset, sensitive)), seed=seed, min_count=min_count
    )


def worth(dataset, sanitizers, gain, *, sensitive=None, seed=1, min_count=10):
    found = answer_for_each(
        dataset,
        sanitizers,
        ExpectedGain(gain, choose_unknown_sensitive(dataset, sensitive)),
        seed=seed,
        min_count=min_count,
    )
    return found[found.status != "not possible"]


def priced(dataset, sanitizers, *, price=1.0, seed=1, min_count=10):
    return answer_for_each(dataset, sanitizers, ExpectedGain.priced(dataset, price), seed=seed, min_count=min_count)


def disclosure(dataset, sanitizers, *, sensitive=None, knows="", miners="", seed=1, min_count=10):
    question = Disclosure.of(dataset, sensitive=sensitive, knows=knows, miners=miners)
    return require_possible(answer_for_each(dataset, sanitizers, question, seed=seed, min_count=min_count))


def information_shares(dataset, sanitizers):
    return require_possible(answer_for_each(dataset, sanitizers, InformationShares()))


def utility(dataset, sanitizers, *, seed=1, min_count=10, **asked):
    return require_possible(
        answer_for_each(dataset, sanitizers, WorkloadUtility(**asked), seed=seed, min_count=min_count)
    )


def utility_gain(dataset, sanitizers, *, seed=1, min_count=10, over=None, **asked):
    every = list(dict.fromkeys(sanitizers if over else [*list_trivial_sanitizers(), Identity(), *sanitizers]))
    return require_possible(
        answer_for_each(dataset, every, WorkloadGain(**asked, over=over), seed=seed, min_count=min_count)
    )


def anti_utility(dataset, sanitizer, *, target=None, seed=1, min_count=10, **asked):
    question = NearerPredictions(check_published(dataset, target or choose_target(dataset)), **asked)
    return require_possible(answer_for_each(dataset, [sanitizer], question, seed=seed, min_count=min_count))


def gains_with_predictions(dataset, sanitizer, *, target=None, sensitive=None, seed=1, min_count=10, **asked):
    target = check_published(dataset, target or choose_target(dataset))
    question = PredictedGains(target, choose_sensitive(dataset, sensitive), **asked)
    return require_possible(answer_for_each(dataset, [sanitizer], question, seed=seed, min_count=min_count))

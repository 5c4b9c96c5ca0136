"""One question asked of several releases of one seed, by the name of what is asked."""

from privnb.evaluation.attributes import first_number, published_name, secret_name, sensitive_name
from privnb.evaluation.cases import answers, evaluate, reached
from privnb.evaluation.disclosure.disclosures import Disclosure, Shares, trivial
from privnb.evaluation.disclosure.leakage import Known, Leakage, Worth
from privnb.evaluation.disclosure.nearer_predictions import Nearer
from privnb.evaluation.disclosure.predicted_gains import PutIn
from privnb.evaluation.risks import questions
from privnb.evaluation.trade_off import Losses
from privnb.evaluation.utility.workload import Gained, Utility
from privnb.sanitizers import Identity


def risks(dataset, sanitizers, *, sensitive=None, fewest=10):
    return evaluate(dataset, sanitizers, measures=questions(dataset, sensitive=sensitive), fewest=fewest)


def trade_off(dataset, sanitizers, *, sensitive=None, seed=1, fewest=10, **asked):
    return answers(dataset, sanitizers, Losses(secret_name(dataset, sensitive), **asked), seed=seed, fewest=fewest)


def known_subsets(dataset, sanitizers, *, sensitive=None, seed=1, fewest=10):
    return reached(answers(dataset, sanitizers, Known(secret_name(dataset, sensitive)), seed=seed, fewest=fewest))


def leakage(dataset, sanitizers, *, sensitive=None, seed=1, fewest=10):
    return answers(dataset, sanitizers, Leakage(secret_name(dataset, sensitive)), seed=seed, fewest=fewest)


def worth(dataset, sanitizers, gain, *, sensitive=None, seed=1, fewest=10):
    found = answers(dataset, sanitizers, Worth(gain, secret_name(dataset, sensitive)), seed=seed, fewest=fewest)
    return found[found.status != "not possible"]


def priced(dataset, sanitizers, *, price=1.0, seed=1, fewest=10):
    return answers(dataset, sanitizers, Worth.priced(dataset, price), seed=seed, fewest=fewest)


def disclosure(dataset, sanitizers, *, sensitive=None, knows="", miners="", seed=1, fewest=10):
    question = Disclosure.of(dataset, sensitive=sensitive, knows=knows, miners=miners)
    return reached(answers(dataset, sanitizers, question, seed=seed, fewest=fewest))


def information_shares(dataset, sanitizers):
    return reached(answers(dataset, sanitizers, Shares()))


def utility(dataset, sanitizers, *, seed=1, fewest=10, **asked):
    return reached(answers(dataset, sanitizers, Utility(**asked), seed=seed, fewest=fewest))


def utility_gain(dataset, sanitizers, *, seed=1, fewest=10, over=None, **asked):
    every = list(dict.fromkeys(sanitizers if over else [*trivial(), Identity(), *sanitizers]))
    return reached(answers(dataset, every, Gained(**asked, over=over), seed=seed, fewest=fewest))


def anti_utility(dataset, sanitizer, *, target=None, seed=1, fewest=10, **asked):
    question = Nearer(published_name(dataset, target or first_number(dataset)), **asked)
    return reached(answers(dataset, [sanitizer], question, seed=seed, fewest=fewest))


def gains_with_predictions(dataset, sanitizer, *, target=None, sensitive=None, seed=1, fewest=10, **asked):
    target = published_name(dataset, target or first_number(dataset))
    question = PutIn(target, sensitive_name(dataset, sensitive), **asked)
    return reached(answers(dataset, [sanitizer], question, seed=seed, fewest=fewest))

"""Sanitizers that are asked for models by their words, and releases without a seed."""

import pytest
from sklearn.base import clone
from support.clinic import CLINIC

from privnb.datasets.dataset import load
from privnb.privacy_models import (
    AlphaKAnonymity,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    TCloseness,
)
from privnb.privacy_models.words import keywords
from privnb.publishing.model_spec import find_models, parse_sanitizer
from privnb.runtime.errors import UsageError, UsageTypeError
from privnb.sanitizers import FullDomain, LaplaceNoise, LocalRecoding, Mondrian, TopDownSpecialization

K, T, L = KAnonymity(10), TCloseness(0.2, "illness"), DistinctDiversity(2, "illness")
SAME = [
    (lambda: Mondrian(10), Mondrian(K)),
    (lambda: Mondrian(k=10), Mondrian(K)),
    (lambda: Mondrian(t=(0.2, "illness"), k=10), Mondrian(K, T)),
    (lambda: Mondrian(10, l=[(2, "illness"), (3, "ward")]), Mondrian(K, L, DistinctDiversity(3, "ward"))),
    (lambda: Mondrian(T, k=10, split_attribute="penalty"), Mondrian(T, K, split_attribute="penalty")),
    (lambda: Mondrian(10, alpha=(0.5, "illness")), Mondrian(K, AlphaKAnonymity(0.5, 10, "illness"))),
    (lambda: FullDomain(10, suppress=0.1, entropy_l=(2, "ward")),
     FullDomain(K, EntropyDiversity(2, "ward"), suppress=0.1)),
    (lambda: LocalRecoding(k=10), LocalRecoding(K)),
    (lambda: TopDownSpecialization(10, workload="ward"), TopDownSpecialization(K, workload="ward")),
]  # fmt: skip


@pytest.mark.parametrize(("made", "same"), SAME)
def test_words_ask_for_the_models_themselves(made, same):
    sanitizer = made()
    assert (repr(sanitizer), sanitizer.key, sanitizer.get_params()) == (repr(same), same.key, same.get_params())
    assert clone(sanitizer) == sanitizer == same


REFUSED = [
    (lambda: Mondrian(t=0.2), r'`t` must be a pair of a bound and its sensitive attribute, .* Try t=\(0.2, "A'),
    (lambda: Mondrian(k=(10, "illness")), "`k` must be only a bound"),
    (lambda: Mondrian(10, k=5), "`k` must be given once; got 2 values"),
    (lambda: Mondrian(10, 20), "`k` must be given once; got 2 values"),
    (lambda: Mondrian(K, k=5), "`k` must be given once; got two values"),
    (lambda: Mondrian(t=[(0.2, "a"), (0.3, "a")]), "`t` must be given once for 'a'"),
    (lambda: Mondrian(t=[]), "`t` must be a bound or a list of bounds"),
    (lambda: Mondrian(k=1), "k must be a whole number of at least 2"),
    (lambda: Mondrian(recursive_l=(3, "a")), r"also needs c; .* Try RecursiveDiversity\(c=..., l=3, sensitive='a'\)"),
    (lambda: Mondrian(k_map=3), "also needs population"),
    (lambda: Mondrian(alpha=(0.5, "a")), "also needs k"),
]  # fmt: skip


@pytest.mark.parametrize(("made", "message"), REFUSED)
def test_words_that_ask_for_no_model_are_refused(made, message):
    with pytest.raises(UsageError, match=message):
        made()


def test_an_unknown_word_names_those_that_there_are():
    with pytest.raises(UsageTypeError, match=r"no parameter kk;.* given by l, k, .*Did you mean 'k'"):
        Mondrian(kk=10)
    with pytest.raises(UsageTypeError, match=r"models\[0\] must be a PrivacyModel; got 0.2"):
        Mondrian(0.2)


def test_keywords_are_the_words_of_the_command_line():
    written = {word.replace("-", "_"): kind for word, kind in find_models().items()}
    assert written.items() <= keywords().items()
    data = load(CLINIC)
    assert parse_sanitizer("l=2, k=5", "Mondrian", data.schema) == Mondrian(k=5, l=(2, "diagnosis"))


def test_a_release_without_a_seed_is_for_publication():
    release = LaplaceNoise(1.0).sanitize(load(CLINIC))
    assert (release.provenance.seed, release.provenance.public()["use"]) == (None, "release")
    assert not release.table.equals(LaplaceNoise(1.0).sanitize(load(CLINIC)).table)

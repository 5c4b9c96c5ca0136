"""Risks of every release of the family, recomputed by plain loops; anti-utility's stand with its other tests."""

from collections import Counter

import numpy as np
import plain
import pytest

from privnb.evaluation.cases import Case
from privnb.evaluation.risks.attribute import AttributeRisk
from privnb.evaluation.risks.identity import IdentityRisk
from privnb.evaluation.risks.linkability import LinkabilityRisk
from privnb.microdata.dataset import load
from privnb.microdata.treatment import Rows, Unreadable
from privnb.studies.every_sanitizer import family

PARTS = ("age", "race", "sex"), ("education", "marital-status")
NAME = "occupation"


@pytest.fixture(scope="module")
def adult():
    return load("adult", "li-li", records=50)


@pytest.fixture(scope="module")
def cases(adult):
    made = [Case(adult, each, 1) for each in family(adult, k="3", l="2", t="0.4", delta="2", epsilon="1")]
    assert len(made) > 30
    return made


def refused(question, case):
    """Whether a risk is unknown of a release; only one of nobody's rows, or of columns of its own, is."""
    try:
        question.scores(case)
    except Unreadable:
        release = case.release
        assert release.provenance.rows is Rows.NOBODY or {*release.cells} - {*case.dataset.schema.published}
        return True
    return False


def test_identity(adult, cases):
    compared = 0
    for case in cases:
        if not refused(IdentityRisk(), case):
            by = plain.singled_out if case.release.provenance.rows is Rows.NOBODY else plain.identity
            scores, found = IdentityRisk().scores(case), by(adult, case.release)
            assert scores.people.tolist() == found.index.tolist(), case.sanitizer
            assert scores.chance == pytest.approx(found.to_numpy()), case.sanitizer
            compared += 1
    assert compared > 25


def test_linkability(adult, cases):
    compared = 0
    for case in cases:
        if not refused(LinkabilityRisk(PARTS), case):
            scores = LinkabilityRisk(PARTS).scores(case)
            people = [adult.table.iloc[person] for person in scores.people]
            first, second = ([{*plain.fitting(case.release, each, part)} for each in people] for part in PARTS)
            pairs = np.array([[len(a & b) / max(len(a) * len(b), 1) for b in second] for a in first])
            assert scores.chance == pytest.approx(np.diag(pairs)), case.sanitizer
            before = (pairs.sum(axis=1) - np.diag(pairs)) / (len(pairs) - 1)
            assert scores.before == pytest.approx(before), case.sanitizer
            compared += 1
    assert compared > 25


def test_attribute(adult, cases):
    """In classes and buckets by whom they hold. Else a tree guesses, or the rows that fit best, whichever is right more
    often."""
    kinds = Counter()
    for case in cases:
        release, question = case.release, AttributeRisk(NAME)
        if refused(question, case):
            continue
        scores, who = question.scores(case)
        if release.provenance.rows is Rows.NOBODY:  # no row is a person's, and what a tree learns is tested as a miner
            assert who.startswith("decision tree")
            continue
        by = plain.guessed if release.classes is not None else plain.guessed_of_the_nearest
        found = by(adult, release, NAME)
        kinds[who] += 1
        assert scores.people.tolist() == found.index.tolist(), case.sanitizer
        if who.startswith("decision tree"):  # which is a miner like any other
            assert scores.chance.sum() > found.sum(), case.sanitizer
        else:
            assert scores.chance == pytest.approx(found.to_numpy()), case.sanitizer
    assert min(kinds[""], kinds["nearest rows"]) > 5

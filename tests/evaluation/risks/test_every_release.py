"""Risks of every release of the family, recomputed by plain loops; anti-utility's stand with its other tests."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import plain
import pytest

from privnb.datasets.dataset import load
from privnb.evaluation.evaluation_loop import Case
from privnb.evaluation.risks.attribute import AttributeRisk
from privnb.evaluation.risks.identity import ReidentificationRisk
from privnb.evaluation.risks.linkability import LinkabilityRisk
from privnb.evaluation.risks.membership import MembershipRisk, split_people
from privnb.evaluation.sanitizer_family import build_family
from privnb.microdata.treatment import UNTRUE, Rows, Unreadable

PARTS = ("age", "race", "sex"), ("education", "marital-status")
NAME = "occupation"


@pytest.fixture(scope="module")
def adult():
    return load("adult", "li-li", records=50)


@pytest.fixture(scope="module")
def cases(adult):
    made = [Case(adult, each, 1) for each in build_family(adult, k="3", l="2", t="0.4", delta="2", epsilon="1")]
    assert len(made) > 30
    return made


def refused(question, case):
    """Whether a risk is unknown of a release; only one of nobody's rows, or of columns of its own, is, and a membership
    of which half of the people give no release."""
    try:
        question.scores(case)
    except Unreadable as error:
        release = case.release
        if "random half" in str(error):
            return True
        assert release.provenance.rows is Rows.SYNTHETIC or {*release.cells} - {*case.dataset.schema.published}
        return True
    return False


@pytest.mark.slow
def test_identity(adult, cases):
    compared = 0
    for case in cases:
        if not refused(ReidentificationRisk(), case):
            by = plain.singled_out if case.release.provenance.rows is Rows.SYNTHETIC else plain.identity
            scores, found = ReidentificationRisk().scores(case), by(adult, case.release)
            assert scores.people.tolist() == found.index.tolist(), case.sanitizer
            assert scores.chance == pytest.approx(found.to_numpy()), case.sanitizer
            compared += 1
    assert compared > 25


@pytest.mark.slow
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


@pytest.mark.slow
def test_attribute(adult, cases):
    """In classes and buckets by whom they hold. Else a tree guesses, or the rows that fit best, whichever is right more
    often."""
    kinds = Counter()
    for case in cases:
        release, question = case.release, AttributeRisk(NAME)
        if refused(question, case):
            continue
        scores, who = question.scores(case)
        if release.provenance.rows is Rows.SYNTHETIC:  # a tree is tested as a miner
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


@pytest.mark.slow
def test_membership(adult, cases):
    """Who is taken for a member: whose record is covered more densely than a cut that is best for the other half of the
    people asked about."""
    compared = 0
    for case in cases:
        if refused(MembershipRisk(), case):
            continue
        scores, members = MembershipRisk().scores(case), split_people(adult, 1)[0]
        part = replace(adult, table=adult.cells.iloc[members])
        release = case.sanitizer.sanitize(part, rng=case.stream("sanitize members"))
        names = [name for name in adult.schema.published if name in release.columns]
        control = scores.people[~scores.member]
        assert {*scores.people[scores.member]} == {*members}, case.sanitizer
        beside = [each for each in range(len(adult)) if each not in {*members} | {*control}]
        ratios = []
        for known in [names, [name for name in names if release.columns[name].kind not in UNTRUE]]:
            asked, others = (adult.table[known].iloc[each] for each in (scores.people, beside))
            ratios.append(np.round(plain.how_much_denser(release, asked, others), 9) if known else asked.index * 0.0)
        halved = np.concatenate([np.arange(each) % 2 == 0 for each in (len(members), len(control))])
        for used in (halved, ~halved):
            cuts = [best_cut(each[~used].tolist(), scores.member[~used].tolist()) for each in ratios]
            cut, ratio = cuts[cuts[1][1] > cuts[0][1]][0], ratios[cuts[1][1] > cuts[0][1]]
            assert scores.chance[used].tolist() == (ratio[used] >= cut).astype(float).tolist(), case.sanitizer
        compared += 1
    assert compared > 25


def best_cut(ratios, member):
    """The largest ratio of those from which on guessing members gains most, infinite where none gains anything, and
    what it gains.
    """
    best, most = np.inf, 0
    for cut in sorted({*ratios}, reverse=True):
        right = [ratio >= cut for ratio, own in zip(ratios, member, strict=True) if own]
        wrong = [ratio >= cut for ratio, own in zip(ratios, member, strict=True) if not own]
        gain = Fraction(sum(right), len(right)) - Fraction(sum(wrong), len(wrong))
        if gain > most:
            best, most = cut, gain
    return best, most

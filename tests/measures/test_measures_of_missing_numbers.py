"""Every measure and every attack on releases in which numbers are missing: a number, or a sentence."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
import test_every_treatment as contract

from privnb.attacks import Linkage
from privnb.datasets.dataset import Dataset
from privnb.measures.disclosure import linkage
from privnb.measures.noise import breaches, noise_privacy
from privnb.measures.noise.noise_reconstruction import reconstruct_distribution, true_distribution
from privnb.measures.utility import information_loss, masking
from privnb.measures.utility.populations import LargePopulations
from privnb.measures.utility.queries import CountQueries
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Numbers, Schema
from privnb.microdata.treatment import Unreadable
from privnb.sanitizers import (
    IPSO,
    AdditiveNoise,
    Condensation,
    DataSwapping,
    GeometricNoise,
    Identity,
    KMember,
    LaplaceNoise,
    LatinHypercube,
    LognormalNoise,
    MaskingNoise,
    Microaggregation,
    RankSwapping,
    Resampling,
    RetentionReplacement,
    Rotation,
    Rounding,
    Sanitizer,
    TopBottomCoding,
)
from privnb.sanitizers.noise.noise_channel import cell_vulnerability, identification

SCHEMA = Schema(
    "people",
    tuple(
        replace(each, domain=replace(each.domain, missing="NA", missing_is_public=True)) if each.numeric else each
        for each in contract.SCHEMA.attributes
    ),
)
SANITIZERS = [
    AdditiveNoise(), AdditiveNoise(kind="uniform"), GeometricNoise(1.0), LaplaceNoise(1.0), LognormalNoise(),
    RetentionReplacement(), MaskingNoise(), Condensation(5), Microaggregation(5), Rounding(), TopBottomCoding(),
    Resampling(), RankSwapping(), DataSwapping(), IPSO("A"), Rotation(), LatinHypercube(), KMember(5), Identity(),
]  # fmt: skip


def people():
    table, rng = contract.people().table.copy(), np.random.default_rng(4)
    for name, share in {"age": 0.2, "height": 0.1}.items():
        table[name] = table[name].astype(float).mask(rng.random(len(table)) < share)
    return Dataset("people", table, SCHEMA, {name: flat(SCHEMA[name]) for name in SCHEMA.quasi_identifiers})


DATA = people()
GAP = DATA.table["age"].isna().to_numpy()


@pytest.mark.parametrize("sanitizer", SANITIZERS, ids=repr)
def test_there_is_a_number_or_a_sentence(sanitizer, monkeypatch):
    queries = LargePopulations.of(DATA, "illness"), CountQueries.of(DATA, "illness", 2, 0.3, rng=0, number=40)
    monkeypatch.setattr(contract, "DATA", DATA)
    monkeypatch.setattr(contract, "SCHEMA", SCHEMA)
    monkeypatch.setattr(contract, "ASKED", {"illness": queries})
    release, read, refused = sanitizer.sanitize(DATA, rng=1), 0, []
    for name, call in contract.asked(sanitizer, release, "illness"):
        try:
            value = call()
        except Unreadable as error:
            refused.append(str(error))
            continue
        assert not np.isnan(value), name
        read += 1
    assert read >= 3
    assert all(len(each) > 30 for each in refused)


def test_what_stays_missing_is_no_distortion_and_what_is_filled_is_one():
    same = AdditiveNoise(1e-9).sanitize(DATA, rng=1)
    assert information_loss.mean_absolute_error(DATA, same) < 1e-3
    assert masking.masking_loss(DATA, same) < 1e-3

    @dataclass(frozen=True)
    class Filled(Sanitizer):
        def _sanitize(self, dataset, table, rng):
            return table.assign(age=table["age"].fillna(50)), {"perturbed": ("age",)}

    filled = Filled().sanitize(DATA, rng=1)
    assert information_loss.mean_absolute_error(DATA, filled) == pytest.approx(GAP.mean())
    assert masking.lost_variation(DATA, filled) > 0


def test_somebody_whose_number_is_missing_is_looked_for_among_those():
    release = AdditiveNoise(1.0).sanitize(DATA, rng=1)
    published, key = release._published(2)
    attack = Linkage(("age",)).fit(published)
    rows = attack.predict(DATA.table[GAP], rng=0)
    assert published.table["age"].isna().to_numpy()[rows].all()
    assert attack.chance(DATA.table[GAP], np.argsort(key)[GAP]).tolist() == pytest.approx([1 / GAP.sum()] * GAP.sum())
    assert linkage.reidentification_rate(attack, DATA, key)[0] >= 1 / len(DATA)


def test_noise_tells_which_numbers_are_missing():
    release = AdditiveNoise(1e6).sanitize(DATA, rng=1)  # of the numbers themselves nothing is told
    shares = [np.array([each.mean(), 1 - each.mean()]) for each in (GAP, DATA.table["height"].isna().to_numpy())]
    bits = max(map(noise_privacy.entropy, shares))
    assert noise_privacy.information_share_of_noise(release, DATA) == pytest.approx(1 - 2**-bits, abs=1e-3)
    law = release.columns["age"].law
    largest = DATA.table["age"].value_counts().max() / len(DATA)
    assert cell_vulnerability(law, SCHEMA["age"], DATA.table["age"]) == pytest.approx(GAP.mean() + largest, abs=1e-3)
    assert breaches.upward_posterior(DATA, release, GAP.mean() + 0.01) == 1, "a rare one is certain"
    assert breaches.downward_posterior(DATA, release, GAP.mean() - 0.01) == 0, "a common one is excluded"
    assert breaches.upward_posterior(DATA, release, GAP.mean() / 4) < 0.1
    kinds = DATA.table.groupby([DATA.table["age"].isna(), DATA.table["height"].isna(), "town"]).ngroups
    share, low, high = identification(DATA, release, rng=0)
    assert share == pytest.approx(kinds / len(DATA), rel=1e-3)
    assert low <= share <= high


def test_a_distribution_is_that_of_the_numbers_that_are_there():
    release = AdditiveNoise(0.05).sanitize(DATA, rng=1)
    cells, law = release.table["age"], release.columns["age"].law
    there = reconstruct_distribution(cells[~GAP], law, SCHEMA["age"])
    assert reconstruct_distribution(cells, law, SCHEMA["age"]).shares.tolist() == there.shares.tolist()
    true = [
        true_distribution(each, SCHEMA["age"]).shares.tolist() for each in (DATA.table["age"][~GAP], DATA.table["age"])
    ]
    assert true[0] == true[1]


def test_the_domain_measures_distances_to_missing_numbers():
    domain, gap = Numbers(0, 99, missing="NA"), math.nan
    assert domain.distances([1, 1, gap, gap], [3, gap, 3, gap]).tolist() == [2, 99, 99, 0]
    points = domain.points([0, 99, gap])
    assert points[2] - points[1] >= domain.width
    assert Numbers(0, 99).points(pd.Series([1, 2])).tolist() == [1, 2]

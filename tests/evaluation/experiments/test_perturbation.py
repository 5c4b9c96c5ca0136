"""Studies of perturbation: what comes off of noise, and what an honest user gets back of it."""

import json
import re

import numpy as np
import pytest
from support.clinic import CLINIC

from privnb.attacks import Attack, DistributionAnalysis, GaussianMap, PCARemoval
from privnb.attacks.recovery.noise_knowledge import EstimatedNoise
from privnb.datasets.dataset import load
from privnb.evaluation.experiments import noise_removal, reconstruction
from privnb.evaluation.experiments.noise_removal import (
    COMPONENT_VARIANCES,
    CORRELATED,
    INDEPENDENT,
    THEORY,
    compute_expected_error,
)
from privnb.evaluation.experiments.reconstruction import _merge_rare
from privnb.microdata.withholding import LIMIT
from privnb.privacy_models import KAnonymity
from privnb.reporting import charts, findings
from privnb.runtime.numerals import write_percent
from privnb.runtime.registry import find_classes
from privnb.sanitizers import AdditiveNoise, Mondrian, RandomizedResponse


@pytest.fixture(scope="module")
def made_up():
    return noise_removal.remove_simulated_noise()


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC)


def test_what_comes_off_of_made_up_noise_is_what_the_theory_says(made_up):
    """Huang, Du, Chen 2005: 3.400 for PCA, 3.218 for the Gaussian guess, 15.52 under correlated noise.

    Whoever estimates the variance finds 26: nothing is kept of the components of variance 1, and a strong one is
    weighed by 399 / 425 instead of 400 / 425.
    """
    theory = made_up[made_up.control == THEORY].set_index(["sanitizer", "miner", "knows"]).value
    strong = 399 / 425
    estimated = (5 * ((1 - strong) ** 2 * 400 + strong**2 * 25) + 45) / 50
    pca, bayes, own = PCARemoval.title, GaussianMap.title, EstimatedNoise.title
    expected = {
        (INDEPENDENT, pca, ""): 3.4, (INDEPENDENT, pca, own): 3.4,
        (INDEPENDENT, bayes, ""): 3.218, (INDEPENDENT, bayes, own): estimated, (CORRELATED, bayes, ""): 15.52,
    }  # fmt: skip
    assert theory.to_dict() == pytest.approx(expected, abs=6e-3)
    found = made_up[made_up.control == ""].set_index(["sanitizer", "miner", "knows"])
    for case, value in theory.items():
        assert found.value[case] == pytest.approx(value, rel=0.03)
    assert found.baseline.to_numpy() == pytest.approx(25, rel=0.03)
    assert (found.value[CORRELATED] > 0.97 * theory[CORRELATED, bayes, ""]).all(), "no filter gains on correlated noise"


def test_a_wrong_supposition_of_the_noise_costs():
    of = {variance: compute_expected_error(variance) for variance in (5, 15, 25, 35, 100)}
    assert of[25] == min(of.values()) == pytest.approx(3.218, abs=5e-4)
    assert of[5] > of[15] > of[25] < of[35] < of[100]
    assert compute_expected_error(0) == 25, "nothing is taken off"
    assert compute_expected_error(1e9) == COMPONENT_VARIANCES.mean(), "the mean is guessed"


def test_noise_whose_width_is_not_published_comes_off_where_numbers_vary_together():
    """Census under independent masking noise: the estimate is nearly as good as the right width.

    Where noise goes as the columns do, those that add up to others still do, and no width is possible.
    """
    found = noise_removal.remove_masking_noise(load("census"))
    rows = found[(found.measure == "recovery_error") & (found.target == "") & (found.group == "")]
    bayes = rows[(rows.miner == GaussianMap.title) & (rows.control == "")]
    bayes = bayes.set_index(["parameters", "variant", "knows"]).sort_index()
    apart, alike, own = "alpha=0.5, form=uncorrelated", "alpha=0.5", EstimatedNoise.title
    literal = bayes.value[apart, "taken literally", own]
    assert bayes.value[apart, "", own] < 0.65 * literal
    supposed = bayes.value[apart, ""].drop(own)
    assert bayes.value[apart, "", own] == pytest.approx(supposed.item(), rel=0.02)
    assert bayes.value[alike, ""].drop(own).item() > (1 / 3) ** 0.5, "which whoever knew its covariance would reach"
    refused = found[found.status == "refused"]
    assert set(refused.parameters) == {alike}
    assert refused.reason.str.contains("must have independent noise").all()
    assert "estimated noise" in str(charts.recovery(found).to_dict())


def test_few_made_up_records_are_refused():
    with pytest.raises(ValueError, match=r"records must be a whole number of at least 1000; got 10\."):
        noise_removal.remove_simulated_noise(records=10)


@pytest.mark.slow
def test_attacks_on_a_tables_noise_have_a_chart_and_a_finding(clinic):
    found = noise_removal.remove_noise(clinic, [0.05, 0.2])
    errors = found[(found.measure == "recovery_error") & (found.target == "") & (found.group == "")]
    assert set(errors.variant) == {"", "taken literally"}
    assert errors[errors.control == ""].baseline.to_numpy() == pytest.approx(1)
    finding = findings.noise_removal(found)
    said, removed = str(finding), finding.given["removed"]
    assert removed["gain"] == pytest.approx(1 - removed["value"] / removed["literal"])
    assert write_percent(removed["gain"]) in said
    assert finding.given["nearest"]["value"] == errors[(errors.variant == "") & (errors.control == "")].value.min()
    assert "taken literally" in str(charts.recovery(found).to_dict())
    assert "cell_error" not in set(found.measure)
    classes = r"\b(?:" + "|".join(kind.__name__ for kind in find_classes(Attack)) + r")\b"
    for shown in (
        said,
        json.dumps(charts.recovery(found).to_dict()),
        charts.table(noise_removal.select_group_rows(found))._repr_html_(),
    ):
        assert DistributionAnalysis.title in shown.lower()
        assert not re.search(classes, shown), "a class is no word of a page"
    assert "None of these" in str(charts.recovery(found.iloc[:0]))


def test_reconstruction_comes_nearer_than_the_noisy_cells(clinic):
    noise = [AdditiveNoise(0.3), RandomizedResponse(2.0), Mondrian(KAnonymity(5))]
    found = reconstruction.reconstruct_distributions(load("adult", records=4000), noise)
    losses = found[found.measure == "distribution_loss"].pivot_table(index="target", columns="variant", values="value")
    assert losses.loc["age", "reconstructed (EM)"] < losses.loc["age", "taken literally"] / 2
    assert (losses["reconstructed (EM)"] < losses["taken literally"]).mean() > 0.7
    assert set(found.sanitizer) == {"AdditiveNoise", "RandomizedResponse"}, "labels are no noise"
    shares = found[found.measure == "interval_share"]
    together = shares.groupby(["sanitizer", "target", "variant"]).value.sum()
    assert together.to_numpy() == pytest.approx(1)
    assert (shares[shares.variant == "the table"].value * 4000 > LIMIT - 1e-6).all(), "nobody is among few"
    chart = str(charts.distributions(found, "age").to_dict())
    assert "reconstructed (EM)" in chart
    with pytest.raises(ValueError, match="target must be one of"):
        charts.distributions(found, "agge")


def test_intervals_of_few_people_are_merged():
    assert _merge_rare(np.array([20.0, 3, 9, 40, 2]), True, 10).tolist() == [0, 1, 1, 2, 2]
    assert _merge_rare(np.array([20.0, 3, 9, 40, 2]), False, 10).tolist() == [0, 1, 1, 2, 1]
    assert _merge_rare(np.array([50.0, 3, 2]), True, 10).tolist() == [0, 0, 0], "all but few are in one"

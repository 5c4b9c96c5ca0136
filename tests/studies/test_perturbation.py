"""Studies of perturbation: what comes off of noise, and what an honest user gets back of it."""

import numpy as np
import pytest
from made_up import CLINIC

from privnb import studies
from privnb.microdata.dataset import load
from privnb.microdata.withholding import LIMIT
from privnb.privacy_models import KAnonymity
from privnb.reporting import charts, findings
from privnb.sanitizers import AdditiveNoise, Mondrian, RandomizedResponse
from privnb.studies.aggarwal_yu_2008.noise_removal import ALIKE, INDEPENDENT, THEORY
from privnb.studies.aggarwal_yu_2008.reconstruction import _merged


@pytest.fixture(scope="module")
def made_up():
    return studies.made_up_noise()


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC)


def test_what_comes_off_of_made_up_noise_is_what_the_theory_says(made_up):
    """Huang, Du, Chen 2005: 3.400 for PCA, 3.218 for the Gaussian guess, 15.52 under correlated noise."""
    theory = made_up[made_up.control == THEORY].set_index(["sanitizer", "miner"]).value
    expected = {(INDEPENDENT, "PcaRemoval"): 3.4, (INDEPENDENT, "GaussianMap"): 3.218, (ALIKE, "GaussianMap"): 15.52}
    assert theory.to_dict() == pytest.approx(expected, abs=6e-3)
    found = made_up[made_up.control == ""].set_index(["sanitizer", "miner"])
    for case, value in theory.items():
        assert found.value[case] == pytest.approx(value, rel=0.03)
    assert found.baseline.to_numpy() == pytest.approx(25, rel=0.03)
    assert (found.value[ALIKE] > 0.97 * theory[ALIKE, "GaussianMap"]).all(), "no filter gains on correlated noise"


def test_few_made_up_records_are_refused():
    with pytest.raises(ValueError, match=r"records must be a whole number of at least 1000, got 10\."):
        studies.made_up_noise(records=10)


def test_attacks_on_a_tables_noise_have_a_chart_and_a_finding(clinic):
    found = studies.noise_removed(clinic, [0.05, 0.2])
    errors = found[(found.measure == "recovery_error") & (found.target == "") & (found.group == "")]
    assert set(errors.variant) == {"", "taken literally"}
    assert errors[errors.control == ""].baseline.to_numpy() == pytest.approx(1)
    said = str(findings.recovered(found))
    assert "of the error off Additive noise" in said
    assert "does not mean that none does" in said
    assert "taken literally" in str(charts.recovery(found).to_dict())
    assert "cell_error" not in set(found.measure)
    assert "None of these" in str(charts.recovery(found.iloc[:0]))


def test_reconstruction_comes_nearer_than_the_noisy_cells(clinic):
    noise = [AdditiveNoise(0.3), RandomizedResponse(2.0), Mondrian(KAnonymity(5))]
    found = studies.reconstructions(load("adult", records=4000), noise)
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
    assert _merged(np.array([20.0, 3, 9, 40, 2]), True, 10).tolist() == [0, 1, 1, 2, 2]
    assert _merged(np.array([20.0, 3, 9, 40, 2]), False, 10).tolist() == [0, 1, 1, 2, 1]
    assert _merged(np.array([50.0, 3, 2]), True, 10).tolist() == [0, 0, 0], "all but few are in one"

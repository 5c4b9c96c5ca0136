"""The score of masking and its parts."""

import pytest
from support.clinic import CLINIC

from privnb.datasets.dataset import load
from privnb.evaluation import evaluate
from privnb.evaluation.experiments.perturbation import MaskingScore
from privnb.sanitizers import Identity, KMember, LaplaceNoise


def test_the_score_is_of_its_parts():
    found = evaluate(
        load(CLINIC), [LaplaceNoise(100.0), LaplaceNoise(20.0), Identity(), KMember(5)], measures=[MaskingScore()]
    )
    scores = []
    for parameters in ("epsilon=100.0", "epsilon=20.0"):
        of = found[found.parameters == parameters].set_index("measure").value
        risk = 0.5 * of.nearest_record_rate + 0.5 * of.reidentification_rate + of.rank_interval_rate
        assert of.masking_score == pytest.approx((of.masking_loss + 100 * risk / 2) / 2)
        scores.append((of.masking_loss, of.nearest_record_rate))
    assert scores[0][0] < scores[1][0], "less noise loses less"
    assert scores[0][1] > scores[1][1], "and hides less"
    exact = found[found.sanitizer.isin(["Identity", "KMember"])]
    assert (exact.status == "refused").all()
    assert exact.reason.str.contains("neither adds noise to numbers of").all()

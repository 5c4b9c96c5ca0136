"""How many processes evaluate changes no number. That notebooks run at once change none is tested in `test_report`."""

import pytest

from privnb.datasets.dataset import load
from privnb.evaluation import store
from privnb.evaluation.experiments import users_and_adversaries
from privnb.papers import ledger
from privnb.reporting import report
from privnb.sanitizers import LaplaceNoise


@pytest.mark.slow
@pytest.mark.parametrize("experiment", ["evaluate_users", "evaluate_adversaries"])
def test_neither_jobs_nor_repetition_change_a_number(experiment, tmp_path, monkeypatch):
    """One worker and two, with a store each: the same bytes of results and of the ledger."""
    dataset, written = load("adult", records=300), []
    for jobs in (1, 2):
        monkeypatch.setattr(store, "share_cores", lambda jobs=jobs: jobs)
        asked = {"miners": "majority, naive Bayes", "seeds": 2, "store": tmp_path / f"store-{jobs}"}
        report.save(
            getattr(users_and_adversaries, experiment)(dataset, [LaplaceNoise(0.5)], **asked), tmp_path, str(jobs)
        )
        path = tmp_path / f"{jobs}.results.csv"
        written.append((path.read_bytes(), ledger.compare_with_published(report.read_results(path)).to_csv()))
    assert written[0] == written[1]
    assert all(text.count(new) > 20 for text, new in zip(written[0], (b"\n", "\n"), strict=True))

"""The numbers of the full profile are made by one command, and stand beside those of a run."""

import subprocess

import numpy as np
import pandas as pd
import pytest

from privnb import papers
from privnb.papers import full_profile, ledger


@pytest.fixture(scope="module")
def whole():
    return ledger.compare_with_published(papers.measure_hypertension())


@pytest.fixture
def compared(whole):
    return whole.copy()


@pytest.fixture
def committed(monkeypatch):
    monkeypatch.setattr(full_profile, "read_commit", lambda: "0123456789ab")


def reports(folder, **tables):
    for name, table in tables.items():
        (folder / name).mkdir()
        table.assign(date=table.get("date", "")).to_csv(folder / name / "ledger.csv", index=False)
    return [folder / name for name in tables]


@pytest.mark.slow
def test_what_reports_measured_is_written_and_read_again(tmp_path, committed, compared):
    half = compared
    half.loc[half["item"].str.startswith("figure5.9/"), ["measured", "status"]] = [np.nan, "not run"]
    other = compared.assign(note="of the second report")
    written = full_profile.write_numbers(reports(tmp_path, first=half, second=other), tmp_path / "full.csv")
    again = full_profile.read_numbers(tmp_path / "full.csv")
    pd.testing.assert_frame_equal(again, written, check_dtype=False)
    assert list(again.columns) == [*full_profile.NAME, *full_profile.FOUND, *full_profile.WHEN]
    assert again["item"].tolist() == compared.loc[compared["status"] == "exact", "item"].tolist()
    from_second = again["note"] == "of the second report"
    assert from_second.tolist() == again["item"].str.startswith("figure5.9/").tolist()
    assert set(again["commit"]) == {"0123456789ab"}
    assert again["date"].str.fullmatch(r"\d{4}-\d\d-\d\d").all()


def test_reports_that_measured_nothing_are_refused(tmp_path, committed, compared):
    nothing = compared.assign(measured=np.nan, status="not run")
    with pytest.raises(ValueError, match="must contain measured numbers"):
        full_profile.write_numbers(reports(tmp_path, nothing=nothing), tmp_path / "full.csv")
    assert not (tmp_path / "full.csv").exists()


def test_what_was_shipped_before_is_not_measured_anew(tmp_path, committed, compared):
    """A report's ledger holds the shipped numbers, too, with the day of their run."""
    first = full_profile.write_numbers(reports(tmp_path, full=compared), tmp_path / "full.csv")
    nothing = compared.assign(measured=np.nan, status="not run")
    beside = full_profile.fill_missing(nothing, first)
    assert beside["measured"].notna().sum() == len(first)
    with pytest.raises(ValueError, match="must contain measured numbers"):
        full_profile.write_numbers(reports(tmp_path, again=beside), tmp_path / "full.csv")


def test_files_that_no_commit_holds_are_refused(tmp_path, monkeypatch):
    git = ["git", "-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "One"]):
        (tmp_path / "a.py").write_text("1")
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    monkeypatch.setattr(full_profile, "PATH", tmp_path / "full_profile.csv")
    assert len(full_profile.read_commit()) == 12
    (tmp_path / "full_profile.csv").write_text("the file that is being made")
    assert len(full_profile.read_commit()) == 12
    (tmp_path / "a.py").write_text("2")
    with pytest.raises(ValueError, match=r"a\.py"):
        full_profile.read_commit()


def test_a_shipped_number_stands_only_where_the_run_has_none(tmp_path, committed, compared):
    shipped = full_profile.write_numbers(
        reports(tmp_path, full=compared.assign(measured=compared["measured"] * 0 + 7)), tmp_path / "full.csv"
    )
    run = compared
    gone = run["item"].str.startswith("figure5.9/")
    run.loc[gone, ["measured", "difference", "status"]] = [np.nan, np.nan, "not run"]
    run.loc[run["item"] == "figure5.1/k", ["measured", "status"]] = [np.nan, "withheld"]
    beside = full_profile.fill_missing(run, shipped)
    assert beside["item"].tolist() == run["item"].tolist()
    assert (beside.loc[gone, "measured"] == 7).all()
    assert (beside.loc[gone, "status"] == "exact").all()
    assert beside["date"].ne("").tolist() == gone.tolist()
    pd.testing.assert_frame_equal(beside.loc[~gone, list(run.columns)], run[~gone], check_dtype=False)


def test_what_is_not_shipped_stays_as_it_is(compared):
    beside = full_profile.fill_missing(compared, full_profile.read_numbers().head(0))
    pd.testing.assert_frame_equal(beside[list(compared.columns)], compared, check_dtype=False)


def test_what_is_shipped_is_of_printed_numbers():
    """Whatever the file says of a number, `compare` would say today of the same measurement."""
    published = ledger.read_published().set_index(full_profile.NAME)
    for row in full_profile.read_numbers().to_dict("records"):
        printed = published.loc[(row["source"], row["item"])]
        if row["measured"] == row["measured"] and not printed["obstacle"]:
            exact = ledger.have_same_digits(printed["published"], row["measured"])
            near = abs(row["difference"]) <= float(printed["tolerance"])
            assert row["status"] == ("exact" if exact else "within" if near else "differs"), row


@pytest.mark.parametrize("miner", ["NaiveBayes", "J48", "RandomForest"])
def test_notes_on_noise_name_the_range_of_the_rows_of_weka(miner):
    printed, found = ledger.read_published().set_index("item"), full_profile.read_numbers().set_index("item")
    noisy = [f"table1/{miner}/eps={epsilon}" for epsilon in (0.5, 0.1, 0.05, 0.01)]
    below = [-100 * found.difference[f"{name}/weka"] / float(printed.published[f"{name}/weka"]) for name in noisy]
    stated = f"{min(below):.2f} to {max(below):.2f}% fewer people correctly than the paper prints"
    for table in (printed, found):
        notes = table.note[[f"{name}{end}" for name in noisy for end in ("", "/weka")]]
        assert notes[notes.str.contains("% fewer|% lower|% above")].str.contains(stated).all()
        assert notes[[f"{name}/weka" for name in noisy]].str.contains(stated).all()


def test_the_note_on_the_forest_names_its_difference_to_the_original_weka():
    printed, found = ledger.read_published().set_index("item"), full_profile.read_numbers().set_index("item")
    name = "table1/RandomForest/orig/weka"
    above = 100 * found.difference[name] / float(printed.published[name])
    for table in (printed, found):
        assert f"{above:.2f}% more people correctly" in table.note[name]

"""The judge of released files finds what is harmful, and nothing in a file that is not."""

import csv
import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent / "benchmarks"))
from judge import judge

FINE = [(age, sex, each) for age, sex in (("18-40", "F"), ("41-90", "M")) for each in ("flu", "cold") * 8]
CERTAIN = [("18-40", "F", "flu")] * 16 + FINE[16:]
ALONE = [("17", "F", "flu"), *FINE]
SAYS = "It is chosen.\n\nThe file discloses the illness of 16 people with certainty.\n\nMore."


def judged(folder: Path, rows: list[tuple[str, ...]], policy: str, said: str = "It is chosen.\n\nMore.") -> list[str]:
    for name in ("original.csv", "released.csv"):
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("age", "sex", "illness"), *rows])
    columns = {"age": "generalized", "sex": "exact", "illness": "exact"}
    (folder / "released.csv.provenance.json").write_text(json.dumps({"columns": columns}), encoding="utf-8")
    return judge(folder / "original.csv", folder / "released.csv", ["illness"], policy, said)


@pytest.mark.parametrize("policy", ["", "k-5", "ontario-2025"])
def test_a_file_of_large_mixed_classes_is_not_harmful(tmp_path, policy):
    assert judged(tmp_path, FINE, policy) == []


@pytest.mark.parametrize(
    ("rows", "policy", "said", "why"),
    [
        (ALONE, "", "", "1 rows share a combination"),
        (ALONE, "k-5", SAYS, "1 rows share a combination"),
        (FINE, "ontario-2025-sensitive", "", "16 rows share a combination of age, sex, fewer than 20"),
        (CERTAIN, "ontario-2025", SAYS, "16 people is certain under a policy that forbids it"),
        (CERTAIN, "k-5", "It is chosen.\n\nMore.", "16 people is certain, and that is not the first notice"),
    ],
)
def test_a_harmful_file_is_found(tmp_path, rows, policy, said, why):
    assert any(why in each for each in judged(tmp_path, rows, policy, said))


def test_certainty_that_is_the_first_notice_is_what_the_owner_asked_for(tmp_path):
    assert judged(tmp_path, CERTAIN, "k-5", SAYS) == []

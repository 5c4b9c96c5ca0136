"""A small made-up table with its own columns, in which planted values betray any leak.

`python tests/support/clinic.py` writes `tests/data/clinic/clinic.csv` again; a test compares it with the committed
file.
"""

import csv
import io
from pathlib import Path
from random import Random

CLINIC = Path(__file__).parents[1] / "data" / "clinic" / "clinic.toml"
RECORDS = 300
# Unmistakable wherever it turns up: no page, notebook or chart has another reason to hold this word.
IDENTIFIER = "CANARY-"
# Two people whom no other record resembles. Anything that shows two of these values side by side shows a person.
RARE = (
    {"age": "97", "weight": "187.5", "postcode": "04977", "region": "west"},
    {"age": "19", "weight": "171.5", "postcode": "08313", "region": "north"},
)
DIAGNOSES = ("asthma", "diabetes", "hypertension", "influenza", "migraine")
REGIONS = ("north", "east", "south", "west", "")  # an empty cell is a missing value, which the domain allows as "?"
POSTCODES = tuple(
    f"0{area}{district}{street}" for area in (1, 4, 8) for district in "03" for street in (11, 12, 25, 77)
)


def clinic():
    """The text of clinic.csv. Diabetes and hypertension come with age and weight: there is something to mine."""
    random = Random(20)  # its random() is the same in every version of Python; its other methods need not be
    rows = []
    for number in range(RECORDS):
        age = 18 + int(70 * (random.random() + random.random()) / 2)
        weight = 18 + int(2 * (25 + age / 4 + 50 * random.random())) / 2
        strain = (age - 18) / 70 + (weight - 60) / 60
        likely = [1, 0.2 + 2 * max(strain, 0), 0.2 + 3 * max(strain - 0.5, 0), 1, 1.5 - min(strain, 1.4)]
        row = {
            "patient": f"{IDENTIFIER}{number + 1:04}",
            "age": str(age),
            "weight": f"{weight:g}",
            "postcode": _pick(random, POSTCODES),
            "region": _pick(random, REGIONS, [3, 2, 2, 2, 0.5]),
            "ward": _pick(random, ("day", "night")),
            "diagnosis": _pick(random, DIAGNOSES, likely),
        }
        rows.append(row)
    for place, rare in zip((57, 211), RARE, strict=True):
        rows[place].update(rare)
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0], delimiter=";", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _pick(random, values, weights=None):
    weights = weights or [1] * len(values)
    mark = random.random() * sum(weights)
    for value, weight in zip(values, weights, strict=True):
        mark -= weight
        if mark < 0:
            return value
    return values[-1]


if __name__ == "__main__":
    CLINIC.with_suffix(".csv").write_text(clinic(), encoding="utf-8")

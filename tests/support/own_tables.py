"""Made-up tables of every kind that an owner may have, as `privnb describe` would describe them."""

import json

import numpy as np

from privnb.datasets.draft import draft

RECORDS = 50
# The columns of each kind of table by role: how many categories, or the ends of the numbers.
KINDS = {
    "no-sensitive": {"quasi-identifier": {"age": (20, 60), "region": 3}},
    "numeric-sensitive": {"quasi-identifier": {"age": (20, 60), "region": 3}, "sensitive": {"visits": (0, 40)}},
    "no-quasi-identifier": {"neutral": {"region": 3}, "sensitive": {"illness": 3}},
    "one-category": {"quasi-identifier": {"region": 1}, "sensitive": {"illness": 1}},
    "many-columns": {  # several of them sensitive
        "quasi-identifier": {"age": (20, 60), "region": 3, "plan": 2},
        "sensitive": {"visits": (0, 40), "ill": (0, 1), "illness": 4},
        "neutral": {f"answer {i}": (0, 9) if i % 2 else 3 for i in range(16)},
    },
}  # fmt: skip


def write(folder, name):
    """The table of a kind in `folder`: the path of its description."""
    draw, columns, text = (
        np.random.default_rng(7),
        {},
        [f'[dataset]\nname = "{name}"\n[[files]]\npath = "{name}.csv"\n'],
    )
    for role, described in KINDS[name].items():
        for column, domain in described.items():
            if isinstance(domain, tuple):
                columns[column] = draw.integers(domain[0], domain[1] + 1, RECORDS)
                said = f"{{ low = {domain[0]}, high = {domain[1]} }}"
            else:
                values = [f"{column}{letter}" for letter in "abcd"[:domain]]
                columns[column] = np.array(values)[draw.integers(domain, size=RECORDS)]
                said = json.dumps(values)
            read = "  # PROPOSAL" * (name == "no-sensitive" and column == "age")
            text.append(f'[columns."{column}"]\nrole = "{role}"\ndomain = {said}{read}\n')
    (folder / name).mkdir(parents=True)
    rows = [columns, *zip(*columns.values(), strict=True)]
    (folder / name / f"{name}.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    (folder / name / f"{name}.toml").write_text("\n".join(text))
    return folder / name / f"{name}.toml"


def drafted(folder, sensitive=("illness", "visits")):
    """A table of which a tenth of two numbers is missing, whole ones of 60 different values and decimals, described by
    `privnb describe` and confirmed by an owner who says which columns are sensitive: the path of its description.
    """
    draw, records = np.random.default_rng(11), 120
    columns = {
        "score": draw.integers(100, 160, records).astype(str),
        "weight": np.round(draw.normal(70, 12, records), 1).astype(str),
        "region": draw.choice(["north", "south"], records),
        "visits": draw.integers(0, 40, records).astype(str),
        "illness": draw.choice(["flu", "cold", "gout"], records),
    }
    for name in ("score", "weight", "visits"):
        columns[name] = np.where(draw.random(records) < 0.1, "NA", columns[name])
    rows = [columns, *zip(*columns.values(), strict=True)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gaps.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    path = draft(folder / "gaps.csv", folder=folder)
    text = path.read_text().replace("draft = true\n", "")
    for name in sensitive:
        head, role, rest = text.partition(f'[columns.{name}]\nrole = "')
        text = head + role + "sensitive" + rest.removeprefix("quasi-identifier")
    path.write_text(text)
    return path

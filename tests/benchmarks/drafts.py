"""What a draft's hierarchies lose: Mondrian with them, beside ranges and runs of values in their order.

`python drafts.py [FILE ...]` drafts scikit-learn's tables, Adult, made-up ones and the files, one after another, and
prints per table and k both certainty penalties and their ratio, which is to be at most 2; with `--columns` per
attribute, too. Nothing here is timed.
"""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets

from privnb.datasets.dataset import load
from privnb.datasets.draft import draft
from privnb.measures.utility.information_loss import certainty_penalty
from privnb.microdata import hierarchy
from privnb.privacy_models import KAnonymity
from privnb.sanitizers import Mondrian

MONTHS = "January February March April May June July August September October November December".split()


def made_up():
    """Tables of the shapes that owners have: `{name: DataFrame}`."""
    draw = np.random.default_rng(16)
    n = 2000
    age = draw.integers(18, 91, n)
    born = pd.Timestamp("2024-03-01") - pd.to_timedelta(age * 365 + draw.integers(0, 365, n), unit="D")
    skewed = lambda m, s=1.3: draw.choice(m, n, p=(w := 1 / np.arange(1, m + 1) ** s) / w.sum())  # noqa: E731
    seen = pd.Timestamp("2022-01-01") + pd.to_timedelta(draw.integers(0, 900, n), unit="D")
    return {
        "patients": pd.DataFrame(
            {
                "born": born.strftime("%Y-%m-%d"), "zip": [f"{z:05}" for z in 1000 * skewed(60) + skewed(300)],
                "sex": draw.choice(["F", "M"], n), "diagnosis": [f"D{d:02}" for d in skewed(40)],
            }
        ),
        "visits": pd.DataFrame(
            {
                "seen": seen.strftime("%d.%m.%Y"), 
                "at": [f"{h:02}:{m:02}" for h, m in draw.integers((0, 0), (24, 60), (n, 2))],
                "visits": draw.negative_binomial(1, 0.3, n), "days": draw.geometric(0.1, n) - 1, "ward": skewed(12),
            }
        ),
        "survey": pd.DataFrame(
            {
                "size": draw.choice(["XS", "S", "M", "L", "XL"], n, p=[0.05, 0.2, 0.4, 0.25, 0.1]),
                "agrees": draw.choice(["strongly disagree", "disagree", "neutral", "agree", "strongly agree"], n),
                "month": draw.choice(MONTHS, n), "country": [f"country {c}" for c in skewed(80)], "age": age,
            }
        ),
        "insurance": pd.DataFrame(
            {
                "age": age, "bmi": np.round(draw.normal(30, 6, n), 2), "children": draw.poisson(1.1, n),
                "smoker": draw.choice(["yes", "no"], n, p=[0.2, 0.8]), "charges": np.round(draw.lognormal(9, 1, n), 2),
                "region": draw.choice(["northeast", "northwest", "southeast", "southwest"], n),
            }
        ),
        "survival": pd.DataFrame(
            {
                "time": np.round(draw.exponential(300, 400), 2), "status": draw.integers(0, 2, 400),
                "age": draw.integers(30, 80, 400), "karno": draw.choice(range(50, 101, 10), 400),
                "stage": draw.choice(["I", "II", "III", "IV"], 400, p=[0.5, 0.3, 0.15, 0.05]),
            }
        ),
        "salaries": pd.DataFrame(
            {
                "salary": np.round(draw.lognormal(10.8, 0.5, 300)).astype(int), "years": draw.integers(0, 40, 300),
                "rank": draw.choice(["Prof", "AssocProf", "AsstProf"], 300, p=[0.6, 0.2, 0.2]),
            }
        ),
        "houses": pd.DataFrame(
            {
                "latitude": np.round(draw.normal(48, 0.5, n), 6), "longitude": np.round(draw.normal(16, 0.7, n), 6),
                "price": 1000 * draw.poisson(np.exp(draw.normal(5.5, 0.5, n))), "rooms": 1 + draw.poisson(3, n),
                "built": draw.integers(1890, 2024, n),
            }
        ),
        "titanic": pd.DataFrame(
            {
                "class": draw.choice(["First", "Second", "Third"], n, p=[0.25, 0.2, 0.55]), 
                "age": np.round(draw.gamma(4, 7.5, n)),
                "fare": np.round(draw.lognormal(3, 1, n), 4), "siblings": draw.poisson(0.5, n),
                "deck": draw.choice(list("ABCDEFG"), n, p=[0.05, 0.2, 0.35, 0.2, 0.15, 0.04, 0.01]),
            }
        ),
    }  # fmt: skip


def with_gaps(table, share=0.1):
    """A table of which a tenth of the cells is empty."""
    return table.astype(object).mask(np.random.default_rng(1).random(table.shape) < share)


def tables():
    for name in ("iris", "wine", "breast_cancer", "linnerud"):
        yield name, getattr(datasets, f"load_{name}")(as_frame=True).frame
    yield "diabetes", datasets.load_diabetes(as_frame=True, scaled=False).frame
    yield "adult", load("adult", "sramka-taxonomy").table
    yield from made_up().items()
    for name in ("patients", "insurance"):
        yield f"{name}, gaps", with_gaps(made_up()[name])


def confirmed(path):
    path.write_text(path.read_text(encoding="utf-8").replace("\ndraft = true\n", "\n"), encoding="utf-8")
    return load(path)


def lines(dataset):
    """The same records, every attribute on its line: numbers in ranges, categories in runs of the domain's order."""
    own = (dataset.schema[name] for name in dataset.schema.quasi_identifiers)
    best = {
        each.name: hierarchy.Ranges(each.domain)
        if each.numeric
        else hierarchy.Ordered(each.name, each.domain.values, exact=True)
        for each in own
    }
    return replace(dataset, hierarchies=best)


def penalties(dataset, k):
    """The certainty penalty of Mondrian, of the whole and of each attribute."""
    release = Mondrian(KAnonymity(k)).sanitize(dataset, rng=0)
    widths = {
        name: release.table[name].map(release.hierarchies[name].width).mean()
        for name in dataset.schema.quasi_identifiers
    }
    return certainty_penalty(release), widths


def main(arguments):
    columns = "--columns" in arguments
    rows = []
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        named = {}
        for name, table in tables():
            table.to_csv(place / f"{name}.csv", index=False)
            named[name] = place / f"{name}.csv"
        named |= {Path(each).stem: Path(each) for each in arguments if not each.startswith("--")}
        for name, file in named.items():
            dataset = confirmed(draft(file, folder=place / "data"))
            for k in (5, 10):
                (drafted, own), (ranged, best) = penalties(dataset, k), penalties(lines(dataset), k)
                rows.append((name, k, len(own), drafted, ranged, drafted / ranged if ranged else np.nan))
                if columns and drafted > 1.2 * ranged:
                    print(name, k, {each: (round(own[each], 3), round(best[each], 3)) for each in own})
    table = pd.DataFrame(rows, columns=["table", "k", "attributes", "drafted", "ranges", "ratio"])
    print(table.round(3).to_string(index=False))
    print("worst ratio", round(table.ratio.max(), 2), "median", round(table.ratio.median(), 2))


if __name__ == "__main__":
    main(sys.argv[1:])

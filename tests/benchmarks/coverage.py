"""How often the 95% intervals of risks cover, if other people are drawn and their release is made anew.

Adult's people stand for a population. Samples of them are drawn and sanitized; the true value is the mean over samples.
A row of the table says how often the interval of one sample covers it (`now`), next to an interval that takes each
person as independent of the others (`apart`).

    python tests/benchmarks/coverage.py --people 500 2000 --samples 100

Coverage for the defaults, least and mean over tables and sanitizers, in percent:

| measure | now | apart |
|---|---|---|
| `made_certain` | 91, 98 | 0, 66 |
| `identity_risk` | 80, 98 | 80, 97 |
| `membership_risk` | 82, 97 | 64, 90 |
| `attribute_risk` | 77, 92 | 72, 89 |
| `linkability_risk` | 65, 98 | 64, 98 |

What an interval cannot know from one release makes the least values: Mondrian's first cuts change with the sample, so
that its identity and membership risks have two levels; a guess that has learned from the table (`attribute_risk`)
learns something else; and linkability deals the attributes in other parts.
"""

import argparse
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from privnb.datasets.dataset import load
from privnb.evaluation.evaluation_loop import Case
from privnb.evaluation.results import estimate_share_in_classes
from privnb.evaluation.risks.attribute import AttributeRisk, score_groups
from privnb.evaluation.risks.identity import ReidentificationRisk
from privnb.evaluation.risks.linkability import LinkabilityRisk
from privnb.evaluation.risks.membership import MembershipRisk
from privnb.evaluation.risks.scores import find_class_of_people
from privnb.measures.disclosure.certainty import CERTAINTY
from privnb.measures.intervals import wilson
from privnb.privacy_models import KAnonymity
from privnb.sanitizers import FullDomain, Identity, KMember, LocalSuppression, Mondrian

SANITIZERS = [
    Mondrian(KAnonymity(5)), Mondrian(KAnonymity(10)), Mondrian(KAnonymity(50)), KMember(5), LocalSuppression(3),
    FullDomain(KAnonymity(10)), Identity(),
]  # fmt: skip
STUDIES = ("li-li", "marital", "sramka-taxonomy")
FORMS = ("now", "apart")


@dataclass(frozen=True)
class Measured:
    """A value of one sample, with two 95% intervals: the package's, and that of people who are independent."""

    value: float
    now: tuple[float, float]
    apart: tuple[float, float]

    @classmethod
    def of(cls, scores):
        value, *now, _ = scores.risk
        alone = replace(scores, classes=None)
        alone = replace(alone, worth=1.0) if hasattr(alone, "worth") else alone
        return cls(value, tuple(now), tuple(alone.risk[1:3]))


def certain(case):
    """The share of people whose sensitive value is certain, as `made_certain` counts them."""
    dataset, release = case.dataset, case.release
    _, sure, before, _ = score_groups(dataset, release, dataset.schema.sensitive[0])
    who = (sure >= CERTAINTY) & (before < CERTAINTY)
    value, *now = estimate_share_in_classes(who, find_class_of_people(dataset, release, release.groups)).shown(0)
    return Measured(value, tuple(now), wilson(int(who.sum()), len(who)))


MEASURES = {
    "identity_risk": lambda case: Measured.of(ReidentificationRisk().scores(case)),
    "made_certain": certain,
    "attribute_risk": lambda case: Measured.of(AttributeRisk(case.dataset.schema.sensitive[0]).scores(case)[0]),
    "membership_risk": lambda case: Measured.of(MembershipRisk().scores(case)),
    "linkability_risk": lambda case: Measured.of(LinkabilityRisk().scores(case)),
}


def sample(dataset, people, seed):
    """Draw people of the population, with replacement, as a dataset."""
    rows = np.sort(np.random.default_rng(seed).choice(len(dataset), people))
    return replace(dataset, table=dataset.cells.iloc[rows].reset_index(drop=True))


def covered(measured):
    """Return how often each form of interval covers the mean value: `{form: share}`."""
    true = np.mean([each.value for each in measured])
    shares = {}
    for form in FORMS:
        low, high = np.array([getattr(each, form) for each in measured]).T
        shares[form] = float(((low <= true) & (true <= high)).mean())
    return shares


def rows(study, people, samples, measures):
    """Yield a row for each sanitizer and measure."""
    population = load("adult", study)
    for sanitizer in SANITIZERS:
        if people > 1000 and isinstance(sanitizer, KMember | FullDomain):
            continue  # minutes
        found = {name: [] for name in measures}
        for seed in range(samples):
            case = Case(sample(population, people, seed), sanitizer, 1)
            for name in measures:
                found[name].append(MEASURES[name](case))
        for name, measured in found.items():
            values = [each.value for each in measured]
            widths = {f"width {form}": np.mean([np.ptp(getattr(each, form)) for each in measured]) for form in FORMS}
            yield {
                "study": study, "people": people, "sanitizer": repr(sanitizer), "measure": name,
                "mean": np.mean(values), "deviation": np.std(values, ddof=1), **covered(measured), **widths,
            }  # fmt: skip


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--people", type=int, nargs="+", default=[500, 2000])
    options.add_argument("--samples", type=int, default=100)
    options.add_argument("--studies", nargs="+", default=STUDIES)
    options.add_argument("--measures", nargs="+", default=[*MEASURES], choices=[*MEASURES])
    options.add_argument("--out", help="a CSV file to write the table to")
    chosen = options.parse_args()
    made = []
    show = partial(print, flush=True)
    for study in chosen.studies:
        for people in chosen.people:
            for row in rows(study, people, chosen.samples, chosen.measures):
                made.append(row)
                numbers = ", ".join(f"{name} {row[name]:.3g}" for name in ("mean", "deviation", *FORMS))
                show(f"{study} {people} {row['sanitizer']} {row['measure']}: {numbers}")
    if chosen.out:
        pd.DataFrame(made).to_csv(chosen.out, index=False)


if __name__ == "__main__":
    main()

"""How much of what the full grid of settings covers a search finds, and with how many record-evaluations.

    python tests/benchmarks/search.py adult ontario-2025 [--records N] [--store FOLDER]

Both are measured with one seed; what they have in common is computed once. The aim: 95 % of the hypervolume with 25 %
of the record-evaluations. The reference point: the worse of the original and of the release without quasi-identifiers.
"""

import argparse

from privnb.datasets.dataset import load
from privnb.decision import by_policy, halving, policies
from privnb.decision.policy_search import search_policy
from privnb.evaluation.results import SETTING_COLUMNS, describe_setting


def vectors(found):
    """The scaled vectors of a decision by setting, the two ends left out, those that were refused as well."""
    scaled = by_policy.scale_vectors(found.decision.vectors)
    able = found.decision.releases[found.decision.releases.status != "refused"]
    keys = {*map(tuple, able[SETTING_COLUMNS].to_numpy())} & {
        tuple(describe_setting(each)[name] for name in SETTING_COLUMNS) for each in found.sanitizers[2:]
    }
    return {key: scaled[key] for key in keys if key in scaled}


def work(steps):
    return sum(rung.records * rung.settings for rung, _ in steps)


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("dataset")
    asked.add_argument("policy")
    asked.add_argument("--records", type=int, default=0)
    asked.add_argument("--store", default="")
    asked = asked.parse_args()
    dataset, policy = load(asked.dataset), policies.read(asked.policy)
    if asked.records:
        dataset = dataset.sample(asked.records, rng=0)
    search = search_policy(dataset, policy, seeds=1, store=asked.store)
    few = halving.plan_rungs
    halving.plan_rungs = lambda records, settings: [halving.Rung(records, settings)]
    grid = search_policy(dataset, policy, seeds=1, store=asked.store)
    halving.plan_rungs = few
    whole, part = vectors(grid), vectors(search)
    volumes = [
        halving.find_dominated([whole[key] for key in each]).any(axis=0).mean()
        for each in (whole, whole.keys() & part.keys())
    ]
    print(f"{asked.dataset}, {len(dataset):,} records, {asked.policy}: {len(grid.steps[0][1])} settings in the grid,")
    print(f"{len(whole)} of them keep the floor; the search ends with {len(search.steps[-1][1])}.")
    print(f"Hypervolume: grid {volumes[0]:.4f}, search {volumes[1]:.4f}, a share of {volumes[1] / volumes[0]:.1%}.")
    print(f"Record-evaluations: {work(search.steps) / work(grid.steps):.1%} of the grid's.")
    print("Chosen by the search:", search.chosen, "by the grid:", grid.chosen)


if __name__ == "__main__":
    main()

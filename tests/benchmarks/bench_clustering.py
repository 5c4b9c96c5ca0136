"""Warm seconds of greedy k-member clustering on all of Adult: `python tests/benchmarks/bench_clustering.py`."""

from statistics import median
from time import perf_counter

import numpy as np

from privnb.datasets.dataset import load
from privnb.sanitizers.algorithms.clustering import greedy_k_member

for study in "sramka", "sramka-taxonomy":
    dataset = load("adult", study)
    generalizations = [dataset.hierarchies[name] for name in dataset.schema.quasi_identifiers]
    columns = [dataset.table[name] for name in dataset.schema.quasi_identifiers]
    codes = np.column_stack([g.codes(column) for g, column in zip(generalizations, columns, strict=True)])
    extents = [g.extent() for g in generalizations]

    begin = perf_counter()
    greedy_k_member(codes[:100], extents, 2)
    print(f"{study}, {len(codes)} records; first call {perf_counter() - begin:.2f} s")
    for k in 2, 10, 50, 100:
        seconds = []
        for _ in range(7):
            begin = perf_counter()
            greedy_k_member(codes, extents, k)
            seconds.append(perf_counter() - begin)
        print(f"  k = {k:3}: {median(seconds):.3f} s")

"""The optimal averages of one number by microaggregation (C++), which sums their loss and names no groups:
`python peer_microaggregation.py K FILE`. It takes numbers sorted and standardized; both are timed with it."""

import sys

import numpy as np
import pandas as pd
from measure import report, system, timed
from microaggregation import calculate_sse_dynamic

k, file = sys.argv[1:]
ages = pd.read_csv(file)["age"].to_numpy(dtype=float)


def run():
    scaled = np.sort((ages - ages.mean()) / ages.std())
    return calculate_sse_dynamic(scaled[:, None], int(k))


lost, taken = timed(run, warm=True)
said = f"SSE/SST={100 * lost / len(ages):.6g} %, without groups"
report({"system": system("microaggregation"), "parameters": said} | taken)

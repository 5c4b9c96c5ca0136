"""Whether releases and results are the same under other settings of the processor's features.

    python tests/benchmarks/processors.py [--records 5000] [--releases-only] [SETTING ...]

Every setting runs in a process of its own and is compared with this machine as it is: labels one by one, noisy numbers
and results to a relative 1e-12. That samples machines and proves nothing for all: another processor, another system's
mathematics library, other versions of numpy or scikit-learn may still differ. `--save FILE` keeps what was found and
`--against FILE` compares with it: another commit's, or another machine's.

numpy chooses its loops by the processor, OpenBLAS its kernels, numba its instructions, the C library its `log` and
`exp`: each can be told to do as on another one.
"""

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support import questions

TOLERANCE = 1e-12  # of numbers, relative: what sums and logarithms differ by in their last digits
STUDIES = "sramka", "li-li", "marital"
FEW = 100  # records of the test in the suite


def settings(folder):
    """The environment variables of each setting by name; `folder`: where numba keeps what it compiles for it."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    numpy = {"NPY_DISABLE_CPU_FEATURES": " ".join(name for name in __cpu_dispatch__ if __cpu_features__.get(name))}
    numba = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(folder)}
    library = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F"}
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    nehalem = {"OPENBLAS_CORETYPE": "Nehalem"}
    return {
        "numpy": numpy,
        "haswell": {"OPENBLAS_CORETYPE": "Haswell"},
        "nehalem": nehalem,
        "numba": numba,
        "library": library,
        "one thread": single,
        "all": numpy | nehalem | numba | library | single,
        "plain": numpy | nehalem | library | single | {"NUMBA_DISABLE_JIT": "1"},  # for small tables: it is slow
    }


def sanitizers(dataset, *, thorough=True):
    """Every kind at several values of its parameters, and under every choice that is made by a score."""
    from privnb import sanitizers as s
    from privnb.privacy_models import DeltaDisclosure, EntropyDiversity, JensenShannonCloseness, KAnonymity, TCloseness
    from privnb.sanitizers.algorithms.options import SPLIT_ATTRIBUTES, SPLIT_POINTS
    from privnb.sanitizers.generalization.full_domain import LOSSES

    sensitive, ten = dataset.schema.sensitive[0], KAnonymity(10)
    yield from (s.Suppress(), s.LaplaceNoise(1.0), s.GeometricNoise(0.5), s.RandomizedResponse(1.0))
    yield from (s.PRAM(), s.PRAM(invariant=True), s.GammaDiagonal(2.0), s.GammaDiagonal(2.0, 0.5), s.MASK(2.0))
    yield from (s.RetentionReplacement(), s.AdditiveNoise(), s.AdditiveNoise(kind="uniform"), s.DataSwapping())
    yield from (s.RareCategories(), s.LocalSuppression(5), s.Sampling())
    yield s.Anatomy(2, sensitive)
    for k in (2, 10, 100) if thorough else (5,):
        yield from (s.Mondrian(KAnonymity(k)), s.KMember(k), s.LocalRecoding(KAnonymity(k)))
        yield s.TopDownSpecialization(KAnonymity(k), workload=sensitive)
        yield from (
            s.Mondrian(KAnonymity(k), split_attribute="gain", split_point=m, workload=sensitive) for m in SPLIT_POINTS
        )
    yield from (
        s.Mondrian(ten, split_attribute=c, split_point=m) for c in SPLIT_ATTRIBUTES[:2] for m in SPLIT_POINTS[:-1]
    )
    for loss in LOSSES if thorough else LOSSES[3:4]:
        target = sensitive if loss == "classification metric" else None
        yield from (s.FullDomain(ten, suppress=share, loss=loss, target=target) for share in (0, 0.05))
    models = (
        TCloseness(0.2, sensitive), EntropyDiversity(1.4, sensitive), DeltaDisclosure(1.5, sensitive),
        JensenShannonCloseness(0.05, sensitive),
    )  # fmt: skip
    for model in models if thorough else ():
        yield from (s.Mondrian(ten, model), s.LocalRecoding(ten, model), s.FullDomain(ten, model, suppress=0.05))
        yield from (s.TopDownSpecialization(ten, model, workload=sensitive), s.KMember(10, models=(model,)))
        yield s.Bucketize(s.Mondrian(ten, model))


def releases(dataset, chosen):
    """`{dataset and sanitizer: the release's table}`; what a sanitizer cannot do stands there as its error."""
    from privnb.sanitizers import SanitizationError

    found = {}
    for sanitizer in chosen:
        try:
            table = sanitizer.sanitize(dataset, rng=1).table
        except SanitizationError as error:
            table = pd.DataFrame({"error": [str(error)]})
        found[f"{dataset.name} {sanitizer!r}"] = table
    return found


def results(dataset):
    """`{dataset and evaluation: its results}`, the miners' among them."""
    from privnb import evaluation, sanitizers
    from privnb.evaluation.utility import queries
    from privnb.privacy_models import KAnonymity

    some = [
        sanitizers.Mondrian(KAnonymity(10)), sanitizers.KMember(50), sanitizers.LaplaceNoise(1.0),
        sanitizers.Bucketize(sanitizers.Mondrian(KAnonymity(10))),
    ]  # fmt: skip
    rows, released = some[:3], some[:2]
    found = {
        "costs": evaluation.measure_information_loss(dataset, some),
        "linked": evaluation.measure_linkage(dataset, some),
        "gains": evaluation.measure_adversary_gains(dataset, [*released, some[3]]),
        "trade-off": questions.trade_off(dataset, some),
        "COUNT queries": queries.measure_query_errors(dataset, some, dimension=2),
        "disclosure": questions.disclosure(dataset, [*released, some[3]]),
        "leakage": questions.leakage(dataset, some),
        "known subsets": questions.known_subsets(dataset, [*released, some[3]]),
    }
    for miners in ("standard", "script_kiddie", "modern"):
        found[f"good utility, {miners}"] = evaluation.measure_good_utility(dataset, rows, miners=miners, folds=3)
        for sanitizer in rows:
            told = questions.anti_utility(dataset, sanitizer, miners=miners)
            found[f"anti-utility, {miners}, {sanitizer!r}"] = told
    return {f"{dataset.name} {name}": table for name, table in found.items()}


def found_here(records, releases_only, few=False):
    """All releases and, unless left out, results on this machine as it is set; `few`: those of the suite."""
    from privnb.datasets.dataset import load

    if few:
        dataset = load("adult", "li-li", records=FEW)
        return releases(dataset, sanitizers(dataset, thorough=False))
    found = {}
    for study in STUDIES:
        dataset = load("adult", study, records=records)
        found |= releases(dataset, sanitizers(dataset))
    return found if releases_only else found | results(load("adult", records=min(records or 5000, 5000)))


def difference(table, other):
    """What differs between two tables, in words; empty if nothing does but the last digits of numbers."""
    if list(table) != list(other) or len(table) != len(other):
        return f"{table.shape} {list(table)} and {other.shape} {list(other)}"
    said = []
    for name in table:
        a, b = (each[name].reset_index(drop=True) for each in (table, other))
        if a.dtype.kind == "f" and b.dtype.kind == "f":
            off = (a - b).abs() / np.maximum(a.abs(), b.abs()).clip(lower=1e-300)
            unlike = ~((off <= TOLERANCE) | (a.isna() & b.isna()) | (a == b))
            if unlike.any():
                said.append(f"{unlike.sum()} of {len(a)} numbers in '{name}' by up to {off.max():.2g}")
        elif (unlike := a.astype(str) != b.astype(str)).any():
            said.append(f"{unlike.sum()} of {len(a)} values in '{name}'")
    return "; ".join(said)


def differences(found, other):
    """`{name: difference}` of all that is not alike in both."""
    missing = pd.DataFrame()
    every = {name: difference(found.get(name, missing), other.get(name, missing)) for name in {**found, **other}}
    return {name: text for name, text in every.items() if text}


def under(environment, *arguments):
    """What another process finds with these environment variables, `arguments` as below."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "found"
        command = [sys.executable, __file__, "--only-save", str(file), *map(str, arguments)]
        subprocess.run(command, env=os.environ | environment, check=True)
        return pickle.loads(file.read_bytes())


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("settings", nargs="*")
    parser.add_argument("--records", type=int, help="of Adult; without it all, and 5,000 for what miners guess")
    parser.add_argument("--releases-only", action="store_true")
    parser.add_argument("--few", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--only-save", type=Path)
    parser.add_argument("--against", type=Path)
    asked = parser.parse_args(arguments)
    if asked.only_save:
        asked.only_save.write_bytes(pickle.dumps(found_here(asked.records, asked.releases_only, asked.few)))
        return 0
    options = [*(["--records", asked.records] if asked.records else []), *["--releases-only"] * asked.releases_only]
    here = under({}, *options)
    if asked.save:
        asked.save.write_bytes(pickle.dumps(here))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        known = settings(folder)
        others = {
            name: lambda name=name: under(known[name], *options) for name in asked.settings or set(known) - {"plain"}
        }
        if asked.against:
            others = {str(asked.against): lambda: pickle.loads(asked.against.read_bytes())}
        for name, find in others.items():
            unlike = differences(here, find())
            failed += len(unlike)
            lines = [
                f"{name}: {len(unlike)} of {len(here)} differ",
                *(f"  {what}: {how}" for what, how in unlike.items()),
            ]
            print("\n".join(lines), flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())

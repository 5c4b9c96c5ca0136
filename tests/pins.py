"""Add new sanitizers to `data/seeds.csv`. `make pins` runs it.

What a draw derives from is frozen: a number of `seeds.csv` is never changed, and only new sanitizers are added.
"""

import csv
from pathlib import Path

from privnb import privacy_models, sanitizers
from privnb.evaluation.predictions import derive_seed
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.catalogue import kinds
from privnb.testing.sanitizers import SCHEMA

SEEDS = Path(__file__).parent / "data" / "seeds.csv"


def own() -> dict[str, type[Sanitizer]]:
    """Return the package's sanitizers by name, without those that read a release from a file and draw nothing."""
    made = {name: kind for name, kind in kinds().items() if not kind.reads_file}
    return {name: kind for name, kind in made.items() if kind.__module__.startswith("privnb.")}


def seeds() -> dict[str, int]:
    """Return the frozen numbers by the sanitizers as they are written."""
    with SEEDS.open(encoding="utf-8", newline="") as file:
        return {row["sanitizer"]: int(row["number"]) for row in csv.DictReader(file)}


def made(text: str) -> Sanitizer:
    """Return the sanitizer that a text writes."""
    names = {name: getattr(privacy_models, name) for name in privacy_models.__all__}
    return eval(text, names | {name: getattr(sanitizers, name) for name in sanitizers.__all__})


def main() -> None:
    """Add the examples of sanitizers that have no frozen number yet."""
    frozen = seeds()
    pinned = {text.partition("(")[0] for text in frozen}
    new = [each for name, kind in own().items() if name not in pinned for each in kind.contract_examples(SCHEMA)]
    with SEEDS.open("a", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [repr(each), derive_seed(1, each, "sanitize")[1]] for each in new
        )


if __name__ == "__main__":
    main()

"""Count the modules that a user action enters: `python tests/benchmarks/walks.py [walk ...]`.

Every module of the package is imported first, so only calls count. For each walk the table shows the modules and the
rooms that are entered, the hops (calls from one module to another) and the climbs (hops to a room of a higher floor).
`--list` names the modules. `--tree FOLDER` traces another checkout, such as one of an older commit.
"""

import argparse
import ast
import os
import pkgutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import FrameType

PROJECT = Path(__file__).resolve().parents[2]
CLINIC = "tests/data/clinic/clinic.toml"
SEED = 1
WRAPPER = "checked"  # of `validation.validated`: the call is its caller's


def member(name: str, room: str = "") -> object:
    """Return the function or class of that name that a module of the package defines, wherever it lives."""
    defined = [
        vars(module)[name]
        for place, module in sorted(sys.modules.items())
        if place.startswith(f"privnb.{room}" if room else "privnb")
        and getattr(vars(module).get(name), "__module__", None) == place
    ]
    if len(defined) != 1:
        raise LookupError(f"{name} is defined {len(defined)} times in privnb.{room}: name its room.")
    return defined[0]


def load() -> Callable[[], object]:
    import privnb

    return lambda: privnb.load("adult", records=2000)


def sanitize() -> Callable[[], object]:
    import privnb

    dataset = privnb.load("adult", records=2000)
    sensitive = dataset.schema.sensitive[0]
    mondrian = privnb.Mondrian(privnb.KAnonymity(10), privnb.TCloseness(0.4, sensitive))
    return lambda: mondrian.sanitize(dataset, rng=SEED)


def publish() -> Callable[[], object]:
    release = sanitize()()
    return release.publish


def evaluate() -> Callable[[], object]:
    import privnb

    dataset = privnb.load("adult", records=2000)
    sanitizers = [privnb.Mondrian(privnb.KAnonymity(10)), privnb.Suppress()]
    return lambda: privnb.evaluate(
        dataset, sanitizers, attacks=[privnb.Linkage()], measures=[member("certainty_penalty")]
    )


def risks() -> Callable[[], object]:
    import privnb

    dataset = privnb.load("adult", records=2000)
    ask, questions = member("answer", "evaluation"), member("questions", "evaluation.risks")
    utility, join = member("Losses")(dataset.schema.sensitive[0]), member("join", "evaluation")
    models = [privnb.KAnonymity(5), privnb.KAnonymity(20)]
    sanitizers = [privnb.Identity(), privnb.Suppress(), *map(privnb.Mondrian, models)]
    return lambda: join(
        *(ask(dataset, each, SEED, question) for each in sanitizers for question in [utility, *questions(dataset)])
    )


def decide() -> Callable[[], object]:
    results = risks()()
    policies = import_module("privnb.decision.policies")
    policy = policies.read("k-5")
    decision = member("decide", "decision")
    return lambda: decision(results, policy)


def explore() -> Callable[[], object]:
    import privnb

    dataset = privnb.load("adult", records=2000)
    counted, setting = member("count_setting", "explorer"), member("Setting", "explorer")
    counted(dataset, setting("Mondrian", k=20))  # a key press follows others
    return lambda: counted(dataset, setting("Mondrian", k=10))


def write() -> Callable[[], object]:
    import privnb

    source, out = Path(CLINIC).with_name("clinic.csv"), Path(tempfile.mkdtemp()) / "release.csv"
    return lambda: privnb.sanitize(source, "k=3", out, dataset=CLINIC)


WALKS = {
    'load("adult", records=2000)': load,
    "Mondrian(k, t).sanitize": sanitize,
    "release.publish()": publish,
    "evaluate(2 sanitizers)": evaluate,
    "risks and utility of 4 releases": risks,
    "decide(results, policy)": decide,
    "explorer, one key press": explore,
    "sanitize, file to file": write,
}


class Trace:
    """The calls between modules of the package.

    Parameters
    ----------
    package : Path
    order : list of str
        The rooms, the lowest first.
    """

    def __init__(self, package: Path, order: list[str]) -> None:
        self.package, self.order = str(package) + os.sep, order
        self.hops: Counter[tuple[str, str]] = Counter()
        self.entered: set[str] = set()
        self._modules: dict[str, str] = {}

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or not (module := self._module(frame)):
            return
        self.entered.add(module)
        caller = frame.f_back
        while caller is not None and (not self._module(caller) or caller.f_code.co_name == WRAPPER):
            caller = caller.f_back
        if caller is not None and (origin := self._module(caller)) != module:
            self.hops[origin, module] += 1

    def _module(self, frame: FrameType) -> str:
        path = frame.f_code.co_filename
        if path not in self._modules:
            inside = path.removeprefix(self.package) if path.startswith(self.package) else ""
            self._modules[path] = inside.removesuffix(".py").replace(os.sep, ".").removesuffix(".__init__")
        return self._modules[path]

    def _room(self, module: str) -> str:
        return module.split(".")[0]

    @property
    def rooms(self) -> set[str]:
        return {self._room(module) for module in self.entered}

    @property
    def climbs(self) -> Counter[tuple[str, str]]:
        floor = {room: place for place, room in enumerate(self.order)}
        return Counter(
            {
                (low, high): times
                for (low, high), times in self.hops.items()
                if floor.get(self._room(low), len(floor)) < floor.get(self._room(high), -1)
            }
        )


def order_of(tree: Path) -> list[str]:
    """Return the rooms as the architecture test of a checkout lists them."""
    body = ast.parse((tree / "tests" / "test_architecture.py").read_text(encoding="utf-8")).body
    (order,) = [node.value for node in body if isinstance(node, ast.Assign) and node.targets[0].id == "ORDER"]
    return ast.literal_eval(order)


def import_all() -> None:
    """Import every module of the package, so that no import happens during a walk."""
    import privnb

    for module in pkgutil.walk_packages(privnb.__path__, "privnb."):
        if not module.name.endswith(("__main__", "_preloaded")):
            import_module(module.name)


def trace(prepare: Callable[[], Callable[[], object]], tree: Path) -> Trace:
    """Return the calls of one walk, without those of its preparation."""
    walk, calls = prepare(), Trace(tree / "privnb", order_of(tree))
    sys.setprofile(calls)
    try:
        walk()
    finally:
        sys.setprofile(None)
    return calls


def report(name: str, calls: Trace, listed: bool) -> str:
    lines = [
        f"{name:34}{len(calls.entered):8}{len(calls.rooms):7}{calls.hops.total():9,}{calls.climbs.total():8}",
        *(f"    climb: {low} -> {high}, {times} times" for (low, high), times in sorted(calls.climbs.items())),
    ]
    if listed:
        lines += [f"    {module}" for module in sorted(calls.entered)]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("walks", nargs="*", help=f"of {', '.join(each.__name__ for each in WALKS.values())}")
    parser.add_argument("--list", action="store_true", help="name the modules that are entered")
    parser.add_argument("--tree", type=Path, default=PROJECT, help="the checkout that is traced")
    given = parser.parse_args()
    known = {prepare.__name__: name for name, prepare in WALKS.items()}
    if unknown := [name for name in given.walks if name not in known]:
        parser.error(f"no walk is called {', '.join(unknown)}; there are {', '.join(known)}")
    tree = given.tree.resolve()
    sys.path.insert(0, str(tree))
    os.chdir(tree)
    import_all()
    print(f"{'walk':34}{'modules':>8}{'rooms':>7}{'hops':>9}{'climbs':>8}", flush=True)
    for name in given.walks or known:
        if (child := os.fork()) == 0:  # a process of its own for each walk, so that none finds what another has cached
            try:
                print(report(known[name], trace(WALKS[known[name]], tree), given.list))
            except Exception:
                traceback.print_exc()
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()

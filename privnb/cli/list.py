"""List datasets, sanitizers, models, attacks, measures, miners, policies, notebooks or parameters."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator

from privnb.cli.answer import Answer
from privnb.cli.arguments import Parser
from privnb.runtime.errors import UsageError

Entry = tuple[str, str]  # a name, and a sentence


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    command.add_argument("kind", choices=[*KINDS], metavar="KIND", help=f"one of {', '.join(KINDS)}")
    command.value("--notebook", "NOTEBOOK", "with parameters: only those of this notebook, such as 04")
    command.examples("list models", "list parameters --notebook 04")


def run(args: Namespace) -> Answer:
    """List everything of a kind: names, and a sentence each."""
    if args.notebook and args.kind != "parameters":
        raise UsageError(f"--notebook is for `privnb list parameters`; got {args.kind}. Leave it out.")
    if args.kind == "parameters":
        return _parameters(args.notebook)
    entries = [*KINDS[args.kind]()]
    width = max((len(name) for name, _ in entries), default=0)
    values = {"kind": args.kind, "entries": [{"name": name, "sentence": sentence} for name, sentence in entries]}
    if width > 30:
        return Answer(values, [line for name, sentence in entries for line in (name, f"    {sentence}")])
    return Answer(values, [f"{name:<{width}}  {sentence}" for name, sentence in entries])


def _datasets() -> Iterator[Entry]:
    from privnb.datasets import description
    from privnb.datasets.dataset import known_datasets
    from privnb.microdata.schema import SchemaError

    for path in known_datasets():
        try:
            stated = description.read(path)
            draft = " This is a draft." if stated.get("draft") else ""
            yield path.stem, f"{str(stated['dataset'].get('title', '')).rstrip('.')}.{draft}"
        except SchemaError as error:
            yield path.stem, f"It cannot be read: {error}"


def _sanitizers() -> Iterator[Entry]:
    from privnb.runtime.family import sentence
    from privnb.sanitizers.catalogue import kinds

    return ((name, sentence(kind)) for name, kind in kinds().items())


def _models() -> Iterator[Entry]:
    from privnb.publishing.in_words import forms

    yield from forms()
    yield "l=L:SENSITIVE", "The same as distinct-l."


def _attacks() -> Iterator[Entry]:
    from privnb.attacks.base import Attack
    from privnb.runtime.family import members, sentence

    return ((kind.__name__, sentence(kind)) for kind in members(Attack))


def _measures() -> Iterator[Entry]:
    from privnb.measures.base import stated

    return ((each.name, each.sentence or f"{each.title[0].upper()}{each.title[1:]}.") for each in stated())


def _miners() -> Iterator[Entry]:
    from privnb.miners.reference import NOT_FOR_LABELS, SETS, installed_miners

    for name in dict.fromkeys(name for names in SETS.values() for name in names):
        of = [each for each, names in SETS.items() if name in names]
        what = "It guesses numbers alone" if name in NOT_FOR_LABELS else "It guesses labels, or numbers if it can"
        yield name, f"{what}; in the set{'s' * (len(of) > 1)} {', '.join(of)}."
    for name, miner in installed_miners().items():
        what = " and ".join(["labels"] * (miner.classifier is not None) + ["numbers"] * (miner.regressor is not None))
        yield name, f"It guesses {what}; of an installed package."


def _policies() -> Iterator[Entry]:
    from privnb.decision import policies

    for name in policies.ready():
        yield name, policies.read(name).title.rstrip(".") + "."


def _notebooks() -> Iterator[Entry]:
    from privnb.reporting.notebooks import choose, notebooks_folder

    return ((each.name, each.question) for each in choose(notebooks_folder()))


KINDS: dict[str, Callable[[], Iterator[Entry]]] = {
    "datasets": _datasets,
    "sanitizers": _sanitizers,
    "models": _models,
    "attacks": _attacks,
    "measures": _measures,
    "miners": _miners,
    "policies": _policies,
    "notebooks": _notebooks,
    "parameters": lambda: iter(()),
}


def _parameters(notebook: str | None) -> Answer:
    """List the parameters of one notebook, or of all of them."""
    from privnb.reporting.notebooks import choose, notebooks_folder, offered

    chosen = choose(notebooks_folder(), [notebook] if notebook else None)
    entries = [
        {
            "name": name,
            "notebook": each.name,
            "sentence": each.parameters[name].meaning,
            "default": each.parameters[name].default,
        }
        for each in chosen
        for name in each.values
    ]
    return Answer({"kind": "parameters", "entries": entries}, [offered(chosen).rstrip("\n")])


def parameters_text(notebook: str) -> str:
    """Return the parameters of one notebook for people."""
    return "\n".join([*_parameters(notebook).sentences, ""])

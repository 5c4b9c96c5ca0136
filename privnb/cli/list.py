"""List datasets, sanitizers, models, attacks, measures, miners, policies, frameworks, notebooks or parameters."""

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
    command.value(
        "--notebook", "NOTEBOOK", "list only the parameters of this notebook, such as 04, if KIND is parameters"
    )
    command.examples("list models", "list parameters --notebook 04")


def run(args: Namespace) -> Answer:
    """List all names of one kind, and a sentence for each name."""
    if args.notebook and args.kind != "parameters":
        raise UsageError(f"--notebook is for `privnb list parameters`; got {args.kind}. Leave out --notebook.")
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
    from privnb.datasets.dataset import list_datasets
    from privnb.microdata.schema import SchemaError

    for path in list_datasets():
        try:
            stated = description.read_description(path)
            draft = " This is a draft." if stated.get("draft") else ""
            yield path.stem, f"{str(stated['dataset'].get('title', '')).rstrip('.')}.{draft}"
        except SchemaError as error:
            yield path.stem, f"It cannot be read: {error}"


def _sanitizers() -> Iterator[Entry]:
    from privnb.runtime.registry import first_sentence
    from privnb.sanitizers.catalogue import kinds

    return ((name, first_sentence(kind)) for name, kind in kinds().items())


def _models() -> Iterator[Entry]:
    from privnb.publishing.model_spec import list_forms

    yield from list_forms()
    yield "l=L:SENSITIVE", "Means the same as distinct-l."


def _attacks() -> Iterator[Entry]:
    from privnb.attacks.base import Attack
    from privnb.runtime.registry import find_classes, first_sentence

    return ((kind.__name__, first_sentence(kind)) for kind in find_classes(Attack))


def _measures() -> Iterator[Entry]:
    from privnb.measures.base import list_measures

    return ((each.name, each.sentence or f"{each.title[0].upper()}{each.title[1:]}.") for each in list_measures())


def _miners() -> Iterator[Entry]:
    from privnb.miners.reference import NOT_FOR_LABELS, SETS, find_installed_miners

    for name in dict.fromkeys(name for names in SETS.values() for name in names):
        of = [each for each, names in SETS.items() if name in names]
        what = "Predicts numbers only" if name in NOT_FOR_LABELS else "Predicts labels, and numbers if it can"
        yield name, f"{what}; in the set{'s' * (len(of) > 1)} {', '.join(of)}."
    for name, miner in find_installed_miners().items():
        what = " and ".join(["labels"] * (miner.classifier is not None) + ["numbers"] * (miner.regressor is not None))
        yield name, f"Predicts {what}; from an installed package."


def _policies() -> Iterator[Entry]:
    from privnb.decision import policies

    for name in policies.list_policy_names():
        yield name, policies.read(name).title.rstrip(".") + "."


def _frameworks() -> Iterator[Entry]:
    from privnb.decision import frameworks

    for name in frameworks.list_framework_names():
        found = frameworks.read(name)
        is_read = "We have read the source." if found.read else "We have read only summaries of the source."
        yield name, f"{found.title}: {len(found.questions)} {found.unit}. {is_read}"


def _notebooks() -> Iterator[Entry]:
    from privnb.reporting.notebooks import choose_notebooks, notebooks_folder

    return ((each.name, each.question) for each in choose_notebooks(notebooks_folder()))


KINDS: dict[str, Callable[[], Iterator[Entry]]] = {
    "datasets": _datasets,
    "sanitizers": _sanitizers,
    "models": _models,
    "attacks": _attacks,
    "measures": _measures,
    "miners": _miners,
    "policies": _policies,
    "frameworks": _frameworks,
    "notebooks": _notebooks,
    "parameters": lambda: iter(()),
}


def _parameters(notebook: str | None) -> Answer:
    """List the parameters of one notebook or of all notebooks."""
    from privnb.reporting.notebooks import choose_notebooks, describe_notebooks, notebooks_folder

    chosen = choose_notebooks(notebooks_folder(), [notebook] if notebook else None)
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
    return Answer({"kind": "parameters", "entries": entries}, [describe_notebooks(chosen).rstrip("\n")])


def format_parameters(notebook: str) -> str:
    """Return the text that lists the parameters of one notebook."""
    return "\n".join([*_parameters(notebook).sentences, ""])

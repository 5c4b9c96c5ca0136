"""The facts that the code states of itself: the templates in reference/ and gallery/ use the names of this module."""
# ruff: noqa: F401 -- the templates use what is imported here

import argparse
import json
import pkgutil
import re
import tomllib
from collections.abc import Iterator
from dataclasses import MISSING, fields
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

from numpydoc.docscrape import ClassDoc

import privnb
from privnb import evaluation, papers
from privnb.attacks.base import Attack
from privnb.cli import command
from privnb.cli.list import KINDS
from privnb.datasets.description import KEYS, Named, TomlTable, TomlTables
from privnb.decision import card, frameworks, policies
from privnb.evaluation import results
from privnb.measures.base import find_measure, list_measures
from privnb.privacy_models import PrivacyModel
from privnb.reporting import glossary, notebooks
from privnb.runtime.errors import PrivnbError
from privnb.runtime.registry import find_cited_source, find_classes
from privnb.sanitizers import Sanitizer, catalogue

# Classes of errors and facts of measures are known as soon as their modules are imported.
for module in pkgutil.walk_packages(privnb.__path__, "privnb."):
    if "._" not in module.name:
        import_module(module.name)

DOCS = Path(__file__).parent
NOTEBOOKS = notebooks.choose_notebooks(DOCS.parent / "notebooks")
MEANINGS = tomllib.loads((DOCS / "reference" / "description.toml").read_text(encoding="utf-8"))
CARD = json.loads(Path(card.__file__).with_name("card.schema.json").read_text(encoding="utf-8"))
POLICY = Path(policies.__file__).with_name("ontario-2025.toml").read_text(encoding="utf-8").strip()
COLUMNS = re.search(r"^\| column.*?(?=\n\n|\Z)", results.__doc__ or "", re.DOTALL | re.MULTILINE)[0]
BASES = (Sanitizer, PrivacyModel, Attack)
METHODS = [each for base in BASES for each in find_classes(base)]
PUBLIC = {each.__name__: each for each in [*(getattr(privnb, name) for name in privnb.__all__), *METHODS]}
# Two names may differ in the case of their letters alone, and some file systems cannot tell such files apart.
PAGES = {name: f"{'classes' if isinstance(each, type) else 'functions'}/{name}" for name, each in PUBLIC.items()}


def plain(text: object) -> str:
    """Return text without Markdown's marks, in one line."""
    return re.sub(r"([\\`*_{}\[\]<>|$#~])", r"\\\1", re.sub(r"\s+", " ", str(text)))


def code(text: object) -> str:
    """Return text as code, for a table too; an empty text stays empty."""
    return f"`{str(text).replace('|', chr(92) + '|')}`" if str(text) else ""


def prose(text: str) -> str:
    """Return the text of a docstring in one line; the text in backticks stays code."""
    parts = re.split(r"(`[^`]+`)", " ".join(text.replace("``", "`").split()))
    return "".join(code(part.strip("`")) if part.startswith("`") else plain(part) for part in parts)


def first(thing: Any) -> str:
    """Return the first sentence of a docstring."""
    paragraph = " ".join((thing.__doc__ or "").split("\n\n")[0].split())
    return prose(re.split(r"(?<=[a-z)`\]\d])\.\s", paragraph)[0].rstrip(".") + ".")


def link(thing: Any) -> str:
    """Return a link to the page of a class or function."""
    return f"[`{thing.__name__}`](/reference/{PAGES[thing.__name__]}.md)"


def rooms() -> Iterator[tuple[str, list[Any]]]:
    """Yield each room of the package with those of `privnb.__all__` that it has."""
    for room, names in groupby(privnb.__all__, lambda name: privnb._HOMES[name].split(".")[1]):
        yield room.replace("_", " ").capitalize(), [PUBLIC[name] for name in names]


def commands() -> Iterator[tuple[Any, list[tuple[str, str]]]]:
    """Yield the parser of each command, and its arguments with what they mean."""
    parser = command.parser()
    (inner,) = (each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
    for each in (parser, *inner.choices.values()):
        own = [one for one in each._actions if one is not inner]
        yield each, [(_argument(one), prose((one.help or "").replace("%%", "%"))) for one in own]


def _argument(action: argparse.Action) -> str:
    choices = "{" + ",".join(map(str, action.choices or ())) + "}"
    value = action.metavar or (choices if action.choices else action.dest.upper())
    return ", ".join(each if action.nargs == 0 else f"{each} {value}" for each in action.option_strings) or str(value)


def policy_keys(kind: Any) -> Iterator[tuple[str, str, str, str]]:
    """Yield the keys of a policy, of a cap or of a need, each with its type, its default and its meaning."""
    means = {name: part for part in ClassDoc(kind)["Parameters"] for name in part.name.split(", ")}
    for key in fields(kind):
        default = "required" if key.default is MISSING else code(json.dumps(key.default))
        default = default if len(default) < 40 else "a sentence of privnb"
        if key.name not in ("name", "sha256"):
            yield key.name, plain(means[key.name].type), default, prose(" ".join(means[key.name].desc))


def description_keys(rule: Any = KEYS, name: str = "", means: Any = MEANINGS) -> Iterator[tuple[str, str, str]]:
    """Yield each key of a description, the values that it takes, and what it means."""
    match rule:
        case TomlTable(keys):
            for key, each in keys.items():
                yield from description_keys(each, f"{name}.{key}".lstrip("."), means[key])
        case Named(each):
            yield from description_keys(each, f"{name}.NAME", means["NAME"])
        case TomlTables(each):
            yield from description_keys(each, name, means)
        case _:
            yield name, plain(rule.words), prose(means)


def card_fields(schema: Any, name: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield each field of a card or of a part of it, its type and its meaning."""
    for key, value in schema.get("properties", {}).items():
        yield f"{name}{key}", _type(value), prose(value.get("description", ""))
        inner = [(value, "."), (value.get("items", {}), "[]."), *((each, ".") for each in value.get("anyOf", []))]
        for part, end in inner:
            yield from card_fields(part, f"{name}{key}{end}")


def _type(value: Any) -> str:
    if "$ref" in value:
        part = value["$ref"].rpartition("/")[2]
        return f"[{part}](#card-{part})"
    if "anyOf" in value:
        return " or ".join(map(_type, value["anyOf"]))
    if options := value.get("enum") or [value[key] for key in ("const",) if key in value]:
        return " or ".join(code(json.dumps(option)) for option in options)
    kind = " or ".join([value["type"]] if isinstance(value["type"], str) else value["type"])
    return f"list of {_type(value['items'])}" if "items" in value else kind


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each page that is written: one for a public name, and one for a notebook."""
    for name, path in PAGES.items():
        kind = "autoclass" if isinstance(PUBLIC[name], type) else "autofunction"
        text = f"---\norphan: true\n---\n[Python reference](../python.md)\n\n# {name}\n\n"  # no 130 names in the menu
        text += f"```{{eval-rst}}\n.. {kind}:: privnb.{name}\n"
        bases = [base for base in BASES if PUBLIC[name] in METHODS and issubclass(PUBLIC[name], base)]
        text += "".join(f"   :no-members:\n\n   Methods: see :py:obj:`privnb.{base.__name__}`.\n" for base in bases)
        yield f"reference/{path}.md", f"{text}```\n"
    for each in NOTEBOOKS:
        cells = [(cell.cell_type == "code", cell.source) for cell in each.read().cells]
        text = "\n\n".join(f"```python\n{source}\n```" if is_code else source for is_code, source in cells) + "\n"
        text = re.sub(r"\]\((\d\d_\w+)\.html", r"](\1.md", text)  # a page of the report is one of the gallery here
        text = text.replace("](card.html)", "](/how-to/read-a-card.md)")  # the gallery has no card of its own
        yield f"gallery/pages/{each.name}.md", re.sub(r"\[([^]]*)\]\(glossary\.html#([\w-]+)\)", _to_glossary, text)


def _to_glossary(link: re.Match[str]) -> str:
    (term,) = (each for each in glossary.terms() if each.place == link[2])
    anchor = re.sub(r"\W+", "-", f"term-{term.name}").strip("-")  # Sphinx keeps the capitals of a term
    return f'<a href="../../reference/glossary.html#{anchor}">{link[1]}</a>'

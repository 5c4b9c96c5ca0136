"""Annotations that arguments are checked by can be read where they are asked for."""

import inspect
import pkgutil
from importlib import import_module

import pytest

import privnb
from privnb.runtime.validation import Validated, argument_checks


def annotated():
    """`{name: function or dataclass}` of all whose arguments are checked by their annotations."""
    found = {}
    for module in pkgutil.walk_packages(privnb.__path__, "privnb."):
        if module.name.endswith(("__main__", "_preloaded")):
            continue
        for thing in vars(import_module(module.name)).values():
            own = [thing, *(vars(thing).values() if inspect.isclass(thing) else ())]
            for each in (getattr(each, "__func__", each) for each in own):
                if inspect.isfunction(each) and each.__code__.co_qualname.endswith("validated.<locals>.checked"):
                    found[f"{each.__module__}.{each.__qualname__}"] = each.__wrapped__
            if inspect.isclass(thing) and issubclass(thing, Validated) and hasattr(thing, "__dataclass_fields__"):
                found[f"{thing.__module__}.{thing.__qualname__}"] = thing
    return found


@pytest.mark.slow
def test_every_annotation_that_is_checked_resolves():
    found = annotated()
    assert len(found) > 300
    for each in found.values():
        argument_checks(each)


def test_the_package_says_that_it_is_typed():
    assert (import_module("importlib.resources").files("privnb") / "py.typed").is_file()

"""What people read: findings and charts of results, notebooks run, pages made."""

import importlib
import sys
from types import ModuleType


def _later(name, function):
    """Let `from name import function` import nothing yet: the module is loaded when the function is called."""

    def call(*given):
        if sys.modules.get(name) is module:
            del sys.modules[name]
        return getattr(importlib.import_module(name), function)(*given)

    module = ModuleType(name)
    setattr(module, function, call)
    return sys.modules.setdefault(name, module)


# jsonschema, which Altair and nbformat import, has it for the one format "iri", that neither has; it takes 2 seconds.
_later("rfc3987_syntax", "is_valid_syntax")

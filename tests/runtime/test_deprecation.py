"""Old names: each use gives one warning, which names the line that uses the old name."""

import sys
import warnings
from importlib import import_module

import pytest

USES = {
    "an attribute of the package": "import privnb\nprivnb.Pram",
    "a name that a room had": "import privnb\nprivnb.good_utility",
    "an import from the package": "import os\nfrom privnb import Pram",
    "an import from a room": "import os\nfrom privnb.evaluation import linked",
    "a function of a room": "from privnb import measures\nmeasures.facts",
    "a parameter": "from privnb import RareCategories\nRareCategories(fewest=5)",
    "a method": "from privnb import KMember\nKMember.at({'k': 3})",
    "an override of a method": "from privnb import Suppress\nclass Own(Suppress): at = Suppress.from_bounds",
    "an attribute of a question": "from privnb import Question\nclass Own(Question): main = 'classes'",
}


@pytest.fixture
def caller(monkeypatch, tmp_path):
    """Return a function that runs a text as a module of its own."""
    monkeypatch.syspath_prepend(tmp_path)

    def run(text):
        (tmp_path / "caller_of_old_names.py").write_text(text, encoding="utf-8")
        monkeypatch.delitem(sys.modules, "caller_of_old_names", raising=False)
        return import_module("caller_of_old_names")

    return run


@pytest.mark.parametrize("use", USES)
def test_an_old_name_warns_once_at_the_line_that_uses_it(caller, use):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        caller(USES[use])
    assert [(each.category, each.filename.rpartition("/")[2], each.lineno) for each in found] == [
        (DeprecationWarning, "caller_of_old_names.py", 2)
    ], [str(each.message) for each in found]
    assert "' is now '" in str(found[0].message)


def test_a_new_name_does_not_warn(caller):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        caller("from privnb import PRAM, RareCategories\nRareCategories(min_records=5)")


def test_a_filter_can_turn_the_warning_into_an_error(caller):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DeprecationWarning, match="'Pram' is now 'PRAM'"):
            caller(USES["an import from the package"])

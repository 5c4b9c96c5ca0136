"""What takes seconds to import and is hardly used is imported when it is."""

import subprocess
import sys

import pytest

from privnb.reporting import _later


def test_a_module_is_loaded_when_its_function_is_called(tmp_path, monkeypatch):
    (tmp_path / "slow_to_load.py").write_text("loaded = True\ndef twice(number): return 2 * number\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "slow_to_load", raising=False)
    stands_for_it = _later("slow_to_load", "twice")
    from slow_to_load import twice

    assert sys.modules["slow_to_load"] is stands_for_it
    assert [twice(1), twice(2)] == [2, 4]
    assert sys.modules["slow_to_load"].loaded


@pytest.mark.slow
def test_the_format_that_nobody_asks_for_is_checked_and_not_loaded_before():
    code = "import sys, privnb.reporting, jsonschema; assert 'lark' not in sys.modules\n"
    code += "check = jsonschema.FormatChecker().conforms; sys.exit(check('no iri', 'iri') + 2 * check('a:b', 'iri'))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 2

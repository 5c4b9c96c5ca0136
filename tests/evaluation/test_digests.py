import importlib
import sys
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from support.clinic import CLINIC

from privnb.datasets.dataset import Dataset, load
from privnb.evaluation import digests as module
from privnb.evaluation.digests import digest, digest_bytes, fingerprint
from privnb.evaluation.release_measures import measure_information_loss
from privnb.evaluation.utility.good_utility import measure_good_utility
from privnb.microdata.hierarchy import Ranges, Taxonomy, flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.miners import reference_set
from privnb.privacy_models import KAnonymity
from privnb.sanitizers import KMember, LaplaceNoise, Mondrian

AGE = Attribute("age", Role.QUASI_IDENTIFIER, Numbers(17, 99))
SEX = Attribute("sex", Role.QUASI_IDENTIFIER, Categories(("F", "M")))
ILL = Attribute("ill", Role.SENSITIVE, Categories(("no", "yes")))


def patients(ages=(20, 30, 30, 41), sexes=("M", "F", "M", "F"), ills=("no", "yes", "no", "no"), dtype=str, **changes):
    table = pd.DataFrame({"age": ages, "sex": pd.Series(sexes, dtype=dtype), "ill": pd.Series(ills, dtype=dtype)})
    made = {
        "name": "patients",
        "table": table,
        "schema": Schema("patients", (AGE, SEX, ILL)),
        "hierarchies": {"age": Ranges(AGE.domain), "sex": flat(SEX)},
    }
    return Dataset(**made | changes)


@pytest.mark.parametrize("dtype", [object, "str", pd.StringDtype("python"), "category"])
def test_texts_count_the_same_in_every_dtype_and_give_the_same_results(dtype):
    other = patients(dtype=dtype)
    assert digest(other) == digest(patients())
    pd.testing.assert_frame_equal(
        measure_information_loss(other, [KMember(2)]),
        measure_information_loss(patients(), [KMember(2)]),
        check_exact=True,
    )


def test_categories_in_another_order_count_the_same():
    assert digest(patients(dtype=pd.CategoricalDtype(["M", "yes", "F", "no"]))) == digest(patients())


def test_index_labels_of_a_dataset_do_not_count():
    table = patients().table.set_axis([7, 7, 1, 0])
    assert digest(patients(table=table)) == digest(patients())


def test_what_a_dataset_has_worked_out_since_does_not_count():
    dataset = load(CLINIC)
    before = digest(dataset)
    measure_information_loss(dataset, [KMember(5)])
    assert digest(dataset) == before


@pytest.mark.parametrize(
    "other",
    [
        patients(ages=(20, 30, 30, 42)),
        patients(ages=(20.0, 30.0, 30.0, 41.0)),
        patients(ills=("no", "yes", "no", "yes")),
        patients(sexes=("F", "M", "M", "F")),
        patients(table=patients().table.iloc[::-1]),
        patients(name="others"),
        patients(schema=Schema("patients", (replace(AGE, domain=Numbers(17, 100)), SEX, ILL))),
        patients(schema=Schema("patients", (AGE, SEX, replace(ILL, role=Role.NEUTRAL)))),
        patients(hierarchies={"age": Ranges(AGE.domain), "sex": Taxonomy("sex", (("F", "x", "*"), ("M", "x", "*")))}),
    ],
)
def test_whatever_else_differs_between_datasets_counts(other):
    assert digest(other) != digest(patients())


def test_values_that_are_easily_taken_for_each_other_differ():
    nearly_equal = [
        None, 0, 1, True, 1.0, -1.0, 0.0, -0.0, np.nextafter(1.0, 2), np.float32(1), "", "1", "None", b"1",
        [1], (1,), [[1]], [], {}, {1: 1}, {"1": 1}, ["ab", "c"], ["a", "bc"], [1, [2]], [[1], 2],
        np.array([1]), np.array([[1]]), np.array([1.0]), np.array(["1"]), np.array([1], dtype=object),
        np.array([True], dtype=object), pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]}), pd.DataFrame({1: [1]}),
        pd.DataFrame({"1": [1]}), pd.DataFrame({"a": [1]}, index=[1]), Role.NEUTRAL, str(Role.NEUTRAL), int, float,
        np.array(["a", None], dtype=object), np.array(["a", "None"]), np.array([None, "a"], dtype=object),
        measure_information_loss, measure_good_utility, LaplaceNoise(1.0), LaplaceNoise(1.0, {"age": 5}), KMember(2),
        KMember(3), KMember(2, start=None), KAnonymity(2), Mondrian(KAnonymity(2)), Mondrian(KAnonymity(3)),
        *reference_set("basic"),
    ]  # fmt: skip
    assert len({digest(value) for value in nearly_equal}) == len(nearly_equal)


def test_a_digest_tells_where_parts_end():
    assert (
        len({digest_bytes(b"ab", b"c"), digest_bytes(b"a", b"bc"), digest_bytes(b"abc"), digest_bytes(b"abc", b"")})
        == 4
    )


def test_equal_values_agree():
    assert digest(float("nan")) == digest(float("nan"))
    assert digest(Mondrian(KAnonymity(2))) == digest(Mondrian(KAnonymity(2)))
    assert digest(np.array(["a", None], dtype=object)) == digest(np.array(["a", np.nan], dtype=object))
    assert digest(np.arange(6).reshape(2, 3).T) == digest(np.arange(6).reshape(2, 3).T.copy())


def test_what_a_miner_has_learned_counts():
    tree = reference_set("decision tree")[0].classifier.tree
    trained = type(tree)(**tree.get_params()).fit([[0], [1]], [0, 1])
    with pytest.raises(TypeError, match="a Tree cannot be an input"):
        digest(trained)


@dataclass(frozen=True)
class Mine:
    k: int


def rule(value):
    return value


def test_code_outside_the_package_counts_with_its_file(monkeypatch, tmp_path):
    before = digest(Mine(2)), digest(rule)
    changed = tmp_path / "changed.py"
    changed.write_text("# another formula", encoding="utf-8")
    monkeypatch.setattr(module.sys.modules[__name__], "__file__", str(changed))
    assert digest(Mine(2)) != before[0]
    assert digest(rule) != before[1]


@pytest.mark.parametrize("line", ["import {}", "from {} import LIMIT", "def late(): import {}"])
def test_so_do_the_files_of_ones_own_that_it_imports_at_any_depth(monkeypatch, tmp_path, line):
    """A constant of another file, too; no installed package, whose files are many."""
    monkeypatch.syspath_prepend(tmp_path)
    own = {name: tmp_path / f"own_{name}.py" for name in "abc"}
    own["a"].write_text(f"{line.format('own_b')}\nimport jinja2\ndef asked(): return 1\n")
    own["b"].write_text("from own_c import LIMIT\n")
    own["c"].write_text("import own_a\nLIMIT = 1\n")  # in a circle
    for name in "abc":
        monkeypatch.delitem(sys.modules, f"own_{name}", raising=False)
    asked = importlib.import_module("own_a").asked
    importlib.import_module("own_b")
    before = digest(asked)
    assert digest(asked) == before
    own["c"].write_text("import own_a\nLIMIT = 2\n")
    assert digest(asked) != before
    assert [file.name for file in module._list_own_files("own_a")] == ["own_a.py", "own_b.py", "own_c.py"]
    own["b"].write_text("from own_c import LIMIT\nhalf a (\n")
    with pytest.raises(SyntaxError, match=r"own_b.py, line 2"):
        digest(asked)


def test_code_of_the_package_counts_with_all_its_files(monkeypatch, tmp_path):
    def of(folder):
        monkeypatch.setattr(module, "__file__", str(folder / "evaluation" / "content.py"))
        return fingerprint.__wrapped__()

    (tmp_path / "measures").mkdir()
    (tmp_path / "measures" / "gains.py").write_text("a", encoding="utf-8")
    first = of(tmp_path)
    assert of(tmp_path) == first
    (tmp_path / "measures" / "gains.py").write_text("b", encoding="utf-8")
    second = of(tmp_path)
    (tmp_path / "measures" / "gains.py").rename(tmp_path / "gains.py")
    third = of(tmp_path)
    (tmp_path / "reporting").mkdir()
    (tmp_path / "reporting" / "bars.py").write_text("what only reads results", encoding="utf-8")
    (tmp_path / "cli").mkdir()
    (tmp_path / "cli" / "check.py").write_text("what only reads results", encoding="utf-8")
    assert of(tmp_path) == third
    monkeypatch.setattr(module.importlib.metadata, "version", lambda name: "0")
    assert len({first, second, third, of(tmp_path)}) == 4


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (np.random.default_rng(1), "a Generator cannot be an input"),
        (object(), "a object cannot be an input"),
        ({1, 2}, "a set cannot be an input"),
        ([CLINIC], "a PosixPath cannot be an input"),
        (lambda: 1, "Define the class or function at the top of a module"),
        (type("Local", (Mine,), {"__module__": "__main__"})(1), "Define the class or function at the top of a module"),
    ],
)
def test_what_has_no_content_is_refused(value, found):
    with pytest.raises(TypeError, match=found):
        digest(value)

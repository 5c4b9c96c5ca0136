"""Arrows point down: each room imports only from rooms above it in this list."""

import ast
from pathlib import Path

import pytest
from support.naming import naming

from privnb.evaluation.digests import RESULT_READERS

MOST_FILES = 24  # of a folder: the charts are most
PACKAGE = Path(__file__).parent.parent / "privnb"
ORDER = [
    "runtime", "microdata", "tables", "datasets", "privacy_models", "miners", "attacks", "measures", "sanitizers",
    "evaluation", "testing", "decision", "publishing", "reporting", "papers", "explorer", "workbench", "app", "cli",
    "__main__",
]  # fmt: skip


@pytest.fixture(scope="module")
def texts():
    """`{path: text}` of each module of the package."""
    return {path.relative_to(PACKAGE): path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}


@pytest.fixture(scope="module")
def trees(texts):
    return {path: ast.parse(text) for path, text in texts.items()}


def module(path):
    return path.parts[0].removesuffix(".py")


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "privnb":
            parts = node.module.split(".")
            yield from [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from (a.name.split(".")[1] for a in node.names if a.name.startswith("privnb."))


@pytest.mark.slow
def test_imports_point_down(trees):
    for path, tree in trees.items():
        own = module(path)
        for other in imported(tree) if own != "__init__" else ():
            with naming(str(path)):
                assert other in ORDER, f"{other} has no place in the order"
                assert ORDER.index(other) <= ORDER.index(own), f"{own} imports {other}, which stands below it"


def modules(texts):
    """Return the modules of the package that each of its modules imports, at its top or later, by their names."""
    files = {".".join(("privnb", *path.with_suffix("").parts)).removesuffix(".__init__"): path for path in texts}
    found = {}
    for name, path in files.items():
        found[name] = set()
        for node in ast.walk(ast.parse(texts[path])):
            if isinstance(node, ast.ImportFrom) and node.module:
                inner = [f"{node.module}.{alias.name}" for alias in node.names]
                found[name] |= {each if each in files else node.module for each in inner}
            elif isinstance(node, ast.Import):
                found[name] |= {alias.name for alias in node.names}
        found[name] &= files.keys() - {name, "privnb"}
    return found


def test_no_module_imports_itself_through_others(texts):
    waiting = modules(texts)
    while free := [name for name, needed in waiting.items() if not needed & waiting.keys()]:
        for name in free:
            del waiting[name]
    assert waiting == {}


def test_a_folder_holds_what_a_reader_can_overlook():
    root = {path.name for path in PACKAGE.iterdir()} - {"__init__.py", "__pycache__", "py.typed"}
    assert len(root) <= 20
    for folder in (path for path in PACKAGE.rglob("*") if path.is_dir()):
        assert len(list(folder.glob("*.py"))) <= MOST_FILES, folder


def test_what_only_reads_results_is_no_input_of_a_stored_one(texts):
    """Nothing that makes numbers can import these, so they do not count as code beneath a number."""

    def reads(name):
        return ".".join(name.split(".")[1:3]) in RESULT_READERS or name.split(".")[1] in RESULT_READERS

    for name, imported in modules(texts).items():
        if name != "privnb" and not reads(name):
            assert not [*filter(reads, imported)], name


def test_every_module_has_its_place(trees):
    assert {module(path) for path in trees} - {"__init__"} == set(ORDER)


@pytest.mark.slow
def test_no_module_hides_another_kind_of_code(texts, trees):
    """No record table reaches a chart unaggregated, and nothing is printed from the package but by its command line."""
    for path, tree in trees.items():
        with naming(str(path)):
            assert "disable_max_rows" not in texts[path]
            if path.parts[0] != "cli" and path.stem not in ("report", "progress"):
                calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
                assert "print" not in [call.id for call in calls if isinstance(call, ast.Name)]


COLUMNS = {"measure", "miner", "parameters", "target"}
PARSING = {*"startswith endswith removeprefix removesuffix split rsplit partition rpartition str".split()}


def parsed(tree):
    """Where a column of results, or a name like one, is taken apart as text: (line, column)."""
    for node in ast.walk(tree):
        taken = []
        if isinstance(node, ast.Attribute) and node.attr in PARSING:
            taken = [node.value]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            taken = node.args if getattr(node.func.value, "id", "") == "re" else []
        for each in taken:
            name = getattr(each, "attr", getattr(each, "id", getattr(getattr(each, "slice", None), "value", "")))
            if name in COLUMNS:
                yield node.lineno, name


def test_a_column_that_is_taken_apart_is_seen():
    told = "a.miner.removeprefix('x'), b['parameters'].str, target.split(), re.search('k=', parameters), a.miner == 'x'"
    assert [name for _, name in parsed(ast.parse(told))] == ["parameters", "parameters", "miner", "target"]


@pytest.mark.slow
def test_what_a_number_is_stands_in_columns_and_not_in_names(trees):
    """`results.COLUMNS` say which; the names of Weka's miners are read where they are made, in `miners.weka`."""
    for path, tree in trees.items():
        with naming(str(path)):
            assert list(parsed(tree)) == []


PROSELESS = ("decision", "evaluation", "measures")  # rooms whose sentences for readers are in `templates`
STATED = {"title", "sentence", "source", "readings", "instead"}  # facts of a method, and the cure of an error
ERRORS = {"expect", "instead", "add_note", "warn_once", "ValueError", "_parsed"}  # calls whose texts are errors
EXCEPTIONS = {  # functions and variables whose texts are no prose of a page
    "__repr__": "the text that Python shows of an object",
    "verify": "the errors of a card, each with its cure",
    "_described": "the docstring of a measure",
    "ARGUMENTS": "the docstring of a measure",
    "_ALVIM": "a citation",
    "_BOOK": "a citation",
    "_SOURCE": "a citation",
    "TAG_TEXT": "the text of a file in the store",
    **dict.fromkeys(
        ["ALLOWED", "INSTEAD", "KILLED_ADVICE", "exact", "got", "instead", "trouble"], "a part of an error"
    ),
}


def is_stated(node):
    """Return whether the strings below a node are a docstring, a citation, or a part of an error or of a fact."""
    if isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return True
    if isinstance(node, ast.Call):
        return not ERRORS.isdisjoint(each.id for each in ast.walk(node.func) if isinstance(each, ast.Name)) or (
            getattr(node.func, "attr", "") in ERRORS
        )
    names = [getattr(node, "name", ""), *(getattr(each, "id", "") for each in getattr(node, "targets", ()))]
    return getattr(node, "arg", "") in STATED or not EXCEPTIONS.keys().isdisjoint(names)


def sentences(tree):
    """Yield the line and the text of each string that reads like a sentence for readers."""
    waiting = [*ast.iter_child_nodes(tree)]
    while waiting:
        node = waiting.pop()
        if is_stated(node):
            continue
        text = ""
        if isinstance(node, ast.JoinedStr):
            text = "".join(each.value if isinstance(each, ast.Constant) else "x" for each in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            waiting += ast.iter_child_nodes(node)
        if len(text.split()) >= 5 and (text[0].isupper() or text.rstrip().endswith(".")):
            yield node.lineno, text


def test_which_strings_read_like_sentences():
    told = 'x = f"All of {n} releases keep it"; raise E("It is not so, alas. Try k."); f("a b c d e"); g("a b c d e.")'
    stated = 'def f():\n    "Return what nobody needs here."\n\nmeasure(title="The share of all people")'
    assert [text for _, text in sentences(ast.parse(told))] == ["a b c d e.", "All of x releases keep it"]
    assert [*sentences(ast.parse(stated))] == []


def test_sentences_for_readers_are_in_templates(trees):
    found = [
        f"{path}:{line}: {text!r}"
        for path, tree in trees.items()
        if module(path) in PROSELESS
        for line, text in sentences(tree)
    ]
    assert not found, "\n".join(found)

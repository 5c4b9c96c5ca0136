"""The exercises beneath the board: their answers come from the table, and wrong answers are told why."""

import json
import re
from html import unescape

import pytest

from privnb.datasets.dataset import load
from privnb.explorer.board import explore
from privnb.explorer.exercises import EXERCISES, MAX_PEOPLE, POLICY, Lesson, has_exercises
from privnb.explorer.pins import STATE
from privnb.explorer.setting import Setting, make_sanitizer
from privnb.measures.disclosure.gains import accuracy_gain, class_counts
from privnb.measures.utility.information_loss import certainty_penalty
from privnb.runtime.errors import UsageError
from privnb.sanitizers import KMember, LocalRecoding, Mondrian

KEYS = [each.key for each in EXERCISES]


@pytest.fixture(scope="module")
def twelve():
    return load("twelve")


@pytest.fixture
def board(twelve, tmp_path):
    made = explore(twelve, Setting(k=10), pins=tmp_path / "pins.json")
    yield made
    made.close()


def use(board, name, value=""):
    board._receive(board._pages["learn"], {"name": name, "value": value}, [])


def panel(board):
    return unescape(board._pages["learn"].html)


def said(board, key):
    own = panel(board).partition(f'<li data-key="{key}">')[2]
    return re.search(r'role="status">(.*?)</p>', own)[1]


# --- right answers, worked out here by other means than those of the exercises ---


def solve_k(board, facts):
    sizes = {k: Mondrian(k=k).sanitize(board.dataset, rng=1).people_per_class for k in (2, 3, 5, 10)}
    board.change(k=max(k for k, own in sizes.items() if len(own) >= 3))
    return ""


def solve_l(board, facts):
    board.change(k=3)
    rows = Mondrian(k=3).sanitize(board.dataset, rng=1).table
    by_class = rows.groupby(["age", "house"], observed=True).illness.agg(set)
    (only,) = {value for own in by_class if len(own) == 1 for value in own}
    return only


def solve_unique(board, facts):
    board.change(sanitizer="Identity")
    table = board.dataset.table
    return str(table.loc[table.age == 30, "house"].iloc[0])


def solve_t(board, facts):
    board.change(k=2, t=0.1)
    return ""


def solve_pins(board, facts):
    gains = {}
    for name, bounds in {"l": {"l": 2, "t": 0}, "t": {"l": 0, "t": 0.2}}.items():
        board.change(k=2, **bounds)
        board.pin()
        release = make_sanitizer(board.setting, board.dataset).sanitize(board.dataset, rng=1)
        gains[name] = accuracy_gain(class_counts(release, "illness"))
    assert gains["l"] != gains["t"]
    return min(gains, key=gains.get)


def solve_noise(board, facts):
    return f"{1 / (0.1 * board.dataset.table.illness.value_counts().max()):.2f}".replace(".", ",")


def solve_membership(board, facts):
    board.change(k=3)
    rows = Mondrian(k=3).sanitize(board.dataset, rng=1).table.drop_duplicates(["age", "house"])
    boxes = [tuple(tuple(map(int, label.split("-"))) for label in (row.age, row.house)) for row in rows.itertuples()]

    def is_covered(text):
        person = [*map(int, re.findall(r"\d+", text))]
        return any(all(low <= own <= high for own, (low, high) in zip(person, box, strict=True)) for box in boxes)

    (out,) = [text for text in facts["options"] if not is_covered(text)]
    return out


def solve_background(board, facts):
    board.change(k=3)
    rows = Mondrian(k=3).sanitize(board.dataset, rng=1).table
    return str(rows.groupby(["age", "house"], observed=True).illness.nunique().max() - 1)


def solve_decision(board, facts):
    board.choose(POLICY)
    made = {}
    for kind in (Mondrian, KMember, LocalRecoding):
        for k in (3, 5, 10):
            release = kind(k=k).sanitize(board.dataset, rng=1)
            made[kind.__name__, k] = certainty_penalty(release)
    sanitizer, k = min(made, key=made.get)
    board.change(sanitizer=sanitizer, k=k)
    return ""


def solve_limits(board, facts):
    board.change(sanitizer="Suppress")
    return str(board.dataset.table.illness.value_counts().max())


SOLUTIONS = {
    "k": solve_k, "l": solve_l, "unique": solve_unique, "t": solve_t, "pins": solve_pins, "noise": solve_noise,
    "membership": solve_membership, "background": solve_background, "decision": solve_decision, "limits": solve_limits,
}  # fmt: skip


def test_every_exercise_is_solved_through_the_session(board):
    assert [each.key for each in board.lesson.exercises] == KEYS == [*SOLUTIONS]
    for key, solve in SOLUTIONS.items():
        board.go(Setting(k=10))
        answer = solve(board, board.lesson.facts[key])
        assert board.answer(key, answer), (key, answer, said(board, key))
        assert said(board, key) == "Right. The explanation is below."
    assert board.lesson.solved == KEYS
    assert "10 exercises, 10 solved" in panel(board)
    assert panel(board).count('class="privnb-explanation"') == 10
    assert not board.fault


WRONG = [
    ("k", {"k": 2}, "", "Move the slider to the right"),
    ("k", {"k": 5}, "", "has 2 classes, fewer than 3"),
    ("k", {"k": 3, "t": 0.6}, "", "another kind of release"),
    ("k", {"sanitizer": "KMember", "k": 3}, "", "another kind of release"),
    ("l", {"k": 2, "l": 2}, "flu", "no classes of at least 3 people|at least two different values"),
    ("l", {"k": 3, "l": 2}, "flu", "at least two different values"),
    ("l", {"k": 3}, "asthma", "No class of this release has only the value asthma"),
    ("l", {"sanitizer": "LaplaceNoise"}, "flu", "no classes"),
    ("l", {"k": 3}, "", "There is no answer yet"),
    ("unique", {"k": 3}, "21", "does not show the original"),
    ("unique", {"sanitizer": "Identity"}, "5", "singled out by this answer"),
    ("unique", {"sanitizer": "Identity"}, "21, 33", "singled out by this answer"),
    ("t", {"k": 3}, "", "t is 0.50"),
    ("t", {"sanitizer": "Suppress"}, "", "single class"),
    ("t", {"sanitizer": "LaplaceNoise"}, "", "no classes"),
    ("pins", {}, "l", "No pinned release has only l"),
    ("noise", {}, "10", "A smaller epsilon is enough"),
    ("noise", {}, "0.1", "10.00 people, which exceeds 0.6"),
    ("noise", {}, "-1", "above 0"),
    ("noise", {}, "much", "must be a number"),
    ("noise", {}, "nan", "must be a number"),
    ("membership", {"k": 5}, "age 36, house 5", "another release"),
    ("membership", {"k": 3}, "age 21, house 14", "may be in the table"),
    ("background", {"k": 5}, "2", "another release"),
    ("background", {"k": 3}, "3", "One value must be left"),
    ("background", {"k": 3}, "7", "not the number"),
    ("decision", {"k": 3}, "", "another policy"),
    ("limits", {"k": 3}, "6", "several classes"),
    ("limits", {"sanitizer": "Suppress"}, "0", "adds nothing to the shares"),
    ("limits", {"sanitizer": "Suppress"}, "12", "not the number"),
]


@pytest.mark.parametrize(("key", "changes", "typed", "text"), WRONG)
def test_wrong_answers_are_told_why(board, key, changes, typed, text):
    if changes:
        board.change(**changes)
    assert not board.answer(key, typed)
    assert re.search(text, said(board, key)), said(board, key)
    assert board.lesson.solved == []
    assert "privnb-explanation" not in panel(board)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"sanitizer": "KMember", "k": 3}, "is not the smallest"),
        ({"sanitizer": "FullDomain", "k": 3}, "not among the candidates"),
        ({"k": 3, "l": 2}, "not among the candidates"),
        ({"sanitizer": "KMember", "k": 2}, "breaks the policy"),
    ],
)
def test_wrong_decisions_are_told_why(board, changes, text):
    board.choose(POLICY)
    board.change(**changes)
    assert not board.answer("decision")
    assert text in said(board, "decision")


def test_wrong_pin_is_told_why(board):
    right = solve_pins(board, {})
    assert not board.answer("pins", "t" if right == "l" else "l")
    assert "gains are different" in said(board, "pins")
    assert not board.answer("pins", "equal")


# --- hints, explanations, progress ---


def test_controls_show_hints_and_explanations(board):
    use(board, "hint", "noise")
    assert panel(board).count("The expected absolute value") == 1
    assert "Solve 1/epsilon" not in panel(board)
    for _ in range(3):
        use(board, "hint", "noise")
    assert "Solve 1/epsilon = 0.6" in panel(board)
    use(board, "explain", "noise")
    assert "epsilon = 1.67" in panel(board)
    assert board.lesson.solved == []
    use(board, "answer-noise", "1.667")
    assert board.lesson.solved == ["noise"]
    assert 'value="1.667"' in panel(board)
    use(board, "check", "limits")
    assert "There is no answer yet" in said(board, "limits")


def test_check_uses_the_last_answer(board):
    board.change(sanitizer="Suppress")
    use(board, "answer-limits", "5")
    use(board, "check", "limits")
    assert "not the number" in said(board, "limits")
    use(board, "answer-limits", " 6 ")
    use(board, "check", "limits")
    assert board.lesson.solved == ["limits"]


def test_unknown_exercise_is_an_error_in_the_page(board):
    use(board, "check", "nothing")
    assert "exercise" in board.fault
    with pytest.raises(UsageError, match="exercise"):
        board.answer("nothing")


def test_typed_markup_is_text(board):
    board.change(sanitizer="Identity")
    use(board, "answer-unique", "<b>21</b>")
    assert "<b>21" not in board._pages["learn"].html


def test_progress_is_in_the_state_file_without_answers(twelve, tmp_path, monkeypatch):
    file = tmp_path / "board.json"
    monkeypatch.setenv(STATE, str(file))
    first = explore(twelve, Setting(k=10), pins=tmp_path / "pins.json")
    first.answer("noise", "1.67")
    first.close()
    held = json.loads(file.read_text())
    assert held["solved"] == ["noise"]
    assert "1.67" not in file.read_text()
    again = explore(twelve, Setting(k=10), pins=tmp_path / "pins.json")
    again.close()
    assert again.lesson.solved == ["noise"]
    file.write_text(json.dumps(held | {"solved": ["noise", "noise", "of another table"]}))
    other = explore(twelve, Setting(k=10), pins=tmp_path / "pins.json")
    other.close()
    assert other.lesson.solved == ["noise"]


# --- which tables have exercises ---


def test_other_tables_have_no_exercises(tmp_path):
    adult = load("adult", records=100)
    assert not has_exercises(adult)
    board = explore(adult, Setting(k=10), pins=tmp_path / "pins.json")
    board.close()
    assert board.lesson is None
    assert "learn" not in board._pages
    with pytest.raises(UsageError, match="declares invented"):
        board.answer("k")


def test_exercises_follow_the_table():
    hypertension, coins = load("hypertension"), load("coins")
    assert has_exercises(hypertension)
    assert hypertension.headcount < MAX_PEOPLE
    facts = Lesson(hypertension).facts
    assert "unique" not in facts  # no person is unique among those who share a value
    assert facts["k"]["k"] == 10
    assert facts["limits"]["right"] == hypertension.table["hypertension"].value_counts().max()
    assert "l" not in Lesson(coins).facts
    assert Lesson(coins).facts["noise"]["epsilon"] == 5


@pytest.mark.parametrize("name", ["hypertension", "coins"])
def test_texts_of_every_exercise_are_complete(name):
    lesson = Lesson(load(name))
    for each in lesson.exercises:
        lesson.explain(each.key)
        for _ in range(5):
            lesson.hint(each.key)
    html = lesson.render()
    assert html.count('class="privnb-explanation"') == len(lesson.exercises)
    assert "np.float64" not in html
    assert "{{" not in html

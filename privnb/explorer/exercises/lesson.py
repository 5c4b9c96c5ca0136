"""The exercises of one table, the progress of one person, and the panel that shows both."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from privnb.datasets.dataset import Dataset
from privnb.explorer.exercises.questions import EXERCISES, GENERAL, TEXTS, BoardState, Exercise, Facts
from privnb.explorer.html import render_template
from privnb.explorer.setting import Setting, check_setting
from privnb.runtime import expect
from privnb.runtime.wording import line, write

MAX_PEOPLE = 200  # a larger table cannot be worked by hand, and its exercises would take seconds to compute


class Lesson:
    """The exercises that a table has, and the progress of one person.

    Attributes
    ----------
    facts : dict of str to dict
        The facts of each exercise, by key.
    solved : list of str
        The keys of the solved exercises.
    typed : dict of str to str
        The last answer to each exercise.
    """

    def __init__(self, dataset: Dataset, solved: Iterable[str] = ()) -> None:
        self.facts = _list_facts(dataset)
        self.solved = [key for key in dict.fromkeys(solved) if key in self.facts]
        self.typed: dict[str, str] = {}
        self._said: dict[str, str] = {}
        self._hints: dict[str, int] = {}
        self._explained: set[str] = set()

    def check(self, key: str, state: BoardState) -> bool:
        """Check the last answer to an exercise against the board, and return whether it is right."""
        self._find(key)
        exercise = next(each for each in EXERCISES if each.key == key)
        typed = self.typed.get(key, "").strip()
        wrong = exercise.find_wrong(self.facts[key], state, typed)
        if wrong is None and key not in self.solved:
            self.solved.append(key)
        general = wrong is not None and wrong["code"] in GENERAL
        macro = "right" if wrong is None else "unfinished" if general else f"{key}_wrong"
        self._said[key] = line(TEXTS, macro, self.facts[key], wrong or {})
        return wrong is None

    def hint(self, key: str) -> None:
        """Show one more hint of an exercise."""
        self._find(key)
        self._hints[key] = self._hints.get(key, 0) + 1

    def explain(self, key: str) -> None:
        """Show the explanation of an exercise that is not solved yet."""
        self._find(key)
        self._explained.add(key)

    def _find(self, key: str) -> None:
        expect.one_of("exercise", key, [*self.facts])

    def render(self) -> Markup:
        """Render the panel of the exercises."""
        shown = [self._describe(each, number) for number, each in enumerate(self.exercises, 1)]
        return render_template("learn", exercises=shown, solved=len(self.solved))

    @property
    def exercises(self) -> list[Exercise]:
        """The exercises that the table has, in their order."""
        return [each for each in EXERCISES if each.key in self.facts]

    def _describe(self, exercise: Exercise, number: int) -> dict[str, Any]:
        key, facts = exercise.key, self.facts[exercise.key]
        hints = write(TEXTS, f"{key}_hints", facts)
        has_answer = key in self.solved or key in self._explained
        return {
            "key": key,
            "number": number,
            "control": exercise.control,
            "title": line(TEXTS, f"{key}_title", facts),
            "question": line(TEXTS, f"{key}_question", facts),
            "label": line(TEXTS, f"{key}_label", facts) if exercise.control else "",
            "options": {"": "Choose …"} | dict(facts.get("options", {})),
            "typed": self.typed.get(key, ""),
            "said": self._said.get(key, ""),
            "is_solved": key in self.solved,
            "hints": hints[: self._hints.get(key, 0)],
            "more_hints": self._hints.get(key, 0) < len(hints),
            "explanation": write(TEXTS, f"{key}_explanation", facts) if has_answer else [],
        }


def has_exercises(dataset: Dataset) -> bool:
    """Return whether a table has exercises: it is declared invented, small, and has a sensitive attribute."""
    schema = dataset.schema
    return schema.invented and dataset.headcount <= MAX_PEOPLE and bool(schema.sensitive and schema.quasi_identifiers)


@lru_cache(maxsize=4)  # a page that is opened again needs the same facts
def _list_facts(dataset: Dataset) -> dict[str, Facts]:
    """Return the facts of each exercise that a table has, by key."""
    return {each.key: facts for each in EXERCISES if (facts := _prepare(each, dataset)) is not None}


def _prepare(exercise: Exercise, dataset: Dataset) -> Facts | None:
    try:
        facts = exercise.prepare(dataset)
    except ValueError:  # a sanitizer or a measure that does not fit the table
        return None
    usual = check_setting(Setting(), dataset)
    return None if facts is None else {"sensitive": usual.sensitive, "people": dataset.headcount, **facts}

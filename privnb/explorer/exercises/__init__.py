"""Exercises beneath the board of a small invented table, from k to the decision.

The package computes each answer from the table, so that the exercises fit every table. The texts are in
`templates/exercises.j2` of the explorer, in macros whose names begin with the key of an exercise.
"""

from privnb.explorer.exercises.lesson import MAX_PEOPLE, Lesson, has_exercises
from privnb.explorer.exercises.questions import EXERCISES, POLICY, BoardState

__all__ = ["EXERCISES", "MAX_PEOPLE", "POLICY", "BoardState", "Lesson", "has_exercises"]

"""What the pages of a report answer: the first paragraph of each notebook's answer."""

import re

import nbformat


def check(report):
    """Each has at most forty words, and a number."""
    answers = first_paragraphs(report)
    assert len(answers) == len([*(report / "notebooks").glob("*.ipynb")]) > 0
    assert {name: answer for name, answer in answers.items() if words(answer) > 40} == {}
    assert {name: answer for name, answer in answers.items() if not re.search(r"\d", answer)} == {}
    assert "nan" not in str(answers)


def first_paragraphs(report):
    """`{notebook: text}` of a report's executed notebooks."""
    answers = {}
    for path in sorted((report / "notebooks").glob("*.ipynb")):
        (cell,) = [cell for cell in nbformat.read(path, 4).cells if "answer" in cell.metadata.get("tags", [])]
        answers[path.stem] = cell.outputs[0]["data"]["text/plain"].split("\n\n")[0]
    return answers


def words(text):
    """How many words a person reads, numbers included; "k = 10" has two."""
    return sum(any(letter.isalnum() for letter in word) for word in text.split())

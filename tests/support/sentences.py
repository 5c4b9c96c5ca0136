"""The first paragraph of each notebook's answer in a report."""

import re

import nbformat


def check(report):
    """Assert that each notebook has an answer with a number."""
    answers = first_paragraphs(report)
    assert len(answers) == len([*(report / "notebooks").glob("*.ipynb")]) > 0
    assert {name: answer for name, answer in answers.items() if not re.search(r"\d", answer)} == {}
    assert "nan" not in str(answers)


def first_paragraphs(report):
    """`{notebook: text}` of a report's executed notebooks."""
    answers = {}
    for path in sorted((report / "notebooks").glob("*.ipynb")):
        (cell,) = [cell for cell in nbformat.read(path, 4).cells if "answer" in cell.metadata.get("tags", [])]
        answers[path.stem] = cell.outputs[0]["data"]["text/plain"].split("\n\n")[0]
    return answers

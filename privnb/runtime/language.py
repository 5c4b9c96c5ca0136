"""The language of texts for people, which is set around the rendering of sentences and pages.

The language is English unless a caller sets it with `in_language`. It changes texts alone: results, cards, provenances
and codebooks are the same in every language. A process or a thread that renders texts must set the language again.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

ENGLISH = "en"
LANGUAGES = (ENGLISH, "de")  # those into which the release card and the decision are translated

_current = ContextVar("language", default=ENGLISH)


def current_language() -> str:
    """Return the language of the texts that are rendered now, such as "en"."""
    return _current.get()


@contextmanager
def in_language(language: str) -> Iterator[None]:
    """Render the texts of a `with` statement in a language.

    Parameters
    ----------
    language : str
        One of `LANGUAGES`.

    Examples
    --------
    >>> with in_language("de"):
    ...     current_language()
    'de'
    >>> current_language()
    'en'
    """
    from privnb.runtime import expect  # it loads NumPy, which `privnb --help` does not need

    token = _current.set(expect.one_of("language", language, LANGUAGES))
    try:
        yield
    finally:
        _current.reset(token)

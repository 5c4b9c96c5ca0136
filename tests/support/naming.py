"""Many small cases in one test: each parametrized test would cost milliseconds of its own, in every worker."""

from contextlib import contextmanager


@contextmanager
def naming(*named):
    """Whatever fails within says in which case it did."""
    try:
        yield
    except BaseException as fault:
        fault.add_note(f"in the case {', '.join(map(repr, named))}")
        raise

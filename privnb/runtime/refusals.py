"""Errors that the package raises itself, in words meant for people; all others are faults."""

import traceback


def is_ours(error: BaseException) -> bool:
    """Return whether the package itself raised an error."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_globals.get("__name__", "").startswith("privnb")

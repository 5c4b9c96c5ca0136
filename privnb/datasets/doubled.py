"""Tables in which each record occurs more than once, as they do after a file was appended to itself."""

from collections.abc import Mapping

from privnb.microdata.schema import Role

FEW_KINDS = 50  # of records: among so few kinds, each record equals another one by chance


def compared(roles: Mapping[str, Role]) -> list[str]:
    """Return the columns by which records are compared, without those that name people, as copies may be numbered.

    The list is empty if a column says whose a record is: `k` counts people then, and not records.
    """
    if Role.PERSON in roles.values():
        return []
    return [name for name, role in roles.items() if role is not Role.IDENTIFIER]


def doubled(records: int, different: int, rarest: int) -> str:
    """Return a sentence if each record occurs more than once; else an empty text.

    Parameters
    ----------
    records, different : int
        How many records a table has, and how many different ones.
    rarest : int
        How often the rarest record occurs.
    """
    if rarest < 2 or different < max(FEW_KINDS, records / 10):
        return ""
    return (
        f"Each record occurs more than once: {records:,} records, {different:,} different ones. If the copies belong "
        "to one person, k counts that person several times. Keep one of them, or name the column that says whose a "
        "record is."
    )

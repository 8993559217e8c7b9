"""Numbers and nouns."""

from __future__ import annotations


def counted(n: int, noun: str) -> str:
    """A number and its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"

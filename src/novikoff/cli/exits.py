"""How a command ends: its exit codes, and the exceptions that end it without an error.

====  =======================================================
code  meaning
====  =======================================================
0     success
1     ``--require`` is not met, or a certificate does not hold
2     wrong usage, or data or files that cannot be used
3     undecided within the budget
130   interrupted
====  =======================================================
"""

from __future__ import annotations

from typing import Final

UNMET: Final = 1
WRONG: Final = 2
UNDECIDED: Final = 3
INTERRUPTED_BY_USER: Final = 130


class Interrupted(Exception):  # noqa: N818 — the user's wish, not an error
    """The user pressed Ctrl-C; the message says what was done."""


class Unmet(Exception):  # noqa: N818 — an answer, not an error of the user
    """A certificate does not hold; the message says why."""

"""The files that a command writes, and its exit code."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NoReturn

import click

from novikoff.cli.exits import UNDECIDED, UNMET, Interrupted
from novikoff.formats.files import ALL_WRITTEN, check_apart, check_writable


def output_files(named: Mapping[str, str | None], data: str, *, force: bool) -> dict[str, Path]:
    """Return the files to write, by their role; a role without a name has no file.

    OutputError, before any work is done, if a file cannot be written, if two are the same, or if
    one is the data.
    """
    files = {role: Path(path) for role, path in named.items() if path}
    check_apart(files.values(), [data])
    for path in files.values():
        check_writable(path, force=force)
    return files


@contextlib.contextmanager
def files_are_written(*, written: bool) -> Iterator[None]:
    """Tell a user who presses Ctrl-C while the report is printed that the files are complete."""
    try:
        yield
    except KeyboardInterrupt:
        if not written:
            raise
        raise Interrupted(ALL_WRITTEN) from None


def exit_with_answer(
    kinds: Collection[str], required: str | None, *, what: str = "verdict", about: str = ""
) -> NoReturn:
    """Exit with 3 if the answer is undecided, with 1 if it is not what --require asks, else with 0.

    Parameters
    ----------
    kinds : collection of str
        The kinds of the answer, of which any may be required; an error names the last.
    required : str or None
        The kind that --require asks for.
    what, about : str
        How the error calls the answer, and what it adds about it.
    """
    *_, kind = kinds
    if kind == "undecided":
        sys.exit(UNDECIDED)
    if required is None or required in kinds:
        sys.exit(0)
    click.echo(f"novikoff: the {what} is {kind}, not {required}{about}.", err=True)
    sys.exit(UNMET)

"""``novikoff``: the commands, what their exit codes mean, and errors as sentences.

====  =======================================================
code  meaning
====  =======================================================
0     done
1     ``--require`` is not met, or a certificate does not hold
2     wrong usage, or data or files that cannot be used
3     undecided within the budget
130   interrupted
====  =======================================================
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from importlib import import_module

import click

from novikoff import __version__

UNMET, WRONG, UNDECIDED, INTERRUPTED = 1, 2, 3, 130

_COMMANDS = {
    "fit": "Decide whether a linear rule exists, with proof, and learn one.",
    "solve": "Find a point of linear inequalities, or those that contradict each other.",
    "predict": "Predict labels or scores with a model.",
    "verify": "Check a certificate against data, without the solver.",
    "info": "Say what a model is, and show its weights.",
    "stream": "Learn from a stream, one row at a time: predict, then learn.",
    "lab": "Watch the convergence proof happen, on a page of your own points.",
}


class Interrupted(Exception):  # noqa: N818 — no error, but the user's wish
    """Ctrl-C, with what is to be said about it."""


class Unmet(Exception):  # noqa: N818 — an answer, and no error of the user
    """A certificate does not hold, with what is to be said about it."""


class _Lazy(click.Group):
    """Commands are imported when they are called, so that --help is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"novikoff.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(
    cls=_Lazy,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 --require not met, or a certificate that does not hold, 2 wrong "
    "usage or data, 3 undecided, 130 interrupted.",
)
@click.version_option(__version__, prog_name="novikoff")
def novikoff() -> None:
    """The perceptron, with its proof: linear separation of labelled data.

    novikoff fit data.csv decides whether one linear rule gets every row right, proves the
    answer, and writes a model and a certificate that anyone can check.
    """


def run() -> None:
    """Run a command; every error that a user can cause ends in a sentence and an exit code."""
    if sys.stdout is None or sys.stderr is None:  # closed by the program that started this
        nowhere = open(os.devnull, "w")  # noqa: SIM115 — as long as the process lives
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a γ is not worth a failure
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8")  # tables and JSON: no label may become another
    try:
        code = novikoff.main(prog_name="novikoff", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as error:
        error.show()
        code = WRONG
    except (KeyboardInterrupt, click.Abort, Interrupted) as wish:
        said = str(wish) or str(wish.__cause__ or "")  # click raises Abort from what it caught
        _say(said or "interrupted; nothing was written.")
        code = INTERRUPTED
    except Unmet as answer:
        _say(str(answer))
        code = UNMET
    except MemoryError:
        _say("the data does not fit into memory.")
        code = WRONG
    except (ValueError, OSError) as error:
        _say(_sentence(error))
        code = WRONG
    try:
        sys.stdout.flush()
    except OSError:  # text that nobody takes is not written again at the interpreter's end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code if isinstance(code, int) else 0)


def _sentence(error: ValueError | OSError) -> str:
    if isinstance(error, OSError) and error.filename is not None:  # the system's own words
        return f"{error.filename} cannot be opened: {(error.strerror or str(error)).lower()}."
    if isinstance(error, OSError) and error.strerror is not None:
        return f"standard input or output failed: {error.strerror.lower()}."
    return str(error)


def _say(sentence: str) -> None:
    with contextlib.suppress(OSError):  # nobody listens
        click.echo(f"novikoff: {' '.join(sentence.split())}", err=True)

"""``novikoff``: the commands, and the messages for all errors."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import sys
from difflib import get_close_matches
from importlib import import_module

import click

from novikoff import __version__
from novikoff.cli.exits import INTERRUPTED_BY_USER, UNMET, WRONG, Interrupted, Unmet
from novikoff.errors import MissingExtraError, OutputExistsError

_COMMANDS = {
    "fit": "Decide with proof whether the classes are separable, and learn a rule.",
    "separation": "Decide whether the maximum-likelihood estimate of a model exists.",
    "solve": "Find a point of linear inequalities, or a conflict, with proof.",
    "predict": "Predict labels or scores with a model.",
    "verify": "Check a certificate against data.",
    "info": "Describe a model file and show its weights.",
    "stream": "Learn from a stream, one row at a time.",
    "lab": "Open an interactive page that shows the convergence proof.",
    "help": "Show the help of a command.",
    "completion": "Print the script that completes commands in a shell.",
}


class _Lazy(click.Group):
    """A group whose commands are imported when they are called, so that --help is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"novikoff.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-"):
            like = get_close_matches(name, _COMMANDS, n=1)
            hint = f" Did you mean {like[0]}?" if like else ""
            if not like and os.path.exists(name):
                hint = f" To decide about this file: novikoff fit {shlex.quote(name)}"
            ctx.fail(f"No such command {name!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(
    cls=_Lazy,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 success, 1 --require is not met or a certificate does not hold, 2 wrong "
    "usage or data, 3 undecided, 130 interrupted.",
)
@click.version_option(
    __version__, "-V", "--version", prog_name="novikoff", message="%(prog)s %(version)s"
)
def novikoff() -> None:
    """The perceptron, with its proof: linear separation with certificates.

    novikoff fit data.csv decides whether a hyperplane separates the classes of labelled data
    (complete separation), proves the answer, and writes a model and a certificate that anyone can
    check with novikoff verify. novikoff COMMAND --help shows the options of a command.
    """


def run() -> None:
    """Run a command; every error of the user ends with a message and an exit code."""
    if sys.stdout is None or sys.stderr is None:  # closed by the parent process
        nowhere = open(os.devnull, "w")  # noqa: SIM115 — open until the process ends
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a γ is not worth a failure
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8")  # so that tables and JSON keep every label
    try:
        code = novikoff.main(prog_name="novikoff", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as error:
        error.show()
        code = WRONG
    except (KeyboardInterrupt, click.Abort, Interrupted) as wish:
        message = str(wish) or str(wish.__cause__ or "")  # click raises Abort from what it caught
        _say(message or "interrupted; nothing was written.")
        code = INTERRUPTED_BY_USER
    except Unmet as answer:
        _say(str(answer))
        code = UNMET
    except MemoryError:
        _say("the data does not fit into memory.")
        code = WRONG
    except (ValueError, OSError, MissingExtraError) as error:
        _say(_message(error))
        code = WRONG
    try:
        sys.stdout.flush()
    except OSError:  # the interpreter must not try to write this text again when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code if isinstance(code, int) else 0)


def _message(error: Exception) -> str:
    if isinstance(error, OutputExistsError):
        return f"{error.path} already exists; --force replaces it."
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return f"{error.filename} does not exist."
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename} cannot be opened: {(error.strerror or str(error)).lower()}."
    if isinstance(error, OSError) and error.strerror is not None:
        return f"standard input or output failed: {error.strerror.lower()}."
    return str(error)


def _say(message: str) -> None:
    with contextlib.suppress(OSError):  # standard error is closed
        click.echo(f"novikoff: {' '.join(message.split())}", err=True)

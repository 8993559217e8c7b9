"""``novikoff completion``: the script that lets a shell complete commands, options and files."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from novikoff.cli.main import novikoff


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script that completes commands, options and choices of novikoff in SHELL.

    Put one of these lines into the start-up file of the shell. The fish line is a command to run
    once.

    \b
    Examples:
      eval "$(novikoff completion bash)"     # in ~/.bashrc
      eval "$(novikoff completion zsh)"      # in ~/.zshrc, after compinit
      novikoff completion fish > ~/.config/fish/completions/novikoff.fish
    """  # noqa: D301 — \b tells click not to wrap the lines that follow
    kind = get_completion_class(shell)
    if kind is not None:
        click.echo(kind(novikoff, {}, "novikoff", "_NOVIKOFF_COMPLETE").source())

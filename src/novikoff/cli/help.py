"""``novikoff help``: the help of a command."""

from __future__ import annotations

import click

from novikoff.cli.main import novikoff


@click.command("help")
@click.argument("name", metavar="[COMMAND]", required=False)
@click.pass_context
def command(context: click.Context, name: str | None) -> None:
    """Show the help of COMMAND, or the list of commands.

    \b
    Examples:
      novikoff help fit
    """  # noqa: D301 — \b tells click not to wrap the lines that follow
    top = context.find_root()
    if name is None:
        click.echo(novikoff.get_help(top))
        return
    _, described_command, _ = novikoff.resolve_command(top, [name])
    if described_command is not None:
        with click.Context(described_command, info_name=name, parent=top) as described:
            click.echo(described_command.get_help(described))

"""The options that say how a file is read, the same for every command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import click

if TYPE_CHECKING:
    from novikoff.cli.progress import Show
    from novikoff.data import Dataset, ReadOptions, Recipe

Command: TypeAlias = Callable[..., Any]

_FORMATS = ["csv", "tsv", "parquet", "arrow", "npy", "npz", "svmlight"]


def adding(options: Sequence[Callable[[Command], Command]]) -> Callable[[Command], Command]:
    """A decorator that adds several options to a command, in this order."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


# How a file is read; `read_options` takes the values.
reading = adding([
    click.option("--label", metavar="NAME|INDEX", help="The label column, by name or number "
                 "(from 1; −1 is the last). Default: label, target, y or class, else the last."),
    click.option("--features", metavar="A,B,…", help="Use only these columns."),
    click.option("--drop", metavar="A,B,…", help="Leave these columns out."),
    click.option("--id", "id_", metavar="NAME", help="A column that names the rows; no feature."),
    click.option("--one-hot", metavar="A,B,…", help="Text columns to turn into 0/1 columns, one "
                 "for each value; * for all of them."),
    click.option("--missing", type=click.Choice(["refuse", "drop", "mean"]), help="What to do with "
                 "missing values: refuse them (default), drop their rows, or put the mean."),
    click.option("--header/--no-header", default=None, help="Whether the first line has names. "
                 "Default: find out."),
    click.option("--delimiter", metavar="CHAR", help="Between fields; \\t for a tab. Default: "
                 "find out."),
    click.option("--decimal", metavar="CHAR", help="The decimal point, for instance a comma."),
    click.option("--from", "source_format", type=click.Choice(_FORMATS), help="The format of DATA. "
                 "Default: from its name or first bytes."),
])  # fmt: skip


# How much memory data may take; `read_data` takes the values.
memory = adding([
    click.option("--max-memory", metavar="SIZE", callback=lambda ctx, param, value: _size(value),
                 help="Stay below it, for instance 2GB (700MB at least): data that needs more is "
                 "parsed by pieces into arrays on disk."),
    click.option("--cache", type=click.Path(file_okay=False), metavar="DIR", help="Keep such "
                 "arrays in DIR: the next command that reads the same data is quick."),
])  # fmt: skip
# The memory of the program itself, and the least that makes sense beside it.
_MIN_MEMORY = 700_000_000


def read_data(
    data: str,
    asked: ReadOptions,
    values: dict[str, object],
    show: Show,
    recipe: Recipe | None = None,
) -> Dataset:
    """The rows and labels of a file, within the memory and with the cache that the options say."""
    from novikoff.data import read

    show(f"reading {data}", None)
    size, cache = values["max_memory"], values["cache"]
    return read(
        data,
        asked,
        recipe=recipe,
        progress=lambda text: show(text, None),
        max_memory=size if isinstance(size, int) else None,
        cache=None if cache is None else str(cache),
    )


def _size(value: str | None) -> int | None:
    """The number of bytes that an option says: 500MB, 2GB, 1.5GiB, 1e9."""
    if value is None:
        return None
    from novikoff.data import DataError, parse_size

    try:
        size = parse_size(value)
    except DataError as error:
        raise click.BadParameter(str(error)) from None
    if size < _MIN_MEMORY:
        raise click.BadParameter("the program itself needs about 400MB: give 700MB at least.")
    return size


_NAMES = (
    "label", "features", "drop", "id_", "one_hot", "missing",
    "header", "delimiter", "decimal", "source_format",
)  # fmt: skip


def read_options(values: dict[str, object]) -> ReadOptions:
    """How a file is to be read, of the values of all options."""
    from novikoff.data import ReadOptions

    def text(name: str) -> str | None:
        value = values[name]
        return None if value is None else str(value)

    def several(name: str) -> tuple[str, ...]:
        value = text(name)
        return () if value is None else tuple(fields(value))

    delimiter = text("delimiter")
    if delimiter is not None:
        delimiter = {"\\t": "\t", "tab": "\t", "space": " "}.get(delimiter, delimiter)
        if len(delimiter) != 1:
            raise click.BadParameter("one character is needed.", param_hint="--delimiter")
    decimal = text("decimal")
    decimal = "." if decimal is None else decimal
    if len(decimal) != 1 or decimal.isdigit():
        raise click.BadParameter("one character is needed.", param_hint="--decimal")
    missing, header = values["missing"], values["header"]
    return ReadOptions(
        format=text("source_format"),
        label=text("label"),
        features=several("features"),
        drop=several("drop"),
        id=text("id_"),
        one_hot=several("one_hot"),
        missing="drop" if missing == "drop" else "mean" if missing == "mean" else "refuse",
        header=header if isinstance(header, bool) else None,
        delimiter=delimiter,
        decimal=decimal,
    )


def given(values: dict[str, object]) -> bool:
    """Whether any of the options was used."""
    return any(values[name] is not None for name in _NAMES)


def fields(text: str) -> list[str]:
    """Names between commas; a name with a comma is quoted, as in CSV."""
    import csv

    try:
        return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    except csv.Error as error:
        raise click.BadParameter(f"{text!r} is not a list of names: {error}.") from None

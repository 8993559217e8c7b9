"""The options that say how a file is read, the same for every command."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias

import click

if TYPE_CHECKING:
    from novikoff.cli.progress import Show
    from novikoff.data import Dataset, ReadOptions, Recipe

Command: TypeAlias = Callable[..., Any]

_FORMATS = ["csv", "tsv", "parquet", "arrow", "npy", "npz", "svmlight", "jsonl"]
_DELIMITERS = {"\\t": "\t", "tab": "\t", "space": " "}
# The program itself takes about 400 MB.
_MIN_MEMORY = 700_000_000
# The values of `reading`.
READING = (
    "label", "features", "drop", "id_", "one_hot", "missing",
    "header", "delimiter", "decimal", "source_format",
)  # fmt: skip
# Options whose values have another name.
OPTION_NAMES = {"id_": "id", "source_format": "from"}


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
    click.option("--id", "id_", metavar="NAME", help="A column of row names, not a feature."),
    click.option("--one-hot", metavar="A,B,…", help="Text columns to turn into 0/1 columns, one "
                 "for each value; * for all of them."),
    click.option("--missing", type=click.Choice(["refuse", "drop", "mean"]), help="What to do with "
                 "missing values: reject them (default), drop their rows, or use the "
                 "mean of the column."),
    click.option("--header/--no-header", default=None, help="Whether the first line has names. "
                 "Default: detected."),
    click.option("--delimiter", metavar="CHAR", help="The field separator; \\t for a tab. "
                 "Default: detected."),
    click.option("--decimal", metavar="CHAR", help="The decimal point, for instance a comma."),
    click.option("--from", "source_format", type=click.Choice(_FORMATS), help="The format of DATA. "
                 "Default: detected from its name or first bytes."),
])  # fmt: skip


# How much memory data may take; `read_data` takes the values.
memory = adding([
    click.option("--max-memory", metavar="SIZE", callback=lambda ctx, param, value: _size(value),
                 help="Stay below this, for instance 2GB (700MB at least): data that needs more is "
                 "parsed by pieces into arrays on disk."),
    click.option("--cache", type=click.Path(file_okay=False), metavar="DIR", help="Keep such "
                 "arrays in DIR: the next command that reads the same data is quick."),
])  # fmt: skip


def check(*cases: tuple[object, str]) -> None:
    """Refuse options that are wrong, each with its sentence."""
    for wrong, sentence in cases:
        if wrong:
            raise click.UsageError(sentence)


def read_options(asked: SimpleNamespace) -> ReadOptions:
    """How a file is to be read, of the values of all options."""
    from novikoff.data import ReadOptions

    delimiter = _DELIMITERS.get(asked.delimiter, asked.delimiter)
    decimal = "." if asked.decimal is None else asked.decimal
    check(
        (delimiter is not None and len(delimiter) != 1, "--delimiter: one character is needed."),
        (len(decimal) != 1 or decimal.isdigit(), "--decimal: one character is needed."),
    )
    return ReadOptions(
        format=asked.source_format,
        label=asked.label,
        features=names(asked.features),
        drop=names(asked.drop),
        id=asked.id_,
        one_hot=names(asked.one_hot),
        missing=asked.missing or "refuse",
        header=asked.header,
        delimiter=delimiter,
        decimal=decimal,
    )


def read_data(
    data: str,
    options: ReadOptions,
    asked: SimpleNamespace,
    show: Show,
    recipe: Recipe | None = None,
) -> Dataset:
    """The rows and labels of a file, within the memory and with the cache that are asked for."""
    from novikoff.data import read

    show(f"reading {data}", None)
    return read(
        data,
        options,
        recipe=recipe,
        progress=lambda text: show(text, None),
        max_memory=asked.max_memory,
        cache=asked.cache,
    )


def names(text: str | None) -> tuple[str, ...]:
    """Names between commas; a name with a comma is quoted, as in CSV."""
    if text is None:
        return ()
    try:
        return tuple(name.strip() for name in next(csv.reader([text], skipinitialspace=True), []))
    except csv.Error as error:
        raise click.BadParameter(f"{text!r} is not a list of names: {error}.") from None


def _size(value: str | None) -> int | None:
    """The number of bytes that an option says: 500MB, 2GB, 1.5GiB, 1e9."""
    if value is None:
        return None
    from novikoff.data import parse_size
    from novikoff.errors import DataError

    try:
        size = parse_size(value)
    except DataError as error:
        raise click.BadParameter(str(error)) from None
    if size < _MIN_MEMORY:
        raise click.BadParameter("the program itself needs about 400MB: give 700MB at least.")
    return size

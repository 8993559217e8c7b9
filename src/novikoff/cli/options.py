"""The options that say how a file is read, the same for every command."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from novikoff.cli.progress import Show
    from novikoff.data import CachedBlocks, Choices, FileBlocks

Command = TypeVar("Command", bound=Callable[..., object])

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]*)?(?:e[0-9]{1,2})?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_FORMATS = ["csv", "tsv", "parquet", "arrow", "npy", "npz", "svmlight"]

_READING = [
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
]  # fmt: skip


_MEMORY = [
    click.option("--max-memory", callback=lambda ctx, param, value: _size(ctx, param, value),
                 metavar="SIZE", help="Stay below it, for instance 2GB (700MB at least): data that "
                 "needs more is read in blocks."),
    click.option("--cache", type=click.Path(file_okay=False), metavar="DIR", help="Read in blocks, "
                 "and keep them there: whatever reads the same data again is quick."),
]  # fmt: skip
# The memory that the program takes up, and data per byte of its file: as it is, or packed.
_LEAST_MEMORY = 700_000_000
_PROGRAM, _TEXT, _PACKED = 400_000_000, 4, 20
_PACKING = (".gz", ".parquet", ".pq")


def sparing(command: Command) -> Command:
    """Add the options about memory to a command; `in_blocks` and `open_blocks` take them."""
    for option in reversed(_MEMORY):
        command = option(command)
    return command


def in_blocks(data: str, values: dict[str, object]) -> bool:
    """Whether data is read in blocks: if that is asked for, or it would not fit."""
    path, memory = Path(data), values["max_memory"]
    if values["cache"] is not None or data.endswith(".blocks") or path.is_dir():
        return True
    if not isinstance(memory, int) or not path.is_file():
        return False
    growth = _PACKED if path.suffix.lower() in _PACKING else _TEXT
    return _PROGRAM + growth * path.stat().st_size > memory


def open_blocks(
    data: str, asked: Choices, values: dict[str, object], show: Show
) -> FileBlocks | CachedBlocks:
    """The blocks of a file, within the memory and with the cache that the options say."""
    from novikoff.data import blocks

    def tell(rows: int) -> None:
        show(f"reading {data}: {rows:,} rows", None)

    memory, cache = values["max_memory"], values["cache"]
    return blocks(
        data,
        asked,
        max_memory=memory if isinstance(memory, int) else None,
        cache=None if cache is None else str(cache),
        progress=tell,
    )


def _size(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """The number of bytes that an option says: 500MB, 2GB, 1.5GiB, 1e9."""
    if value is None:
        return None
    match = _SIZE.fullmatch(value.strip())
    if match is None:
        raise click.BadParameter(f"{value} is not a size such as 500MB or 2GB.", ctx, param)
    power = " kmgt".index(match[2].lower() or " ")
    found = int(float(match[1]) * (1024 if match[3] else 1000) ** power)
    if found < _LEAST_MEMORY:
        raise click.BadParameter(
            "the program itself needs about 400MB: give 700MB at least.", ctx, param
        )
    return found


def reading(command: Command) -> Command:
    """Add the options to a command; `choices` takes their values."""
    for option in reversed(_READING):
        command = option(command)
    return command


NAMES = (
    "label", "features", "drop", "id_", "one_hot", "missing",
    "header", "delimiter", "decimal", "source_format",
)  # fmt: skip


def choices(values: dict[str, object]) -> Choices:
    """What was asked for, of the values of all options."""
    from novikoff.data import Choices

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
    return Choices(
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
    return any(values[name] is not None for name in NAMES)


def fields(text: str) -> list[str]:
    """Names between commas; a name with a comma is quoted, as in CSV."""
    import csv

    try:
        return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    except csv.Error as error:
        raise click.BadParameter(f"{text!r} is not a list of names: {error}.") from None

"""The options that several commands share, as frozen records; each command adds its own to them.

A command hands the values that click has parsed to the constructor of its record, which rejects
combinations that are not possible. The names of the fields are those of the options: `flag` turns
``one_hot`` into ``--one-hot``, and ``from_``, whose plain name is a keyword, into ``--from``.
"""

from __future__ import annotations

import csv
import shlex
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import click
from click.core import ParameterSource

from novikoff.names import DATA_FORMATS

if TYPE_CHECKING:
    from novikoff.data import Dataset, ReadOptions, Recipe
    from novikoff.jobs.study_records import StudyProgress

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]

# The ways to write a delimiter that is hard to type in a shell.
_NAMED_DELIMITERS = {"\\t": "\t", "tab": "\t", "space": " "}
# The smallest --max-memory: the program itself takes about 400 MB.
_MIN_MEMORY = 700_000_000
# The options, and pairs of an option and a value, that the command line calls by other names.
_FLAGS: Final[dict[tuple[str, object], str]] = {
    ("format", None): "from",
    ("hash_bits", None): "hash",
    ("skip_bad", True): "--bad-rows skip",
    ("header", False): "--no-header",
}
# Marks the field of an option that cannot be used with --cluster.
LOCAL = {"local": True}


class Command(click.Command):
    """A command whose help shows its options in groups, each under a heading."""

    def __init__(self, *arguments: Any, **values: Any) -> None:
        super().__init__(*arguments, **values)
        self.headings: dict[str, list[click.Parameter]] = {}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the groups in their order, then the options that belong to no group."""
        grouped = [param for params in self.headings.values() for param in params]
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        others: list[click.Parameter] = [param for param in options if param not in grouped]
        for heading, params in {**self.headings, "Options": others}.items():
            lines = [line for param in params if (line := param.get_help_record(ctx)) is not None]
            if lines:
                with formatter.section(heading):
                    formatter.write_dl(lines)


def add_options(heading: str, options: Sequence[Decorator]) -> Callable[[Command], Command]:
    """Return a decorator that adds several options to a command, in this order, with a heading."""

    def add(command: Command) -> Command:
        before = len(command.params)
        for option in options:
            option(command)
        command.headings.setdefault(heading, []).extend(command.params[before:])
        return command

    return add


# How the text of a table is laid out.
layout_options: list[Decorator] = [
    click.option("--header/--no-header", default=None, help="Whether the first line names the "
                 "columns. [default: detected]"),
    click.option("--delimiter", metavar="CHAR", help="The character between fields; \\t is a tab. "
                 "[default: detected]"),
    click.option("--decimal", metavar="CHAR", help="The decimal point: a point or a comma. "
                 "[default: .]"),
]  # fmt: skip


def file_options(*, one_hot: bool = True) -> Callable[[Command], Command]:
    """Return a decorator that adds the options of `FileOptions`.

    Without ``one_hot``, the help does not show ``--one-hot``, which the command rejects.
    """
    return add_options("Reading the file", [
        click.option("--label", metavar="NAME|INDEX", help="The label column, by name or by "
                     "number, counted from 1, or from the end if negative. [default: the column "
                     "label, target, y or class, or else the last column]"),
        click.option("--features", metavar="A,B,…", help="Use only these columns as features."),
        click.option("--drop", metavar="A,B,…", help="Ignore these columns."),
        click.option("--id", "id_", metavar="NAME", help="A column that names the rows and is not "
                     "a feature."),
        click.option("--one-hot", metavar="A,B,…", hidden=not one_hot, help="Replace these text "
                     "columns by one 0/1 column for each of their values; * stands for all text "
                     "columns."),
        click.option("--missing", type=click.Choice(["error", "drop", "mean"]), help="Treat "
                     "missing values as an error, drop their rows, or replace them by the mean of "
                     "the column. [default: error]"),
        *layout_options,
        click.option("--from", "from_", type=click.Choice([*DATA_FORMATS]), help="The format of "
                     "DATA. [default: detected from the name or the first bytes]"),
    ])  # fmt: skip


# The options that `TableOptions` adds.
memory_options = add_options("Large data", [
    click.option("--max-memory", metavar="SIZE", callback=lambda ctx, param, value: _size(value),
                 help="Use at most this much memory, for instance 2GB; at least 700MB. Larger data "
                 "is parsed in pieces into arrays on disk."),
    click.option("--cache", type=click.Path(file_okay=False), metavar="DIR", help="Keep the arrays "
                 "of --max-memory in DIR, so that the next command on the same data starts "
                 "quickly."),
])  # fmt: skip

cluster_option = add_options("Large data", [click.option(
    "--cluster", metavar="WHERE", help="Work on a Dask cluster: local:N starts N workers on this "
    "machine; tcp://host:8786 is the address of a scheduler, scheduler.json its file. DATA is a "
    "directory of Parquet files that every worker can read. Needs novikoff[dask].",
)])  # fmt: skip


def given_options() -> frozenset[str]:
    """Return the names of the options that stand on the command line."""
    context = click.get_current_context()
    return frozenset(
        name
        for name in context.params
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    )


def flag(name: str, value: object = None) -> str:
    """Return the option of a field, with a value if there is one, as a user types it.

    It writes the options of `novikoff.data.ReadOptions` in error messages.

    >>> flag("one_hot"), flag("from_"), flag("format", "svmlight"), flag("header", False)
    ('--one-hot', '--from', '--from svmlight', '--no-header')
    >>> flag("drop", ("shoe size", "id")), flag("one_hot", ("*",)), flag("decimal", ",")
    ('--drop "shoe size",id', "--one-hot '*'", '--decimal ,')
    """
    if (name, value) in _FLAGS:
        return _FLAGS[name, value]
    option = f"--{_FLAGS.get((name, None), name).rstrip('_').replace('_', '-')}"
    if value is None or value is True:
        return option
    texts = map(str, value) if isinstance(value, tuple) else [str(value)]
    return f"{option} {','.join(map(_typed, texts))}"


def _typed(text: str) -> str:
    """Return a name or a mark as a user types it, in quotes if it needs them."""
    from novikoff.data.messages import argument

    in_shell = shlex.quote(text)
    return in_shell if in_shell == text or len(text) == 1 else argument(text)


def reject(*cases: tuple[object, str]) -> None:
    """Raise a usage error with the message of the first case that is true."""
    for wrong, message in cases:
        if wrong:
            raise click.UsageError(message)


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """The options for reading a file of rows.

    ``given`` are the names of the options that stand on the command line.
    """

    given: frozenset[str]
    label: str | None
    features: str | None = field(metadata=LOCAL)
    drop: str | None
    id_: str | None = field(metadata=LOCAL)
    one_hot: str | None
    missing: str | None = field(metadata=LOCAL)
    header: bool | None = field(metadata=LOCAL)
    delimiter: str | None = field(metadata=LOCAL)
    decimal: str | None = field(metadata=LOCAL)
    from_: str | None = field(metadata=LOCAL)

    def read_options(self) -> ReadOptions:
        """Return these options as the record that `novikoff.data.read` takes."""
        from novikoff.data import ReadOptions

        delimiter = _NAMED_DELIMITERS.get(self.delimiter or "", self.delimiter)
        decimal = "." if self.decimal is None else self.decimal
        reject(
            (delimiter is not None and len(delimiter) != 1, "--delimiter must be one character."),
            (len(decimal) != 1 or decimal.isdigit(), "--decimal must be one character."),
        )
        return ReadOptions(
            format=self.from_,
            label=self.label,
            features=names(self.features),
            drop=names(self.drop),
            id=self.id_,
            one_hot=names(self.one_hot),
            missing=self.missing or "error",  # type: ignore[arg-type]
            header=self.header,
            delimiter=delimiter,
            decimal=decimal,
            spelling=flag,
        )

    def given_flags(self) -> list[str]:
        """Return the options on the command line that say how a file is read."""
        return [flag(option.name) for option in fields(FileOptions) if option.name in self.given]


@dataclass(frozen=True, kw_only=True)
class TableOptions(FileOptions):
    """The options for reading all rows of a table: in limited memory, or on a cluster."""

    max_memory: int | None = field(metadata=LOCAL)
    cache: str | None = field(metadata=LOCAL)
    cluster: str | None

    def __post_init__(self) -> None:
        if self.cluster is None:
            return
        for option in fields(self):
            if "local" in option.metadata and option.name in self.given:
                no = "--no" if getattr(self, option.name) is False else "-"
                name = f"{no}{flag(option.name)[1:]}"
                raise click.UsageError(f"{name} cannot be used with --cluster.")

    def read(
        self, data: str, options: ReadOptions, show: StudyProgress, recipe: Recipe | None = None
    ) -> Dataset:
        """Read the rows and labels of a file, within the memory that is allowed."""
        from novikoff.data import read

        return read(
            data,
            options,
            recipe=recipe,
            progress=show,
            max_memory=self.max_memory,
            cache=self.cache,
        )


def names(text: str | None) -> tuple[str, ...]:
    """Split a list of names at its commas. A name that contains a comma is quoted, as in CSV."""
    if text is None:
        return ()
    try:
        return tuple(name.strip() for name in next(csv.reader([text], skipinitialspace=True), []))
    except csv.Error as error:
        raise click.BadParameter(f"{text!r} is not a list of names: {error}.") from None


def positive_label(labels: Sequence[Hashable], text: str | None, source: str) -> Hashable:
    """Return the label that a text on the command line stands for; None without a text."""
    if text is None:
        return None
    from novikoff.core.class_labels import plain_label

    for label in labels:
        if str(label) == text or (isinstance(label, bool) and str(label).lower() == text.lower()):
            return plain_label(label)
    known = ", ".join(map(str, labels[:10])) + (", …" if len(labels) > 10 else "")
    raise click.BadParameter(
        f"no row of {source} has the label {text}; there are {known}.", param_hint="--positive"
    )


def _size(value: str | None) -> int | None:
    """Return the number of bytes of a size such as 500MB, 2GB, 1.5GiB or 1e9."""
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

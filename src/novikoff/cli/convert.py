"""``novikoff convert``: a file of one format into another, row by row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from novikoff.cli.options import choices, reading
from novikoff.cli.progress import Show, shown
from novikoff.cli.screen import print_lines

if TYPE_CHECKING:
    from novikoff.data import Choices
    from novikoff.data.output.writers import Rows

_FORMATS = ["csv", "tsv", "svmlight", "parquet", "arrow", "blocks"]
_MEMORY = 1 << 30  # bytes that the blocks of a source may take up


@click.command("convert")
@click.argument("source", type=click.Path())
@click.argument("target", type=click.Path())
@reading
@click.option(
    "--to",
    "form",
    type=click.Choice(_FORMATS),
    help="The format of TARGET. Default: from its name.",
)
@click.option("--zero-based", is_flag=True, help="Number the columns of svmlight from 0.")
@click.option(
    "--no-heading",
    is_flag=True,
    help="No comment with names before the rows of svmlight, for programs that know no comments.",
)
@click.option(
    "--dense", is_flag=True, help="Write tables of sparse data with over 10,000 columns, too."
)
@click.option("--force", is_flag=True, help="Replace TARGET if it is there.")
def command(source: str, target: str, **values: object) -> None:
    """Turn SOURCE into TARGET: CSV, TSV, svmlight, Parquet, Arrow or a block cache.

    The ending of TARGET says which: .csv, .tsv, .svm, .parquet, .arrow or .blocks. Every number
    stays the same double to the last bit, the label is the last column, and files may be larger
    than memory. A block cache is what fit, verify and convert read fastest.

    \b
    novikoff convert measurements.csv measurements.parquet --label kind
    novikoff convert news.svm news.blocks
    """  # noqa: D301 — click takes the backspace for a sign not to wrap what follows
    from novikoff.data.errors import counted
    from novikoff.data.output.writers import Target, write_rows
    from novikoff.report.files import check_writable

    where = Path(target)
    goal = Target(
        path=where,
        format=_format(where, values["form"]),
        force=bool(values["force"]),
        first=0 if values["zero_based"] else 1,
        heading=not values["no_heading"],
        dense=bool(values["dense"]),
    )
    if goal.first == 0 and goal.format != "svmlight":
        raise click.UsageError("--zero-based is about svmlight, which TARGET is not.")
    check_writable(where, force=goal.force)
    with shown() as show:
        rows = _open(source, choices(values), show)
        written = write_rows(rows, goal, lambda n: show(f"writing {where.name}: {n:,} rows", None))
    size = f"{counted(written.rows, 'row')} · {counted(rows.n_features, 'feature')}"
    notes = [*rows.notes, *written.notes]
    if values["id_"] is not None:
        notes.append(f"the column {values['id_']} is left out")
    print_lines(
        [
            ("written", f"{target} · {size} · label {written.label}"),
            *(("", note) for note in notes),
        ]
    )


def _format(target: Path, chosen: object) -> str:
    from novikoff.data.output.writers import TARGETS

    if str(target) == "-":
        raise click.BadParameter("a file is needed, not standard output.", param_hint="TARGET")
    if chosen is not None:
        return str(chosen)
    found = TARGETS.get(target.suffix.lower())
    if found is None:
        known = ", ".join(TARGETS)
        more = " Compressed text is not written." if target.suffix == ".gz" else ""
        raise click.BadParameter(
            f"the format of {target} is not clear from its name; endings are {known}, or say "
            f"--to.{more}",
            param_hint="TARGET",
        )
    return found


def _open(source: str, asked: Choices, show: Show) -> Rows:
    """The rows of a source: in blocks where that can be done, else all of them at once."""
    from novikoff.data.chunks.blocks import blocks
    from novikoff.data.output.heading import restored
    from novikoff.data.source import format_of

    def told(n: int) -> None:
        show(f"looking through {source}: {n:,} rows", None)

    show(f"reading {source}", None)
    whole = source == "-" or asked.one_hot or asked.missing == "mean"
    if not whole and (source.endswith(".blocks") or Path(source).is_dir()):
        return blocks(source, asked, max_memory=_MEMORY, progress=told)
    form = "" if source == "-" else format_of(source, asked.format)
    if whole or form in ("npy", "npz"):
        from novikoff.data import read
        from novikoff.data.output.whole import WholeBlocks

        rows: Rows = WholeBlocks(read(source, asked))
    else:
        rows = blocks(source, asked, max_memory=_MEMORY, progress=told)
    return restored(rows, source) if form == "svmlight" else rows

"""Write labelled rows, block by block, in another format, to the last bit."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, Protocol

import numpy as np
import numpy.typing as npt

from novikoff.core.blocks import CodedBlocks, ahead
from novikoff.core.drafts import Draft
from novikoff.data.arrow import Schema, Table, arrow
from novikoff.data.choices import Labels
from novikoff.data.chunks.cache import CacheWriter
from novikoff.data.errors import DataError, counted
from novikoff.data.output.heading import heading_of
from novikoff.data.output.label_texts import csv_texts, label_notes, svmlight_texts
from novikoff.data.output.rendering import Pairs, delimited, filled, pieces, rendered, texts_of
from novikoff.data.recipe import Recipe

# From this many columns on, sparse rows do not become dense unless asked for.
MOST_COLUMNS: Final = 10_000
# Numbers of a row group, about.
_GROUP: Final = 1 << 22

TARGETS: Final = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".blocks": "blocks",
}


class Rows(CodedBlocks, Protocol):
    """Blocks that know what they are: those of `blocks`, of a cache, or of a `Dataset`."""

    @property
    def classes(self) -> Labels:
        """The labels, sorted."""

    @property
    def source(self) -> str:
        """The name of the file."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""

    @property
    def n_features(self) -> int:
        """How many columns there are."""

    @property
    def recipe(self) -> Recipe:
        """How the file was read."""

    @property
    def label(self) -> str | None:
        """The name of the label's column."""

    @property
    def notes(self) -> list[str]:
        """What was decided."""

    @property
    def dropped(self) -> npt.NDArray[np.int64]:
        """The rows that are left out, counted from 1."""

    @property
    def sparse(self) -> bool:
        """Whether the blocks are CSR arrays."""


class KnownTable(Table, Protocol):
    """A table that knows its columns."""

    @property
    def schema(self) -> Schema:
        """Their names and types."""


class TableWriter(Protocol):
    """What writes Parquet or Arrow."""

    def write_table(self, table: Table) -> None:
        """Append rows."""

    def close(self) -> None:
        """Write what comes last."""


@dataclass(frozen=True)
class Target:
    """Where rows go, and how.

    Parameters
    ----------
    path : Path
        The file.
    format : {"csv", "tsv", "svmlight", "parquet", "arrow", "blocks"}
        Its format.
    force : bool
        Whether a file that is there is replaced.
    first : {0, 1}
        The number of the first column in svmlight.
    heading : bool
        Whether names that svmlight does not hold stand in a comment before the rows.
    dense : bool
        Whether sparse rows of more than 10,000 columns may become a table.
    """

    path: Path
    format: str
    force: bool = False
    first: Literal[0, 1] = 1
    heading: bool = True
    dense: bool = False


@dataclass
class Written:
    """What was written, and what its reader should know."""

    rows: int = 0
    label: str = ""
    notes: list[str] = field(default_factory=list)


def write_rows(
    rows: Rows, target: Target, progress: Callable[[int], None] | None = None
) -> Written:
    r"""Write all rows to a file, which is whole or not there.

    Every number is read back as the same number, and every label as the same label, or the
    target is refused; ``notes`` of the result say what a reader must be told.

    Raises
    ------
    DataError
        If the format cannot hold the rows or their labels.
    OSError
        If the file cannot be written; the message is a sentence.

    Examples
    --------
    >>> import io, tempfile
    >>> from novikoff.data import read
    >>> from novikoff.data.output.whole import WholeBlocks
    >>> rows = WholeBlocks(read(io.BytesIO(b"size,kind\n1.50,-1\n0,4\n")))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Target(Path(folder) / "rows.svm", "svmlight")
    ...     written = write_rows(rows, target)
    ...     print(target.path.read_text(), end="")
    # novikoff: {"names": ["size"], "label": "kind"}
    -1 1:1.5
    4
    """
    label = _free_name(rows.label or "label", rows)
    written = Written(label=label)
    write = {
        "csv": _write_text,
        "tsv": _write_text,
        "svmlight": _write_svmlight,
        "parquet": _write_table,
        "arrow": _write_table,
        "blocks": _write_cache,
    }[target.format]

    def told(n: int) -> None:
        written.rows += n
        if progress is not None:
            progress(written.rows)

    if rows.sparse and target.format not in ("svmlight", "blocks"):
        _check_width(rows, target)
    write(rows, target, written, told)
    return written


def _write_text(rows: Rows, target: Target, written: Written, told: Callable[[int], None]) -> None:
    mark = "\t" if target.format == "tsv" else ","
    header, labels, notes = csv_texts(rows, written.label, mark, target.path)
    written.notes += notes
    texts = rendered(
        ahead(rows.coded()), delimited(texts_of(labels), mark), rows.n_features, dense=True
    )
    with Draft(target.path, force=target.force) as draft:
        with draft.saying():
            draft.file.write(header)
        for n, text in texts:
            with draft.saying():
                draft.file.write(text)
            told(n)
        draft.seal()


def _write_svmlight(
    rows: Rows, target: Target, written: Written, told: Callable[[int], None]
) -> None:
    labels, notes = svmlight_texts(rows, target.path)
    written.notes += notes
    render = Pairs(texts_of(labels), target.first)
    texts = rendered(ahead(rows.coded()), render, rows.n_features, dense=False)
    with Draft(target.path, force=target.force) as draft:
        with draft.saying():
            draft.file.write(heading_of(rows) if target.heading else b"")
        last = b""
        for n, text in texts:
            with draft.saying():
                draft.file.write(text)
            last = _last_line(text)
            told(n)
        with draft.saying():
            draft.file.seek(-len(last), os.SEEK_END)
            draft.file.write(_cornered(last, render, target.first, rows.n_features))
        draft.seal()


def _last_line(text: memoryview) -> bytes:
    size = 1 << 10
    while size < len(text) and b"\n" not in bytes(text[-size:-1]):
        size *= 2
    return bytes(text[-size:]).rstrip(b"\n").rpartition(b"\n")[2] + b"\n"


def _cornered(line: bytes, render: Pairs, first: int, width: int) -> bytes:
    """The last line; with zeros, if no other entry tells where the columns begin and end."""
    label, *entries = line.split()
    if first == 0 and render.lowest > 0:
        entries.insert(0, b"0:0")
    if render.highest < width - 1 + first and not (width == 1 and first == 0):
        entries.append(b"%d:0" % (width - 1 + first))
    return b" ".join([label, *entries]) + b"\n"


def _write_table(rows: Rows, target: Target, written: Written, told: Callable[[int], None]) -> None:
    written.notes += label_notes([*rows.names, written.label], target.path)
    with Draft(target.path, force=target.force) as draft:
        writer: TableWriter | None = None
        whole = False
        try:
            for table in _tables(rows, written.label):
                with draft.saying():
                    writer = writer or _table_writer(target.format, draft, table.schema)
                    writer.write_table(table)
                told(table.num_rows)
            whole = True
        finally:
            if writer is not None:  # what went wrong before is what is to be said
                with draft.saying() if whole else contextlib.suppress(OSError):
                    writer.close()
        draft.seal()


def _tables(rows: Rows, label: str) -> Iterator[KnownTable]:
    """The rows as tables of several pieces: a row group each."""
    pa = arrow()
    names = [*rows.names, label]
    kinds = {"i": pa.int64(), "f": pa.float64(), "b": pa.bool_(), "U": pa.string()}
    classes = pa.array(rows.classes.tolist(), kinds[rows.classes.dtype.kind])
    waiting, size = [], 0
    for X, codes in pieces(ahead(rows.coded()), rows.n_features, dense=True):
        dense = filled(X)
        columns = [pa.array(column) for column in np.ascontiguousarray(dense.T)]
        waiting.append(pa.record_batch([*columns, classes.take(pa.array(codes))], names=names))
        size += dense.size
        if size >= _GROUP:
            yield pa.Table.from_batches(waiting)
            waiting, size = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def _table_writer(format: str, draft: Draft, schema: Schema) -> TableWriter:
    if format == "arrow":
        stream: TableWriter = arrow("pyarrow.ipc").new_file(draft.file, schema)
        return stream
    # Dictionaries are for labels: of measurements hardly any two are equal.
    writer: TableWriter = arrow("pyarrow.parquet").ParquetWriter(
        draft.file, schema, use_dictionary=[schema.names[-1]], compression="zstd"
    )
    return writer


def _write_cache(rows: Rows, target: Target, written: Written, told: Callable[[int], None]) -> None:
    with CacheWriter(target.path, force=target.force) as writer:
        for X, codes, _, _ in ahead(rows.coded()):
            writer.add(X, codes)
            told(len(codes))
        writer.finish(
            classes=rows.classes,
            names=rows.names,
            recipe=rows.recipe,
            label=rows.label,
            notes=rows.notes,
            dropped=rows.dropped,
        )


def _free_name(label: str, rows: Rows) -> str:
    """The label's name, changed where a feature has it."""
    names = set(rows.names)
    while label in names:
        label += "_"
    return label


def _check_width(rows: Rows, target: Target) -> None:
    if rows.n_features <= MOST_COLUMNS or target.dense:
        return
    raise DataError(
        f"{target.path}: {rows.source} has {counted(rows.n_features, 'column')}, and a table "
        "holds their zeros, too; write svmlight or .blocks instead, or say --dense."
    )

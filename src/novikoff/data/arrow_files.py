"""Parquet and Arrow files: tables whose columns have types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, Final

import pyarrow as pa

from novikoff.data.messages import all_quoted, listed
from novikoff.data.reader import Piece, Position, Request
from novikoff.data.roles import check_unique, find_roles
from novikoff.data.source import Source
from novikoff.data.tables import TableReader
from novikoff.errors import DataError

# A piece of a Parquet file has about this many numbers.
_BATCH_NUMBERS: Final = 1 << 22


class ArrowTable(TableReader):
    """The pieces of a Parquet file, a folder of Parquet files, or an Arrow file.

    Positions count rows.
    """

    def __init__(self, request: Request) -> None:
        self._files: list[Source | str] = list(request.source.files) or [request.source]
        self._parquet = request.source.format == "parquet"
        self._more: dict[str, None] = {}
        self._whole_arrow = request.source.head.startswith(b"ARROW1")
        with self._readable(request.source.name):
            opened = self._opened(self._files[0])
            self._schema = opened.schema_arrow if self._parquet else opened.schema
            names = list(self._schema.names)  # names that are not UTF-8 raise an error here
        index = [] if request.recipe else _pandas_index(self._schema, request)
        names = [name for name in names if name not in index]
        if "" in names:
            raise DataError(f"{request.source.name} has no name for column {names.index('') + 1}.")
        check_unique(request.source.name, names)
        super().__init__(request, names, find_roles(request, names))
        if index:
            note = f"the index of a pandas frame, {listed(index)}, is not a feature"
            self.notes.insert(0, note)

    def pieces(self, begin: Position | None = None) -> Iterator[Piece]:
        """Return the rows after a position; by default all rows."""
        tables, row = self._tables(), 0
        if begin is None:
            head = list(islice(tables, 2))
            self.whole, tables = len(head) == 1, chain(head, tables)
        begin = begin or Position()
        for table in tables:
            first, row = row, row + table.num_rows
            if row <= begin.row and not self.whole:
                continue
            table = table.slice(max(0, begin.row - first))
            columns = {j: table.column(self.names[j]) for j in self.roles.used}
            piece = self.from_columns(columns, begin)
            begin = piece.end
            yield piece

    def final_notes(self) -> list[str]:
        """Return how missing values were treated, and which columns only the later files have."""
        notes = super().final_notes()
        if self._more:
            notes.append(f"columns of later files are ignored: {all_quoted(list(self._more))}")
        return notes

    def _tables(self) -> Iterator[Any]:
        names = [self.names[j] for j in self.roles.used]
        batches = (batch for file in self._files for batch in self._batches(file, names))
        if not self.request.all_at_once:
            yield from (pa.Table.from_batches([batch]) for batch in batches)
            return
        with self._readable(self.source):
            schema = pa.schema([self._schema.field(name) for name in names])
            yield pa.Table.from_batches(list(batches), schema=schema)

    def _batches(self, file: Source | str, names: list[str]) -> Iterator[Any]:
        with self._readable(self.source):
            opened = self._opened(file)
            if self._parquet:
                absent = set(names) - set(opened.schema_arrow.names)
                if absent:
                    raise DataError(f"{file} has no column {listed(sorted(absent))}.")
                extra = set(opened.schema_arrow.names) - set(self._schema.names)
                self._more |= dict.fromkeys(sorted(extra))
                rows = max(1, _BATCH_NUMBERS // max(1, len(names)))
                yield from opened.iter_batches(batch_size=rows, columns=names)
                return
            batches = opened
            if self._whole_arrow:
                batches = (opened.get_batch(k) for k in range(opened.num_record_batches))
            for batch in batches:
                batch.validate(full=True)  # wrong offsets would crash the process later
                yield batch.select(names)

    def _opened(self, file: Source | str) -> Any:
        content = file if isinstance(file, str) else pa.BufferReader(pa.py_buffer(file.view()))
        if self._parquet:
            from pyarrow import parquet  # imported here, because the import takes long

            return parquet.ParquetFile(content)
        return pa.ipc.open_file(content) if self._whole_arrow else pa.ipc.open_stream(content)

    @contextmanager
    def _readable(self, source: str) -> Iterator[None]:
        """Turn the errors of pyarrow into a DataError that names the file."""
        try:
            yield
        except (DataError, MemoryError):
            raise
        except Exception as error:  # pyarrow may raise any error
            reason = (str(error) or type(error).__name__).splitlines()[0].strip().rstrip(".")[:200]
            format = "Parquet" if self._parquet else "Arrow"
            raise DataError(f"{source} is not a sound {format} file: {reason}.") from None


def _pandas_index(schema: Any, request: Request) -> list[str]:
    """Return the columns that pandas wrote as a frame's index, unless the user asks for them."""
    try:
        described = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        index = {name for name in described["index_columns"] if isinstance(name, str)}
    except (ValueError, TypeError, KeyError, RecursionError):  # the metadata is not pandas' own
        index = set()
    options = request.options
    columns = {*options.features, *options.drop, options.id, options.label, *options.one_hot}
    index_columns = [
        name for name in schema.names if name in index or name.startswith("__index_level_")
    ]
    return [name for name in index_columns if name not in columns]

"""Parquet files, folders of them, and Arrow files in pieces: their batches of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from novikoff.core.blocks import ahead
from novikoff.data.arrow import Batch, Batches, Cells, Schema, arrow, is_numeric, is_text
from novikoff.data.choices import Choices, Labels
from novikoff.data.chunks.pieces import Piece, refuse_whole, shifting
from novikoff.data.errors import DataError, quoted
from novikoff.data.features import Frame, features_of
from novikoff.data.fill import fill
from novikoff.data.labels import labels_of, not_a_label
from novikoff.data.recipe import Column, Recipe
from novikoff.data.settle import Columns, settle
from novikoff.data.source import shown
from novikoff.data.typed import damaged, plan_schema

_ENTRIES: Final = 1 << 22  # of a batch: it stays in the cache while it is turned into rows
_FEW: Final = 4  # labels that are compared one by one
_BUFFER: Final = 1 << 18  # bytes read at a time: whole columns would need new memory each time


class BatchPieces:
    """The batches of one file or of several with the same columns.

    Parameters
    ----------
    paths : sequence of str
        The files, in order.
    form : {"parquet", "arrow"}
        Their format.
    choices : Choices
        Which columns.
    spare : bool
        Whether to spare memory: else a Parquet file is mapped, and no part of it copied.

    Raises
    ------
    DataError
        If a file is damaged, differs from the first in its columns, or a column is not there.
    """

    def __init__(
        self, paths: Sequence[str], form: str, choices: Choices, *, spare: bool = True
    ) -> None:
        self._paths, self._form, self._choices, self._spare = paths, form, choices, spare
        self.name = shown(paths[0])
        refuse_whole(self.name, choices)
        schemas = [self._schema(path) for path in paths]
        self._names = list(schemas[0].names)
        plan, self.notes = plan_schema(self.name, schemas[0], choices, None, labelled=True)
        if plan.label is None:
            raise DataError(f"{self.name} has no label column.")
        kind = schemas[0].field(self._names[plan.label]).type
        if not is_text(kind) and not is_numeric(kind):
            raise not_a_label(self.name, self._names[plan.label], kind)
        self._plan, self._label = plan, plan.label
        self.label = self._names[plan.label]
        self._used = [self._names[j] for j in self._plan.used]
        features = [self._names[j] for j in plan.features]
        self._columns = Columns(features, np.zeros(len(features), np.bool_))
        self._recipe = Recipe(
            family="table",
            columns=tuple(map(Column, features)),
            label=self.label,
            id=None if plan.id is None else self._names[plan.id],
            missing=choices.missing,
            width=len(self._names),
        )
        for path, schema in zip(paths[1:], schemas[1:], strict=True):
            self._check_same(schemas[0], schema, shown(path))
        self._known: Cells | None = None

    def __iter__(self) -> Iterator[Piece]:
        known = self._distinct()
        for path in self._paths:
            name, rows = shown(path), 0
            for batch in ahead(self._batches(path, self._used)):
                columns = dict(zip(self._plan.used, batch.columns, strict=True))
                with shifting(name, 0, rows):
                    piece = self._piece(name, columns, batch.num_rows, known)
                rows += batch.num_rows
                yield piece

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where the files say so."""
        if self._form != "parquet":
            return None
        return sum(_parquet(path).metadata.num_rows for path in self._paths)

    def labels(self) -> Labels:
        """What the numbers of labels stand for."""
        known = arrow().chunked_array([self._distinct()])
        values, _ = labels_of(known, self.name, self.label, raw=False)
        return values

    def recipe(self) -> Recipe:
        """How to read other files in the same way."""
        return self._recipe

    def _piece(self, name: str, columns: dict[int, Cells], n_rows: int, known: Cells) -> Piece:
        pa, plan, label = arrow(), self._plan, _comparable(columns[self._label])
        codes = _numbered(label, known)
        unlabelled = codes < 0
        if unlabelled.any() and int(unlabelled.sum()) > _missing(label):
            raise DataError(
                f"{name} has labels in column {quoted(self.label)} that are outside the range that "
                "it says they are in: write it anew."
            )
        cells = {j: pa.chunked_array([column]) for j, column in columns.items()}
        frame = Frame(name, self._names, plan, cells, n_rows, raw=False)
        X, largest_sq = fill(features_of(frame, self._recipe), n_rows, name)
        settled = settle(
            X,
            self._columns,
            name,
            self._choices.missing,
            unlabelled=unlabelled,
            label=self.label,
            trained=True,
            partial=True,
            finite=largest_sq < inf,
        )
        if settled.keep is None:
            return Piece(X, codes, n_rows, np.empty(0, np.int64), largest_sq)
        return Piece(settled.X, codes[settled.keep], n_rows, np.flatnonzero(~settled.keep))

    def _distinct(self) -> Cells:
        """The different labels that there are, in a pass over their column alone.

        It ends where all have been seen that the files say there can be; what they say is looked
        at again when the labels are read with their rows.
        """
        if self._known is None:
            pa, pc = arrow(), arrow("pyarrow.compute")
            found: Cells | None = None
            most = self._most_labels()
            for batch in self._label_batches():
                column = _comparable(batch.columns[0])
                if found is not None and (_numbered(column, found) >= 0).all():
                    continue
                fresh = pc.drop_null(pc.unique(column))
                if arrow("pyarrow.types").is_floating(fresh.type):
                    fresh = fresh.filter(pc.invert(pc.is_nan(fresh)))
                both = fresh if found is None else pa.concat_arrays([found, fresh])
                found = pc.unique(both)
                if len(found) > 100_000:
                    raise DataError(
                        f"{self.name}: column {quoted(self.label)} has over 100,000 different "
                        "values: it is hardly a class; choose the label with --label."
                    )
                if len(found) == most:
                    break
            if found is None or not len(found):
                raise DataError(f"{self.name} has no row with a label.")
            self._known = found
        return self._known

    def _label_batches(self) -> Iterator[Batch]:
        for path in self._paths:
            yield from self._batches(path, [self.label])

    def _most_labels(self) -> int | None:
        """How many different labels there can be, by what all files say of whole numbers."""
        if self._form != "parquet":
            return None
        ends: list[int] = []
        for path in self._paths:
            with _sound(path, self._form):
                found = _range(_parquet(path), self.label)
            if found is None:
                return None
            ends += found
        return max(ends) - min(ends) + 1

    def _check_same(self, first: Schema, other: Schema, name: str) -> None:
        for column in self._used:
            if column not in other.names:
                raise DataError(f"{name} has no column {quoted(column)}, which {self.name} has.")
            if other.field(column).type != first.field(column).type:
                raise DataError(
                    f"{name}: column {quoted(column)} is of type {other.field(column).type}, but "
                    f"of {first.field(column).type} in {self.name}."
                )
        if list(other.names) != self._names:
            raise DataError(f"{name} has other columns than {self.name}.")

    def _schema(self, path: str) -> Schema:
        with _sound(path, self._form):
            if self._form == "parquet":
                return _parquet(path).schema_arrow
            with _arrow_file(path) as (schema, _):
                return schema

    def _batches(self, path: str, columns: list[str]) -> Iterator[Batch]:
        rows = max(1024, _ENTRIES // len(self._used))
        with _sound(path, self._form):
            if self._form == "parquet":
                file = _parquet(path, mapped=not self._spare)
                for batch in file.iter_batches(batch_size=rows, columns=columns):
                    yield batch.select(columns)
                return
            with _arrow_file(path) as (_, batches):
                for batch in batches:
                    batch.validate(full=True)
                    part = batch.select(columns)
                    for first in range(0, part.num_rows, rows):
                        yield part.slice(first, rows)


def _numbered(cells: Cells, known: Cells) -> npt.NDArray[np.int32]:
    """Which of the known labels each of a column is, −1 for a missing one, or another."""
    pc, types = arrow("pyarrow.compute"), arrow("pyarrow.types")
    if len(known) > _FEW or cells.null_count > 0 or not types.is_integer(cells.type):
        codes: npt.NDArray[np.int32] = pc.fill_null(pc.index_in(cells, known), -1).to_numpy()
        return codes
    values, found = cells.to_numpy(), np.full(len(cells), -1, np.int8)
    for number, value in enumerate(known.to_numpy(), 1):
        found += np.multiply(values == value, number, dtype=np.int8)
    return found.astype(np.int32)


def _missing(cells: Cells) -> int:
    """How many of a column are missing, or not a number."""
    pc, types = arrow("pyarrow.compute"), arrow("pyarrow.types")
    if types.is_floating(cells.type):
        return int(pc.sum(pc.is_null(cells, nan_is_null=True)).as_py())
    return int(cells.null_count)


def _range(file: Batches, column: str) -> tuple[int, int] | None:
    """The least and the largest whole number of a column, if the file says so of all its rows."""
    if not arrow("pyarrow.types").is_integer(file.schema_arrow.field(column).type):
        return None
    ends: list[int] = []
    for group in map(file.metadata.row_group, range(file.metadata.num_row_groups)):
        columns = map(group.column, range(group.num_columns))
        said = [one.statistics for one in columns if one.path_in_schema == column]
        if len(said) != 1 or said[0] is None or not said[0].has_min_max:
            return None
        for end in (said[0].min, said[0].max):
            if not isinstance(end, int):
                return None
            ends.append(end)
    return (min(ends), max(ends)) if ends else None


def _comparable(cells: Cells) -> Cells:
    """A column in a type whose values Arrow can tell apart."""
    pa, pc, types = arrow(), arrow("pyarrow.compute"), arrow("pyarrow.types")
    kind = cells.type.value_type if types.is_dictionary(cells.type) else cells.type
    if types.is_string_view(kind):
        kind = pa.string()
    elif types.is_float16(kind):
        kind = pa.float32()
    return cells if kind == cells.type else pc.cast(cells, kind)


def parquet_files(folder: str) -> list[str]:
    """The Parquet files of a folder, sorted by name.

    Raises
    ------
    DataError
        If there are none.
    """
    names = sorted(
        str(path)
        for path in Path(folder).iterdir()
        if path.suffix.lower() in (".parquet", ".pq") and not path.name.startswith((".", "_"))
    )
    if not names:
        raise DataError(f"{shown(folder)} is a directory without Parquet files.")
    return names


def _parquet(path: str, *, mapped: bool = False) -> Batches:
    how = {"memory_map": True} if mapped else {"buffer_size": _BUFFER}
    file: Batches = arrow("pyarrow.parquet").ParquetFile(path, **how)
    return file


@contextmanager
def _arrow_file(path: str) -> Iterator[tuple[Schema, Iterator[Batch]]]:
    """The schema and the batches of an Arrow file or stream, read as they are asked for."""
    pa, ipc = arrow(), arrow("pyarrow.ipc")
    with pa.OSFile(path) as file:
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        if not is_file:
            with ipc.open_stream(file) as stream:
                yield stream.schema, iter(stream)
            return
        with ipc.open_file(file) as reader:
            yield reader.schema, map(reader.get_batch, range(reader.num_record_batches))


@contextmanager
def _sound(path: str, form: str) -> Iterator[None]:
    """Whatever Arrow makes of arbitrary bytes, as a sentence."""
    try:
        yield
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"{shown(path)} does not exist.") from None
    except Exception as error:
        kind = "Parquet" if form == "parquet" else "Arrow"
        raise damaged(shown(path), kind, error) from None

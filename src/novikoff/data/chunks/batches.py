"""Parquet files, folders of them, and Arrow files in pieces: their batches of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from novikoff.core.blocks import ahead
from novikoff.data.arrow import Batch, Batches, Cells, Schema, arrow, is_numeric, is_text
from novikoff.data.choices import Choices, Labels
from novikoff.data.chunks.pieces import Piece, piece_of, refuse_whole, shifting
from novikoff.data.errors import DataError, quoted
from novikoff.data.features import Frame, features_of
from novikoff.data.fill import fill
from novikoff.data.labels import labels_of, not_a_label
from novikoff.data.recipe import Column, Recipe
from novikoff.data.source import shown
from novikoff.data.table import finish
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
        plan = self._plan
        return Recipe(
            family="table",
            columns=tuple(Column(self._names[j]) for j in plan.features),
            label=self.label,
            id=None if plan.id is None else self._names[plan.id],
            missing=self._choices.missing,
            width=len(self._names),
        )

    def _piece(self, name: str, columns: dict[int, Cells], n_rows: int, known: Cells) -> Piece:
        pa = arrow()
        cells = {j: pa.chunked_array([column]) for j, column in columns.items()}
        plan = self._plan
        codes = _numbered(_comparable(columns[self._label]), known)
        frame = Frame(name, self._names, plan, cells, n_rows, raw=False)
        recipe = self.recipe()
        features = features_of(frame, recipe)
        X, finite = fill(features, n_rows, name)
        data = finish(
            frame,
            self._choices,
            recipe,
            X,
            recipe.columns,
            codes,
            codes < 0,
            partial=True,
            finite=finite,
        )
        return piece_of(data)

    def _distinct(self) -> Cells:
        """The different labels that there are, in a pass over their column alone."""
        if self._known is None:
            pa, pc = arrow(), arrow("pyarrow.compute")
            found: Cells | None = None
            for path in self._paths:
                for batch in self._batches(path, [self.label]):
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
            if found is None or not len(found):
                raise DataError(f"{self.name} has no row with a label.")
            self._known = found
        return self._known

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


def _numbered(cells: Cells, known: Cells) -> npt.NDArray[np.int64]:
    """Which of the known labels each of a column is, −1 for a missing one, or another."""
    pc, types = arrow("pyarrow.compute"), arrow("pyarrow.types")
    if len(known) > _FEW or cells.null_count > 0 or not types.is_integer(cells.type):
        codes: npt.NDArray[np.int32] = pc.fill_null(pc.index_in(cells, known), -1).to_numpy()
        return codes.astype(np.int64)
    values, found = cells.to_numpy(), np.full(len(cells), -1, np.int8)
    for number, value in enumerate(known.to_numpy(), 1):
        found += np.multiply(values == value, number, dtype=np.int8)
    return found.astype(np.int64)


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

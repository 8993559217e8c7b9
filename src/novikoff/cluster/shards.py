"""Shards: the rows of one file, chunk or partition, as a worker holds them.

A `ShardSource` lists the shards and reads them. It holds paths or futures, not rows.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff import __version__
from novikoff.core.class_labels import (
    CodedLabels,
    Label,
    Labels,
    check_labels,
    code_labels,
    plain_label,
)
from novikoff.core.problem import Rows
from novikoff.core.rows import Indices, Matrix
from novikoff.core.validation import check_matrix, widened
from novikoff.data.options import ReadOptions
from novikoff.data.reading import join, open_reader
from novikoff.data.recipe import Recipe
from novikoff.data.source import parquet_files
from novikoff.data.values import LabelKind, LabelReader
from novikoff.errors import ClusterError, DataError
from novikoff.geometry.parts import Part

# Results about the rows of a shard. The first key is the question, the second key is the first row
# and the number of rows.
Memo = dict[object, dict[tuple[int, int], npt.NDArray[Any]]]


def versions() -> str:
    """The versions of the programs that the bits of a result depend on."""
    python = ".".join(platform.python_version_tuple()[:2])
    return f"novikoff {__version__}, NumPy {np.__version__}, Python {python}"


def run_checked(expected: str, task: Callable[..., Any], *given: Any) -> Any:
    """Run a task if the worker has the expected versions, because workers may join at any time."""
    if versions() != expected:
        raise ClusterError(
            f"A worker on {platform.node()} has {versions()}, but this process has {expected}. "
            "Install the same versions on all machines: other versions give other bits."
        )
    return task(*given)


@dataclass(frozen=True)
class Setting:
    """The positive label, the negative label, and whether there is a bias."""

    positive: Label | None
    negative: Label | None  # None: all other labels
    fit_intercept: bool


class ShardPart(Part):
    """Rows of a shard with the signs of a setting.

    ``memo`` keeps results about these rows for the next pass. It may be lost at any time; then the
    results are computed again.
    """

    memo: Memo

    def range(self, first: int, last: int) -> Part:
        """The rows ``first`` to ``last`` of this part, without a copy."""
        part = super().range(first, last)
        piece = ShardPart(part.first, part.X, part.signs, part.fit_intercept)
        piece.memo = self.memo
        return piece


class Shard:
    """Consecutive rows of the data, from row ``first`` on, with their labels; ``number`` counts."""

    def __init__(self, number: int, first: int, X: Matrix, coded: CodedLabels) -> None:
        self.number, self.first, self.X = number, first, X
        self.labels: list[Label] = [plain_label(value) for value in coded.classes.tolist()]
        self.codes = coded.codes.astype(np.uint8 if len(self.labels) <= 256 else np.int64)
        self.memo: Memo = {}
        self._checked: dict[bool, Rows] = {}

    def __sizeof__(self) -> int:
        """The bytes of the rows. Dask moves tasks to large results, not large results to tasks."""
        X: Any = self.X
        parts = (X,) if isinstance(X, np.ndarray) else (X.data, X.indices, X.indptr)
        return sum(int(part.nbytes) for part in (*parts, self.codes))

    def rows(self, fit_intercept: bool, names: Sequence[Hashable] | None = None) -> Rows:
        """The rows, which are checked the first time."""
        if fit_intercept not in self._checked:
            checked = Rows.of(self.X, fit_intercept, names=names, first=self.first)
            self._checked[fit_intercept] = checked
        return self._checked[fit_intercept]

    def part(self, setting: Setting) -> ShardPart:
        """The rows with the signs of a setting."""
        signs = self._sides([1 if label == setting.positive else -1 for label in self.labels])
        part = ShardPart(self.first, self.X, signs.astype(np.int8), setting.fit_intercept)
        part.memo = self.memo
        return part

    def classes(self, labels: Sequence[Label]) -> Indices:
        """The position of each row's label in a list of labels."""
        return self._sides([labels.index(label) for label in self.labels])

    def given_labels(self) -> Labels:
        """The label of each row."""
        return np.array([*self.labels, None], dtype=object)[self.codes]

    def _sides(self, values: list[int]) -> Indices:
        return np.array(values, dtype=np.int64)[self.codes]


@dataclass(frozen=True)
class ShardSource:
    """The shards of the data, and how a worker reads a shard.

    ``read`` needs the number and the first row of a shard, and its unit: a path, or futures of
    chunks. ``recipe`` describes the columns of files.
    """

    read: Callable[..., Shard]
    units: list[tuple[Any, ...]]
    counts: list[int]  # the number of rows of each shard
    width: int  # the number of columns
    names: Sequence[Hashable] | None = None
    recipe: Recipe | None = None

    @property
    def firsts(self) -> Indices:
        """The number of the first row of each shard."""
        return np.cumsum([0, *self.counts])[:-1]

    def with_decimals(self, recipe: Recipe) -> ShardSource:
        """The same files, with labels read as decimals: equal numbers become equal labels."""
        return replace(self, read=partial(read_file, recipe, "decimals"))

    def submit(self, client: Any, key: str, group: Sequence[int], keep: bool) -> Any:
        """A future of the shards of a group: a list, or an iterable that reads them one by one."""
        units, firsts = [self.units[k] for k in group], self.firsts
        places = [(k, int(firsts[k])) for k in group]
        how = _read_all if keep else LazyShards
        return client.submit(run_checked, versions(), how, self.read, units, places, key=key)


@dataclass(frozen=True)
class LazyShards:
    """Shards that are read one at a time, when they are needed."""

    read: Callable[..., Shard]
    units: list[tuple[Any, ...]]
    places: list[tuple[int, int]]  # the number and the first row of each shard

    def __iter__(self) -> Iterator[Shard]:
        for unit, place in zip(self.units, self.places, strict=True):
            yield self.read(*place, *unit)


def _read_all(*what: Any) -> list[Shard]:
    return list(LazyShards(*what))


def read_file(
    recipe: Recipe,
    kind: LabelKind | None,
    number: int,
    first: int,
    path: str,
    mark: tuple[int, int],
    count: int,
) -> Shard:
    """Read the shard of a file; raise DataError if the file has changed since it was counted.

    ``kind`` is the kind of the labels in all files, if one file alone does not determine it.
    """
    data = None
    if check_file(path) == mark:
        reader = open_reader(path, ReadOptions(), recipe, labelled=True)
        reader.labels = None if kind is None else LabelReader(kind, reader.label_form)
        data = join(reader)
    if data is None or data.n_rows != count or check_file(path) != mark:
        raise DataError(f"{path} has changed while it was in use: start again.")
    return Shard(number, first, check_matrix(data.X), data.coded_labels)


def take_chunk(
    levels: Mapping[Hashable, list[Any]], number: int, first: int, X: Any, y: Any
) -> Shard:
    """The shard of chunks X and y; ``levels`` are the categories of category columns."""
    try:
        return Shard(number, first, check_matrix(X, levels), code_labels(check_labels(y)))
    except ValueError as error:
        raise DataError(f"The chunk whose first row is {first}: {error}") from None


def check_file(path: str) -> tuple[int, int]:
    """The size and the modification time of a file, which must be readable."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise ClusterError(
            f"{platform.node()} cannot read {path}: {error.strerror}. Every worker needs the "
            "folder at the same path: put it on storage that all of them share."
        ) from None
    return status.st_size, status.st_mtime_ns


def folder_files(folder: str) -> list[str]:
    """The Parquet files of a folder; DataError if the path is no folder or has no such file."""
    paths = [os.path.abspath(path) for path in parquet_files(folder)]
    if not paths:
        raise DataError(
            f"{folder} is not a folder: rows on a cluster must be a folder of Parquet files."
        )
    return paths


def folder_source(
    client: Any, folder: str, options: ReadOptions, recipe: Recipe | None
) -> ShardSource:
    """The source of a folder of Parquet files, from their footers and the first file."""
    from pyarrow.parquet import ParquetFile

    units, schemas = list[tuple[Any, ...]](), list[Any]()
    for path in folder_files(folder):
        mark, footer = check_file(path), ParquetFile(path)
        if footer.metadata.num_rows > 0:
            units.append((path, mark, footer.metadata.num_rows))
            schemas.append(footer.schema_arrow)
    if not units:
        raise DataError(f"{folder} is empty: its files have no rows.")
    recipe = recipe or _folder_recipe(client, [path for path, _, _ in units], options)
    counts, names = [count for _, _, count in units], recipe.names
    types = {_label_type(schema, recipe.label) for schema in schemas} - {None}
    read = partial(read_file, recipe, "texts" if len(types) > 1 else None)
    return ShardSource(read, units, counts, len(names), names, recipe)


def _label_type(schema: Any, label: str | None) -> str | None:
    """The type of a file's labels: numbers, truth values or texts; None if it has no labels."""
    from pyarrow import types

    if label not in schema.names:
        return None
    column = schema.field(label).type
    column = column.value_type if types.is_dictionary(column) else column
    if types.is_boolean(column):
        return "truths"
    numeric = types.is_integer(column) or types.is_floating(column) or types.is_decimal(column)
    return "numbers" if numeric else "texts"


def _folder_recipe(client: Any, paths: list[str], options: ReadOptions) -> Recipe:
    """The recipe of the features: that of the first file, with the categories of all files."""
    recipe = _file_recipe(paths[0], options)
    text = [column.name for column in recipe.columns if column.levels is not None]
    if not text:
        return recipe
    as_texts = replace(options, one_hot=tuple(text))
    recipes = client.gather(client.map(_file_recipe, paths, options=as_texts, pure=False))
    every = [column for other in recipes for column in other.columns]
    columns = []
    for column in recipe.columns:
        if column.levels is not None:
            levels = {
                x
                for as_texts in every
                if as_texts.name == column.name
                for x in as_texts.levels or ()
            }
            column = replace(column, levels=tuple(sorted(levels)))
        columns.append(column)
    return replace(recipe, columns=tuple(columns))


def _file_recipe(path: str, options: ReadOptions) -> Recipe:
    """The recipe of a file, from its first rows, or from all rows if there is text."""
    reader = open_reader(path, options, None, labelled=True)
    try:
        next(iter(reader.pieces()), None)
        return reader.recipe()
    finally:
        reader.request.source.close()


def array_source(client: Any, X: Any, y: Any) -> ShardSource:
    """The source of Dask arrays X and y, with equal chunks of rows."""
    if y is None or not hasattr(y, "chunks") or X.ndim != 2 or y.ndim != 1:
        raise TypeError("X must be a Dask array of two dimensions, and y a Dask array of labels.")
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    if np.isnan(X.shape[0]) or np.isnan(y.shape[0]):
        if X.numblocks[0] != y.numblocks[0]:
            raise ValueError(
                "X and y have chunks of unknown sizes, but not the same number of chunks."
            )
    elif X.shape[0] != y.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, but y has {y.shape[0]} labels.")
    elif X.chunks[0] != y.chunks[0]:
        y = y.rechunk({0: X.chunks[0]})
    X, y = client.persist([X, y])
    rows_, labels = (part.to_delayed().ravel().tolist() for part in (X, y))
    return _counted(client, rows_, labels, int(X.shape[1]))


def frame_source(client: Any, frame: Any, label: Any) -> ShardSource:
    """The source of a Dask data frame, whose label column is split off."""
    from dask import delayed

    if label not in frame.columns:
        raise DataError(f"The frame has no column {label!r}: pass the column of labels as label=….")
    frame = client.persist(frame)
    parts = frame.to_delayed()
    names = [name for name in frame.columns if name != label]
    X = [part[names] for part in parts]
    y = [part[label].to_numpy() for part in parts]
    levels: dict[Hashable, list[Any]] = {}
    for name in names:
        if str(frame.dtypes[name]) == "category":
            described = client.gather(
                client.compute([delayed(_category_values)(part[name]) for part in parts])
            )
            occurring = {value for _, some in described for value in some}
            # Partitions may have different categories, whose order is kept, as in memory.
            every = dict.fromkeys(value for known, _ in described for value in known)
            levels[name] = [value for value in every if value in occurring]
    wide = widened((name, levels.get(name)) for name in names).names
    return _counted(client, X, y, len(wide), wide, levels)


def _category_values(column: Any) -> tuple[list[Any], list[Any]]:
    """The categories of a column, in order, and those that occur in its rows."""
    return column.cat.categories.tolist(), column.dropna().unique().tolist()


def _counted(
    client: Any,
    X: list[Any],
    y: list[Any],
    width: int,
    names: Sequence[Hashable] | None = None,
    levels: Mapping[Hashable, list[Any]] | None = None,
) -> ShardSource:
    """The source of chunks, after the rows of each chunk are counted."""
    units: list[tuple[Any, ...]] = list(zip(client.compute(X), client.compute(y), strict=True))
    sizes = client.gather([client.submit(_chunk_sizes, *unit, pure=False) for unit in units])
    for k, (rows_, labels) in enumerate(sizes):
        if rows_ != labels:
            raise ValueError(f"Chunk {k} has {rows_} rows of X but {labels} labels.")
    counts = [rows_ for rows_, _ in sizes]
    return ShardSource(partial(take_chunk, levels or {}), units, counts, width, names)


def _chunk_sizes(X: Any, y: Any) -> tuple[int, int]:
    """The numbers of rows and of labels of a chunk."""
    return int(X.shape[0]), len(y)

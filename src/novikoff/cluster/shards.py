"""Shards: the rows of one file or chunk, where a worker has them.

A source says what shards there are and how each is read. It is sent to workers, so it holds paths
or futures, never rows.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.core.problem import Problem, pose
from novikoff.core.rows import Floats, Indices, SparseMatrix
from novikoff.core.validation import Label, check_labels, check_matrix, plain_label
from novikoff.data.errors import DataError, quoted
from novikoff.data.options import ReadOptions
from novikoff.data.recipe import Recipe
from novikoff.geometry.passes import Part

Labels = npt.NDArray[Any]


class ClusterError(OSError):
    """The cluster cannot do what is asked of it; the message says why and what to do."""


@dataclass(frozen=True)
class Setting:
    """A question about labelled rows: which label is positive, and whether there is a bias."""

    positive: Label | None
    negative: Label | None  # None: every other
    fit_intercept: bool


class ShardPart(Part):
    """Rows of a shard under the signs of a question.

    ``memo`` keeps what a rule has found out about these rows for the next pass. It may be lost at
    any time: it is worked out again.
    """

    memo: dict[object, npt.NDArray[Any]]

    def range(self, first: int, last: int) -> Part:
        """Some of the rows, by their place in this part, without a copy."""
        part = super().range(first, last)
        own = ShardPart(part.first, part.X, part.signs, part.fit_intercept)
        own.memo = self.memo
        return own


class Shard:
    """The rows first, first + 1, … of all, and the class of each; shards are numbered."""

    def __init__(self, number: int, first: int, X: Floats | SparseMatrix, y: Labels) -> None:
        self.number, self.first, self.X = number, first, X
        values, codes = np.unique(y, return_inverse=True)
        self.labels: list[Label] = [plain_label(value) for value in values.tolist()]
        self.codes = codes.astype(np.uint8 if len(values) <= 256 else np.int64)
        self.memo: dict[object, npt.NDArray[Any]] = {}
        self._problems: dict[bool, Problem] = {}

    def problem(self, fit_intercept: bool, names: Sequence[Hashable] | None = None) -> Problem:
        """The rows without signs, checked once."""
        if fit_intercept not in self._problems:
            ones = np.ones(len(self.codes), dtype=np.int8)
            posed = pose(self.X, ones, fit_intercept, names=names, first=self.first)
            self._problems[fit_intercept] = posed
        return self._problems[fit_intercept]

    def part(self, setting: Setting) -> ShardPart:
        """The rows under the signs of a question."""
        signs = self._sides([1 if label == setting.positive else -1 for label in self.labels])
        part = ShardPart(self.first, self.X, signs.astype(np.int8), setting.fit_intercept)
        part.memo = self.memo
        return part

    def classes(self, labels: Sequence[Label]) -> Indices:
        """The number of each row's label among all labels."""
        return self._sides([labels.index(label) for label in self.labels])

    def given_labels(self) -> Labels:
        """The label of each row."""
        return np.array([*self.labels, None], dtype=object)[self.codes]

    def _sides(self, values: list[int]) -> Indices:
        return np.array(values, dtype=np.int64)[self.codes]


class Source:
    """What shards there are; ``counts`` are the rows of each."""

    counts: list[int]
    width: int  # the number of columns
    names: Sequence[Hashable] | None = None

    @property
    def firsts(self) -> Indices:
        """The number of the first row of each shard."""
        return np.cumsum([0, *self.counts])[:-1]

    def submit(self, client: Any, key: str, group: Sequence[int], keep: bool) -> Any:
        """A future of the shards of a group: a list, or an iterable that reads them one by one."""
        raise NotImplementedError


@dataclass(frozen=True)
class Files(Source):
    """Parquet files that every worker can read; a file is a shard."""

    paths: list[str]
    marks: list[tuple[int, int]]  # the size and time of each
    counts: list[int]
    recipe: Recipe

    @property
    def names(self) -> Sequence[Hashable]:  # type: ignore[override]
        """The names of the features."""
        return self.recipe.names

    @property
    def width(self) -> int:  # type: ignore[override]
        """The number of features."""
        return len(self.recipe.names)

    def submit(self, client: Any, key: str, group: Sequence[int], keep: bool) -> Any:
        """A future of the shards, read by the worker that needs them."""
        own = replace(
            self,
            paths=[self.paths[k] for k in group],
            marks=[self.marks[k] for k in group],
            counts=[self.counts[k] for k in group],
        )
        places = [(k, int(self.firsts[k])) for k in group]
        return client.submit(_read_all if keep else Lazy, own, places, key=key)

    def read(self, k: int, place: tuple[int, int]) -> Shard:
        """The shard of a file, which must be what it was when it was counted."""
        from novikoff.data.reading import read

        path = self.paths[k]
        check_file(path, self.marks[k])
        data = read(path, ReadOptions(missing="refuse"), recipe=self.recipe)
        if data.y is None or len(data.y) != self.counts[k]:
            raise DataError(f"{path} has changed while it was in use: fit again.")
        check_file(path, self.marks[k])
        return Shard(*place, check_matrix(data.X), data.labels)


@dataclass(frozen=True)
class Lazy:
    """Shards that are read when they are looked at, one at a time."""

    files: Files
    places: list[tuple[int, int]]  # the number and first row of each

    def __iter__(self) -> Iterator[Shard]:
        for k, place in enumerate(self.places):
            yield self.files.read(k, place)


def _read_all(files: Files, places: list[tuple[int, int]]) -> list[Shard]:
    return list(Lazy(files, places))


@dataclass(frozen=True)
class Chunks(Source):
    """Futures of arrays X and y, chunk by chunk; ``levels`` are the categories of a frame."""

    blocks: list[tuple[Any, Any]]
    counts: list[int]
    width: int
    names: Sequence[Hashable] | None = None
    levels: dict[str, list[Any]] | None = None

    def submit(self, client: Any, key: str, group: Sequence[int], keep: bool) -> Any:
        """A future of the shards, made where the chunks are."""
        X, y = zip(*(self.blocks[k] for k in group), strict=True)
        places = [(k, int(self.firsts[k])) for k in group]
        return client.submit(_take_all, list(X), list(y), places, self.levels, key=key)


def _take_all(
    X: list[Any], y: list[Any], places: list[tuple[int, int]], levels: dict[str, list[Any]] | None
) -> list[Shard]:
    shards = []
    for rows, labels, place in zip(X, y, places, strict=True):
        try:
            matrix = check_matrix(rows if levels is None else expanded(rows, levels))
            shards.append(Shard(*place, matrix, check_labels(labels)))
        except ValueError as error:
            raise DataError(f"The chunk whose first row is {place[1]}: {error}") from None
    return shards


def expanded(frame: Any, levels: dict[str, list[Any]]) -> npt.NDArray[np.float64]:
    """A partition of a frame as numbers: each category column is one of 0 and 1 for each level."""
    columns = []
    for name in frame.columns:
        column = frame[name]
        if name in levels:
            values = column.to_numpy(dtype=object)
            columns.append(np.stack([values == level for level in levels[name]], axis=1))
        else:
            columns.append(np.asarray(check_matrix(column.to_numpy()[:, None])))
    return np.concatenate([np.empty((len(frame), 0)), *columns], axis=1)


def check_file(path: str, mark: tuple[int, int] | None = None) -> tuple[int, int]:
    """The size and time of a file, which must be these."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise ClusterError(
            f"A worker cannot read {path}: {error.strerror}. Every worker needs the folder at the "
            "same path: put it on storage that all of them share."
        ) from None
    found = status.st_size, status.st_mtime_ns
    if mark is not None and found != tuple(mark):
        raise DataError(f"{path} has changed while it was in use: fit again.")
    return found


def survey_files(client: Any, folder: str, options: ReadOptions, recipe: Recipe | None) -> Files:
    """The Parquet files of a folder, as their footers and the first of them tell."""
    from novikoff.data.cells import arrow
    from novikoff.data.on_disk import parquet_files

    if options.missing != "refuse":
        raise DataError("On a cluster missing values are refused: fill them before.")
    paths = [os.path.abspath(path) for path in parquet_files(folder)]
    if not paths:
        raise DataError(f"{folder} is no folder: rows of a cluster are a folder of Parquet files.")
    parquet = arrow("pyarrow.parquet")
    marks = [check_file(path) for path in paths]
    footers = [parquet.ParquetFile(path) for path in paths]
    counts = [footer.metadata.num_rows for footer in footers]
    used = [k for k, count in enumerate(counts) if count > 0]
    if not used:
        raise DataError(f"{folder} is empty: its files have no rows.")
    if recipe is None:
        recipe = _recipe(client, [paths[k] for k in used], options)
    taken: list[Any] = [[some[k] for k in used] for some in (paths, marks, counts)]
    return Files(taken[0], taken[1], taken[2], recipe)


def _recipe(client: Any, paths: list[str], options: ReadOptions) -> Recipe:
    """Which columns become which features: as in the first file, with the text of all."""
    from novikoff.data.reading import open_reader

    one_piece = bool(options.one_hot)
    reader = open_reader(paths[0], options, None, labelled=True, one_piece=one_piece)
    try:
        next(iter(reader.pieces()), None)
        recipe = reader.recipe()
    finally:
        reader.request.source.close()
    columns = []
    for column in recipe.columns:
        if column.levels is not None:
            found = client.gather(client.map(_values, paths, name=column.name))
            levels = sorted({str(value) for some in found for value in some})
            column = replace(column, levels=tuple(levels))
        columns.append(column)
    return replace(recipe, columns=tuple(columns))


def _values(path: str, name: str) -> list[Any]:
    """The different values of a column of text."""
    from novikoff.data.cells import arrow

    table = arrow("pyarrow.parquet").read_table(path, columns=[name])
    found = arrow("pyarrow.compute").unique(table.column(name)).to_pylist()
    if None in found:
        raise DataError(f"{path}: column {quoted(name)} has missing values.")
    return list(found)

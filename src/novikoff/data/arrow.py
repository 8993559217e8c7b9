"""Arrow, imported when it is needed, and the little of it that the readers use.

pyarrow has no types of its own; the protocols here say what is expected of it.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Protocol

import numpy as np
import numpy.typing as npt

from novikoff.data.errors import DataError
from novikoff.data.values import MISSING, is_missing, number


class Type(Protocol):
    """The type of a column."""

    @property
    def value_type(self) -> Type:
        """What a dictionary holds."""


class Cells(Protocol):
    """A column, in chunks."""

    @property
    def type(self) -> Type:
        """Its type."""

    @property
    def null_count(self) -> int:
        """How many values are missing."""

    @property
    def chunks(self) -> Sequence[Cells]:
        """Its parts."""

    def __len__(self) -> int: ...

    def slice(self, offset: int, length: int) -> Cells:
        """Some of the values."""

    def to_numpy(self) -> npt.NDArray[np.generic]:
        """The values where they lie, if none is missing."""

    def to_pylist(self) -> list[object]:
        """All values."""


class Table(Protocol):
    """Columns of one length."""

    @property
    def num_rows(self) -> int:
        """Their length."""

    def column(self, name: str) -> Cells:
        """One of them."""

    def to_batches(self) -> list[Batch]:
        """Their rows in batches, as they lie."""


class Field(Protocol):
    """What is said of a column."""

    @property
    def type(self) -> Type:
        """Its type."""


class Schema(Protocol):
    """What a table says of its columns."""

    def field(self, name: str) -> Field:
        """One of them."""

    @property
    def names(self) -> list[str]:
        """Their names."""

    @property
    def metadata(self) -> Mapping[bytes, bytes] | None:
        """What else its writer said."""


class Batch(Protocol):
    """Columns of some rows."""

    @property
    def num_rows(self) -> int:
        """How many rows."""

    @property
    def columns(self) -> list[Cells]:
        """The columns."""

    def select(self, columns: list[str]) -> Batch:
        """Some of them."""

    def slice(self, offset: int, length: int) -> Batch:
        """Some of the rows."""

    def validate(self, *, full: bool) -> None:
        """Raise if offsets lead astray."""


class Batches(Protocol):
    """A file of batches."""

    @property
    def schema_arrow(self) -> Schema:
        """Its columns."""

    @property
    def metadata(self) -> Metadata:
        """What it says of itself."""

    def iter_batches(self, *, batch_size: int, columns: list[str]) -> Iterator[Batch]:
        """Some columns, so many rows at a time."""


class Metadata(Protocol):
    """What a Parquet file says of itself."""

    @property
    def num_rows(self) -> int:
        """How many rows it has."""

    @property
    def num_row_groups(self) -> int:
        """In how many groups they are."""

    def row_group(self, number: int) -> RowGroup:
        """What it says of one."""


class RowGroup(Protocol):
    """What a Parquet file says of some of its rows."""

    @property
    def num_columns(self) -> int:
        """How many columns they have."""

    def column(self, number: int) -> ColumnChunk:
        """What it says of one."""


class ColumnChunk(Protocol):
    """What a Parquet file says of a column of some of its rows."""

    @property
    def path_in_schema(self) -> str:
        """Its name, after those of what it is part of."""

    @property
    def statistics(self) -> Statistics | None:
        """What it says of its values."""


class Statistics(Protocol):
    """What a Parquet file says of the values of a column."""

    @property
    def has_min_max(self) -> bool:
        """Whether there are these two."""

    @property
    def min(self) -> object:
        """No value is less."""

    @property
    def max(self) -> object:
        """No value is larger."""


@cache
def arrow(module: str = "pyarrow") -> ModuleType:
    """The module pyarrow, or one below it.

    Raises
    ------
    DataError
        If it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise DataError(
            "Tables are read by pyarrow, which is missing: pip install pyarrow."
        ) from None


def encode(cells: Cells, *, raw: bool) -> tuple[npt.NDArray[np.int64], list[str]]:
    """A column of any simple type as numbers into its different values, as texts, sorted.

    A missing value has the number -1. In ``raw`` text that is also what only says so, as NA.
    """
    pa, pc = arrow(), arrow("pyarrow.compute")
    # In one piece: chunks would each have a dictionary of their own.
    coded = pc.cast(_decoded(cells), pa.large_string()).combine_chunks().dictionary_encode()
    values: list[str] = coded.dictionary.to_pylist()
    codes = pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    kept = sorted(value for value in values if not (raw and is_missing(value)))
    order = {value: code for code, value in enumerate(kept)}
    table = np.array([*(order.get(value, -1) for value in values), -1], np.int64)
    return table[codes], kept


def parse_numbers(cells: Cells, decimal: str) -> Cells | None:
    """A column of raw text as float64, missing values as nulls; None if some is no number."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    texts = pc.utf8_trim(cells, characters=" \t")
    texts = pc.if_else(pc.is_in(texts, value_set=pa.array(MISSING, texts.type)), None, texts)
    if decimal != ".":
        if pc.any(pc.match_substring(texts, ".")).as_py():
            return None
        texts = pc.replace_substring(texts, decimal, ".")
    try:
        numbers: Cells = pc.cast(texts, pa.float64())
    except pa.ArrowInvalid:
        return _parse_carefully(texts)
    return numbers


def parse_truths(cells: Cells) -> Cells | None:
    """A column of raw text as 0 and 1; None if some value is neither true nor false."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    texts = pc.utf8_trim(cells, characters=" \t")
    texts = pc.if_else(pc.is_in(texts, value_set=pa.array(MISSING, texts.type)), None, texts)
    small = pc.utf8_lower(texts)
    if not pc.all(pc.is_in(small, value_set=pa.array(["true", "false", None], texts.type))).as_py():
        return None
    truths: Cells = pc.cast(pc.equal(small, "true"), pa.float64())
    return truths


def iterate(cells: Cells) -> Iterator[object]:
    """The values of a column, one chunk in memory at a time."""
    for chunk in cells.chunks:
        yield from chunk.to_pylist()


def is_text(kind: Type) -> bool:
    """Whether a type is text, also if it is in a dictionary."""
    types = arrow("pyarrow.types")
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def is_numeric(kind: Type) -> bool:
    """Whether a type is a number or a truth value."""
    types = arrow("pyarrow.types")
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_boolean(kind)
    )


def _decoded(cells: Cells) -> Cells:
    if arrow("pyarrow.types").is_dictionary(cells.type):
        decoded: Cells = arrow("pyarrow.compute").cast(cells, cells.type.value_type)
        return decoded
    return cells


def _parse_carefully(texts: Cells) -> Cells | None:
    """One by one: there may be a number that Arrow does not know as such."""
    pa = arrow()
    values: list[float | None] = []
    for text in iterate(texts):
        value = None if text is None else number(str(text))
        if value is None and text is not None:
            return None
        values.append(value)
    numbers: Cells = pa.chunked_array([pa.array(values, pa.float64())])
    return numbers

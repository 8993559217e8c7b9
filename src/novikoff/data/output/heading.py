"""What svmlight has no place for, in a comment before the rows, and back again.

The line ``# novikoff: {"names": …, "label": …, "type": …}`` is a comment to every reader of
svmlight; `restored` takes it at its word.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from novikoff.core.blocks import Coded
from novikoff.core.rows import Floats, SparseMatrix
from novikoff.data.choices import Labels
from novikoff.data.recipe import Column, Recipe

if TYPE_CHECKING:
    from novikoff.data.output.writers import Rows

_START: Final = b"# novikoff: "
_LONGEST: Final = 1 << 28
_TYPES: Final = ("int64", "float64", "bool")


def heading_of(rows: Rows) -> bytes:
    """The comment; empty where svmlight says everything by itself."""
    said: dict[str, object] = {}
    if not is_numbered(rows.recipe, rows.names):
        said["names"] = list(rows.names)
    if rows.label not in (None, "label"):
        said["label"] = rows.label
    if rows.classes.dtype.kind in "fb":
        said["type"] = rows.classes.dtype.name
    return _START + json.dumps(said).encode("ascii") + b"\n" if said else b""


def is_numbered(recipe: Recipe, names: Sequence[str]) -> bool:
    """Whether columns have the names that svmlight gives them, x1, x2, …."""
    plain = Recipe("matrix", width=len(names)).names
    return names == plain or (recipe.family == "matrix" and names == recipe.names)


def restored(rows: Rows, path: str | os.PathLike[str]) -> Rows:
    """The same rows with the names and the labels of the comment, if there is one that fits."""
    said = _read(path)
    names, label, kind = said.get("names"), said.get("label"), said.get("type", "int64")
    if not said or kind not in _TYPES or not isinstance(label, str | None):
        return rows
    classes = _typed(rows.classes, str(kind))
    if names is None:
        return Restored(rows, rows.names, label or rows.label, rows.recipe, classes)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return rows
    label = label or "label"
    if len(set(names) | {label}) != rows.n_features + 1 or "" in names:
        return rows
    columns = tuple(Column(name) for name in names)
    recipe = Recipe("table", columns, label=label, width=len(names) + 1)
    return Restored(rows, names, label, recipe, classes)


@dataclass(frozen=True)
class Restored:
    """Rows under the names they had before."""

    rows: Rows
    names: Sequence[str]
    label: str | None
    recipe: Recipe
    classes: Labels

    @property
    def source(self) -> str:
        """The name of the file."""
        return self.rows.source

    @property
    def n_rows(self) -> int | None:
        """How many rows there are."""
        return self.rows.n_rows

    @property
    def n_features(self) -> int:
        """How many columns there are."""
        return self.rows.n_features

    @property
    def notes(self) -> list[str]:
        """What was decided."""
        return [*self.rows.notes, "names are those of the comment before the rows"]

    @property
    def dropped(self) -> npt.NDArray[np.int64]:
        """The rows that are left out."""
        return self.rows.dropped

    @property
    def sparse(self) -> bool:
        """Whether the blocks are CSR arrays."""
        return self.rows.sparse

    def __iter__(self) -> Iterator[tuple[Floats | SparseMatrix, Labels]]:
        """Blocks of rows and their labels."""
        for block in self.coded():
            yield block.X, self.classes[block.codes]

    def coded(self) -> Iterator[Coded]:
        """The blocks with codes in place of labels."""
        return self.rows.coded()


def _typed(classes: Labels, kind: str) -> Labels:
    """Integers as the type that they had; what they cannot be stays as it is."""
    if classes.dtype.kind != "i":
        return classes
    if kind == "bool" and set(classes.tolist()) <= {0, 1}:
        return classes.astype(np.bool_)
    if kind == "float64" and (classes.astype(np.float64).astype(np.int64) == classes).all():
        return classes.astype(np.float64)
    return classes


def _read(path: str | os.PathLike[str]) -> dict[str, object]:
    try:
        with open(path, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if packed else open(path, "rb") as text:
            if text.read(len(_START)) != _START:
                return {}
            said = json.loads(text.readline(_LONGEST))
    except (OSError, EOFError, ValueError, RecursionError):  # a comment like any other
        return {}
    return said if isinstance(said, dict) else {}

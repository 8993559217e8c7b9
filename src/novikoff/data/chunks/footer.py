"""What stands at the end of a block cache: everything about its blocks but their bytes.

A cache is a head of 64 bytes, the blocks, the numbers of dropped rows, and a footer in JSON with
its SHA-256, its length and the magic bytes again. Blocks begin at multiples of 64 and follow one
another without gaps: where each array lies follows from the counts, and is not to be believed.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from novikoff.data.choices import Labels
from novikoff.data.errors import DataError
from novikoff.data.recipe import Recipe

VERSION = 1
MAGIC = b"novikoff\r\n\x1ablk\0\1"
LINE = 64
HEAD = MAGIC.ljust(LINE, b"\0")
TAIL = 32 + 8 + len(MAGIC)

_DTYPES = {"float32": np.dtype("<f4"), "float64": np.dtype("<f8")}
_INDEX_TYPES = {4: np.dtype("<i4"), 8: np.dtype("<i8")}
_AGAIN = "make it again from its source."


def padded(size: int) -> int:
    """The next multiple of a cache line.

    >>> padded(0), padded(1), padded(64)
    (0, 64, 64)
    """
    return -(-size // LINE) * LINE


@dataclass(frozen=True)
class Block:
    """Facts of a block: where it lies, how large it is, and the checksums of its two parts."""

    offset: int
    n: int  # rows
    entries: int  # stored numbers
    index: int  # bytes of an index; 0 where the rows are dense
    radius: float
    longest: int
    rows: str
    codes: str

    def lengths(self, itemsize: int) -> list[int]:
        """Bytes of its arrays in order: (indptr, indices,) values, codes."""
        pointers = [self.index * (self.n + 1), self.index * self.entries] if self.index else []
        return [*pointers, itemsize * self.entries, 4 * self.n]

    def size(self, itemsize: int) -> int:
        """All its bytes, filled up to cache lines."""
        return sum(map(padded, self.lengths(itemsize)))

    @property
    def index_type(self) -> np.dtype[np.int32] | np.dtype[np.int64]:
        """The type of its indices."""
        return cast("np.dtype[np.int32] | np.dtype[np.int64]", _INDEX_TYPES[self.index])


@dataclass(frozen=True)
class Footer:
    """What a cache says of itself."""

    kind: Literal["dense", "csr"]
    dtype: np.dtype[np.float32] | np.dtype[np.float64]
    width: int
    blocks: tuple[Block, ...]
    classes: Labels
    names: list[str] | None  # None: those of the recipe
    recipe: Recipe
    label: str | None
    notes: list[str]
    key: Mapping[str, object] | None
    dropped: int
    dropped_sha256: str

    def to_bytes(self) -> bytes:
        """The footer with its checksum, its length and the magic bytes."""
        body = json.dumps(
            {
                "version": VERSION,
                "kind": self.kind,
                "dtype": self.dtype.name,
                "width": self.width,
                "rows": sum(block.n for block in self.blocks),
                "blocks": [_block_to_json(block) for block in self.blocks],
                "classes": {
                    "type": "str" if self.classes.dtype.kind == "U" else self.classes.dtype.name,
                    "values": self.classes.tolist(),
                },
                "names": self.names,
                "recipe": self.recipe.to_json(),
                "label": self.label,
                "notes": self.notes,
                "source": self.key,
                "dropped": self.dropped,
                "dropped_sha256": self.dropped_sha256,
            }
        ).encode("ascii")
        return body + hashlib.sha256(body).digest() + len(body).to_bytes(8, "little") + MAGIC


def read_footer(view: memoryview, name: str) -> tuple[Footer, int]:
    """The footer of a cache, and where it begins.

    Raises
    ------
    DataError
        If it is not a cache, or its footer is damaged or contradicts itself.
    """
    if bytes(view[:LINE]) != HEAD:
        raise DataError(f"{name} is not a block cache: it does not begin as one.")
    length = int.from_bytes(view[-TAIL + 32 : -TAIL + 40], "little")
    start = len(view) - TAIL - length
    if len(view) < LINE + TAIL or bytes(view[-len(MAGIC) :]) != MAGIC or start < LINE:
        raise DataError(f"{name} is cut off: it does not end as a block cache does; {_AGAIN}")
    body = bytes(view[start : start + length])
    if hashlib.sha256(body).digest() != bytes(view[start + length : start + length + 32]):
        raise DataError(f"{name} is damaged: its footer does not have its checksum; {_AGAIN}")
    try:
        said = json.loads(body)
        if isinstance(said, dict) and said.get("version", VERSION) != VERSION:
            raise DataError(
                f"{name} is a block cache of version {said['version']}, and this program reads "
                f"version {VERSION}; {_AGAIN}"
            )
        footer = _from_json(said)
        _check_places(footer, start)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        if isinstance(error, DataError) and str(error).startswith(name):
            raise
        reason = (
            str(error).rstrip(".")[:200] if isinstance(error, DataError) else "a fact is missing"
        )
        raise DataError(f"{name} is no sound block cache because {reason}; {_AGAIN}") from None
    return footer, start


def width_of(recipe: Recipe) -> int:
    """How many features a recipe makes."""
    return recipe.width if recipe.family == "matrix" else len(recipe.names)


def _block_to_json(block: Block) -> dict[str, object]:
    return {
        "offset": block.offset,
        "rows": block.n,
        "entries": block.entries,
        "index": block.index,
        "radius": block.radius.hex(),
        "longest": block.longest,
        "sha256": [block.rows, block.codes],
    }


def _from_json(said: Mapping[str, object]) -> Footer:
    kind = said["kind"]
    dtype = _DTYPES[_text(said["dtype"])]
    if kind != "dense" and kind != "csr":
        raise DataError("it holds neither dense nor sparse rows")
    blocks = tuple(_block(block) for block in _list(said["blocks"]))
    if _count(said["rows"]) != sum(block.n for block in blocks):
        raise DataError("its blocks have another number of rows than it says")
    names, label, key = said["names"], said["label"], said["source"]
    if key is not None and not isinstance(key, dict):
        raise TypeError
    recipe = said["recipe"]
    if not isinstance(recipe, dict):
        raise TypeError
    footer = Footer(
        kind="dense" if kind == "dense" else "csr",
        dtype=cast("np.dtype[np.float32] | np.dtype[np.float64]", dtype),
        width=_count(said["width"]),
        blocks=blocks,
        classes=_classes(said["classes"]),
        names=None if names is None else [_text(name) for name in _list(names)],
        recipe=Recipe.from_json(recipe),
        label=None if label is None else _text(label),
        notes=[_text(note) for note in _list(said["notes"])],
        key=key,
        dropped=_count(said["dropped"]),
        dropped_sha256=_text(said["dropped_sha256"]),
    )
    n_names = width_of(footer.recipe) if footer.names is None else len(footer.names)
    if footer.width != n_names or not 0 < footer.width < 2**31:
        raise DataError("its columns and their names do not match")
    return footer


def _block(said: object) -> Block:
    if not isinstance(said, dict):
        raise TypeError
    radius, longest, index = _text(said["radius"]), _count(said["longest"]), _count(said["index"])
    size = float.fromhex(radius)
    rows, codes = (_text(digest) for digest in _list(said["sha256"]))
    n, entries = _count(said["rows"]), _count(said["entries"])
    if not size >= 0.0 or index not in (0, 4, 8) or not n or n >= 2**31:
        raise DataError("a block has facts that cannot be")
    return Block(_count(said["offset"]), n, entries, index, size, longest, rows, codes)


def _check_places(footer: Footer, end: int) -> None:
    """The blocks follow one another and fill the file up to the footer."""
    at, itemsize = LINE, footer.dtype.itemsize
    for block in footer.blocks:
        if block.offset != at or (block.index > 0) != (footer.kind == "csr"):
            raise DataError("its blocks are not where they should be")
        if footer.kind == "dense" and block.entries != block.n * footer.width:
            raise DataError("a block has not as many numbers as rows and columns")
        at += block.size(itemsize)
    if at + padded(8 * footer.dropped) != end:
        raise DataError("its blocks do not fill it")


def _classes(said: object) -> Labels:
    if not isinstance(said, dict):
        raise TypeError
    values, kind = _list(said["values"]), said["type"]
    expected = {"int64": int, "float64": float, "bool": bool, "str": str}[_text(kind)]
    if not values or any(type(value) is not expected for value in values):
        raise DataError("its classes are not of their type")
    if kind == "float64" and not all(math.isfinite(cast(float, value)) for value in values):
        raise DataError("its classes are not finite")
    classes: Labels = np.array(values, dtype=expected if kind == "str" else _text(kind))
    if len(np.unique(classes)) != len(values) or (np.unique(classes) != classes).any():
        raise DataError("its classes are not sorted")
    return classes


def _count(value: object) -> int:
    if type(value) is not int or value < 0:
        raise TypeError
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _list(value: object) -> Sequence[object]:
    if not isinstance(value, list):
        raise TypeError
    return value

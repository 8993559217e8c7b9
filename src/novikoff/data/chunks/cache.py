"""A cache of blocks on disk: rows as the kernels want them, mapped into memory, checksummed.

The first pass over a file of text costs its parsing; with a cache, every later one costs no
more than the memory's speed. `CacheWriter` makes one, `open_cache` goes through it, and
`source_key` tells whether it still belongs to its source.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from novikoff.core.drafts import Draft
from novikoff.core.rows import Floats, SparseMatrix
from novikoff.data.choices import Choices, Labels
from novikoff.data.chunks.cached import CachedBlocks, open_cache
from novikoff.data.chunks.footer import HEAD, LINE, VERSION, Block, Footer, padded, width_of
from novikoff.data.errors import DataError
from novikoff.data.recipe import Recipe

__all__ = ["CacheWriter", "CachedBlocks", "cache_path", "open_cache", "source_key"]

_LONGEST_NAME = 150  # bytes of the source's name in that of its cache
_STRIDE = 1 << 22  # codes that are renumbered at a time


def source_key(path: str | os.PathLike[str], choices: Choices) -> dict[str, object]:
    """What a cache must have in common with its source: name, size, time and reading choices.

    Raises
    ------
    DataError
        If there is no such file.
    """
    name = os.path.abspath(path)
    try:
        status = os.stat(name)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"{name} cannot be read: {reason}.") from None
    return {
        **_identity(name, choices),
        "size": status.st_size,
        "modified": status.st_mtime_ns,
    }


def cache_path(
    folder: str | os.PathLike[str], source: str | os.PathLike[str], choices: Choices
) -> Path:
    """Where the cache of a source lies in a folder; a newer one takes the place of an older.

    Examples
    --------
    >>> one = cache_path("cache", "data/rows.csv", Choices())
    >>> two = cache_path("cache", "data/rows.csv", Choices(label="y"))
    >>> one.name.startswith("rows.csv-"), one == two
    (True, False)
    """
    identity = json.dumps(_identity(os.path.abspath(source), choices), sort_keys=True)
    digest = hashlib.sha256(identity.encode("ascii")).hexdigest()
    name = os.path.basename(os.path.abspath(source))
    while len(os.fsencode(name)) > _LONGEST_NAME:
        name = name[:-1]
    return Path(folder) / f"{name}-{digest[:16]}.blocks"


def _identity(name: str, choices: Choices) -> dict[str, object]:
    asked = json.loads(json.dumps(asdict(choices)))  # tuples become lists, as they come back
    return {"version": VERSION, "name": name, "choices": asked}


class CacheWriter:
    """Write blocks one after the other; `finish` makes them a file, an error leaves none.

    Parameters
    ----------
    path : path
        The name that the cache gets.
    force : bool
        Whether a file that is there by then is replaced.

    Examples
    --------
    >>> import tempfile
    >>> from novikoff.data.recipe import Column
    >>> recipe = Recipe("table", (Column("size"),), label="kind", width=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rows.blocks"
    ...     with CacheWriter(path) as writer:
    ...         writer.add(np.array([[1.0], [2.0]]), np.array([0, 1]))
    ...         writer.add(np.array([[3.0]]), np.array([0]))
    ...         writer.finish(classes=np.array(["a", "b"]), order=np.array([1, 0]),
    ...                       names=["size"], recipe=recipe, label="kind")
    ...     for X, y in open_cache(path):
    ...         print(X.tolist(), y.tolist())
    [[1.0], [2.0]] ['b', 'a']
    [[3.0]] ['b']
    """

    def __init__(self, path: str | os.PathLike[str], *, force: bool = True) -> None:
        if sys.byteorder != "little":
            raise DataError("A block cache can only be written on a little-endian machine.")
        self._draft = Draft(path, force=force)
        self._blocks: list[Block] = []
        self._dtype: np.dtype[np.float32] | np.dtype[np.float64] | None = None
        self._sparse = False
        self._width = 0
        self._highest = -1
        self._at = LINE
        try:
            self._put(HEAD)
        except BaseException:
            self._draft.discard()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._draft.discard()

    def add(self, X: Floats | SparseMatrix, codes: npt.NDArray[np.integer]) -> None:
        """Append a block as it is; one without rows is passed over.

        Parameters
        ----------
        X : C-ordered float32 or float64 array, or canonical CSR array
            Finite, and of the same storage and type in each block. The widths of CSR blocks
            may differ: the cache has the largest.
        codes : array of int
            The class of each row, perhaps provisional, from 0.

        Raises
        ------
        ValueError
            If the block does not match the earlier ones, or is not finite.
        """
        from novikoff.core.problem import measured

        if len(codes) == 0:
            return
        self._match(X, codes)
        own = np.ascontiguousarray(codes, dtype=np.int32)
        block = measured(X, own)
        if isinstance(X, np.ndarray):
            parts: list[npt.NDArray[np.generic]] = [np.ascontiguousarray(X)]
        else:
            kind = X.indices.dtype
            pointers = np.asarray(X.indptr, dtype=kind)
            parts = [pointers, X.indices[: X.nnz], X.data[: X.nnz]]
        facts = Block(
            offset=self._at,
            n=len(own),
            entries=int(parts[-1].size),
            index=0 if isinstance(X, np.ndarray) else parts[0].itemsize,
            radius=block.radius,
            longest=block.longest,
            rows=self._append(parts),
            codes=self._append([own]),
        )
        self._highest = max(self._highest, int(own.max()))
        self._blocks.append(facts)
        self._at += facts.size(parts[-1].itemsize)

    def finish(
        self,
        *,
        classes: Labels,
        names: Sequence[str],
        recipe: Recipe,
        label: str | None,
        notes: Sequence[str] = (),
        source_key: Mapping[str, object] | None = None,
        order: npt.NDArray[np.integer] | None = None,
        dropped: Sequence[int] | npt.NDArray[np.integer] | None = None,
    ) -> None:
        """Say what the blocks are, and give the file its name.

        Parameters
        ----------
        classes : array
            The labels, sorted; the final codes number them.
        names, recipe, label, notes
            As in a `Dataset`.
        source_key : dict, optional
            What `source_key` says of the source.
        order : array of int, optional
            The final code of each provisional one, for which the codes on disk are changed.
        dropped : array of int, optional
            The numbers of the source's rows that are left out, counted from 1.

        Raises
        ------
        ValueError
            If there are no blocks, or they do not match what is said of them.
        """
        if self._dtype is None:
            raise ValueError("A block cache needs at least one row.")
        width = max(self._width, len(names)) if self._sparse else self._width
        if width != len(names):
            raise ValueError(f"There are {len(names)} names for {width} columns.")
        if len(np.unique(classes)) < len(classes) or (np.unique(classes) != classes).any():
            raise ValueError("The classes of a cache must be sorted, and each be there once.")
        self._renumber(order, len(classes))
        gone = np.asarray([] if dropped is None else dropped, dtype=np.int64)
        same = width_of(recipe) == width and _same(recipe.names, names)
        footer = Footer(
            kind="csr" if self._sparse else "dense",
            dtype=self._dtype,
            width=width,
            blocks=tuple(self._blocks),
            classes=classes,
            names=None if same else list(names),
            recipe=recipe,
            label=label,
            notes=list(notes),
            key=None if source_key is None else dict(source_key),
            dropped=len(gone),
            dropped_sha256=self._append([gone]),
        )
        self._put(footer.to_bytes())
        self._draft.seal()

    def _match(self, X: Floats | SparseMatrix, codes: npt.NDArray[np.integer]) -> None:
        sparse, width = not isinstance(X, np.ndarray), int(X.shape[1])
        if X.dtype not in (np.float32, np.float64):
            raise ValueError(f"A block of {X.dtype} cannot be cached: float32 or float64 can.")
        if X.shape[0] != len(codes) or codes.min() < 0:
            raise ValueError(f"{X.shape[0]} rows need as many codes from 0, not {len(codes)}.")
        if self._dtype is None:
            self._dtype, self._sparse, self._width = X.dtype, sparse, width
        if X.dtype != self._dtype or sparse != self._sparse:
            raise ValueError("The blocks of a cache have one storage and one type.")
        if width != self._width and not sparse:
            raise ValueError(f"A block has {width} columns, but the first has {self._width}.")
        if not isinstance(X, np.ndarray) and not X.has_canonical_format:
            raise ValueError("A block has indices that do not ascend, or twice the same one.")
        self._width = max(self._width, width)

    def _renumber(self, order: npt.NDArray[np.integer] | None, n_classes: int) -> None:
        table = np.arange(n_classes) if order is None else np.asarray(order)
        if self._highest >= len(table) or table.min() < 0 or table.max() >= n_classes:
            raise ValueError(f"There are codes that none of the {n_classes} classes belongs to.")
        if (table == np.arange(len(table))).all():
            return
        table = table.astype(np.int32)
        file = self._draft.file
        with self._draft.saying():
            for k, block in enumerate(self._blocks):
                *rows, codes = block.lengths(self._itemsize)
                at, digest = block.offset + sum(map(padded, rows)), hashlib.sha256()
                for begin in range(at, at + codes, 4 * _STRIDE):
                    file.seek(begin)
                    raw = file.read(min(4 * _STRIDE, at + codes - begin))
                    changed = table[np.frombuffer(raw, dtype="<i4")]
                    file.seek(begin)
                    file.write(changed.data)
                    digest.update(changed.data)
                digest.update(bytes(padded(codes) - codes))
                self._blocks[k] = replace(block, codes=digest.hexdigest())
            file.seek(0, os.SEEK_END)

    @property
    def _itemsize(self) -> int:
        return 8 if self._dtype is None else self._dtype.itemsize

    def _append(self, parts: Sequence[npt.NDArray[np.generic]]) -> str:
        """Write arrays, each up to a full line, and return the checksum of them all."""
        digest = hashlib.sha256()
        for part in parts:
            content = np.ascontiguousarray(part).reshape(-1).view(np.uint8).data
            for piece in (content, bytes(padded(part.nbytes) - part.nbytes)):
                self._put(piece)
                digest.update(piece)
        return digest.hexdigest()

    def _put(self, piece: bytes | memoryview) -> None:
        with self._draft.saying():
            self._draft.file.write(piece)


def _same(one: Sequence[str], other: Sequence[str]) -> bool:
    return one is other or (len(one) == len(other) and (one == other or list(one) == list(other)))

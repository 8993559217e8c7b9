"""The files of the benchmarks of reading, each in the form that its reader wants.

They go into a temporary folder, or into that which ``NOVIKOFF_BENCHMARK_DATA`` names, where the
next run finds them again.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.data import MARGIN, SEED, Labels, Matrix, with_noise

KEPT = "NOVIKOFF_BENCHMARK_DATA"
_PIECE = 100_000  # rows that are made at once
_DECIMALS = 7


@contextmanager
def folder() -> Iterator[Path]:
    """Where files go: a folder that is removed afterwards, or one that stays."""
    kept = os.environ.get(KEPT)
    if kept is not None:
        Path(kept).mkdir(parents=True, exist_ok=True)
        yield Path(kept)
        return
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def svmlight(path: Path, X: Matrix, y: Labels) -> Path:
    """Rows with labels −1 and 1, as scikit-learn writes them."""
    dump = import_module("sklearn.datasets").dump_svmlight_file
    return _written(path, lambda target: dump(X, 2 * y - 1, str(target)))


def csv(path: Path, n: int, d: int) -> Path:
    """Gaussian rows as decimals of some ten characters, with a header and the label last."""
    module = import_module("pyarrow.csv")
    options = module.WriteOptions(quoting_header="none")

    def write(target: Path) -> None:
        schema = _schema(d, "float64")
        with module.CSVWriter(target, schema, write_options=options) as writer:
            for X, y in gaussian(n, d):
                writer.write(_batch(np.round(X.astype(np.float64), _DECIMALS), y, schema))

    return _written(path, write)


def parquet(path: Path, n: int, d: int, dtype: str) -> Path:
    """Gaussian rows, a column for each feature, and the label."""
    module = import_module("pyarrow.parquet")

    def write(target: Path) -> None:
        schema = _schema(d, dtype)
        with module.ParquetWriter(target, schema) as writer:
            for X, y in gaussian(n, d, 1 << 20):
                writer.write(_batch(X.astype(dtype, copy=False), y, schema))

    return _written(path, write)


def vowpal_wabbit(path: Path, source: Path) -> Path:
    """The rows of an svmlight file, or of one that `csv` wrote, as VW wants them."""

    def write(target: Path) -> None:
        with source.open("rb") as lines, target.open("wb") as out:
            if source.suffix == ".svm":
                out.writelines(line.replace(b" ", b" | ", 1) for line in lines)
                return
            width = next(lines).count(b",")
            form = b"%s |" + b"".join(b" %d:%%s" % j for j in range(width)) + b"\n"
            for line in lines:
                *values, label = line.rstrip().split(b",")
                out.write(form % (b"1" if label == b"1" else b"-1", *values))

    return _written(path, write)


def first_lines(path: Path, source: Path, count: int) -> Path:
    """The beginning of a file."""

    def write(target: Path) -> None:
        with source.open("rb") as lines, target.open("wb") as out:
            out.writelines(line for line, _ in zip(lines, range(count), strict=False))

    return _written(path, write)


def gaussian(
    n: int, d: int, size: int = _PIECE
) -> Iterator[tuple[npt.NDArray[np.float32], Labels]]:
    """Gaussian rows in pieces: two classes apart by a margin, but for a share of the labels.

    Examples
    --------
    >>> [X.shape for X, y in gaussian(250, 3, size=100)]
    [(100, 3), (100, 3), (50, 3)]
    """
    rng = np.random.default_rng(SEED)
    for first in range(0, n, size):
        X, y = _apart(min(size, n - first), d, rng)
        yield X, with_noise(y, 2, rng)


def unseen(n: int, d: int) -> tuple[npt.NDArray[np.float32], Labels]:
    """More such rows, all of them with their true labels."""
    return _apart(n, d, np.random.default_rng(SEED + 1))


def _apart(n: int, d: int, rng: np.random.Generator) -> tuple[npt.NDArray[np.float32], Labels]:
    w = np.random.default_rng(SEED).standard_normal(d, dtype=np.float32)
    w /= np.linalg.norm(w)
    X = rng.standard_normal((n, d), dtype=np.float32)
    y = (X @ w > 0).astype(np.int64)
    X += np.outer((2 * y - 1) * np.float32(MARGIN), w)
    return X, y


def _schema(d: int, dtype: str) -> object:
    pa = import_module("pyarrow")
    kind = pa.float32() if dtype == "float32" else pa.float64()
    return pa.schema([*((f"x{j}", kind) for j in range(d)), ("label", pa.int64())])


def _batch(X: npt.NDArray[np.floating], y: Labels, schema: object) -> object:
    pa = import_module("pyarrow")
    columns = [pa.array(column) for column in np.ascontiguousarray(X.T)]
    return pa.table([*columns, pa.array(y)], schema=schema)


def _written(path: Path, write: Callable[[Path], object]) -> Path:
    """The file, written if it is not there; half a file never gets its name."""
    if not path.exists():
        draft = path.with_name(path.name + ".draft")
        write(draft)
        draft.rename(path)
    return path

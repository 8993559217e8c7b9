"""The data of the benchmarks: random data with planted rules and noise, real data, and files.

Files go into a temporary folder, or into the one that ``NOVIKOFF_BENCHMARK_DATA`` names, where
the next run finds them again.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pa_csv
import scipy.sparse as sp
from sklearn import datasets
from tests.real_data import DATA, MORE

Matrix: TypeAlias = Any  # an array of float32 or float64, or a CSR array
Labels: TypeAlias = npt.NDArray[np.int64]

NOISE = 0.05  # the share of flipped labels, so that no run ends early; test labels are true
MARGIN = 0.1  # the distance of dense rows from the planted plane
UNCLEAR = 0.3  # the share of sparse rows, nearest to a change of label, that is left out
TELLING = 0.05  # the share of words that speak for a class
PIECE = 100_000  # rows made at once
SEED = 1962


class Split(NamedTuple):
    """Rows to learn from, with noise in the labels, and rows to test on, without."""

    X: Matrix
    y: Labels
    X_test: Matrix
    y_test: Labels


def embedded(n: int, d: int, k: int) -> tuple[npt.NDArray[np.float32], Labels]:
    """Rows about k centres, as embeddings are, in single precision; 3 % of the labels are wrong."""
    rng = np.random.default_rng(SEED)
    centres, y = rng.standard_normal((k, d)).astype(np.float32), rng.integers(k, size=n)
    X = 0.35 * centres[y] + rng.standard_normal((n, d)).astype(np.float32)
    return X.astype(np.float32), with_noise(y, k, rng, 0.03)


def quadratic(n: int, d: int, noise: float) -> tuple[Matrix, Any]:
    """Unit rows whose label, ±1, a quadratic form decides; a share of the labels is flipped."""
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    k = max(1, d // 10)
    y = np.where((X[:, :k] ** 2).sum(axis=1) > (X[:, k : 2 * k] ** 2).sum(axis=1), 1.0, -1.0)
    return X, y * np.where(rng.random(n) < noise, -1.0, 1.0)


def tall(n: int, d: int) -> tuple[npt.NDArray[np.float64], Labels]:
    """Many rows of few columns about a plane, a tenth of the labels wrong."""
    rng = np.random.default_rng(SEED)
    X, w = rng.standard_normal((n, d)), rng.standard_normal(d)
    y = (X @ w + 0.3 * rng.standard_normal(n) > 0.0).astype(np.int64)
    return X, with_noise(y, 2, rng, 0.1)


@lru_cache(maxsize=1)
def dense(n: int, d: int) -> Split:
    """Gaussian rows, two classes apart by a margin; kept for the next case."""
    X = np.empty((n, d))
    y = np.empty(n, dtype=np.int64)
    for first, (rows, labels) in zip(range(0, n, PIECE), gaussian(n, d), strict=True):
        X[first : first + PIECE], y[first : first + PIECE] = rows, labels
    return Split(X, y, *unseen(max(100, n // 20), d))


def gaussian(n: int, d: int) -> Iterator[tuple[npt.NDArray[np.float64], Labels]]:
    """Gaussian rows in pieces: two classes apart by a margin, but for a share of the labels.

    Examples
    --------
    >>> [X.shape for X, y in gaussian(PIECE + 50, 3)]
    [(100000, 3), (50, 3)]
    """
    rng = np.random.default_rng(SEED)
    for first in range(0, n, PIECE):
        X, y = _apart(min(PIECE, n - first), d, rng)
        yield X, with_noise(y, 2, rng)


def unseen(n: int, d: int) -> tuple[npt.NDArray[np.float64], Labels]:
    """More rows of the same distribution, all with their true labels."""
    return _apart(n, d, np.random.default_rng(SEED + 1))


def _apart(n: int, d: int, rng: np.random.Generator) -> tuple[npt.NDArray[np.float64], Labels]:
    w = np.random.default_rng(SEED).standard_normal(d)
    w /= np.linalg.norm(w)
    X = rng.standard_normal((n, d))
    y = (X @ w > 0).astype(np.int64)
    return np.round(X + np.outer((2 * y - 1) * MARGIN, w), 7), y


def with_noise(y: Labels, n_classes: int, rng: np.random.Generator, share: float = NOISE) -> Labels:
    """The labels, a share of them moved to another class."""
    moved = rng.random(len(y)) < share
    return np.where(moved, (y + rng.integers(1, n_classes, len(y))) % n_classes, y)


@lru_cache(maxsize=1)
def sparse(n: int, d: int, nonzeros: int, n_classes: int = 2, dtype: str = "float64") -> Split:
    """tf-idf rows of texts whose words follow Zipf's law; kept for the next case.

    A text is drawn word by word, a word with probability ∝ 1/rank, ranks spread over the
    columns at random; its length is such that a row has about ``nonzeros`` entries. Some
    words each speak for one class, and the class with the most weight is the label.

    Examples
    --------
    >>> round(sparse(500, 400, 20).X.nnz / 500)
    20
    """
    rng = np.random.default_rng(SEED)
    n_test = max(100, n // 20)
    X = _texts(int((n + n_test) / (1 - UNCLEAR)) + 2, d, nonzeros, rng)
    weights = rng.exponential(size=d) * (rng.random(d) < TELLING)
    planted = np.zeros((d, n_classes))
    planted[np.arange(d), rng.integers(n_classes, size=d)] = weights
    scores = X @ planted
    top = np.partition(scores, -2, axis=1)
    clear = top[:, -1] - top[:, -2]
    kept = np.flatnonzero(clear >= np.quantile(clear, UNCLEAR))[: n + n_test]
    X, y = sp.csr_array(X[kept]), scores[kept].argmax(axis=1)
    X.data = X.data.astype(dtype)
    return Split(X[:n], with_noise(y[:n], n_classes, rng), X[n:], y[n:])


def _texts(n: int, d: int, nonzeros: int, rng: np.random.Generator) -> sp.csr_array:
    p = 1.0 / np.arange(1, d + 1)
    p /= p.sum()
    length = nonzeros
    while (1.0 - (1.0 - p) ** length).sum() < nonzeros:  # distinct words expected in a text
        length += 1
    ranks = np.searchsorted(np.cumsum(p), rng.random((n, length)) * (1.0 - 1e-12))
    words = np.sort(rng.permutation(d).astype(np.int32)[ranks], axis=1)
    first = np.ones(words.shape, dtype=np.bool_)
    first[:, 1:] = words[:, 1:] != words[:, :-1]
    starts = np.flatnonzero(first)
    columns = words.ravel()[starts]
    frequency = np.diff(starts, append=words.size)
    rarity = np.log((1.0 + n) / (1.0 + np.bincount(columns, minlength=d))) + 1.0
    values = (1.0 + np.log(frequency)) * rarity[columns]
    per_row = first.sum(axis=1)
    indptr = np.concatenate(([0], np.cumsum(per_row))).astype(np.int32)
    values /= np.repeat(np.sqrt(np.add.reduceat(values**2, indptr[:-1])), per_row)
    return sp.csr_array((values.astype(np.float32), columns, indptr), shape=(n, d))


@lru_cache(maxsize=1)
def unit_rows(n: int, p: int, margin: float) -> tuple[npt.NDArray[np.float64], Labels]:
    """Rows of length 1 on the two sides of a plane through the origin, labelled ±1.

    Gaussian rows are scaled to length 1; rows nearer to the plane than the margin are drawn again.

    Examples
    --------
    >>> X, y = unit_rows(1_000, 3, 0.05)
    >>> bool(np.allclose(np.linalg.norm(X, axis=1), 1.0)), sorted(set(y.tolist()))
    (True, [-1, 1])
    """
    rng = np.random.default_rng(SEED)
    w = rng.standard_normal(p)
    w /= np.linalg.norm(w)
    X, y, filled = np.empty((n, p)), np.empty(n, dtype=np.int64), 0
    while filled < n:
        piece = rng.standard_normal((10_000, p))
        piece /= np.linalg.norm(piece, axis=1)[:, None]
        side = piece @ w
        kept = np.flatnonzero(np.abs(side) >= margin)[: n - filled]
        part = slice(filled, filled + len(kept))
        X[part], y[part] = piece[kept], np.where(side[kept] > 0.0, 1, -1)
        filled += len(kept)
    return X, y


def flipped(y: Labels, k: int) -> Labels:
    """The labels, k of them, chosen at random, with the other sign."""
    out = y.copy()
    out[np.random.default_rng(SEED).choice(len(y), k, replace=False)] *= -1
    return out


def whole_sets(names: tuple[str, ...]) -> Iterator[tuple[str, Matrix, npt.NDArray[Any]]]:
    """Name, rows and labels of files or sets of scikit-learn.

    The files are those of the tests (`tests.real_data`); files that are not there are left out.
    """
    for name in names:
        if name.endswith((".csv", ".csv.gz")):
            path = real_file(name)
            if path is not None:
                yield name, *_read_csv(path)
        else:
            yield name, *getattr(datasets, f"load_{name}")(return_X_y=True)


def real_sets(names: tuple[str, ...]) -> Iterator[tuple[str, Matrix, Labels]]:
    """Name, rows and 0/1 labels of each class against the rest, of the `whole_sets`."""
    for name, X, y in whole_sets(names):
        labels = np.unique(y)
        for label in labels[-1:] if len(labels) == 2 else labels:
            title = name if len(labels) == 2 else f"{name} {label}"
            yield title, X, (y == label).astype(np.int64)


def real_file(name: str) -> Path | None:
    """The path of a file of real data; None if it is not there."""
    return next((folder / name for folder in (DATA, MORE) if (folder / name).exists()), None)


def _read_csv(path: Path) -> tuple[Matrix, npt.NDArray[np.str_]]:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    header, *lines = csv.reader(io.StringIO(text))
    at = next(j for j, name in enumerate(header) if name in ("type", "classes", "Class"))
    numbers = [[float(cell) for j, cell in enumerate(line) if j != at] for line in lines]
    return np.array(numbers), np.array([line[at] for line in lines])


# Files


@contextmanager
def folder() -> Iterator[Path]:
    """The folder of the files: removed afterwards, or one that stays."""
    kept = os.environ.get("NOVIKOFF_BENCHMARK_DATA")
    if kept is not None:
        Path(kept).mkdir(parents=True, exist_ok=True)
        yield Path(kept)
        return
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def svmlight_file(path: Path, X: Matrix, y: Labels) -> Path:
    """Rows with labels −1 and 1, as scikit-learn writes them."""
    return _written(path, lambda at: datasets.dump_svmlight_file(X, 2 * y - 1, str(at)))


def csv_file(path: Path, n: int, d: int) -> Path:
    """Gaussian rows as decimals of some ten characters, with a header and the label last."""
    names = [f"x{j}" for j in range(d)]
    schema = pa.schema([*((name, pa.float64()) for name in names), ("label", pa.int64())])

    def write(target: Path) -> None:
        options = pa_csv.WriteOptions(quoting_header="none")
        with pa_csv.CSVWriter(str(target), schema, write_options=options) as writer:
            for X, y in gaussian(n, d):
                columns = [pa.array(column) for column in np.ascontiguousarray(X.T)]
                writer.write(pa.table([*columns, pa.array(y)], schema=schema))

    return _written(path, write)


def table_file(path: Path, name: str) -> Path:
    """A small set of scikit-learn as CSV, its label last."""
    found = getattr(datasets, f"load_{name}")()

    def write(target: Path) -> None:
        with target.open("w", newline="") as file:
            writer = csv.writer(file)
            names = getattr(found, "feature_names", range(found.data.shape[1]))
            writer.writerow([*(str(name).replace(" ", "_") for name in names), "label"])
            labels = np.asarray(found.target_names)[found.target]
            writer.writerows([*x, y] for x, y in zip(found.data.tolist(), labels, strict=True))

    return _written(path, write)


def vowpal_wabbit_file(path: Path, source: Path) -> Path:
    """The rows of an svmlight file, or of one that `csv_file` wrote, in Vowpal Wabbit's form."""

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


def _written(path: Path, write: Callable[[Path], object]) -> Path:
    """The file, written if it is not there; half a file never gets its name."""
    if not path.exists():
        draft = path.with_name(path.name + ".draft")
        write(draft)
        draft.rename(path)
    return path

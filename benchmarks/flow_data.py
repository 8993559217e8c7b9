"""The files of the benchmarks of reading: written once, in the form that each reader wants.

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

from benchmarks.data import MARGIN, SEED, Floats, Labels, Matrix, dense, with_noise

_KEPT = "NOVIKOFF_BENCHMARK_DATA"
_PIECE = 100_000  # rows that are made at once
_DECIMALS = 7


@contextmanager
def folder() -> Iterator[Path]:
    """Where files go: a folder that is removed afterwards, or one that stays."""
    kept = os.environ.get(_KEPT)
    if kept is not None:
        Path(kept).mkdir(parents=True, exist_ok=True)
        yield Path(kept)
        return
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def svmlight(path: Path, X: Matrix, y: Labels) -> Path:
    """Rows and labels −1 and 1 as scikit-learn writes them."""
    dump = import_module("sklearn.datasets").dump_svmlight_file
    return _written(path, lambda target: dump(X, 2 * y - 1, str(target)))


def vowpal_wabbit(path: Path, source: Path) -> Path:
    """The rows of an svmlight file, or of a CSV file with the label last, as VW wants them."""

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


def csv(path: Path, X: Floats, y: Labels) -> Path:
    """Decimals of some ten characters, a header, and the label in the last column."""
    pa, writer = import_module("pyarrow"), import_module("pyarrow.csv")
    table = pa.table({**_columns(np.round(X, _DECIMALS)), "label": y})
    options = writer.WriteOptions(quoting_header="none")
    return _written(path, lambda target: writer.write_csv(table, target, options))


def large_csv(path: Path, n: int, d: int) -> Path:
    """The same with Gaussian rows, made and written in pieces."""
    pa, writer = import_module("pyarrow"), import_module("pyarrow.csv")

    def write(target: Path) -> None:
        with open_at_first(target) as add:
            for X, y in pieces(n, d):
                add({**_columns(np.round(X.astype(np.float64), _DECIMALS)), "label": y})

    @contextmanager
    def open_at_first(target: Path) -> Iterator[Callable[[dict[str, object]], None]]:
        out: list[object] = []

        def add(columns: dict[str, object]) -> None:
            table = pa.table(columns)
            if not out:
                out.append(writer.CSVWriter(target, table.schema))
            getattr(out[0], "write")(table)

        yield add
        getattr(out[0], "close")()

    return _written(path, write)

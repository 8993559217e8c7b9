"""Real sets that no hyperplane separates, or hardly one, each class against the rest."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from benchmarks.data import Labels
from benchmarks.peers import Vector

_SHARED = Path(__file__).parent.parent.parent / "shared" / "data"


def real_sets(names: tuple[str, ...]) -> Iterator[tuple[str, Vector, Labels]]:
    """Name, rows and 0/1 labels of each binary problem; files that are not there are left out."""
    for name in names:
        X, y = _load(name)
        labels = np.unique(y)
        for label in labels[-1:] if len(labels) == 2 else labels:
            title = name if len(labels) == 2 else f"{name} {label}"
            yield title, X, (y == label).astype(np.int64)


def real_file(name: str) -> Path | None:
    """A file of real data, if it is there."""
    path = _SHARED / name
    return path if path.exists() else None


def _load(name: str) -> tuple[Vector, Labels]:
    if name == "wine":
        return load_wine(return_X_y=True)
    if name == "breast cancer":
        return load_breast_cancer(return_X_y=True)
    if name == "digits":
        return load_digits(return_X_y=True)
    file, column = {
        "spam": ("spam.csv.gz", "type"),
        "satellite": ("satellite.csv.gz", "classes"),
        "ionosphere": ("ionosphere.csv", "Class"),
    }[name]
    path = real_file(file)
    if path is None:
        return np.empty((0, 1)), np.empty(0, dtype=np.int64)
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if file.endswith(".gz") else raw).decode()
    header, *lines = csv.reader(io.StringIO(text))
    at = header.index(column)
    numbers = [[float(cell) for j, cell in enumerate(line) if j != at] for line in lines]
    return np.array(numbers), np.array([line[at] for line in lines])

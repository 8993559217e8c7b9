"""Any rows through any two formats are the rows that they were, to the last bit."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from novikoff.core.rows import Floats, SparseMatrix
from novikoff.data import Choices, DataError, read
from novikoff.data.choices import Dataset, Labels
from novikoff.data.chunks.cache import open_cache
from novikoff.data.labels import label_values
from novikoff.data.output.heading import restored
from novikoff.data.output.label_texts import label_texts
from novikoff.data.output.whole import WholeBlocks
from novikoff.data.output.writers import Rows, Target, write_rows
from novikoff.data.recipe import Column, Recipe

SUFFIXES = {
    "csv": ".csv",
    "tsv": ".tsv",
    "svmlight": ".svm",
    "parquet": ".parquet",
    "arrow": ".arrow",
    "blocks": ".blocks",
}
TABLES = ("csv", "tsv", "parquet", "arrow")
TEXTS = ("csv", "tsv")
NASTY = [0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e308, -1.7976931348623157e308]
NASTY += [0.1, 1 / 3, 1e22, 1e23, 9007199254740993.0, 1e-5, 1e-7, 123456789012345680.0, 1e15, 1e16]

formats = st.sampled_from(sorted(SUFFIXES))
floats64 = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(NASTY)
floats32 = st.floats(allow_nan=False, allow_infinity=False, width=32)
# No blanks at the ends, since readers of text cut them off; and nothing that splits lines alike.
characters = st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp"])
words = st.text(characters | st.sampled_from('," \n'), min_size=1, max_size=6).filter(
    lambda text: text.strip() == text and not set(text) & set(";|\ufeff")
)


@st.composite
def labels(draw: st.DrawFn, n: int) -> Labels:
    kind = draw(st.sampled_from(["int", "float", "bool", "text"]))
    if kind == "int":
        values = draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=3))
        classes: Labels = np.array(values, dtype=np.int64)
    elif kind == "float":
        whole = st.integers(-(2**53), 2**53) | st.sampled_from([2**60, 10**22])
        classes = np.array(draw(st.lists(whole, min_size=2, max_size=3)), dtype=np.float64) + 0.0
    elif kind == "bool":
        classes = np.array([False, True])
    else:
        classes = np.array(draw(st.lists(words, min_size=2, max_size=3)), dtype=np.str_)
    codes = draw(hnp.arrays(np.int64, n, elements=st.integers(0, len(classes) - 1)))
    codes[: len(classes)] = np.arange(min(len(classes), n))
    y: Labels = classes[codes]
    return y


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    n, d = draw(st.integers(3, 8)), draw(st.integers(1, 5))
    single = draw(st.booleans())
    X: Floats | sp.csr_array
    if single:
        X = draw(hnp.arrays(np.float32, (n, d), elements=floats32))
    else:
        X = draw(hnp.arrays(np.float64, (n, d), elements=floats64))
    names = draw(st.lists(words, min_size=d + 1, max_size=d + 1, unique=True))
    *features, label = names
    y = draw(labels(n))
    columns = tuple(Column(name) for name in features)
    recipe = Recipe("table", columns, label=label, width=d + 1)
    if draw(st.booleans()):
        X = sp.csr_array(X)  # with its zeros left out, −0 among them
        X.sort_indices()
    return Dataset(X, y, features, recipe, "rows", label, [], None, np.arange(1, n + 1))


def opened(path: Path, format: str, label: str) -> Rows:
    if format == "blocks":
        return open_cache(path)
    header = True if format in TEXTS else None
    delimiter = {"csv": ",", "tsv": "\t"}.get(format)
    asked = Choices(
        format=format,
        label=label if format in TABLES else None,
        header=header,
        delimiter=delimiter,
    )
    found = WholeBlocks(read(path, asked))
    return restored(found, path) if format == "svmlight" else found


def rows_of(rows: Rows) -> tuple[npt.NDArray[np.float64], list[float]]:
    """All numbers as float64, and all labels."""
    X = np.concatenate([dense(block.X, rows.n_features) for block in rows.coded()])
    y = np.concatenate([rows.classes[block.codes] for block in rows.coded()])
    return X, y.tolist()


def dense(X: Floats | SparseMatrix, width: int) -> npt.NDArray[np.float64]:
    if isinstance(X, np.ndarray):
        return X.astype(np.float64)
    found = np.zeros((X.shape[0], width))
    rows, columns = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.indices
    found[rows, columns] = X.data
    return found


def written(rows: Rows, target: Target) -> bool:
    try:
        write_rows(rows, target)
    except DataError:
        assert not target.path.exists()
        return False
    return True


@given(datasets(), formats, formats)
def test_two_conversions_change_no_bit(data: Dataset, first: str, second: str) -> None:
    rows: Rows = WholeBlocks(data)
    X, y = rows_of(rows)
    typed = label_values(label_texts(rows.classes)).dtype.kind == rows.classes.dtype.kind
    with tempfile.TemporaryDirectory() as folder:
        for step, format in enumerate((first, second)):
            path = Path(folder) / f"{step}{SUFFIXES[format]}"
            if not written(rows, Target(path, format)):
                text = data.labels.dtype.kind == "U"
                assert text or (format == "svmlight" and any(abs(label) >= 2**63 for label in y))
                return
            assume(typed or format not in TEXTS)  # text that looks like numbers is noted
            rows = opened(path, format, str(data.label))
            found, labels = rows_of(rows)
            assert found.tobytes() == X.tobytes()
            assert (labels, list(map(type, labels))) == (y, list(map(type, y)))
            assert rows.names == data.names
            assert rows.label == data.label

"""Rows as files: what each format looks like, and what it refuses."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from unittest import mock

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

from novikoff.core.drafts import Draft
from novikoff.core.rows import Floats
from novikoff.data import Choices, DataError, read
from novikoff.data.choices import Dataset, Labels
from novikoff.data.chunks.cache import open_cache
from novikoff.data.output.heading import restored
from novikoff.data.output.rendering import ENTRIES, Pairs, delimited, texts_of
from novikoff.data.output.whole import WholeBlocks
from novikoff.data.output.writers import Target, Written, write_rows
from novikoff.data.recipe import Recipe


def rows_of(text: bytes, choices: Choices | None = None) -> WholeBlocks:
    return WholeBlocks(read(io.BytesIO(text), choices or Choices()))


def matrix(X: sp.csr_array, y: Labels | None = None) -> WholeBlocks:
    labels: Labels = np.arange(X.shape[0]) % 2 if y is None else y
    recipe = Recipe("matrix", label="label", width=int(X.shape[1]))
    numbers = np.arange(1, X.shape[0] + 1)
    return WholeBlocks(
        Dataset(X, labels, recipe.names, recipe, "given", "label", [], None, numbers)
    )


def written(rows: WholeBlocks, path: Path, format: str, first: int = 1) -> tuple[str, Written]:
    result = write_rows(rows, Target(path, format, first=0 if first == 0 else 1))
    return path.read_text(encoding="utf-8"), result


TABLE = b'"size, in cm",x,kind\n1.50,-0.0,"yes, so"\n0,1e308,no\n-2,0.1,"5"" or so"\n'


def test_csv_has_a_header_and_quotes_where_they_are_needed(tmp_path: Path) -> None:
    text, result = written(rows_of(TABLE), tmp_path / "a.csv", "csv")
    assert text == ('"size, in cm",x,kind\n1.5,-0,"yes, so"\n0,1e308,no\n-2,0.1,"5"" or so"\n')
    assert (result.rows, result.label, result.notes) == (3, "kind", [])


def test_tsv_quotes_only_what_a_tab_would_split(tmp_path: Path) -> None:
    text, _ = written(rows_of(TABLE), tmp_path / "a.tsv", "tsv")
    assert text == 'size, in cm\tx\tkind\n1.5\t-0\tyes, so\n0\t1e308\tno\n-2\t0.1\t"5"" or so"\n'


NUMBERS = b"a,b,c,kind\n0,-0.0,3,1\n0,0,0,2\n0,0.5,0,2\n"


def test_svmlight_leaves_out_zeros_and_keeps_the_names(tmp_path: Path) -> None:
    text, _ = written(rows_of(NUMBERS), tmp_path / "a.svm", "svmlight")
    head, *lines = text.splitlines()
    assert json.loads(head.removeprefix("# novikoff: ")) == {
        "names": ["a", "b", "c"],
        "label": "kind",
    }
    assert lines == ["1 2:-0 3:3", "2", "2 2:0.5"]


def test_svmlight_says_where_its_columns_begin_and_end(tmp_path: Path) -> None:
    empty = sp.csr_array(np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]))
    assert written(matrix(empty), tmp_path / "a.svm", "svmlight")[0] == "0 2:2\n1 3:0\n"
    assert written(matrix(empty), tmp_path / "b.svm", "svmlight", 0)[0] == "0 1:2\n1 0:0 2:0\n"
    full = sp.csr_array(np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]))
    assert written(matrix(full), tmp_path / "c.svm", "svmlight", 0)[0] == "0 0:1 1:2 2:3\n1\n"
    one = sp.csr_array((2, 1))
    assert written(matrix(one), tmp_path / "d.svm", "svmlight", 0)[0] == "0\n1 0:0\n"
    assert written(matrix(one), tmp_path / "e.svm", "svmlight")[0] == "0\n1 1:0\n"
    for name in "abcde":
        data = read(tmp_path / f"{name}.svm")
        assert data.X.shape[1] == (1 if name in "de" else 3)
        assert data.recipe.first == (0 if name in "bcd" else 1)


def test_explicit_zeros_are_kept(tmp_path: Path) -> None:
    X = sp.csr_array(([0.0, 1.0], [0, 1], [0, 2]), shape=(1, 2))
    assert written(matrix(X), tmp_path / "a.svm", "svmlight")[0] == "0 1:0 2:1\n"


def test_a_heading_can_be_left_out(tmp_path: Path) -> None:
    target = Target(tmp_path / "a.svm", "svmlight", heading=False)
    write_rows(rows_of(NUMBERS), target)
    assert target.path.read_text().startswith("1 2:-0")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([True, False], "1\n0 1:0\n"),
        ([1.0, -2.0], "1.0\n-2.0 1:0\n"),
        (["0.5", "2.0"], "0.5\n2.0 1:0\n"),
    ],
)
def test_labels_that_are_numbers_come_back_from_svmlight(
    labels: list[object], expected: str, tmp_path: Path
) -> None:
    y: Labels = np.array(labels)
    path = tmp_path / "a.svm"
    text, _ = written(matrix(sp.csr_array((2, 1)), y), path, "svmlight")
    assert "".join(line for line in text.splitlines(keepends=True) if line[0] != "#") == expected
    found = restored(WholeBlocks(read(path)), path).classes
    assert found.dtype.kind == y.dtype.kind
    assert found.tolist() == np.unique(y).tolist()


@pytest.mark.parametrize("label", ["red", "nan", "inf", "1_0", "０"])
def test_a_label_that_is_no_number_is_refused_by_svmlight(label: str, tmp_path: Path) -> None:
    y: Labels = np.array(["1", label])
    with pytest.raises(DataError, match=r"labels that are numbers.*write CSV, Parquet"):
        written(matrix(sp.csr_array((2, 1)), y), tmp_path / "a.svm", "svmlight")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("label", ["", "NA", "?", " a", "a\t"])
def test_a_label_that_text_cannot_hold_is_refused(label: str, tmp_path: Path) -> None:
    y: Labels = np.array(["yes", label])
    with pytest.raises(DataError, match=r"would not be read from text as it is; write Parquet"):
        written(matrix(sp.csr_array((2, 1)), y), tmp_path / "a.csv", "csv")
    y = np.array(["0.5", "0.50"])
    with pytest.raises(DataError, match=r'"0.50" of given would be read from text as "0.5"'):
        written(matrix(sp.csr_array((2, 1)), y), tmp_path / "a.csv", "csv")
    assert os.listdir(tmp_path) == []


def test_what_a_reader_must_be_told_is_noted(tmp_path: Path) -> None:
    y: Labels = np.array(["0", "1"])
    _, result = written(matrix(sp.csr_array((2, 1)), y), tmp_path / "a.csv", "csv")
    assert result.notes == ['the labels "0", "1" are text, but are read from text as numbers']
    rows = rows_of(b"y,x,kind\n1,2,a\n3,4,b\n", Choices(label="kind"))
    for format in ("csv", "parquet"):
        path = tmp_path / f"b.{format}"
        assert write_rows(rows, Target(path, format)).notes == ["read it with --label kind"]
    rows = rows_of(b"1990,1991,kind\n1,2,a\n3,4,b\n", Choices(header=True))
    assert written(rows, tmp_path / "c.csv", "csv")[1].notes == [
        "the names look like values: read it with --header"
    ]


def test_many_columns_stay_sparse_unless_asked(tmp_path: Path) -> None:
    rows = matrix(sp.csr_array(([1.0], [10_000], [0, 1, 1]), shape=(2, 10_001)))
    for format in ("csv", "tsv", "parquet", "arrow"):
        with pytest.raises(DataError, match=r"given has 10,001 columns.*--dense"):
            write_rows(rows, Target(tmp_path / "a", format))
    write_rows(rows, Target(tmp_path / "a.csv", "csv", dense=True))
    assert (tmp_path / "a.csv").read_text().splitlines()[1].endswith(",0,1,0")
    write_rows(rows, Target(tmp_path / "a.svm", "svmlight"))
    assert (tmp_path / "a.svm").read_text() == "0 10001:1\n1\n"


def test_a_label_without_a_name_gets_a_free_one(tmp_path: Path) -> None:
    rows = rows_of(b"label,x,kind\n1,2,0\n3,4,1\n", Choices(label="kind"))
    rows.label = None
    text, result = written(rows, tmp_path / "a.csv", "csv")
    assert text.startswith("label,x,label_\n")
    assert result.label == "label_"


@pytest.mark.parametrize("format", ["parquet", "arrow"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tables_keep_types(format: str, dtype: type[np.floating], tmp_path: Path) -> None:
    X = np.array([[0.1, -0.0], [3.0, 1e-45]]).astype(dtype)
    recipe = rows_of(b"a,b,y\n1,2,3\n4,5,6\n").recipe
    data = Dataset(X, np.array(["u", "v"]), ["a", "b"], recipe, "x", "y", [], None, np.arange(2))
    write_rows(WholeBlocks(data), Target(tmp_path / "a", format))
    found = read(tmp_path / "a", Choices(format=format))
    assert isinstance(found.X, np.ndarray)
    assert found.X.dtype == dtype
    assert found.X.tobytes() == X.tobytes()
    assert found.labels.tolist() == ["u", "v"]


def test_many_pieces_come_in_their_order(tmp_path: Path) -> None:
    n = 3 * ENTRIES // 2
    X = np.arange(2.0 * n).reshape(n, 2)
    recipe = rows_of(b"a,b,y\n1,2,3\n4,5,6\n").recipe
    data = Dataset(X, np.arange(n) % 2, ["a", "b"], recipe, "x", "y", [], None, np.arange(n))
    seen: list[int] = []
    write_rows(WholeBlocks(data), Target(tmp_path / "a.csv", "csv"), seen.append)
    found = read(tmp_path / "a.csv").X
    assert isinstance(found, np.ndarray)
    assert (found == X).all()
    assert seen == sorted(seen)
    assert seen[-1] == n
    for format in ("parquet", "arrow", "blocks", "svmlight"):
        path = tmp_path / f"a.{format}"
        write_rows(WholeBlocks(data), Target(path, format))
        rows = open_cache(path) if format == "blocks" else WholeBlocks(read(path, _as(format)))
        parts = [block.X for block in rows.coded()]
        whole = [part if isinstance(part, np.ndarray) else part.toarray() for part in parts]
        assert (np.concatenate(whole) == X).all()


def _as(format: str) -> Choices:
    return Choices(format=format)


def test_nothing_is_left_of_a_failure(tmp_path: Path) -> None:
    for format in ("csv", "svmlight", "parquet", "arrow", "blocks"):
        path = tmp_path / "a"
        with (
            mock.patch.object(os, "fsync", side_effect=OSError(28, "No space left on device")),
            pytest.raises(OSError, match=r"a cannot be written: the disk is full\."),
        ):
            write_rows(rows_of(NUMBERS), Target(path, format))
        with (
            mock.patch.object(os, "fsync", side_effect=KeyboardInterrupt),
            pytest.raises(KeyboardInterrupt),
        ):
            write_rows(rows_of(NUMBERS), Target(path, format))
        assert os.listdir(tmp_path) == []


def test_an_old_file_stays_unless_it_is_to_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("old")
    with pytest.raises(OSError, match="already exists; --force replaces it"):
        write_rows(rows_of(NUMBERS), Target(path, "csv"))
    assert path.read_text() == "old"
    write_rows(rows_of(NUMBERS), Target(path, "csv", force=True))
    assert path.read_text().startswith("a,b,c,kind\n")
    assert os.listdir(tmp_path) == ["a.csv"]


def test_a_draft_without_a_place_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"the directory .* does not exist\."):
        Draft(tmp_path / "none" / "a")


def test_a_heading_that_does_not_fit_is_a_comment(tmp_path: Path) -> None:
    path = tmp_path / "a.svm"
    bad = ["{", "[]", "", "1", '{"names": ["a"]}', '{"names": "ab"}', '{"names": ["a", "a"]}']
    bad += ['{"names": ["a", "label"]}', '{"label": 3}', '{"type": "object"}']
    for said in bad:
        path.write_text(f"# novikoff: {said}\n1 1:2\n2 2:3\n")
        found = restored(WholeBlocks(read(path)), path)
        assert found.names == ["x1", "x2"]
        assert found.label == "label"
        assert found.classes.tolist() == [1, 2]
    path.write_text('# novikoff: {"names": ["a", "b"], "label": "c", "type": "float64"}\n1 2:3\n')
    found = restored(WholeBlocks(read(path)), path)
    assert (found.names, found.label, found.recipe.names) == (["a", "b"], "c", ["a", "b"])
    assert found.classes.dtype == np.float64


def decimals(values: Floats) -> list[str]:
    codes = np.zeros(len(values), dtype=np.int32)
    text = bytes(delimited(texts_of([b""]), ",")(values[:, None], codes)).decode()
    return [line.removesuffix(",") for line in text.splitlines()]


def nasty() -> Iterator[npt.NDArray[np.float64]]:
    rng = np.random.default_rng(0)
    yield rng.integers(0, 2**64, 50_000, dtype=np.uint64).view(np.float64)
    yield rng.standard_normal(10_000)
    yield np.round(rng.standard_normal(10_000), 3)
    yield rng.integers(-(2**62), 2**62, 10_000).astype(np.float64)
    yield 5e-324 * np.arange(1000.0)
    powers = np.concatenate([2.0 ** np.arange(-1074, 1024), 10.0 ** np.arange(-323, 309)])
    yield np.concatenate([powers, np.nextafter(powers, 0.0), np.nextafter(powers, np.inf)])


def test_decimals_are_those_of_python() -> None:
    for values in nasty():
        finite = values[np.isfinite(values)]
        found = decimals(finite)
        assert np.array([float(one) for one in found]).tobytes() == finite.tobytes()
        assert [Decimal(one) for one in found] == [Decimal(repr(x)) for x in finite.tolist()]
        assert max(map(len, found)) <= 24


def test_decimals_are_short() -> None:
    values = [0.0, -0.0, 3.0, -100.0, 0.1, 1e-7, 1e16, 1e17, 1e20, 1234.5, 1e308, 5e-324]
    assert decimals(np.array(values)) == [
        "0", "-0", "3", "-100", "0.1", "0.0000001", "10000000000000000", "1e17", "1e20", "1234.5",
        "1e308", "5e-324",
    ]  # fmt: skip
    assert decimals(np.array([0.0012345678901234567])) == ["1.2345678901234567e-3"]


def test_float32_is_written_as_what_it_is() -> None:
    single = np.array([0.1, 16777217.0, 1e-45], dtype=np.float32)
    assert decimals(single) == decimals(single.astype(np.float64))
    assert decimals(single)[0] == "0.10000000149011612"


def test_kernels_put_labels_and_numbers_in_place() -> None:
    labels = texts_of([b"", b"long label", b"x"])
    codes: npt.NDArray[np.int32] = np.array([1, 0, 2], dtype=np.int32)
    X = np.array([[1.0], [2.5], [-3.0]])
    assert bytes(delimited(labels, "\t")(X, codes)) == b"1\tlong label\n2.5\t\n-3\tx\n"
    wide = sp.csr_array(([1.0, 2.0], [0, 2**31 - 2], [0, 2, 2, 2]), shape=(3, 2**31 - 1))
    pairs = Pairs(labels, 1)
    assert bytes(pairs(wide, codes)) == b"long label 1:1 2147483647:2\n\nx\n"
    assert (pairs.lowest, pairs.highest) == (1, 2**31 - 1)

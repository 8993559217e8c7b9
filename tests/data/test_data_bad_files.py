"""Files that are rejected with one sentence, which names the file and the place."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pytest

from novikoff.cli.options import flag
from novikoff.data import ReadOptions, Recipe, open_stream, read
from novikoff.errors import DataError
from tests.data_files import archive, npy, npz, parquet

LATE = b"a,b\n" + b"1,2\n" * 150_000
ZIP = gzip.compress(b"a,b\n1,2\n", mtime=0)
MATRIX = [[1.0, 2.0], [3.0, 4.0]]
NAMES = b"".join(b"%d,n%d,%d\n" % (k, k, k % 2) for k in range(50))
TEXT = ReadOptions(one_hot=("*",))
COLOURS = b"".join(b"%d,n%d,%d\n" % (k, k % 25, k % 2) for k in range(50))
WIDE = 2**53 + 1

# Suffix, content, the parts of the sentence (parts after ! must not be in it), and the options.
BAD: list[tuple[str, bytes, str] | tuple[str, bytes, str, ReadOptions]] = [
    ("csv", b"", "is empty"),
    ("csv", b"\n\n \n"[:2], "is empty"),
    ("csv", b"a,b\n", "header but no rows"),
    ("csv", b"a\n1\n", "no column left for the features"),
    ("csv", b"a,b,c\n1,2,3\n4,5\n", "line 3|2 fields|3 are expected"),
    ("csv", b"a,b,c\n1,2,3\n\n4,5,6,7\n", "line 4|4 fields|3 are expected"),
    ("csv", b"a,b\n1,2,3\n", "line 2|3 fields|2 are expected"),
    ("csv", b'a,b\n1,"x\ny"\n3\n', "line 4|1 field |2 are expected"),
    ("csv", b'a,b\n1,"x\n2,y\n', "line 2|quote"),
    ("csv", b"a,b\n" + b"1,2\n" * 200 + b'1,"x\n2,y\n', "line 202|quote"),
    ("csv", LATE + b"oops,2\n", 'row 150001|column "a"|"oops"'),
    ("csv", LATE + b"1\n", "line 150002|1 field "),
    ("csv", b"a,b,c\n1,red,x\n", 'row 1|column "b"|"red"|--one-hot b|--drop b'),
    ("csv", b"a,b,c\n1,2,x\n3,0x10,x\n", 'row 2|column "b"|"0x10"'),
    ("csv", b"a,b,c\n1,2,x\n3,1_000,x\n", 'row 2|column "b"|"1_000"'),
    ("csv", b"a,b,c\nTrue,2,x\n3,1,x\n", 'row 1|column "a"|"True"'),
    ("csv", b"a;b\n1,5;2\n", 'row 1|column "a"|--decimal ,'),
    ("csv", b"a;b\n1.5;2\n", 'row 1|column "a"|"1.5"', ReadOptions(decimal=",")),
    ("csv", b"a,b\n1,2\ninf,2\n", 'row 2|column "a"|infinite', ReadOptions(missing="drop")),
    ("csv", b"a,b\n1,2\n1e999,2\n", 'row 2|column "a"|infinite'),
    ("csv", b"a,b\n1,2\nNaN,2\n", 'row 2|column "a"|missing'),
    ("csv", b"a,b\n1,2\n,2\n?,3\n", 'row 2|column "a"|--missing drop|2 rows'),
    ("csv", b"a,b\n1,2\n3,\n", 'row 2|column "b"|label is missing'),
    ("csv", b"a,b\n1,\n3,NA\n", 'row 1|column "b"|missing', ReadOptions(missing="drop")),
    ("csv", b"a,b\n,1\n2,\n", "no row without missing values", ReadOptions(missing="drop")),
    ("csv", b"a,b,c\n1,,2\n3,NA,4\n", 'column "b"|no values|--drop b', ReadOptions(missing="drop")),
    ("csv", b"a,b,c\nx,1,0\n,1,0\n", 'row 2|column "a"|missing', ReadOptions(one_hot=("a",))),
    (
        "csv",
        b"a,b,c\nx,1,0\n,1,0\n",
        'row 2|column "a"|no mean',
        ReadOptions(one_hot=("a",), missing="mean"),
    ),
    ("csv", b"a,a\n1,2\n", '"a"|columns 1 and 2'),
    ("csv", b"a,,c\n1,2,3\n", "no name|column 2"),
    ("csv", b",a,c\n5,2,3\n7,2,4\n", "no name|column 1|--drop 1"),
    ("csv", b"a,b\n1,\xe9\n", "position 7|line 2|0xE9|iconv"),
    ("csv", b"a,b\n1,\xc3", "position 7|line 2|iconv"),
    ("csv", "a,b\n1,2\n".encode("utf-16"), "UTF-16|position 1|iconv"),
    ("csv", "a,b\n1,2\n".encode("utf-32"), "UTF-32|position 1|iconv"),
    ("csv", b"a,b\n1,2\0\n", "NUL|position 8|line 2"),
    ("csv", parquet(a=[1], b=[2]), "NUL|--from parquet"),
    ("csv", ZIP[:-12], "cut off"),
    ("csv", ZIP[:12] + b"\xff\xff\xff" + ZIP[15:], "gzip"),
    ("csv", ZIP + b"garbage", "gzip"),
    ("csv", b"age,b\n1,2\n", '"agee"|did you mean "age"', ReadOptions(label="agee")),
    ("csv", b"a,b\n1,2\n", "column number 3|--label", ReadOptions(label=3)),
    ("csv", b"a,b\n1,2\n", "column number 0", ReadOptions(label="0")),
    ("csv", b"a,b\n1,2\n", '"zzz"|--drop', ReadOptions(drop=("zzz",))),
    ("csv", b"a,b\n1,2\n", '"b"|--label|--features', ReadOptions(features=("b",), label="b")),
    ("csv", b"a,b\n1,2\n", '"b"|--label|--drop', ReadOptions(drop=("b",), label="b")),
    ("csv", b"a,b\n1,2\n", '"b"|--label|--id', ReadOptions(id="b", label="b")),
    ("csv", b"a,b\n1,2\n", 'column "a"|twice among the features', ReadOptions(features=("a", "1"))),
    ("csv", b"a,b\n1,2\n", '"b" (--one-hot) is not', ReadOptions(one_hot=("b",))),
    ("csv", b"a,b\n1,2\n", "no column left for the features", ReadOptions(drop=("a",))),
    ("csv", b"a,b\n1,2\n", "no column left for the label", ReadOptions(drop=("a", "b"))),
    ("csv", b"a=x,a,c\n1,x,0\n1,y,1\n", '"a=x"|rename', ReadOptions(one_hot=("a",))),
    ("csv", b"a,b\n1," + b"x" * 20_000 + b"\n", 'row 1|column "b"|characters'),
    (
        "csv",
        b"a,b\n" + b"".join(b"v%d,0\n" % k for k in range(10_001)),
        'column "a"|10,001|--drop a',
        ReadOptions(one_hot=("a",)),
    ),
    ("svm", b"1 1:1\n\n0 3:1 3:1\n", 'line 3|column 7|"3:1" has an index a second time'),
    ("svm", b"1 1:1 -2:1\n", "line 1|column 7|index"),
    ("svm", b"1 1:1 2:1:3\n", "line 1|column 7|number"),
    ("svm", b"1 1: 2\n", "line 1|column 3"),
    ("svm", b"1 1:0x1\n", "line 1|column 3|number"),
    ("svm", b"1:1 2:1\n", "line 1|column 1|no label"),
    ("svm", b" cat 1:1\n", 'line 1|column 2|"cat"'),
    ("svm", b"1 1:1\n1 2:inf\n", 'row 2|line 2|column "2"|infinite', ReadOptions(missing="drop")),
    ("svm", b"1 1:1\n1 2:nan\n", 'row 2|column "2"|missing'),
    ("svm", b"1 1:1\n", "svmlight|--drop", ReadOptions(drop=("1",))),
    ("svm", b"1 1:\xff\n", "position 5|iconv"),
    ("npy", npy(MATRIX)[:-4], "cut off"),
    ("npy", npy(MATRIX)[:20], "header"),
    ("npy", npy([1.0, 2.0]), "shape (2,)"),
    ("npy", npy(np.zeros((0, 3))), "empty"),
    ("npy", npy(np.array([[None, 1]])), "object|never loaded"),
    ("npy", npy([["a", "b"]]), "not numbers"),
    ("npy", npy([[1.0, 2.0], [np.inf, 4.0]]), 'row 2|column "x1"|infinite'),
    ("npy", npy([[1.0, 2.0], [3.0, np.nan]]), 'row 2|column "x2"|label'),
    ("npy", npy([[1.0]]), "no column left"),
    ("npy", npy(MATRIX), "--one-hot", ReadOptions(one_hot=("1",))),
    ("npz", npz(X=MATRIX), "X and y"),
    ("npz", npz(X=MATRIX, y=[1, 2, 3]), "2 rows|(3,)"),
    ("npz", npz(a=MATRIX, b=MATRIX, c=[1, 2]), 'X and y|"a"'),
    ("npz", npz(X=MATRIX, y=np.array([None, 1])), '"y"|never loaded'),
    ("npz", npz(X=[[1.0], [np.nan]], y=[0, 1]), 'row 2|column "x1"|missing'),
    ("npz", npz(X=MATRIX, y=[0, 1])[:-30], "not a sound npz"),
    ("npz", b"PK", "not a sound npz"),
    ("parquet", b"PAR1", "not a sound Parquet"),
    ("parquet", parquet(a=[1], b=[2])[:-10], "not a sound Parquet"),
    ("parquet", parquet(a=["x"], b=[2]), 'row 1|column "a"|"x"|--one-hot a'),
    ("parquet", parquet(a=["1"], b=[2]), 'row 1|column "a"|"1"'),
    ("parquet", parquet(a=[1, None], b=[2, 3]), 'row 2|column "a"|missing'),
    ("parquet", parquet(a=[1, 2], b=[2, None]), 'row 2|column "b"|label'),
    ("parquet", parquet(a=[1.0, np.inf], b=[2, 3]), 'row 2|column "a"'),
    ("parquet", parquet(a=[1.0, 2.0], b=[np.inf, 3]), 'row 1|column "b"'),
    ("parquet", parquet(a=[date(2020, 1, 1)], b=[2]), 'column "a"|date|--drop a'),
    ("parquet", parquet(a=[[1, 2]], b=[2]), 'column "a"|list|--drop a'),
    ("parquet", parquet(a=[b"\xff"], b=[2]), 'column "a"|binary|--drop a'),
    ("parquet", parquet(a=[1], b=[date(2020, 1, 1)]), 'column "b"|--label'),
    ("parquet", parquet(a=pa.nulls(2), b=[2, 3]), 'column "a"|no values'),
    ("parquet", parquet(a=pa.array([], pa.float64()), b=pa.nulls(0)), "no rows"),
    ("arrow", b"ARROW1", "not a sound Arrow"),
    ("arrow", b"\xff\xff\xff\xff\0\0", "not a sound Arrow"),
    (
        "xlsx",
        archive(**{"[Content_Types].xml": b"", "xl/workbook.xml": b""}),
        "is an Excel workbook: save",
    ),
    ("zip", archive(**{"data.csv": b"a,b"}), "is a zip archive: unpack it."),
    ("xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "save it as CSV."),
    ("pdf", b"%PDF-1.7\n...", "is a PDF, not a file of data."),
    ("json", b'{"a": [1, 2], "b": [3, 4]}', "is JSON, of which only JSON lines"),
    ("json", b'\xef\xbb\xbf [{"a": 1,\n "b": 2}]\n', "is JSON, of which only JSON lines"),
    ("csv", b"[1, 2]\n[3, 4]\n", "is JSON, of which only JSON lines"),
    ("jsonl", b'{"a": 1}\n{"a": 2}\n', "line 1 has none of the keys label"),
    ("jsonl", b'{"a": 1, "y": 0}\n{"a": 1, "y": \n', "line 2 is not JSON at column 15"),
    ("json", b'{"a": [' + b"1, " * 600_000 + b"1]}", "is JSON"),
    ("csv", b"\n<!DOCTYPE html>\n<html><body>404</body></html>", "is a web page"),
    ("txt", b"a b c\n1 2 3\n4 5 6\n", "separated by blanks: --delimiter ' '."),
    ("txt", b"a  b c\n1  2 3\n4  5 6\n", "tr -s ' ', then say --delimiter ' '."),
    ("txt", b"a:b\n1:2\n4:5\n", "say --delimiter if fields are separated by something"),
    (
        "csv",
        b"bmi,smokes?,age\n1,yes,3\n2,no,4\n",
        'last column, "age"; if it is "smokes?", say --label "smokes?"|use --one-hot "smokes?"',
    ),
    ("csv", b"bmi,smokes,class\n1,yes,3\n2,no,4\n", "--one-hot smokes|!--label"),
    ("csv", b"a,name,y\n" + NAMES, "--id name|--drop name|!--one-hot"),
    ("csv", b"a,name,b\n" + COLOURS, "--one-hot name|!--label"),
    ("csv", b'a,b,y\n1,"1,200,300",0\n', "thousands separators|!--one-hot"),
    ("csv", b'a,b,y\n1,"1,200",0\n', "--decimal ,|if it separates thousands|!--one-hot"),
    ("csv", b"a,b,y\n1,$5,0\n", "currency signs|!--one-hot"),
    ("csv", b"a,b,y\n1,5.5 %,0\n", "percent signs|!--one-hot"),
    ("parquet", parquet(a=[1, WIDE], b=[0, 1]), 'row 2|column "a"|float64 cannot hold exactly'),
    (
        "parquet",
        parquet(a=pa.array([2**64 - 1, None], pa.uint64()), b=[0, 1]),
        'row 1|column "a"|float64 cannot hold exactly',
    ),
    ("csv", f"a,b\n1,0\n -{WIDE} ,1\n".encode(), 'row 2|column "a"|float64 cannot hold exactly'),
    ("csv", b"a,d,s,y\n1,2024-05-31,u,0\n2,2024-06-01,u,1\n", "a date or time|!--one-hot"),
    ("csv", b"c,d,y\nu,2024-05-31,0\nw,2024-06-01,1\n", "a date|--one-hot d,'*' takes|!also", TEXT),
    ("csv", b'c,d,y\nu,"1,5",0\nw,"2,5",1\n', "--decimal ,", TEXT),
    ("csv", b"c,d,y\nu,oops,0\nw,2,1\nu,3,0\n", "most values of the column are numbers", TEXT),
    ("csv", b"a,s,d,y\n1,u,31.5.2024,0\n2,u,1.6.2024,1\n", 'column "s"|--one-hot s|!"d"'),
    (
        "parquet",
        parquet(a=pa.array([Decimal(WIDE), None], pa.decimal128(20, 0)), b=[0, 1]),
        'row 1|column "a"|float64 cannot hold exactly',
    ),
    ("npy", npy([[1, 0], [WIDE, 1]]), 'row 2|column "x1"|float64 cannot hold exactly'),
    ("npz", npz(X=[[1, 0], [3, WIDE]], y=[0, 1]), 'row 2|column "x2"|float64 cannot hold exactly'),
]

DEFAULT = ReadOptions()


# A number, and the message about it if it is a feature.
WRITTEN = {
    "9.007199254740993e15": "float64 cannot hold exactly; subtract",
    "90071992547409930e-1": "float64 cannot hold exactly; subtract",
    "-9007199254740993.0": "float64 cannot hold exactly; subtract",
    "18014398509481985.0": "float64 cannot hold exactly; subtract",
    "-0.1e-400": "float64 rounds to 0; multiply",
    "1e-324": "float64 rounds to 0; multiply",
    "0e-400": None,
    "6.02e23": None,
    "1.2345678901234568e+16": None,
}


@pytest.mark.parametrize("text", WRITTEN)
@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("suffix", ["csv", "svm", "jsonl"])
def test_no_number_of_text_is_silently_rounded(
    suffix: str, large: bool, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if large:  # a compiled loop reads large svmlight files
        monkeypatch.setattr("novikoff.data.pairs.COMPILED_BYTES", 0)
    head, row = {
        "csv": ("a,b,y\n", "{},{},{}\n"),
        "svm": ("", "{2} 1:{0} 2:{1}\n"),
        "jsonl": ("", '{{"a": {}, "b": {}, "y": {}}}\n'),
    }[suffix]
    path = tmp_path / f"data.{suffix}"
    rows, part = "".join(row.format(k % 7, 1.5, k % 2) for k in range(9)), WRITTEN[text]
    path.write_text(head + row.format(text, 2.5, 1) + rows, encoding="utf-8")
    if part is None:
        X: Any = read(path).X
        assert X[[0]].sum() == float(text) + 2.5
    else:
        message = refused(path)
        assert part in message
        assert text in message


def refused(path: Path | str, options: ReadOptions = DEFAULT, recipe: Recipe | None = None) -> str:
    with pytest.raises(DataError) as plain:
        read(path, options, recipe=recipe)
    assert " --" not in str(plain.value).replace(" --1", "")  # no flags in Python
    with pytest.raises(DataError) as caught:
        read(path, replace(options, spelling=flag), recipe=recipe)
    message = str(caught.value)
    assert type(caught.value) is type(plain.value) is DataError
    assert message.isprintable()  # so that it is a single line
    assert "Traceback" not in message
    assert message.endswith((".", "?"))
    assert len(message) < 500
    return message


@pytest.mark.parametrize("case", BAD, ids=lambda case: f"{case[0]}-{case[2]}")
def test_bad_files(case: Any, tmp_path: Path) -> None:
    suffix, content, parts, *options = case
    path = tmp_path / f"data.{suffix}"
    path.write_bytes(content)
    message = refused(path, *options)
    for part in [str(path), *parts.split("|")]:
        assert (part.lstrip("!") in message) != part.startswith("!"), message


PYTHON_ADVICE: list[tuple[bytes, ReadOptions, str]] = [
    (b"a,b,c\n1,red,x\n", DEFAULT, "use one_hot=('b',) to make it columns of 0 and 1"),
    (b"a,b,c\n1,red,x\n", DEFAULT, "or drop=('b',)"),
    (b"a,b\n,1\n2,0\n", DEFAULT, "; missing='drop' leaves out rows with missing values"),
    (b"a,b\n1,2\n", ReadOptions(label="c"), 'no column "c" (label)'),
    (b"a,b\n1,2\n", ReadOptions(drop=("b",), label="b"), "both by label and by drop"),
    (b"a,,b\n1,2,3\n", DEFAULT, "say header=False if the first line is a row"),
    (b"a b\n1 2\n", DEFAULT, "separated by blanks: delimiter=' '"),
]


@pytest.mark.parametrize(
    ("content", "options", "advice"), PYTHON_ADVICE, ids=[advice for *_, advice in PYTHON_ADVICE]
)
def test_advice_in_python_names_arguments(
    content: bytes, options: ReadOptions, advice: str
) -> None:
    with pytest.raises(DataError) as caught:
        read(io.BytesIO(content), options)
    assert advice in str(caught.value)


def test_a_mistyped_name_gets_a_suggestion(tmp_path: Path) -> None:
    (tmp_path / "flowers.csv").touch()
    message = refused(tmp_path / "flower.csv")
    assert message.endswith('flower.csv does not exist; did you mean "flowers.csv"?')
    assert refused(tmp_path / "trees.csv").endswith("trees.csv does not exist.")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert "missing.csv does not exist." in refused(tmp_path / "missing.csv")
    assert "is a directory" in refused(tmp_path)
    assert "cannot be read" in refused(tmp_path / ("x" * 300))
    assert "name" in refused("a\0b.csv")
    assert "does not exist" in refused("a\nb.csv")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(b"a,b\n1,2\n")
    path.chmod(0)
    assert "permission denied" in refused(path)


def test_text_streams_are_rejected() -> None:
    with pytest.raises(DataError, match="binary mode"):
        read(cast(BinaryIO, io.StringIO("a,b\n1,2\n")))


def test_an_array_that_claims_too_much(tmp_path: Path) -> None:
    path = tmp_path / "data.npy"
    head = str({"descr": "<f8", "fortran_order": False, "shape": (10**12, 10)}).ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode())
    assert "cut off" in refused(path)


def test_brackets_are_not_yet_json() -> None:
    assert read(io.BytesIO(b"[mV],{s},y\n1,2,0\n3,4,1\n")).names == ["[mV]", "{s}"]


def test_a_label_of_many_values_is_hardly_a_class(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(b"a,price\n" + b"".join(b"1,%d\n" % (3 * k) for k in range(900)))
    message = refused(path)
    assert 'column "price" has 900 different values in 900 rows: it is hardly a class; ' in message
    assert message.endswith("choose the label with --label.")
    recipe = read(path, ReadOptions(label="a")).recipe
    path.write_bytes(b"price,a\n" + b"".join(b"1,%d\n" % (3 * k) for k in range(900)))
    assert read(path, recipe=recipe).labels.tolist() == [3 * k for k in range(900)]
    path.write_bytes(b"a,b\n" + b"".join(b"1,%d\n" % k for k in range(20)))
    assert len(set(read(path).labels.tolist())) == 20
    path.write_bytes(b"a,b\n" + b"".join(b"1,%d\n" % (k // 2) for k in range(200_000)))
    assert len(set(read(path).labels.tolist())) == 100_000
    path = tmp_path / "data.svm"
    path.write_bytes(b"".join(b"%d 1:1\n" % k for k in range(21)))
    assert refused(path).endswith("21 rows: it is hardly a class.")


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.csv")
    assert "caf\ufffd.csv does not exist" in refused(path)
    path.write_bytes(b"a,b\n1,2\n")
    assert read(path).source.endswith("caf\ufffd.csv")
    path.write_bytes(b"")
    assert "caf\ufffd.csv is empty" in refused(str(path))


@pytest.mark.skipif(np.finfo(np.longdouble).nmant == 52, reason="a long double is a double here")
def test_long_doubles_that_no_float_holds(tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", X=np.array([[1], [2]], np.longdouble) / 3, y=[0, 1])
    assert 'row 1, column "x1" holds' in refused(tmp_path / "data.npz")


@pytest.mark.parametrize(
    "options",
    [
        {"format": "xlsx"}, {"decimal": "x"}, {"delimiter": "::"}, {"delimiter": '"'},
        {"delimiter": ",", "decimal": ","}, {"missing": "guess"},
    ],
    ids=str,
)  # fmt: skip
def test_invalid_options(options: dict[str, str]) -> None:
    with pytest.raises(DataError, match=r"\.$"):
        cast(Callable[..., ReadOptions], ReadOptions)(**options)


GOOD = {
    "family": "table",
    "columns": [{"name": "a", "mean": 1.5, "levels": None}],
    "label": "y",
    "id": None,
    "missing": "mean",
    "width": 2,
    "first": 1,
    "header": None,
    "delimiter": ";",
    "decimal": ",",
    "bits": None,
    "features": None,
    "drop": [],
}


def column(**fields: object) -> dict[str, object]:
    return {"columns": [{"name": "a", "mean": None, "levels": None} | fields]}


CHANGES: list[dict[str, object]] = [
    {"family": "tree"}, {"family": ["table"]}, {"family": "matrix"}, {"missing": "guess"},
    {"columns": None}, {"columns": []}, {"columns": ["a"]}, {"columns": [{"name": "a"}]},
    {"columns": [{"name": "a", "mean": None, "levels": None}] * 2}, column(name=3),
    column(name="y"), column(mean="1"), column(mean=True), column(mean=float("nan")),
    column(mean=10**400), column(levels="ab"), column(levels=[]), column(levels=[1]),
    column(levels=["b", "a"]), column(levels=["a", "a"]), column(levels=["a"], mean=1.0),
    column(more=1), {"label": 1}, {"id": 1}, {"id": "a"}, {"missing": None}, {"width": -1},
    {"width": True}, {"width": 2.0}, {"first": 2}, {"header": 1}, {"delimiter": ";;"},
    {"delimiter": "\n"}, {"delimiter": "é"}, {"delimiter": ","}, {"decimal": "x"},
    {"bits": 3}, {"features": ["a"]}, {"drop": [1]}, {"other": 1},
]  # fmt: skip
NO_RECIPES: list[Any] = [None, [], "table", 3, {}, {"family": "table"}, {1: 2}]


def test_a_valid_recipe() -> None:
    assert Recipe.from_json(GOOD).names == ["a"]


@pytest.mark.parametrize("value", [*(GOOD | change for change in CHANGES), *NO_RECIPES])
def test_an_invalid_recipe(value: Any) -> None:
    with pytest.raises(DataError, match=r"\.$"):
        Recipe.from_json(value)


def test_a_recipe_of_the_other_family(tmp_path: Path) -> None:
    path = tmp_path / "data.svm"
    path.write_bytes(b"1 1:1\n")
    assert "trained on" in refused(path, recipe=Recipe.from_json(GOOD))


# Beginnings of files that a backtracking pattern could match in very many ways.
LONG_BEGINNINGS = {
    "line ends": b"\n" * 300_000,
    "returns": b"\r" * 300_000,
    "blanks": b" \n" * 150_000,
    "comments": b"#\n" * 150_000,
    "digits": b"1" * 300_000,
    "pairs": b"1 " + b"1:1 " * 70_000 + b"x",
    "names": b"a " + b"a:1 " * 70_000 + b"x",
    "brackets": b"[1]" * 100_000,
    "braces": b'{"' * 150_000,
}


@pytest.mark.parametrize("begin", LONG_BEGINNINGS)
def test_a_beginning_is_looked_at_in_one_way(begin: str) -> None:
    """A file of thirty blank lines once kept a pattern busy for hours."""
    with contextlib.suppress(DataError):
        read(io.BytesIO(LONG_BEGINNINGS[begin]))
    with contextlib.suppress(DataError), open_stream(io.BytesIO(LONG_BEGINNINGS[begin])) as stream:
        for _ in stream.pieces():
            pass


@pytest.mark.parametrize(("blank", "lines"), [(b"\n", 1), (b"\r\n", 1), (b"\r", 1), (b"\n\r\n", 2)])
def test_rows_after_many_blank_lines_are_read(blank: bytes, lines: int) -> None:
    data = read(io.BytesIO(blank * 5000 + b"a,y\n1,0\n" + blank * 5000 + b"2,1\n"))
    assert (cast("Any", data.X).tolist(), data.labels.tolist()) == ([[1.0], [2.0]], [0, 1])
    with pytest.raises(DataError, match=rf"line {3 + 50 * lines}\) has 1 field"):
        read(io.BytesIO(b"a,y\n1,0\n" + blank * 50 + b"2\n"))

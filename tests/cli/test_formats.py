"""``novikoff fit``: every format and every way to choose columns, on data with known answers."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.conftest import Result, inside
from tests.data_files import npy, npz, parquet

# Exclusive or: inseparable, at least one mistake, in every format.
POINTS = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
LABELS = [0, 1, 1, 0]
COMMAS = b"a,b,y\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n"


FORMATS = {
    "plain.csv": COMMAS,
    "tabs.tsv": COMMAS.replace(b",", b"\t"),
    "semicolons.csv": COMMAS.replace(b",", b";"),
    "packed.csv.gz": gzip.compress(COMMAS),
    "dos.csv": b"\xef\xbb\xbf" + COMMAS.replace(b"\n", b"\r\n"),
    "nameless.csv": COMMAS.split(b"\n", 1)[1],
    "sparse.svm": b"0 1:0\n1 2:1\n1 1:1\n0 1:1 2:1\n",
    "columns.parquet": parquet(
        **dict(zip("aby", [*zip(*POINTS, strict=True), LABELS], strict=True))
    ),
    "array.npy": npy(np.column_stack([POINTS, LABELS])),
    "arrays.npz": npz(X=POINTS, y=LABELS),
}


def check(done: Result) -> None:
    assert (done.code, done.err) == (0, "")
    assert "4 rows · 2 features" in done.line("data")
    assert done.line("verdict").startswith(
        "inseparable (overlap), proved: no hyperplane separates the 4 rows"
    )
    assert done.line("mistakes").startswith("1 of 4 rows")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FORMATS[name])
    check(inside("fit", path, "--out", tmp_path))
    stem = name.split(".", 1)[0]
    done = inside("predict", tmp_path / f"{stem}.novikoff", path)
    assert "novikoff: 1 of 4 labels differ from the predictions.\n" in done.err
    assert inside("verify", tmp_path / f"{stem}.cert.json", path).code == 0


def test_standard_input_and_a_format_that_is_said(tmp_path: Path) -> None:
    check(inside("fit", "-", "--out", tmp_path, stdin=gzip.compress(COMMAS)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.cert.json", "data.novikoff"]
    path = tmp_path / "table.txt"
    path.write_bytes(FORMATS["tabs.tsv"])
    check(inside("fit", path, "--from", "tsv", "--out", tmp_path))
    check(inside("fit", path, "--delimiter", "\\t", "--out", tmp_path, "--force"))


def fit(tmp_path: Path, text: str, *words: str) -> dict[str, Any]:
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8")
    done = inside("fit", path, *words, "--format", "json", "--out", tmp_path / "out", "--force")
    assert (done.code, done.err) == (0, "")
    return done.json


# u alone separates the labels of first, v alone those of last.
TWO = "first,u,v,last\np,0,5,q\np,1,4,p\nq,2,5,q\nq,3,4,p\n"
COLOURS = "colour,size,y\nred,1,a\nblue,1,b\nred,2,a\ngreen,2,b\n"
# The text, the options, and the label, the number of features and the verdict.
OPTIONS = [
    (TWO, "--label first --drop last", ("first", 2, "separable")),
    (TWO, "--label 1 --drop last", ("first", 2, "separable")),
    (TWO, "--label -4 --features v", ("first", 1, "inseparable")),
    (TWO, "--label 4 --features v", ("last", 1, "separable")),
    (TWO, "--drop first", ("last", 2, "separable")),
    (COLOURS, "--one-hot colour", ("y", 4, "separable")),
    (COLOURS, "--one-hot *", ("y", 4, "separable")),
    ("1,10,a\n2,20,b\n", "--no-header --label 3", ("x3", 2, "separable")),
    ("1,2,3\n1,10,a\n2,20,b\n", "--header", ("3", 2, "separable")),
    ("x;y\n0,5;a\n1,5;b\n", "--decimal ,", ("y", 1, "separable")),
    ('x,"the\nlabel"\n1,"a\nb"\n2,c\n', "", ("the\nlabel", 1, "separable")),
]


@pytest.mark.parametrize(
    ("text", "words", "facts"), OPTIONS, ids=[words for _, words, _ in OPTIONS]
)
def test_columns(text: str, words: str, facts: tuple[str, int, str], tmp_path: Path) -> None:
    body = fit(tmp_path, text, *words.split())
    found = body["data"]["label"], body["data"]["features"], body["verdict"]["kind"]
    assert found == facts


def test_names_of_rows_and_of_columns_are_shown(tmp_path: Path) -> None:
    body = fit(tmp_path, TWO, "--id", "first", "--drop", "v")
    assert (body["data"]["features"], body["verdict"]["kind"]) == (1, "inseparable")
    support = body["verdict"]["cases"][0]["support"]
    assert [["p", "p", "q", "q"][row - 1] for row in support["rows"]] == support["ids"]
    fit(tmp_path, COLOURS, "--one-hot", "colour")
    assert "colour=red" in inside("info", tmp_path / "out" / "data.novikoff").out


def test_missing_values(tmp_path: Path) -> None:
    """Dropped rows keep the numbers that rows have in the file; means are kept for others."""
    text = "x,z,y\n0,1,a\n,1,a\n1,1,b\n0,1,b\n"
    body = fit(tmp_path, text, "--missing", "drop")
    assert (body["data"]["rows"], body["verdict"]["kind"]) == (3, "quasi-separable")
    assert body["verdict"]["cases"][0]["separated"]["rows"] == [3]
    assert body["duplicates"]["listed"][0]["rows"] == [1, 4]
    assert any("1 row" in note for note in body["data"]["notes"])
    assert fit(tmp_path, text, "--missing", "mean")["data"]["rows"] == 4
    model = tmp_path / "out" / "data.novikoff"
    recipe: Any = inside("info", model, "--format", "json").json["preprocessing"]
    assert recipe["columns"][0]["mean"] == pytest.approx(1 / 3)
    assert len(inside("predict", model, tmp_path / "data.csv").out.splitlines()) == 5

"""``novikoff fit``: every format and every way to choose columns, on data with known answers."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Result, inside

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

# Exclusive or: inseparable, one mistake at least, in whatever clothes.
POINTS = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
LABELS = [0, 1, 1, 0]
COMMAS = b"a,b,y\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n"


def npy() -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.column_stack([POINTS, LABELS]))
    return stream.getvalue()


def npz() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, X=np.array(POINTS), y=np.array(LABELS))
    return stream.getvalue()


def parquet() -> bytes:
    stream = io.BytesIO()
    columns = {"a": [p[0] for p in POINTS], "b": [p[1] for p in POINTS], "y": LABELS}
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


FORMATS = {
    "plain.csv": COMMAS,
    "tabs.tsv": COMMAS.replace(b",", b"\t"),
    "semicolons.csv": COMMAS.replace(b",", b";"),
    "packed.csv.gz": gzip.compress(COMMAS),
    "dos.csv": b"\xef\xbb\xbf" + COMMAS.replace(b"\n", b"\r\n"),
    "nameless.csv": COMMAS.split(b"\n", 1)[1],
    "sparse.svm": b"0 1:0\n1 2:1\n1 1:1\n0 1:1 2:1\n",
    "columns.parquet": parquet(),
    "array.npy": npy(),
    "arrays.npz": npz(),
}


def check(done: Result) -> None:
    assert (done.code, done.err) == (0, "")
    assert "4 rows · 2 features" in done.line("data")
    assert done.line("verdict").startswith("inseparable — proved: no hyperplane with a bias")
    assert done.line("mistakes").startswith("1 of 4 rows")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FORMATS[name])
    check(inside("fit", path, "--out", tmp_path))
    stem = name.split(".", 1)[0]
    done = inside("predict", tmp_path / f"{stem}.novikoff", path)
    assert "novikoff: 1 of 4 labels differ.\n" in done.err
    assert inside("verify", tmp_path / f"{stem}.cert.json", path).code == 0


def test_standard_input(tmp_path: Path) -> None:
    check(inside("fit", "-", "--out", tmp_path, stdin=COMMAS))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.cert.json", "data.novikoff"]
    packed = inside("fit", "-", "--out", tmp_path / "packed", stdin=gzip.compress(COMMAS))
    check(packed)


def test_the_format_can_be_said(tmp_path: Path) -> None:
    path = tmp_path / "table.txt"
    path.write_bytes(FORMATS["tabs.tsv"])
    check(inside("fit", path, "--from", "tsv", "--out", tmp_path))
    check(inside("fit", path, "--delimiter", "\\t", "--out", tmp_path, "--force"))


def fit(tmp_path: Path, text: str, *words: str) -> Result:
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8")
    return inside("fit", path, *words, "--format", "json", "--out", tmp_path / "out", "--force")


def facts(done: Result) -> tuple[object, object, object]:
    """The label, the number of features and the verdict."""
    assert (done.code, done.err) == (0, "")
    data, verdict = done.json["data"], done.json["verdict"]
    assert isinstance(data, dict)
    assert isinstance(verdict, dict)
    return data["label"], data["features"], verdict["kind"]


# u alone separates the labels of first, v alone those of last.
TWO = "first,u,v,last\np,0,5,q\np,1,4,p\nq,2,5,q\nq,3,4,p\n"


@pytest.mark.parametrize(
    ("words", "label"),
    [
        (("--label", "first"), "first"),
        (("--label", "1"), "first"),
        (("--label", "-4"), "first"),
        (("--label", "-1"), "last"),
        (("--label", "4"), "last"),
        ((), "last"),
    ],
)
def test_the_label_by_name_and_number(words: tuple[str, ...], label: str, tmp_path: Path) -> None:
    other = {"first": "last", "last": "first"}[label]
    done = fit(tmp_path, TWO, *words, "--drop", other)
    assert facts(done) == (label, 2, "separable")
    wrong = "v" if label == "first" else "u"
    done = fit(tmp_path, TWO, *words, "--features", wrong)
    assert facts(done)[1:] == (1, "inseparable")


def test_an_id_names_rows_and_is_no_feature(tmp_path: Path) -> None:
    done = fit(tmp_path, TWO, "--id", "first", "--drop", "v")
    assert facts(done) == ("last", 1, "inseparable")
    verdict = done.json["verdict"]
    assert isinstance(verdict, dict)
    support = verdict["cases"][0]["support"]
    assert [["p", "p", "q", "q"][row - 1] for row in support["rows"]] == support["ids"]


def test_one_hot(tmp_path: Path) -> None:
    text = "colour,size,y\nred,1,a\nblue,1,b\nred,2,a\ngreen,2,b\n"
    assert facts(fit(tmp_path, text, "--one-hot", "colour")) == ("y", 4, "separable")
    model = tmp_path / "out" / "data.novikoff"
    assert "colour=red" in inside("info", model).out
    assert facts(fit(tmp_path, text, "--one-hot", "*")) == ("y", 4, "separable")
    refused = fit(tmp_path, text)
    assert refused.code == 2
    assert "--one-hot colour" in refused.err


MISSING = "x,z,y\n0,1,a\n,1,a\n1,1,b\n0,1,b\n"


def test_missing_values_dropped_keep_the_numbers_of_rows(tmp_path: Path) -> None:
    done = fit(tmp_path, MISSING, "--missing", "drop")
    assert facts(done) == ("y", 2, "quasi-separable")
    verdict, data, duplicates = (done.json[key] for key in ("verdict", "data", "duplicates"))
    assert isinstance(verdict, dict)
    assert isinstance(data, dict)
    assert isinstance(duplicates, dict)
    assert data["rows"] == 3
    assert verdict["cases"][0]["separated"]["rows"] == [3]  # as in the file
    assert duplicates["listed"][0]["rows"] == [1, 4]
    assert any("1 row" in note for note in data["notes"])


def test_missing_values_filled_by_the_mean(tmp_path: Path) -> None:
    done = fit(tmp_path, MISSING, "--missing", "mean")
    data = done.json["data"]
    assert isinstance(data, dict)
    assert data["rows"] == 4
    model = inside("info", tmp_path / "out" / "data.novikoff", "--format", "json").json
    recipe = model["preprocessing"]
    assert isinstance(recipe, dict)
    assert recipe["columns"][0]["mean"] == pytest.approx(1 / 3)
    said = inside("predict", tmp_path / "out" / "data.novikoff", tmp_path / "data.csv").out
    assert len(said.splitlines()) == 5


def test_without_a_header(tmp_path: Path) -> None:
    text = "1,10,a\n2,20,b\n"
    done = fit(tmp_path, text, "--no-header", "--label", "3")
    assert facts(done) == ("x3", 2, "separable")
    heads = fit(tmp_path, "1,2,3\n1,10,a\n2,20,b\n", "--header")
    assert facts(heads) == ("3", 2, "separable")


def test_decimal_commas(tmp_path: Path) -> None:
    text = "x;y\n0,5;a\n1,5;b\n"
    assert facts(fit(tmp_path, text, "--decimal", ",")) == ("y", 1, "separable")


def test_a_line_break_inside_quotes_is_part_of_the_value(tmp_path: Path) -> None:
    done = fit(tmp_path, 'x,"the\nlabel"\n1,"a\nb"\n2,c\n')
    assert facts(done) == ("the\nlabel", 1, "separable")
    text = inside("fit", tmp_path / "data.csv", "--out", tmp_path / "out", "--force").out
    assert "the�label" in text.splitlines()[0]

"""Files that cannot be used give one sentence with file and place, exit code 2, and no output.

The tests of `tests/data` cover all errors of each format. Here, each format has one error.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Files, Result, inside
from tests.data_files import npy, parquet

GOOD = b"a,b,y\n1,2,p\n2,3,q\n3,5,p\n"
NESTED = parquet(a=[{"u": 1}, {"u": 2}], y=[0, 1])

# Name, content, options, and text that the error message must contain besides the name.
FILES: list[tuple[str, bytes, str, tuple[str, ...]]] = [
    ("empty.csv", b"", "", ("is empty",)),
    ("ragged.csv", b"a,b,y\n1,2,p\n3,q\n", "", ("line 3", "2 fields", "3 are")),
    ("words.csv", b"a,b,y\n1,u,p\n2,v,q\n", "", ("row 1", 'column "b"', "--one-hot b")),
    ("one_class.csv", b"a,y\n1,p\n2,p\n", "", ("'p'", "two classes")),
    ("folds.csv", GOOD, "--cv 3", ("too few for 3 folds",)),
    ("nested.parquet", NESTED, "", ('column "a"', "struct", "--drop a")),
    ("objects.npy", npy([[None, 1]]), "", ("never loaded",)),
]


def check(done: Result, *parts: object) -> None:
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("novikoff: ")
    assert done.err.count("\n") == 1
    assert done.err.endswith((".\n", "?\n"))
    assert len(done.err) < 700
    for part in parts:
        assert str(part) in done.err


@pytest.mark.parametrize(("name", "content", "words", "parts"), FILES, ids=[f[0] for f in FILES])
def test_fit_rejects(
    name: str, content: bytes, words: str, parts: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    check(inside("fit", path, *words.split(), "--out", tmp_path / "out"), path, *parts)
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_what_is_no_file_and_a_label_that_no_row_has(files: Files, tmp_path: Path) -> None:
    check(inside("fit", tmp_path / "none\n.csv"), "does not exist")
    check(inside("fit", tmp_path), tmp_path, "is a directory")
    done = inside("fit", files.xor, "--positive", "maybe", "--out", tmp_path)
    assert done.code == 2
    assert "no row of" in done.err
    assert "there are no, yes." in done.err
    assert list(tmp_path.iterdir()) == []


MODELS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "lying": (lambda model: struct.pack("<Q", 2**40) + model[8:], "not a safetensors file"),
    "cut": (lambda model: model[:-1], "not whole"),
    "weight": (lambda model: model[:-1] + bytes([model[-1] ^ 64]), "altered or damaged"),
    "pickle": (lambda model: pickle.dumps({"w": 1}), "not a safetensors file"),
    "table": (lambda model: GOOD, "not a safetensors file"),
}


@pytest.mark.parametrize("name", MODELS)
def test_predict_and_info_reject_a_bad_model(
    name: str, files: Files, fitted: Path, tmp_path: Path
) -> None:
    spoil, reason = MODELS[name]
    path = tmp_path / f"{name}.novikoff"
    path.write_bytes(spoil((fitted / "line.novikoff").read_bytes()))
    check(inside("predict", path, files.line, "--out", tmp_path / "out.csv"), path, reason)
    check(inside("info", path), path, reason)
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("name", ["line.cert.json", "", "none.novikoff"])
def test_predict_and_info_reject_a_file_that_is_no_model(
    name: str, files: Files, fitted: Path
) -> None:
    path = fitted / name
    reason = "as a model" if path.exists() else "does not exist"
    check(inside("predict", path, files.line), path, reason)
    check(inside("info", path), path, reason)


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("new.csv", "x,z\n1,two\n", ("row 1", 'column "z"', '"two"')),
        ("new.csv", "x,z\n1,\n", ("row 1", 'column "z"', "missing")),
        ("new.csv", "x\n1\n", ('no column "z"',)),
        ("new.csv", "x,z\n", ("no rows",)),
        ("new.svm", "1 1:1 2:2\n", ("trained on a table",)),
    ],
)
def test_predict_rejects_bad_data(
    name: str, content: str, parts: tuple[str, ...], fitted: Path, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)
    check(inside("predict", fitted / "line.novikoff", tmp_path / name), tmp_path / name, *parts)

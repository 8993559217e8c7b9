"""Files that cannot be used: one sentence that names file and place, exit code 2, no output."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tests.cli.conftest import Files, Result, inside

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


class Bad(NamedTuple):
    """A file, what is asked of it, and what the complaint must contain besides its name."""

    name: str
    content: bytes
    parts: tuple[str, ...]
    words: tuple[str, ...] = ()


def npy(array: object) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.asarray(array), allow_pickle=True)
    return stream.getvalue()


def npz(X: object, y: object) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, X=np.asarray(X), y=np.asarray(y))
    return stream.getvalue()


def parquet(**columns: object) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


GOOD = b"a,b,y\n1,2,p\n2,3,q\n3,5,p\n"
PACKED = gzip.compress(GOOD, mtime=0)
NESTED = parquet(a=[{"u": 1}, {"u": 2}], y=[0, 1])

FILES = [
    Bad("cut.csv.gz", PACKED[:-9], ("cut off",)),
    Bad("rubbish.csv", bytes(range(256)) * 8, ("NUL byte at position 1",)),
    Bad("wide.csv", GOOD.decode().encode("utf-16"), ("UTF-16", "iconv")),
    Bad("ragged.csv", b"a,b,y\n1,2,p\n3,q\n", ("line 3", "2 fields", "3 are")),
    Bad("unknown.csv", GOOD, ('"z"', "--label"), ("--label", "z")),
    Bad("empty.csv", b"", ("is empty",)),
    Bad("nan.csv", b"a,y\n1,p\nNaN,q\n", ("row 2", 'column "a"', "missing")),
    Bad("inf.csv", b"a,y\n1,p\ninf,q\n", ("row 2", 'column "a"', "infinite")),
    Bad("open.csv", b'a,y\n1,"p\n2,q\n', ("line 2", "quote")),
    Bad("one_class.csv", b"a,y\n1,p\n2,p\n", ("'p'", "two classes")),
    Bad("text.csv", b"a,b,y\n1,2,p\n2,three,q\n", ("row 2", 'column "b"', '"three"')),
    Bad("words.csv", b"a,b,y\n1,u,p\n2,v,q\n", ("row 1", 'column "b"', "--one-hot b")),
    Bad("lonely.csv", b"y\np\nq\n", ("no column left for the features",)),
    Bad("nofeature.csv", GOOD, ('"zz"', "--features"), ("--features", "a,zz")),
    Bad("falls.svm", b"1 1:1\n0 3:1 2:1\n", ("line 2", "ascend")),
    Bad("value.svm", b"1 1:1\n0 2:x\n", ("line 2", "number")),
    Bad("nested.parquet", NESTED, ('column "a"', "struct", "--drop a")),
    Bad("cut.parquet", NESTED[:-20], ("not a sound Parquet",)),
    Bad("objects.npy", npy(np.array([[None, 1]])), ("never loaded",)),
    Bad("cube.npy", npy(np.zeros((2, 2, 2))), ("shape (2, 2, 2)",)),
    Bad("objects.npz", npz(X=[[1.0], [2.0]], y=np.array([None, 1])), ('"y"', "never loaded")),
    Bad("named.csv", b"a,y\n1,p\n2,q\n", ("not a sound",), ("--from", "parquet")),
]


def check(done: Result, name: str, parts: tuple[str, ...]) -> None:
    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err
    assert done.err.startswith("novikoff: ")
    assert done.err.count("\n") == 1
    assert done.err.endswith((".\n", "?\n"))
    assert len(done.err) < 700
    for part in (name, *parts):
        assert part in done.err


@pytest.mark.parametrize("bad", FILES, ids=[bad.name for bad in FILES])
def test_fit_refuses(bad: Bad, tmp_path: Path) -> None:
    path = tmp_path / bad.name
    path.write_bytes(bad.content)
    words = ["fit", str(path), *bad.words, "--out", str(tmp_path / "out")]
    done = inside(*words)
    check(done, str(path), bad.parts)
    assert [entry.name for entry in tmp_path.iterdir()] == [bad.name]


def test_fit_refuses_what_is_no_file(tmp_path: Path) -> None:
    check(inside("fit", tmp_path / "none.csv"), "none.csv", ("does not exist",))
    check(inside("fit", tmp_path), str(tmp_path), ("is a directory",))
    check(inside("fit", tmp_path / "none\n.csv"), "none", ("does not exist",))


def test_a_label_that_no_row_has(files: Files, tmp_path: Path) -> None:
    done = inside("fit", files.xor, "--positive", "maybe", "--out", tmp_path)
    assert done.code == 2
    assert "no row of" in done.err
    assert "there are no, yes." in done.err
    assert list(tmp_path.iterdir()) == []


def test_folds_that_are_too_many(files: Files, tmp_path: Path) -> None:
    done = inside("fit", files.xor, "--cv", "3", "--out", tmp_path)
    check(done, "xor.csv", ("too few for 3 folds",))
    assert list(tmp_path.iterdir()) == []


def lying(model: bytes) -> bytes:
    """A header that claims to be longer than the file."""
    return struct.pack("<Q", 2**40) + model[8:]


def taller(model: bytes) -> bytes:
    """A header with another number of features."""
    return model.replace(b'\\"n_features\\":2', b'\\"n_features\\":9').replace(
        b'\\"n_features\\": 2', b'\\"n_features\\": 9'
    )


MODELS: list[tuple[str, Callable[[bytes], bytes], str]] = [
    ("lying", lying, "not a safetensors file"),
    ("taller", taller, "altered or damaged"),
    ("cut", lambda model: model[: len(model) // 2], "not whole"),
    ("cut_late", lambda model: model[:-1], "not whole"),
    ("longer", lambda model: model + b"\0", "not whole"),
    ("weight", lambda model: model[:-1] + bytes([model[-1] ^ 64]), "altered or damaged"),
    ("empty", lambda model: b"", "not whole"),
    ("pickle", lambda model: pickle.dumps({"w": 1}), "not a safetensors file"),
    ("table", lambda model: GOOD, "not a safetensors file"),
    ("rubbish", lambda model: bytes(range(256)) * 4, "not a safetensors file"),
]


@pytest.mark.parametrize(("name", "spoil", "reason"), MODELS, ids=[case[0] for case in MODELS])
def test_predict_and_info_refuse_a_bad_model(
    name: str, spoil: Callable[[bytes], bytes], reason: str, files: Files, fitted: Path,
    tmp_path: Path,
) -> None:  # fmt: skip
    good = (fitted / "line.novikoff").read_bytes()
    path = tmp_path / f"{name}.novikoff"
    path.write_bytes(spoil(good))
    assert path.read_bytes() != good
    out = tmp_path / "said.csv"
    check(inside("predict", path, files.line, "--out", out), str(path), (reason,))
    check(inside("info", path), str(path), (reason,))
    assert not out.exists()


def test_predict_and_info_refuse_what_is_no_model(files: Files, fitted: Path) -> None:
    certificate = fitted / "line.cert.json"
    check(inside("predict", certificate, files.line), str(certificate), ("as a model",))
    check(inside("info", certificate), str(certificate), ("as a model",))
    check(inside("info", files.line), str(files.line), ("as a model",))
    check(inside("info", fitted), str(fitted), ("as a model",))
    none = fitted / "none.novikoff"
    check(inside("info", none), str(none), ("no such file",))
    check(inside("predict", none, files.line), str(none), ("no such file",))


def test_predict_refuses_bad_data(files: Files, fitted: Path, tmp_path: Path) -> None:
    model = fitted / "line.novikoff"
    path = tmp_path / "new.csv"
    for content, parts in (
        (b"x,z\n1,two\n", ("row 1", 'column "z"', '"two"')),
        (b"x,z\n1,\n", ("row 1", 'column "z"', "missing")),
        (b"x\n1\n", ('no column "z"',)),
        (b"x,z\n", ("no rows",)),
    ):
        path.write_bytes(content)
        check(inside("predict", model, path), str(path), parts)
    path = tmp_path / "new.svm"
    path.write_bytes(b"1 1:1 2:2\n")
    check(inside("predict", model, path), str(path), ("trained on a table",))
    check(inside("predict", model, tmp_path / "none.csv"), "none.csv", ("does not exist",))


def test_verify_refuses_a_certificate_for_other_data(
    files: Files, fitted: Path, tmp_path: Path
) -> None:
    body = json.loads((fitted / "xor.cert.json").read_text(encoding="utf-8"))
    path = tmp_path / "other.json"
    body["preprocessing"] = None
    path.write_text(json.dumps(body), encoding="utf-8")
    check(inside("verify", path, files.line), str(path), ())
    check(inside("verify", path, tmp_path / "none.csv"), "none.csv", ("does not exist",))

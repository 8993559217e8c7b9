"""``novikoff verify``: accepts what is proved, and nothing else, without the solver."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import novikoff as nv
from tests.cli.conftest import Files, Result, inside


@pytest.mark.parametrize("name", ["xor", "line", "quasi", "duplicates", "iris"])
def test_what_fit_wrote_is_accepted(name: str, files: Files, fitted: Path) -> None:
    done = inside("verify", fitted / f"{name}.cert.json", getattr(files, name))
    assert (done.code, done.err) == (0, "")
    assert "holds" in done.out


def test_the_claims_are_said_with_their_hypotheses(files: Files, fitted: Path) -> None:
    done = inside("verify", fitted / "xor.cert.json", files.xor)
    claims = [line for line in done.out.splitlines() if line.startswith("holds")]
    assert len(claims) == 2
    for claim in claims:
        assert "yes" in claim
        assert "4 rows" in claim
        assert "with a bias" in claim
    assert "Inseparable" in claims[0]
    assert "mistakes of 1 or more" in claims[1]
    several = inside("verify", fitted / "iris.cert.json", files.iris).out
    assert "setosa" in several
    assert "0.749" in several


def refused(done: Result) -> str:
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("novikoff: ")
    assert done.err.count("\n") == 1
    return done.err


@pytest.mark.parametrize(
    ("old", "new"),
    [("4,3,high", "4,3.0000000000000004,high"), ("4,3,high", "4,3,low"), ("0,5,low\n", "")],
)
def test_other_data_is_refused(
    old: str, new: str, files: Files, fitted: Path, tmp_path: Path
) -> None:
    text = files.line.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "line.csv"
    path.write_text(text.replace(old, new), encoding="utf-8")
    message = refused(inside("verify", fitted / "line.cert.json", path))
    assert "line.cert.json" in message


def test_quite_other_data_is_refused(files: Files, fitted: Path) -> None:
    assert "no column" in refused(inside("verify", fitted / "line.cert.json", files.xor))


def test_other_columns_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("u,v,first,second\n0,1,a,b\n1,3,b,b\n2,4,b,a\n", encoding="utf-8")
    fit = ("fit", path, "--features", "u,v", "--label", "first", "--out", tmp_path)
    assert inside(*fit).code == 0
    certificate = tmp_path / "two.cert.json"
    words = ("--features", "u,v", "--label")
    assert inside("verify", certificate, path).code == 0
    assert inside("verify", certificate, path, *words, "first").code == 0
    assert "two.cert.json" in refused(inside("verify", certificate, path, *words, "second"))
    wrong = ("--features", "v,u", "--label", "first")
    assert "two.cert.json" in refused(inside("verify", certificate, path, *wrong))


def test_order_of_columns_and_other_columns_do_not_matter(fitted: Path, tmp_path: Path) -> None:
    path = tmp_path / "turned.csv"
    rows = ["low,5,0", "low,3,1", "high,4,2", "high,5,3", "high,3,4"]
    path.write_text("class,z,x\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert inside("verify", fitted / "line.cert.json", path).code == 0


def altered(body: dict[str, object], what: str) -> str:
    proofs = body["proofs"]
    assert isinstance(proofs, list)
    first = proofs[0]
    if what == "kind":
        first["kind"] = "inseparable"
    elif what == "rows":
        first["n"] += 1
    elif what == "margin":
        first["margin"] = [float(2).hex(), float(2).hex()]
    elif what == "unknown":
        body["colour"] = "red"
    elif what == "none":
        body["proofs"] = []
    elif what == "version":
        body["schema_version"] = 1
    else:
        body["preprocessing"] = {"family": "tree"}
    return json.dumps(body)


@pytest.mark.parametrize(
    "what", ["kind", "rows", "margin", "unknown", "none", "version", "preprocessing"]
)
def test_an_altered_certificate_is_refused(
    what: str, files: Files, fitted: Path, tmp_path: Path
) -> None:
    body = json.loads((fitted / "line.cert.json").read_text(encoding="utf-8"))
    path = tmp_path / "altered.json"
    path.write_text(altered(body, what), encoding="utf-8")
    refused(inside("verify", path, files.line))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"kind": "novikoff certificates", "schema', "not JSON"),
        (b"\xff\xfe\x00\x01", "not even text"),
        (b"", "not JSON"),
        (b"[]", "not a JSON object"),
        (b"{}", ""),
        (b"[" * 100_000, "not JSON"),
        (b'{"kind": "a", "kind": "b"}', "twice"),
        (b"x,class\n1,a\n", "not JSON"),
    ],
)
def test_what_is_no_certificate_is_refused(
    content: bytes, reason: str, files: Files, tmp_path: Path
) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    message = refused(inside("verify", path, files.line))
    assert "broken.json" in message
    assert reason in message


def test_a_truncated_certificate_is_refused(files: Files, fitted: Path, tmp_path: Path) -> None:
    whole = (fitted / "line.cert.json").read_bytes()
    path = tmp_path / "half.json"
    path.write_bytes(whole[: len(whole) // 2])
    assert "half.json" in refused(inside("verify", path, files.line))
    assert "cannot be read" in refused(inside("verify", tmp_path / "none.json", files.line))
    assert "cannot be read" in refused(inside("verify", tmp_path, files.line))


def test_a_model_is_no_certificate(files: Files, fitted: Path) -> None:
    assert "line.novikoff" in refused(inside("verify", fitted / "line.novikoff", files.line))


def test_a_bare_certificate(files: Files, tmp_path: Path) -> None:
    X = np.array([[0.0, 5.0], [1.0, 3.0], [2.0, 4.0], [3.0, 5.0], [4.0, 3.0]])
    y = np.array(["low", "low", "high", "high", "high"])
    certificate = nv.separate(X, y).certificate
    assert certificate is not None
    path = tmp_path / "bare.json"
    path.write_text(certificate.to_json(), encoding="utf-8")
    done = inside("verify", path, files.line)
    assert (done.code, done.err) == (0, "")
    assert "Separable" in done.line("holds")
    refused(inside("verify", path, files.xor))


def test_what_was_dropped_is_dropped_again(tmp_path: Path) -> None:
    data = tmp_path / "gaps.csv"
    data.write_text("x,z,c\n1,2,a\n?,3,b\n2,1,a\n5,5,b\n4,6,\n")
    fit = inside("fit", data, "--missing", "drop", "--out", tmp_path)
    assert fit.code == 0
    done = inside("verify", tmp_path / "gaps.cert.json", data)
    assert (done.code, done.err) == (0, "")
    assert "3 rows" in done.out
    assert "2 rows with missing values dropped (rows 2, 5)" in done.out
    refused = inside("predict", tmp_path / "gaps.novikoff", data)
    assert refused.code == 2
    left = inside("predict", tmp_path / "gaps.novikoff", data, "--missing", "drop")
    assert left.out == "row,prediction\n1,a\n3,a\n4,b\n5,b\n"


def test_how_the_data_was_read_is_said(tmp_path: Path) -> None:
    """A certificate says how to read the data; what it leaves out must be seen."""
    data = tmp_path / "xz.csv"
    data.write_text("x,z,c\n1,0,0\n2,1,1\n3,0,0\n4,1,1\n")
    assert inside("fit", data, "--drop", "z", "--header", "--out", tmp_path).code == 0
    done = inside("verify", tmp_path / "xz.cert.json", data)
    assert done.code == 0
    assert "1 feature · label c" in done.out
    assert 'ignored: "z"' in done.out or '"z"' in done.out
    assert "the first line is a header" in done.out

"""``novikoff verify`` accepts proved claims and rejects all others, without the solver."""

from __future__ import annotations

import json
import re
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

import novikoff as nv
from tests.cases import case_named
from tests.cli.conftest import Files, inside, refused


@pytest.mark.parametrize("name", ["xor", "line", "quasi", "duplicates", "iris"])
def test_what_fit_wrote_is_accepted_with_its_hypotheses(
    name: str, files: Files, fitted: Path
) -> None:
    done = inside("verify", fitted / f"{name}.cert.json", getattr(files, name))
    assert (done.code, done.err) == (0, "")
    claims = [line for line in done.out.splitlines() if line.startswith("holds")]
    assert claims
    for claim in claims:
        assert "with a bias" in claim
        assert " rows" in claim
    if name == "xor":
        assert "Inseparable" in claims[0]
        assert "misclassifies at least 1 row" in claims[1]
    if name == "iris":
        assert "setosa" in claims[0]
        assert "0.749" in claims[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [("4,3,high", "4,3.0000000000000004,high"), ("4,3,high", "4,3,low"), ("0,5,low\n", "")],
    ids=["another number", "another label", "a row less"],
)
def test_altered_data_is_rejected(
    old: str, new: str, files: Files, fitted: Path, tmp_path: Path
) -> None:
    text = files.line.read_text(encoding="utf-8")
    path = tmp_path / "line.csv"
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    refused(inside("verify", fitted / "line.cert.json", path), "line.cert.json", code=1)


def test_data_of_other_columns_is_rejected(files: Files, fitted: Path) -> None:
    refused(inside("verify", fitted / "line.cert.json", files.xor), "no column")


def test_columns_are_those_of_the_certificate_or_of_the_options(tmp_path: Path) -> None:
    path, turned = tmp_path / "two.csv", tmp_path / "turned.csv"
    path.write_text("u,v,first,second\n0,1,a,b\n1,3,b,b\n2,4,b,a\n", encoding="utf-8")
    turned.write_text("first,v,u\na,1,0\nb,3,1\nb,4,2\n", encoding="utf-8")
    fit = ("fit", path, "--features", "u,v", "--label", "first", "--out", tmp_path)
    assert inside(*fit).code == 0
    certificate = tmp_path / "two.cert.json"
    assert inside("verify", certificate, path).code == 0
    assert inside("verify", certificate, turned).code == 0
    assert inside("verify", certificate, path, "--features", "u,v", "--label", "first").code == 0
    for columns, label in (("u,v", "second"), ("v,u", "first")):
        with case_named((columns, label)):
            words = ("--features", columns, "--label", label)
            refused(inside("verify", certificate, path, *words), "two.cert.json", code=1)


ALTERED: list[tuple[tuple[str | int, ...], object]] = [
    (("proofs", 0, "kind"), "inseparable"),
    (("proofs", 0, "n"), 6),
    (("proofs", 0, "margin"), [float(2).hex(), float(2).hex()]),
    (("colour",), "red"),
    (("proofs",), []),
    (("schema_version",), 2),
    (("preprocessing",), {"family": "tree"}),
]


@pytest.mark.parametrize(("place", "value"), ALTERED, ids=str)
def test_an_altered_certificate_is_rejected(
    place: tuple[str | int, ...], value: object, files: Files, fitted: Path, tmp_path: Path
) -> None:
    body = json.loads((fitted / "line.cert.json").read_text(encoding="utf-8"))
    part = body
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    path = tmp_path / "altered.json"
    path.write_text(json.dumps(body), encoding="utf-8")
    refused(inside("verify", path, files.line))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"kind": "novikoff certificates", "schema', "not JSON"),
        (b"\xff\xfe\x00\x01", "not even text"),
        (b"[]", "not a JSON object"),
        (b"{}", ""),
        (b"[" * 100_000, "not JSON"),
        (b'{"kind": "a", "kind": "b"}', "twice"),
    ],
    ids=["cut off", "no text", "a list", "nothing in it", "deep", "a key twice"],
)
def test_what_is_no_certificate_is_rejected(
    content: bytes, reason: str, files: Files, tmp_path: Path
) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    refused(inside("verify", path, files.line), "broken.json", reason)


def test_files_that_are_not_there_or_not_certificates(files: Files, fitted: Path) -> None:
    refused(inside("verify", fitted / "none.json", files.line), "does not exist")
    refused(inside("verify", fitted, files.line), "cannot be read")
    refused(inside("verify", fitted / "line.novikoff", files.line), "line.novikoff")
    refused(inside("verify", fitted / "line.cert.json", fitted / "none.csv"), "does not exist")


def test_files_in_the_wrong_order(files: Files, fitted: Path) -> None:
    proof = fitted / "line.cert.json"
    refused(inside("verify", files.line, proof), f"comes first: novikoff verify {proof} ")


def test_a_bare_certificate(files: Files, tmp_path: Path) -> None:
    data = nv.data.read(files.line)
    certificate = nv.separate(data.X, data.y).certificate
    assert certificate is not None
    path = tmp_path / "bare.json"
    path.write_text(certificate.to_json(), encoding="utf-8")
    done = inside("verify", path, files.line)
    assert (done.code, done.err) == (0, "")
    assert "Separable" in done.line("holds")
    refused(inside("verify", path, files.xor), code=1)


def test_what_was_dropped_is_dropped_again_and_said(tmp_path: Path) -> None:
    """A certificate says how to read the data; the user must see what it leaves out."""
    data = tmp_path / "gaps.csv"
    data.write_text("x,z,c\n1,2,a\n?,3,b\n2,1,a\n5,5,b\n4,6,\n")
    words = ("--missing", "drop", "--drop", "z", "--header", "--out", tmp_path)
    assert inside("fit", data, *words).code == 0
    done = inside("verify", tmp_path / "gaps.cert.json", data)
    assert (done.code, done.err) == (0, "")
    assert "3 rows · 1 feature · label c" in done.line("data")
    assert "2 rows with missing values dropped (rows 2, 5)" in done.out
    assert '"z"' in done.out
    assert "the first line is a header" in done.out
    assert inside("predict", tmp_path / "gaps.novikoff", data).code == 2
    left = inside("predict", tmp_path / "gaps.novikoff", data, "--missing", "drop")
    assert left.out == "row,prediction\n1,a\n3,a\n4,b\n5,b\n"


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("xor", "is of the same study; its predictions were not checked"),
        ("line", "does not belong to this certificate: it is of another study"),
        (None, "cannot be read as a model: it was not compared"),
    ],
)
def test_the_model_beside_a_certificate(
    model: str | None, said: str, files: Files, fitted: Path, tmp_path: Path
) -> None:
    proof, beside = tmp_path / "xor.cert.json", tmp_path / "xor.novikoff"
    shutil.copy(fitted / "xor.cert.json", proof)
    assert "novikoff" not in inside("verify", proof, files.xor).out
    beside.write_bytes(b"" if model is None else (fitted / f"{model}.novikoff").read_bytes())
    done = inside("verify", proof, files.xor)
    assert (done.code, done.err) == (0, "")
    assert done.line("model") == f"{beside} {said}"


# The file, the exit code, and the message; the certificate is about line.csv.
OTHER_DATA = {
    "the same": ("x,z,class\n0,5,low\n1,3,low\n2,4,high\n3,5,high\n4,3,high\n", 0, "5 rows"),
    "columns in another order": (
        "class,z,x\nlow,5,0\nlow,3,1\nhigh,4,2\nhigh,5,3\nhigh,3,4\n", 0, "2 features"
    ),
    "a column more": (
        "x,z,w,class\n0,5,1,low\n1,3,1,low\n2,4,1,high\n3,5,1,high\n4,3,1,high\n",
        0,
        '1 column is ignored: "w"',
    ),
    "numbers written in another way": (
        "x,z,class\n0e0,+5,low\n1.0,3,low\n2,4,high\n3,5,high\n4,3,high\n", 0, "5 rows"
    ),
    "rows in another order": (
        "x,z,class\n1,3,low\n0,5,low\n2,4,high\n3,5,high\n4,3,high\n", 1, "other data"
    ),
    "a row more": (
        "x,z,class\n0,5,low\n1,3,low\n2,4,high\n3,5,high\n4,3,high\n4,3,high\n", 1, "6 × 2"
    ),
    "labels swapped": (
        "x,z,class\n0,5,high\n1,3,high\n2,4,low\n3,5,low\n4,3,low\n", 1, "other data"
    ),
    "another label": (
        "x,z,class\n0,5,low\n1,3,low\n2,4,high\n3,5,high\n4,3,middle\n", 1, "middle"
    ),
    "a missing value": (
        "x,z,class\n0,5,low\n1,3,low\n2,4,high\n3,,high\n4,3,high\n", 2, "row 4"
    ),
    "a missing label": (
        "x,z,class\n0,5,low\n1,3,low\n2,4,high\n3,5,\n4,3,high\n", 2, "the label is missing"
    ),
    "no such column": ("x,class\n0,low\n1,low\n2,high\n3,high\n4,high\n", 2, 'no column "z"'),
    "columns swapped": (
        "z,x,class\n0,5,low\n1,3,low\n2,4,high\n3,5,high\n4,3,high\n", 1, "other data"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER_DATA)
def test_a_claim_is_printed_for_its_own_data_only(name: str, fitted: Path, tmp_path: Path) -> None:
    text, code, said = OTHER_DATA[name]
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8")
    done = inside("verify", fitted / "line.cert.json", path)
    if code == 0:
        assert (done.code, done.err) == (0, "")
        assert "Separable" in done.line("holds")
        assert said in done.out
    else:
        refused(done, said, code=code)


@pytest.mark.parametrize("scale", ["1", "1.1", "1e-9", "1e9"])
def test_the_bound_on_mistakes_is_not_below_the_truth(scale: str, tmp_path: Path) -> None:
    """The points −s and s have γ = s and R² = s² + 1 with a bias; R²/γ² is not a whole number."""
    data = tmp_path / "two.csv"
    data.write_text(f"x,class\n-{scale},a\n{scale},b\n", encoding="utf-8")
    assert inside("fit", data, "--out", tmp_path).code == 0
    claim = inside("verify", tmp_path / "two.cert.json", data).line("holds")
    found = re.search(r"γ is in \[(\S+), (\S+)\], .*⌊R²/γ²⌋ is at most ([\d,]+)\.", claim)
    assert found is not None
    s = Fraction(float(scale))
    assert Fraction(float(found[1])) <= s <= Fraction(float(found[2]))
    assert (s**2 + 1) // s**2 <= int(found[3].replace(",", "")) <= (s**2 + 1) / s**2 * 2


@pytest.mark.parametrize("words", ["--label to", "--missing drop", "--from tsv", "--cache a"])
def test_options_for_examples_are_not_passed_over_for_inequalities(
    words: str, tmp_path: Path
) -> None:
    data, proof = tmp_path / "system.csv", tmp_path / "proof"
    data.write_text("x,is,to\n1,<=,3\n", encoding="utf-8")
    assert inside("solve", data, "--certificate", proof).code == 0
    assert inside("verify", proof, data).line("system") == f"{data} · read as csv · 1 variable"
    done = inside("verify", proof, data, *words.split())
    assert (done.code, done.out) == (2, "")
    assert f"{words.split()[0]} is for labelled rows, not for inequalities." in done.err


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        # The labels of four points on a line alternate: no two of them are a contradiction.
        ("a,class\n1,no\n2,yes\n3,no\n", ["no hyperplane separates rows 1, 2, 3 (counted from 1)"]),
        # A row with a missing value keeps its number in the file.
        (
            "a,class\n1,no\n,yes\n2,no\n2,yes\n3,yes\n9,yes\n",
            [
                "a hyperplane with no row on its wrong side separates at most 3 rows and contains "
                "the other 2",
                "no hyperplane separates rows 3, 4 (counted from 1)",
            ],
        ),
        ("a,class\n1,no\n2,no\n3,yes\n", []),
    ],
)
def test_rows_that_the_check_identifies_are_printed(
    text: str, lines: list[str], tmp_path: Path
) -> None:
    data = tmp_path / "points.csv"
    data.write_text(text, encoding="utf-8")
    assert inside("fit", data, "--missing", "drop", "--out", tmp_path).code == 0
    done = inside("verify", tmp_path / "points.cert.json", data)
    assert done.code == 0
    said = [line.strip() for line in done.out.splitlines() if not line.startswith("holds")]
    assert [line for line in said if "hyperplane" in line] == lines

"""``novikoff fit`` and ``verify`` on data that is read in blocks."""

from __future__ import annotations

from pathlib import Path

import pytest

import novikoff as nv
from novikoff.cli import options
from novikoff.report import proof_file
from tests.cli.conftest import Files, inside

NAMES = ("xor", "line", "quasi", "iris", "wine", "cancer")


def about(report: dict[str, object]) -> dict[str, object]:
    """What a report says of the data."""
    data = report["data"]
    assert isinstance(data, dict)
    return data


def verdicts(report: dict[str, object]) -> object:
    """What a report says that must not depend on how the rows are read."""
    verdict = report["verdict"]
    assert isinstance(verdict, dict)
    cases = verdict["cases"]
    assert isinstance(cases, list)
    return [
        (case["positive"], case["kind"], case["least_mistakes"], case["logistic"])
        if "least_mistakes" in case
        else (case["positive"], case["kind"], case["logistic"])
        for case in cases
    ]


@pytest.mark.parametrize("name", NAMES)
def test_the_report_is_that_of_the_rows_in_memory(name: str, files: Files, tmp_path: Path) -> None:
    data: Path = getattr(files, name)
    words = ["--format", "json", "--order", "cyclic", "--epochs", "50"]
    whole = inside("fit", data, *words, "--out", tmp_path / "whole")
    parts = inside("fit", data, *words, "--out", tmp_path / "parts", "--cache", tmp_path / "cache")
    assert (whole.code, parts.code, parts.err) == (0, 0, "")
    assert verdicts(parts.json) == verdicts(whole.json)
    assert parts.json["clashes"] == whole.json["clashes"]
    for part in ("source", "rows", "features", "classes", "label"):
        assert about(parts.json)[part] == about(whole.json)[part]
    proof = tmp_path / "parts" / f"{data.stem}.cert.json"
    again = inside("verify", proof, data)
    cached = inside("verify", proof, data, "--cache", tmp_path / "cache")
    assert (again.code, again.err, cached.code, cached.err) == (0, "", 0, "")
    assert again.out.splitlines()[-1] == cached.out.splitlines()[-1]
    assert len(list((tmp_path / "cache").iterdir())) == 1
    one = nv.load(tmp_path / "whole" / f"{data.stem}.novikoff")
    other = nv.load(tmp_path / "parts" / f"{data.stem}.novikoff")
    assert one.classes_.tolist() == other.classes_.tolist()
    if isinstance(one, nv.Perceptron) and isinstance(other, nv.Perceptron):
        assert one.n_mistakes_ == other.n_mistakes_


def test_identical_rows_with_different_labels_are_listed(tmp_path: Path) -> None:
    data = tmp_path / "rows.csv"
    data.write_text("a,b,y\n1,0,u\n2,5,v\n1,-0.0,v\n3,3,u\n2,5,v\n1.0,0,u\n")
    done = inside("fit", data, "--out", tmp_path, "--cache", tmp_path / "cache")
    assert (done.code, done.err) == (0, "")
    assert done.line("clashes") == "1 group of identical rows with different labels:"
    assert "rows 1, 3, 6" in done.out


def test_a_limit_on_memory_decides_how_rows_are_read(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = inside("fit", files.line, "--out", tmp_path, "--max-memory", "1GB")
    assert "read in blocks" not in done.out
    monkeypatch.setattr(options, "_PROGRAM", 10**9)
    done = inside("fit", files.line, "--out", tmp_path, "--max-memory", "1GB", "--force")
    assert (done.code, done.err) == (0, "")
    assert "read in blocks" in done.out
    proofs = proof_file.read((tmp_path / "line.cert.json").read_text())
    assert [proof.n for proof in proofs.proofs] == [len(files.line.read_text().split()) - 1]
    done = inside("verify", tmp_path / "line.cert.json", files.line, "--max-memory", "1GB")
    assert (done.code, done.err) == (0, "")
    done = inside("fit", files.line, "--max-memory", "1GB", "--holdout", "0.5", "--force")
    assert done.code == 2
    assert "--holdout needs all rows in memory, and these are read in blocks." in done.err


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--max-memory", "much"], "much is not a size such as 500MB or 2GB"),
        (["--max-memory", "1MB"], "give 700MB at least"),
        (["--cache", "{here}", "--cv", "3"], "--cv needs all rows in memory"),
        (["--cache", "{here}", "--plot", "a.svg"], "--plot needs all rows in memory"),
        (["--cache", "{here}", "--one-hot", "*"], "--one-hot needs all rows at once"),
        (["--cache", "{here}", "--label", "zz"], 'has no column "zz"'),
    ],
)
def test_what_cannot_be_done_is_said(
    words: list[str], what: str, files: Files, tmp_path: Path
) -> None:
    given = [word.replace("{here}", str(tmp_path / "cache")) for word in words]
    done = inside("fit", files.line, *given, "--out", tmp_path / "out")
    assert (done.code, done.out) == (2, "")
    assert what in done.err
    assert "Traceback" not in done.err
    assert not list(tmp_path.glob("out/*"))


def test_one_class_against_the_rest(files: Files, tmp_path: Path) -> None:
    words = ["--positive", "virginica", "--format", "json", "--out", str(tmp_path), "--force"]
    whole = inside("fit", files.iris, *words)
    parts = inside("fit", files.iris, *words, "--cache", tmp_path / "cache")
    assert parts.code == whole.code == 0
    assert verdicts(parts.json) == verdicts(whole.json)
    assert about(parts.json)["classes"] == about(whole.json)["classes"]
    done = inside("predict", tmp_path / "iris.novikoff", files.iris)
    assert done.code == 0
    assert {line.split(",")[1] for line in done.out.splitlines()[1:]} <= {"(rest)", "virginica"}


def test_a_page_has_no_pictures_but_everything_else(files: Files, tmp_path: Path) -> None:
    done = inside(
        "fit", files.cancer, "--format", "html", "--out", tmp_path, "--cache", tmp_path / "cache"
    )
    assert (done.code, done.err) == (0, "")
    assert "<svg" not in done.out
    assert "separable" in done.out


def test_a_cache_is_data_itself(files: Files, tmp_path: Path) -> None:
    inside("fit", files.iris, "--out", tmp_path / "a", "--cache", tmp_path / "cache")
    (cache,) = (tmp_path / "cache").iterdir()
    done = inside("fit", cache, "--out", tmp_path / "b")
    assert (done.code, done.err) == (0, "")
    assert "150 rows · 4 features" in done.out
    cache.write_bytes(cache.read_bytes()[:-3])
    done = inside("fit", cache, "--out", tmp_path / "c")
    assert done.code == 2
    assert "Traceback" not in done.err

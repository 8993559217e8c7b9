"""Data larger than memory: ``--max-memory`` and ``--cache`` only change where arrays are stored."""

from __future__ import annotations

from pathlib import Path

import pytest

import novikoff as nv
from tests.cli.conftest import Files, inside


def essence(report: dict[str, object]) -> object:
    """The parts of a report that must not depend on where the arrays are stored."""
    verdict, data = report["verdict"], report["data"]
    assert isinstance(verdict, dict)
    assert isinstance(data, dict)
    sizes = [data[name] for name in ("rows", "features", "classes", "label")]
    return verdict["cases"], report["duplicates"], report["model"], sizes


@pytest.mark.parametrize("name", ["xor", "quasi", "iris", "cancer"])
def test_the_report_is_that_of_the_rows_in_memory(name: str, files: Files, tmp_path: Path) -> None:
    data: Path = getattr(files, name)
    words = ["--format", "json", "--order", "cyclic"]
    whole = inside("fit", data, *words, "--out", tmp_path / "whole")
    parts = inside("fit", data, *words, "--out", tmp_path / "parts", "--cache", tmp_path / "cache")
    assert (whole.code, parts.code, parts.err) == (0, 0, "")
    assert essence(parts.json) == essence(whole.json)
    proof = tmp_path / "parts" / f"{data.stem}.cert.json"
    again = inside("verify", proof, data, "--cache", tmp_path / "cache")
    assert (again.code, again.err) == (0, "")
    models = [nv.load(tmp_path / part / f"{data.stem}.novikoff") for part in ("whole", "parts")]
    assert models[0].coef_.tolist() == models[1].coef_.tolist()


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("--cv 3", "--cv needs all rows in memory"),
        ("--holdout 0.5", "--holdout needs all rows in memory"),
        ("--one-hot *", "one-hot"),
        ("--label zz", 'has no column "zz"'),
    ],
)
def test_options_that_arrays_on_disk_do_not_allow(
    words: str, what: str, files: Files, tmp_path: Path
) -> None:
    places = ["--cache", str(tmp_path / "c"), "--out", str(tmp_path / "out")]
    done = inside("fit", files.line, *words.split(), *places)
    assert (done.code, done.out) == (2, "")
    assert what in done.err
    assert not list(tmp_path.glob("out/*"))


def test_a_page_has_no_pictures_but_everything_else(files: Files, tmp_path: Path) -> None:
    words = ["--format", "html", "--out", str(tmp_path), "--cache", str(tmp_path / "cache")]
    done = inside("fit", files.cancer, *words)
    assert (done.code, done.err) == (0, "")
    assert "<svg" not in done.out
    assert "separable" in done.out

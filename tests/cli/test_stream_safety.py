"""``novikoff stream`` loses nothing and makes nothing up: not the rows, not their ends."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import Result, inside

HEADER = b"a,b,label\n"


def stream(*words: str | Path, stdin: bytes = b"") -> Result:
    done = inside("stream", *words, "--quiet", stdin=stdin)
    assert done.code == 0, done.err
    return done


def refused(*words: str | Path, stdin: bytes = b"") -> str:
    done = inside("stream", *words, "--quiet", stdin=stdin)
    assert (done.code, done.out) == (2, "")
    return done.err


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """4,000 rows of some 45 bytes, three blocks of a trail."""
    X = np.random.default_rng(4).normal(size=(4000, 2))
    rows = [f"{a!r},{b!r},{'high' if a > b else 'low'}\n" for a, b in X.tolist()]
    path = tmp_path / "rows.csv"
    path.write_bytes(HEADER + "".join(rows).encode())
    return path


def test_a_model_is_not_written_over_its_rows(data: Path, tmp_path: Path) -> None:
    before = data.read_bytes()
    link, hard = tmp_path / "link.csv", tmp_path / "hard.csv"
    link.symlink_to(data)
    os.link(data, hard)
    for one, other in ((data, data), (data, link), (link, data), (hard, data)):
        assert "the rows come from" in refused(one, "--save", other, "--force")
        assert "the rows come from" in refused(one, "--save", other, "--resume")
    assert data.read_bytes() == before


def test_a_line_that_was_cut_off_is_not_two_rows(tmp_path: Path) -> None:
    data, model, whole = tmp_path / "g.svm", tmp_path / "m.novikoff", tmp_path / "w.novikoff"
    first = b"1 1:0.5 2:1\n-1 1:0.25 2:-1\n1 1:0.5"
    data.write_bytes(first)
    stream(data, "--save", model)
    before = model.read_bytes()
    data.write_bytes(first + b"73 2:1\n-1 1:1\n")
    assert "line 3 was the last one, without an end" in refused(data, "--save", model, "--resume")
    assert model.read_bytes() == before
    data.write_bytes(first + b"\n-1 1:1\n")
    stream(data, "--save", model, "--resume")
    stream(data, "--save", whole)
    assert weights(model) == weights(whole)


def weights(model: Path) -> bytes:
    from novikoff.report import model_file

    return model_file.read(model).model.W.tobytes()


def test_rows_that_are_others_are_noticed(data: Path, tmp_path: Path) -> None:
    content = data.read_bytes()
    lines = content.splitlines(keepends=True)
    model, source = tmp_path / "m.novikoff", tmp_path / "source.csv"

    def run(now: bytes, *words: str) -> Result:
        source.write_bytes(now)
        return inside("stream", source, "--save", model, *words)

    assert run(content, "--limit", "3000").code == 0
    before = model.read_bytes()
    for changed, sentence in (
        (b"".join([*lines[:2990], b"1.5,2,low\n", *lines[2990:]]), "line 3,002 has changed"),
        (b"".join([*lines[:2990], *lines[2991:]]), "before line 3,002 has changed"),
        (b"".join([*lines[:2990], *lines[2991:2989:-1], *lines[2992:]]), "has changed"),
        (b"".join(lines[:2000]), "shorter than what was learned"),
    ):
        done = run(changed, "--resume")
        assert (done.code, sentence in done.err) == (2, True), done.err
        assert done.err.count("\n") == 1
        assert model.read_bytes() == before
    assert run(content, "--resume").code == 0


def test_a_binary_file_that_is_another_is_noticed(data: Path, tmp_path: Path) -> None:
    frame, path = pl.read_csv(data), tmp_path / "rows.parquet"
    model, whole = tmp_path / "m.novikoff", tmp_path / "w.novikoff"
    frame.write_parquet(path, row_group_size=500)
    stream(path, "--save", model, "--limit", "1234")
    stream(path, "--save", model, "--resume", "--limit", "2000")
    stream(path, "--save", whole, "--limit", "2000")
    assert weights(model) == weights(whole)
    frame.with_columns(a=pl.col("a").shift(1, fill_value=0.0)).write_parquet(path)
    assert "has changed" in refused(path, "--save", model, "--resume")


@pytest.mark.parametrize(
    "header",
    [b"a,b,label\n", b"a,b,label\r\n", b'"a","b",label\n'],
)
def test_a_header_that_comes_again_is_no_row(header: bytes, tmp_path: Path) -> None:
    model = tmp_path / "m.novikoff"
    for words in ((), ("--resume",)):
        done = stream("-", "--save", model, *words, stdin=header + b"1,2,x\n-1,3,y\n")
    assert "4 rows · 2 features · 2 classes: x, y" in done.line("data")


def test_rows_left_out_at_the_end_are_counted(tmp_path: Path) -> None:
    data, model = tmp_path / "d.csv", tmp_path / "m.novikoff"
    data.write_bytes(HEADER + b"1,2,x\n-1,-2,y\n1,1,x\n-2,,y\n")
    words = ["--missing", "drop", "--format", "json"]
    for more in (["--limit", "3"], ["--resume"], ["--resume"]):
        done = stream(data, "--save", model, *words, *more)
    assert json.loads(done.out)["dropped"] == 1


def test_names_of_rows_left_out_change_nothing(tmp_path: Path) -> None:
    data, model, whole = tmp_path / "d.txt", tmp_path / "m.novikoff", tmp_path / "w.novikoff"
    data.write_bytes(b"p a:1 b:2\nn a:-1 b:-2\np z:1 a:nan\nn a:1 b:2\np y:1\nn z:1\n")
    stream(data, "--missing", "drop", "--save", whole)
    for limit in ("2", "3", "9"):
        stream(data, "--missing", "drop", "--save", model, "--resume", "--limit", limit)
    assert model.read_bytes() == whole.read_bytes()


def test_json_is_json_whatever_the_numbers() -> None:
    def none(name: str) -> None:
        raise AssertionError(name)

    done = stream("-", "--format", "json", "--no-intercept", stdin=HEADER + b"1e150,1,x\n")
    assert json.loads(done.out, parse_constant=none)["rows"] == 1

"""``novikoff stream``: what it says and keeps, that it goes on where it stopped, loses nothing.

How rows of every form are read is tested where they are read.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import novikoff as nv
from novikoff.learners.base import linear
from novikoff.report import model_file
from tests.cli.conftest import Files, Result, inside, started, wait_for


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """3,000 rows of two classes, some of them odd, and a third class late."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 4)).round(3)
    names = ["a", "b", "c", "d", "kind"]
    lines = [",".join(names)]
    for k, x in enumerate(X.tolist()):
        label = "high" if x[0] + x[1] > 0 else "low"
        label = "other" if k > 2000 and x[2] > 1 else label
        cells = [*map(repr, x), f'"{label}"' if k % 700 == 5 else label]
        lines.append(",".join(cells))
    path = tmp_path_factory.mktemp("stream") / "rows.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def stream(*words: str | Path, stdin: bytes = b"") -> Result:
    done = inside("stream", *words, stdin=stdin)
    assert done.code == 0, done.err
    return done


def refused(*words: str | Path) -> str:
    done = inside("stream", *words)
    assert (done.code, done.out) == (2, "")
    return done.err


def rows_in(model: Path) -> object:
    data = model_file.read(model).data
    assert data is not None
    return data["rows"]


def weights(model: Path) -> bytes:
    return linear(model_file.read(model).model).W.tobytes()


def test_lines_at_doubling_counts_and_a_summary(files: Files) -> None:
    done = stream(files.cancer)
    head, *lines = done.out.splitlines()
    assert head.split() == ["rows", "mistakes", "error", "recent", "margin", "≤"]
    counts = [int(line.split()[0].replace(",", "")) for line in lines[:11]]
    assert counts == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 569]
    assert done.line("mistakes").startswith(lines[10].split()[1] + " of 569 rows (")
    assert done.line("margin").startswith(f"γ ≤ {lines[10].split()[4]}: no linear rule")
    assert len({len(line) for line in [head, *lines[:11]]}) == 1  # aligned


def test_json_lines_are_the_records(files: Files) -> None:
    done = stream(files.cancer, "--format", "json")
    records = [json.loads(line) for line in done.out.splitlines()]
    assert [r["event"] for r in records] == ["progress"] * 11 + ["end"]
    quiet = stream(files.cancer, "--format", "json", "--quiet")
    assert [json.loads(line) for line in quiet.out.splitlines()] == records[-1:]
    *_, last = nv.stream(files.cancer, nv.Perceptron())
    assert {name: records[-1][name] for name in asdict(last)} == asdict(last)


def test_the_model_predicts_and_tells_what_it_is(rows: Path, tmp_path: Path) -> None:
    model = tmp_path / "rows.novikoff"
    done = stream(rows, "--save", model, "--average")
    assert done.line("model") == str(model)
    assert len(inside("predict", model, rows).out.splitlines()) == 3001
    assert "high, low, other" in inside("info", model).line("classes")
    learner = nv.Perceptron(average="averaged")
    list(nv.stream(rows, learner))
    saved = nv.load(model)
    assert saved.coef_.tobytes() == learner.coef_.tobytes()
    assert saved.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert rows_in(model) == 3000


def goes_on(data: Path, steps: Sequence[tuple[bytes, str]], words: str = "") -> Result:
    """Learn a file in steps, each with its content and a limit: the model is that of one go."""
    model, whole = data.with_name("m.novikoff"), data.with_name("w.novikoff")
    for content, limit in steps:
        if not data.exists() or data.read_bytes() != content:
            data.write_bytes(content)
        stream(data, "--save", model, "--resume", "--limit", limit, *words.split())
    stream(data, "--save", whole, *words.split())
    assert model.read_bytes() == whole.read_bytes()
    again = stream(data, "--save", model, "--resume", *words.split())
    assert "no row is new" in again.out
    assert model.read_bytes() == whole.read_bytes()
    return again


@pytest.mark.parametrize("words", ["", "--hash 10"])
def test_named_features_go_on_where_they_stopped(words: str, tmp_path: Path) -> None:
    """Names of rows that are left out change nothing."""
    lines = [f"{'spam' if k % 3 else 'ham'} w{k % 17}:1 x{k}:0.5" for k in range(100)]
    lines[36] = "spam z:1 w1:nan"
    content = "\n".join([*lines, ""]).encode()
    steps = [(content, limit) for limit in ("36", "37", "38", "100")]
    goes_on(tmp_path / "mail.txt", steps, f"--missing drop {words}")


@pytest.mark.parametrize("packed", [False, True])
def test_it_goes_on_exactly_where_it_stopped(rows: Path, tmp_path: Path, packed: bool) -> None:
    content = gzip.compress(rows.read_bytes()) if packed else rows.read_bytes()
    steps = [(content, limit) for limit in ("1", "706", "3000", "3001", "8999", "10000")]
    again = goes_on(tmp_path / "d.csv", steps, "--passes 3 --step 0.3 --missing drop")
    assert "9,000 rows in 3 passes" in again.line("data")


def test_a_file_that_has_grown_is_read_on(rows: Path, tmp_path: Path) -> None:
    lines = rows.read_bytes().splitlines(keepends=True)
    goes_on(tmp_path / "d.csv", [(b"".join(lines[:stop]), "9999") for stop in (200, 1000, 3001)])


def test_a_pipe_brings_what_is_new(rows: Path, tmp_path: Path) -> None:
    lines = rows.read_bytes().splitlines(keepends=True)
    new, whole = tmp_path / "new.novikoff", tmp_path / "whole.novikoff"
    stream("-", "--save", whole, stdin=b"".join(lines))
    stream("-", "--save", new, stdin=b"".join(lines[:1501]))
    stream("-", "--save", new, "--resume", stdin=b"".join(lines[:1] + lines[1501:]))
    assert weights(new) == weights(whole)
    assert rows_in(new) == rows_in(whole) == 3000
    assert inside("stream", "-", "--passes", "2", stdin=b"".join(lines)).code == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--save-every 5", "needs --save"),
        ("--resume", "needs --save"),
        ("--save m.novikoff --resume --force", "choose one"),
        ("--save nowhere/m.novikoff", "does not exist"),
        ("--missing mean", "--missing mean"),
        ("--hash 40", "--hash"),
    ],
)
def test_what_does_not_go_together_is_refused(words: str, sentence: str, files: Files) -> None:
    assert sentence in refused(files.line, *words.split())


def test_a_model_is_not_replaced_unasked_nor_by_other_wishes(rows: Path, tmp_path: Path) -> None:
    model, data = tmp_path / "m.novikoff", tmp_path / "d.csv"
    data.write_bytes(rows.read_bytes())
    stream(data, "--save", model, "--limit", "500")
    before = model.read_bytes()
    for words, sentence in (
        ([], "already exists; --resume goes on from it, --force begins anew"),
        (["--resume", "--margin", "2"], "was begun with --margin 0.0, not 2.0"),
        (["--resume", "--label", "d"], "was begun with --label nothing, not d"),
    ):
        assert sentence in refused(data, "--save", model, *words)
        assert model.read_bytes() == before
    words = ["--out", str(tmp_path), "--no-verdict", "--epochs", "5"]
    assert inside("fit", data, *words).code == 0
    assert "not of a stream" in refused(data, "--save", tmp_path / "d.novikoff", "--resume")
    stream(data, "--save", model, "--force")


def test_a_stream_that_breaks_off_keeps_what_came_before(rows: Path, tmp_path: Path) -> None:
    data, model = tmp_path / "d.csv", tmp_path / "m.novikoff"
    content = rows.read_bytes()
    lines = content.splitlines(keepends=True)
    data.write_bytes(b"".join([*lines[:2501], b"1,2,three,4,low\n"]))
    broken = inside("stream", data, "--save", model)
    assert broken.code == 2
    assert 'row 2501, column "c" holds "three"' in broken.err
    assert "holds the rows before" in broken.err
    goes_on(tmp_path / "d.csv", [(content, "9999")])


def test_a_model_is_not_written_over_its_rows(rows: Path, tmp_path: Path) -> None:
    data, link, hard = tmp_path / "d.csv", tmp_path / "link.csv", tmp_path / "hard.csv"
    data.write_bytes(rows.read_bytes())
    link.symlink_to(data)
    os.link(data, hard)
    for one, other in ((data, data), (data, link), (link, data), (hard, data)):
        assert "the rows come from" in refused(one, "--save", other, "--force")
    assert data.read_bytes() == rows.read_bytes()


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


def test_rows_that_are_others_are_noticed(rows: Path, tmp_path: Path) -> None:
    lines = rows.read_bytes().splitlines(keepends=True)
    model, source, path = tmp_path / "m.novikoff", tmp_path / "d.csv", tmp_path / "rows.parquet"
    source.write_bytes(rows.read_bytes())
    stream(source, "--save", model, "--limit", "2000")
    before = model.read_bytes()
    for changed, sentence in (
        ([*lines[:1990], b"1.5,2,1,1,low\n", *lines[1990:]], "line 2,002 has changed"),
        ([*lines[:1990], *lines[1991:]], "before line 2,002 has changed"),
        (lines[:1000], "shorter than what was learned"),
    ):
        source.write_bytes(b"".join(changed))
        assert sentence in refused(source, "--save", model, "--resume")
        assert model.read_bytes() == before
    frame, whole = pl.read_csv(rows), tmp_path / "w.novikoff"
    frame.write_parquet(path, row_group_size=500)
    stream(path, "--save", model, "--limit", "1234", "--force")
    stream(path, "--save", model, "--resume")
    stream(path, "--save", whole)
    assert weights(model) == weights(whole)
    frame.with_columns(a=pl.col("a").shift(1, fill_value=0.0)).write_parquet(path)
    assert "has changed" in refused(path, "--save", model, "--resume")


@pytest.mark.parametrize("header", [b"a,b,label\n", b'"a","b",label\r\n'])
def test_a_header_that_comes_again_is_no_row(header: bytes, tmp_path: Path) -> None:
    model = tmp_path / "m.novikoff"
    for words in ((), ("--resume",)):
        done = stream("-", "--save", model, *words, stdin=header + b"1,2,x\n-1,3,y\n")
    assert "4 rows · 2 features · 2 classes: x, y" in done.line("data")


def test_rows_left_out_at_the_end_are_counted_and_json_is_json(tmp_path: Path) -> None:
    data, model = tmp_path / "d.csv", tmp_path / "m.novikoff"
    data.write_bytes(b"a,b,label\n1,2,x\n-1,-2,y\n1,1,x\n-2,,y\n")
    words = ["--format", "json", "--quiet"]
    for more in (["--limit", "3"], ["--resume"], ["--resume"]):
        done = stream(data, "--save", model, "--missing", "drop", *words, *more)
    assert json.loads(done.out)["dropped"] == 1
    done = stream("-", "--no-intercept", *words, stdin=b"a,b,label\n1e150,1,x\n")
    assert json.loads(done.out)["rows"] == 1
    assert not {"NaN", "Infinity"} & set(re.findall(r"[A-Z]\w+", done.out))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_saves_and_says_where(
    number: signal.Signals, code: int, rows: Path, tmp_path: Path
) -> None:
    model = tmp_path / "m.novikoff"
    running = started("stream", "-", "--save", model, "--save-every", "3000")
    assert running.stdin is not None
    running.stdin.write(rows.read_bytes())
    running.stdin.flush()
    assert running.stdout is not None
    while not running.stdout.readline().strip().startswith(b"2,048"):
        pass
    wait_for(model.exists)  # after row 3,000
    running.send_signal(number)
    assert running.wait(timeout=60) == code
    out, err = running.communicate()
    assert (b" of 3,000 rows (" in out) == (number == signal.SIGINT)  # who asks is told
    kept = f"{model} holds what was learned, and --resume goes on from it."
    assert err.decode().strip().endswith(f"novikoff: interrupted after 3,000 rows; {kept}")


def changed(model: Path) -> int:
    return model.stat().st_mtime_ns if model.exists() else 0


def test_killed_at_any_moment_it_ends_as_if_nothing_had_happened(
    rows: Path, tmp_path: Path
) -> None:
    """Files are saved all the time, and the process is killed again and again."""
    data, model, whole = tmp_path / "d.csv", tmp_path / "m.novikoff", tmp_path / "w.novikoff"
    head, *lines = rows.read_bytes().splitlines(keepends=True)
    data.write_bytes(head + b"".join(lines * 4))
    words = [str(data), "--save-every", "97", "--quiet", "--average"]
    assert inside("stream", *words, "--save", whole).code == 0
    kills = 0
    for _ in range(3):
        before = changed(model)
        running = started("stream", *words, "--save", model, "--resume")
        wait_for(lambda: running.poll() is not None or changed(model) != before)  # noqa: B023
        running.kill()
        running.communicate()
        kills += running.returncode == -signal.SIGKILL
        rows_seen = rows_in(model)  # whole, whenever one looks
        assert isinstance(rows_seen, int)
        assert rows_seen % 97 == 0 or rows_seen == 12_000
    assert kills
    assert inside("stream", *words, "--save", model, "--resume").code == 0
    assert model.read_bytes() == whole.read_bytes()
    assert os.listdir(tmp_path).count("m.novikoff") == 1

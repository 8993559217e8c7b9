"""``novikoff stream``: its text and files; it resumes where it stopped, and loses nothing.

`tests/data` tests how rows of each format are read, and how changed files are recognised.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import os
import re
import signal
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import novikoff as nv
from novikoff.formats import model_file
from novikoff.learners.base import linear
from tests.cases import case_named
from tests.cli.conftest import Files, Result, inside, rows_printed, started


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """3,000 rows of two classes, some of them outliers; a third class appears late."""
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
    data = model_file.read_record(model).data
    assert data is not None
    return data["rows"]


def weights(model: Path) -> bytes:
    return linear(model_file.read_record(model).model).W.tobytes()


def test_lines_at_doubling_counts_and_a_summary(files: Files) -> None:
    done = stream(files.cancer)
    head, *lines = done.out.splitlines()
    assert head.split() == ["rows", "mistakes", "error", "recent", "margin", "≤"]
    counts = [int(line.split()[0].replace(",", "")) for line in lines[:11]]
    assert counts == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 569]
    assert done.line("mistakes").startswith(lines[10].split()[1] + " of 569 rows (")
    assert done.line("margin").startswith(f"γ ≤ {lines[10].split()[4]} on the rows learned")
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
    learner = nv.Perceptron(average=True)
    list(nv.stream(rows, learner))
    saved = nv.load(model)
    assert saved.coef_.tobytes() == learner.coef_.tobytes()
    assert saved.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert rows_in(model) == 3000


def goes_on(data: Path, steps: Sequence[tuple[bytes, str]], words: str = "") -> Result:
    """Learn a file in steps, each with its content and a limit; compare with one run."""
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
def test_named_features_resume_where_they_stopped(words: str, tmp_path: Path) -> None:
    """The features of rows that are left out change nothing."""
    lines = [f"{'spam' if k % 3 else 'ham'} w{k % 17}:1 x{k}:0.5" for k in range(100)]
    lines[36] = "spam z:1 w1:nan"
    content = "\n".join([*lines, ""]).encode()
    steps = [(content, limit) for limit in ("36", "37", "38", "100")]
    goes_on(tmp_path / "mail.txt", steps, f"--missing drop {words}")


@pytest.mark.parametrize("packed", [False, True])
def test_it_resumes_exactly_where_it_stopped(rows: Path, tmp_path: Path, packed: bool) -> None:
    content = gzip.compress(rows.read_bytes()) if packed else rows.read_bytes()
    steps = [(content, limit) for limit in ("1", "706", "3000", "3001", "8999", "10000")]
    again = goes_on(tmp_path / "d.csv", steps, "--passes 3 --step-size 0.3 --missing drop")
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
        ("--save m.novikoff --resume --force", "cannot be used together"),
        ("--save nowhere/m.novikoff", "does not exist"),
        ("--missing mean", "--missing mean"),
        ("--hash 40", "--hash"),
    ],
)
def test_what_does_not_go_together_is_rejected(words: str, sentence: str, files: Files) -> None:
    assert sentence in refused(files.line, *words.split())


def test_a_model_is_not_replaced_unasked_nor_by_other_wishes(rows: Path, tmp_path: Path) -> None:
    model, data = tmp_path / "m.novikoff", tmp_path / "d.csv"
    data.write_bytes(rows.read_bytes())
    stream(data, "--save", model, "--limit", "500")
    before = model.read_bytes()
    for words, sentence in (
        ([], "already exists; --resume continues it, --force starts afresh"),
        (["--resume", "--threshold", "2"], "was begun with --threshold 0.0, not 2.0"),
        (["--resume", "--label", "d"], "was begun with --label nothing, not d"),
    ):
        with case_named((words, sentence)):
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
    assert 'row 2501 (line 2502), column "c" holds "three"' in broken.err
    assert "has learned the rows before" in broken.err
    goes_on(tmp_path / "d.csv", [(content, "9999")])


@pytest.mark.parametrize(
    ("one", "other"),
    [("d.csv", "d.csv"), ("d.csv", "link.csv"), ("link.csv", "d.csv"), ("hard.csv", "d.csv")],
)
def test_a_model_is_not_written_over_its_rows(
    one: str, other: str, rows: Path, tmp_path: Path
) -> None:
    data, link, hard = tmp_path / "d.csv", tmp_path / "link.csv", tmp_path / "hard.csv"
    data.write_bytes(rows.read_bytes())
    link.symlink_to(data)
    os.link(data, hard)
    assert "contains the rows" in refused(tmp_path / one, "--save", tmp_path / other, "--force")
    assert data.read_bytes() == rows.read_bytes()


def test_rows_that_are_others_are_noticed(rows: Path, tmp_path: Path) -> None:
    lines = rows.read_bytes().splitlines(keepends=True)
    model, source, path = tmp_path / "m.novikoff", tmp_path / "d.csv", tmp_path / "rows.parquet"
    source.write_bytes(rows.read_bytes())
    stream(source, "--save", model, "--limit", "2000")
    before = model.read_bytes()
    source.write_bytes(b"".join([*lines[:1990], *lines[1991:]]))
    assert "before line 2,002 has changed" in refused(source, "--save", model, "--resume")
    assert model.read_bytes() == before
    frame, whole = pl.read_csv(rows), tmp_path / "w.novikoff"
    frame.write_parquet(path, row_group_size=500)
    stream(path, "--save", model, "--limit", "1234", "--force")
    stream(path, "--save", model, "--resume")
    stream(path, "--save", whole)
    assert weights(model) == weights(whole)
    frame.with_columns(a=pl.col("a").shift(1, fill_value=0.0)).write_parquet(path)
    assert "has changed" in refused(path, "--save", model, "--resume")


@pytest.mark.parametrize("packed", [False, True])
def test_labels_changed_at_the_top_are_noticed(tmp_path: Path, packed: bool) -> None:
    """Otherwise the bound on the margin of "these rows" would be about unseen rows."""
    rng, model = np.random.default_rng(0), tmp_path / "m.novikoff"
    lines = [f"{x:.6f},{int(x > 0)}\n" for x in rng.normal(size=2000)]
    data = tmp_path / ("d.csv.gz" if packed else "d.csv")

    def write(lines: Sequence[str]) -> None:
        text = "".join(["a,y\n", *lines]).encode()
        data.write_bytes(gzip.compress(text, mtime=0) if packed else text)

    write(lines)
    stream(data, "--save", model, "--limit", "1500")
    before = model.read_bytes()
    flipped = [f"{line[:-2]}{1 - int(line[-2])}\n" for line in lines[:499]]
    write([*flipped, *lines[499:]])
    said = refused(data, "--save", model, "--resume")
    assert "the text before line 1,502 has changed. --force starts afresh" in said
    assert model.read_bytes() == before
    write(lines)
    assert "2,000 rows" in stream(data, "--save", model, "--resume").line("data")


def test_rows_of_a_pipe_are_said_to_be_taken_for_new(tmp_path: Path) -> None:
    model, text = tmp_path / "m.novikoff", b"a,y\n1,p\n-1,q\n"
    first = stream("-", "--save", model, stdin=text)
    again = stream("-", "--save", model, "--resume", stdin=text)
    assert "count as new" not in first.out
    assert "come from a pipe and count as new" in again.out


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


@pytest.mark.parametrize("form", ["json", "text"])
def test_names_that_are_no_utf_8_are_printed_with_a_mark(tmp_path: Path, form: str) -> None:
    data, model, mistakes = (
        Path(os.fsdecode(os.fsencode(tmp_path) + name))
        for name in (b"/d\xff.csv", b"/m\xfe.novikoff", b"/w\xfd.csv")
    )
    data.write_bytes(table(*GOOD))
    words: list[str | Path] = ["--save", model, "--mistakes", mistakes, "--format", form]
    for more in ([], ["--resume"]):
        with case_named(more):
            out = stream(data, *words, *more).out
            said = str(json.loads(out.splitlines()[-1])["model"] if form == "json" else out)
            assert "/m\ufffd.novikoff" in said
    assert model.exists()


def test_no_model_is_named_where_none_was_written(tmp_path: Path) -> None:
    model = tmp_path / "m.novikoff"
    words: list[str | Path] = ["--save", model, "--missing", "drop", "--format", "json"]
    done = stream("-", *words, stdin=b"a,y\n,p\n,q\n")
    assert (json.loads(done.out)["model"], model.exists()) == (None, False)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_saves_and_says_where(
    number: signal.Signals, code: int, rows: Path, tmp_path: Path
) -> None:
    model = tmp_path / "m.novikoff"
    running = started("stream", "-", "--save", model)
    assert running.stdin is not None
    running.stdin.writelines(rows.read_bytes().splitlines(keepends=True)[: 1 + 2048])
    running.stdin.flush()
    assert rows_printed(running, 2048), running.communicate()
    running.send_signal(number)
    assert running.wait(timeout=60) == code
    out, err = running.communicate()
    assert (b" of 2,048 rows (" in out) == (number == signal.SIGINT)  # Ctrl-C prints a summary
    kept = f"{model} has the model so far; --resume continues it."
    assert err.decode().strip().endswith(f"novikoff: interrupted after 2,048 rows; {kept}")
    assert rows_in(model) == 2048


def test_an_interrupt_is_heard_before_the_first_row(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    ends = list[int]()
    opening = threading.Thread(target=lambda: ends.append(os.open(path, os.O_WRONLY)), daemon=True)
    opening.start()
    running = started("stream", path)
    opening.join(120)  # `open` returns when the command has opened the other end
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert ends, err
    os.close(ends[0])
    assert running.returncode == 130
    assert err.decode().strip().endswith("novikoff: interrupted; nothing was written.")


GOOD = ["1,2,x", "-1,-3,y", "2,1,x", "-2,-1,y", "3,1,x", "-1,-2,y"]
BAD = ["three,4,x", "1,2", "1,,y", "1,2,3,x", "9007199254740993,1,x"]


def table(*lines: str) -> bytes:
    return "\n".join(["a,b,label", *lines, ""]).encode()


def noisy_rows(n: int, seed: int = 5) -> list[str]:
    """Rows of three classes that no linear rule classifies correctly."""
    X = np.random.default_rng(seed).normal(size=(n, 2)).round(3)
    kinds = ["up" if a > 0.2 else "down" if b > 0 else "flat" for a, b in (X**2 - X).tolist()]
    return [f"{a},{b},{kind}" for (a, b), kind in zip(X.tolist(), kinds, strict=True)]


def lines_of(path: Path) -> list[list[str]]:
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))


class TestBadRows:
    def test_they_are_skipped_counted_and_logged(self, tmp_path: Path) -> None:
        data, clean, log = tmp_path / "d.csv", tmp_path / "c.csv", tmp_path / "bad.csv"
        model, other = tmp_path / "m.novikoff", tmp_path / "c.novikoff"
        rows = [row for pair in zip(GOOD, [*BAD, BAD[0]], strict=True) for row in pair]
        data.write_bytes(table(*rows))
        clean.write_bytes(table(*GOOD))
        done = stream(data, "--save", model, "--bad-rows", "skip", "--bad-rows-log", log)
        stream(clean, "--save", other)
        assert weights(model) == weights(other)
        assert f"6 rows that cannot be read were skipped ({log})" in done.out
        head, *found = lines_of(log)
        assert head == ["line", "row", "reason"]
        assert [row[:2] for row in found] == [[str(k + 1), str(k)] for k in range(2, 13, 2)]
        assert 'holds "three", which is not a number' in found[0][2]
        assert "2 fields where 3 are expected" in found[1][2]
        assert "missing" in found[2][2]
        assert "cannot hold exactly" in found[4][2]
        report = stream(data, "--format", "json", "--quiet", "--bad-rows", "skip")
        assert json.loads(report.out)["skipped"] == 6

    def test_after_a_stop_the_stream_resumes_after_the_line(self, tmp_path: Path) -> None:
        data, model, whole = tmp_path / "d.csv", tmp_path / "m.novikoff", tmp_path / "w.novikoff"
        data.write_bytes(table(*GOOD[:3], BAD[0], *GOOD[3:], BAD[1]))
        stopped = inside("stream", data, "--save", model)
        assert stopped.code == 2
        assert "add --bad-rows skip to skip the row" in stopped.err
        assert refused(data, "--save", model, "--resume").count('holds "three"') == 1
        done = stream(data, "--save", model, "--resume", "--bad-rows", "skip")
        assert "2 rows that cannot be read were skipped" in done.out
        stream(data, "--save", whole, "--skip-bad")
        assert model.read_bytes() == whole.read_bytes()
        again = stream(data, "--save", model, "--resume", "--bad-rows", "skip")
        assert "2 rows that cannot be read were skipped" in again.out
        assert model.read_bytes() == whole.read_bytes()

    def test_a_row_that_cannot_be_learned_is_bad_too(self, tmp_path: Path) -> None:
        data, model, log = tmp_path / "d.csv", tmp_path / "m.novikoff", tmp_path / "bad.csv"
        data.write_bytes(table(*GOOD[:2], "1e308,1e308,y", *GOOD[2:]))
        stopped = inside("stream", data, "--save", model)
        assert "beyond the range of float64" in stopped.err
        words = ["--resume", "--bad-rows", "skip", "--bad-rows-log", str(log)]
        done = stream(data, "--save", model, *words)
        assert "of 6 rows" in done.line("mistakes")
        assert "1 row that cannot be read was skipped" in done.out
        assert [row[:2] for row in lines_of(log)[1:]] == [["4", "3"]]

    def test_a_quote_that_is_never_closed_costs_one_line(self, tmp_path: Path) -> None:
        data, log = tmp_path / "d.csv", tmp_path / "bad.csv"
        data.write_bytes(table(*GOOD[:2], '1,"2,x', *GOOD[2:]))
        done = stream(data, "--bad-rows", "skip", "--bad-rows-log", log)
        assert "of 6 rows" in done.line("mistakes")
        assert [row[0] for row in lines_of(log)[1:]] == ["4"]

    @pytest.mark.parametrize("times", [3, 500])
    def test_a_file_that_is_wrong_as_a_whole_is_rejected(self, times: int, tmp_path: Path) -> None:
        data = tmp_path / "d.csv"
        data.write_bytes(table(*["red,1,x", "blue,2,y"] * times))
        error = refused(data, "--bad-rows", "skip")
        assert "not one of the first" in error
        assert 'row 1 (line 2), column "a" holds "red"' in error
        assert error.count("a=red") == error.count("--drop a") == 1
        assert "--one-hot" not in error + inside("stream", "--help").out
        assert "needs --bad-rows skip" in refused(data, "--bad-rows-log", tmp_path / "log.csv")

    def test_killed_at_any_moment_nothing_is_lost_or_twice(self, tmp_path: Path) -> None:
        """Model, list of bad rows and list of mistakes equal those of a run without a kill.

        Files are saved continually, and the process is killed many times.
        """
        data, folder = tmp_path / "d.csv", tmp_path / "whole"
        folder.mkdir()
        rows = noisy_rows(5000)
        rows = [row for k, row in enumerate(rows) for row in (row, BAD[0])[: 1 + (k % 50 == 7)]]
        data.write_bytes(table(*rows))

        def words(place: Path) -> list[str | Path]:
            saved = f"--save {place}/m.novikoff --mistakes {place}/wrong.csv".split()
            logged = f"--bad-rows skip --bad-rows-log {place}/bad.csv".split()
            options = ["--average", "--save-every", "97", "--resume"]
            return [data, *options, *saved, *logged]

        stream(*words(folder))
        kills, model = 0, tmp_path / "m.novikoff"
        for n in (128, 512, 2048):
            with case_named(n):
                running = started("stream", *words(tmp_path))
                rows_printed(running, n)
                running.kill()
                running.communicate()
                kills += running.returncode == -signal.SIGKILL
                rows_seen = rows_in(model)  # the model file is complete at every moment
                assert isinstance(rows_seen, int)
                assert rows_seen % 97 == 0 or rows_seen == 5000
                assert rows_seen > n - 97
        assert kills
        stream(*words(tmp_path))
        for name in ("m.novikoff", "wrong.csv", "bad.csv"):
            with case_named(name):
                assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()
        assert len(lines_of(tmp_path / "bad.csv")) == 1 + 100


class TestMistakes:
    @pytest.mark.parametrize("words", [[], ["--multi-class", "ovo"]])
    def test_each_row_that_was_predicted_wrong(self, words: list[str], tmp_path: Path) -> None:
        data, found = tmp_path / "d.csv", tmp_path / "wrong.csv"
        rows = noisy_rows(300)
        data.write_bytes(table(*rows))
        done = stream(data, "--mistakes", found, *words)
        head, *mistakes = lines_of(found)
        assert head == ["row", "predicted", "label"]
        assert len(mistakes) == int(done.line("mistakes").split()[0])
        learner = nv.Perceptron(multi_class="ovo" if words else "ovr")
        wrong = {int(row): (predicted, label) for row, predicted, label in mistakes}
        for number, row in enumerate(rows, start=1):
            a, b, label = row.split(",")
            x = [float(a), float(b)]
            if number > 10:  # every class has been seen
                said = learner.predict_one(x)
                assert wrong.get(number, (label, label)) == (said, label)
            learner.learn_one(x, label)

    def test_two_classes_and_ties(self, tmp_path: Path) -> None:
        data, found = tmp_path / "d.csv", tmp_path / "wrong.csv"
        data.write_bytes(table("1,0,x", "2,0,y", "0,0,x", "bad,1,x", "3,0,x"))
        stream(data, "--no-intercept", "--bad-rows", "skip", "--mistakes", found)
        # First no class is known, then x is predicted, then there is a tie, and then y is
        # predicted.
        said = [["1", "", "x"], ["2", "x", "y"], ["3", "", "x"], ["5", "y", "x"]]
        assert lines_of(found)[1:] == said

    def test_files_are_not_written_over_unasked(self, tmp_path: Path) -> None:
        data, found, model = tmp_path / "d.csv", tmp_path / "wrong.csv", tmp_path / "m.novikoff"
        data.write_bytes(table(*GOOD))
        found.write_bytes(b"precious")
        words = [str(data), "--save", str(model), "--mistakes"]
        assert "already exists" in refused(data, "--mistakes", found)
        assert "already exists" in refused(*words, found, "--resume")
        assert found.read_bytes() == b"precious"
        for taken in (data, model):
            with case_named(taken):
                assert "choose another" in refused(*words, taken, "--force")
        found.write_bytes(b"row,predicted,label\n1,,x\n9,")  # left by a run that was killed
        stream(*words, found, "--resume")
        assert lines_of(found)[1:] == [["1", "", "x"]]
        found.write_bytes(b"row,predicted,label\n1,elsewhere,x\n2,elsewhere,y\n3,x,y\n")
        assert "has changed since the model was saved" in refused(*words, found, "--resume")
        assert b"elsewhere" in found.read_bytes()


@pytest.mark.parametrize("form", ["text", "json"])
def test_lines_every_so_many_rows(form: str, tmp_path: Path) -> None:
    data = tmp_path / "d.csv"
    data.write_bytes(table(*GOOD * 5))
    done = stream(data, "--every", "7", "--format", form)
    if form == "json":
        counts = [json.loads(line)["rows"] for line in done.out.splitlines()[:-1]]
    else:
        counts = [int(line.split()[0]) for line in done.out.splitlines()[1:11]]
    assert counts == [1, 2, 4, 7, 8, 14, 16, 21, 28, 30]


@pytest.mark.parametrize("wrong", ["0", "-3", "x", "5s"])
def test_lines_are_asked_for_by_a_number_of_rows(wrong: str, tmp_path: Path) -> None:
    data = tmp_path / "d.csv"
    data.write_bytes(table(*GOOD))
    assert "--every" in refused(data, "--every", wrong)


class TestSortedLabels:
    CAUTION = "labels come sorted"

    def test_rows_in_the_order_of_their_labels_get_a_note(self, tmp_path: Path) -> None:
        data, model = tmp_path / "d.csv", tmp_path / "m.novikoff"
        data.write_bytes(table(*GOOD[::2] * 10, *GOOD[1::2] * 20))
        done = stream(data)
        assert f"{self.CAUTION} (30 rows of x, then 60 of y)" in done.out
        assert "shuffle" in done.out
        stream(data, "--save", model, "--limit", "40")
        assert self.CAUTION in stream(data, "--save", model, "--resume", "--passes", "2").out
        notes = json.loads(stream(data, "--format", "json", "--quiet").out)["notes"]
        assert any(self.CAUTION in note for note in notes)

    @pytest.mark.parametrize(
        "rows",
        [
            GOOD * 20,
            GOOD[::2] * 10,
            [*GOOD[::2] * 10, GOOD[1]],
            [*GOOD[::2] * 10, *GOOD * 10],
        ],
        ids=["mixed", "one class", "one row of another", "mixed in the end"],
    )
    def test_only_where_it_is_true(self, rows: list[str], tmp_path: Path) -> None:
        data = tmp_path / "d.csv"
        data.write_bytes(table(*rows))
        assert self.CAUTION not in stream(data, "--passes", "2").out


class TestConstantRule:
    CAUTION = "always predicting {} would make fewer mistakes ({})"

    def test_more_mistakes_than_a_constant_prediction_get_a_note(
        self, files: Files, tmp_path: Path
    ) -> None:
        """The breast cancer data, with features of very different scales, in a shuffled order."""
        head, *rows = files.cancer.read_text(encoding="utf-8").splitlines(keepends=True)
        data, model = tmp_path / "d.csv", tmp_path / "m.novikoff"
        np.random.default_rng(0).shuffle(rows)
        data.write_text("".join([head, *rows[:300]]), encoding="utf-8")
        wrong = sum("malignant" in row for row in rows[:300])
        caution = self.CAUTION.format("benign", f"{wrong / 300:.2%}")
        done = stream(data)
        assert int(done.line("mistakes").split()[0]) > wrong
        assert f"{caution}; where features have very different scales" in done.out
        stream(data, "--save", model, "--limit", "40")
        for passes in ("1", "2"):
            with case_named(passes):
                words = ["--resume", "--passes", passes, "--format", "json", "--quiet"]
                notes = json.loads(stream(data, "--save", model, *words).out)["notes"]
                assert any(caution in note for note in notes) == (passes == "1")

    @pytest.mark.parametrize(
        "rows",
        [noisy_rows(99), GOOD * 50, [*GOOD[:1] * 200, GOOD[1]]],
        ids=["few rows", "a good rule", "first rows of classes"],
    )
    def test_only_where_it_is_true(self, rows: list[str], tmp_path: Path) -> None:
        """No warning for few rows, for a better rule, or for first rows of classes."""
        data = tmp_path / "d.csv"
        data.write_bytes(table(*rows))
        assert self.CAUTION[:18] not in stream(data).out


def test_the_bound_on_the_margin_is_the_least_so_far(tmp_path: Path) -> None:
    """‖w‖/t rises again, but the bound does not: two rows on opposite sides, then on one side."""
    data, model = tmp_path / "d.csv", tmp_path / "m.novikoff"
    data.write_bytes(table("1,0,x", "1,0.01,y", *["-100,0,x", "100,0,y"] * 3))
    out = stream(data, "--format", "json", "--save", model, "--no-intercept").out
    records = [json.loads(line) for line in out.splitlines()]
    bounds = [record["margin_bound"] for record in records]
    assert bounds == sorted(bounds, reverse=True)
    assert records[-1]["norm"] / records[-1]["updates"] > 2 * bounds[-1]
    stream(data, "--save", model, "--limit", "3", "--force", "--no-intercept")
    words = ["--resume", "--no-intercept", "--format", "json", "--quiet"]
    assert json.loads(stream(data, "--save", model, *words).out)["margin_bound"] == bounds[-1]


ANIMALS = [
    '{"label": "cat", "legs": 4, "fur": 1.5, "tame": true, "sound": "miaow"}',
    '{"label": "bird", "legs": 2, "fur": null, "wings": 2, "sound": "tweet"}',
    "",
    '{"legs": 4, "label": "cat", "fur": 2e0, "tame": false, "sound": "purr # {"}',
    '{"label": "bird", "legs": 2, "tame": true, "wings": 2}',
]
PAIRS = [
    "cat legs:4 fur:1.5 tame:1 sound=miaow:1",
    "bird legs:2 wings:2 sound=tweet:1",
    "cat legs:4 fur:2 tame:0 sound=purr:1",
    "bird legs:2 tame:1 wings:2",
]


class TestJsonLines:
    @pytest.mark.parametrize(
        ("name", "words"),
        [("d.jsonl", []), ("d.ndjson", ["--hash", "10"]), ("d.txt", []), ("-", ["--hash", "10"])],
    )
    def test_they_are_rows_of_pairs(self, name: str, words: list[str], tmp_path: Path) -> None:
        data, pairs = tmp_path / name, tmp_path / "p.txt"
        model, other = tmp_path / "m.novikoff", tmp_path / "o.novikoff"
        text = "\n".join(ANIMALS * 5).replace("purr # {", "purr").encode()
        pairs.write_text("\n".join(PAIRS * 5), encoding="utf-8")
        if name == "-":
            stream("-", "--save", model, *words, stdin=text)
        else:
            data.write_bytes(text)
            stream(data, "--save", model, *words)
        stream(pairs, "--save", other, *words)
        assert weights(model) == weights(other)
        assert model_file.read_record(model).names == model_file.read_record(other).names
        rows = tmp_path / "rows.jsonl"
        rows.write_bytes(text)
        predicted = inside("predict", model, rows)
        assert predicted.out.splitlines()[1:3] == ["1,cat", "2,bird"]
        assert "labels differ" in predicted.err
        rows.write_text('{"wings": 2, "legs": 2, "sound": "new"}\n', encoding="utf-8")
        assert inside("predict", model, rows).out.splitlines()[1:] == ["1,bird"]

    def test_they_resume_where_they_stopped(self, tmp_path: Path) -> None:
        data, model, whole = tmp_path / "d.jsonl", tmp_path / "m.novikoff", tmp_path / "w.novikoff"
        data.write_text("\n".join([*ANIMALS, "{"] * 9), encoding="utf-8")
        words = ["--bad-rows", "skip", "--drop", "sound"]
        for limit in ("1", "3", "20", "99"):
            stream(data, "--save", model, "--resume", "--limit", limit, *words)
        done = stream(data, "--save", whole, *words)
        assert model.read_bytes() == whole.read_bytes()
        assert "9 rows that cannot be read were skipped" in done.out
        assert model_file.read_record(model).names == ["legs", "fur", "tame", "wings"]

    def test_fit_reads_them_too(self, tmp_path: Path) -> None:
        data = tmp_path / "d.jsonl"
        data.write_text("\n".join(ANIMALS), encoding="utf-8")
        done = inside("fit", data, "--out", tmp_path)
        assert done.code == 0, done.err
        assert done.line("verdict").startswith("separable")
        predicted = inside("predict", tmp_path / "d.novikoff", data)
        assert "0 of 4 labels differ" in predicted.err

    @pytest.mark.parametrize(
        ("line", "sentence"),
        [
            ('{"label": "cat", "legs": 9007199254740993}', 'line 2, key "legs" holds 900719925'),
            ('{"label": "cat", "legs": 1, "legs": 1}', 'line 2 has the key "legs" twice'),
            ('{"label": "cat", "legs": NaN}', "line 2: NaN is not a number in JSON"),
            ('{"label": "cat", "legs": -Infinity}', "line 2: -Infinity is not a number in JSON"),
            ('{"label": "cat", "legs": 1e999}', 'line 2, key "legs" is beyond the range'),
            ('{"label": "cat", "legs": [1]}', 'line 2, key "legs" holds a list'),
            ('{"label": "cat", "legs": {"left": 1}}', 'line 2, key "legs" holds an object'),
            ('{"label": ["cat"], "legs": 1}', 'line 2, key "label" holds a list'),
            ('{"label": null, "legs": 1}', 'line 2, key "label": the label is missing'),
            ('{"legs": 1}', 'line 2 has no key "label"'),
            ("[1, 2]", "line 2 is a list, not an object"),
            ("7", "line 2 is a number, not an object"),
            ('{"label": "cat", "legs": 4', "line 2 is not JSON"),
            ('{"label": "cat", "leg\\ud800": 4}', "line 2"),
            ('{"label": "cat", "legs": ' + "[" * 100_000, "line 2"),
        ],
    )
    def test_what_is_wrong_is_said_with_line_and_key(
        self, line: str, sentence: str, tmp_path: Path
    ) -> None:
        data = tmp_path / "d.jsonl"
        data.write_text(f"{ANIMALS[0]}\n{line}\n{ANIMALS[1]}\n", encoding="utf-8")
        done = inside("stream", data)
        assert done.code == 2
        assert sentence in done.err
        assert "Traceback" not in done.said
        assert "1 row that cannot be read" in stream(data, "--bad-rows", "skip").out

    def test_the_label_is_chosen_or_found(self, tmp_path: Path) -> None:
        data = tmp_path / "d.jsonl"
        data.write_text('{"kind": 1, "a": 2}\n{"kind": 0, "a": -2}\n', encoding="utf-8")
        assert "--label" in refused(data)
        assert "2 classes: 0, 1" in stream(data, "--label", "kind").line("data")
        assert "--features does not apply" in refused(data, "--label", "kind", "--features", "a")
        data.write_text('[{"y": 1, "a": 2},\n {"y": 0, "a": -2}]\n', encoding="utf-8")
        assert "one object a line" in refused(data)


def test_a_column_of_numbers_keeps_its_kind_when_a_stream_resumes(tmp_path: Path) -> None:
    data, model, whole = tmp_path / "d.csv", tmp_path / "m.novikoff", tmp_path / "w.novikoff"
    data.write_bytes(table(*GOOD, "true,1,x", *GOOD))
    words = ["--bad-rows", "skip"]
    assert 'holds "true", which is not a number' in inside("stream", data, "--save", model).err
    stream(data, "--save", model, "--resume", *words)
    stream(data, "--save", whole, *words)
    assert model.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("seed", range(12))
def test_what_is_printed_is_true_of_the_rows_and_the_counts_add_up(
    tmp_path: Path, seed: int
) -> None:
    """Streams with missing values and bad rows are stopped and resumed, in one pass or two.

    Rows are built around weights of length 1 that have the margin γ on all rows. The printed bound
    must not be below this γ, and every row is learned, dropped or skipped.
    """
    rng = np.random.default_rng(seed)
    weights, gamma, d = rng.integers(-3, 4, size=3), math.inf, 2
    weights[0] = weights[0] or 1
    lines, dropped, skipped = ["a,b,label"], 0, 0
    for _ in range(int(rng.integers(20, 60))):
        x = rng.integers(-4, 5, size=d)
        score = int(weights[:d] @ x + weights[d])
        what = rng.random()
        if what < 0.1:
            lines.append(f"{x[0]},,x")
            dropped += 1
        elif what < 0.2:
            lines.append(f"{x[0]},oops,x")
            skipped += 1
        elif score:
            gamma = min(gamma, abs(score) / math.dist(weights, [0] * 3))
            lines.append(f"{x[0]},{x[1]},{'x' if score > 0 else 'y'}")
    data, model = tmp_path / "d.csv", tmp_path / "m.novikoff"
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    learned = len(lines) - 1 - dropped - skipped
    words: list[str | Path] = ["--missing", "drop", "--bad-rows", "skip", "--save", model]
    words += ["--resume", "--average"] if seed % 2 else ["--resume"]
    limits = sorted(set(rng.integers(1, learned + 1, size=3).tolist()))
    stops = [["--limit", str(limit)] for limit in limits]
    for more in (*stops, [], ["--passes", "2"]):
        with case_named(more):
            said = stream(data, *words, *more)
            bound = re.search(r"γ ≤ (\S+) on", said.line("margin"))
            assert bound is not None
            assert float(bound[1]) >= gamma * (1 - 1e-12)
            told = json.loads(stream(data, *words, *more, "--format", "json", "--quiet").out)
            n_passes = 2 if "--passes" in more else 1
            if not more or n_passes == 2:
                assert (told["rows"], told["dropped"]) == (learned * n_passes, dropped)
                assert told["skipped"] == skipped
            assert told["margin_bound"] >= gamma * (1 - 1e-12)


def test_the_bound_is_printed_rounded_up(tmp_path: Path) -> None:
    """Rows (1, 1) have γ = √2 = 1.41421…, so 1.414 would be too small."""
    data = tmp_path / "d.csv"
    data.write_bytes(b"a,y\n" + b"1,p\n" * 8)
    done = stream(data)
    assert done.line("margin").startswith("γ ≤ 1.415 on")
    assert {line.split()[4] for line in done.out.splitlines()[1:5]} == {"1.415"}


def test_a_row_that_is_left_out_is_not_said_to_have_been_learned(tmp_path: Path) -> None:
    data, model = tmp_path / "d.csv", tmp_path / "m.novikoff"
    words: list[str | Path] = ["--save", model, "--resume", "--missing", "drop"]
    data.write_bytes(table(*GOOD))
    stream(data, *words)
    assert "no row is new" in stream(data, *words).out
    data.write_bytes(table(*GOOD, ",1,x"))
    grown = stream(data, *words).out
    assert "no row is new" not in grown
    assert "1 row with missing values left out" in grown


def test_a_constant_rule_is_not_praised_for_rows_it_has_wrong(tmp_path: Path) -> None:
    """In an unfinished second pass, the rows so far may all be of the rare class."""
    rows = []
    for k in range(100):
        label, side = ("r", 1) if k < 40 else ("f", -1)
        hard = 1 if k % 4 == 1 else -1  # each such row is a mistake, and no other
        rows.append(f"{hard},0,{label}" if k % 2 else f"0,{side},{label}")
    data = tmp_path / "d.csv"
    data.write_bytes(table(*rows))
    for limit in range(100, 201, 4):
        words = ["--passes", "2", "--limit", str(limit), "--no-intercept"]
        told = json.loads(stream(data, *words, "--format", "json", "--quiet").out)
        constant = sum(rows[k % 100].endswith("r") for k in range(told["rows"]))
        if any("always predicting f" in note for note in told["notes"]):
            assert constant < told["mistakes"]

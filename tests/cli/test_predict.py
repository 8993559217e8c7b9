"""``novikoff predict``: the labels of the model, whatever the file around the columns."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

import novikoff as nv
from tests.cli.conftest import COMMAND, Files, Result, environment, inside, script, wait_for


def said(done: Result) -> list[str]:
    assert done.code == 0
    return [row["prediction"] for row in csv.DictReader(done.out.splitlines())]


def put(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "new.csv"
    path.write_text(text, encoding="utf-8")
    return path


LINE = "x,z,class\n0,5,low\n1,3,low\n2,4,high\n3,5,high\n4,3,high\n"
TRUTH = ["low", "low", "high", "high", "high"]


def test_separable_training_rows_get_their_labels(files: Files, fitted: Path) -> None:
    done = inside("predict", fitted / "line.novikoff", files.line)
    assert said(done) == TRUTH
    assert done.err == "novikoff: 0 of 5 labels differ.\n"
    assert done.out.splitlines()[:2] == ["row,prediction", "1,low"]


def test_columns_in_another_order_and_others_between(fitted: Path, tmp_path: Path) -> None:
    path = put(tmp_path, "note,z,class,x\nhello,5,low,0\n,3,low,1\nx,4,high,2\n")
    done = inside("predict", fitted / "line.novikoff", path)
    assert said(done) == TRUTH[:3]
    assert 'ignored: "note"' in done.err
    assert "0 of 3 labels differ" in done.err


def test_a_missing_column_is_named(fitted: Path, tmp_path: Path) -> None:
    done = inside("predict", fitted / "line.novikoff", put(tmp_path, "x,class\n0,low\n"))
    assert done.code == 2
    assert done.out == ""
    assert 'new.csv has no column "z"' in done.err


def test_a_file_without_labels(fitted: Path, tmp_path: Path) -> None:
    done = inside("predict", fitted / "line.novikoff", put(tmp_path, "x,z\n0,5\n4,3\n"))
    assert said(done) == ["low", "high"]
    assert done.err == ""


def test_scores_of_two_classes_decide_by_their_sign(files: Files, fitted: Path) -> None:
    done = inside("predict", fitted / "line.novikoff", files.line, "--scores")
    rows = list(csv.DictReader(done.out.splitlines()))
    assert list(rows[0]) == ["row", "prediction", "score_low"]
    assert [float(row["score_low"]) > 0 for row in rows] == [label == "low" for label in TRUTH]
    model = nv.load(fitted / "line.novikoff")
    X = np.array([[float(value) for value in line.split(",")[:2]] for line in LINE.split()[1:]])
    expected = X @ model.coef_[0] + model.intercept_[0]
    assert [float(row["score_low"]) for row in rows] == pytest.approx(expected.tolist(), rel=1e-12)


def test_scores_of_several_classes_decide_by_the_largest(files: Files, fitted: Path) -> None:
    done = inside("predict", fitted / "iris.novikoff", files.iris, "--scores")
    rows = list(csv.DictReader(done.out.splitlines()))
    assert len(rows) == 150
    names = ["setosa", "versicolor", "virginica"]
    for row in rows:
        scores = [float(row[f"score_{name}"]) for name in names]
        assert row["prediction"] == names[int(np.argmax(scores))]


def test_standard_input_and_output(fitted: Path) -> None:
    done = inside("predict", fitted / "line.novikoff", "-", "-o", "-", stdin=LINE.encode())
    assert said(done) == TRUTH


def test_the_rows_have_their_ids(files: Files, fitted: Path) -> None:
    done = inside("predict", fitted / "duplicates.novikoff", files.duplicates)
    rows = list(csv.DictReader(done.out.splitlines()))
    assert [row["id"] for row in rows] == [f"r{k}" for k in range(1, 8)]


def test_out_refuses_an_existing_file(files: Files, fitted: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    done = inside("predict", fitted / "line.novikoff", files.line, "--out", out)
    assert (done.code, done.out) == (0, "")
    whole = out.read_text(encoding="utf-8")
    assert len(whole.splitlines()) == 6
    out.write_text("mine", encoding="utf-8")
    done = inside("predict", fitted / "line.novikoff", files.line, "--out", out)
    assert done.code == 2
    assert done.err == f"novikoff: {out} already exists; --force replaces it.\n"
    assert out.read_text(encoding="utf-8") == "mine"
    assert inside("predict", fitted / "line.novikoff", files.line, "-o", out, "--force").code == 0
    assert out.read_text(encoding="utf-8") == whole
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_a_value_that_training_has_not_seen(tmp_path: Path) -> None:
    path = tmp_path / "colours.csv"
    path.write_text("colour,y\nred,a\nblue,b\n", encoding="utf-8")
    assert inside("fit", path, "--one-hot", "colour", "--out", tmp_path).code == 0
    new = put(tmp_path, "colour\nred\nblue\n")
    assert said(inside("predict", tmp_path / "colours.novikoff", new)) == ["a", "b"]
    new = put(tmp_path, "colour\nred\ngreen\nblue\n")
    done = inside("predict", tmp_path / "colours.novikoff", new)
    assert (done.code, done.out) == (2, "")
    assert 'new.csv, row 2, column "colour" holds "green"' in done.err


def test_labels_are_counted_as_text(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("x,y\n1,0\n2,1\n3,2\n", encoding="utf-8")
    assert inside("fit", path, "--positive", "2", "--out", tmp_path).code == 0
    done = inside("predict", tmp_path / "numbers.novikoff", path)
    assert said(done) == ["(rest)", "(rest)", "2"]
    assert done.err == "novikoff: 0 of 3 labels differ.\n"


def test_a_model_that_does_not_know_how_its_data_was_read(files: Files, tmp_path: Path) -> None:
    model = nv.Perceptron().fit([[0.0], [1.0]], [0, 1])
    nv.save(model, tmp_path / "bare.novikoff")
    done = inside("predict", tmp_path / "bare.novikoff", files.line)
    assert done.code == 2
    assert "bare.novikoff does not say how its data was read" in done.err


def test_rows_without_a_label_are_predicted(files: Files, fitted: Path, tmp_path: Path) -> None:
    """An empty label column is what one has before predicting."""
    lines = files.line.read_text().splitlines()
    for keep in (0, 2):
        rows = [
            line if k <= keep else line.rpartition(",")[0] + "," for k, line in enumerate(lines)
        ]
        data = tmp_path / f"open{keep}.csv"
        data.write_text("\n".join(rows) + "\n")
        done = inside("predict", fitted / "line.novikoff", data)
        assert done.code == 0
        assert len(done.out.splitlines()) == len(lines)
        assert "labels are missing" in done.err


def spam(tmp_path: Path) -> Path:
    """A model whose features have names: rows are predicted as they come."""
    data, model = tmp_path / "old.txt", tmp_path / "m.novikoff"
    data.write_text("spam a:1\nham b:1\n", encoding="utf-8")
    assert inside("stream", data, "--save", model, "--quiet").code == 0
    return model


def started(*words: str | Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603
        [*COMMAND, "predict", *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )


def ask(running: subprocess.Popen[bytes], line: bytes) -> None:
    assert running.stdin is not None
    running.stdin.write(line)
    running.stdin.flush()


def test_lines_are_answered_as_they_come(tmp_path: Path) -> None:
    """A reader of a pipe gets each answer before the next question."""
    model = spam(tmp_path)
    with started(model, "-") as running:
        assert running.stdout is not None
        for number, (question, answer) in enumerate([(b"b:1\n", b"ham"), (b"a:1\n", b"spam")], 1):
            ask(running, question)
            if number == 1:
                assert running.stdout.readline() == b"row,prediction\n"
            assert running.stdout.readline() == b"%d,%s\n" % (number, answer)
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
        assert running.stderr is not None
        assert b"interrupted; what was printed is not the whole" in running.stderr.read()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_leaves_nothing(number: int, code: int, tmp_path: Path) -> None:
    model = spam(tmp_path)
    before = sorted(tmp_path.iterdir())
    with started(model, "-", "--out", tmp_path / "out.csv") as running:
        ask(running, b"b:1\na:1\n")
        wait_for(lambda: sorted(tmp_path.iterdir()) != before)
        running.send_signal(number)
        assert running.wait(60) == code
    assert sorted(tmp_path.iterdir()) == before


def flood(pipe: int) -> None:
    for _ in range(100_000):  # it ends when the reader is gone
        os.write(pipe, b"a:1\n" * 1000)


def test_a_reader_who_has_had_enough_ends_it(tmp_path: Path) -> None:
    """The pipe never ends, but nobody reads what is printed."""
    model = spam(tmp_path)
    with started(model, "-") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        ask(running, b"b:1\na:1\n")
        running.stdout.readline()
        running.stdout.close()
        with pytest.raises(BrokenPipeError):
            flood(running.stdin.fileno())
        assert running.wait(60) == 0
        assert running.stderr is not None
        assert running.stderr.read() == b""


def test_labels_survive_a_locale_that_lacks_their_letters(tmp_path: Path) -> None:
    rows = put(tmp_path, "x,class\n0,über\n1,über\n4,äber\n5,äber\n")
    done = script("fit", rows, "--out", tmp_path, "--format", "json", PYTHONIOENCODING="ascii")
    assert done.code == 0
    assert "über" in done.out
    assert "äber" in done.out

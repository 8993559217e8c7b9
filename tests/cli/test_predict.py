"""``novikoff predict`` writes the labels of the model, for every format of file."""

from __future__ import annotations

import csv
import gzip
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import novikoff as nv
from tests.cases import case_named
from tests.cli.conftest import Files, Result, ends_in_time, inside, put, script, started

TRUTH = ["low", "low", "high", "high", "high"]


def rows_of(done: Result) -> list[dict[str, str]]:
    assert done.code == 0, done.err
    return list(csv.DictReader(done.out.splitlines()))


def said(done: Result) -> list[str]:
    return [row["prediction"] for row in rows_of(done)]


def test_training_rows_get_their_labels(files: Files, fitted: Path) -> None:
    done = inside("predict", fitted / "line.novikoff", files.line)
    assert said(done) == TRUTH
    assert done.err == "novikoff: 0 of 5 labels differ from the predictions.\n"
    assert done.out.splitlines()[:2] == ["row,prediction", "1,low"]
    piped = inside("predict", fitted / "line.novikoff", "-", stdin=files.line.read_bytes())
    assert (piped.out, piped.err) == (done.out, done.err)
    named = rows_of(inside("predict", fitted / "duplicates.novikoff", files.duplicates))
    assert [row["id"] for row in named] == [f"r{k}" for k in range(1, 8)]


@pytest.mark.parametrize(
    ("text", "labels", "note"),
    [
        ("x,z\n0,5\n4,3\n", ["low", "high"], ""),
        ("a,z,class,x\nhi,5,low,0\n,3,low,1\nx,4,high,2\n", TRUTH[:3], 'ignored: "a"'),
        ("x,z,class\n0,5,low\n4,3,\n", ["low", "high"], "labels are missing"),
        ("x,z,class\n0,5,\n4,3,\n", ["low", "high"], "labels are missing"),
    ],
)
def test_columns_are_matched_by_name(
    text: str, labels: list[str], note: str, fitted: Path, tmp_path: Path
) -> None:
    done = inside("predict", fitted / "line.novikoff", put(tmp_path, text, "new.csv"))
    assert said(done) == labels
    assert note in done.err
    assert bool(note) == bool(done.err)


def test_scores_decide_by_their_sign_or_by_the_largest(files: Files, fitted: Path) -> None:
    rows = rows_of(inside("predict", fitted / "line.novikoff", files.line, "--scores"))
    assert list(rows[0]) == ["row", "prediction", "score_low"]
    scores = [float(row["score_low"]) for row in rows]
    assert [score > 0 for score in scores] == [label == "low" for label in TRUTH]
    model, data = nv.load(fitted / "line.novikoff"), nv.data.read(files.line)
    assert isinstance(data.X, np.ndarray)
    assert scores == pytest.approx(data.X @ model.coef_[0] + model.intercept_[0], rel=1e-12)
    names = ["setosa", "versicolor", "virginica"]
    for row in rows_of(inside("predict", fitted / "iris.novikoff", files.iris, "--scores")):
        assert row["prediction"] == names[np.argmax([float(row[f"score_{n}"]) for n in names])]


def test_out_rejects_an_existing_file(files: Files, fitted: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    words = ("predict", fitted / "line.novikoff", files.line, "--out", out)
    assert (inside(*words).code, inside(*words[:-2]).out) == (0, out.read_text(encoding="utf-8"))
    whole = out.read_text(encoding="utf-8")
    out.write_text("mine", encoding="utf-8")
    done = inside(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"novikoff: {out} already exists; --force replaces it.\n"
    assert out.read_text(encoding="utf-8") == "mine"
    assert inside(*words, "--force").code == 0
    assert out.read_text(encoding="utf-8") == whole
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_a_value_that_training_has_not_seen(tmp_path: Path) -> None:
    path = put(tmp_path, "colour,y\nred,a\nblue,b\n", "colours.csv")
    assert inside("fit", path, "--one-hot", "colour", "--out", tmp_path).code == 0
    model = tmp_path / "colours.novikoff"
    assert said(inside("predict", model, put(tmp_path, "colour\nred\nblue\n", "new.csv"))) == [
        "a",
        "b",
    ]
    done = inside("predict", model, put(tmp_path, "colour\nred\ngreen\nblue\n", "new.csv"))
    assert (done.code, done.out) == (2, "")
    assert 'new.csv, row 2, column "colour" holds "green"' in done.err


def test_all_labels_but_one_are_the_rest(tmp_path: Path) -> None:
    path = put(tmp_path, "x,y\n1,0\n2,1\n3,2\n", "numbers.csv")
    assert inside("fit", path, "--positive", "2", "--out", tmp_path).code == 0
    done = inside("predict", tmp_path / "numbers.novikoff", path)
    assert said(done) == ["(rest)", "(rest)", "2"]
    assert done.err == "novikoff: 0 of 3 labels differ from the predictions.\n"


def test_a_model_that_does_not_know_how_its_data_was_read(files: Files, tmp_path: Path) -> None:
    nv.save(nv.Perceptron().fit([[0.0], [1.0]], [0, 1]), tmp_path / "bare.novikoff")
    done = inside("predict", tmp_path / "bare.novikoff", files.line)
    assert done.code == 2
    assert "bare.novikoff does not say how its data was read" in done.err


# Models of streams whose features are names, or hashed.

WORDS = ("free", "money", "hello", "meeting", "12", "naïve", "qid")
BITS = 5  # few columns: many names share one


def feature_hash(name: bytes, bits: int) -> int:
    """An oracle of ten lines for FNV-1a hashes, folded to fewer bits."""
    value = 0xCBF29CE484222325
    for byte in name:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return (value >> bits ^ value) & ((1 << bits) - 1)


def documents(n: int, seed: int) -> list[tuple[str, dict[str, float]]]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        words = rng.choice(WORDS, size=int(rng.integers(1, 5)), replace=False).tolist()
        values = {word: float(rng.integers(1, 40)) / 8 for word in words}
        spam = values.get("free", 0) + values.get("money", 0) > values.get("hello", 0)
        found.append(("spam" if spam else "ham", values))
    return found


def lines(rows: Sequence[tuple[str | None, dict[str, float]]]) -> str:
    """Rows of pairs; each value is written as two halves, which add up."""
    text = ""
    for label, values in rows:
        pairs = [f"{name}:{value / 2!r}" for name, value in values.items()] * 2
        text += " ".join([*([] if label is None else [label]), *pairs]) + "\n"
    return text


def learned(tmp_path: Path, text: str, *words: str) -> Path:
    model = tmp_path / "m.novikoff"
    data = put(tmp_path, text, "old.txt")
    assert inside("stream", data, "--save", model, "--force", "--quiet", *words).code == 0
    return model


@pytest.mark.parametrize("words", [[], ["--average"], ["--hash", str(BITS)]])
def test_named_features_by_the_weights_themselves(words: list[str], tmp_path: Path) -> None:
    """With and without labels; unknown features are left out, or hashed."""
    model = learned(tmp_path, lines(documents(200, 1)), *words)
    saved = nv.load(model)
    if "--hash" in words:
        weights = {w: saved.coef_[0, feature_hash(w.encode(), BITS)] for w in (*WORDS, "never")}
    else:
        names = saved.feature_names_in_.tolist()
        weights = dict(zip(names, saved.coef_[0].tolist(), strict=True)) | {"never": 0.0}
    rows = [*documents(300, 2), ("spam", {"never": 1.5, "free": 1.0})]
    mixed = [(label if k % 200 < 100 else None, x) for k, (label, x) in enumerate(rows)]
    done = inside("predict", model, put(tmp_path, lines(rows), "new.csv"), "--scores")
    wrong = 0
    for row, (label, values) in zip(rows_of(done), rows, strict=True):
        with case_named(row["row"]):
            score = (
                sum(weights[name] * value for name, value in values.items()) + saved.intercept_[0]
            )
            assert float(row["score_spam"]) == pytest.approx(score, rel=1e-12)
            assert row["prediction"] == ("spam" if score > 0 else "ham")
            wrong += row["prediction"] != label
    assert f"novikoff: {wrong} of 301 labels differ from the predictions.\n" in done.err
    unknown = '1 feature that the model does not know is left out: "never"'
    assert (unknown in done.err) == ("--hash" not in words)
    some = inside("predict", model, put(tmp_path, lines(mixed), "new.csv"), "--scores")
    assert some.out == done.out
    assert "labels are missing, or none that the model could give, in 101 of 301" in some.err


@pytest.mark.parametrize("multi", ["ovr", "ovo"])
def test_three_classes(multi: str, tmp_path: Path) -> None:
    rows = [(str(1 + k % 3), x) for k, (_, x) in enumerate(documents(60, 3))]
    model = learned(tmp_path, lines(rows), "--names", "--multi-class", multi)
    found = rows_of(inside("predict", model, tmp_path / "old.txt", "--scores"))
    learner = nv.load(model)
    assert list(found[0]) == ["row", "prediction", "score_1", "score_2", "score_3"]
    told = [learner.predict_one(dict(x.items())) for _, x in rows]
    assert [row["prediction"] for row in found] == [str(label) for label in told]


def test_labels_are_anything(tmp_path: Path) -> None:
    model = learned(tmp_path, "1 a:1\n-1 b:1\n1 a:2\n")
    done = inside("predict", model, put(tmp_path, "+1 a:1\n-1.0 b:1\n7 a:1\n", "new.csv"))
    assert said(done) == ["1", "-1", "1"]
    assert done.err == "novikoff: 1 of 3 labels differ from the predictions.\n"
    done = inside("predict", model, put(tmp_path, "1 a:1\n? b:1\n-1\n", "new.csv"))
    assert said(done)[:2] == ["1", "-1"]
    assert "in 1 of 3 rows: these rows are not compared" in done.err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("# nothing\n", "new.csv has no rows."),
        ("spam a:1\nham b:x\n", '"b:x" has a value that is not a number.'),
        ("spam a:1\nham a:1e308 b:-1.7e308\n", "new.csv, row 2: the score is beyond the range"),
        (
            "a,b,y\n1,2,spam\n",
            "new.csv is neither JSON lines nor of the form label feature:value …",
        ),
    ],
)
def test_bad_pairs(text: str, sentence: str, tmp_path: Path) -> None:
    model = learned(tmp_path, "spam a:100\nham b:100\nspam a:1\n")
    new = put(tmp_path, text, "new.csv")
    before = sorted(tmp_path.iterdir())
    done = inside("predict", model, new, "--out", tmp_path / "out.csv")
    assert done.code == 2
    assert sentence in done.err
    assert sorted(tmp_path.iterdir()) == before


def test_many_pieces_are_one_table(tmp_path: Path) -> None:
    """Several megabytes, also packed: row numbers continue, and there is only one heading."""
    model = learned(tmp_path, lines(documents(200, 1)), "--hash", str(BITS))
    few = lines(documents(500, 7)).replace("\n", f" # {'long' * 100}\n")  # few rows, many bytes
    once = said(inside("predict", model, put(tmp_path, few, "new.csv")))
    times = 3_000_000 // len(few)
    text = (few + "? free:nan\n") * times
    done = inside("predict", model, put(tmp_path, text, "new.csv"), "--missing=drop")
    found = rows_of(done)
    numbers = [501 * k + j for k in range(times) for j in range(1, 501)]
    assert [int(row["row"]) for row in found] == numbers
    assert [row["prediction"] for row in found] == once * times
    assert f"{times} rows with missing values dropped" in done.err
    packed = inside("predict", model, "-", "--missing=drop", stdin=gzip.compress(text.encode()))
    assert packed.out == done.out


# Reading from pipes, and pipes that are closed.


def ask(running: subprocess.Popen[bytes], line: bytes) -> None:
    assert running.stdin is not None
    running.stdin.write(line)
    running.stdin.flush()


def spam(tmp_path: Path) -> Path:
    return learned(tmp_path, "spam a:1\nham b:1\n")


def test_lines_are_answered_as_they_come(tmp_path: Path) -> None:
    """A reader of a pipe gets each answer before it sends the next row, also the first answer."""
    with started("predict", spam(tmp_path), "-") as running, ends_in_time(running):
        assert running.stdout is not None
        for number, (question, answer) in enumerate([(b"b:1\n", b"ham"), (b"a:1\n", b"spam")], 1):
            with case_named(question):
                ask(running, question)
                if number == 1:
                    assert running.stdout.readline() == b"row,prediction\n"
                assert running.stdout.readline() == b"%d,%s\n" % (number, answer)
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
        assert running.stderr is not None
        assert b"interrupted; the table that was printed is not complete" in running.stderr.read()


def test_an_interrupted_run_leaves_nothing(tmp_path: Path) -> None:
    model = spam(tmp_path)
    before = sorted(tmp_path.iterdir())
    with started("predict", model, "-", "--out", tmp_path / "out.csv") as running:
        # A pipe holds less than a megabyte: once all is taken, the first rows are predicted.
        with ends_in_time(running):
            ask(running, (b"a:1 # %b\n" % (b"long" * 1000)) * 2000)
        assert sorted(tmp_path.iterdir()) != before
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 143
    assert sorted(tmp_path.iterdir()) == before


def flood(pipe: int) -> None:
    for _ in range(100_000):  # the loop ends when the reader has closed the pipe
        os.write(pipe, b"a:1 # %b\n" % (b"long" * 1000))


def test_a_reader_who_has_had_enough_ends_it(tmp_path: Path) -> None:
    """The pipe never ends, but nobody reads what is printed."""
    with started("predict", spam(tmp_path), "-") as running:
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
    rows = put(tmp_path, "x,class\n0,über\n1,über\n4,äber\n5,äber\n", "new.csv")
    done = script("fit", rows, "--out", tmp_path, "--format", "json", PYTHONIOENCODING="ascii")
    assert done.code == 0
    assert "über" in done.out


def test_rows_are_dropped_where_asked_though_the_model_knows_means(tmp_path: Path) -> None:
    data = tmp_path / "gaps.csv"
    data.write_text("a,y\n1,p\n,q\n3,q\n", encoding="utf-8")
    inside("fit", data, "--missing", "mean", "--out", tmp_path)
    model = tmp_path / "gaps.novikoff"
    assert inside("predict", model, data).out.count("\n") == 4
    assert inside("predict", model, data, "--missing", "drop").out.count("\n") == 3

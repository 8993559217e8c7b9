"""``novikoff stream``: what it says, what it keeps, and that it goes on where it stopped."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

import novikoff as nv
from novikoff.report import model_file
from novikoff.report.stream import Progress
from tests.cli.conftest import COMMAND, Files, Result, environment, inside, wait_for


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


def learned(path: Path) -> bytes:
    """The bytes of a model, with which everything is said."""
    return path.read_bytes()


def stream(*words: str | Path, stdin: bytes = b"") -> Result:
    done = inside("stream", *words, stdin=stdin)
    assert done.code == 0, done.err
    return done


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
    assert records[-1]["rows"] == 569
    quiet = stream(files.cancer, "--format", "json", "--quiet")
    assert [json.loads(line) for line in quiet.out.splitlines()] == records[-1:]
    learner = nv.Perceptron()
    *_, last = nv_stream(files.cancer, learner)
    assert last.mistakes == records[-1]["mistakes"]
    assert last.margin_bound == records[-1]["margin_bound"]


def nv_stream(path: Path, learner: nv.Perceptron) -> list[Progress]:
    return [*nv.stream(path, learner)]


def test_the_model_predicts_and_tells_what_it_is(rows: Path, tmp_path: Path) -> None:
    model = tmp_path / "rows.novikoff"
    done = stream(rows, "--save", model, "--average")
    assert done.line("model") == str(model)
    told = inside("predict", model, rows)
    assert told.code == 0
    assert len(told.out.splitlines()) == 3001
    info = inside("info", model)
    assert info.code == 0
    assert "high, low, other" in info.line("classes")
    learner = nv.Perceptron(average="averaged")
    nv_stream(rows, learner)
    saved = nv.load(model)
    assert saved.coef_.tobytes() == learner.coef_.tobytes()
    assert saved.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    data = model_file.read(model).data
    assert data is not None
    assert data["rows"] == 3000


def test_numbered_pairs_make_a_model_that_predicts(tmp_path: Path) -> None:
    data = tmp_path / "rows.svm"
    data.write_text("+1 1:1 3:2\n-1 2:1\n+1 1:3 7:1\n", encoding="utf-8")
    model = tmp_path / "rows.novikoff"
    stream(data, "--save", model)
    told = inside("predict", model, data)
    assert told.code == 0, told.err
    assert nv.load(model).n_features_in_ == 8


@pytest.mark.parametrize("words", [[], ["--hash", "10"]])
def test_named_features_are_kept_or_hashed_and_go_on(words: list[str], tmp_path: Path) -> None:
    lines = [
        f"{'spam' if k % 3 else 'ham'} w{k % 17}:1 {'free' if k % 3 else 'lunch'}:2 x{k}:0.5"
        for k in range(100)
    ]
    data = tmp_path / "mail.txt"
    whole, parts = tmp_path / "whole.novikoff", tmp_path / "parts.novikoff"
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    stream(data, "--save", whole, *words)
    for limit in ("37", "38", "100"):
        stream(data, "--save", parts, "--resume", "--limit", limit, *words)
    assert learned(whole) == learned(parts)
    saved = nv.load(whole)
    if not words:
        assert saved.predict_one({"free": 1.0}) == "spam"
    told = inside("predict", whole, data)
    assert (told.code, told.err) == (0, "novikoff: 0 of 100 labels differ.\n")


@pytest.mark.parametrize("packed", [False, True])
def test_it_goes_on_exactly_where_it_stopped(rows: Path, tmp_path: Path, packed: bool) -> None:
    data = tmp_path / "rows.csv"
    data.write_bytes(gzip.compress(rows.read_bytes()) if packed else rows.read_bytes())
    words = ["--passes", "3", "--step", "0.3", "--missing", "drop"]
    whole, parts = tmp_path / "whole.novikoff", tmp_path / "parts.novikoff"
    stream(data, "--save", whole, *words)
    for limit in (1, 2, 706, 1999, 3000, 3001, 6000, 8999, 10_000):
        stream(data, "--save", parts, "--resume", "--limit", str(limit), *words)
    assert learned(whole) == learned(parts)
    again = stream(data, "--save", parts, "--resume", *words)  # nothing new
    assert "9,000 rows in 3 passes" in again.line("data")
    assert learned(whole) == learned(parts)


def test_a_file_that_has_grown_is_read_on(rows: Path, tmp_path: Path) -> None:
    content = rows.read_bytes()
    lines = content.splitlines(keepends=True)
    data, model, whole = tmp_path / "d.csv", tmp_path / "m.novikoff", tmp_path / "w.novikoff"
    for stop in (200, 1000, 3001):
        data.write_bytes(b"".join(lines[:stop]))
        stream(data, "--save", model, "--resume")
    stream(data, "--save", whole)
    assert learned(model) == learned(whole)


def test_a_pipe_brings_what_is_new(rows: Path, tmp_path: Path) -> None:
    lines = rows.read_bytes().splitlines(keepends=True)
    new, whole = tmp_path / "new.novikoff", tmp_path / "whole.novikoff"
    stream("-", "--save", whole, stdin=b"".join(lines))
    stream("-", "--save", new, stdin=b"".join(lines[:1501]))
    stream("-", "--save", new, "--resume", stdin=b"".join(lines[:1] + lines[1501:]))
    one, other = model_file.read(new).model, model_file.read(whole).model
    assert one.W.tobytes() == other.W.tobytes()
    assert one.totals.tolist() == other.totals.tolist()
    assert rows_in(new) == rows_in(whole) == 3000
    assert inside("stream", "-", "--passes", "2", stdin=b"".join(lines)).code == 2


def test_saves_fall_on_multiples(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from novikoff.report import files

    written: list[int] = []
    write = files.write_file

    def noted(path: Path, content: bytes, *, force: bool = True) -> None:
        write(path, content, force=force)
        data = model_file.read(path).data
        assert data is not None
        assert isinstance(data["rows"], int)
        written.append(data["rows"])

    monkeypatch.setattr(files, "write_file", noted)
    stream(rows, "--save", tmp_path / "m.novikoff", "--save-every", "777")
    assert written == [777, 1554, 2331, 3000]


REFUSED = [
    (["--save-every", "5"], "needs --save"),
    (["--resume"], "needs --save"),
    (["--save", "m.novikoff", "--resume", "--force"], "choose one"),
    (["--save", "nowhere/m.novikoff"], "does not exist"),
    (["--missing", "mean"], "--missing mean"),
    (["--hash", "40"], "--hash"),
]


@pytest.mark.parametrize(("words", "sentence"), REFUSED)
def test_what_does_not_go_together_is_refused(
    words: list[str], sentence: str, files: Files
) -> None:
    done = inside("stream", files.line, *words)
    assert done.code == 2
    assert sentence in done.err
    assert done.out == ""


def test_a_model_is_not_replaced_unasked_nor_by_other_wishes(rows: Path, tmp_path: Path) -> None:
    model, data = tmp_path / "m.novikoff", tmp_path / "d.csv"
    data.write_bytes(rows.read_bytes())
    stream(data, "--save", model, "--limit", "500")
    before = learned(model)
    for words, sentence in (
        ([], "already exists; --resume goes on from it, --force begins anew"),
        (["--resume", "--margin", "2"], "was begun with --margin 0.0, not 2.0"),
        (["--resume", "--label", "d"], "was begun with --label nothing, not d"),
    ):
        done = inside("stream", data, "--save", model, *words)
        assert (done.code, sentence in done.err) == (2, True), done.err
        assert learned(model) == before
    data.write_bytes(rows.read_bytes()[:3000])
    short = inside("stream", data, "--save", model, "--resume")
    assert short.code == 2
    assert "novikoff: " in short.err
    assert learned(model) == before
    data.write_bytes(rows.read_bytes())
    fitted = inside("fit", data, "--out", tmp_path, "--no-verdict", "--force", "--epochs", "5")
    assert fitted.code == 0, fitted.err
    other = inside("stream", data, "--save", tmp_path / "d.novikoff", "--resume")
    assert "not of a stream" in other.err
    stream(data, "--save", model, "--force")


def test_a_stream_that_breaks_off_keeps_what_came_before(rows: Path, tmp_path: Path) -> None:
    data, model, whole = tmp_path / "d.csv", tmp_path / "m.novikoff", tmp_path / "w.novikoff"
    content = rows.read_bytes()
    lines = content.splitlines(keepends=True)
    data.write_bytes(b"".join([*lines[:2501], b"1,2,three,4,low\n"]))
    broken = inside("stream", data, "--save", model)
    assert broken.code == 2
    assert 'row 2501, column "c" holds "three"' in broken.err
    assert "holds the rows before" in broken.err
    data.write_bytes(content)
    stream(data, "--save", model, "--resume")
    stream(data, "--save", whole)
    assert learned(model) == learned(whole)


def begin(words: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603
        [*COMMAND, "stream", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_saves_and_says_where(
    number: signal.Signals, code: int, rows: Path, tmp_path: Path
) -> None:
    model = tmp_path / "m.novikoff"
    running = begin(["-", "--save", str(model), "--save-every", "3000"])
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
    assert (
        err.decode()
        .strip()
        .endswith(
            f"novikoff: interrupted after 3,000 rows; {model} holds what was learned, and --resume "
            "goes on from it."
        )
    )


def rows_in(model: Path) -> object:
    data = model_file.read(model).data
    assert data is not None
    return data["rows"]


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
        running = begin([*words, "--save", str(model), "--resume"])
        wait_for(lambda: running.poll() is not None or changed(model) != before)  # noqa: B023
        running.kill()
        running.communicate()
        kills += running.returncode == -signal.SIGKILL
        rows_seen = rows_in(model)  # whole, whenever one looks
        assert isinstance(rows_seen, int)
        assert rows_seen % 97 == 0 or rows_seen == 12_000
    assert kills
    assert inside("stream", *words, "--save", model, "--resume").code == 0
    assert learned(model) == learned(whole)
    assert os.listdir(tmp_path).count("m.novikoff") == 1

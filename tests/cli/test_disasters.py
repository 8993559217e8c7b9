"""Commands under signals, full disks, closed pipes and missing folders.

A file under its final name is always complete: either the old file or the new file.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from novikoff.formats.file_names import PAGE_MARK, SVG_MARK
from tests.cases import case_named
from tests.cli.conftest import (
    COMMAND,
    COMPILING,
    PROGRESS,
    Files,
    environment,
    inside,
    on_terminal,
    refused,
    script,
)


@pytest.fixture(scope="module")
def hard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random labels: no rule is good, so the command always has more to do."""
    path = tmp_path_factory.mktemp("hard") / "hard.npz"
    rng = np.random.default_rng(0)
    np.savez(path, X=rng.standard_normal((6000, 40)), y=rng.integers(0, 2, 6000))
    return path


@pytest.mark.parametrize(
    ("step", "number", "words"),
    [
        ("fewest mistakes", signal.SIGINT, []),
        ("perceptron", signal.SIGTERM, ["--no-verdict", "--epochs", "1000000000"]),
    ],
)
def test_a_signal_in_the_middle_leaves_nothing(
    step: str, number: signal.Signals, words: list[str], hard: Path, tmp_path: Path
) -> None:
    command = ["fit", str(hard), *words, "--out", str(tmp_path)]
    code, text, shown = on_terminal(command, signal_at=(step, number))
    assert (code, text) == (128 + number, ""), shown
    assert "Traceback" not in shown
    said = shown.count("novikoff: interrupted; nothing was written.")
    assert said == (number == signal.SIGINT)
    assert list(tmp_path.iterdir()) == []


STOPPED = """
import json, os, signal, sys, threading
from pathlib import Path
from novikoff.cli.main import run
from novikoff.formats import files

numbers, folder, *words = sys.argv[1:]
folder, write = Path(folder), files.write_files
sys.stdout.isatty = lambda: True  # the page becomes a file

def listed():
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".part"}

def stop_after(steps, number):  # in this process: a signal before the next step on the disk
    def counted(name):
        own = getattr(os, name)
        def step(*arguments, **more):
            nonlocal steps
            steps -= 1
            if steps < 0:
                steps = 10**9
                other = threading.Thread(target=os.kill, args=(os.getpid(), number))
                other.start()
                other.join()
            return own(*arguments, **more)
        setattr(os, name, step)
    for name in ("replace", "link", "unlink", "fsync"):
        counted(name)

def stopped(contents, old, steps, number, force, replaceable):
    # Return the exit code, what is where, hidden parts, and hidden parts later.
    for path in folder.iterdir():
        path.unlink()
    for name, content in old.items():
        (folder / name).write_bytes(content)
    child = os.fork()
    if child == 0:
        stop_after(steps, number)
        code = 99
        try:
            write(contents, force=force, replaceable=replaceable)
            code = 0
        except KeyboardInterrupt as error:
            code = 51 if "all files are written" in str(error) else 50
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    new = {path.name: content for path, content in contents.items()}
    state = {name: "old" if content == old.get(name) else "new" if content == new.get(name)
             else "torn" for name, content in listed().items()}
    parts = len(list(folder.glob(".*.part")))
    write({folder / "next": b""}, force=True)
    return [code, state, parts, len(list(folder.glob(".*.part")))]

def at_every_step(contents, *, force, replaceable):
    old, found = listed(), {}
    contents = {path: part if part is None or isinstance(part, bytes) else b"".join(part)
                for path, part in contents.items()}
    for number in json.loads(numbers):
        found[number] = [stopped(contents, old, 0, number, force, replaceable)]
        while found[number][-1][0] != 0:
            steps = len(found[number])
            found[number].append(stopped(contents, old, steps, number, force, replaceable))
    sys.__stdout__.write(json.dumps(found))
    sys.__stdout__.flush()
    os._exit(0)

files.write_files = at_every_step
sys.argv = ["novikoff", *words]
run()
"""


# Exit code, the files that exist and the fit that wrote each, and the hidden files that are left
# immediately and later.
Stop = tuple[int, dict[str, str], int, int]

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
ALL_FILES = {"data.novikoff", "data.cert.json", "data.html", "rows.csv", "plot.svg"}


@pytest.fixture(scope="module")
def stops(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], list[Stop]]:
    """The files that remain after a signal before each disk operation of a replacing fit."""
    folder = tmp_path_factory.mktemp("replaced")
    data, out = folder / "data.csv", folder / "out"
    found: dict[tuple[str, int], list[Stop]] = {}
    for asked, numbers in (("verdict", SIGNALS), ("no-verdict", SIGNALS[:1]), ("again", SIGNALS)):
        data.write_text("a,b,class\n0,0,no\n0,1,no\n1,0,no\n1,1,yes\n", encoding="utf-8")
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        assert inside("fit", data, "--out", out, "--rows", out / "rows.csv").code == 0
        first = (("data.html", PAGE_MARK), ("plot.svg", SVG_MARK))
        for name, mark in first:
            (out / name).write_bytes(mark + b"of the first fit")
        data.write_text("a,b,class\n0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n", encoding="utf-8")
        words: list[str | Path] = ["fit", data, "--out", out, "--format", "html"]
        words += ["--rows", out / "rows.csv", "--plot", out / "plot.svg"]
        words += {"verdict": ["--force"], "no-verdict": ["--force", "--no-verdict"], "again": []}[
            asked
        ]
        start = [sys.executable, "-c", STOPPED, json.dumps(numbers), str(out)]
        done = script(*words, start=start)
        assert done.code == 0, done.said
        found |= {(asked, int(number)): stop for number, stop in json.loads(done.out).items()}
    return found


@pytest.mark.parametrize(
    ("asked", "number"),
    [*((a, n) for a in ("verdict", "again") for n in SIGNALS), ("no-verdict", signal.SIGKILL)],
)
def test_a_signal_at_every_step_of_writing_leaves_files_of_one_fit(
    asked: str, number: signal.Signals, stops: dict[tuple[str, int], list[Stop]]
) -> None:
    """Model, certificate, rows, picture and page never come from two different fits."""
    found = stops[asked, int(number)]
    expected = ALL_FILES - ({"data.cert.json"} if asked == "no-verdict" else set())
    assert len(found) > 20
    assert found[0][1] == dict.fromkeys(ALL_FILES, "old")
    assert (found[-1][0], found[-1][1]) == (0, dict.fromkeys(expected, "new"))
    for step, (code, state, parts, parts_later) in enumerate(found[:-1]):
        assert len({*state.values()} & {"old", "new"}) == len({*state.values()}) == 1, (step, state)
        assert "data.novikoff" in state
        assert parts_later == 0
        if number == signal.SIGKILL:
            assert code == -number
            continue
        whole = "new" in state.values()
        assert parts == 0
        assert set(state) == (expected if whole else ALL_FILES)
        assert code == 50 + whole  # the message says whether all files were written


def is_whole(folder: Path, stem: str, data: Path) -> bool:
    """Whether each file under its final name can be read."""
    verified = inside("verify", folder / f"{stem}.cert.json", data).code == 0
    return verified and inside("info", folder / f"{stem}.novikoff").code == 0


@contextlib.contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    """A separate file system in memory; the test is skipped if this user may not make one."""
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)  # noqa: S603
    except OSError:
        pytest.skip("there is no mount here")
    if done.returncode != 0:
        pytest.skip("this user may not mount a file system")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)  # noqa: S603, S607


def test_a_full_disk(files: Files, tmp_path: Path) -> None:
    """Two old files take two of the four pages; two new files need more than the rest."""
    with mounted(tmp_path, "size=16k"):
        (tmp_path / "iris.novikoff").write_bytes(b"old model" * 400)
        (tmp_path / "iris.cert.json").write_bytes(b"old proof" * 400)
        done = inside("fit", files.iris, "--out", tmp_path, "--force")
        refused(done, "cannot be written: the disk is full", str(tmp_path / "iris."))
        left = {path.name: path.read_bytes()[:9] for path in tmp_path.iterdir()}
        assert left == {"iris.novikoff": b"old model", "iris.cert.json": b"old proof"}


def test_a_read_only_file_system(files: Files, fitted: Path, tmp_path: Path) -> None:
    with mounted(tmp_path, "ro,size=16k"):
        refused(inside("fit", files.xor, "--out", tmp_path), str(tmp_path), "written")
        refused(inside("fit", files.xor, "--out", tmp_path / "new" / "deep"), str(tmp_path))
        words = ("predict", fitted / "xor.novikoff", files.xor, "-o", tmp_path / "said.csv")
        refused(inside(*words), "said.csv cannot be written")


def test_an_output_directory(files: Files, tmp_path: Path) -> None:
    """The directory is made if files are written to it, and not otherwise."""
    place, other = tmp_path / "place", tmp_path / "xor.novikoff"
    place.write_bytes(b"a file")
    other.write_bytes(b"another one")
    refused(inside("fit", files.xor, "--out", place), str(place), "is not a directory")
    refused(inside("fit", files.xor, "--out", place / "deeper"), str(place), "not a directory")
    refused(inside("fit", tmp_path / "none.csv", "--out", tmp_path / "new"), "does not exist")
    assert sorted(tmp_path.iterdir()) == [place, other]
    out = tmp_path / "deep" / "down"
    assert inside("fit", files.xor, "--out", out).code == 0
    assert sorted(path.name for path in out.iterdir()) == ["xor.cert.json", "xor.novikoff"]
    assert (place.read_bytes(), other.read_bytes()) == (b"a file", b"another one")


@pytest.mark.parametrize("name", ["xor.novikoff", "xor.cert.json", "picture.svg"])
def test_existing_files_are_rejected_before_any_work(name: str, tmp_path: Path) -> None:
    """The data is not read: the file of the data does not exist."""
    (tmp_path / name).write_bytes(b"mine")
    data = tmp_path / "nowhere" / "xor.csv"
    done = inside("fit", data, "--out", tmp_path, "--plot", tmp_path / "picture.svg")
    refused(done, f"{tmp_path / name} already exists", "did not write it", "--force replaces it")
    assert (tmp_path / name).read_bytes() == b"mine"


OTHERS = {  # files with the same names, which a fit of the same data did not write
    "xor.novikoff": b"mine",
    "xor.cert.json": b'{"kind": "novikoff certificates", "schema_version": 1}',
    "rows.csv": b"row,label\n",
    "plot.svg": b"<svg></svg>",
    "plot.png": b"\x89PNG",
}


@pytest.mark.parametrize("name", ["", *OTHERS])
def test_a_second_fit_replaces_what_the_first_wrote_and_nothing_else(
    name: str, tmp_path: Path
) -> None:
    data, out = tmp_path / "xor.csv", tmp_path / "out"
    words: list[str | Path] = ["fit", data, "--out", out, "--rows", out / "rows.csv"]
    words += ["--plot", out / ("plot.png" if name == "plot.png" else "plot.svg")]
    data.write_text("a,b,class\n0,0,no\n0,1,no\n1,0,no\n1,1,yes\n", encoding="utf-8")
    out.mkdir()
    assert inside(*words).code == 0
    first = {path.name: path.read_bytes() for path in out.iterdir()}
    if name:
        (out / name).write_bytes(OTHERS[name])
    data.write_text("a,b,class\n0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n", encoding="utf-8")
    done = inside(*words)
    second = {path.name: path.read_bytes() for path in out.iterdir()}
    if name:
        refused(done, f"{out / name} already exists", "--force replaces it")
        assert second == first | {name: OTHERS[name]}
    else:
        assert done.code == 0
        assert set(second) == set(first)
        assert [part for part in first if second[part] == first[part]] == []
        assert is_whole(out, "xor", data)


def test_a_fit_replaces_neither_the_model_of_a_stream_nor_that_of_other_data(
    files: Files, tmp_path: Path
) -> None:
    data, model = tmp_path / "xor.csv", tmp_path / "xor.novikoff"
    shutil.copy(files.xor, data)
    assert inside("stream", data, "--save", model).code == 0
    for source in (data, files.xor):
        with case_named(source):
            learned = model.read_bytes()
            refused(inside("fit", source, "--out", tmp_path), "did not write it", "--force")
            assert model.read_bytes() == learned
            assert inside("fit", data, "--out", tmp_path, "--force").code == 0
    assert inside("fit", data, "--out", tmp_path, "--no-verdict").code == 0
    assert not (tmp_path / "xor.cert.json").exists()  # it would not belong to the new model


def test_files_of_the_same_name_are_distinguished_in_a_shared_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file of the data is recognised from every directory, and no other file of its name is."""
    for name, labels in {"one": ("no", "yes"), "two": ("yes", "no")}.items():
        (tmp_path / name).mkdir()
        text = "a,class\n" + "".join(f"{k},{label}\n" for k, label in enumerate(labels))
        (tmp_path / name / "data.csv").write_text(text, encoding="utf-8")
    model = tmp_path / "shared" / "data.novikoff"
    monkeypatch.chdir(tmp_path / "one")
    assert inside("fit", "data.csv", "--out", "../shared").code == 0
    learned = model.read_bytes()
    monkeypatch.chdir(tmp_path / "two")
    done = inside("fit", "data.csv", "--out", "../shared")
    refused(done, "did not write it for this file data.csv", "--force", "--out DIR")
    assert model.read_bytes() == learned
    monkeypatch.chdir(tmp_path)
    assert inside("fit", "one/data.csv", "--out", "shared").code == 0
    (tmp_path / "project").mkdir()
    for name in ("one", "shared"):  # both are moved, as in a checkout of a project elsewhere
        (tmp_path / name).rename(tmp_path / "project" / name)
    monkeypatch.chdir(tmp_path / "project" / "shared")
    assert inside("fit", "../one/data.csv").code == 0
    for path in (tmp_path / "project" / "shared").iterdir():
        assert str(tmp_path).encode() not in path.read_bytes()


def test_a_directory_with_the_name_of_a_file(files: Files, tmp_path: Path) -> None:
    (tmp_path / "xor.novikoff").mkdir()
    refused(inside("fit", files.xor, "--out", tmp_path, "--force"), "xor.novikoff is a directory")


def in_shell(redirected: str, *words: str | Path) -> tuple[int, str]:
    """Run the command with redirected standard streams; return exit code and standard error."""
    done = subprocess.run(  # noqa: S602 (our own words)
        f"{shlex.join([*COMMAND, *map(str, words)])} {redirected}",
        shell=True,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stderr.replace(COMPILING, "")


def test_a_reader_who_has_had_enough(files: Files, tmp_path: Path) -> None:
    """The other end of the pipe is closed, as with ``| head -1``."""
    ours, theirs = os.pipe()
    os.close(ours)
    words = ["fit", str(files.xor), "--out", str(tmp_path), "--require", "separable"]
    done = subprocess.run(  # noqa: S603
        [*COMMAND, *words], stdout=theirs, stderr=subprocess.PIPE, env=environment(), check=False
    )
    os.close(theirs)
    said = PROGRESS.sub("", done.stderr.decode().replace(COMPILING, ""))
    assert said == "novikoff: the verdict is inseparable, not separable.\n"
    assert done.returncode == 1
    assert is_whole(tmp_path, "xor", files.xor)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_standard_streams_that_fail(files: Files, fitted: Path, tmp_path: Path) -> None:
    full = "no space left on device.\n"
    proof = fitted / "line.cert.json"
    said = f"novikoff: standard output cannot be written: {full}"
    assert in_shell(">/dev/full", "verify", proof, files.line) == (2, said)
    said = f"novikoff: standard input or output failed: {full}"
    assert in_shell(">/dev/full", "--help") == (2, said)
    said = "novikoff: - cannot be read: the standard input is closed.\n"
    assert in_shell("<&-", "fit", "-") == (2, said)
    assert in_shell(">&- 2>&-", "fit", files.line, "--out", tmp_path) == (0, "")
    assert is_whole(tmp_path, "line", files.line)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--rows", "same.csv", "--plot", "same.csv.svg"], ""),
        (["--rows", "OUT/line.novikoff"], "two outputs"),
        (["--rows", "OUT/../out/line.cert.json"], "two outputs"),
        (["--rows", "rows.svg", "--plot", "rows.svg"], "two outputs"),
        (["--rows", "DATA"], "line.csv is an input file"),
    ],
)
def test_outputs_are_files_of_their_own(
    words: list[str], reason: str, files: Files, tmp_path: Path
) -> None:
    """No output replaces another, or the data."""
    data, out = tmp_path / "line.csv", tmp_path / "out"
    shutil.copy(files.line, data)
    out.mkdir()
    places = {"OUT": str(out), "DATA": str(data)}
    for short, long in places.items():
        words = [word.replace(short, long) for word in words]
    words = [str(tmp_path / w) if w[0] not in "-/" else w for w in words]
    done = inside("fit", data, "--out", out, "--force", *words)
    if reason:
        refused(done, reason)
        assert list(out.iterdir()) == []
    else:
        assert done.code == 0
    assert data.read_bytes() == files.line.read_bytes()


@pytest.mark.parametrize("name", ["line.novikoff", "new.csv"])
def test_predictions_do_not_replace_what_they_are_made_from(
    name: str, fitted: Path, tmp_path: Path
) -> None:
    model, data = tmp_path / "line.novikoff", tmp_path / "new.csv"
    shutil.copy(fitted / "line.novikoff", model)
    data.write_text("x,z\n1,2\n", encoding="utf-8")
    path = tmp_path / name
    before = path.read_bytes()
    refused(inside("predict", model, data, "-o", path, "--force"), "is an input file")
    assert path.read_bytes() == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", ["fit", "solve", "predict"])
def test_a_signal_while_files_get_their_names_does_not_say_that_nothing_was_written(
    command: str,
    number: signal.Signals,
    files: Files,
    fitted: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    system = tmp_path / "system.csv"
    system.write_text("x,is,to\n1,<=,3\n", encoding="utf-8")
    out = tmp_path / "out"
    words: dict[str, list[str | Path]] = {
        "fit": ["fit", files.line, "--out", out],
        "solve": ["solve", system, "--out", out / "report", "--certificate", out / "proof"],
        "predict": ["predict", fitted / "line.novikoff", files.line, "--out", out / "said.csv"],
    }
    out.mkdir()
    link = os.link

    def interrupted(*names: Path) -> None:
        link(*names)
        signal.raise_signal(number)

    monkeypatch.setattr(os, "link", interrupted)
    done = inside(*words[command])
    assert (done.code, done.out) == (128 + number, "")
    said = "novikoff: interrupted; all files are written." if number == signal.SIGINT else ""
    assert done.err.strip() == said
    assert len(list(out.iterdir())) == {"fit": 2, "solve": 2, "predict": 1}[command]


KILLED = """
import os, signal, sys
from novikoff.cli.main import run
left = int(sys.argv.pop(1))
sync = os.fsync
def killed(handle):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    sync(handle)
os.fsync = killed
run()
"""


def test_the_next_save_of_a_stream_removes_what_a_kill_left(files: Files, tmp_path: Path) -> None:
    words = ["stream", str(files.iris), "--save", str(tmp_path / "iris.novikoff")]
    words += ["--save-every", "20", "--resume"]
    for saves in (0, 4):
        with case_named(saves):
            done = script(*words, start=[sys.executable, "-c", KILLED, str(saves)])
            assert done.code == -signal.SIGKILL
            assert len(list(tmp_path.glob(".*.part"))) == 1
    assert inside(*words).code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["iris.novikoff"]

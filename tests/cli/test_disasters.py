"""Troubles around a command: signals, full disks, closed pipes, places that are not there.

A file under its final name is always whole: the old one or the new one.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

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
    """Labels at random: no rule is good, and there is always more to do."""
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


def is_whole(folder: Path, stem: str, data: Path) -> bool:
    """Whether the files under final names can be read, each by itself."""
    verified = inside("verify", folder / f"{stem}.cert.json", data).code == 0
    return verified and inside("info", folder / f"{stem}.novikoff").code == 0


@pytest.mark.parametrize("after", [1, 2])
def test_a_kill_while_writing_leaves_whole_files(
    after: int, files: Files, fitted: Path, tmp_path: Path
) -> None:
    """Killed when the second file is written, and between the two renames."""
    old = {}
    for name in ("xor.novikoff", "xor.cert.json"):
        old[name] = (fitted / name).read_bytes()
        (tmp_path / name).write_bytes(old[name])
    start = [sys.executable, "-c", KILLED, str(after)]
    words = ("fit", files.xor, "--seed", "5", "--out", tmp_path, "--force")
    assert script(*words, start=start).code == -signal.SIGKILL
    new = {name: (tmp_path / name).read_bytes() for name in old}
    assert (new == old) == (after < 2)
    assert is_whole(tmp_path, "xor", files.xor)
    assert any(path.suffix == ".part" for path in tmp_path.iterdir())  # no one is left to tidy up


@contextlib.contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    """A file system in memory of its own, where this user may make one."""
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
    """Two old files take two of the four pages; two new ones need more than is left."""
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
    """It is made if need be, but not for nothing; files above it do not matter."""
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
def test_existing_files_are_refused_before_any_work(name: str, tmp_path: Path) -> None:
    """The data is not even looked at: it is not there."""
    (tmp_path / name).write_bytes(b"mine")
    data = tmp_path / "nowhere" / "xor.csv"
    done = inside("fit", data, "--out", tmp_path, "--plot", tmp_path / "picture.svg")
    refused(done, f"{tmp_path / name} already exists; --force")
    assert (tmp_path / name).read_bytes() == b"mine"


def test_a_directory_with_the_name_of_a_file(files: Files, tmp_path: Path) -> None:
    (tmp_path / "xor.novikoff").mkdir()
    refused(inside("fit", files.xor, "--out", tmp_path, "--force"), "xor.novikoff is a directory")


def in_shell(redirected: str, *words: str | Path) -> tuple[int, str]:
    """Run the command with its standard streams redirected; exit code and standard error."""
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
    """As after ``| head -1``: the other end of the pipe is closed."""
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

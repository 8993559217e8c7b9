"""Output files are complete or absent."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from novikoff.errors import OutputError
from novikoff.formats.files import AtomicFile, check_writable, write_file, write_files


def test_nothing_is_renamed_unless_all_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_bytes(b"old")
    synced = os.fsync

    def full(fd: int) -> None:
        if os.fstat(fd).st_size == len(b"too much"):
            raise OSError(28, "No space left on device")
        synced(fd)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="b cannot be written: the disk is full"):
        write_files({first: b"new", second: b"too much"}, force=True)
    assert first.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_an_interrupt_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(fd: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_file(tmp_path / "model", b"half")
    assert os.listdir(tmp_path) == []
    with AtomicFile(tmp_path / "model"):
        assert os.listdir(tmp_path) == []  # nothing to remove before the context is entered


def test_a_file_that_appears_meanwhile_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model"
    synced = os.fsync

    def meanwhile(fd: int) -> None:
        synced(fd)
        path.write_bytes(b"theirs")

    monkeypatch.setattr(os, "fsync", meanwhile)
    with pytest.raises(OutputError, match="already exists"):
        write_file(path, b"ours", force=False)
    assert path.read_bytes() == b"theirs"


@pytest.mark.parametrize(
    ("name", "reason"),
    [("missing/model", "not exist"), ("file/model", "not a directory"), ("", "is a directory")],
)
def test_places_where_nothing_can_be_written(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=reason):
        check_writable(tmp_path / name, force=True)


def test_nothing_but_a_regular_file_is_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OutputError, match="not a regular file"):
        write_file(pipe, b"new", force=True)
    assert pipe.is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_link_stays_and_the_file_behind_it_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "model", tmp_path / "link"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_file(link, b"new", force=True)
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path / "folder") == ["model"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_another_thread_waits_until_all_files_have_their_names(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system may give a signal to any thread; Python handles it in the main thread."""
    paths = [tmp_path / name for name in "ab"]
    for path in paths:
        path.write_bytes(b"old")
    replace = os.replace

    def interrupted(*names: Path) -> None:
        replace(*names)
        other = threading.Thread(target=signal.raise_signal, args=(number,))
        other.start()
        other.join()

    monkeypatch.setattr(os, "replace", interrupted)
    handler = signal.signal(number, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt, match="interrupted; all files are written"):
            write_files(dict.fromkeys(paths, b"new"), force=True)
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, handler)
    assert [path.read_bytes() for path in paths] == [b"new", b"new"]


def test_files_are_written_in_a_thread_too(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(write_file, tmp_path / "model", b"new").result()
    assert (tmp_path / "model").read_bytes() == b"new"


def test_a_file_without_content_is_removed(tmp_path: Path) -> None:
    model, proof = tmp_path / "model", tmp_path / "proof"
    for path in (model, proof):
        path.write_bytes(b"old")
    with pytest.raises(OutputError, match="already exists"):
        write_files({model: b"new", proof: None}, force=False)
    assert proof.read_bytes() == b"old"
    write_files({model: b"new", proof: None}, force=True)
    assert os.listdir(tmp_path) == ["model"]
    write_files({model: b"newer", proof: None}, force=True)
    assert model.read_bytes() == b"newer"


def test_a_file_that_appears_meanwhile_takes_the_others_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without force, two concurrent runs do not leave one run's model with the other's proof."""
    model, proof = tmp_path / "model", tmp_path / "proof"
    link = os.link

    def meanwhile(*names: Path) -> None:
        link(*names)
        if not proof.exists():
            proof.write_bytes(b"theirs")

    monkeypatch.setattr(os, "link", meanwhile)
    with pytest.raises(OutputError, match="proof already exists"):
        write_files({model: b"ours", proof: b"ours"}, force=False)
    assert [path.name for path in tmp_path.iterdir()] == ["proof"]
    assert proof.read_bytes() == b"theirs"


KILLED = """
import os, signal, sys
from pathlib import Path
from novikoff.formats.files import AtomicFile
with AtomicFile(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.sync()
    print("written", flush=True)
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def parts(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.suffix == ".part"]


def test_what_a_killed_process_left_is_removed_and_nothing_of_a_living_one(tmp_path: Path) -> None:
    path, pipe = tmp_path / "model", subprocess.PIPE
    words = [sys.executable, "-c", KILLED, str(path)]
    with subprocess.Popen(words, stdin=pipe, stdout=pipe) as writer:  # noqa: S603
        assert writer.stdout is not None
        assert writer.stdin is not None
        assert writer.stdout.readline() == b"written\n"
        write_file(path, b"ours")
        assert [part.read_bytes() for part in parts(tmp_path)] == [b"half"]
        writer.stdin.close()
        assert writer.wait() == -signal.SIGKILL
    assert len(parts(tmp_path)) == 1
    write_file(tmp_path / "other", b"next")
    assert parts(tmp_path) == []
    assert path.read_bytes() == b"ours"


@pytest.mark.parametrize(
    "name", [".hidden.part", "data.part", ".novikoff-notes.part", ".novikoff-0123456789ab.parts"]
)
def test_files_of_others_are_not_taken_for_leftovers(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"theirs")
    write_file(tmp_path / "model", b"new")
    assert (tmp_path / name).read_bytes() == b"theirs"


def test_a_pipe_with_the_name_of_a_leftover_stops_nothing(tmp_path: Path) -> None:
    pipe = tmp_path / ".novikoff-0123456789ab.part"
    os.mkfifo(pipe)
    write_file(tmp_path / "model", b"new")
    assert pipe.is_fifo()


def test_a_part_that_another_process_takes_for_a_leftover_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it is locked, a hidden file looks like the file of a killed process."""
    flock, removed = fcntl.flock, list[Path]()

    def late(file: int, operation: int) -> None:
        if not removed:
            removed.extend(parts(tmp_path))
            removed[0].unlink()
        flock(file, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    write_file(tmp_path / "model", b"new")
    assert len(removed) == 1
    assert os.listdir(tmp_path) == ["model"]
    assert (tmp_path / "model").read_bytes() == b"new"


def test_threads_that_write_one_file_leave_one_of_theirs(tmp_path: Path) -> None:
    path = tmp_path / "model"
    contents = [bytes([k]) * 10_000 for k in range(20)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda content: write_file(path, content), contents))
    assert path.read_bytes() in contents
    assert os.listdir(tmp_path) == ["model"]

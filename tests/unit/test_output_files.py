"""Output files are whole or not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from novikoff.report.files import (
    AtomicFile,
    OutputError,
    check_writable,
    write_file,
    write_files,
)


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

"""Fixtures that run the command line, and the files on which it runs.

`script` starts the command as a user does, which costs seconds for its imports: results are
shared where that is possible. `inside` runs the same command in this process.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

_REPO = Path(__file__).parent.parent.parent
COMMAND = [sys.executable, "-m", "novikoff"]
WIDE = "1000"  # a terminal of this many columns, so that no line of a report is wrapped


PROGRESS = re.compile(r"^novikoff: \d+ s: .*\n", re.MULTILINE)
COMPILING = "novikoff: compiling for the first time, which takes a few seconds\n"


@dataclass(frozen=True)
class Result:
    """The exit code and the output of a command, without lines about compiling."""

    code: int
    out: str
    said: str

    @property
    def err(self) -> str:
        """Standard error, without the lines about compiling and about long work."""
        return PROGRESS.sub("", self.said.replace(COMPILING, ""))

    @property
    def json(self) -> dict[str, object]:
        """The report, if it is JSON."""
        body = json.loads(self.out)
        assert isinstance(body, dict)
        return body

    def line(self, heading: str) -> str:
        """The text after this heading in the report."""
        lines = [line for line in self.out.splitlines() if line.split(" ", 1)[0] == heading]
        assert len(lines) == 1, self.out
        return lines[0].removeprefix(heading).strip()


def environment(**more: str) -> dict[str, str]:
    """The environment of this process, without variables that users do not have."""
    others = ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if name not in others}
    source = str(_REPO / "src")
    return kept | {"PYTHONPATH": source, "COLUMNS": "100", "TERM": "xterm-256color"} | more


def script(
    *words: str | Path,
    cwd: Path | None = None,
    stdin: bytes = b"",
    start: Sequence[str] = COMMAND,
    **more: str,
) -> Result:
    """Run ``novikoff`` with these words in a process of its own."""
    done = subprocess.run(  # noqa: S603
        [*start, *map(str, words)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env=environment(**{"COLUMNS": WIDE, **more}),
        timeout=300,
        check=False,
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def inside(*words: str | Path, stdin: bytes = b"", columns: str = WIDE) -> Result:
    """Run ``novikoff`` with these words in this process."""
    from novikoff.cli.main import run

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    given = io.TextIOWrapper(io.BytesIO(stdin))
    with (
        mock.patch.object(sys, "argv", ["novikoff", *map(str, words)]),
        mock.patch.dict(os.environ, COLUMNS=columns),
        mock.patch.object(sys, "stdin", given),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as stop,
    ):
        run()
    texts = []
    for stream in (out, err):
        stream.flush()
        stream.seek(0)
        texts.append(stream.read())
    assert isinstance(stop.value.code, int)
    return Result(stop.value.code, *texts)


def started(*words: str | Path) -> subprocess.Popen[bytes]:
    """``novikoff`` with these words and pipes, while it runs."""
    pipe = subprocess.PIPE
    command = [*COMMAND, *map(str, words)]
    return subprocess.Popen(  # noqa: S603
        command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment()
    )


def refused(done: Result, *parts: str, code: int = 2) -> None:
    """Check that standard output is empty, and the error is one sentence with these parts."""
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith("novikoff: ")
    assert done.err.count("\n") == 1
    for part in parts:
        assert part in done.err


def on_terminal(
    words: Sequence[str], *, signal_at: tuple[str, int] | None = None, **more: str
) -> tuple[int, str, str]:
    """Run the command with a terminal for each of its outputs; return the text of each.

    ``signal_at`` is a step, and the signal to send once standard error shows it.
    """
    ends, seen = [pty.openpty() for _ in range(2)], [b"", b""]
    waiting = [] if signal_at is None else [signal_at]

    def listen(k: int) -> None:
        with contextlib.suppress(OSError):  # the other side is closed
            while chunk := os.read(ends[k][0], 65536):
                seen[k] += chunk
                if k == 1 and waiting and waiting[0][0].encode() in seen[k]:
                    process.send_signal(waiting.pop()[1])

    with subprocess.Popen(  # noqa: S603
        [*COMMAND, *words], stdout=ends[0][1], stderr=ends[1][1], env=environment(**more)
    ) as process:
        for _, theirs in ends:
            os.close(theirs)
        readers = [threading.Thread(target=listen, args=(k,)) for k in range(2)]
        for reader in readers:
            reader.start()
        try:
            code = process.wait(timeout=120)
        finally:
            process.kill()
        for reader in readers:
            reader.join(timeout=10)
    for ours, _ in ends:
        os.close(ours)
    return code, seen[0].decode(), seen[1].decode()


@contextlib.contextmanager
def ends_in_time(running: subprocess.Popen[bytes], seconds: float = 120.0) -> Iterator[None]:
    """Kill a process that takes too long, so that a test which waits for it fails."""
    alarm = threading.Timer(seconds, running.kill)
    alarm.start()
    try:
        yield
    finally:
        alarm.cancel()


def rows_printed(running: subprocess.Popen[bytes], n: int) -> bool:
    """Read the table of ``stream`` up to a line about at least n rows; False if it ends before."""
    assert running.stdout is not None
    with ends_in_time(running):
        for line in running.stdout:
            first = line.split()[:1]
            if first and (count := first[0].replace(b",", b"")).isdigit() and int(count) >= n:
                return True
    return False


def write_csv(
    path: Path, names: Sequence[str], X: Sequence[Sequence[float]], y: Sequence[object]
) -> Path:
    """A CSV file with labels in its last column; numbers are written with all digits."""
    lines = [",".join(names)]
    lines += [",".join([*map(repr, row), str(label)]) for row, label in zip(X, y, strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def put(folder: Path, text: str, name: str = "data.csv") -> Path:
    """Write a small file by its text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


class Files(NamedTuple):
    """Data whose answers are known."""

    xor: Path
    line: Path
    quasi: Path
    duplicates: Path
    iris: Path
    wine: Path
    cancer: Path


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Small files of every kind, and three data sets of scikit-learn.

    In line, x alone separates, between 1 and 2. In quasi, only row 4 is off the hyperplane n = 0,
    so the weight of n has no finite estimate. In duplicates, rows 2, 5 and 6 are one point with two
    labels, and rows 3 and 4 are one point with one label.
    """
    folder = tmp_path_factory.mktemp("data")

    def small(name: str, text: str) -> Path:
        path = folder / name
        path.write_text(text, encoding="utf-8")
        return path

    made = Files(
        xor=small("xor.csv", "a,b,class\n0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n"),
        line=small("line.csv", "x,z,class\n0,5,low\n1,3,low\n2,4,high\n3,5,high\n4,3,high\n"),
        quasi=small("quasi.csv", "n,x,class\n0,1,no\n0,2,yes\n0,3,no\n1,2,yes\n"),
        duplicates=small(
            "duplicates.csv",
            "id,a,b,class\nr1,0,1,p\nr2,2,2,p\nr3,5,1,q\nr4,5,1,q\nr5,2,2,q\nr6,2,2,p\nr7,1,0,p\n",
        ),
        iris=folder / "iris.csv",
        wine=folder / "wine.csv",
        cancer=folder / "cancer.csv",
    )
    sets = (
        (made.iris, load_iris(return_X_y=True), ("setosa", "versicolor", "virginica")),
        (made.wine, load_wine(return_X_y=True), ("first", "second", "third")),
        (made.cancer, load_breast_cancer(return_X_y=True), ("malignant", "benign")),
    )
    for path, (X, y), labels in sets:
        names = [f"x{j}" for j in range(1, X.shape[1] + 1)]
        write_csv(path, [*names, "kind"], X.tolist(), [labels[k] for k in y.tolist()])
    return made


@pytest.fixture(scope="session")
def fitted(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the models and certificates of xor, line, quasi, duplicates and iris."""
    folder = tmp_path_factory.mktemp("fitted")
    for data in (files.xor, files.line, files.quasi, files.duplicates, files.iris):
        words = ["--id", "id"] if data == files.duplicates else []
        done = inside("fit", data, "--out", folder, *words)
        assert (done.code, done.err) == (0, "")
    return folder

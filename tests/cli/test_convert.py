"""``novikoff convert``: files of one format into another, whole or not at all."""

from __future__ import annotations

import io
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from novikoff.data import Choices, Dataset, read
from novikoff.data.chunks.cache import open_cache
from tests.cli.conftest import COMMAND, environment, inside

TABLE = 'size,"height, in m",kind\n1.5,-0.0,yes\n0,1e308,no\n5e-324,0.1,yes\n-2,0,no\n'
NUMBERS = TABLE.replace("yes", "1").replace("no", "-1")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text(TABLE)
    return path


def same(data: Dataset, text: str = TABLE) -> bool:
    expected = read(io.BytesIO(text.encode()))
    X = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()
    return (
        X.tobytes() == np.asarray(expected.X).tobytes()
        and data.labels.tolist() == expected.labels.tolist()
        and data.names == expected.names
    )


def test_a_round_through_all_tables_ends_where_it_began(table: Path, tmp_path: Path) -> None:
    before = table
    for name in ("a.parquet", "b.tsv", "c.arrow", "d.blocks", "e.feather", "f.csv"):
        done = inside("convert", before, tmp_path / name)
        assert (done.code, done.err) == (0, "")
        assert done.line("written") == f"{tmp_path / name} · 4 rows · 2 features · label kind"
        before = tmp_path / name
    assert before.read_text() == (
        'size,"height, in m",kind\n1.5,-0,yes\n0,1e308,no\n5e-324,0.1,yes\n-2,0,no\n'
    )
    for name in ("a.parquet", "b.tsv", "c.arrow", "e.feather", "f.csv"):
        assert same(read(tmp_path / name, Choices(format="arrow" if name[0] == "e" else None)))


def test_svmlight_and_back(tmp_path: Path) -> None:
    source = tmp_path / "rows.csv"
    source.write_text(NUMBERS)
    assert inside("convert", source, tmp_path / "a.svm").code == 0
    assert (tmp_path / "a.svm").read_text() == (
        '# novikoff: {"names": ["size", "height, in m"], "label": "kind"}\n'
        "1 1:1.5 2:-0\n-1 2:1e308\n1 1:5e-324 2:0.1\n-1 1:-2\n"
    )
    assert inside("convert", tmp_path / "a.svm", tmp_path / "b.blocks").code == 0
    assert inside("convert", tmp_path / "b.blocks", tmp_path / "c.csv").code == 0
    assert same(read(tmp_path / "c.csv"), NUMBERS)
    assert inside("convert", source, tmp_path / "d.svm", "--zero-based", "--no-heading").code == 0
    assert (tmp_path / "d.svm").read_text().startswith("1 0:1.5 1:-0\n")


def test_a_text_label_has_no_place_in_svmlight(table: Path, tmp_path: Path) -> None:
    done = inside("convert", table, tmp_path / "a.svm")
    assert done.code == 2
    assert 'the label "no"' in done.err
    assert "write CSV, Parquet" in done.err
    assert os.listdir(tmp_path) == ["rows.csv"]


def test_reading_options_are_those_of_every_command(tmp_path: Path) -> None:
    source = tmp_path / "rows.txt"
    source.write_text("id;kind;a;b\nr1;x;1,5;\nr2;y;2,5;3\nr3;x;1;2\n")
    words = ["--label", "kind", "--id", "id", "--decimal", ",", "--delimiter", ";"]
    done = inside("convert", source, tmp_path / "a.csv", *words, "--missing", "drop")
    assert done.code == 0, done.err
    assert (tmp_path / "a.csv").read_text() == "a,b,kind\n2.5,3,y\n1,2,x\n"
    assert "the column id is left out" in done.out
    done = inside("convert", source, tmp_path / "b.csv", *words, "--missing", "mean")
    assert (tmp_path / "b.csv").read_text().splitlines()[1] == "1.5,2.5,x"
    done = inside("convert", source, tmp_path / "c.csv", "--label", "a", "--one-hot", "kind",
                  "--drop", "id,b", "--decimal", ",", "--from", "csv")  # fmt: skip
    assert (tmp_path / "c.csv").read_text().splitlines()[0] == "kind=x,kind=y,a"


def test_arrays_and_standard_input_are_sources_too(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", np.array([[1.0, 2.0, 0.0], [3.0, 4.0, 1.0]]))
    assert inside("convert", tmp_path / "rows.npy", tmp_path / "a.csv").code == 0
    assert (tmp_path / "a.csv").read_text().splitlines()[1:] == ["1,2,0", "3,4,1"]
    done = inside("convert", "-", tmp_path / "b.parquet", stdin=TABLE.encode())
    assert (done.code, done.err) == (0, "")
    assert same(read(tmp_path / "b.parquet"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rows.csv", "a.xlsx"], "the format of a.xlsx is not clear from its name"),
        (["rows.csv", "a.csv.gz"], "Compressed text is not written"),
        (["rows.csv", "-"], "a file is needed"),
        (["rows.csv", "a.csv", "--zero-based"], "--zero-based is about svmlight"),
        (["rows.csv", "none/a.csv"], "the directory none does not exist"),
        (["rows.csv", "rows.csv"], "rows.csv already exists; --force replaces it"),
        (["none.csv", "a.csv"], "none.csv does not exist"),
        (["rows.csv", "a.csv", "--label", "none"], 'no column "none"'),
        (["text.blocks", "a.csv"], "text.blocks is not a block cache"),
    ],
)
def test_what_cannot_be_is_said_and_leaves_nothing(
    words: list[str],
    message: str,
    table: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.blocks").write_text("text")
    done = inside("convert", *words)
    assert done.code == 2
    assert message in " ".join(done.err.split())
    assert sorted(os.listdir(tmp_path)) == ["rows.csv", "text.blocks"]
    assert table.read_text() == TABLE


def test_a_file_may_take_its_own_place(table: Path, tmp_path: Path) -> None:
    assert inside("convert", table, table, "--force").code == 0
    assert same(read(table))
    assert os.listdir(tmp_path) == ["rows.csv"]


def test_the_format_may_be_said(table: Path, tmp_path: Path) -> None:
    assert inside("convert", table, tmp_path / "rows.dat", "--to", "blocks").code == 0
    assert open_cache(tmp_path / "rows.dat").n_rows == 4


def _start(*words: str | Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603
        [*COMMAND, "convert", *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment(),
    )


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "rows.csv"
    rng = np.random.default_rng(0)
    lines = [",".join(map(repr, row)) for row in rng.standard_normal((2000, 20)).tolist()]
    body = "".join(f"{line},{k % 2}\n" for k, line in enumerate(lines))
    path.write_text(",".join(f"c{j}" for j in range(20)) + ",y\n" + body * 40)
    return path


@pytest.mark.parametrize("suffix", ["csv", "svm", "parquet", "arrow", "blocks"])
def test_a_killed_conversion_leaves_the_old_file(suffix: str, large: Path, tmp_path: Path) -> None:
    target = tmp_path / f"a.{suffix}"
    target.write_bytes(b"old")
    process = _start(large, target, "--force")
    deadline = time.monotonic() + 120
    while len(os.listdir(tmp_path)) < 2 and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    time.sleep(random.Random(suffix).uniform(0, 0.1))  # noqa: S311
    process.kill()
    process.communicate()
    if process.returncode == 0:  # it was quicker
        assert target.stat().st_size > 1 << 20
        return
    assert target.read_bytes() == b"old"
    assert all(name.startswith(".") for name in os.listdir(tmp_path) if name != target.name)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_conversion_leaves_nothing(
    number: signal.Signals, large: Path, tmp_path: Path
) -> None:
    process = _start(large, tmp_path / "a.csv")
    deadline = time.monotonic() + 120
    while not os.listdir(tmp_path) and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(number)
    _, said = process.communicate()
    if process.returncode == 0:
        return
    assert process.returncode == 128 + number
    assert os.listdir(tmp_path) == []
    assert number == signal.SIGTERM or b"interrupted; nothing was written" in said


def test_text_that_a_reader_would_mistake_is_quoted_or_refused(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    source, target = tmp_path / "a.parquet", tmp_path / "a.csv"
    pq.write_table(pa.table({"a\tb": [0.0, 1.0], "y": ["c\td", "e;f"]}), source)
    assert inside("convert", source, target).code == 0
    found = read(target)
    assert (list(found.names), found.labels.tolist()) == (["a\tb"], ["c\td", "e;f"])
    pq.write_table(pa.table({"a": [0.0, 1.0], "y": ["c\0d", "e"]}), source)
    done = inside("convert", source, target, "--force")
    assert done.code == 2
    assert "would not be read from text as it is" in done.err

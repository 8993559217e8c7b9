"""``novikoff predict`` on large files: part by part, the table of the file as a whole."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from novikoff.cli import predict
from novikoff.data import Choices, Recipe
from novikoff.data.chunks import plain_parts
from novikoff.data.large import read_large
from tests.cli.conftest import inside

RNG = np.random.default_rng(11)
N = 400


def table(labels: list[str] | None, *, header: str = "a,b,c,y", cell: str | None = None) -> bytes:
    X = RNG.normal(size=(N, 3)) * [1.0, 1e-3, 1e3]
    lines = [header] if header else []
    for k, x in enumerate(X.tolist()):
        cells = [*map(repr, x), *([] if labels is None else [labels[k % len(labels)]])]
        if cell is not None and k == N - 5:
            cells[1] = cell
        lines.append(",".join(cells))
    return ("\n".join(lines) + "\n").encode()


def late(label: str) -> list[str]:
    """Labels of which the last is another."""
    return [*(["1", "0", "2"] * N)[: N - 1], label]


def pairs(*, labelled: bool = True, last: str = "2:1") -> bytes:
    lines = []
    for k, (a, b) in enumerate(RNG.normal(size=(N, 2)).tolist()):
        label = f"{k % 3} " if labelled else ""
        lines.append(f"{label}{1 + k % 4}:{a!r} {7 + k % 3}:{b!r}")
    return "\n".join([*lines, ("1 " if labelled else "") + last]).encode() + b"\n"


# What is read part by part, and what is not; both as a whole gives.
PLAIN: dict[str, tuple[str, bytes]] = {
    "integers": ("rows.csv", table(["1", "0", "2"])),
    "texts": ("rows.csv", table(["one", "two", "zero"])),
    "no labels": ("rows.csv", table(None, header="a,b,c")),
    "other columns": ("rows.csv", table(["1", "0"], header="c,b,a,z")),
    "packed": ("rows.csv.gz", gzip.compress(table(["1", "0", "2"]))),
    "a mark and blank lines": ("rows.csv", b"\xef\xbb\xbf" + table(["1"]) + b"\n\n"),
    "svmlight": ("rows.svm", pairs()),
    "bare svmlight": ("rows.svm", pairs(labelled=False)),
}
OTHER: dict[str, tuple[str, bytes]] = {
    "numbers, then text": ("rows.csv", table(late("x"))),
    "a missing label": ("rows.csv", table(late(""))),
    "a missing value": ("rows.csv", table(["1"], cell="")),
    "an infinite value": ("rows.csv", table(["1"], cell="inf")),
    "text": ("rows.csv", table(["1"], cell="oops")),
    "a quote": ("rows.csv", table(["1"], cell='"7"')),
    "a very large value": ("rows.csv", table(["1"], cell="1e308")),
    "a row far longer than others": ("rows.csv", table(["1"], cell="1e30")),
    "no header": ("rows.csv", table(["1", "0"], header="")),
    "missing in svmlight": ("rows.svm", pairs(last="2:nan")),
    "an index too large": ("rows.svm", pairs(last="99:1")),
    "an index of zero": ("rows.svm", pairs(last="0:1")),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    (folder / "table.csv").write_bytes(table(["1", "0", "2"]))
    (folder / "matrix.svm").write_bytes(pairs())
    for name in ("table.csv", "matrix.svm"):
        words = ["--no-verdict", "--epochs", "3", "--out"]
        assert inside("fit", folder / name, *words, folder).code == 0
    return folder


@pytest.fixture
def parted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every file is large, its parts are small; which roads were taken to the end."""
    taken: list[str] = []
    monkeypatch.setattr(plain_parts, "_LARGE", 0)
    monkeypatch.setattr(plain_parts, "_PART", 3000)
    roads: dict[str, Callable[..., object]] = {
        "_part_by_part": predict._part_by_part,
        "_at_once": predict._at_once,
    }

    def watched(name: str) -> Callable[..., object]:
        def road(*values: object) -> object:
            found = roads[name](*values)
            taken.append(name)
            return found

        return road

    for name in roads:
        monkeypatch.setattr(predict, name, watched(name))
    return taken


def check(models: Path, data: Path, words: list[str], taken: list[str]) -> int:
    """Compare with the road of small files, in what is printed and what is written."""
    model = models / ("matrix.novikoff" if data.suffix == ".svm" else "table.novikoff")
    out = data.with_name("out")
    with mock.patch.object(plain_parts, "_LARGE", 1 << 60):
        expected = inside("predict", model, data, *words)
    taken.clear()
    done = inside("predict", model, data, *words)
    assert (done.code, done.out, done.err) == (expected.code, expected.out, expected.err)
    written = inside("predict", model, data, *words, "-o", out)
    assert (written.code, written.out, written.err) == (expected.code, "", expected.err)
    assert out.exists() == (expected.code == 0)
    if expected.code == 0:
        assert out.read_text() == expected.out
        assert len(expected.out.splitlines()) > N - 5
    assert not list(data.parent.glob(".*"))
    assert len(set(taken)) <= 1
    return expected.code


@pytest.mark.parametrize("words", [[], ["--scores"]], ids=str)
@pytest.mark.parametrize("name", PLAIN)
def test_plain_files(
    name: str, words: list[str], models: Path, tmp_path: Path, parted: list[str]
) -> None:
    data = tmp_path / PLAIN[name][0]
    data.write_bytes(PLAIN[name][1])
    assert check(models, data, words, parted) == 0
    assert parted == ["_part_by_part"] * 2


@pytest.mark.parametrize("words", [["--scores"], ["--missing", "drop"]], ids=str)
@pytest.mark.parametrize("name", OTHER)
def test_other_files(
    name: str, words: list[str], models: Path, tmp_path: Path, parted: list[str]
) -> None:
    data = tmp_path / OTHER[name][0]
    data.write_bytes(OTHER[name][1])
    check(models, data, words, parted)
    assert "_part_by_part" not in parted


def test_a_file_that_changes_meanwhile_is_read_as_a_whole(
    models: Path, tmp_path: Path, parted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "rows.csv"
    data.write_bytes(PLAIN["integers"][1])
    plainly: Callable[..., object] = read_large

    def meanwhile(*values: object, **more: object) -> object:
        if data.stat().st_size == len(PLAIN["integers"][1]):
            with data.open("ab") as file:
                file.write(b"1,2,3,1\n")
        return plainly(*values, **more)

    monkeypatch.setattr(plain_parts, "read_large", meanwhile)
    done = inside("predict", models / "table.novikoff", data)
    assert (done.code, parted) == (0, ["_at_once"])
    assert len(done.out.splitlines()) == N + 2


def test_a_byte_order_mark_is_one_at_the_beginning_of_a_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = b"1 1:2 2:3\n" * 6
    data = tmp_path / "rows.svm"
    data.write_bytes(rows + b"\xef\xbb\xbf" + rows)
    monkeypatch.setattr(plain_parts, "_LARGE", 0)
    monkeypatch.setattr(plain_parts, "_PART", len(rows))
    recipe = Recipe("matrix", width=2)
    with pytest.raises(plain_parts.NotPlainError):
        list(plain_parts.PlainParts(str(data), Choices(), recipe))
    data.write_bytes(b"\xef\xbb\xbf" + rows + rows)
    parts = plain_parts.PlainParts(str(data), Choices(), recipe)
    assert sum(len(part.rows) for part in parts) == 12

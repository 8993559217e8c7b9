"""A file that is gone through again: parsed once where it fits, and the same in any case."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from novikoff.data import Choices
from novikoff.data.feeds import kept, pipe
from novikoff.data.feeds.feed import Batch, Feed, Mark, Wishes
from novikoff.data.feeds.kept import Kept
from novikoff.data.feeds.opening import open_feed
from novikoff.data.feeds.trail import ChangedError
from tests.cli.conftest import inside

DROPPING = Wishes(Choices(missing="drop"))
RNG = np.random.default_rng(8)


def table(path: Path) -> None:
    body = [
        f"{a},{'' if k % 7 == 3 else b},{k % 3}" for k, (a, b) in enumerate(RNG.random((99, 2)))
    ]
    path.write_text("\n".join(["a,b,kind", *body, ""]))


def packed(path: Path) -> None:
    table(path)
    path.write_bytes(gzip.compress(path.read_bytes()))


def pairs(path: Path) -> None:
    path.write_text("".join(f"{k % 2} {k % 5}:1 {5 + k % 11}:{k}.5\n" for k in range(99)))


def names(path: Path) -> None:
    path.write_text("".join(f"{k % 2} n{k * k % 31}:1 m{k}:{k}.5\n\n" for k in range(99)))


def binary(path: Path) -> None:
    values = RNG.random(99).tolist()
    values[5] = None
    pl.DataFrame({"a": values, "kind": [k % 2 for k in range(99)]}).write_parquet(path)


KINDS: dict[str, Callable[[Path], None]] = {
    "rows.csv": table,
    "rows.csv.gz": packed,
    "rows.svm": pairs,
    "rows.txt": names,
    "rows.parquet": binary,
}


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipe, "PIECE", 200)


def said(batches: Iterable[Batch]) -> list[tuple[list[float], object, Mark]]:
    """Every row, its label and the mark after it."""
    found = []
    for batch in batches:
        X = batch.X if isinstance(batch.X, np.ndarray) else batch.X.toarray()
        for k, row in enumerate(X.tolist()):
            trimmed = np.trim_zeros(row, "b")  # of names, a batch has as many columns as it needs
            found.append((list(trimmed), batch.labels[batch.codes[k]], batch.mark(k + 1)))
    return found


def watched(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> list[Mark]:
    """The marks from which a feed is read."""
    seen: list[Mark] = []
    read = feed.batches

    def batches(at: Mark) -> Iterable[Batch]:
        seen.append(at)
        return read(at)

    monkeypatch.setattr(feed, "batches", batches)
    return seen


@pytest.mark.parametrize("most", [0, 2000, None])
@pytest.mark.parametrize("name", KINDS)
def test_every_pass_is_that_of_the_feed(
    name: str, most: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    KINDS[name](path)
    plain = open_feed(path, DROPPING)
    expected = said(plain.batches(plain.start))
    assert len(expected) > 80
    feed = open_feed(path, DROPPING)
    seen, again = watched(feed, monkeypatch), Kept(feed, most)
    for _ in range(3):
        assert said(again.batches(feed.start)) == expected
        assert feed.dropped == plain.dropped
    rest = expected[40:]
    assert said(again.batches(expected[39][2])) == rest
    marks = seen[:-1]
    if most is None:
        assert marks == [feed.start]
    elif most == 0:
        assert marks == [feed.start] * 3
    elif name != "rows.parquet":  # which is one batch
        assert marks[0] == feed.start
        assert len(marks) == 3
        assert feed.start.offset < marks[1].offset == marks[2].offset < expected[-1][2].offset


def test_a_file_that_changes_is_parsed_again(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    table(path)
    feed = open_feed(path, DROPPING)
    again = Kept(feed)
    before = said(again.batches(feed.start))
    with path.open("a") as file:
        file.write("0.5,0.5,1\n")
    after = said(again.batches(feed.start))
    assert after[:-1] == before
    assert after[-1][:2] == ([0.5, 0.5], 1)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"0.5,0.5,1\n", b"0.5,0.5,2\n"))
    os.utime(path, ns=(1, 1))
    assert said(again.batches(feed.start))[-1][:2] == ([0.5, 0.5], 2)


def test_a_pass_that_was_left_is_not_a_whole_one(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    table(path)
    feed = open_feed(path, DROPPING)
    expected = said(feed.batches(feed.start))
    again = Kept(feed)
    batches = iter(again.batches(feed.start))
    next(batches), next(batches)
    del batches
    assert said(again.batches(feed.start)) == expected


def test_a_place_in_text_that_has_changed_is_none(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    table(path)
    feed = open_feed(path, DROPPING)
    again = Kept(feed)
    before = said(again.batches(feed.start))
    batches = list(again.batches(feed.start))
    assert not any(batch.text for batch in batches)
    assert said(batches) == before
    path.write_bytes(path.read_bytes().replace(b"0.", b"1.", 1))
    with pytest.raises(ChangedError, match="has changed while it was learned"):
        said(batches)


@pytest.mark.parametrize("name", KINDS)
def test_models_are_the_same_to_the_last_bit(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    KINDS[name](path)
    words = ["--passes", "4", "--average", "--missing", "drop", "--save-every", "7", "--quiet"]
    models = []
    for most in (0, 2000, 1 << 28):
        monkeypatch.setattr(kept, "_MOST", most)
        whole, parts = tmp_path / f"{most}.whole", tmp_path / f"{most}.parts"
        assert inside("stream", path, *words, "--save", whole).code == 0
        for limit in ("1", "50", "130", "131", "333", "1000"):
            limited = ["--resume", "--limit", limit]
            assert inside("stream", path, *words, "--save", parts, *limited).code == 0
        models += [whole.read_bytes(), parts.read_bytes()]
    assert len(set(models)) == 1

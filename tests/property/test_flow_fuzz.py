"""Whatever the bytes: in blocks, from a pipe and by the kernel, a file says what it says at once.

Each input is read in two ways. Either both give the same rows, or both refuse it in a sentence;
anything else is a failure, and names the seed and the bytes. ``make fuzz`` runs many more.
"""

from __future__ import annotations

import atexit
import csv
import io
import random
import shutil
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest

from novikoff.core import blocks as core_blocks
from novikoff.core.rows import Floats, SparseMatrix
from novikoff.data import Choices, DataError, read, readers
from novikoff.data.chunks import blocks as chunked
from novikoff.data.chunks import lines, pieces
from novikoff.data.chunks.blocks import blocks
from novikoff.data.feeds.feed import Wishes
from novikoff.data.feeds.opening import open_feed
from novikoff.data.plain import LABEL, Plain, parse_plain
from novikoff.data.values import is_number

pytest.importorskip("pyarrow")

_parse = parse_plain

COUNTS = {"blocks": 200, "pipe": 400, "roads": 300, "kernel": 2_000}

NUMBERS = (
    "0",
    "1",
    "-1",
    "2.5",
    "-0.125",
    "1e3",
    "+7",
    ".5",
    "5.",
    "1e-5",
    "123456789012345678901",
)
ODD = (
    "",
    "NA",
    "nan",
    "inf",
    "1e999",
    "x",
    '"1"',
    '"',
    " 3 ",
    "1,2",
    "0x1",
    "1_0",
    "é",
    "\0",
    "1e",
)
LABELS = (("0", "1"), ("1", "-1"), ("a", "b", "c"), ("true", "false"), ("1.5", "2"), ("é", '"x y"'))
ENDS = ("\n", "\n", "\n", "\r\n", "\r")
ALPHABET = b'0123456789,,;\t\n\n\r"".+-eENaif x#:\0\xff\xc3\xa9'
FORMS: tuple[Literal["csv", "svmlight"], ...] = ("csv", "csv", "svmlight")


class Case(NamedTuple):
    """A file and how it is read."""

    text: bytes
    form: Literal["csv", "svmlight"]
    missing: Literal["refuse", "drop"]
    size: int  # bytes of a piece
    large: int  # bytes from which on a kernel is used


class Rows(NamedTuple):
    """What a file holds."""

    X: bytes
    shape: tuple[int, int]
    labels: list[object]


def drawn(rng: random.Random) -> Case:
    """A table or an svmlight file, whole, damaged, or no file at all."""
    form = rng.choice(FORMS)
    text = table(rng) if form == "csv" else pairs(rng)
    kind = rng.random()
    if kind < 0.1:
        text = bytes(rng.choices(ALPHABET, k=rng.randrange(60)))
    elif kind < 0.6:
        text = damaged(rng, text)
    missing: Literal["refuse", "drop"] = "drop" if rng.random() < 0.3 else "refuse"
    return Case(text, form, missing, rng.choice([1, 7, 20, 50, 200]), rng.choice([0, 0, 1 << 20]))


def table(rng: random.Random) -> bytes:
    """A table with numbers, now and then something else, and a label."""
    width, delimiter, end = rng.randrange(1, 4), rng.choice(",,,;\t"), rng.choice(ENDS)
    labels, odd = rng.choice(LABELS), rng.choice([0.0, 0.0, 0.02, 0.2])
    rows = [[f"c{j}" for j in range(width)] + ["y"]] if rng.random() < 0.8 else []
    for _ in range(rng.randrange(12)):
        cells = [rng.choice(ODD if rng.random() < odd else NUMBERS) for _ in range(width)]
        rows.append([*cells, rng.choice(labels)])
    return (end.join(map(delimiter.join, rows)) + end * rng.randrange(3)).encode()


def pairs(rng: random.Random) -> bytes:
    """Rows of label and index:value."""
    first, rows, odd = rng.randrange(2), [], rng.choice([0.0, 0.0, 0.1])
    for _ in range(rng.randrange(12)):
        columns = sorted(rng.sample(range(first, 20), rng.randrange(4)))
        cells = [f"{k}:{rng.choice(ODD if rng.random() < odd else NUMBERS)}" for k in columns]
        rows.append(" ".join([rng.choice(["1", "-1"]), *cells]))
    end = rng.choice(ENDS)
    return (end.join(rows) + end * rng.randrange(3)).encode()


def damaged(rng: random.Random, text: bytes) -> bytes:
    """The text with a few bytes changed, put in or left out."""
    content = bytearray(text)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(content) + 1)
        content[at : at + rng.randrange(3)] = bytes(rng.choices(ALPHABET, k=rng.randrange(3)))
    return bytes(content)


def rows_of(parts: list[Floats | SparseMatrix], labels: list[object], width: int) -> Rows:
    """Blocks as one matrix: dense, and sparse ones made dense."""
    wide = []
    for X in parts:
        full = np.zeros((X.shape[0], width))
        full[:, : X.shape[1]] = X if isinstance(X, np.ndarray) else X.toarray()
        wide.append(full)
    X = np.concatenate([np.empty((0, width)), *wide])
    return Rows(X.tobytes(), X.shape, labels)


def at_once(text: bytes, choices: Choices) -> Rows | str:
    """By `read`, or the sentence that refuses it."""
    try:
        data = read(_Named(text), choices)
    except DataError as error:
        return str(error)
    return rows_of([data.X], data.labels.tolist(), data.X.shape[1])


def in_blocks(case: Case, choices: Choices) -> Rows | str:
    """By `blocks`."""
    path = scratch() / "data.txt"
    path.write_bytes(case.text)
    with small(case.large):
        try:
            found = blocks(path, choices, max_memory=64 * case.size)
            parts, labels = [], list[object]()
            for X, y in found:
                parts.append(X)
                labels += y.tolist()
        except DataError as error:
            return str(error)
    return rows_of(parts, labels, found.n_features)


def from_a_pipe(text: bytes, choices: Choices, sizes: Callable[[], int]) -> Rows | str:
    """By `open_feed`, in pieces of whatever sizes."""
    parts, labels = [], list[object]()
    width, flaw = 0, ""
    try:
        feed = open_feed(_Dripping(text, sizes), Wishes(choices))
        for batch in feed.batches(feed.start):
            parts.append(batch.X)
            width = max(width, batch.X.shape[1])
            labels += [batch.labels[code] for code in batch.codes.tolist()]
    except DataError as error:
        flaw = str(error)
    found = rows_of(parts, labels, width)
    return found if not flaw else f"{found} {flaw}"


@cache
def scratch() -> Path:
    """A folder, in memory where there is such a thing."""
    shared = Path("/dev/shm")  # noqa: S108
    folder = tempfile.mkdtemp(dir=shared if shared.is_dir() else None)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


class _Named(io.BytesIO):
    name = "data.txt"


class _Dripping(_Named):
    """A file that gives a few bytes at a time."""

    def __init__(self, text: bytes, sizes: Callable[[], int]) -> None:
        super().__init__(text)
        self._sizes = sizes

    def read1(self, size: int | None = -1, /) -> bytes:
        return super().read1(self._sizes())


@contextmanager
def small(large: int) -> Iterator[None]:
    """Pieces of a few bytes, and kernels from so many on."""
    with ExitStack() as stack:
        for module, name, value in (
            (chunked, "_LEAST", 1),
            (lines, "_ROOM", 256),
            (pieces, "_LARGE", large),
            (core_blocks, "_PATIENCE", 0.001),
        ):
            stack.enter_context(patch.object(module, name, value))
        yield


def check_blocks(case: Case, rng: random.Random) -> bool:
    """Blocks hold the rows of the file at once, or both are refused."""
    choices = Choices(format=case.form, missing=case.missing)
    whole, parts = at_once(case.text, choices), in_blocks(case, choices)
    both_refused = isinstance(parts, str) and isinstance(whole, str)
    nameless = isinstance(parts, str) and "no name for column 1" in parts  # names of rows, or not
    assert parts == whole or both_refused or nameless, (parts, whole)
    return isinstance(parts, Rows)


def check_pipe(case: Case, rng: random.Random) -> bool:
    """A pipe gives the same rows, and the same sentence after them, however it drips."""
    choices = Choices(format=case.form, missing=case.missing)
    flood = from_a_pipe(case.text, choices, lambda: 1 << 20)
    drops = from_a_pipe(case.text, choices, lambda: rng.randrange(1, case.size + 1))
    assert drops == flood, (drops, flood)
    whole = at_once(case.text, choices)
    if case.form == "csv" and isinstance(flood, Rows) and isinstance(whole, Rows):
        assert as_numbers(flood) == as_numbers(whole), (flood, whole)
    return isinstance(flood, Rows)


def as_numbers(rows: Rows) -> Rows:
    """Labels that are numbers as such: a stream cannot know that 1.50 will be 1.5 elsewhere."""
    labels = [float(str(label)) if is_number(str(label)) else label for label in rows.labels]
    return rows._replace(labels=labels)


def check_roads(case: Case, rng: random.Random) -> bool:
    """The quick road says what the careful one says, to the word."""
    choices = Choices(format="csv", missing=case.missing)
    careful = at_once(case.text, choices)
    with patch.object(readers, "LARGE", 0):
        quick = at_once(case.text, choices)
    assert quick == careful, (quick, careful)
    return isinstance(quick, Rows)


def check_kernel(case: Case, rng: random.Random) -> bool:
    """What the kernel takes for plain numbers is what Python reads; the rest it declines."""
    delimiter = rng.choice(",,;\t")
    text = case.text.partition(b"\n")[2]
    width = text.partition(b"\n")[0].count(delimiter.encode())
    places = [*range(width), LABEL]
    rng.shuffle(places)
    found = _parse(memoryview(text), delimiter, places, width, rng.choice([1, 1, 2, 3]))
    if found is None:
        return False
    rows = [row.removesuffix(b"\r") for row in text.rstrip(b"\r\n").split(b"\n")]
    rows = [] if rows == [b""] else rows
    assert len(found.X) == len(found.codes) == len(rows)
    for x, code, row in zip(found.X, found.codes.tolist(), rows, strict=True):
        [texts] = csv.reader([row.decode("latin-1")], delimiter=delimiter)  # a label may be quoted
        cells = [text.encode("latin-1") for text in texts or [""]]
        assert len(cells) == len(places)
        for place, cell in zip(places, cells, strict=True):
            if place == LABEL:
                assert found.labels[code] == cell
            else:
                assert b"_" not in cell
                assert x[place].tobytes() == struct.pack("d", float(cell))
    return True


def fuzz(check: Callable[[Case, random.Random], bool], count: int, seed: int) -> int:
    """Check so many cases; how many of them were read."""
    well = 0
    for k in range(count):
        rng = random.Random(f"{seed} {k}")  # noqa: S311 - nothing is secret
        case = drawn(rng)
        try:
            well += check(case, rng)
        except Exception as error:
            raise AssertionError(f"seed {seed}, input {k}: {case}") from error
    return well


CHECKS: dict[str, Callable[[Case, random.Random], bool]] = {
    "blocks": check_blocks,
    "pipe": check_pipe,
    "roads": check_roads,
    "kernel": check_kernel,
}


@pytest.mark.parametrize("name", CHECKS)
def test_any_file(name: str) -> None:
    count = COUNTS[name]
    assert count / 10 < fuzz(CHECKS[name], count, seed=0) < count


def rounded(
    text: memoryview, delimiter: str, places: Sequence[int], width: int, threads: int | None = None
) -> Plain | None:
    """A kernel that gets numbers wrong."""
    found = parse_plain(text, delimiter, places, width, threads)
    return None if found is None else replace(found, X=found.X.astype(np.float32).astype(float))


def test_a_flaw_is_found_and_named() -> None:
    with (
        patch.object(sys.modules[__name__], "_parse", rounded),
        pytest.raises(AssertionError, match=r"seed 0, input \d+: Case\(text=b"),
    ):
        fuzz(check_kernel, 200, seed=0)

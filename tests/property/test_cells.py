"""A table that is hashed as it is read: the kernel says what the careful road says."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
import pytest

from novikoff.data import Choices, DataError
from novikoff.data.cells import LABEL, SKIPPED, Field, parse_cells
from novikoff.data.feeds.feed import Wishes
from novikoff.data.feeds.opening import open_feed
from novikoff.data.feeds.table import TableFeed
from novikoff.data.scanner import feature_hash
from novikoff.data.stretches import as_bytes, lines_are_records
from novikoff.data.values import FALSE, MISSING, TRUE

NUMBERS = ("0", "-1", "2.5", "1e3", "+7", ".5", "5.", "123456789012345678901", "1e-320", " 3\t")
WORDS = (
    "red",
    "é",
    "x y",
    " blank ",
    "-",
    ".",
    "+",
    "1e",
    "1_0",
    "0x1",
    "N",
    "truely",
    "nano",
    "a=b",
)
QUOTED = (
    '"red"',
    '"1.5"',
    '" 7 "',
    '"a,b"',
    '"NA"',
    '""',
    '"a""b"',
    '"two\nlines"',
    '"re"d',
    're"d',
)
ODD = (*MISSING, *TRUE, *FALSE, "inf", "-Infinity", "+nan", "1e999", "\0", "\x0b", "naN")
LABELS = (("y", "n"), ("0", "1"), ("true", "false"), ('"a b"', "c"))


def a_table(rng: random.Random) -> bytes:
    """Mostly text and numbers; now and then a cell, a line or an end that is odd."""
    odd = rng.choice([0.0, 0.0, 0.02, 0.2])
    kinds = [rng.choice([NUMBERS, WORDS, QUOTED[:4], (*WORDS, *NUMBERS)]) for _ in range(4)]
    labels = rng.choice(LABELS)
    rows = [["a", "b", "c", "d", "label"]]
    for _ in range(rng.randrange(1, 80)):
        row = [rng.choice(kind) for kind in kinds]
        for j in range(4):
            if rng.random() < odd:
                row[j] = rng.choice((*QUOTED, *ODD))
        row.append(rng.choice(labels))
        if rng.random() < odd / 10:
            row.append("more")
        rows.append(row)
    end = rng.choice(["\n", "\n", "\n", "\r\n", "\r"])
    text = end.join(",".join(row) for row in rows) + rng.choice([end, end, ""])
    content = text.encode()
    if rng.random() < odd:
        at = rng.randrange(len(content))
        content = content[:at] + rng.choice([b"\xff", b'"', b"\n", b",", b""]) + content[at + 1 :]
    return content


def outcome(content: bytes, wishes: Wishes, pieces: int) -> Iterator[object]:
    """All there is to a stream: entries in their order, labels, places, and what is wrong."""

    class Drops(io.BytesIO):
        def read1(self, most: int | None = -1) -> bytes:
            return super().read1(pieces)

    try:
        feed = open_feed(Drops(content), wishes)
        for batch in feed.batches(feed.start):
            assert not isinstance(batch.X, np.ndarray)
            for k in range(len(batch)):
                row = slice(batch.X.indptr[k], batch.X.indptr[k + 1])
                yield batch.X.indices[row].tolist(), batch.X.data[row].tobytes()
                yield batch.labels[int(batch.codes[k])], batch.mark(k + 1)
        yield feed.dropped
    except DataError as error:
        yield str(error)


def both(content: bytes, wishes: Wishes, pieces: int) -> tuple[list[object], list[object]]:
    """By the kernel, and field by field."""
    quick = list(outcome(content, wishes, pieces))
    with patch.object(TableFeed, "are_apart", lambda self, text: False):
        return quick, list(outcome(content, wishes, pieces))


@pytest.mark.parametrize("seed", range(400))
def test_the_kernel_reads_as_the_careful_road(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 — nothing is secret
    choices = Choices(
        format="csv", header=True, label="label", missing=rng.choice(["refuse", "drop"])
    )
    wishes = Wishes(choices, bits=rng.choice([3, 12, 28]), text_labels=rng.random() < 0.3)
    quick, careful = both(a_table(rng), wishes, rng.choice([20, 200, 1 << 20]))
    assert quick == careful


def test_many_tables_are_read_by_the_kernel_and_not_all() -> None:
    taken = 0
    for seed in range(200):
        rng = random.Random(f"share {seed}")  # noqa: S311 — nothing is secret
        body = a_table(rng).partition(b"\n")[2]
        fields = [Field(name, False) for name in "abcd"]
        taken += parse_cells(memoryview(body), ",", [0, 1, 2, 3, LABEL], fields, 8) is not None
    assert 40 < taken < 160


def test_columns_may_be_left_out_be_text_or_come_in_another_order() -> None:
    fields = [Field("second", True), Field("first", False)]
    found = parse_cells(memoryview(b"1;2;x;y\n"), ";", [1, 0, SKIPPED, LABEL], fields, 20)
    assert found is not None
    assert found.X.indices.tolist() == [feature_hash(b"second=2", 20), feature_hash(b"first", 20)]
    assert (found.X.data.tolist(), found.labels) == ([1.0, 1.0], [b"y"])


@pytest.mark.parametrize("blank", ["\n", "\r\n", "\r"])
def test_a_blank_line_of_one_column_is_a_missing_cell(blank: str) -> None:
    fields = [Field("a", False)]
    for text in (f"red\n{blank}", f"red\n{blank}blue\n", f"{blank}red\n"):
        assert parse_cells(memoryview(text.encode()), ",", [0], fields, 8) is None
    assert parse_cells(memoryview(b"red\n"), ",", [0], fields, 8) is not None


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        (b'"a""\nb",c\n', False),  # the doubled quote does not end the field
        (b'"a""",b\n"c",d\n', True),
        (b'a,"b\r\nc"\n', False),
        (b'a"b,c\nd,e"\n', True),  # only where a field begins
        (b'a,"b\n', False),
    ],
)
def test_whether_lines_are_records(text: bytes, apart: bool) -> None:
    assert lines_are_records(as_bytes(memoryview(text)), ord(",")) == apart

"""Text in stretches: whole lines, all of them, and the same results however many there are."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.data import stretches
from novikoff.data.pairs import Pairs, Stopped, parse_pairs
from novikoff.data.plain import LABEL, parse_plain


@given(st.text("ab\n\r", max_size=60), st.integers(1, 9), st.integers(1, 20))
def test_stretches_are_whole_lines_one_after_the_other(text: str, threads: int, long: int) -> None:
    content = stretches.as_bytes(memoryview(text.encode()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stretches, "_LONG", long)
        found = stretches.stretches(content, len(content), threads)
    assert len(found) >= threads
    assert [begin for begin, _ in found] == [0, *(end for _, end in found[:-1])]
    assert found[-1][1] == len(text)
    assert all(begin == 0 or begin == end or text[begin - 1] == "\n" for begin, end in found)


def test_each_keeps_the_order_and_no_more_threads_run_than_asked_for() -> None:
    running, most, lock = 0, 0, threading.Lock()

    def work(k: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        threading.Event().wait(0.001)
        with lock:
            running -= 1
        return k * k

    assert stretches.each(work, range(20), 3) == [k * k for k in range(20)]
    assert most <= 3


class TestMoreStretchesThanThreads:
    """The readers, with stretches of some lines each."""

    @pytest.fixture(autouse=True)
    def _short(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(stretches, "_LONG", 50)

    def test_pairs(self) -> None:
        rows = [(k * k % 7, k % 13, k / 8) for k in range(200)]
        text = "".join(f"{y} {j}:{v} {j + 20}:1 # {k}\n" for k, (y, j, v) in enumerate(rows))
        assert len(stretches.stretches(stretches.as_bytes(memoryview(text.encode())), 4000, 2)) > 9
        found = parse_pairs(memoryview(text.encode()), threads=2)
        assert isinstance(found, Pairs)
        assert found.labels == [b"0", b"1", b"4", b"2"]
        assert [int(found.labels[code]) for code in found.codes] == [y for y, _, _ in rows]
        assert found.indptr.tolist() == list(range(0, 401, 2))
        assert found.indices.tolist() == [c for _, j, _ in rows for c in (j, j + 20)]
        assert found.values.tolist() == [u for _, _, v in rows for u in (v, 1.0)]

    def test_the_first_line_of_pairs_that_is_not_of_the_form(self) -> None:
        lines = ["1 1:0.5 2:1\n"] * 100
        lines[90], lines[41] = "1 x:3\n", "1 2:1 1:1\n"
        found = parse_pairs(memoryview("".join(lines).encode()), threads=2)
        assert found == Stopped(offset=41 * len(lines[0]), line=41)

    def test_plain_numbers(self) -> None:
        rows = [(k / 4, f"c{k * k % 5}") for k in range(300)]
        text = "".join(f"{v},{y}\n" for v, y in rows)
        found = parse_plain(memoryview(text.encode()), ",", [0, LABEL], 1, threads=2)
        assert found is not None
        assert found.X[:, 0].tolist() == [v for v, _ in rows]
        assert [found.labels[code].decode() for code in found.codes] == [y for _, y in rows]
        assert found.labels == [b"c0", b"c1", b"c4"]
        spoiled = text.replace("\n60.0,", "\nsixty,")
        assert parse_plain(memoryview(spoiled.encode()), ",", [0, LABEL], 1, threads=2) is None

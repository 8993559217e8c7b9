"""The harness of the benchmarks runs, tiny; its figures are nobody's business here."""

from __future__ import annotations

import pytest
from benchmarks.cases import CASES, TINY
from benchmarks.measure import render
from benchmarks.size import ROOT, size_of


@pytest.mark.parametrize(
    "name",
    [
        *("dense", "verdicts", "pocket", "pocket-at-size"),
        *("kernels", "second-order", "first-fits", "herding"),
    ],
)
def test_case_runs_tiny(name: str) -> None:
    rows = CASES[name](TINY, 1)
    times = ("dense", "pocket-at-size")  # these compare times, which drown in noise here
    assert name in times or all(row.sound for row in rows)
    assert len(render(rows).splitlines()) == len(rows) + 2


def test_size_counts_every_line() -> None:
    lines, files = size_of(ROOT / "benchmarks")
    assert files == len(list((ROOT / "benchmarks").glob("*.py")))
    assert lines == sum(
        len(path.read_text().splitlines()) for path in (ROOT / "benchmarks").glob("*.py")
    )

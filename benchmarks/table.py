"""The rows of the result, and how they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.quality import NOT_ASKED, Quality


@dataclass(frozen=True)
class Row:
    """One comparison with a peer, or one figure with a limit.

    Attributes
    ----------
    case, peer : str
        What was measured, and against whom ("" for nobody).
    ours, theirs : float
        Median seconds, per epoch or per example; without a peer, both are the figure.
    low, ratio, high : float
        The quartiles of the peer's time over ours, or of the figure.
    target : float or None
        What is to be reached: at least for a ratio, at most for a figure.
    quality : Quality
        Whether the comparison counts.
    details : dict
        More numbers, for the record.
    """

    case: str
    peer: str
    ours: float
    theirs: float
    low: float
    ratio: float
    high: float
    target: float | None
    quality: Quality = NOT_ASKED
    details: dict[str, object] = field(default_factory=dict)

    @property
    def reached(self) -> bool | None:
        """Whether the target is reached; None where there is none or the row does not count."""
        if self.target is None or not self.quality.same:
            return None
        return self.ratio >= self.target if self.peer else self.ratio <= self.target


def figure(
    name: str, values: Sequence[float], target: float | None, quality: Quality = NOT_ASKED
) -> Row:
    """A row without a peer: the quartiles of a figure with a limit."""
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    details: dict[str, object] = {"values": list(values)}
    return Row(name, "", median, median, low, median, high, target, quality, details)


def render(rows: Sequence[Row]) -> str:
    """The rows as a table.

    Examples
    --------
    >>> print(render([Row("dense", "them", 0.05, 0.2, 3.9, 4.0, 4.1, 4.0)]))
    case   peer  ours   peer's  ratio        target  reached  quality
    dense  them  50 ms  200 ms  4 [3.9–4.1]  ≥ 4     yes
    """
    cells = [["case", "peer", "ours", "peer's", "ratio", "target", "reached", "quality"]]
    cells += [_cells(row) for row in rows]
    widths = [max(len(line[k]) for line in cells) for k in range(len(cells[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    )


def _cells(row: Row) -> list[str]:
    spread = f"{row.ratio:.3g} [{row.low:.3g}–{row.high:.3g}]"
    target = "" if row.target is None else f"{'≥' if row.peer else '≤'} {row.target:g}"
    reached = {True: "yes", False: "NO", None: ""}[row.reached]
    if not row.quality.same:
        reached = "does not count"
    mine = _duration(row.ours) if row.peer else ""
    theirs = _duration(row.theirs) if row.peer else ""
    return [row.case, row.peer, mine, theirs, spread, target, reached, row.quality.note]


def _duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"

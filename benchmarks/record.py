"""The figures that docs/speed.md and README show: ``benchmarks/record.json``.

``python -m benchmarks.run CASE … --record`` replaces the figures of these cases by those of now;
``python docs/speed.py`` then rewrites the pages. Nothing else writes the record.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.measure import Row

PATH = Path(__file__).with_suffix(".json")


@dataclass(frozen=True)
class Figure:
    """One row of a case.

    Attributes
    ----------
    case, peer : str
        The name of the row, and of the peer ("" for a figure without one).
    median : float
        The peer's time over ours, or the figure.
    seconds : float or None
        Our time, if it is known.
    """

    case: str
    peer: str
    median: float
    seconds: float | None = None


@dataclass(frozen=True)
class Measured:
    """The figures of one case, and when and where they were measured."""

    date: str
    machine: str
    figures: tuple[Figure, ...]


def read(path: Path = PATH) -> dict[str, Measured]:
    """Every recorded case by its name."""
    body = json.loads(path.read_text("utf-8"))
    return {
        name: Measured(
            entry["date"], entry["machine"], tuple(Figure(**row) for row in entry["figures"])
        )
        for name, entry in body.items()
    }


def keep(case: str, rows: Sequence[Row], machine: str, path: Path = PATH) -> None:
    """Replace the figures of a case.

    A row whose two sides did not come to answers of the same quality is not a figure: ValueError.
    """
    for row in rows:
        if not row.sound or not math.isfinite(row.median):
            raise ValueError(f"{row.case} does not count ({row.note}): nothing is recorded.")
    figures = tuple(
        Figure(row.case, row.peer, _short(row.median), _short(row.ours) or None) for row in rows
    )
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    record = read(path) | {case: Measured(today, machine, figures)}
    body = {name: asdict(entry) for name, entry in record.items()}
    path.write_text(json.dumps(body, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _short(number: float) -> float:
    """The number with three significant digits."""
    return float(f"{number:.3g}")

"""Write the figures of docs/speed.md and of README from the record: ``python docs/speed.py``.

``make bench CASES="…" RECORD=1`` measures, and writes the record (``benchmarks/record.json``).
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import record  # noqa: E402

PAGE = ROOT / "docs" / "speed.md"
README = ROOT / "README.md"


def number(value: float) -> str:
    """The value with two significant digits."""
    digits = 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, digits):,.{max(digits, 0)}f}"


def tables(found: dict[str, record.Measured]) -> dict[str, str]:
    """The tables of the page by the names of their places."""
    ratios = [("case", "peer", "ratio"), ("---", "---", "--:")]
    others = [("case", "figure"), ("---", "--:")]
    for entry in found.values():
        for row in entry.figures:
            if row.peer:
                ratios.append((row.case, row.peer, number(row.median)))
            else:
                seconds = f" ({number(row.seconds)} s)" if row.seconds else ""
                others.append((row.case, number(row.median) + seconds))
    return {
        "ratios": "\n".join(f"| {' | '.join(cells)} |" for cells in ratios),
        "figures": "\n".join(f"| {' | '.join(cells)} |" for cells in others),
        "measured": "\n".join(_measured(found)),
    }


def _measured(found: dict[str, record.Measured]) -> Iterator[str]:
    """When and where the cases were measured."""
    places = dict.fromkeys((entry.date, entry.machine) for entry in found.values())
    for date, machine in places:
        names = [name for name, own in found.items() if (own.date, own.machine) == (date, machine)]
        yield f"- {date}, {machine}: {', '.join(f'`{name}`' for name in names)}."


def page(text: str, found: dict[str, record.Measured]) -> str:
    """The text of docs/speed.md with the recorded figures."""
    for name, table in tables(found).items():
        mark = f"<!-- {name} -->"
        before, _, after = text.split(mark)
        text = f"{before}{mark}\n{table}\n{mark}{after}"
    return text


def _ratio(name: str, case: str) -> Callable[[dict[str, record.Measured]], str]:
    def of(found: dict[str, record.Measured]) -> str:
        (row,) = (row for row in found[name].figures if row.case == case)
        return f"1/{number(row.median)}"

    return of


def _first_seconds(found: dict[str, record.Measured]) -> str:
    return f"{max(row.seconds or 0.0 for row in found['first-fit'].figures):.0f} seconds"


# Each figure of README: the words before and after it, and where it is recorded.
SENTENCES: list[tuple[str, str, Callable[[dict[str, record.Measured]], str]]] = [
    (
        "a verdict with its proof takes ",
        " of the time that HiGHS takes",
        _ratio("verdicts", "verdict 100,000 × 20, margin 1e-3"),
    ),
    (
        "a million dense rows takes ",
        " of scikit-learn's time",
        _ratio("dense", "one epoch, dense 1,000,000 × 100, cyclic"),
    ),
    ("a first `novikoff fit` takes about ", "", _first_seconds),
]


def readme(text: str, found: dict[str, record.Measured]) -> str:
    """The text of README with the recorded figures; each sentence must be in it once."""
    for before, after, figure in SENTENCES:
        left, right = (re.escape(part).replace(r"\ ", r"\s+") for part in (before, after))
        pattern = rf"({left})[\d/.,]+(?:\s+seconds)?({right})"
        text, times = re.subn(pattern, rf"\g<1>{figure(found)}\g<2>", text)
        if times != 1:
            raise ValueError(f"README has {times} times: {before}…{after}")
    return text


def main() -> None:
    """Rewrite both pages."""
    found = record.read()
    for path, now in ((PAGE, page), (README, readme)):
        path.write_text(now(path.read_text("utf-8"), found), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Run the benchmarks: print a table, append a line to ``benchmarks/results.jsonl``."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import novikoff
from benchmarks.cases import CASES
from benchmarks.measure import Bystanders
from benchmarks.scale import FULL, TINY, Scale
from benchmarks.table import Row, render

RESULTS = Path(__file__).parent / "results.jsonl"
_QUIET = 0.05  # cores in use by others that are not worth a word
_PEERS = ("numpy", "scipy", "numba", "scikit-learn", "river", "pyarrow", "vowpalwabbit")


def measure(names: Sequence[str], scale: Scale, repeats: int) -> list[Row]:
    """Run the cases of these names, telling of each on stderr."""
    rows: list[Row] = []
    for name in names:
        start = time.monotonic()
        bystanders = Bystanders()
        print(f"{name} …", end=" ", file=sys.stderr, flush=True)
        found = CASES[name](scale, repeats)
        others = bystanders.share()
        rows += [replace(row, details={**row.details, "others": others}) for row in found]
        note = f", while others kept {others:.1f} cores busy" if others > _QUIET else ""
        figures = " · ".join(f"{row.ratio:.3g}" for row in found)
        print(f"{figures} ({time.monotonic() - start:.0f} s{note})", file=sys.stderr, flush=True)
    return rows


def record(rows: Sequence[Row], repeats: int) -> dict[str, object]:
    """Everything worth keeping of a run: when, where, with what, and all numbers."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "platform": platform.platform(),
        "versions": {
            "python": platform.python_version(),
            "novikoff": novikoff.__version__,
            **_versions(),
        },
        "repeats": repeats,
        "rows": [_plain(row) for row in rows],
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES), metavar="CASE")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--tiny", action="store_true", help="tiny data, nothing recorded")
    options = parser.parse_args(arguments)
    if options.tiny:
        rows = measure(options.only, TINY, options.repeats)
        print(render([replace(row, target=None) for row in rows]))
    else:
        rows = measure(options.only, FULL, options.repeats)
        print(render(rows))
        with RESULTS.open("a") as results:
            results.write(json.dumps(record(rows, options.repeats), ensure_ascii=False) + "\n")


def _versions() -> dict[str, str]:
    """Those of the peers that are installed."""
    found = {}
    for name in _PEERS:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _plain(row: Row) -> dict[str, object]:
    """The row as JSON can hold it, which knows no NaN."""
    fields = {**asdict(row), "reached": row.reached}
    return {key: None if value != value else value for key, value in fields.items()}


def _cpu() -> str:
    """The model of the processor, where Linux names it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


if __name__ == "__main__":
    main()

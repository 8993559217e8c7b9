"""Run the benchmarks: ``python -m benchmarks.run [CASE …]`` prints a Markdown table."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks import record
from benchmarks.cases import CASES, FULL, TINY
from benchmarks.measure import render

PEERS = (
    "numpy",
    "scipy",
    "numba",
    "scikit-learn",
    "river",
    "pandas",
    "vowpalwabbit",
    "firthmodels",
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--tiny", action="store_true", help="tiny data: only shows that all runs")
    parser.add_argument(
        "--record", action="store_true", help="write the figures to record.json, for docs/speed.md"
    )
    options = parser.parse_args(arguments)
    if options.record and options.tiny:
        parser.error("--record needs the data of full size, without --tiny")
    unknown = sorted(set(options.cases) - set(CASES))
    if unknown:
        parser.error(f"no case {', '.join(unknown)}: there are {', '.join(CASES)}")
    rows = []
    for name in options.cases or CASES:
        start = time.monotonic()
        found = CASES[name](TINY if options.tiny else FULL, options.turns)
        rows += [replace(row, target=float("nan")) for row in found] if options.tiny else found
        figures = " · ".join(f"{row.median:.3g}" for row in found)
        print(f"{name}: {figures} ({time.monotonic() - start:.0f} s)", file=sys.stderr, flush=True)
        if options.record:
            record.keep(name, found, _machine())
    print(render(rows))
    print(f"\n{_machine()}")


def _machine() -> str:
    """The processor and the versions, for the record."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    cpus = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    cpu = cpus[0] if cpus else platform.processor()
    versions = ", ".join(f"{name} {_version(name)}" for name in PEERS)
    return f"{cpu}, {os.cpu_count()} cores; Python {platform.python_version()}, {versions}."


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(absent)"


if __name__ == "__main__":
    main()

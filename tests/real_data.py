"""Where real data lies: small files in tests/data/real, larger ones where NOVIKOFF_DATA says."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data" / "real"
MORE = Path(os.environ.get("NOVIKOFF_DATA", Path(__file__).parents[2] / "shared" / "data"))


def published_systems() -> dict[str, dict[str, str]]:
    """What is published of each system of inequalities that `real` finds, by its file."""
    found: dict[str, dict[str, str]] = {}
    for folder in (DATA / "lp", MORE / "lp"):
        if (folder / "index.csv").exists():
            with (folder / "index.csv").open(newline="") as file:
                found |= {f"lp/{row['file']}": row for row in csv.DictReader(file)}
    folders = (DATA, MORE)
    return {name: row for name, row in found.items() if any((f / name).exists() for f in folders)}


def real(name: str) -> Path:
    """The path of a file of real data; the test is skipped if it is one of the larger files."""
    for folder in (DATA, MORE):
        if (folder / name).exists():
            return folder / name
    pytest.skip(f"{name} is not in {MORE}: set NOVIKOFF_DATA to a folder that has it")

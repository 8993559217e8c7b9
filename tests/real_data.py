"""Where real data lies: small files in tests/data/real, larger ones where NOVIKOFF_DATA says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data" / "real"
MORE = Path(os.environ.get("NOVIKOFF_DATA", Path(__file__).parents[2] / "shared" / "data"))


def is_there(name: str) -> bool:
    """Whether `real` finds a file: the small ones always, the larger ones where they were put."""
    return any((folder / name).exists() for folder in (DATA, MORE))


def real(name: str) -> Path:
    """The path of a file of real data; the test is skipped if it is one of the larger files."""
    for folder in (DATA, MORE):
        if (folder / name).exists():
            return folder / name
    pytest.skip(f"{name} is not in {MORE}: set NOVIKOFF_DATA to a folder that has it")

"""Lines and files by room, against the guide; ``python -m benchmarks.size`` fails above the limit.

Lines are all lines of Python, docstrings and blank lines included. The limits are about what there
is: they are to be lowered after a cut, and raised for what users ask for only. The *house* is what
was there before the rooms that came later: systems, the page, the cluster, the family and its
theory.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "novikoff"
# Lines by room: a guide, not a limit. Rooms without one are new.
GUIDE = {
    "core": 2_400,
    "geometry": 4_000,
    "learners": 1_900,
    "data": 3_400,
    "report": 3_300,
    "cli": 1_500,
    "theory": 1_100,
    "page": 700,
    "neurons": 500,
    "cluster": 700,
}
MAX_SOURCE_LINES, MAX_SOURCE_FILES, MAX_TEST_LINES = 36_640, 177, 26_840
HOUSE_LINES, HOUSE_FILES = 17_500, 100  # a guide, too
LATER = (
    *("systems", "page", "cluster", "neurons", "theory", "cli/cluster.py", "cli/lab.py"),
    *("cli/solve.py", "report/system_*.py", "geometry/system_*.py", "geometry/remote.py"),
    *("core/kernel*.py", "core/forgetron.py", "core/p_norm.py", "core/second_order.py"),
    *("core/tower.py", "learners/kernel.py", "learners/stateful.py", "learners/tower.py"),
)


class Size(NamedTuple):
    """Python lines and files of a folder or a file."""

    lines: int
    files: int


def size_of(*paths: Path) -> Size:
    """The lines and files of folders and files.

    Examples
    --------
    >>> size_of(Path(__file__)).files
    1
    """
    files = [found for path in paths for found in (path.rglob("*.py") if path.is_dir() else [path])]
    return Size(sum(len(file.read_bytes().splitlines()) for file in files), len(files))


def main() -> int:
    """Print the table; 1 if the whole is larger than it may be."""
    rooms = sorted(path for path in SOURCE.iterdir() if path.is_dir() and any(path.rglob("*.py")))
    print(f"{'room':12}{'lines':>8}{'guide':>8}{'files':>7}")
    for room in rooms:
        lines, files = size_of(room)
        print(f"{room.name:12}{lines:8,}{GUIDE.get(room.name, 0) or '':>8}{files:7}")
    top = size_of(*SOURCE.glob("*.py"))
    print(f"{'top level':12}{top.lines:8,}{'':8}{top.files:7}")
    source, tests = size_of(SOURCE), size_of(ROOT / "tests", ROOT / "benchmarks")
    later = size_of(*(path for pattern in LATER for path in SOURCE.glob(pattern)))
    house = Size(source.lines - later.lines, source.files - later.files)
    guide = f"guide {HOUSE_LINES:,} in {HOUSE_FILES}"
    print(f"the house: {house.lines:,} lines in {house.files} files ({guide})")
    limits = (
        ("source lines", source.lines, MAX_SOURCE_LINES),
        ("source files", source.files, MAX_SOURCE_FILES),
        ("lines of tests and benchmarks", tests.lines, MAX_TEST_LINES),
    )
    for name, found, limit in limits:
        print(f"{name}: {found:,} of at most {limit:,}{'' if found <= limit else ': TOO MANY'}")
    return int(any(found > limit for _, found, limit in limits))


if __name__ == "__main__":
    sys.exit(main())

"""The first minute: ``novikoff fit`` with no compiled code cached, whole processes, one by one.

``python -m benchmarks.first_touch`` prints, for each of four small files, the seconds of the
first run, the kernels that it compiled, and the ratio to ``import numba`` in the same turn.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks import data, peers
from benchmarks.measure import Row, render, timed

AIM = 12.0
# The name of each file, and the set of scikit-learn that takes its place where it is missing.
SMALL_FILES = {
    "endometrial.csv": "wine",
    "sonar.csv": "breast_cancer",
    "zoo.csv": "wine",
    "iris.csv": "iris",
}


def small_files(folder: Path) -> dict[str, Path]:
    """Four small files: those of ``../shared/data`` or of the package, or sets of scikit-learn."""
    found = {}
    for name, stand_in in SMALL_FILES.items():
        places = [data.SHARED / name, peers.ROOT / "src" / "novikoff" / name]
        there = [path for path in places if path.exists()]
        found[name] = there[0] if there else data.table_file(folder / f"{stand_in}.csv", stand_in)
    return found


def first_touch(files: int = len(SMALL_FILES)) -> list[Row]:
    """One row for each file: the seconds of its first fit over those of ``import numba``."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, path in list(small_files(folder).items())[:files]:
            units = [timed(partial(peers.python, "-c", "import numba"))[0] for _ in range(3)]
            cache = folder / f"cache-{title}"
            command = ("-m", "novikoff", "fit", path, "--out", folder, "--force")
            first, _ = timed(partial(peers.python, *command, NUMBA_CACHE_DIR=str(cache)))
            compiled = len(list(cache.rglob("*.nbc")))
            ratios = [first / unit for unit in units]
            note = f"{first:.1f} s, {compiled} kernels compiled, import {np.median(units):.2f} s"
            case = (
                f"first `novikoff fit {path.name}`, empty caches, as a multiple of `import numba`"
            )
            rows.append(Row(case, "", ratios, AIM, ours=first, note=note))
    return rows


if __name__ == "__main__":
    found = first_touch()
    print(render(found))
    sys.exit(0 if all(row.reached for row in found) else 1)

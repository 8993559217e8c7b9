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
from tests.real_data import DATA

from benchmarks import data, peers
from benchmarks.measure import Row, render, timed

AIM = 12.0


def small_files(folder: Path) -> list[Path]:
    """Four small files: three of the tests, and iris from scikit-learn."""
    files = [DATA / name for name in ("endometrial.csv", "sonar.csv", "zoo.csv")]
    return [*files, data.table_file(folder / "iris.csv", "iris")]


def first_touch(files: int = 4) -> list[Row]:
    """One row for each file: the seconds of its first fit over those of ``import numba``."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in small_files(folder)[:files]:
            units = [timed(partial(peers.python, "-c", "import numba"))[0] for _ in range(3)]
            cache = folder / f"cache-{path.stem}"
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

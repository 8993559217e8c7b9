"""What a command imports, and that nobody misses what it does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from novikoff.cli.startup import importing
from tests.cli.conftest import Files, environment

LATER = """
import sys
from novikoff.cli.startup import importing
with importing("novikoff.learners.perceptron", beside={beside}):
    import pyarrow
    pyarrow.scalar(0)  # this asks for pandas
from novikoff.learners.perceptron import Perceptron
assert "pandas" not in sys.modules and "scipy.stats" not in sys.modules
model = Perceptron().fit([[0.0], [1.0]], ["a", "b"])
import numpy, pandas, scipy.stats
from sklearn.utils.fixes import _mode
assert _mode(numpy.array([3, 3, 5])).mode == 3
assert scipy.stats.norm.cdf(0.0) == 0.5
frame = pandas.DataFrame({{"x": [0.0, 1.0]}})
assert Perceptron().fit(frame, ["a", "b"]).feature_names_in_.tolist() == ["x"]
assert pyarrow.table({{"x": [1]}}).to_pandas()["x"].tolist() == [1]
"""

ANEW = """
import os
os.environ["NUMBA_CACHE_DIR"] = {cache!r}
from novikoff.cli.kernels import load_lightly
load_lightly()
import numpy as np
from novikoff.data.stretches import as_bytes, count_lines
assert count_lines(as_bytes(memoryview(b"a\\nb\\n")), 4) == 2
from numba import njit
@njit
def mixed(a):
    return np.linalg.solve(a, np.ones(2)), {{"x": 1.5}}["x"], sorted([3, 1]), hash(2.5)
found = mixed(np.eye(2))
assert found[0].tolist() == [1.0, 1.0] and found[1:3] == (1.5, [1, 3])
"""

DAMAGED = """
import os
os.environ["NUMBA_CACHE_DIR"] = {cache!r}
from novikoff.cli.kernels import load_lightly
load_lightly()
from novikoff.data.stretches import as_bytes, count_lines
print(count_lines(as_bytes(memoryview(b"a\\nb\\n")), 4))
"""


def python(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 (our own arguments)
        [sys.executable, *map(str, words)],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.mark.parametrize("beside", [False, True])
def test_what_was_put_off_is_there_when_it_is_asked_for(beside: bool) -> None:
    python("-c", LATER.format(beside=beside))


def test_a_fit_imports_neither_pandas_nor_scipy_stats(files: Files, tmp_path: Path) -> None:
    done = python("-X", "importtime", "-m", "novikoff", "fit", files.line, "--out", tmp_path)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "sklearn.base" in imported
    assert not imported & {"pandas.core.api", "scipy.stats._stats_py"}


def test_kernels_from_the_cache_load_without_what_only_compiling_needs(
    files: Files, tmp_path: Path
) -> None:
    fit = ("-X", "importtime", "-m", "novikoff", "fit", files.line, "--force", "--out", tmp_path)
    python(*fit)  # now they are in the cache
    done = python(*fit)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "numba.core.caching" in imported
    assert not imported & {"numba.np.arraymath", "numba.cpython.setobj"}


def test_kernels_that_are_not_in_the_cache_are_compiled(files: Files, tmp_path: Path) -> None:
    python("-c", ANEW.format(cache=str(tmp_path)))


def test_a_kernel_whose_file_is_damaged_is_compiled_anew(tmp_path: Path) -> None:
    script = DAMAGED.format(cache=str(tmp_path))
    assert python("-c", script).stdout == "2\n"
    kernels = list(tmp_path.rglob("*.nbc"))
    assert kernels
    for kernel in kernels:
        kernel.write_bytes(kernel.read_bytes()[:100])
    assert python("-c", script).stdout == "2\n"
    assert all(kernel.stat().st_size > 100 for kernel in kernels)


def test_what_is_imported_already_stays() -> None:
    import pandas as pd
    import scipy.stats

    with importing("novikoff.learners.perceptron"):
        assert sys.modules["pandas"] is pd
        assert sys.modules["scipy.stats"] is scipy.stats
    assert not any(type(finder).__name__ == "_Hidden" for finder in sys.meta_path)

"""What a command imports, and that nobody misses what it does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from novikoff.cli.startup import importing
from tests.cli.conftest import Files, environment

# Of each package that is put off, something that it imports itself.
INSIDE = {
    *("pandas.core.api", "scipy.stats._stats_py", "scipy.special._ufuncs", "scipy.linalg._basic"),
    *("scipy.sparse.linalg._isolve", "scipy.sparse.csgraph._laplacian", "narwhals.dataframe"),
    *("numpy.f2py.f2py2e", "numpy.ma.core", "numpy.testing._private", "numpy.ctypeslib._ctypeslib"),
    *("numba.experimental.jitclass", "importlib.metadata._adapters", "asyncio.events"),
    *("joblib.parallel", "rich.progress", "multiprocessing.connection"),
}
DECIDING = {
    *("novikoff.geometry.separability", "novikoff.geometry.certificate", "novikoff.geometry.faces"),
    *("novikoff.geometry.recession", "novikoff.learners.pocket", "novikoff.learners.max_margin"),
}

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

ALL = """
import sys
from novikoff.cli.rare import RARE
from novikoff.cli.startup import importing
with importing("novikoff.report.study", "novikoff.report.model_file", beside={beside}):
    pass
from novikoff.learners.perceptron import Perceptron
from novikoff.learners.threads import effective_threads
import numpy as np
import scipy.sparse as sp
y = np.array(["a", "b"])
for X in (np.eye(2), sp.csr_matrix(np.eye(2))):
    assert Perceptron(n_jobs=2).fit(X, y).predict(X).tolist() == ["a", "b"]
assert effective_threads(None) == 1
assert np.unique(np.array([3, 3, 1])).tolist() == [1, 3]
there = set(RARE) & set(sys.modules)
assert not there, there

import importlib.metadata, io, pickle, asyncio
import threadpoolctl
import joblib, narwhals, narwhals.stable.v2, numpy.f2py, numpy.ma, numpy.testing, pandas
import scipy.linalg, scipy.sparse.csgraph, scipy.sparse.linalg, scipy.special, scipy.stats
from numba.experimental import jitclass
import numba.experimental
import sklearn.callback, sklearn.utils.fixes, sklearn.utils.extmath, sklearn.utils.parallel
from sklearn.callback import ProgressBar, ScoringMonitor
for name in RARE:  # themselves, wherever they are looked for
    module = sys.modules[name] if name in sys.modules else importlib.import_module(name)
    assert type(module).__name__ != "_Later", name
    parent, _, child = name.rpartition(".")
    assert not parent or getattr(sys.modules[parent], child) is module, name
masked = np.ma.array([1, 2, 2], mask=[True, False, False])
assert isinstance(masked, np.ma.MaskedArray) and np.ma.is_masked(masked)
assert np.unique(masked).tolist() == [2, None]
numpy.testing.assert_array_equal(masked.filled(0), [0, 2, 2])
assert numpy.f2py.get_include() and importlib.metadata.version("numpy") == np.__version__
assert joblib.Parallel(2, prefer="threads")(joblib.delayed(abs)(-i) for i in range(3)) == [0, 1, 2]
assert effective_threads(3) == 3 and effective_threads(None) == 1
with joblib.parallel_config(n_jobs=2, backend="threading"):
    assert effective_threads(None) == 2
assert effective_threads(-1) == joblib.effective_n_jobs(-1)
assert numba.experimental.jitclass is jitclass

from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
X = np.random.default_rng(0).normal(size=(40, 3))
ridge = Ridge(solver="sparse_cg").fit(sp.csr_matrix(X), X[:, 0])  # by scipy.sparse.linalg.cg
assert ridge.coef_[0] > 0.5
assert sklearn.utils.fixes.laplacian(np.ones((2, 2))).tolist() == [[1, -1], [-1, 1]]
assert sklearn.utils.fixes._sparse_linalg_cg(np.eye(2), np.ones(2))[0].tolist() == [1, 1]
assert sklearn.utils.extmath.randomized_svd(X, 1, random_state=0)[1][0] > 0
assert len(threadpoolctl.threadpool_info()) > 0
assert len(sklearn.utils.fixes._get_threadpool_controller().info()) > 0
y = np.where(X[:, 0] > 0, "a", "b")
assert cross_val_score(make_pipeline(StandardScaler(), Perceptron()), X, y, n_jobs=1).min() > 0.5
bar = ProgressBar()
assert isinstance(bar, ProgressBar) and not isinstance(3, ProgressBar)
assert isinstance(bar, sklearn.callback._progressbar.ProgressBar)
model = Perceptron()
model.set_callbacks(bar)
model.fit(X, y)
assert pickle.loads(pickle.dumps(Perceptron().fit(X, y))).predict(X).tolist() == (
    Perceptron().fit(X, y).predict(X).tolist()
)
names = Perceptron().fit(pandas.DataFrame(X, columns=["u", "v", "w"]), pandas.Series(y))
assert names.feature_names_in_.tolist() == ["u", "v", "w"]
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


@pytest.mark.parametrize("beside", [False, True])
def test_all_that_is_put_off_is_as_ever(beside: bool) -> None:
    python("-c", ALL.format(beside=beside))


def imported_by(*command: str | Path) -> set[str]:
    """The modules that a command imports; it is run twice, so that kernels are in the cache."""
    for _ in range(2):
        done = python("-X", "importtime", "-m", "novikoff", *command)
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}


def test_commands_import_nothing_of_what_is_put_off(files: Files, tmp_path: Path) -> None:
    save = ("--save", tmp_path / "m.novikoff")
    for command in (
        ("fit", files.line, "--force", "--out", tmp_path),
        ("fit", files.line, "--force", "--out", tmp_path, "--no-verdict"),
        ("stream", files.line, "--force", *save),
        ("predict", tmp_path / "m.novikoff", files.line),
    ):
        imported = imported_by(*command)
        assert "sklearn.base" in imported
        assert sorted(imported & INSIDE) == [], command


def test_without_a_verdict_nothing_is_imported_that_decides(files: Files, tmp_path: Path) -> None:
    fit = ("fit", files.line, "--force", "--out", tmp_path)
    assert imported_by(*fit) >= DECIDING
    assert not imported_by(*fit, "--no-verdict") & DECIDING
    stream = ("stream", files.line, "--force", "--save", tmp_path / "m.novikoff")
    assert not imported_by(*stream) & DECIDING


def test_a_stream_that_is_not_saved_needs_no_estimator(files: Files) -> None:
    imported = imported_by("stream", files.line)
    assert "novikoff.learners.progressive" in imported
    assert "sklearn" not in imported


def test_kernels_from_the_cache_load_without_what_only_compiling_needs(
    files: Files, tmp_path: Path
) -> None:
    imported = imported_by("fit", files.line, "--force", "--out", tmp_path)
    assert "numba.core.caching" in imported
    assert not imported & {"numba.np.arraymath", "numba.cpython.setobj"}


def test_kernels_that_are_not_in_the_cache_are_compiled(files: Files, tmp_path: Path) -> None:
    python("-c", ANEW.format(cache=str(tmp_path)))


@pytest.mark.parametrize("ending", ["nbc", "nbi"])
def test_a_kernel_whose_file_is_damaged_is_compiled_anew(ending: str, tmp_path: Path) -> None:
    script = DAMAGED.format(cache=str(tmp_path))
    assert python("-c", script).stdout == "2\n"
    kernels = list(tmp_path.rglob(f"*.{ending}"))
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

"""What is measured of the command line: whole processes, from the file to the report."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
from scipy.optimize import linprog

from benchmarks.data import dense
from benchmarks.fresh import installed
from benchmarks.measure import compare_answers, timed
from benchmarks.peers import Vector
from benchmarks.pocket_data import real_file
from benchmarks.quality import judged
from benchmarks.scale import Scale
from benchmarks.table import Row, figure
from novikoff.data import read
from novikoff.demo import write_data
from novikoff.geometry.certificate import verify
from novikoff.report import model_file, proof_file
from novikoff.report.study import Study, study
from novikoff.report.summary import Source, summarize
from novikoff.report.text import lines

_ROOT = Path(__file__).parent.parent
_THEIR_JOB = """
import sys, pandas
from sklearn.linear_model import Perceptron
frame = pandas.read_csv(sys.argv[1])
y = frame.pop("label")
Perceptron(max_iter=1, tol=None, shuffle=False).fit(frame.to_numpy(), y)
"""


def job_small(scale: Scale, repeats: int) -> list[Row]:
    """``novikoff fit`` on a small file, against importing scikit-learn."""
    with _folder() as folder:
        data = real_file("sonar.csv")
        if data is None:
            data = folder / "breast_cancer.csv"
            write_data(data)
        ours = partial(_novikoff, "fit", str(data), "--out", str(folder), "--force")
        theirs = partial(_python, "-c", "import sklearn.linear_model")
        return [_times("novikoff fit sonar.csv, in imports of sklearn", ours, theirs, 2.0, repeats)]


def job_csv(scale: Scale, repeats: int) -> list[Row]:
    """A large CSV to a model in one pass, against pandas and scikit-learn."""
    n, d = scale.csv
    with _folder() as folder:
        data, script = folder / "large.csv", folder / "theirs.py"
        _write_csv(data, n, d)
        script.write_text(_THEIR_JOB)
        options = ("--no-verdict", "--epochs", "1", "--order", "cyclic", "--label", "label")
        ours = partial(_novikoff, "fit", str(data), *options, "--out", str(folder), "--force")
        found = compare_answers(ours, partial(_python, str(script), str(data)), repeats, np.inf)
        low, ratio, high = found.times.quartiles()
        return [
            Row(
                f"CSV of {data.stat().st_size / 1e9:.2g} GB, {n} × {d}, to a model, one pass",
                "pandas + scikit-learn",
                statistics.median(found.times.ours),
                statistics.median(found.times.peer),
                low,
                ratio,
                high,
                5.0,
            )
        ]


def job_report(scale: Scale, repeats: int) -> list[Row]:
    """The full report on a file, in time of two linear programs on its data, already loaded."""
    path = real_file("spam.csv.gz") if scale.patience > 10.0 else None
    with _folder() as folder:
        if path is None:
            path = folder / "breast_cancer.csv"
            write_data(path)
        dataset = read(path)
        signs = np.where(dataset.labels == np.unique(dataset.labels)[-1], 1.0, -1.0)
        rows = np.asarray(dataset.X, dtype=np.float64)
        A = np.column_stack([rows, np.ones(len(rows))]) * signs[:, None]
        ours, theirs = partial(_report, path), partial(_two_programs, A)
        found = ours()
        for proof in found.proofs:
            verify(proof, dataset.X, dataset.labels)
        row = _times(f"fit {path.name}, full report, in two LPs", ours, theirs, 2.0, repeats)
        return [row]


def _times(
    name: str, ours: Callable[[], object], theirs: Callable[[], object], most: float, repeats: int
) -> Row:
    """How many times as long as theirs ours takes, turn by turn."""
    ours(), theirs()  # caches
    quotients = [timed(ours)[0] / timed(theirs)[0] for _ in range(repeats)]
    return figure(name, quotients, most, judged(True, "certificates verified"))


def _report(path: Path) -> Study:
    """What ``novikoff fit`` does once it is loaded."""
    dataset = read(path)
    found = study(dataset.X, dataset.labels)
    recipe = dataset.recipe.to_json()
    model_file.dump(found.model, preprocessing=recipe)
    proof_file.dump(found.proofs, {}, recipe)
    source = Source(dataset.source, dataset.names, dataset.label, dataset.rows)
    list(lines(summarize(found, source)))
    return found


def _two_programs(A: Vector) -> tuple[float, float]:
    """Konis' program, max Σ⟨a_i, w⟩ with ⟨a_i, w⟩ ≥ 0 and |w| ≤ 1, and that of the margin."""
    n, p = A.shape
    konis = linprog(-A.sum(axis=0), A_ub=-A, b_ub=np.zeros(n), bounds=[(-1, 1)] * p)
    wide = np.column_stack([-A, np.ones(n)])
    margin = linprog(
        np.append(np.zeros(p), -1.0),
        A_ub=wide,
        b_ub=np.zeros(n),
        bounds=[(-1, 1)] * p + [(None, None)],
    )
    return float(konis.fun or 0.0), float(margin.fun or 0.0)


def _write_csv(path: Path, n: int, d: int) -> None:
    """Decimals of some ten characters."""
    pa, csv = import_module("pyarrow"), import_module("pyarrow.csv")
    split = dense(n, d)
    columns = {f"x{j}": pa.array(np.round(split.X[:, j], 7)) for j in range(d)}
    csv.write_csv(pa.table({**columns, "label": pa.array(split.y)}), path)


def _novikoff(*arguments: str) -> None:
    _python("-m", "novikoff", *arguments)


def _python(*arguments: str) -> None:
    subprocess.run(  # noqa: S603 (our own arguments)
        [sys.executable, *arguments],
        cwd=_ROOT,
        env=installed(),
        check=True,
        stdout=subprocess.DEVNULL,
    )


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


JOB_CASES = {"job-small": job_small, "job-csv": job_csv, "job-report": job_report}

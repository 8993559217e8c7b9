"""The rows of the table about systems of inequalities: points, conflicts, published files."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog
from tests.real_data import DATA, MORE

import novikoff as nv
from benchmarks import peers
from benchmarks.measure import Row, compare, timed
from novikoff.core.stops import Limits
from novikoff.systems.files.reading import read_system
from novikoff.systems.solve import solve_system
from novikoff.systems.system import system_of

KINDS = {0: "feasible", 2: "infeasible"}
_ALL_IIS_STRATEGIES = 6  # from the rays, then by deletion


def tall_systems(shape: tuple[int, int], turns: int, patience: float) -> list[Row]:
    """A dense system with an interior, and one that a few of its rows contradict."""
    n, p = shape
    rows = []
    name = f"inequalities {n:,} × {p}"
    A, c = _with_interior(n, p)
    B, b = _contradicted(A, c)
    for title, left, right, aim in (
        (f"{name}, feasible: a point", A, c, 20.0),
        (f"{name}, infeasible: a conflict, proved irreducible", B, b, 10.0),
    ):
        theirs = partial(_linprog, left, right, patience)
        times, mine, kind = compare(partial(nv.solve, left, right), theirs, turns, patience)
        assert mine.certificate is not None
        nv.verify(mine.certificate, left, right)  # or an error
        agree = kind in (mine.kind, "out of time")
        note = f"{mine.kind}, verified; HiGHS: {kind}"
        rows.append(times.row(title, "HiGHS, kind only", aim, (agree, note)))
    times, mine, size = compare(
        partial(nv.solve, B, b), partial(_iis, _pass_rows, B, b, patience), 1
    )
    note = f"{len(mine.conflict)} rows, irreducible; HiGHS: {size} rows"
    title = f"{name}, infeasible: a conflict, proved irreducible"
    rows.append(times.row(title, "HiGHS getIis", 50.0, (True, note)))
    return rows


def system_files(most: int, turns: int) -> list[Row]:
    """Every published system, with proof; HiGHS gives kind and conflict without."""
    folder = next(place / "lp" for place in (MORE, DATA) if (place / "lp").is_dir())
    with (folder / "index.csv").open(newline="") as file:
        published = list(csv.DictReader(file))[:most]
    models = [read_system(str(folder / row["file"])).model for row in published]
    with tempfile.TemporaryDirectory() as name:
        plain = [_unpacked(folder / row["file"], Path(name)) for row in published]
        times, mine, _ = compare(
            lambda: [solve_system(system_of(model), Limits()) for model in models],
            lambda: [_iis(_pass_file, path, None, np.inf) for path in plain],
            turns,
        )
    for answer, model, row in zip(mine, models, published, strict=True):
        assert answer.kind == row["published_kind"]
        assert answer.certificate is not None
        answer.certificate.check(model)
    title = f"{len(models)} published systems, with proof"
    return [times.row(title, "HiGHS kind + getIis", 1.0, (True, "all as published, verified"))]


def first_solve() -> list[Row]:
    """``novikoff solve`` with empty caches, whole processes, in units of ``import numba``."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "wishes.csv"
        path.write_text("tea,bread,relation,right\n2,3,<=,10\n1,0,>=,2\n0,1,>=,3\n")
        units = [timed(partial(peers.python, "-c", "import numba"))[0] for _ in range(3)]
        command = ("-m", "novikoff", "solve", path)
        first, _ = timed(partial(peers.python, *command, NUMBA_CACHE_DIR=f"{name}/cache"))
    ratios = [first / unit for unit in units]
    case = "first `novikoff solve`, empty caches, as a multiple of `import numba`"
    return [
        Row(
            case,
            "",
            ratios,
            8.0,
            ours=first,
            note=f"{first:.2f} s, import {np.median(units):.2f} s",
        )
    ]


def _with_interior(n: int, p: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((n, p))
    return A, A @ rng.standard_normal(p) + rng.uniform(0.01, 1.0, n)


def _contradicted(A: Any, c: Any, k: int = 10) -> tuple[Any, Any]:
    """The same system with k rows that contradict each other among the others."""
    rng = np.random.default_rng(1)
    n, p = A.shape
    few = np.round(64.0 * rng.standard_normal((k - 1, p))) / 64.0
    weights = rng.integers(1, 8, k - 1).astype(np.float64)
    rows = rng.choice(n, k, replace=False)
    A, c = A.copy(), c.copy()
    A[rows] = np.vstack([few, -(weights @ few)])
    c[rows] = np.append(np.zeros(k - 1), -1.0)
    return A, c


def _linprog(A: Any, c: Any, seconds: float) -> str:
    found = linprog(
        np.zeros(A.shape[1]),
        A_ub=A,
        b_ub=c,
        bounds=(None, None),
        method="highs",
        options={"time_limit": seconds},
    )
    return KINDS.get(found.status, "out of time")


def _iis(fill: Callable[..., None], A: Any, c: Any, seconds: float) -> int:
    """The rows and bounds that HiGHS names, 0 if it finds the system feasible."""
    import highspy

    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("time_limit", seconds)
    solver.setOptionValue("iis_time_limit", seconds)
    fill(solver, A, c)
    p = solver.getNumCol()
    solver.changeColsCost(p, np.arange(p, dtype=np.int32), np.zeros(p))
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kInfeasible:
        return 0
    solver.setOptionValue("iis_strategy", _ALL_IIS_STRATEGIES)
    _, found = solver.getIis()
    return len(found.row_index_) + len(found.col_index_)


def _pass_rows(solver: Any, A: Any, c: Any) -> None:
    n, p = A.shape
    solver.addVars(p, np.full(p, -np.inf), np.full(p, np.inf))
    starts = np.arange(0, n * p, p, dtype=np.int32)
    columns = np.tile(np.arange(p, dtype=np.int32), n)
    solver.addRows(n, np.full(n, -np.inf), c, n * p, starts, columns, A.ravel())


def _pass_file(solver: Any, path: Path, _: None) -> None:
    solver.readModel(str(path))


def _unpacked(path: Path, folder: Path) -> Path:
    import bz2
    import gzip

    opened = gzip.open if path.suffix == ".gz" else bz2.open
    plain = folder / path.stem
    with opened(path) as file:
        plain.write_bytes(file.read())
    return plain

"""The rows of the table about systems of inequalities: points, conflicts, published files."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
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


def sparse_systems(n: int, turns: int) -> list[Row]:
    """Sparse models of about n rows, feasible and with a planted conflict."""
    rows = []
    for make in (_transport, _multiperiod, _blending):
        for planted in (False, True):
            given = make(n, planted)
            times, mine, size = compare(
                partial(nv.solve, **given), partial(_iis, _pass_system, given, None, np.inf), turns
            )
            kind = "infeasible" if planted else "feasible"
            assert mine.kind == kind
            assert mine.certificate is not None
            mine.certificate.verify(**given)  # or an error
            note = f"verified; {len(mine.conflict)} rows and bounds; HiGHS: {size}"
            m = len(given["c"]) + len(given.get("c_eq", ()))
            title = f"{make.__name__[1:]} {m:,} × {given['A'].shape[1]:,}, {kind}"
            peer = "HiGHS kind + getIis" if planted else "HiGHS, kind only"
            aim = 1.0 if planted else 1 / 3
            rows.append(times.row(title, peer, aim, (bool(size) == planted, note)))
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


def _transport(n: int, planted: bool) -> dict[str, Any]:
    """Demands and capacities, with three arcs into each sink."""
    rng = np.random.default_rng(0)
    sinks, sources = 2 * n // 3, n - 2 * n // 3
    arcs = np.arange(3 * sinks)
    into, out_of = arcs // 3, rng.integers(0, sources, len(arcs))
    demand = rng.integers(1, 20, sinks).astype(float)
    used = np.bincount(out_of, np.repeat(demand / 3 + 0.01, 3), minlength=sources)
    capacity = np.round(used * rng.uniform(1.0, 1.5, sources) + 1.0, 2)
    if planted:
        few = rng.choice(sinks, 3, replace=False)
        serving = np.unique(out_of[np.isin(into, few)])
        capacity[serving] = 0.9 * demand[few].sum() / len(serving)
    ones = np.ones(len(arcs))
    arriving = sp.csr_array((-ones, (into, arcs)), shape=(sinks, len(arcs)))
    leaving = sp.csr_array((ones, (out_of, arcs)), shape=(sources, len(arcs)))
    A = sp.vstack([arriving, leaving], format="csr")
    return {"A": A, "c": np.append(-demand, capacity), "lower": 0.0}


def _multiperiod(n: int, planted: bool) -> dict[str, Any]:
    """Stocks of five items over many periods, with a common capacity in each period."""
    rng = np.random.default_rng(0)
    periods, items = n // 6, 5
    count = periods * items
    demand = rng.integers(5, 20, (periods, items)).astype(float)
    stock: Any = sp.eye_array(count) - sp.eye_array(count, k=-items)
    balance = sp.hstack([stock, -sp.eye_array(count)], format="csr")
    made = sp.kron(sp.eye_array(periods), np.ones((1, items)))
    A = sp.hstack([sp.csr_array((periods, count)), made], format="csr")
    capacity = np.maximum(1.3 * demand.sum(axis=1).mean(), demand.sum(axis=1) + 1.0).round(1)
    if planted:
        weeks = slice(periods // 2 - 20, periods // 2)
        capacity[weeks] = (0.5 * demand[weeks].sum(axis=1)).round(1)
    upper = np.repeat([30.0, np.inf], count)
    return {"A": A, "c": capacity, "A_eq": sp.csr_array(balance), "c_eq": -demand.ravel(),
            "lower": 0.0, "upper": upper}  # fmt: skip


def _blending(n: int, planted: bool) -> dict[str, Any]:
    """Products with demand, a least quality and a most of sulphur, from six ingredients each."""
    rng = np.random.default_rng(0)
    products, count = n // 5, 6
    n_ingredients = max(20, products // 4)
    made_of = np.array([rng.choice(n_ingredients, count, replace=False) for _ in range(products)])
    quality = rng.uniform(80, 100, n_ingredients).round(1)[made_of]
    sulphur = rng.uniform(0.1, 3, n_ingredients).round(2)[made_of]
    least, most = quality.mean(axis=1).round(1) - 1.0, sulphur.mean(axis=1).round(2) + 0.2
    if planted:
        k = products // 2
        best = linprog(-quality[k], [sulphur[k] - most[k]], [0.0], [np.ones(count)], [1.0])
        least[k] = float(quality[k] @ best.x) + 0.25
    demand = rng.integers(10, 100, products).astype(float)
    each = np.arange(products * count), np.repeat(np.arange(products), count)
    rows = [
        sp.csr_array((values.ravel(), each[::-1]))
        for values in (least[:, None] - quality, sulphur - most[:, None], -np.ones_like(quality))
    ]
    use = sp.csr_array((np.ones(products * count), (made_of.ravel(), each[0])))
    supply = (use @ np.repeat(demand / count, count) * 1.05 + 1.0).round(1)
    c = np.concatenate([np.zeros(2 * products), -demand, supply])
    return {"A": sp.vstack([*rows, use], format="csr"), "c": c, "lower": 0.0}


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


def _pass_system(solver: Any, given: dict[str, Any], _: None) -> None:
    import highspy

    A, c, p = given["A"], given["c"], given["A"].shape[1]
    low = np.full(len(c), -np.inf)
    if "A_eq" in given:
        A = sp.vstack([A, given["A_eq"]], format="csr")
        low, c = np.append(low, given["c_eq"]), np.append(c, given["c_eq"])
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = p, len(c)
    model.col_cost_ = np.zeros(p)
    model.col_lower_ = np.zeros(p)
    model.col_upper_ = np.broadcast_to(given.get("upper", np.inf), p).copy()
    model.row_lower_, model.row_upper_ = low, c
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_ = A.indptr, A.indices
    model.a_matrix_.value_ = A.data
    solver.passModel(model)


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

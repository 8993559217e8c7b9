"""`nv.detect_separation` beside linear programs, on models of statistics.

The peer HiGHS gets the inequalities of the model, built outside of the clock, and says only which
kind of separation there is. Ours reads the data as a user has it, builds the inequalities and
decides every coefficient exactly. The certificate of the kind is computed and verified outside of
the clock.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

import novikoff as nv
from benchmarks.data import SEED, whole_sets
from benchmarks.measure import Row, compare
from novikoff.core.rows import side_by_side

# A maximum of HiGHS up to this number may come from its tolerances; on this data separation gives
# much larger ones.
NEGLIGIBLE = 1e-3


class Question(NamedTuple):
    """A model, and its inequalities A d ≥ 0 and E d = 0 for the peer."""

    name: str
    arguments: dict[str, Any]
    A: Any
    E: Any = None


def separation_rows(
    factor: tuple[int, int],
    classes: tuple[int, int, int],
    survival: tuple[int, int],
    countries: int,
    published: tuple[str, ...],
    turns: int,
    patience: float,
) -> list[Row]:
    """All questions, and the binary one also beside firthmodels, where that is installed.

    The data sets ``published`` are asked as multinomial models of all their classes.
    """
    binary = one_factor(*factor)
    questions = [
        binary,
        several_classes(*classes),
        several_classes(*classes, apart=4.0),
        *(joint(f"separation, multinomial {name}", X, y) for name, X, y in whole_sets(published)),
        lifetimes(*survival),
        trade(countries),
    ]
    rows = []
    for question in questions:
        their = partial(highs_kind, question.A, question.E)
        times, mine, theirs = compare(partial(decided, question), their, turns, patience)
        assert theirs == mine.kind, (theirs, mine.kind)
        assert mine.certificate is not None
        nv.verify(mine.certificate, *mine.certified_rows())  # or an error
        rows.append(
            times.row(question.name, "HiGHS, kind only", 1.0, (True, f"{theirs}, verified"))
        )
    try:
        from firthmodels import detect_separation
    except ImportError:
        return rows
    X, y = binary.arguments["X"].toarray(), binary.arguments["y"]
    ask: Any = partial(detect_separation, X, y)
    times, mine, result = compare(partial(decided, binary), ask, turns, patience)
    signs = {"+inf": 1, "-inf": -1, "finite": 0}
    names = [*range(X.shape[1]), "(intercept)"]
    fates = [signs[mine.coefficients[name]] for name in names]
    note = f"{sum(map(bool, fates))} infinite coefficients"
    same = fates == result.directions.tolist()
    return [*rows, times.row(binary.name, "firthmodels", 1.0, (same, note))]


def decided(question: Question) -> nv.Separation:
    """Our answer, with every coefficient."""
    separation = nv.detect_separation(**question.arguments)
    assert "undecided" not in (separation.kind, *separation.coefficients.values())
    return separation


def highs_kind(A: Any, E: Any) -> str:
    """The kind of separation by at most two linear programs.

    The first maximises Σ ⟨a_i, d⟩ over the directions of the box [−1, 1]ᵖ (Konis 2007): a positive
    maximum is separation. The second asks for a d with all ⟨a_i, d⟩ ≥ 1: complete separation.
    """
    n, p = A.shape
    equal = {} if E is None else {"A_eq": E, "b_eq": np.zeros(E.shape[0])}
    rise = -np.asarray(A.sum(axis=0)).ravel()
    ray = linprog(rise, A_ub=-A, b_ub=np.zeros(n), bounds=(-1.0, 1.0), **equal)
    if ray.status != 0:
        raise RuntimeError(ray.message)
    if -ray.fun <= NEGLIGIBLE:
        return "overlap"
    if E is not None:
        return "quasi-complete separation"
    every = linprog(np.zeros(p), A_ub=-A, b_ub=np.full(n, -1.0), bounds=(None, None))
    return {0: "complete separation", 2: "quasi-complete separation"}[every.status]


def one_factor(n: int, p: int) -> Question:
    """A binary outcome that is rare: some of the p levels of a factor have no event.

    The columns are p − 1 indicators of levels, and one number.
    """
    rng = np.random.default_rng(SEED)
    level, number = rng.integers(p, size=n), rng.standard_normal(n)
    y = (rng.random(n) < 0.05 * np.exp(0.5 * number)).astype(np.int64)
    X = side_by_side(_indicators(level, p)[:, 1:], number[:, None])
    signs = np.where(y == 1, 1.0, -1.0)
    A = sp.csr_array(sp.diags_array(signs) @ side_by_side(X, np.ones((n, 1))))
    return Question(f"separation, binary {n:,} × {p}, a factor", {"X": X, "y": y}, A)


def several_classes(n: int, p: int, k: int, apart: float = 0.0) -> Question:
    """Overlapping classes about k centres; or the first half of the centres far apart."""
    rng = np.random.default_rng(SEED)
    y = np.arange(n) % k
    centres = rng.standard_normal((k, p))
    centres *= 0.4 if apart == 0.0 else np.where(np.arange(k) < k // 2, apart, 1.0)[:, None]
    X = np.round(centres[y] + rng.standard_normal((n, p)), 3)
    what = "" if apart == 0.0 else ", half of them apart"
    return joint(f"separation, multinomial {n:,} × {p}, {k} classes{what}", X, y)


def joint(name: str, X: Any, y: Any) -> Question:
    """A multinomial logit of all classes: x ⊗ (e_c − e_j) for the class c and all others."""
    classes, codes = np.unique(y, return_inverse=True)
    n, k = X.shape[0], len(classes)
    contrasts = np.eye(k)[codes][:, None, :] - np.eye(k)[None, :, :]
    contrasts = contrasts[np.arange(k)[None, :] != codes[:, None]][:, 1:]  # class 0 has β = 0
    rows = np.repeat(np.hstack([X, np.ones((n, 1))]), k - 1, axis=0)
    A = sp.csr_array((contrasts[:, :, None] * rows[:, None, :]).reshape(n * (k - 1), -1))
    return Question(name, {"X": X, "y": y, "family": "multinomial"}, A)


def lifetimes(n: int, p: int) -> Question:
    """A Cox model: each row is compared with the last event before it, which are < n rows."""
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, p))
    duration = rng.exponential(size=n) * np.exp(-0.3 * X.sum(axis=1))
    event = rng.random(n) < 0.7
    order = np.argsort(duration)
    last = np.maximum.accumulate(np.where(event[order], np.arange(n), -1))
    later = np.flatnonzero(last[:-1] >= 0) + 1
    A = X[order[last[later - 1]]] - X[order[later]]
    arguments = {"X": X, "duration": duration, "event": event, "family": "cox"}
    return Question(f"separation, Cox {n:,} × {p}", arguments, A)


def trade(countries: int) -> Question:
    """Flows between countries, many of them 0: effects of exporters and importers, a regressor."""
    rng = np.random.default_rng(SEED)
    exporter, importer = np.nonzero(~np.eye(countries, dtype=np.bool_))
    distance = rng.standard_normal(len(exporter))
    size = rng.normal(-2.5, 2.0, (2, countries))
    y = rng.poisson(np.exp(size[0][exporter] + size[1][importer] - 0.5 * distance))
    effects = [_indicators(one, countries) for one in (exporter, importer)]
    X = side_by_side(*effects, distance[:, None])
    n, p = X.shape
    arguments = {"X": X, "y": y, "family": "poisson", "fit_intercept": False}
    name = f"separation, Poisson {n:,} × {p}, two-way effects"
    return Question(name, arguments, -X[y == 0], X[y > 0])


def _indicators(level: Any, k: int) -> Any:
    return sp.csr_array((np.ones(len(level)), level, np.arange(len(level) + 1)), (len(level), k))

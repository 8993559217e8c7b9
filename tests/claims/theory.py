"""Claims of `nv.bounds` and `nv.theory`: formulas without rounding, and runs that keep them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, repeat
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

import novikoff as nv
from novikoff.core.stops import Limits
from novikoff.systems.methods import METHODS
from tests.claims.oracles import (
    at_most,
    is_root,
    largest_square,
    perceptron,
    products,
    reduced,
    root,
)
from tests.claims.problems import (
    EXTREME,
    TAME,
    Generator,
    Labelled,
    Shown,
    Vector,
    exactly,
    labelled,
    table,
    tame,
)
from tests.claims.register import claim
from tests.claims.verdicts import assert_bound
from tests.separability_oracle import Point, contradiction, decide, inner, squared_distance
from tests.theorems.system_cases import separable, with_ball

# π to eighty digits.
PI: Decimal = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862"
)
NEARLY = 1.0 + 1e-9  # the tolerance if a docstring says that numbers are rounded


# Formulas: a bound is not below the formula of the theorem.


@dataclass(frozen=True, repr=False)
class Numbers(Shown):
    """The arguments of a function."""

    given: dict[str, Any]


def exact(value: float) -> Decimal:
    return Decimal(value)


def positive(rng: Generator) -> float:
    """A positive number: whole, tenths, any float, or of extreme size."""
    return float(
        rng.choice([
            float(rng.integers(1, 50)), float(rng.integers(1, 100)) / 10, rng.uniform(0.01, 30.0),
            10.0 ** rng.uniform(-100, 100),
        ])
    )  # fmt: skip


def radius_and_margin(rng: Generator) -> dict[str, Any]:
    radius = positive(rng)
    return {"radius": radius, "margin": radius * float(rng.choice([1.0, 0.1, rng.uniform()]))}


def general(rng: Generator) -> dict[str, Any]:
    """w*, and an s that rows of length R can have with it."""
    w = rng.integers(-3, 4, 3).astype(float) * float(rng.choice([1.0, 0.1, 1e80]))
    w[0] = w[0] or 1.0
    radius, share = positive(rng), float(rng.choice([0.1, rng.uniform(0.01, 1.0)]))
    given: dict[str, Any] = {"radius": radius, "w_star": w.tolist()}
    given["s"] = radius * share * float(np.abs(w).max())
    if rng.random() < 0.5:
        given |= {"w0": rng.normal(size=3).tolist(), "threshold": float(rng.integers(0, 5)) / 10}
    return given


def length(values: list[float]) -> Decimal:
    return sum((exact(value) ** 2 for value in values), Decimal(0)).sqrt()


def general_bound(
    radius: float, s: float, w_star: Any, w0: Any = (), threshold: float = 0.0
) -> Decimal:
    w, start = length(w_star), length(list(w0))
    first = (2 * exact(threshold) + exact(radius) ** 2) * w**2 + 2 * exact(s) * w * start
    return first / exact(s) ** 2


def p_norm_bound(p: float, radius: float, norm: float, margin: float, hinge: float) -> Decimal:
    half = exact(radius) * exact(norm) * (exact(p) - 1).sqrt() / (2 * exact(margin))
    return (half + (half**2 + exact(hinge) / exact(margin)).sqrt()) ** 2


def numbers(*names: str) -> Callable[[Generator], dict[str, Any]]:
    return lambda rng: {name: positive(rng) for name in names}


def unit(rng: Generator) -> float:
    return float(rng.choice([0.5, 0.1, rng.uniform(1e-6, 1.0)]))


# For each function, random arguments, and its formula in eighty digits.
FORMULAS: dict[str, tuple[Callable[[Generator], dict[str, Any]], Callable[..., Decimal]]] = {
    "bounds.mistake_bound": (
        radius_and_margin, lambda radius, margin: (exact(radius) / exact(margin)) ** 2,
    ),
    "bounds.unit_ball_bound": (
        lambda rng: {"margin": unit(rng)}, lambda margin: 1 / exact(margin) ** 2,
    ),
    "bounds.general_bound": (general, general_bound),
    "bounds.passive_aggressive_bound": (
        numbers("radius", "norm", "hinge", "C"),
        lambda radius, norm, hinge, C: max(exact(radius) ** 2, 1 / exact(C))
        * (exact(norm) ** 2 + 2 * exact(C) * exact(hinge)),
    ),
    "bounds.p_norm_bound": (
        lambda rng: {"p": 2.0 + float(rng.integers(0, 30)) / 10}
        | numbers("radius", "norm", "margin", "hinge")(rng),
        p_norm_bound,
    ),
    "bounds.second_order_bound": (
        numbers("margin", "hinge", "quadratic", "growth"),
        lambda margin, hinge, quadratic, growth:
        (exact(hinge) + (exact(quadratic) * exact(growth)).sqrt()) / exact(margin),
    ),
    "bounds.forgetron_bound": (
        lambda rng: {"norm": float(rng.uniform(0, 1.5)), "hinge": positive(rng),
                     "budget": int(rng.integers(50, 200))},
        lambda norm, hinge, budget: 2 * exact(norm) ** 2 + 4 * exact(hinge),
    ),
    "theory.agmon_rate": (
        lambda rng: {"eta": 2 * unit(rng), "condition": unit(rng)},
        lambda eta, condition: 1 - exact(eta) * (2 - exact(eta)) * exact(condition) ** 2,
    ),
    "theory.shifted_bound": (
        lambda rng: {"distance": positive(rng), "radius": 1.0 + unit(rng), "shift": 2 * unit(rng)},
        lambda distance, radius, shift:
        exact(distance) ** 2 / (exact(shift) * (2 * exact(radius) - exact(shift))),
    ),
    "theory.smooth_bound": (
        lambda rng: {"margin": unit(rng), "n": int(rng.integers(2, 500))},
        lambda margin, n: 2 * (2 * exact(n).ln()).sqrt() / exact(margin),
    ),
    "theory.smooth_euclidean_bound": (
        lambda rng: {"margin": unit(rng), "norm": positive(rng)},
        lambda margin, norm: 2 * exact(norm) / exact(margin),
    ),
    "theory.rescaling_bound": (
        lambda rng: {"margin": unit(rng), "p": int(rng.integers(1, 30))},
        lambda margin, p: (
            (p - 1) * (1 / exact(margin)).ln() + exact(p).ln() + PI.ln() / 2
        ) / Decimal("1.5").ln(),
    ),
    "theory.doubling_bound": (
        lambda rng: {"x": [*rng.uniform(0.01, 1.0, 3).tolist(), 1.0]},
        lambda x: -sum((exact(value).ln() for value in x), Decimal(0)) / Decimal(2).ln(),
    ),
}  # fmt: skip


def _register_formula(name: str) -> None:
    draw, formula = FORMULAS[name]

    def is_not_below_its_formula(problem: Numbers) -> None:
        function: Any = nv
        for part in name.split("."):
            function = getattr(function, part)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            found = function(**problem.given)
        with localcontext(prec=80):
            assert found == math.inf or exact(found) >= formula(**problem.given) * DOWN

    own = name.partition(".")[2]
    is_not_below_its_formula.__name__ = f"{own}_by_its_formula"
    is_not_below_its_formula.__doc__ = f"nv.{name} is not below its formula without rounding."
    claim(lambda rng: Numbers(draw(rng)), covers=[name])(is_not_below_its_formula)


DOWN = Decimal("0." + "9" * 70)  # for the error of eighty digits
for _name in FORMULAS:
    _register_formula(_name)


@claim(
    lambda rng: Numbers({"margin": unit(rng), "norm": positive(rng), "factor": 1.0 + unit(rng)}),
    covers=["theory.primal_dual_bound"],
)
def primal_dual_bound(problem: Numbers) -> None:
    """Neither the steps nor the runs are below their formulas without rounding."""
    steps, runs = nv.theory.primal_dual_bound(**problem.given)
    margin, norm, factor = (exact(problem.given[name]) for name in ("margin", "norm", "factor"))
    with localcontext(prec=80):
        assert exact(steps) >= Decimal(8).sqrt() * norm / margin * DOWN
        assert exact(runs) >= (1 - margin.ln() / factor.ln()) * DOWN


# Runs: no learner does worse than its bound.


@claim(tame(), covers=["bounds.general_bound", "bounds.mistake_bound"])
def updates_from_anywhere(problem: Labelled) -> None:
    """From any start and with any δ and μ, the updates are at most the general bound."""
    rows, rng = problem.rows(), np.random.default_rng(problem.seed)
    if contradiction(rows) is not None:
        return
    w_star = exactly(np.append(*_rule(problem))[: len(rows[0])])
    s = min(products(rows, w_star))
    if s <= 0:
        return
    down, up = float(root(s**2)[0]) * (1 - 1e-15), _up(largest_square(rows))
    start = exactly(rng.integers(-2, 3, len(rows[0])))
    delta, step = Fraction(int(rng.integers(0, 3)), 4), Fraction(1, int(rng.choice([1, 2, 4])))
    bound = nv.bounds.general_bound(
        up, down, [float(value) for value in w_star], [float(value / step) for value in start],
        float(delta / step),
    )  # fmt: skip
    epochs = (rng.permutation(len(rows)).tolist() for _ in repeat(None))
    ran = perceptron(rows, epochs, start=start, delta=delta, step=step, most=400)
    assert len(ran.rows) <= bound


@claim(
    lambda rng: Numbers({"n": int(rng.integers(1, 400))}),
    covers=["bounds.general_bound"],
    problems=150,
)
def tight_bounds(problem: Numbers) -> None:
    """On e_1, …, e_n the perceptron updates n times, and no bound is below n."""
    n = problem.given["n"]
    assert nv.bounds.general_bound(1.0, 1.0, np.ones(n)) >= n
    assert nv.bounds.unit_ball_bound(math.nextafter(n**-0.5, 0.0)) >= n


def _rule(problem: Labelled) -> tuple[Vector, list[float]]:
    found = nv.separate(problem.X, problem.y, fit_intercept=problem.bias)
    assert found.coef is not None
    return found.coef, [found.intercept or 0.0]


def _up(square: Fraction) -> float:
    return math.nextafter(float(root(square)[1]), math.inf)


@claim(tame(), covers=["bounds.proof_bounds", "bounds.ProofBounds", "bounds.ProofBounds.inner",
                       "bounds.ProofBounds.squared_norm", "bounds.ProofBounds.cosine"])  # fmt: skip
def inequalities_of_the_proof(problem: Labelled) -> None:
    """The three inequalities hold after every update of a run, but for rounding."""
    rows, rng = problem.rows(), np.random.default_rng(problem.seed)
    if contradiction(rows) is not None:
        return
    w = exactly(np.append(*_rule(problem))[: len(rows[0])])
    size = float(root(inner(w, w))[0])
    gamma = float(min(products(rows, w))) / size
    start = exactly(rng.integers(-2, 3, len(rows[0])))
    step, delta = float(rng.choice([1.0, 0.5])), float(rng.choice([0.0, 0.25]))
    ran = perceptron(
        rows, repeat(range(len(rows)), 40), start=start, delta=Fraction(delta), step=Fraction(step),
        most=60,
    )  # fmt: skip
    at_first, norm = float(inner(w, start)) / size, float(root(inner(start, start))[0])
    bounds = nv.bounds.proof_bounds(
        np.arange(len(ran.w)), _up(largest_square(rows)), gamma, step_size=step, threshold=delta,
        inner=at_first, norm=norm,
    )  # fmt: skip
    for t, v in enumerate(ran.w):
        along, square = float(inner(w, v)) / size, float(inner(v, v))
        slip = 1e-9 * (1.0 + abs(along) + square)
        assert along >= bounds.inner[t] - slip
        assert square <= bounds.squared_norm[t] + slip
        assert square == 0.0 or along / math.sqrt(square) >= bounds.cosine[t] - 1e-6


@claim(tame(), covers=["bounds.translated_bound"])
def translated_bound(problem: Labelled) -> None:
    """After a translation the mistakes are at most the bound of the moved rule."""
    rng = np.random.default_rng(problem.seed)
    moved_by = [float(value) for value in rng.integers(-4, 5, (problem.X.shape[1],))]
    whole = Labelled(problem.X.round(), problem.y, True, None, problem.seed)
    if contradiction(whole.rows()) is not None:
        return
    coef, (bias,) = _rule(whole)
    s = min(products(whole.rows(), exactly([*coef, bias])))
    if s <= 0:
        return
    bound = nv.bounds.translated_bound(whole.X, coef, bias, float(s) * (1 - 1e-15), moved_by)
    moved = Labelled(whole.X + np.array(moved_by), whole.y, True, None, 0).rows()
    ran = perceptron(moved, repeat(range(len(moved))), most=400)
    assert ran.mistakes <= bound
    with localcontext(prec=80):
        w = [exact(value) for value in coef.tolist()]
        back = exact(bias) - sum(a * exact(c) for a, c in zip(w, moved_by, strict=True))
        square = Decimal(int(largest_square(moved))) * (sum(a**2 for a in w) + back**2)
        assert exact(bound) >= square / exact(float(s) * (1 - 1e-15)) ** 2 * DOWN


@dataclass(frozen=True, repr=False)
class Stream(Shown):
    """Rows with labels ±1, and a rule u to compare with."""

    X: Vector
    y: Vector
    u: Vector
    p: float
    C: float


def stream(rng: Generator) -> Stream:
    n, d = int(rng.integers(20, 60)), int(rng.integers(1, 5))
    X, u = rng.normal(size=(n, d)).round(2), rng.normal(size=d)
    y = np.where(X @ u * np.where(rng.random(n) < 0.1, -1, 1) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    scale = float(rng.choice([0.3, 1.0, 4.0]))
    return Stream(X, y, u * scale, float(rng.choice([2.0, 3.0, 5.5])), float(rng.choice([0.1, 1])))


def learned(learner: Any, problem: Stream) -> Any:
    """The learner after one pass, and the rows on which it was wrong."""
    wrong = list[bool]()
    for x, label in zip(problem.X, problem.y, strict=True):
        before = learner.n_mistakes_ if wrong else 0
        learner.partial_fit(x[None], [label], classes=[-1.0, 1.0])
        wrong.append(learner.n_mistakes_ > before if len(wrong) else True)
    return learner, np.array(wrong)


@claim(stream, covers=["bounds.passive_aggressive_bound", "PassiveAggressive",
                       "PassiveAggressive.n_mistakes_"], problems=40)  # fmt: skip
def passive_aggressive(problem: Stream) -> None:
    """One pass of PA-I makes at most as many mistakes as the bound of any rule u says."""
    learner = nv.PassiveAggressive(
        variant="PA-I", C=problem.C, fit_intercept=False, order="cyclic", max_epochs=1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        learner.fit(problem.X, problem.y)
    loss = np.maximum(0.0, 1.0 - problem.y * (problem.X @ problem.u)).sum()
    bound = nv.bounds.passive_aggressive_bound(
        np.linalg.norm(problem.X, axis=1).max(), float(np.linalg.norm(problem.u)), loss, problem.C
    )
    assert learner.n_mistakes_ <= bound * NEARLY


@claim(stream, covers=["bounds.p_norm_bound", "PNormPerceptron", "PNormPerceptron.n_mistakes_",
                       "theory.lp_norm", "theory.dual_exponent"], problems=40)  # fmt: skip
def p_norm(problem: Stream) -> None:
    """The p-norm perceptron keeps the bound of any rule u and any γ."""
    learner, wrong = learned(nv.PNormPerceptron(problem.p, fit_intercept=False), problem)
    gamma = 0.5
    loss = np.maximum(0.0, gamma - problem.y * (problem.X @ problem.u))[wrong].sum()
    q = nv.theory.dual_exponent(problem.p)
    assert math.isclose(1 / q + 1 / problem.p, 1.0)
    radius = max(nv.theory.lp_norm(x, problem.p) for x in problem.X)
    assert math.isclose(radius, (np.abs(problem.X) ** problem.p).sum(1).max() ** (1 / problem.p))
    bound = nv.bounds.p_norm_bound(
        problem.p, radius, float((np.abs(problem.u) ** q).sum() ** (1 / q)), gamma, float(loss)
    )
    assert learner.n_mistakes_ == wrong.sum()
    assert learner.n_mistakes_ <= bound * NEARLY


@claim(
    stream,
    covers=["bounds.second_order_bound", "SecondOrderPerceptron",
            "SecondOrderPerceptron.log_det_", "SecondOrderPerceptron.potential_",
            "SecondOrderPerceptron.n_mistakes_"],
    problems=40,
)  # fmt: skip
def second_order(problem: Stream) -> None:
    """The second-order perceptron keeps the bound of any u and γ, by its potential."""
    learner, wrong = learned(nv.SecondOrderPerceptron(1.0, fit_intercept=False), problem)
    rows, A, potential = problem.X[wrong], np.eye(problem.X.shape[1]), 0.0
    for x in rows:
        A += np.outer(x, x)
        potential += float(x @ np.linalg.solve(A, x))
    np.testing.assert_allclose(learner.potential_, [potential], rtol=1e-6)
    np.testing.assert_allclose(learner.log_det_, [np.linalg.slogdet(A)[1]], rtol=1e-6)
    assert learner.potential_[0] <= learner.log_det_[0] * NEARLY
    loss = np.maximum(0.0, 0.5 - problem.y * (problem.X @ problem.u))[wrong].sum()
    quadratic = float(problem.u @ A @ problem.u)
    for growth in (learner.log_det_[0], learner.potential_[0]):
        bound = nv.bounds.second_order_bound(0.5, float(loss), quadratic, float(growth))
        assert learner.n_mistakes_ <= bound * NEARLY


@claim(
    stream,
    covers=["bounds.forgetron_bound", "Forgetron", "Forgetron.damage_", "Forgetron.n_mistakes_",
            "Forgetron.n_support_"],
    problems=20,
)  # fmt: skip
def forgetron(problem: Stream) -> None:
    """The Forgetron keeps its budget, its damage and the bound of functions g that are short."""
    X, y = np.tile(problem.X, (4, 1)), np.tile(problem.y, 4)
    for budget in (7, 90):
        learner = nv.Forgetron(budget, gamma=0.5, order="cyclic", max_epochs=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            learner.fit(X, y)
        assert learner.n_support_.max() <= budget
        assert learner.damage_.max() <= 15 / 32 * learner.n_mistakes_ * NEARLY
        K = rbf_kernel(X, X[:5], gamma=0.5)
        beta = y[:5] * 0.4
        norm = math.sqrt(float(beta @ rbf_kernel(X[:5], gamma=0.5) @ beta))
        losses = np.maximum(0.0, 1.0 - y * (K @ beta))
        at_most_all = nv.bounds.forgetron_bound(norm, float(losses.sum()), budget)
        assert learner.n_mistakes_ <= at_most_all * NEARLY


# Methods for systems.


@claim(
    lambda rng: Numbers({"seed": int(rng.integers(1 << 20)),
                         "margin": float(rng.choice([0.3, 0.1, 0.03]))}),
    covers=["theory.smooth_bound", "theory.smooth_euclidean_bound", "theory.primal_dual_bound",
            "theory.rescaling_bound", "bounds.unit_ball_bound", "theory.doubling_bound"],
    problems=20,
)  # fmt: skip
def steps_of_methods(problem: Numbers) -> None:
    """Methods for homogeneous systems take at most as many steps as their bounds say."""
    margin = problem.given["margin"]
    H, z = separable(problem.given["seed"], margin, n=12, p=3)
    norm, limits = float(np.linalg.norm(H, 2)) * NEARLY, Limits(updates=20_000)
    margin = float((H @ z).min()) / float(np.linalg.norm(z)) / NEARLY
    steps = {name: METHODS[name](H, limits=limits, trace=True) for name in METHODS}
    for name in ("perceptron", "von_neumann"):
        assert steps[name].n_steps <= nv.theory.unit_ball_bound(margin)
    euclidean = METHODS["smooth"](H, limits=limits, prox="euclidean")
    assert steps["smooth"].n_steps <= nv.theory.smooth_bound(margin, len(H)) + 1
    assert euclidean.n_steps <= nv.theory.smooth_euclidean_bound(margin, norm) + 1
    each, runs = nv.theory.primal_dual_bound(margin, norm)
    assert steps["smooth_primal_dual"].n_steps <= (each + 1) * (runs + 1)
    trace = steps["rescaled"].trace
    assert trace is not None
    assert len(trace.get("row", [])) <= nv.theory.rescaling_bound(margin, 3)
    x = H @ z
    assert nv.theory.doubling_bound(x / x.max()) >= 0.0


@claim(
    lambda rng: Numbers({"seed": int(rng.integers(1 << 20)), "eta": float(rng.uniform(0.2, 1.8))}),
    covers=["theory.agmon_rate", "theory.shifted_bound"],
    problems=30,
)
def steps_of_relaxation(problem: Numbers) -> None:
    """A shifted relaxation ends within its bound, and a step keeps Agmon's rate."""
    A, c, z = with_ball(problem.given["seed"], 0.5, n=8, p=2)
    w0, relaxation = z + 3.0, METHODS["relaxation"]
    ran = relaxation(A, c, w0=w0, eta=1.0, shift=0.4, limits=Limits(updates=20_000))
    distance = float(np.linalg.norm(w0 - z))
    assert ran.n_steps <= nv.theory.shifted_bound(distance, 0.5, 0.4) * NEARLY
    eta = problem.given["eta"]
    lengths = np.linalg.norm(A, axis=1)
    before = _distance_to(A, c, w0)
    worst = ((A @ w0 - c) / lengths).max()
    if worst <= 0.0 or before == 0.0:
        return
    i = int(((A @ w0 - c) / lengths).argmax())
    after = _distance_to(A, c, w0 - eta * worst * A[i] / lengths[i])
    rate = nv.theory.agmon_rate(eta, min(1.0, worst / before))
    assert after**2 <= rate * before**2 * (1 + 1e-7) + 1e-12


def _distance_to(A: Vector, c: Vector, w: Vector) -> float:
    """The distance from a point to A w ≤ c in the plane: to a corner, an edge, or 0."""
    points, lengths = [], np.linalg.norm(A, axis=1)
    if (A @ w <= c).all():
        return 0.0
    points += [w - (a @ w - b) / size**2 * a for a, b, size in zip(A, c, lengths, strict=True)]
    for i, j in combinations(range(len(A)), 2):
        if abs(np.linalg.det(A[[i, j]])) > 1e-9:
            points.append(np.linalg.solve(A[[i, j]], c[[i, j]]))
    inside = [x for x in points if (A @ x <= c + 1e-9 * lengths).all()]
    return float(min(np.linalg.norm(x - w) for x in inside))


# Condition measures.


def rows_of_rational_length(rng: Generator) -> Numbers:
    """Rows whose unit vectors are rational, times numbers that do not matter."""
    p = int(rng.integers(1, 4))
    kinds: dict[int, list[tuple[int, ...]]] = {
        1: [(1,)], 2: [(1, 0), (3, 4), (5, 12), (8, 15)], 3: [(1, 0, 0), (1, 2, 2), (2, 3, 6)],
    }  # fmt: skip
    rows = []
    for _ in range(int(rng.integers(1, 6))):
        row = rng.permutation(kinds[p][rng.integers(len(kinds[p]))]) * rng.choice([-1, 1], p)
        rows.append([float(value) for value in row * 2.0 ** rng.integers(-20, 20)])
    return Numbers({"A": rows})


def unit_rows(A: list[list[float]]) -> list[Point]:
    units = []
    for row in A:
        square = sum(Fraction(value) ** 2 for value in row)
        length = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
        assert length**2 == square
        units.append([Fraction(value) / length for value in row])
    return units


@claim(
    rows_of_rational_length,
    covers=["theory.hoffman_constant", "theory.HoffmanConstant", "theory.HoffmanConstant.constant",
            "theory.HoffmanConstant.condition", "theory.HoffmanConstant.rows"],
    problems=60,
)  # fmt: skip
def hoffman(problem: Numbers) -> None:
    """H is the inverse of the least distance of 0 to a hull of rows that does not contain 0."""
    found, units = nv.theory.hoffman_constant(problem.given["A"]), unit_rows(problem.given["A"])
    subsets = [
        [units[i] for i in chosen]
        for k in range(1, len(units) + 1)
        for chosen in combinations(range(len(units)), k)
    ]
    # A hull that contains 0 is that of rows for which A w > 0 has no solution.
    least = min(squared_distance(rows) for rows in subsets if decide(rows).kind == "separable")
    assert is_root(found.condition, least, found.condition * NEARLY)
    assert Fraction(found.constant) ** 2 * least >= 1
    assert Fraction(found.constant) ** 2 * least <= Fraction(NEARLY)
    assert squared_distance([units[i] for i in found.rows]) == least


@claim(rows_of_rational_length, covers=["theory.goffin_measure"], problems=60)
def goffin(problem: Numbers) -> None:
    """The interval contains the distance of 0 to the hull of the unit rows, or is [0, 0]."""
    found, units = nv.theory.goffin_measure(problem.given["A"]), unit_rows(problem.given["A"])
    if decide(units).kind == "separable":
        assert found.lo > 0.0
        assert is_root(found.lo, squared_distance(units), found.hi)
    else:
        assert found == (0.0, 0.0)


@claim(
    lambda rng: Numbers({"sizes": rng.integers(1, 40, 3).tolist(), "d": int(rng.integers(1, 5)),
                         "margin": float(rng.uniform(0.05, 1.0)),
                         "random_state": int(rng.integers(1 << 20))}),
    covers=["theory.compare_sample_sizes", "theory.SampleSizes", "theory.SampleSizes.sizes",
            "theory.SampleSizes.mistakes", "theory.SampleSizes.epochs", "theory.SampleSizes.bound",
            "theory.SampleSizes.X", "theory.SampleSizes.y"],
    problems=30,
)  # fmt: skip
def sample_sizes(problem: Numbers) -> None:
    """The rows have R ≤ 1 and margin γ exactly, and no count exceeds ⌊1/γ²⌋."""
    found, gamma = nv.theory.compare_sample_sizes(**problem.given), problem.given["margin"]
    rows = [
        [int(sign) * Fraction(value) for value in x]
        for x, sign in zip(found.X.tolist(), found.y.tolist(), strict=True)
    ]
    assert found.sizes.tolist() == problem.given["sizes"]
    assert all(sum(value**2 for value in row) <= 1 and row[0] >= gamma for row in rows)
    assert found.bound >= math.floor(1 / Fraction(gamma) ** 2)
    for n, mistakes, epochs in zip(found.sizes, found.mistakes, found.epochs, strict=True):
        ran = perceptron(rows[:n], repeat(range(n)), most=10_000)
        assert abs(ran.mistakes - mistakes) <= 1  # a product of nearly 0 may be rounded
        assert epochs >= 1
        assert mistakes <= found.bound


# Lengths of weights, and cycles.


def few_rows(rng: Generator) -> Labelled:
    return labelled(rng, styles=TAME, most_rows=5)


def kappa_squared(rows: list[Point]) -> tuple[Fraction, int]:
    """Max Π‖a_i‖²/det(B·Bᵀ) over sets of independent rows as many as the rank."""
    rank, best = len(reduced(rows)), Fraction(0)
    for some in combinations(rows, rank):
        volume = _determinant([[inner(a, b) for b in some] for a in some])
        if volume:
            best = max(best, math.prod(inner(a, a) for a in some) / volume)
    return best, rank


def _determinant(M: list[Point]) -> Fraction:
    """By expansion: there are few rows."""
    if not M:
        return Fraction(1)
    minors = ([row[:j] + row[j + 1 :] for row in M[1:]] for j in range(len(M)))
    pairs = enumerate(zip(M[0], minors, strict=True))
    return sum(((-1) ** j * x * _determinant(minor) for j, (x, minor) in pairs), Fraction(0))


@claim(
    few_rows,
    covers=["theory.weight_bound", "theory.WeightBound", "theory.WeightBound.bound",
            "theory.WeightBound.kappa", "theory.WeightBound.kappa_squared",
            "theory.WeightBound.rank"],
)  # fmt: skip
def weight_bound(problem: Labelled) -> None:
    """κ² is exact, and no run from any start is longer than the bound."""
    rows = [row for row in problem.rows() if any(row)]
    if not rows:
        return
    rng = np.random.default_rng(problem.seed)
    start = exactly(rng.integers(-3, 4, len(rows[0])))
    A = np.array([[float(value) for value in row] for row in rows])
    found = nv.theory.weight_bound(A, w0=[float(value) for value in start])
    square, rank = kappa_squared(rows)
    assert found.rank == rank
    assert found.kappa_squared == square
    assert at_most(square, found.kappa)
    ran = perceptron(rows, repeat(range(len(rows)), 30), start=start, most=100)
    assert all(at_most(inner(w, w), found.bound) for w in ran.w)
    with localcontext(prec=80):
        size = (exact_fraction(largest_square(rows))).sqrt()
        length_of_start = exact_fraction(inner(start, start)).sqrt()
        factor = Decimal(2) ** (Decimal(3 * len(rows[0])) / 2)
        right = 2 * max(length_of_start, size * (exact_fraction(square).sqrt() * factor + 1))
        assert exact(found.bound) >= right * DOWN


def exact_fraction(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


@claim(
    lambda rng: labelled(rng, styles=("integers", "two values"), most_rows=6),
    covers=["theory.watch_weights", "theory.WeightPath", "theory.WeightPath.norms",
            "theory.WeightPath.bound", "theory.WeightPath.converged", "theory.WeightPath.period",
            "theory.WeightPath.pre_period", "theory.WeightPath.verdict"],
    problems=60,
)  # fmt: skip
def weight_path(problem: Labelled) -> None:
    """Lengths are those of the run without rounding, within the bound; a period is exact."""
    rows = problem.rows()
    path = nv.theory.watch_weights(problem.X, problem.y, fit_intercept=problem.bias, max_epochs=60)
    ran = perceptron(rows, repeat(range(len(rows)), 60))
    assert path.verdict.kind == decide(rows).kind
    assert path.converged == ran.clean
    norms = [math.sqrt(float(inner(w, w))) for w in ran.w[1:]]
    np.testing.assert_allclose(path.norms, norms[: len(path.norms)], rtol=1e-12)
    assert all(at_most(inner(w, w), path.bound) for w in ran.w)
    if path.period is None:
        return
    assert path.pre_period is not None
    longer = perceptron(rows, repeat(range(len(rows)), 60 + 2 * path.period)).ends
    first = next(t for t in range(len(longer)) if longer[t] in longer[:t])
    assert path.pre_period == longer.index(longer[first])
    assert path.period == first - path.pre_period


# Herding.


@dataclass(frozen=True, repr=False)
class Candidates(Shown):
    """Points, and a target for their mean."""

    points: Vector
    target: Vector | None
    kernel: bool


def candidates(rng: Generator) -> Candidates:
    m, d = int(rng.integers(1, 8)), int(rng.integers(1, 4))
    points = table(rng, m, d, str(rng.choice(TAME + EXTREME)))
    kind = rng.choice(["mean", "mean", "inside", "any"])
    target = None
    if kind == "inside":
        target = points[: max(1, m // 2)].mean(axis=0)
    elif kind == "any":
        target = points[0] * 0.5
    tame_sizes = 1e-6 < np.abs(points).max() < 1e6
    return Candidates(points, target, bool(target is None and tame_sizes and rng.random() < 0.2))


@claim(
    candidates,
    covers=["herd", "theory.Herding", "theory.Herding.indices",
            "theory.Herding.errors", "theory.Herding.radius", "theory.Herding.bound",
            "theory.Herding.ball", "theory.Herding.fast_bound", "theory.Herding.verdict"],
    problems=120,
)  # fmt: skip
def herding(problem: Candidates) -> None:
    """Errors are those of the points chosen, and within the bounds of points in the hull."""
    T, points = 12, [exactly(row) for row in problem.points]
    try:
        found = nv.herd(
            problem.points, problem.target, T, linear_kernel if problem.kernel else None
        )
    except ValueError:
        sizes = np.abs(problem.points)
        assert sizes.max() > 1e150 or sizes[sizes > 0.0].min() < 1e-150, "refused for its sizes"
        return
    mean = [sum(column, Fraction(0)) / len(points) for column in zip(*points, strict=True)]
    target = mean if problem.target is None else exactly(problem.target)
    away = [[a - b for a, b in zip(target, x, strict=True)] for x in points]
    inside = contradiction(away) is not None
    if found.verdict is not None:
        assert (found.verdict.kind == "separable") == (not inside)
    if not inside:
        assert found.bound is None
        return
    size = max(abs(value) for row in [*points, target] for value in row)
    # With a kernel an error is the root of a difference.
    slack = size / 10 ** (6 if problem.kernel else 9) + 2 * Fraction(5e-324)
    assert_near(found.radius, largest_square(away), slack)
    total = [Fraction(0)] * len(target)
    for t, i in enumerate(found.indices.tolist(), 1):
        total = [a + b for a, b in zip(total, away[i], strict=True)]
        error = root(inner(total, total) / t**2)[1]
        assert_near(found.errors[t - 1], inner(total, total) / t**2, slack)
        assert found.errors[t - 1] > 0.0 or error <= size / 10**6
        for bound in (found.bound, found.fast_bound):
            if bound is not None:
                assert bound[t - 1] == math.inf or error <= Fraction(bound[t - 1]) + slack
                assert bound[t - 1] > 0.0 or error <= size / 10**6


def assert_near(value: float, square: Fraction, slack: Fraction) -> None:
    """The float is √square, but for slack, or infinite beyond floats."""
    low, high = root(square)
    if math.isinf(value):
        assert high > Fraction(10) ** 307
    else:
        assert low - slack <= Fraction(value) <= high + slack


# The theorem on data, and streams made to measure.


@claim(
    lambda rng: Numbers({"margin": unit(rng), "d": int(rng.integers(1, 30)),
                         "of": str(rng.choice(["Perceptron", "PassiveAggressive"]))}),
    covers=["theory.force_mistakes", "theory.ForcedMistakes", "theory.ForcedMistakes.X",
            "theory.ForcedMistakes.y", "theory.ForcedMistakes.mistakes",
            "theory.ForcedMistakes.margin", "theory.ForcedMistakes.w_star",
            "theory.ForcedMistakes.verdict"],
    problems=40,
)  # fmt: skip
def forced_mistakes(problem: Numbers) -> None:
    """The learner is wrong on every example, and a rule of length 1 has margin γ on all of them."""
    learner = getattr(nv, problem.given["of"])()
    found = nv.theory.force_mistakes(learner, problem.given["margin"], problem.given["d"])
    gamma = Fraction(str(problem.given["margin"]))
    n = min(math.floor(1 / gamma**2), problem.given["d"])
    assert (found.mistakes, found.margin) == (n, gamma)
    again = getattr(nv, problem.given["of"])()
    wrong = 0
    for i, label in enumerate(found.y.tolist()):
        wrong += again.predict_one({i: 1.0}) != label
        again.learn_one({i: 1.0}, label)
    assert wrong == n
    rows = [
        [Fraction(int(label == 1) * 2 - 1) * (i == j) for j in range(n)]
        for i, label in enumerate(found.y.tolist())
    ]
    assert is_root(found.verdict.margin.lo, squared_distance(rows), found.verdict.margin.hi)
    assert Fraction(1, n) >= gamma**2
    assert found.verdict.certificate is not None
    nv.verify(found.verdict.certificate, found.X, found.y)
    assert np.allclose(found.w_star[:n], float(gamma) * np.where(found.y == 1, 1, -1))


def a_stream(rng: Generator) -> Numbers:
    """A stream with a name, or rows of integers with labels."""
    length = int(rng.integers(1, 40))
    if rng.random() < 0.5:
        name = str(rng.choice(["doubling", "unbounded", "bounded"]))
        return Numbers({"stream": name, "length": length})
    rows = rng.integers(-3, 4, (min(length, 8), int(rng.integers(1, 4))))
    return Numbers({"stream": rows, "y": rng.integers(0, 2, len(rows))})


@claim(
    a_stream,
    covers=["theory.compare_aggressive", "theory.AggressiveRun", "theory.AggressiveRun.X",
            "theory.AggressiveRun.y", "theory.AggressiveRun.aggressive",
            "theory.AggressiveRun.perceptron", "theory.AggressiveRun.verdict"],
    problems=40,
)  # fmt: skip
def aggressive(problem: Numbers) -> None:
    """Both runs are counted as they are without rounding, and the perceptron keeps its bound."""
    found = nv.theory.compare_aggressive(**problem.given)
    rows = [
        [Fraction(int(sign)) * value for value in [*exactly(x), Fraction(1)]]
        for x, sign in zip(found.X, found.y, strict=True)
    ]
    named = "y" not in problem.given
    assert found.verdict.kind == decide(rows).kind
    assert not named or found.verdict.kind == "separable"
    for name in ("aggressive", "perceptron"):
        w, count, counts = [Fraction(0)] * len(rows[0]), 0, []
        for row in rows:
            wrong = inner(row, w) <= 0
            count += wrong
            counts.append(count)
            if wrong or name == "aggressive":
                w = [a + b for a, b in zip(w, row, strict=True)]
        if not (named and problem.given["stream"] == "bounded"):  # 1/t is rounded
            assert getattr(found, name).tolist() == counts
    bound = found.verdict.mistake_bound
    assert bound is not None or not named
    assert bound is None or found.perceptron[-1] <= bound


@claim(
    tame(),
    covers=["theory.summary", "theory.Summary", "theory.Summary.bound", "theory.Summary.margin",
            "theory.Summary.radius", "theory.Summary.verdict", "theory.Summary.runs", "OrderRun",
            "OrderRun.mistakes", "OrderRun.clean", "OrderRun.period"],
    sentences=["mistakes, in any order"],
    problems=20,
)  # fmt: skip
def summary(problem: Labelled) -> None:
    """In every order the mistakes are within the bound, which is not below R²/γ²."""
    rows = problem.rows()
    found = nv.theory.summary(
        problem.X, problem.y, fit_intercept=problem.bias, orders=["cyclic", "max_distance"]
    )
    text, truth = str(found), decide(rows)
    assert found.verdict.kind == truth.kind
    assert f": {truth.kind}" in text
    assert at_most(largest_square(rows), found.radius)
    if truth.kind != "separable":
        assert found.bound is None
        assert "none: no " in text
        return
    square = squared_distance(rows)
    assert is_root(found.margin, square, math.inf)
    if found.bound is not None:
        assert found.bound >= largest_square(rows) // square
        assert all(run.mistakes <= found.bound for run in found.runs)
        assert_bound(text, "{}(?: mistakes|: no run makes more mistakes), in any order", rows)


@claim(
    tame(),
    covers=["theory.compare_normalisations", "theory.Normalisations", "theory.Normalisations.rows",
            "Normalised", "Normalised.name", "Normalised.verdict", "Normalised.mistakes"],
    problems=30,
)  # fmt: skip
def normalisations(problem: Labelled) -> None:
    """Each change has its own verdict, and a factor changes no kind."""
    given = Labelled(problem.X.round(), problem.y, problem.bias, None, 0)
    found = nv.theory.compare_normalisations(
        given.X, given.y, factors=(0.25, 8.0), fit_intercept=given.bias
    ).rows
    truth = decide(given.rows()).kind
    for row, factor in zip(found, (1.0, 0.25, 8.0), strict=False):
        changed = Labelled(given.X * factor, given.y, given.bias, None, 0).rows()
        assert row.verdict.kind == truth
        square = squared_distance(changed)
        assert is_root(row.verdict.margin.lo, square, row.verdict.margin.hi)
        if row.mistakes is not None:
            ran = perceptron(changed, repeat(range(len(changed)), 1001))
            assert row.mistakes == ran.mistakes
    if given.bias:
        assert {row.verdict.kind for row in found if row.name == "moved"} == {truth}


@claim(
    tame(),
    covers=["theory.p_norm_margin", "theory.PNormMargin", "theory.PNormMargin.margin",
            "theory.PNormMargin.radius", "theory.PNormMargin.q", "theory.lp_norm",
            "theory.dual_vector", "theory.dual_exponent"],
    problems=60,
)  # fmt: skip
def p_norm_margin(problem: Labelled) -> None:
    """Norms, duals and margins in ℓ_p agree with their definitions, up to rounding."""
    rng = np.random.default_rng(problem.seed)
    p = float(rng.choice([1.0, 1.5, 2.0, 3.0, math.inf]))
    w = rng.integers(-3, 4, problem.X.shape[1] + problem.bias).astype(float)
    w[0] = w[0] or 1.0
    coef, bias = (w[:-1], float(w[-1])) if problem.bias else (w, None)
    found = nv.theory.p_norm_margin(problem.X, problem.y, coef, bias, p=p)
    rows = np.array([[float(value) for value in row] for row in problem.rows()])
    q = {1.0: math.inf, 1.5: 3.0, 2.0: 2.0, 3.0: 1.5, math.inf: 1.0}[p]
    assert found.q == q
    margin = (rows @ w).min() / np.linalg.norm(w, q)
    assert math.isclose(found.margin, margin, rel_tol=1e-9, abs_tol=1e-12)
    assert math.isclose(found.radius, max(np.linalg.norm(row, p) for row in rows), rel_tol=1e-9)
    z = nv.theory.dual_vector(w, p)
    assert math.isclose(np.linalg.norm(z, q), 1.0, rel_tol=1e-9)
    assert math.isclose(w @ z, nv.theory.lp_norm(w, p), rel_tol=1e-9)


@claim(
    lambda rng: Numbers({"seed": int(rng.integers(1 << 20)), "n": int(rng.integers(1, 7)),
                         "symmetric": bool(rng.random() < 0.5),
                         "update": str(rng.choice(["asynchronous", "synchronous"]))}),
    covers=["neurons.Settled", "neurons.Settled.period", "neurons.Settled.pre_period",
            "neurons.Settled.fixed"],
)  # fmt: skip
def settled(problem: Numbers) -> None:
    """Periods are those of the states, and symmetric networks have one of 1 or 2 at most."""
    rng, n = np.random.default_rng(problem.given["seed"]), problem.given["n"]
    W = rng.integers(-3, 4, (n, n))
    if problem.given["symmetric"]:
        W = np.triu(W, 1) + np.triu(W, 1).T
    biases = rng.integers(-2, 3, n) + 0.5
    network = nv.neurons.Network.from_edges(
        [(i, j, float(W[j, i])) for i in range(n) for j in range(n)],
        biases={j: float(b) for j, b in enumerate(biases)},
    )
    state, seen = rng.integers(0, 2, n).tolist(), list[list[int]]()
    together = problem.given["update"] == "synchronous"
    found = network.settle(state, update=problem.given["update"])
    while state not in seen:
        seen.append(state)
        after = list(state)
        for j in range(n):
            before = state if together else after
            after[j] = int(W[j] @ np.array(before) + biases[j] >= 0)
        state = after
    assert found.pre_period == seen.index(state)
    assert found.period == len(seen) - seen.index(state)
    assert found.fixed == (found.period == 1)
    if problem.given["symmetric"]:
        assert found.period <= (2 if together else 1)

"""One question of the page, one answer: the verdict with its proof, and the run, step by step.

Questions and answers are plain JSON, described by ``lab.schema.json``; the served page, the
offline file and the notebook all speak it. Everything here is asked of core, geometry and
theory: the page draws what it is told and computes nothing of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from novikoff.core.counts import Trace
from novikoff.core.kernel_perceptron import KernelModel
from novikoff.core.linear_model import LinearModel
from novikoff.core.orders import BY_NAME, Greedy, first_visits, named
from novikoff.core.pocket import load_kernel, pocket_steps
from novikoff.core.problem import Problem, pose, products, scores
from novikoff.core.rows import Indices, Matrix, Vector
from novikoff.core.runs import Plan, Run
from novikoff.core.stops import Limits
from novikoff.core.sweep import run
from novikoff.core.updates import aggressive, perceptron
from novikoff.core.validation import Labels, distinct_labels, plain_label, signs_of
from novikoff.geometry.fewest_mistakes import find_rules
from novikoff.geometry.margin import margin_of
from novikoff.geometry.separability import Verdict, find_verdict
from novikoff.neurons.network import Network
from novikoff.proofs.certificate import integer_mistake_bound
from novikoff.theory.bounds import general_bound, proof_bounds

MAX_POINTS, MAX_UPDATES, MAX_VISITS, MAX_NUMBER = 300, 300, 2000, 1e6
MIN_NUMBER = 1e-60  # or 0: products of smaller numbers vanish, and a run with them proves nothing
MAX_NAME, KERNEL_EPOCHS = 40, 200
MAX_EPOCHS = 2000  # of a random order, most of whose epochs may be without a mistake
SECONDS = 5.0  # after which a verdict is undecided, and the pocket done
RULES = ("perceptron", "aggressive", "pocket")
SHADES = ("line", "voted", "rbf", "poly", "network")  # whose sides the plane shows
SIDES = 1, -1  # the labels, as a downloaded file has them

Json = dict[str, Any]
Score = Callable[[Vector], Vector]


@dataclass(frozen=True)
class Question:
    """What the page asks; the fields are those of its JSON."""

    points: tuple[tuple[float, float, int], ...]  # x₁, x₂, and the label +1 or −1
    order: str = "cyclic"
    seed: int = 0
    bias: bool = True
    rule: str = "perceptron"
    step: float = 1.0  # μ
    threshold: float = 0.0  # δ
    start: tuple[float, ...] | None = None  # w₀
    mine: tuple[float, ...] | None = None  # a w* of the learner's own
    names: tuple[str, str] = ("x₁", "x₂")  # of the two features
    sides: str = "line"

    @classmethod
    def from_json(cls, asked: object) -> Question:
        """Check a question from outside; a ValueError says in a sentence what is wrong with it."""
        plain = {field.name: field.default for field in fields(cls)}
        given: Json = plain | (dict(asked) if isinstance(asked, Mapping) else {})
        points, names = given["points"], given["names"]
        order, rule, seed, sides = (given[name] for name in ("order", "rule", "seed", "sides"))
        (step,) = _numbers("The step μ", [given["step"]], 1)
        (threshold,) = _numbers("The threshold δ", [given["threshold"]], 1)
        start, mine = given["start"], given["mine"]
        unknown = sorted(set(map(str, given)) - set(plain))
        for good, sentence in (
            (not unknown, f"A question has no field {', '.join(unknown)[:80]!r}."),
            (isinstance(points, list), "The points are a list."),
            (isinstance(points, list) and len(points) <= MAX_POINTS, "The lab takes at most "
             f"{MAX_POINTS} points. novikoff fit takes files of any size."),
            (isinstance(order, str) and order in BY_NAME,
             f"The order is one of {', '.join(BY_NAME)}, not {str(order)[:40]!r}."),
            (rule in RULES, f"The rule is one of {', '.join(RULES)}, not {str(rule)[:40]!r}."),
            (sides in SHADES, f"The sides are of {', '.join(SHADES)}, not {str(sides)[:40]!r}."),
            (type(seed) is int and 0 <= seed < 2**31, "The seed is a whole number, 0 or more."),
            (isinstance(given["bias"], bool), "The bias is true or false."),
            (step > 0.0, "The step μ is positive."),
            (threshold >= 0.0, "The threshold δ is not negative."),
            (isinstance(names, list | tuple) and [*map(type, names)] == [str, str]
             and max(map(len, names)) <= MAX_NAME, f"The names are two texts of at most {MAX_NAME} "
             "characters."),
        ):  # fmt: skip
            if not good:
                raise ValueError(sentence)
        return cls(
            points=tuple(_point(row, point) for row, point in enumerate(points, 1)),
            order=order, seed=seed, bias=given["bias"], rule=rule, step=step, threshold=threshold,
            start=None if start is None else _numbers("w₀", start), names=(names[0], names[1]),
            mine=None if mine is None else _numbers("Your w*", mine), sides=sides,
        )  # fmt: skip

    def problem(self) -> Problem:
        """The rows a_i = y_i·[x_i, 1]."""
        if not self.points:
            raise ValueError("This needs at least one point.")
        table = np.array(self.points)
        return pose(np.ascontiguousarray(table[:, :2]), table[:, 2].astype(np.int8), self.bias)

    @property
    def mu(self) -> float:
        """The step μ of the rule; the pocket algorithm has none."""
        return 1.0 if self.rule == "pocket" else self.step

    @property
    def delta(self) -> float:
        """The threshold δ of the rule; only the perceptron has one."""
        return self.threshold if self.rule == "perceptron" else 0.0

    def vector(self, given: tuple[float, ...] | None) -> Vector:
        """w₀ or the learner's w*, without a bias where there is none; zero if it is not given."""
        return np.array(given or (0.0, 0.0, 0.0)) * (1.0, 1.0, float(self.bias))


def points_of(X: Matrix, labels: Labels, positive: Hashable = None) -> list[Any]:
    """Two features and two classes as points; or a positive class, and all others against it."""
    kinds = distinct_labels(labels)
    if X.shape != (len(labels), 2) or (len(kinds) > 2 and positive is None):
        raise ValueError(
            f"The lab draws two features and two classes, not {X.shape[1]} and {len(kinds)}."
        )
    signs = signs_of(labels, plain_label(plus_of(kinds) if positive is None else positive), None)
    rows = (X if isinstance(X, np.ndarray) else X.toarray()).tolist()
    return [[x1, x2, sign] for (x1, x2), sign in zip(rows, signs.tolist(), strict=True)]


def plus_of(kinds: Sequence[Hashable]) -> Hashable:
    """The class to draw as +: the last of the sorted labels, and of + and − the +."""
    signs = len(kinds) == 2 and "+" in kinds and ("-" in kinds or "−" in kinds)
    return "+" if signs else kinds[-1]


def answer(question: Question) -> Json:
    """The verdict, the reference w* of the proof, and the run."""
    if not question.points:
        sentence = "No points yet: click in the plane to add one, or choose data."
        return {"kind": "empty", "sentence": sentence}
    problem = question.problem()
    verdict = find_verdict(problem, SIDES, limits=Limits(seconds=SECONDS))
    reference = _reference(question, problem, verdict)
    story = _run(question, problem, reference)
    return {
        "kind": verdict.kind,
        "sentence": _headline(question, problem, verdict, story),
        "w_star": _unit(verdict),
        "support": verdict.support.tolist(),
        "separated": verdict.separated_rows.tolist(),
        **_contradiction(problem, verdict),
        "reference": reference,
        "run": story,
    }


def pocket(question: Question) -> Json:
    """The rule with the fewest mistakes found, and the proved minimum (A6, C5)."""
    problem = question.problem()
    load_kernel(problem)
    codes = (problem.signs > 0).astype(np.int64)
    model = LinearModel(np.array(SIDES[::-1]), problem.p - 1, question.bias)
    limits = Limits(updates=1000, seconds=SECONDS)
    rules = find_rules(problem, codes, model, limits=limits, seed=question.seed)
    found = rules.together[0]
    errors, bound = int(found.errors), math.ceil(found.bound)
    line = _line(question)
    sentence = f"Every {line} errs on at least {_rows(bound)}, proved. The dashed violet one errs "
    sentence += (
        f"on {errors}: no {line} is better." if found.optimal else f"on {errors}, the fewest found."
    )
    return {
        "w": found.w.tolist(),
        "errors": errors,
        "bound": bound,
        "history": [[int(t), int(cost)] for t, cost in found.history],
        "sentence": sentence,
    }


def record(question: Question, box: object = None) -> Json:
    """The answer, the pocket where there is no line, and sides over a box: all that is recorded."""
    told = answer(question)
    found = None if told["kind"] in ("separable", "empty") else pocket(question)
    plain = box is None or question.sides == "line" or not question.points
    return {"answer": told, "pocket": found} | ({} if plain else {"sides": sides(question, box)})


def sides(question: Question, box: object, size: int = 80) -> Json:
    """The side of every spot of a grid over a box, as rows of + and -, the lowest first."""
    left, bottom, right, top = corners = _numbers("The box", box, 4)
    across, up = np.meshgrid(np.linspace(left, right, size), np.linspace(bottom, top, size))
    problem = question.problem()
    score, words = _score(question, problem)
    signs = np.where(score(np.column_stack([across.ravel(), up.ravel()])) > 0.0, "+", "-")
    fit = int((score(np.asarray(problem.X)) * problem.signs > 0.0).sum())
    told = f"Shaded: {words}. Right: {fit} of {_rows(problem.n)}."
    return {"box": corners, "rows": [*map("".join, signs.reshape(size, size))], "sentence": told}


def certificate(question: Question) -> str:
    """The certificate of the verdict, for ``novikoff verify``."""
    verdict = find_verdict(question.problem(), SIDES, limits=Limits(seconds=SECONDS))
    if verdict.certificate is None:
        raise ValueError("The verdict is undecided: there is no certificate.")
    return verdict.certificate.to_json()


def _run(question: Question, problem: Problem, reference: Json | None) -> Json:
    """What the page is told of the run; lists over t begin with t = 0."""
    w_star = None if reference is None else np.array(reference["w"])
    more: Json
    if question.rule == "pocket":
        trace, more = _pocket_run(question, problem, w_star)
    else:
        ran, trace = _traced(question, problem, w_star)
        more = {"visited": ran.visited, "converged": ran.converged, "stop": str(ran.stops[0])}
    W, norm = trace.weights(), math.hypot(*question.vector(question.start).tolist())
    margins = scores(problem.X, W.T) * problem.signs[:, None]  # (n, T + 1)
    told: Json = {
        "index": trace.index.tolist(),
        "step": trace.step.tolist(),
        "margin": trace.margin.tolist(),
        "tau": trace.tau.tolist(),
        "weights": W.tolist(),
        "averages": trace.average().tolist(),
        "squared_norm": [norm**2, *trace.squared_norm.tolist()],
        "errors": (~(margins > 0.0)).sum(axis=0).tolist(),
        "mistakes": [0, *np.cumsum(~(trace.margin > 0.0)).tolist()],
        **more,
        **_visits(question, problem, more["visited"], trace, margins),
    }
    gamma, inner = 0.0, 0.0
    if w_star is not None and trace.inner is not None and trace.cosine is not None:
        gamma, inner = (reference or {})["margin"], float(w_star @ W[0])
        told["inner"] = [inner, *trace.inner.tolist()]
        told["cosine"] = [inner / norm if norm > 0.0 else 0.0, *trace.cosine.tolist()]
    bounds = proof_bounds(
        np.arange(len(W)), problem.radius, gamma,
        step=question.mu, delta=question.delta, inner=inner, norm=norm,
    )  # fmt: skip
    told["bounds"] = {name: part.tolist() for name, part in bounds._asdict().items()}
    if norm == 0.0:
        told["ceiling"] = [None, *trace.margin_ceilings().tolist()]
    return told


def _traced(question: Question, problem: Problem, w_star: Vector | None) -> tuple[Run, Trace]:
    """The run of the perceptron, or of the aggressive rule."""
    mu, aggressively = question.mu, question.rule == "aggressive"
    update = aggressive(mu) if aggressively else perceptron(question.delta, mu)
    plan = Plan(
        update, named(question.order), Limits(MAX_EPOCHS, MAX_UPDATES), question.seed,
        trace=True, reference=w_star,
    )  # fmt: skip
    ran = run(problem, plan, start=question.vector(question.start))
    return ran, ran.traces[0]


def _pocket_run(question: Question, problem: Problem, w_star: Vector | None) -> tuple[Trace, Json]:
    """The pocket algorithm as it is printed, whose updates are the perceptron's on random mistakes.

    ``pocket`` says for each t after how many updates the w was met that is in the pocket.
    """
    start = question.vector(question.start)
    rng = np.random.default_rng(question.seed)
    steps = list(islice(pocket_steps(problem, rng, start=start), MAX_UPDATES + 1))
    index = np.array([step.row for step in steps[1:]], dtype=np.int64)
    W = np.array([step.w for step in steps])
    margin = [float(products(problem, w)[row]) for w, row in zip(W, index, strict=False)]
    trace = Trace(
        index=index, step=np.arange(len(index)), margin=np.array(margin), tau=np.ones(len(index)),
        squared_norm=np.square(W[1:]).sum(axis=1), inner=None if w_star is None else W[1:] @ w_star,
        cosine=None if w_star is None else _cosines(W[1:], w_star), problem=problem, start=start,
    )  # fmt: skip
    kept = np.maximum.accumulate([t if step.kept else 0 for t, step in enumerate(steps)])
    done = steps[-1].mistakes == 0
    stop = "no mistake of w" if done else "the limit on updates"
    told: Json = {"visited": len(index), "converged": done, "stop": stop}
    told["errors"] = [int(step.mistakes) for step in steps]
    return trace, told | {"pocket": kept.tolist()}


def _cosines(W: Vector, w_star: Vector) -> Vector:
    norms = np.linalg.norm(W, axis=1)
    return np.divide(W @ w_star, norms, out=np.zeros(len(W)), where=norms > 0.0)


def _score(question: Question, problem: Problem) -> tuple[Score, str]:
    """f, positive where a rule says +, and the rule in words."""
    if question.sides == "line":
        raise ValueError("The sides of the line come with the run.")
    if question.sides == "network":
        return _network_score()
    codes = (problem.signs > 0).astype(np.int64)
    if question.sides == "voted":
        return _vote_score(question, problem)
    return _kernel_score(question, problem, codes)


def _network_score() -> tuple[Score, str]:
    """XOR by two layers (A12)."""
    network = Network.xor()
    low, high = (0.0 - network.biases[2:4]).tolist()
    words = (
        f"a network: two neurons fire where x₁ + x₂ ≥ {low:g} and ≥ {high:g}, a third where only "
        "the first of them does"
    )
    return lambda X: network.forward(X)[:, 0] - 0.5, words


def _vote_score(question: Question, problem: Problem) -> tuple[Score, str]:
    """(votes for + less those for −)/(all votes): the voted perceptron (A9).

    Every w_k of the run votes with sign⟨w_k, x⟩, once for each row that the run looked at while the
    weights were w_k (Freund and Schapire 1999).
    """
    if question.rule == "pocket":
        raise ValueError("The vote is of a run in order: choose another rule than the pocket.")
    ran, trace = _traced(question, problem, None)
    W, votes = trace.weights(), np.diff(trace.step, prepend=0, append=ran.visited)

    def share(X: Vector) -> Vector:
        out = np.empty(len(X))
        for first in range(0, len(X), 256):
            block = scores(X[first : first + 256], W.T)
            out[first : first + 256] = np.where(block > 0.0, 1.0, -1.0) @ votes
        return out / max(1, ran.visited)

    return share, "the vote of all w, each with a vote for every look it survived"


def _kernel_score(question: Question, problem: Problem, codes: Indices) -> tuple[Score, str]:
    """The kernel perceptron's f (A8)."""
    order, spread = named(question.order), float(np.asarray(problem.X).var(axis=0).sum())
    if isinstance(order, Greedy):
        raise ValueError("The kernel perceptron takes no maximal rule: choose another order.")
    gamma = 1.0 / spread if spread > 0.0 else 1.0  # as wide as the points are apart
    settings = {
        "kernel": question.sides, "gamma": gamma, "degree": 2, "coef0": 1.0, "cache_bytes": 1e6,
    }  # fmt: skip
    model = KernelModel(np.array([-1, 1]), 2, question.bias, settings)
    plan = Plan(perceptron(), order, Limits(KERNEL_EPOCHS, None, SECONDS), question.seed)
    ran = model.train(problem, codes, plan)
    formulas = {"rbf": f"exp(−{gamma:.3g}·‖x − z‖²)", "poly": f"({gamma:.3g}·⟨x, z⟩ + 1)²"}
    end = "then a clean round" if ran.converged else f"none of {ran.epochs} rounds clean"
    words = f"the kernel perceptron, K(x, z) = {formulas[question.sides]}; "
    return lambda X: model.scores(X)[:, 0], f"{words}mistakes: {ran.mistakes}, {end}"


def _visits(
    question: Question, problem: Problem, visited: int, trace: Trace, margins: Vector
) -> Json:
    """Which rows were looked at, and ⟨a_i, w⟩ of each at that moment; None if there are many.

    The pocket algorithm looks at all rows before each update.
    """
    rng = np.random.default_rng(question.seed)
    looks = min(visited, MAX_VISITS + 1)
    rows = first_visits(named(question.order), problem, rng, looks)
    if question.rule == "pocket" or rows is None or len(rows) != visited or visited > MAX_VISITS:
        return {"visits": None}
    t = np.searchsorted(trace.step, np.arange(visited), side="left")
    return {"visits": rows.tolist(), "visit_margin": margins[rows, t].tolist()}


def _reference(question: Question, problem: Problem, verdict: Verdict) -> Json | None:
    """The unit vector of the proof with its γ and bound: the best, or the learner's own."""
    mine, best = question.vector(question.mine), _unit(verdict)
    if mine.any():
        w, margin = mine / np.linalg.norm(mine), margin_of(problem, mine)
    elif best is not None and verdict.margin.lo > 0.0:
        w, margin = np.array(best), verdict.margin.lo
    else:
        return None
    return {
        "w": w.tolist(),
        "margin": margin,
        "bound": _bound(question, problem, margin),
        "formula": _formula(question),
        "mine": bool(mine.any()),
        "wrong": np.flatnonzero(~(products(problem, w) > 0.0)).tolist(),
    }


def _bound(question: Question, problem: Problem, margin: float) -> int | None:
    """The most updates that a run of this question can make; None where no theorem bounds them.

    The margin is that of some unit vector, rounded down. A step μ is a run with w₀/μ and δ/μ, which
    are rounded up here. The updates of the pocket algorithm are on mistakes, so the bound holds for
    them. The aggressive rule also updates on rows that are right, so the proof does not apply to
    it.
    """
    if margin <= 0.0 or question.rule == "aggressive":
        return None
    start, delta = math.hypot(*question.vector(question.start).tolist()), question.delta
    start, delta = (
        size / question.mu * (1.0 + 2.0**-50) if size else 0.0 for size in (start, delta)
    )
    if not (math.isfinite(start) and math.isfinite(delta)):
        return None
    if start == delta == 0.0:
        return integer_mistake_bound(problem.radius, margin)
    most = general_bound(problem.radius, margin, [1.0], [start], delta)
    return math.floor(most) if math.isfinite(most) else None


def _formula(question: Question) -> str:
    """The bound on the updates in letters, with the terms that are not zero in this run."""
    over = "" if question.mu == 1.0 else "/μ"
    terms = [f"2δ{over}"] * (question.delta > 0.0)
    terms += [f"2γ‖w₀‖{over}"] * bool(question.vector(question.start).any())
    return f"(R² + {' + '.join(terms)})/γ²" if terms else "R²/γ²"


def _contradiction(problem: Problem, verdict: Verdict) -> Json:
    """λ of the certificate, its sum 1, and the point that the two hulls share."""
    proof = verdict.certificate
    if proof is None or verdict.kind == "separable":
        return {"weights": []}
    weights = proof.multipliers
    if verdict.kind == "quasi-separable" and proof.contradiction is None:
        apart = set(verdict.separated_rows.tolist())  # λ = 1 + μ on all rows that w leaves at 0
        weights = {row: Fraction(1) for row in range(problem.n) if row not in apart} | weights
    total = sum(weights.values(), Fraction(0))
    if total == 0:
        return {"weights": []}
    rows, lam = list(weights), np.array([float(value / total) for value in weights.values()])
    told: Json = {"weights": [[row, float(value)] for row, value in zip(rows, lam, strict=True)]}
    plus = lam * (problem.signs[rows] > 0)
    if not problem.fit_intercept:
        told["meeting"] = [0.0, 0.0]
    elif plus.any():
        told["meeting"] = (plus @ np.asarray(problem.X)[rows] / plus.sum()).tolist()
    if verdict.coef is not None and verdict.coef.any():
        told["weak"] = [*verdict.coef.tolist(), verdict.intercept]
    return told


def _headline(question: Question, problem: Problem, verdict: Verdict, run: Json) -> str:
    """The verdict in a sentence, and for separable data the bound on this run."""
    line = _line(question)
    if len(set(problem.signs.tolist())) == 1 and question.bias:
        return "All points are of one class. Double-click a point, or press F, to flip its label."
    if verdict.kind == "separable":
        gamma, radius = verdict.margin.lo, problem.radius
        most = _most(question, _bound(question, problem, gamma))
        return f"Separable, proved: γ = {gamma:.4g}, R = {radius:.4g}{most} {_made(question, run)}"
    if verdict.kind == "inseparable":
        rows = ", ".join(str(row + 1) for row in verdict.support.tolist())
        return f"No {line} separates them, proved: rows {rows} contradict every {line}."
    if verdict.kind == "quasi-separable":
        apart = len(verdict.separated_rows)
        weakly = f"one does weakly: {_rows(apart)} apart, {problem.n - apart} on it."
        return f"No {line} separates them strictly, proved; {weakly}"
    lo, hi = verdict.margin
    return f"Undecided so far: γ is between {lo:.3g} and {hi:.3g}."


def _line(question: Question) -> str:
    return "line" if question.bias else "line through the origin"


def _most(question: Question, bound: int | None) -> str:
    """The bound on this run, or why there is none; it ends the sentence about γ and R."""
    if question.rule == "aggressive":
        return ". R²/γ² does not bound this rule: it updates on rows that are right, too."
    if bound is None:
        return "."
    counted = "update" if question.delta else "mistake"
    size = f"= {bound:,}" if bound < 10**15 else f"< 10^{len(str(bound))}"
    return f": at most {_formula(question)} {size} {counted}{'' if bound == 1 else 's'}."


def _made(question: Question, run: Json) -> str:
    """The updates of the run, and the mistakes among them where these are fewer."""
    updates, mistakes = len(run["index"]), run["mistakes"][-1]
    made = f"It made {updates}" if run["converged"] else f"Stopped after {updates} updates"
    apart = question.delta > 0.0 or question.rule == "aggressive"
    return f"{made}, {mistakes} of them mistakes." if apart else f"{made}."


def _unit(verdict: Verdict) -> list[float] | None:
    """The w of the largest margin, of length 1; None where there is none in floats."""
    if verdict.kind != "separable" or verdict.coef is None:
        return None
    w = np.append(verdict.coef, verdict.intercept or 0.0)
    return (w / np.linalg.norm(w)).tolist()


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _numbers(what: str, given: object, count: int = 3) -> tuple[float, ...]:
    values = given if isinstance(given, list) else []
    kinds = [isinstance(value, int | float) and not isinstance(value, bool) for value in values]
    wanted, shown = ("a number", values[0]) if count == 1 else (f"{count} numbers", given)
    if kinds != [True] * count or not all(abs(value) <= MAX_NUMBER for value in values):
        raise ValueError(f"{what} is {wanted} between −10⁶ and 10⁶, not {str(shown)[:40]}.")
    if any(0.0 < abs(value) < MIN_NUMBER for value in values):
        raise ValueError(
            f"{what} has a number nearer to 0 than 10⁻⁶⁰, whose products float64 cannot hold: "
            f"{str(shown)[:60]}. Give it as 0, or in other units."
        )
    return tuple(map(float, values))


def _point(row: int, given: object) -> tuple[float, float, int]:
    x1, x2, label = _numbers(f"Point {row}", given)
    if label not in SIDES:
        raise ValueError(f"Point {row} has the label {label:g}, not +1 or −1.")
    return x1, x2, int(label)

"""The answers of the lab: the verdict with its proof, the steps of the run, and shaded sides.

An answer is JSON, described by ``lab.schema.json``. All numbers come from core, geometry and
theory, and the page draws them. A page that stands alone, without the library, computes its answers
by itself (``static/answers.js``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from novikoff.core.kernel_perceptron import KernelModel
from novikoff.core.model import LinearModel
from novikoff.core.orders import Greedy, first_visits, named
from novikoff.core.pocket import compile_pocket_loop, pocket_steps
from novikoff.core.problem import Problem, products, scores
from novikoff.core.rows import Indices, Signs, Vector
from novikoff.core.runs import Plan, Run, train_rule
from novikoff.core.stops import Limits
from novikoff.core.trace import Trace
from novikoff.core.updates import aggressive, perceptron
from novikoff.geometry.margin import margin_of
from novikoff.geometry.passes import LocalPasses
from novikoff.geometry.scheme_rules import find_rules
from novikoff.geometry.separability import find_verdict
from novikoff.geometry.verdict import Verdict
from novikoff.neurons.network import Network
from novikoff.page.question import Question, checked_box
from novikoff.proofs import exact
from novikoff.proofs.certificate import integer_mistake_bound
from novikoff.sentences import (
    counted,
    digits_down,
    digits_up,
    hyperplane,
    large,
    least_mistakes,
    proved_sentence,
    verdict_clause,
    whole_verdict,
)
from novikoff.theory.bounds import general_bound, proof_bounds

MAX_UPDATES, MAX_VISITS, KERNEL_EPOCHS = 300, 2000, 200
# A run in random order may need many epochs, because most of them may have no mistake.
RUN_EPOCHS = 2000
# After this time a verdict is undecided, and the search for the fewest mistakes ends.
MAX_SECONDS = 5.0
LABELS = 1, -1  # the labels of the points in a downloaded file

Json = dict[str, Any]
Score = Callable[[Vector], Vector]


def run_answer(question: Question) -> Json:
    """Answer a question with the verdict, the reference w* of the proof, and the run."""
    if not question.points:
        sentence = "There are no points yet. Click in the plane to add one, or choose data."
        return {"kind": "empty", "sentence": sentence}
    problem = question.problem()
    verdict = find_verdict(problem, LABELS, limits=Limits(seconds=MAX_SECONDS))
    reference = _reference_json(question, problem, verdict)
    ran = _run_json(question, problem, reference)
    return {
        "kind": verdict.kind,
        "sentence": _headline(question, problem, verdict, ran),
        "w_star": _unit(verdict),
        "support": verdict.support.tolist(),
        "separated": verdict.separated_rows.tolist(),
        **_contradiction_json(problem, verdict),
        "reference": reference,
        "run": ran,
    }


def pocket_answer(question: Question) -> Json:
    """Answer with the line of the fewest mistakes found, and a proved lower bound."""
    problem = question.problem()
    compile_pocket_loop(problem)
    codes = (problem.signs > 0).astype(np.int64)
    model = LinearModel(np.array(LABELS[::-1]), problem.d, question.bias)
    limits = Limits(updates=1000, seconds=MAX_SECONDS)
    rules = find_rules(problem, codes, model, limits=limits, seed=question.seed)
    pocket_rule = rules.together[0]
    errors, bound = int(pocket_rule.mistakes), math.ceil(pocket_rule.bound)
    line = _line(question)
    best = f": no {line} is better." if pocket_rule.optimal else ", the fewest found."
    sentence = (
        f"{least_mistakes(line, bound).capitalize()}, proved. The dashed violet line misclassifies "
        f"{errors}{best}"
    )
    return {
        "w": pocket_rule.w.tolist(),
        "errors": errors,
        "bound": bound,
        "history": [[int(t), int(cost)] for t, cost in pocket_rule.history],
        "sentence": sentence,
    }


def recorded_answers(question: Question, box: object = None) -> Json:
    """All answers that an offline page needs.

    These are the answer to the run, the pocket if no line separates the points, and the sides over
    a box if the question shades them.
    """
    answer = run_answer(question)
    pocket = None if answer["kind"] in ("separable", "empty") else pocket_answer(question)
    recorded: Json = {"answer": answer, "pocket": pocket}
    if box is not None and question.sides != "line" and question.points:
        recorded["sides"] = sides_answer(question, box)
    return recorded


def sides_answer(question: Question, box: object, size: int = 80) -> Json:
    """Answer with the side of every point of a grid over a box.

    The sides are rows of + and -, the lowest row first.
    """
    left, bottom, right, top = corners = checked_box(box)
    across, up = np.meshgrid(np.linspace(left, right, size), np.linspace(bottom, top, size))
    problem = question.problem()
    score, words = _score(question, problem)
    signs = np.where(score(np.column_stack([across.ravel(), up.ravel()])) > 0.0, "+", "-")
    fit = int((score(np.asarray(problem.X)) * problem.signs > 0.0).sum())
    return {
        "box": corners,
        "rows": [*map("".join, signs.reshape(size, size))],
        "sentence": f"Shaded: {words}. Correct: {fit} of {counted(problem.n, 'row')}.",
    }


def certificate_text(question: Question) -> str:
    """The certificate of the verdict as a JSON text, for ``novikoff verify``."""
    verdict = find_verdict(question.problem(), LABELS, limits=Limits(seconds=MAX_SECONDS))
    if verdict.certificate is None:
        raise ValueError("The verdict is undecided, so there is no certificate.")
    return verdict.certificate.to_json()


def _run_json(question: Question, problem: Problem, reference: Json | None) -> Json:
    """The run as JSON. Lists over t begin with t = 0."""
    w_star = None if reference is None else np.array(reference["w"])
    outcome: Json
    if question.rule == "pocket":
        trace, outcome = _pocket_run(question, problem, w_star)
    else:
        ran, trace = _traced(question, problem, w_star)
        outcome = {
            "visited": ran.visited, "converged": ran.converged, "stop": str(ran.stops[0]),
            "period": ran.periods[0],
        }  # fmt: skip
    W, norm = trace.weights(), math.hypot(*question.vector(question.start).tolist())
    margins = scores(problem.X, W.T) * problem.signs[:, None]  # (n, T + 1)
    lists: Json = {
        "index": trace.index.tolist(),
        "n_steps": trace.n_steps.tolist(),
        "margin": trace.margin.tolist(),
        "tau": trace.tau.tolist(),
        "weights": W.tolist(),
        "averages": trace.average().tolist(),
        "squared_norm": [norm**2, *trace.squared_norm.tolist()],
        "errors": (~(margins > 0.0)).sum(axis=0).tolist(),
        "mistakes": [0, *np.cumsum(~(trace.margin > 0.0)).tolist()],
        **outcome,
        **_visits(question, problem, outcome["visited"], trace, margins),
    }
    gamma, inner = 0.0, 0.0
    if w_star is not None and trace.inner is not None and trace.cosine is not None:
        gamma, inner = (reference or {})["margin"], float(w_star @ W[0])
        lists["inner"] = [inner, *trace.inner.tolist()]
        lists["cosine"] = [inner / norm if norm > 0.0 else 0.0, *trace.cosine.tolist()]
    bounds = proof_bounds(
        np.arange(len(W)), problem.radius, gamma,
        step_size=question.mu, threshold=question.delta, inner=inner, norm=norm,
    )  # fmt: skip
    lists["bounds"] = {name: part.tolist() for name, part in bounds._asdict().items()}
    if norm == 0.0:
        lists["ceiling"] = [None, *trace.margin_ceilings().tolist()]
    return lists


def _traced(question: Question, problem: Problem, w_star: Vector | None) -> tuple[Run, Trace]:
    """Run the perceptron or the aggressive rule."""
    mu, aggressively = question.mu, question.rule == "aggressive"
    update = aggressive(mu) if aggressively else perceptron(question.delta, mu)
    plan = Plan(
        update, named(question.order), Limits(RUN_EPOCHS, MAX_UPDATES), question.seed,
        trace=True, reference=w_star,
    )  # fmt: skip
    ran = train_rule(problem, plan, start=question.vector(question.start))
    return ran, ran.traces[0]


def _pocket_run(question: Question, problem: Problem, w_star: Vector | None) -> tuple[Trace, Json]:
    """Run the pocket algorithm: perceptron updates on random mistakes (Gallant 1990).

    The list ``pocket`` says, for each t, after which update the w in the pocket was found.
    """
    start = question.vector(question.start)
    rng = np.random.default_rng(question.seed)
    steps = list(islice(pocket_steps(problem, rng, start=start), MAX_UPDATES + 1))
    index = np.array([step.row for step in steps[1:]], dtype=np.int64)
    W = np.array([step.w for step in steps])
    margin = [float(products(problem, w)[row]) for w, row in zip(W, index, strict=False)]
    trace = Trace(
        index=index, n_steps=np.arange(len(index)), margin=np.array(margin),
        tau=np.ones(len(index)), squared_norm=np.square(W[1:]).sum(axis=1),
        inner=None if w_star is None else W[1:] @ w_star,
        cosine=None if w_star is None else _cosines(W[1:], w_star), problem=problem, start=start,
    )  # fmt: skip
    pocket_steps_so_far = np.maximum.accumulate(
        [t if step.kept else 0 for t, step in enumerate(steps)]
    )
    done = steps[-1].mistakes == 0
    stop = "no mistake of w" if done else "the limit on updates"
    outcome: Json = {"visited": len(index), "converged": done, "stop": stop, "period": None}
    outcome["errors"] = [int(step.mistakes) for step in steps]
    return trace, outcome | {"pocket": pocket_steps_so_far.tolist()}


def _cosines(W: Vector, w_star: Vector) -> Vector:
    norms = np.linalg.norm(W, axis=1)
    return np.divide(W @ w_star, norms, out=np.zeros(len(W)), where=norms > 0.0)


def _score(question: Question, problem: Problem) -> tuple[Score, str]:
    """The score f of the rule to shade, positive on the side +, and the rule in words."""
    if question.sides == "line":
        raise ValueError("The answer to the run shows the sides of the line.")
    if question.sides == "network":
        return _network_score()
    codes = (problem.signs > 0).astype(np.int64)
    if question.sides == "voted":
        return _vote_score(question, problem)
    return _kernel_score(question, problem, codes)


def _network_score() -> tuple[Score, str]:
    """The score of a network of two layers that computes XOR."""
    network = Network.xor()
    low, high = (0.0 - network.biases[2:4]).tolist()
    words = (
        f"a network of three neurons: the first fires if x₁ + x₂ ≥ {low:g}, the second if "
        f"x₁ + x₂ ≥ {high:g}, and the third if only the first fires"
    )
    return lambda X: network.forward(X)[:, 0] - 0.5, words


def _vote_score(question: Question, problem: Problem) -> tuple[Score, str]:
    """The share of votes for + minus the share for −: the voted perceptron.

    Every w_k of the run votes with sign⟨w_k, x⟩, once for each row that the run visited while the
    weights were w_k (Freund and Schapire 1999).
    """
    if question.rule == "pocket":
        raise ValueError("The pocket algorithm has no vote. Choose another rule.")
    ran, trace = _traced(question, problem, None)
    W, votes = trace.weights(), np.diff(trace.n_steps, prepend=0, append=ran.visited)

    def share(X: Vector) -> Vector:
        out = np.empty(len(X))
        for first in range(0, len(X), 256):
            block = scores(X[first : first + 256], W.T)
            out[first : first + 256] = np.where(block > 0.0, 1.0, -1.0) @ votes
        return out / max(1, ran.visited)

    return share, "the vote of all w; each w has one vote for every row visited with it"


def _kernel_score(question: Question, problem: Problem, codes: Indices) -> tuple[Score, str]:
    """The score of the kernel perceptron."""
    order, spread = named(question.order), float(np.asarray(problem.X).var(axis=0).sum())
    if isinstance(order, Greedy):
        raise ValueError("The kernel perceptron has no maximal order. Choose another order.")
    gamma = 1.0 / spread if spread > 0.0 else 1.0  # the kernel is as wide as the points spread
    settings = {
        "kernel": question.sides, "gamma": gamma, "degree": 2, "coef0": 1.0, "cache_bytes": 1e6,
    }  # fmt: skip
    model = KernelModel(np.array([-1, 1]), 2, question.bias, settings)
    plan = Plan(perceptron(), order, Limits(KERNEL_EPOCHS, None, MAX_SECONDS), question.seed)
    ran = model.train(problem, codes, plan)
    formulas = {"rbf": f"exp(−{gamma:.3g}·‖x − z‖²)", "poly": f"({gamma:.3g}·⟨x, z⟩ + 1)²"}
    end = "then a clean round" if ran.converged else f"no clean round in {ran.epochs}"
    words = f"the kernel perceptron, K(x, z) = {formulas[question.sides]}; "
    return lambda X: model.scores(X)[:, 0], f"{words}mistakes: {ran.mistakes}, {end}"


def _visits(
    question: Question, problem: Problem, visited: int, trace: Trace, margins: Vector
) -> Json:
    """The rows in the order of their visits, with ⟨a_i, w⟩ at each visit; None if there are many.

    There are no visits for the pocket algorithm, which reads all rows before each update.
    """
    rng = np.random.default_rng(question.seed)
    most = min(visited, MAX_VISITS + 1)
    rows = first_visits(named(question.order), problem, rng, most)
    if question.rule == "pocket" or rows is None or len(rows) != visited or visited > MAX_VISITS:
        return {"visits": None}
    t = np.searchsorted(trace.n_steps, np.arange(visited), side="left")
    return {"visits": rows.tolist(), "visit_margin": margins[rows, t].tolist()}


def _reference_json(question: Question, problem: Problem, verdict: Verdict) -> Json | None:
    """The unit vector w* of the proof with its γ and its bound.

    w* is the learner's own vector, or else the vector of the largest margin; None if there is none.
    """
    mine, best = question.vector(question.mine), _unit(verdict)
    if mine.any():
        w, margin = mine / np.linalg.norm(mine), margin_of(problem, mine)
    elif best is not None and verdict.margin.lo > 0.0:
        w, margin = np.array(best), verdict.margin.lo
    else:
        return None
    bound = _update_bound(question, problem, margin)
    return {
        "w": w.tolist(),
        "margin": margin,
        "bound": bound,
        "bound_text": None if bound is None else large(bound),
        "formula": _bound_formula(question),
        "mine": bool(mine.any()),
        "wrong": np.flatnonzero(_exact_signs(problem, mine if mine.any() else w) <= 0).tolist(),
    }


def _exact_signs(problem: Problem, w: Vector) -> Signs:
    """The exact signs of ⟨a_i, w⟩ on all rows."""
    A = LocalPasses(problem).at(np.arange(problem.n))
    return exact.product_signs(A, exact.floats(w[: A.shape[1]]))


def _update_bound(question: Question, problem: Problem, margin: float) -> int | None:
    """The largest number of updates that this run can make; None if no theorem bounds it.

    ``margin`` is the margin of some unit vector, rounded down. A run with step μ is a run with step
    1 from w₀/μ with the threshold δ/μ; both are rounded up here. The pocket algorithm updates only
    on mistakes, so the bound holds for it. The aggressive rule also updates on correctly classified
    rows, so the proof does not apply to it.
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


def _bound_formula(question: Question) -> str:
    """The formula of the bound on the updates, with the terms that are not zero in this run."""
    over = "" if question.mu == 1.0 else "/μ"
    terms = [f"2δ{over}"] * (question.delta > 0.0)
    terms += [f"2γ‖w₀‖{over}"] * bool(question.vector(question.start).any())
    return f"(R² + {' + '.join(terms)})/γ²" if terms else "R²/γ²"


def _contradiction_json(problem: Problem, verdict: Verdict) -> Json:
    """The multipliers λ of the certificate, with the sum 1, and the common point of the hulls."""
    proof = verdict.certificate
    if proof is None or verdict.kind == "separable":
        return {"weights": []}
    weights = proof.multipliers
    if verdict.kind == "quasi-separable" and proof.contradiction is None:
        apart = set(verdict.separated_rows.tolist())  # λ = 1 + μ on all rows with ⟨a_i, w⟩ = 0
        weights = {row: Fraction(1) for row in range(problem.n) if row not in apart} | weights
    total = sum(weights.values(), Fraction(0))
    if total == 0:
        return {"weights": []}
    rows, lam = list(weights), np.array([float(value / total) for value in weights.values()])
    contradiction: Json = {
        "weights": [[row, float(value)] for row, value in zip(rows, lam, strict=True)]
    }
    plus = lam * (problem.signs[rows] > 0)
    if not problem.fit_intercept:
        contradiction["meeting"] = [0.0, 0.0]
    elif plus.any():
        contradiction["meeting"] = (plus @ np.asarray(problem.X)[rows] / plus.sum()).tolist()
    if verdict.coef is not None and verdict.coef.any():
        contradiction["weak"] = [*verdict.coef.tolist(), verdict.intercept]
    return contradiction


def _headline(question: Question, problem: Problem, verdict: Verdict, run: Json) -> str:
    """The verdict as a sentence and, for separable data, the bound on this run."""
    line = _line(question)
    if len(set(problem.signs.tolist())) == 1 and question.bias:
        return "All points have one label. Double-click a point, or press F, to flip its label."
    if verdict.kind == "separable":
        gamma, radius = verdict.margin.lo, problem.radius
        most = _bound_clause(question, _update_bound(question, problem, gamma))
        sizes = f"γ ≥ {digits_down(gamma)}, R ≤ {digits_up(radius)}"
        return f"{proved_sentence('Separable', sizes)}{most} {_run_clause(question, run)}"
    if verdict.kind == "inseparable":
        noun = "row" if len(verdict.support) == 1 else "rows"
        rows = ", ".join(str(row + 1) for row in verdict.support.tolist())
        clause = verdict_clause(verdict.kind, line, f"{noun} {rows}")
        return f"{proved_sentence('Inseparable', clause)}."
    if verdict.kind == "quasi-separable":
        stated = whole_verdict(verdict.kind, line, problem.n, len(verdict.separated_rows))
        return f"{proved_sentence('Quasi-separable', stated)}."
    lo, hi = verdict.margin
    return f"Undecided so far: γ is between {digits_down(lo, 3)} and {digits_up(hi, 3)}."


def _line(question: Question) -> str:
    return hyperplane(fit_intercept=question.bias, noun="line")


def _bound_clause(question: Question, bound: int | None) -> str:
    """The end of the sentence about γ and R: the bound on this run, or why there is none."""
    if question.rule == "aggressive":
        return ". R²/γ² does not bound this rule: it also updates on correctly classified rows."
    if bound is None:
        return "."
    noun = ("update" if question.delta else "mistake") + ("" if bound == 1 else "s")
    return f": at most ⌊{_bound_formula(question)}⌋ = {large(bound)} {noun}."


def _run_clause(question: Question, run: Json) -> str:
    """A sentence with the updates of the run, and how many of them are mistakes if not all."""
    updates, mistakes = len(run["index"]), run["mistakes"][-1]
    made = f"This run made {updates}"
    if not run["converged"]:
        made = f"This run was stopped after {updates} updates"
    apart = question.delta > 0.0 or question.rule == "aggressive"
    return f"{made}, {mistakes} of them mistakes." if apart else f"{made}."


def _unit(verdict: Verdict) -> list[float] | None:
    """The w of the largest margin, scaled to length 1; None if no floats have such a w."""
    if verdict.kind != "separable" or verdict.coef is None:
        return None
    w = np.append(verdict.coef, verdict.intercept or 0.0)
    return (w / np.linalg.norm(w)).tolist()

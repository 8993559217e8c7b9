"""The answers of the lab equal those of a ten-line perceptron, and follow the schema."""

from __future__ import annotations

import copy
import json
import math
import re
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import novikoff as nv
from novikoff.core.rows import Vector
from novikoff.core.trace import Trace
from novikoff.page import answers, presets
from novikoff.page.export import script
from novikoff.page.question import MAX_NUMBER, MIN_NUMBER, Question
from tests.cases import case_named

jsonschema = pytest.importorskip("jsonschema")

SCHEMA = json.loads((presets.RECORDS.parent.parent / "lab.schema.json").read_text())
ALL = presets.presets()
PLAIN = [
    n for n, p in ALL.items()
    if p["question"].get("order", "cyclic") == "cyclic" and p["question"].get("rule") != "pocket"
]  # fmt: skip


def _items(validator: Any, schema: Any, values: Any, parent: Any) -> Any:
    """Check an array; of numbers alone at once, because answers have many thousands of them."""
    number = schema == {"type": "number"} and isinstance(values, list)
    if number and {*map(type, values)} <= {int, float}:
        return ()
    return jsonschema.Draft202012Validator.VALIDATORS["items"](validator, schema, values, parent)


@cache
def validator(part: str) -> Any:
    kind = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"items": _items})
    return kind({**SCHEMA, "$ref": f"#/$defs/{part}"})


def valid(part: str, value: object) -> None:
    validator(part).validate(value)


def signed(question: dict[str, Any]) -> Any:
    table = np.array(question["points"], dtype=np.float64)
    pad = np.full(len(table), float(question.get("bias", True)))
    return np.column_stack([table[:, :2], pad]) * table[:, 2:]


def ten_lines(A: Any, delta: float, most: int) -> tuple[list[int], list[Any]]:
    """An independent perceptron."""
    w, acts, path = np.zeros(3), list[int](), [np.zeros(3)]
    clean = False
    while not clean and len(acts) < most:
        clean = True
        for i, a in enumerate(A):
            if not a @ w > delta and len(acts) < most:
                w = w + a
                acts.append(i)
                path.append(w)
                clean = False
    return acts, path


def check(question: dict[str, Any], told: dict[str, Any]) -> None:
    """Recompute the answer to the page, and raise AssertionError if it differs."""
    A, run = signed(question), told["run"]
    delta = math.inf if question.get("rule") == "aggressive" else 0.0
    acts, path = ten_lines(A, delta, answers.MAX_UPDATES)
    assert run["index"] == acts
    W = np.array(run["weights"])
    np.testing.assert_allclose(W, path, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(run["squared_norm"], (W * W).sum(axis=1), rtol=1e-9)
    assert run["errors"] == [int((A @ w <= 0).sum()) for w in W]
    t = np.arange(len(W))
    if told["kind"] == "separable":
        u = np.array(told["reference"]["w"])
        gamma, R = (A @ u).min(), np.linalg.norm(A, axis=1).max()
        assert math.isclose(np.linalg.norm(u), 1.0, rel_tol=1e-12)
        assert math.isclose(told["reference"]["margin"], gamma, rel_tol=1e-7)
        np.testing.assert_allclose(run["inner"], W @ u, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(run["bounds"]["inner"], t * gamma, rtol=1e-7)
        np.testing.assert_allclose(run["bounds"]["squared_norm"], t * R**2, rtol=1e-7)
        np.testing.assert_allclose(run["bounds"]["cosine"], np.sqrt(t) * gamma / R, rtol=1e-7)
        if delta == 0.0:
            assert told["reference"]["bound"] == math.floor((R / gamma) ** 2 * (1 + 1e-9))
    else:
        lam = np.array([value for _, value in told["weights"]])
        rows = [row for row, _ in told["weights"]]
        assert math.isclose(lam.sum(), 1.0)
        assert (lam > 0).all()
        assert np.linalg.norm(lam @ A[rows]) < 1e-9 * np.linalg.norm(A, axis=1).max()


@pytest.mark.parametrize("name", ALL)
def test_recorded_answers_are_the_library_s(name: str) -> None:
    question = Question.from_json(ALL[name]["question"])
    record = json.loads((presets.RECORDS / f"{name}.json").read_text())
    told = json.loads(json.dumps(answers.run_answer(question)))
    valid("question", ALL[name]["question"])
    valid("answer", told)
    assert same(record["answer"], told)
    assert (record["pocket"] is None) == (told["kind"] == "separable")
    if record["pocket"] is not None:
        best = answers.pocket_answer(question)
        valid("pocket", best)
        assert record["pocket"]["errors"] == best["errors"]
        assert record["pocket"]["bound"] == best["bound"]
    assert ("sides" in record) == (question.sides != "line")
    if "sides" in record:
        shaded = answers.sides_answer(question, ALL[name]["box"])
        valid("sides", json.loads(json.dumps(shaded)))
        assert same(record["sides"], json.loads(json.dumps(shaded)))


def same(a: object, b: object) -> bool:
    """They are equal up to rounding, which differs between machines."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float | int) and isinstance(b, float | int):
        return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9)
    return a == b


@pytest.mark.parametrize("name", PLAIN)
def test_the_run_is_a_ten_line_perceptron(name: str) -> None:
    question = ALL[name]["question"]
    check(question, answers.run_answer(Question.from_json(question)))


@pytest.mark.parametrize("seed", range(12))
def test_a_period_is_that_of_the_run_in_integers(seed: int) -> None:
    """The weights at the ends of rounds repeat after `period` rounds, and not earlier."""
    rng = np.random.default_rng(seed)
    points = rng.integers(-2, 3, (5, 2)).tolist()
    question = {"points": [[*point, int(rng.choice([-1, 1]))] for point in points]}
    run = answers.run_answer(Question.from_json(question))["run"]
    A, w, seen = signed(question).astype(int), np.zeros(3, dtype=int), dict[Any, int]()
    for epoch in range(1000):
        if tuple(w.tolist()) in seen:
            break
        seen[tuple(w.tolist())] = epoch
        for a in A:
            w = w + a * (a @ w <= 0)
    period = epoch - seen[tuple(w.tolist())]
    if run["converged"]:
        assert (run["period"], period) == (None, 1)
    else:
        assert run["period"] in (None, period)
    xor = answers.run_answer(Question.from_json(ALL["xor"]["question"]))["run"]
    assert xor["period"] == 1


def _more_margin(told: dict[str, Any]) -> None:
    told["reference"]["margin"] *= 1.1


def step_late(told: dict[str, Any]) -> None:
    told["run"]["weights"] = [told["run"]["weights"][0], *told["run"]["weights"][:-1]]


def _row_off(told: dict[str, Any]) -> None:
    told["run"]["index"][0] += 1


def _lambda_dropped(told: dict[str, Any]) -> None:
    told["weights"] = told["weights"][1:]


@pytest.mark.parametrize(
    ("name", "break_it"),
    [
        ("two_clouds", _more_margin),
        ("two_clouds", step_late),
        ("xor", _row_off),
        ("xor", _lambda_dropped),
    ],
)
def test_a_wrong_answer_is_caught(name: str, break_it: Callable[[dict[str, Any]], None]) -> None:
    question = ALL[name]["question"]
    told = copy.deepcopy(answers.run_answer(Question.from_json(question)))
    check(question, told)
    break_it(told)
    with pytest.raises(AssertionError):
        check(question, told)


@pytest.mark.parametrize("order", ["cyclic", "permuted", "random", "blocks", "fixed"])
def test_the_visits_and_the_running_average_over_them(order: str) -> None:
    question = {**ALL["two_clouds"]["question"], "order": order, "seed": 3}
    A, run = signed(question), answers.run_answer(Question.from_json(question))["run"]
    assert len(run["visits"]) == run["visited"]
    acts = dict(zip(run["n_steps"], run["index"], strict=True))
    w, total, means = np.zeros(3), np.zeros(3), [np.zeros(3)]
    for look, row in enumerate(run["visits"]):
        m = float(A[row] @ w)
        assert math.isclose(run["visit_margin"][look], m, rel_tol=1e-6, abs_tol=1e-9)
        assert acts.get(look) == (row if m <= 0 else None)
        w = w + A[row] * (m <= 0)
        total = total + w
        if m <= 0:
            means.append(total / (look + 1))
    np.testing.assert_allclose(run["averages"], means, rtol=1e-8)
    assert run["converged"]


def test_a_rule_of_one_s_own_has_its_margin_and_bound() -> None:
    question = {**ALL["two_clouds"]["question"], "mine": [1.0, 1.0, -0.9]}
    told = answers.run_answer(Question.from_json(question))
    A, u = signed(question), np.array([1.0, 1.0, -0.9])
    gamma = float((A @ u).min() / np.linalg.norm(u))
    reference, run = told["reference"], told["run"]
    assert reference["mine"]
    assert math.isclose(reference["margin"], gamma, rel_tol=1e-9)
    assert gamma < nv.separate(A[:, :2] * A[:, 2:], A[:, 2]).margin.lo
    assert reference["bound"] == math.floor((np.linalg.norm(A, axis=1).max() / gamma) ** 2)
    assert all(a >= b - 1e-9 for a, b in zip(run["inner"], run["bounds"]["inner"], strict=True))
    hopeless = answers.run_answer(Question.from_json({**question, "mine": [-1, -1, 0]}))[
        "reference"
    ]
    assert hopeless["margin"] < 0
    assert hopeless["bound"] is None
    assert len(hopeless["wrong"]) > 0


def test_a_step_changes_nothing_from_zero_and_a_start_does() -> None:
    plain = ALL["two_clouds"]["question"]
    one = answers.run_answer(Question.from_json(plain))["run"]
    half = answers.run_answer(Question.from_json({**plain, "step_size": 0.5}))["run"]
    assert half["index"] == one["index"]
    moved = answers.run_answer(Question.from_json({**plain, "start": [-3, 2, 1], "threshold": 0.5}))
    run, bounds = moved["run"], moved["run"]["bounds"]
    assert run["index"] != one["index"]
    assert len(run["index"]) <= moved["reference"]["bound"]
    R = np.linalg.norm(signed(plain), axis=1).max()  # ‖w₀‖² + t·(μ²R² + 2μδ)
    np.testing.assert_allclose(np.diff(bounds["squared_norm"]), R**2 + 2 * 0.5)
    assert bounds["squared_norm"][0] == run["squared_norm"][0] == 14.0
    for key, sign in (("inner", 1.0), ("squared_norm", -1.0), ("cosine", 1.0)):
        with case_named((key, sign)):
            slack = sign * (np.array(run[key]) - np.array(bounds[key]))
            assert slack.min() >= -1e-9
    valid("answer", moved)


def test_no_points_and_one_class_are_explained() -> None:
    empty = answers.run_answer(Question.from_json({"points": []}))
    valid("answer", empty)
    assert "no points" in empty["sentence"]
    alone = answers.run_answer(Question.from_json({"points": [[1, 1, 1], [2, 0, 1]]}))
    valid("answer", alone)
    assert "one label" in alone["sentence"]
    with pytest.raises(ValueError, match="at least one point"):
        answers.pocket_answer(Question.from_json({"points": []}))


BAD: list[tuple[object, str]] = [
    ([], "The question has no field 'points'"),
    ({}, "The question has no field 'points'"),
    ({"points": None}, "'points' in the question is not a list"),
    ({"points": [[0, 0, 1]] * 301}, "at most 300"),
    ({"points": [[math.nan, 0, 1]]}, "Point 1 must be 3 numbers"),
    ({"points": [[0, 1e7, 1]]}, "between"),
    ({"points": [[0, 10**400, 1]]}, "between"),
    ({"points": [[0, True, 1]]}, "Point 1"),
    ({"points": [[0, "1", 1]]}, "Point 1"),
    ({"points": [[0, 0, 1], [0, 0, 2]]}, "Point 2"),
    ({"points": [[0, 0]]}, "Point 1"),
    ({"points": [[0, 1e-200, 1]]}, "Point 1 has a number closer to 0 than 10⁻⁶⁰"),
    ({"points": [], "step_size": 1e-300}, "The step size μ has a number closer to 0"),
    ({"points": [], "step_size": "1"}, "The step size μ must be a number"),
    ({"points": [], "order": "chaotic"}, "'order' in the question is not one of cyclic, "),
    ({"points": [], "order": ["cyclic"]}, "'order' in the question is not one of cyclic, "),
    ({"points": [], "rule": "adaline"}, "'rule' in the question is not one of perceptron, "),
    ({"points": [], "sides": "spiral"}, "not one of line, voted, rbf, poly, network"),
    ({"points": [], "seed": -1}, "'seed' in the question"),
    ({"points": [], "seed": True}, "'seed' in the question"),
    ({"points": [], "seed": 2**31}, "The seed must be at most 2147483647"),
    ({"points": [], "bias": 1}, "'bias' in the question is neither true nor false"),
    ({"points": [], "step_size": 0}, "step size μ must be positive"),
    ({"points": [], "threshold": -1}, "not be negative"),
    ({"points": [], "start": [1, 2]}, "w₀ must be 3 numbers"),
    ({"points": [], "colour": "red"}, "The question has the unknown field 'colour'"),
    ({"points": [], "names": "ab"}, "'names' in the question is not a list"),
    ({"points": [], "names": ["a"]}, "two texts"),
    ({"points": [], "names": ["a", "b" * 41]}, "two texts"),
]


@pytest.mark.parametrize(("asked", "complaint"), BAD, ids=[complaint for _, complaint in BAD])
def test_a_bad_question_is_rejected_with_a_reason(asked: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as error:
        Question.from_json(asked)
    assert str(error.value).endswith(".")


BOX = [-2.0, -3.0, 3.0, 2.0]


def check_sides(question: dict[str, Any], told: dict[str, Any], clf: Any) -> None:
    """Compare the grid and the sentence with an estimator of the family."""
    table, size = np.array(question["points"]), len(told["rows"])
    X, y = table[:, :2], table[:, 2].astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the sentence says that no cycle was clean
        clf.fit(X, y)
    left, bottom, right, top = told["box"]
    at = [[x, z] for z in np.linspace(bottom, top, size) for x in np.linspace(left, right, size)]
    scores = clf.decision_function(np.array(at))
    plus = np.array([sign == "+" for row in told["rows"] for sign in row])
    assert (plus == (scores > 0))[np.abs(scores) > 1e-9].all()
    assert f"Correct: {int((clf.predict(X) == y).sum())} of {len(X)} rows." in told["sentence"]
    if isinstance(clf, nv.KernelPerceptron):
        assert f"mistakes: {clf.n_mistakes_}, " in told["sentence"]
        assert ("then a clean round" in told["sentence"]) == clf.converged_


class Voted:
    """The voted perceptron (Freund and Schapire 1999) on labels −1 and 1, from its definition."""

    def fit(self, X: Vector, y: Vector) -> None:
        self.visited, clean = [np.zeros(3)], False
        while not clean:
            clean = True
            for x, sign in zip(np.column_stack([X, np.ones(len(X))]), y, strict=True):
                wrong = sign * (x @ self.visited[-1]) <= 0.0
                self.visited.append(self.visited[-1] + wrong * sign * x)
                clean &= not wrong

    def decision_function(self, X: Vector) -> Vector:
        scores = np.column_stack([X, np.ones(len(X))]) @ np.array(self.visited[1:]).T
        return np.asarray(np.where(scores > 0.0, 1, -1).mean(axis=1))

    def predict(self, X: Vector) -> Vector:
        return np.where(self.decision_function(X) > 0.0, 1, -1)


def test_the_vote_is_that_of_every_w_after_every_look() -> None:
    question = {**ALL["and"]["question"], "sides": "voted"}
    told = answers.sides_answer(Question.from_json(question), BOX)
    check_sides(question, told, Voted())


def kernel_perceptron(question: dict[str, Any]) -> nv.KernelPerceptron:
    X = np.array(question["points"])[:, :2]
    return nv.KernelPerceptron(
        question["sides"], gamma=1 / X.var(axis=0).sum(), degree=2,
        max_epochs=answers.KERNEL_EPOCHS, fit_intercept=question.get("bias", True),
        order=question.get("order", "cyclic"), random_state=question.get("seed", 0),
    )  # fmt: skip


@pytest.mark.parametrize(
    "more",
    [{}, {"order": "permuted", "seed": 3}, {"order": "random", "seed": 5}],
    ids=["plain", "permuted", "random"],
)
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("name", ["xor", "flipped", "equal_rows", "through_origin"])
def test_the_kernel_s_sides_are_the_estimator_s(
    name: str, kernel: str, more: dict[str, Any]
) -> None:
    asked = {**ALL[name]["question"], "sides": kernel, **more}
    told = answers.sides_answer(Question.from_json(asked), BOX)
    valid("sides", json.loads(json.dumps(told)))
    check_sides(asked, told, kernel_perceptron(asked))
    for mutant in ({"rows": told["rows"][::-1]}, {"box": [-2.5, -3.0, 2.5, 2.0]}):
        with case_named([*mutant]), pytest.raises(AssertionError):
            check_sides(asked, told | mutant, kernel_perceptron(asked))


def test_xor_by_a_network() -> None:
    told = answers.sides_answer(
        Question.from_json(ALL["xor_network"]["question"]), [0, 0, 1, 1], size=2
    )
    assert told["rows"] == ["-+", "+-"]
    assert "Correct: 4 of 4 rows." in told["sentence"]


@pytest.mark.parametrize(
    ("name", "gate"), [("and", nv.neurons.and_gate(2)), ("or", nv.neurons.or_gate(2))]
)
def test_a_gate_is_a_neuron(name: str, gate: Any) -> None:
    table = np.array(ALL[name]["question"]["points"])
    assert (gate(table[:, :2]) == (table[:, 2] > 0)).all()
    assert gate.rule(2)[0].tolist() == [1, 1]
    assert f"weights 1 and 1 and θ = {gate.theta} " in ALL[name]["lesson"]


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ({"sides": "rbf", "order": "max_distance"}, "no maximal order"),
        ({}, "shows the sides of the line"),
        ({"sides": "voted", "rule": "pocket"}, "has no vote"),
    ],
)
def test_sides_that_cannot_be_shown(more: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        answers.sides_answer(Question.from_json({**ALL["xor"]["question"], **more}), BOX)


@pytest.mark.parametrize("order", ["permuted", "random", "max_residual"])
def test_the_estimator_repeats_the_run(order: str) -> None:
    """So does the exported script."""
    question = {**ALL["two_clouds"]["question"], "order": order, "seed": 3}
    told = answers.run_answer(Question.from_json(question))
    table = np.array(question["points"])
    clf = nv.Perceptron(order=order, random_state=3, trace=True)
    clf.fit(table[:, :2], table[:, 2])
    assert isinstance(clf.trace_, Trace)
    assert clf.trace_.index.tolist() == told["run"]["index"]
    text = script(Question.from_json(question))
    assert f"order={order!r}" in text
    assert "random_state=3" in text


def test_the_certificate_proves_the_verdict() -> None:
    table = np.array(ALL["flipped"]["question"]["points"])
    proof = answers.certificate_text(Question.from_json(ALL["flipped"]["question"]))
    nv.Certificate.from_json(proof).verify(table[:, :2], table[:, 2].astype(int))


def test_the_aggressive_preset_is_the_doubling_stream() -> None:
    question = ALL["aggressive"]["question"]
    stream = nv.theory.compare_aggressive("doubling", length=len(question["points"]))
    rows = np.column_stack([stream.X, np.ones(len(stream.y))]) * stream.y[:, None]
    np.testing.assert_array_equal(signed(question)[:, :2], rows)
    told = answers.run_answer(Question.from_json(question))
    mistakes = np.array(told["run"]["mistakes"])
    assert mistakes[1 : len(rows) + 1].tolist() == stream.aggressive.tolist()
    errs = (np.flatnonzero(np.diff(stream.aggressive, prepend=0)) + 1).tolist()
    assert errs[-4:] == [32, 64, 128, 256]
    assert "at rows 32, 64, 128, 256, and at every later power of 2" in ALL["aggressive"]["lesson"]
    later = nv.theory.compare_aggressive("doubling", length=4096).aggressive
    assert (np.flatnonzero(np.diff(later, prepend=0)) + 1).tolist() == [
        *errs, 512, 1024, 2048, 4096
    ]  # fmt: skip
    plain = answers.run_answer(Question.from_json(question | {"rule": "perceptron"}))
    assert (len(plain["run"]["index"]), stream.perceptron[-1]) == (2, 2)
    assert "The perceptron makes two mistakes" in ALL["aggressive"]["lesson"]
    assert "This run was stopped after 300 updates, 13 of them mistakes." in told["sentence"]


MOVED = {"feature_x100": ([100.0, 1.0], [0.0, 0.0]), "far_away": ([1.0, 1.0], [3.0, 2.0])}


@pytest.mark.parametrize("name", MOVED)
def test_the_clouds_are_those_of_another_preset(name: str) -> None:
    (factor, shift), lesson = MOVED[name], ALL[name]["lesson"]
    clouds, moved = (np.array(ALL[key]["question"]["points"]) for key in ("two_clouds", name))
    np.testing.assert_allclose(moved[:, :2], clouds[:, :2] * factor + shift, rtol=1e-12)
    assert (moved[:, 2] == clouds[:, 2]).all()
    made, most = [], []
    for table in (clouds, moved):
        X, y = table[:, :2], table[:, 2].astype(int)
        made.append(nv.Perceptron(order="cyclic", max_epochs=10_000).fit(X, y).n_mistakes_)
        most.append(nv.separate(X, y).mistake_bound)
    if name == "far_away":
        assert f"makes {made[1]} mistakes instead of {made[0]}" in lesson
    else:
        assert f"from {made[0]} mistakes to {made[1]:,}, of which {answers.MAX_UPDATES}" in lesson
        assert f"the bound grows from {most[0]} to {most[1]:,}" in lesson


KINDS = {
    "xor": "inseparable", "flipped": "inseparable", "equal_rows": "quasi-separable",
    "xor_kernel": "inseparable", "circles": "inseparable",
    "on_the_line": "quasi-separable", "and": "separable", "or": "separable",
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_the_verdict_is_that_of_the_lesson(name: str) -> None:
    answer = answers.run_answer(Question.from_json(ALL[name]["question"]))
    assert answer["kind"] == KINDS[name]
    table = ALL[name]["question"]["points"]
    if name == "equal_rows":
        assert any([*spot, -label] in table for *spot, label in table)


def test_the_bounds_are_as_large_as_the_lessons_say() -> None:
    wide, thin = (
        answers.run_answer(Question.from_json(ALL[name]["question"]))
        for name in ("two_clouds", "thin_margin")
    )
    assert len(wide["run"]["index"]) < wide["reference"]["bound"] / 5
    assert thin["reference"]["margin"] < wide["reference"]["margin"] / 2
    assert thin["reference"]["bound"] > 2 * wide["reference"]["bound"]


def test_the_tight_run_makes_as_many_mistakes_as_the_theorem_allows() -> None:
    """No two rows have a positive product, and every inequality is almost an equality."""
    question = ALL["tight"]["question"]
    A, told = signed(question), answers.run_answer(Question.from_json(question))
    products = (A @ A.T)[np.triu_indices(3, 1)]
    assert (products > -3e-4).all()
    assert (products <= 0).all()
    assert len(told["run"]["index"]) == told["reference"]["bound"] == 3
    for name in ("inner", "squared_norm", "cosine"):
        with case_named(name):
            np.testing.assert_allclose(told["run"][name], told["run"]["bounds"][name], rtol=2e-4)
    assert "the bound is 3, and the run makes 3 mistakes" in ALL["tight"]["lesson"]


def check_pocket(question: dict[str, Any], told: dict[str, Any]) -> None:
    """Recompute the pocket algorithm from the rows that were drawn."""
    A, run = signed(question), told["run"]
    w = np.array(question.get("start") or [0.0, 0.0, 0.0]) * (1.0, 1.0, question.get("bias", True))
    best, fewest = 0, int((~(A @ w > 0)).sum())
    assert (run["errors"][0], run["pocket"][0]) == (fewest, 0)
    for t, row in enumerate(run["index"], 1):
        assert A[row] @ w <= 1e-9 * np.linalg.norm(A[row]) * max(1.0, float(np.linalg.norm(w)))
        w = w + A[row]
        np.testing.assert_allclose(run["weights"][t], w, rtol=1e-9, atol=1e-9)
        wrong = int((~(A @ w > 0)).sum())
        assert run["errors"][t] == wrong
        if wrong < fewest:
            best, fewest = t, wrong
        assert run["pocket"][t] == best
    assert run["mistakes"] == list(range(len(run["index"]) + 1))
    assert run["converged"] == (fewest == 0)


POCKETS = ["flipped", "xor", "two_clouds", "on_the_line", "through_origin", "equal_rows"]


@pytest.mark.parametrize("name", POCKETS)
@pytest.mark.parametrize(("seed", "start"), [(0, None), (1, None), (2, [1.0, -2.0, 0.5])])
def test_the_pocket_is_stepped_as_it_is_printed(
    name: str, seed: int, start: list[float] | None
) -> None:
    question = ALL[name]["question"] | {"rule": "pocket", "seed": seed, "start": start}
    told = answers.run_answer(Question.from_json(question))
    valid("answer", json.loads(json.dumps(told)))
    check_pocket(question, told)
    drawn = [*told["run"]["pocket"]]
    for wrong in ([drawn[-1]] * len(drawn), [0] * len(drawn), [*range(len(drawn))]):
        with case_named(wrong):
            if wrong != drawn:
                broken = told | {"run": told["run"] | {"pocket": wrong}}
                with pytest.raises(AssertionError):
                    check_pocket(question, broken)
    table, w = np.array(question["points"]), start or [0.0, 0.0, 0.0]
    b = w[2:] if question.get("bias", True) else [0.0]
    clf = nv.Pocket(
        "textbook", fit_intercept=question.get("bias", True), max_updates=answers.MAX_UPDATES,
        random_state=seed,
    )  # fmt: skip
    clf.fit(table[:, :2], table[:, 2].astype(int), coef_init=[w[:2]], intercept_init=b)
    errors = told["run"]["errors"]
    assert np.asarray(clf.history_)[:, 1].tolist() == [errors[at] for at in told["run"]["pocket"]]


def test_the_pocket_preset_ends_as_its_lesson_says() -> None:
    question = Question.from_json(ALL["pocket"]["question"])
    run, least = answers.run_answer(question)["run"], answers.pocket_answer(question)
    assert (run["errors"][run["pocket"][-1]], least["bound"]) == (1, 1)
    assert not run["converged"]
    assert "ends with 1 mistake. No line makes fewer." in ALL["pocket"]["lesson"]
    with pytest.raises(ValueError, match="has no vote"):
        answers.sides_answer(
            Question.from_json(ALL["pocket"]["question"] | {"sides": "voted"}), BOX
        )


def random_question(turn: int) -> dict[str, Any]:
    """A few points, most of them separable by far, with any δ, w₀, μ, order and bias."""
    rng = np.random.default_rng(turn)
    n, bias = int(rng.integers(2, 12)), bool(rng.integers(2))
    X = rng.normal(size=(n, 2)).round(int(rng.integers(0, 3)))
    u = rng.normal(size=3) * (1.0, 1.0, bias)
    side = np.where(X @ u[:2] + u[2] > 0, 1, -1)
    X += side[:, None] * u[:2] * rng.choice([0.0, 0.5, 3.0])
    question: dict[str, Any] = {
        "points": [[x1, x2, int(label)] for (x1, x2), label in zip(X.tolist(), side, strict=True)],
        "bias": bias,
        "seed": int(rng.integers(100)),
        "order": str(rng.choice(["cyclic", "permuted", "random", "max_distance", "max_residual"])),
        "rule": {0: "aggressive", 5: "pocket"}.get(turn % 10, "perceptron"),
        "step_size": float(rng.choice([1e-3, 0.1, 0.5, 1.0, 3.0, 100.0])),
        "threshold": float(rng.choice([0.0, 0.1, 1.0, 20.0, 300.0])),
    }
    if turn % 3 > 0:
        question["start"] = (rng.normal(size=3) * 10.0 ** rng.integers(-2, 4)).tolist()
    if turn % 4 == 0:
        question["mine"] = (u + 0.1 * rng.normal(size=3)).round(6).tolist()
    return question


def check_bounds(question: dict[str, Any], told: dict[str, Any]) -> int:
    """Compare every number that is called a bound with the updates; return how many there were."""
    run, reference = told["run"], told["reference"]
    updates, stated = len(run["index"]), re.findall(r"at most [^=]* = ([\d,]+) ", told["sentence"])
    bounds = [int(number.replace(",", "")) for number in stated]
    if reference is not None and reference["bound"] is not None:
        bounds.append(reference["bound"])
    if question["rule"] == "aggressive":
        assert bounds == []
        return 0
    assert all(updates <= bound for bound in bounds), (updates, bounds)
    t = np.arange(updates + 1)
    if reference is not None and reference["margin"] > 0:
        for key, sign in (("inner", 1.0), ("squared_norm", -1.0), ("cosine", 1.0)):
            value, limit = np.array(run[key]), np.array(run["bounds"][key])
            held = sign * (value - limit) >= -1e-9 * np.maximum(1.0, np.abs(limit))
            assert (held | ((key == "cosine") & (np.array(run["squared_norm"]) == 0))).all(), key
    assert len(run["mistakes"]) == len(t)
    return len(bounds)


def test_no_run_makes_more_updates_than_the_page_says() -> None:
    stated = close = 0
    for turn in range(300):
        with case_named(turn):
            question = random_question(turn)
            told = answers.run_answer(Question.from_json(question))
            valid("answer", json.loads(json.dumps(told)))
            stated += check_bounds(question, told)
            if told["kind"] == "separable" and question["rule"] == "perceptron":
                close += len(told["run"]["index"]) > (told["reference"]["bound"] or math.inf) / 2
    assert stated > 250
    assert close > 10  # the test would notice a bound that is half of the true one


@pytest.mark.parametrize("step", [1e-60, 1.0, 1e6])
@pytest.mark.parametrize("size", [MIN_NUMBER, 1e-30, 1.0, MAX_NUMBER])
@pytest.mark.parametrize("start", [None, [1.0, -1e6, 1.0]])
def test_numbers_at_the_limits_keep_the_bound(
    step: float, size: float, start: list[float] | None
) -> None:
    """Numbers below the limit would vanish in products, and every visit would be a mistake."""
    points = [[size, size, 1], [-size, size, -1], [size, 0.0, 1]]
    question = {
        "points": points,
        "bias": False,
        "step_size": step,
        "start": start,
        "rule": "perceptron",
    }
    told = answers.run_answer(Question.from_json(question))
    assert told["kind"] == "separable"
    check_bounds(question, told)
    assert len(told["sentence"]) < 200


GENERAL = [
    ({}, "at most ⌊R²/γ²⌋ = 84 mistakes. This run made 8."),
    ({"threshold": 20.0}, "at most ⌊(R² + 2δ)/γ²⌋ = "),
    ({"threshold": 20.0}, " updates. This run made 135, "),
    ({"start": [-300.0, -400.0, 300.0]}, "at most ⌊(R² + 2γ‖w₀‖)/γ²⌋ = "),
    (
        {"start": [-3.0, 4.0, 3.0], "threshold": 1.0, "step_size": 0.5},
        "⌊(R² + 2δ/μ + 2γ‖w₀‖/μ)/γ²⌋ = ",
    ),
    ({"rule": "aggressive"}, "R²/γ² does not bound this rule: it also updates on correctly"),
]


@pytest.mark.parametrize(("more", "words"), GENERAL)
def test_the_headline_has_the_bound_of_this_run(more: dict[str, Any], words: str) -> None:
    question = ALL["two_clouds"]["question"] | more
    told = answers.run_answer(Question.from_json(question))
    assert words in told["sentence"]
    if "start" in more or "threshold" in more:
        A, w0 = signed(question), np.array(more.get("start", [0, 0, 0]))
        gamma, R = told["reference"]["margin"], np.linalg.norm(A, axis=1).max()
        mu, delta = more.get("step_size", 1.0), more.get("threshold", 0.0)
        most = (R**2 + 2 * delta / mu + 2 * gamma * np.linalg.norm(w0) / mu) / gamma**2
        assert f" = {math.floor(most * (1 + 1e-9)):,} " in told["sentence"]
    margins = np.array(told["run"]["margin"])
    assert told["run"]["mistakes"][-1] == (margins <= 0).sum()

"""The lab's study: its answers equal a ten-line perceptron, and are what its schema says."""

from __future__ import annotations

import copy
import itertools
import json
import math
import warnings
from typing import Any

import numpy as np
import pytest

import novikoff as nv
from novikoff.core.counts import Trace
from novikoff.page import presets, study
from novikoff.page.export import script
from novikoff.page.study import Question

jsonschema = pytest.importorskip("jsonschema")

SCHEMA = json.loads((presets.RECORDS.parent.parent / "lab.schema.json").read_text())
ALL = presets.presets()
PLAIN = [n for n, p in ALL.items() if p["question"].get("order", "cyclic") == "cyclic"]


def valid(part: str, value: object) -> None:
    jsonschema.Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{part}"}).validate(value)


def signed(question: dict[str, Any]) -> Any:
    table = np.array(question["points"], dtype=np.float64)
    pad = np.full(len(table), float(question.get("bias", True)))
    return np.column_stack([table[:, :2], pad]) * table[:, 2:]


def ten_lines(A: Any, delta: float, most: int) -> tuple[list[int], list[Any]]:
    """The perceptron, once more."""
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
    """Recompute what the page is told, and raise AssertionError where it differs."""
    A, run = signed(question), told["run"]
    delta = math.inf if question.get("rule") == "aggressive" else 0.0
    acts, path = ten_lines(A, delta, study.MAX_UPDATES)
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
    told = json.loads(json.dumps(study.answer(question)))
    valid("question", ALL[name]["question"])
    valid("answer", told)
    assert same(record["answer"], told)
    assert (record["pocket"] is None) == (told["kind"] == "separable")
    if record["pocket"] is not None:
        best = study.pocket(question)
        valid("pocket", best)
        assert record["pocket"]["errors"] == best["errors"]
        assert record["pocket"]["bound"] == best["bound"]
    assert ("sides" in record) == (question.sides != "line")
    if "sides" in record:
        shaded = study.sides(question, ALL[name]["box"])
        valid("sides", json.loads(json.dumps(shaded)))
        assert same(record["sides"], json.loads(json.dumps(shaded)))


def same(a: object, b: object) -> bool:
    """Equal but for rounding, which differs between machines."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float | int) and isinstance(b, float | int):
        return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9)
    return a == b


def test_the_run_is_a_ten_line_perceptron() -> None:
    for name in PLAIN:
        question = ALL[name]["question"]
        check(question, study.answer(Question.from_json(question)))


def _more_margin(told: dict[str, Any]) -> None:
    told["reference"]["margin"] *= 1.1


def step_late(told: dict[str, Any]) -> None:
    told["run"]["weights"] = [told["run"]["weights"][0], *told["run"]["weights"][:-1]]


def _row_off(told: dict[str, Any]) -> None:
    told["run"]["index"][0] += 1


def _lambda_dropped(told: dict[str, Any]) -> None:
    told["weights"] = told["weights"][1:]


def test_a_wrong_answer_is_caught() -> None:
    for name, break_it in (
        ("two_clouds", _more_margin),
        ("two_clouds", step_late),
        ("xor", _row_off),
        ("xor", _lambda_dropped),
    ):
        question = ALL[name]["question"]
        told = copy.deepcopy(study.answer(Question.from_json(question)))
        check(question, told)
        break_it(told)
        with pytest.raises(AssertionError):
            check(question, told)


def test_the_rows_looked_at_and_the_running_average_over_all_looks() -> None:
    for order in ("cyclic", "permuted", "random", "blocks", "fixed"):
        question = {**ALL["two_clouds"]["question"], "order": order, "seed": 3}
        A, run = signed(question), study.answer(Question.from_json(question))["run"]
        assert len(run["visits"]) == run["visited"]
        acts = dict(zip(run["step"], run["index"], strict=True))
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
    told = study.answer(Question.from_json(question))
    A, u = signed(question), np.array([1.0, 1.0, -0.9])
    gamma = float((A @ u).min() / np.linalg.norm(u))
    reference, run = told["reference"], told["run"]
    assert reference["mine"]
    assert math.isclose(reference["margin"], gamma, rel_tol=1e-9)
    assert gamma < nv.separate(A[:, :2] * A[:, 2:], A[:, 2]).margin.lo
    assert reference["bound"] == math.floor((np.linalg.norm(A, axis=1).max() / gamma) ** 2)
    assert all(a >= b - 1e-9 for a, b in zip(run["inner"], run["bounds"]["inner"], strict=True))
    hopeless = study.answer(Question.from_json({**question, "mine": [-1, -1, 0]}))["reference"]
    assert hopeless["margin"] < 0
    assert hopeless["bound"] is None
    assert len(hopeless["wrong"]) > 0


def test_a_step_changes_nothing_from_zero_and_a_start_does() -> None:
    plain = ALL["two_clouds"]["question"]
    one = study.answer(Question.from_json(plain))["run"]
    half = study.answer(Question.from_json({**plain, "step": 0.5}))["run"]
    assert half["index"] == one["index"]
    moved = study.answer(Question.from_json({**plain, "start": [-3, 2, 1], "threshold": 0.5}))
    run, bounds = moved["run"], moved["run"]["bounds"]
    assert run["index"] != one["index"]
    assert len(run["index"]) <= moved["reference"]["bound"]
    R = np.linalg.norm(signed(plain), axis=1).max()  # ‖w₀‖² + t·(μ²R² + 2μδ)
    np.testing.assert_allclose(np.diff(bounds["squared_norm"]), R**2 + 2 * 0.5)
    assert bounds["squared_norm"][0] == run["squared_norm"][0] == 14.0
    for key, sign in (("inner", 1.0), ("squared_norm", -1.0), ("cosine", 1.0)):
        slack = sign * (np.array(run[key]) - np.array(bounds[key]))
        assert slack.min() >= -1e-9
    valid("answer", moved)


def test_no_points_and_one_class_are_sentences() -> None:
    empty = study.answer(Question.from_json({"points": []}))
    valid("answer", empty)
    assert "No points" in empty["sentence"]
    alone = study.answer(Question.from_json({"points": [[1, 1, 1], [2, 0, 1]]}))
    valid("answer", alone)
    assert "one class" in alone["sentence"]
    with pytest.raises(ValueError, match="at least one point"):
        study.pocket(Question.from_json({"points": []}))


BAD: list[tuple[object, str]] = [
    ([], "points are a list"),
    ({}, "points are a list"),
    ({"points": [[0, 0, 1]] * 301}, "at most 300"),
    ({"points": [[math.nan, 0, 1]]}, "Point 1 is 3 numbers"),
    ({"points": [[0, 1e7, 1]]}, "between"),
    ({"points": [[0, 10**400, 1]]}, "between"),
    ({"points": [[0, True, 1]]}, "Point 1"),
    ({"points": [[0, "1", 1]]}, "Point 1"),
    ({"points": [[0, 0, 1], [0, 0, 2]]}, "Point 2"),
    ({"points": [[0, 0]]}, "Point 1"),
    ({"points": [], "order": "chaotic"}, "order is one of"),
    ({"points": [], "rule": "adaline"}, "rule is one of"),
    ({"points": [], "sides": "spiral"}, "sides are of line, voted, rbf, poly, network, not"),
    ({"points": [], "seed": -1}, "seed"),
    ({"points": [], "seed": True}, "seed"),
    ({"points": [], "bias": 1}, "bias"),
    ({"points": [], "step": 0}, "step μ is positive"),
    ({"points": [], "threshold": -1}, "not negative"),
    ({"points": [], "start": [1, 2]}, "w₀ is 3 numbers"),
    ({"points": [], "colour": "red"}, "no field"),
    ({"points": [], "names": ["a"]}, "two texts"),
    ({"points": [], "names": ["a", "b" * 41]}, "two texts"),
]


def test_a_bad_question_is_refused_in_a_sentence() -> None:
    for asked, complaint in BAD:
        with pytest.raises(ValueError, match=complaint):
            Question.from_json(asked)


BOX = [-2.0, -3.0, 3.0, 2.0]


def check_sides(question: dict[str, Any], told: dict[str, Any], clf: Any) -> None:
    """Compare the grid and the sentence with an estimator of the family."""
    table, size = np.array(question["points"]), len(told["rows"])
    X, y = table[:, :2], table[:, 2].astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no clean cycle: the sentence says so too
        clf.fit(X, y)
    left, bottom, right, top = told["box"]
    at = [[x, z] for z in np.linspace(bottom, top, size) for x in np.linspace(left, right, size)]
    scores = clf.decision_function(np.array(at))
    plus = np.array([sign == "+" for row in told["rows"] for sign in row])
    assert (plus == (scores > 0))[np.abs(scores) > 1e-9].all()
    assert f"Right: {int((clf.predict(X) == y).sum())} of {len(X)} rows." in told["sentence"]
    if isinstance(clf, nv.KernelPerceptron):
        assert f"mistakes: {clf.n_mistakes_}, " in told["sentence"]
        assert ("then a clean round" in told["sentence"]) == clf.converged_


def test_the_vote_is_the_estimator_s() -> None:
    question = {**ALL["and"]["question"], "sides": "voted"}
    told = study.sides(Question.from_json(question), BOX)
    check_sides(question, told, nv.Perceptron(order="cyclic", average="voted"))


def kernel_perceptron(question: dict[str, Any]) -> nv.KernelPerceptron:
    X = np.array(question["points"])[:, :2]
    return nv.KernelPerceptron(
        question["sides"], gamma=1 / X.var(axis=0).sum(), degree=2, max_epochs=study.KERNEL_EPOCHS,
        fit_intercept=question.get("bias", True), order=question.get("order", "cyclic"),
        random_state=question.get("seed", 0),
    )  # fmt: skip


def test_the_kernel_s_sides_are_the_estimator_s() -> None:
    for name, kernel, more in itertools.product(
        ["xor", "flipped", "equal_rows", "through_origin"],
        ["rbf", "poly"],
        [{}, {"order": "permuted", "seed": 3}],
    ):
        asked = {**ALL[name]["question"], "sides": kernel, **more}
        told = study.sides(Question.from_json(asked), BOX)
        valid("sides", json.loads(json.dumps(told)))
        check_sides(asked, told, kernel_perceptron(asked))
        for mutant in ({"rows": told["rows"][::-1]}, {"box": [-2.5, -3.0, 2.5, 2.0]}):
            with pytest.raises(AssertionError):
                check_sides(asked, told | mutant, kernel_perceptron(asked))


def test_xor_by_a_network_and_gates_by_a_neuron() -> None:
    told = study.sides(Question.from_json(ALL["xor_network"]["question"]), [0, 0, 1, 1], size=2)
    assert told["rows"] == ["-+", "+-"]
    assert "Right: 4 of 4 rows." in told["sentence"]
    for name, gate in (("and", nv.neurons.and_gate(2)), ("or", nv.neurons.or_gate(2))):
        table = np.array(ALL[name]["question"]["points"])
        assert (gate(table[:, :2]) == (table[:, 2] > 0)).all()
        assert gate.rule(2)[0].tolist() == [1, 1]
        assert f"weights 1 and 1 and θ = {gate.theta} " in ALL[name]["lesson"]


def test_sides_that_there_are_not() -> None:
    maximal = {"sides": "rbf", "order": "max_distance"}
    for more, complaint in ((maximal, "no maximal rule"), ({}, "come with the run")):
        with pytest.raises(ValueError, match=complaint):
            study.sides(Question.from_json({**ALL["xor"]["question"], **more}), BOX)


def test_the_estimator_repeats_the_run() -> None:
    """So does the exported script."""
    for order in ("permuted", "random", "max_residual"):
        question = {**ALL["two_clouds"]["question"], "order": order, "seed": 3}
        told = study.answer(Question.from_json(question))
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
    proof = study.certificate(Question.from_json(ALL["flipped"]["question"]))
    nv.Certificate.from_json(proof).verify(table[:, :2], table[:, 2].astype(int))

"""The tour: every statement of its scenes that names a number is that of the library."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

from novikoff.page import answers, presets
from novikoff.page.question import Question
from tests.cases import case_named
from tests.page.test_lab import signed

MENU = presets.presets()
TOUR = json.loads((presets.RECORDS / "tour.json").read_text(encoding="utf-8"))
SCENES = {scene["title"]: scene for scene in TOUR}


def question(title: str, **more: Any) -> dict[str, Any]:
    scene = SCENES[title]
    return {**MENU[scene["preset"]]["question"], **scene.get("question", {}), **more}


def answer(title: str, **more: Any) -> Any:
    return answers.run_answer(Question.from_json(question(title, **more)))


@pytest.mark.parametrize("title", SCENES)
def test_a_scene_has_a_state_a_text_a_question_and_an_answer(title: str) -> None:
    scene = SCENES[title]
    told = answer(title)
    assert scene.get("at", 0) <= max(told["run"]["visited"], len(told["run"]["index"]))
    assert scene["panel"] in ("space", "step", "leaf", "inner", "norm", "angle")
    assert len(re.findall(r"[.:!?](?= [A-Z]|$)", scene["text"])) in (3, 4)
    assert scene["ask"].count("?") >= 1
    assert scene["answer"].endswith(".")


def test_the_tour_is_a_lesson_of_45_minutes() -> None:
    assert len(TOUR) == 8
    assert sum(scene["minutes"] for scene in TOUR) == 45


def test_geometry() -> None:
    assert answer("Geometry")["run"]["errors"][0] == 2


def test_the_algorithm() -> None:
    run = answer("The algorithm")["run"]
    assert (run["n_steps"][0], len(run["index"]), run["converged"]) == (0, 9, True)
    assert "after 9 mistakes" in SCENES["The algorithm"]["answer"]


def test_the_bound() -> None:
    told = answer("The bound and its proof")
    made, bound = len(told["run"]["index"]), told["reference"]["bound"]
    said = SCENES["The bound and its proof"]["answer"]
    assert f"here at {bound}; the run makes {made} mistakes" in said
    assert told["run"]["cosine"][2] < told["run"]["cosine"][1]
    assert "at the second mistake" in said


def test_neither_order_is_always_better() -> None:
    made = [
        len(answer("Order and scale", order=order)["run"]["index"])
        for order in ("max_distance", SCENES["Order and scale"]["beside"])
    ]
    assert (
        f"makes {made[0]} mistakes and the cyclic order {made[1]}."
        in (SCENES["Order and scale"]["answer"])
    )
    wins = set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.integers(-3, 4, (6, 2))
        y = np.where(X @ rng.normal(size=2) + rng.normal() > 0, 1, -1)
        points = np.column_stack([X, y]).tolist()
        runs = [
            answers.run_answer(Question.from_json({"points": points, "order": order}))
            for order in ("max_distance", "cyclic")
        ]
        if runs[0]["kind"] == "separable":
            first, second = (len(told["run"]["index"]) for told in runs)
            wins.add(np.sign(first - second))
        if {-1, 1} <= wins:
            return
    raise AssertionError(wins)


def test_xor_and_its_loop() -> None:
    told = answer("XOR and the pocket")
    best = answers.pocket_answer(Question.from_json(question("XOR and the pocket")))
    assert (told["kind"], told["run"]["period"], len(told["weights"])) == ("inseparable", 1, 4)
    assert (best["errors"], best["bound"]) == (1, 1)


def test_the_adversary() -> None:
    told = answer("The adversary, and why the bound is tight")
    assert len(told["run"]["index"]) == told["reference"]["bound"]
    for d in (2, 5, 9):  # unit vectors, and labels that contradict every prediction
        with case_named(d):
            w, made = np.zeros(d), 0
            rows = []
            for unit in np.eye(d):
                label = -1 if unit @ w > 0 else 1
                made += 1
                rows.append(label * unit)
                w = w + label * unit
            star = np.sum(rows, axis=0) / np.sqrt(d)
            assert made == d
            np.testing.assert_allclose(np.array(rows) @ star, 1 / np.sqrt(d))


def test_the_kernel_makes_rows_independent() -> None:
    points = np.array(question("Kernels")["points"])[:, :2]
    gram = np.exp(-2 * ((points[:, None] - points) ** 2).sum(axis=2))
    assert np.linalg.eigvalsh(gram).min() > 0.1
    box = MENU["xor_kernel"]["box"]
    told = answers.sides_answer(Question.from_json(question("Kernels")), box)
    assert "exp(−2·‖x − z‖²)" in told["sentence"]
    assert "Correct: 4 of 4" in told["sentence"]


def test_inequalities_have_a_cone_of_solutions() -> None:
    told = answer("Inequalities")
    assert told["kind"] == "separable"
    assert (signed(question("Inequalities")) @ np.array(told["w_star"]) > 0).all()

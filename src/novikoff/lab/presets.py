"""Data for a lesson each, with recorded answers, so that the page is alive while kernels compile.

``python -m novikoff.lab.presets`` records the answers anew; a test compares them with the library.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

RECORDS = Path(__file__).parent / "static" / "presets"

_SQUARE = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]


def presets() -> dict[str, dict[str, Any]]:
    """Name → title, lesson and question, in the order of the menu."""
    clouds = _clouds(5, 18, 0.35)
    deep = max(range(len(clouds)), key=lambda row: 0.6 * clouds[row][0] + 0.8 * clouds[row][1])
    flipped = [[x, y, -label if row == deep else label] for row, (x, y, label) in enumerate(clouds)]
    wide = [[round(100.0 * x, 2), y, label] for x, y, label in _clouds(7, 10, 0.3, (0.0, 1.0))]
    far = [[round(x + 3.5, 2), round(y + 2.6, 2), label] for x, y, label in _clouds(0, 10, 0.6)]
    return {
        "two_clouds": _preset(
            "Two clouds",
            "A wide margin: few mistakes, far fewer than the bound allows.",
            clouds,
        ),
        "thin_margin": _preset(
            "Thin margin",
            "Two points come close, γ is small, and the bound R²/γ² is large.",
            _clouds(3, 12, 0.07),
        ),
        "corner_trap": _preset(
            "Corner trap",
            "One long row pulls w far off, and many short rows must pull it back.",
            [[2.4, 2.5, 1], [0.2, 0.4, 1], [-0.3, 0.0, 1], [0.3, 0.0, -1], [-0.2, -0.5, -1],
             [0.6, 0.3, -1]],
        ),
        "and": _preset("AND", "One line is enough: only (1, 1) is positive.",
                       _logic([-1, -1, -1, 1])),
        "or": _preset("OR", "One line is enough: only (0, 0) is negative.",
                      _logic([-1, 1, 1, 1])),
        "xor": _preset(
            "XOR",
            "No line: the two diagonals cross, and their common point is the proof.",
            _logic([-1, 1, 1, -1]),
        ),
        "flipped": _preset(
            "One flipped label",
            "One wrong label makes it impossible; the contradiction names the suspects.",
            flipped,
        ),
        "on_the_line": _preset(
            "Points on the line",
            "Quasi-separable: a line keeps the others apart, but some points must lie on it.",
            [[-1.5, -1.0, -1], [-0.5, -1.6, -1], [1.2, -0.8, -1], [-1.0, 0.0, -1], [0.6, 0.0, -1],
             [-0.2, 0.0, 1], [1.4, 0.0, 1], [-0.8, 1.2, 1], [0.5, 0.9, 1], [1.6, 1.5, 1]],
        ),
        "equal_rows": _preset(
            "Equal rows, opposite labels",
            "Two identical points with opposite labels contradict every rule, line or not.",
            [[-1.4, -0.6, -1], [-0.7, -1.3, -1], [-1.1, 0.4, -1], [0.3, 0.2, -1],
             [0.3, 0.2, 1], [1.2, 0.9, 1], [0.8, 1.6, 1], [1.7, -0.2, 1]],
        ),
        "feature_x100": _preset(
            "A feature × 100",
            "The same clouds with x₁ in other units: R grows, and so do the bound and the run.",
            wide,
        ),
        "far_away": _preset(
            "Far from the origin",
            "The same clouds moved away: a translation changes R and γ, though not the picture.",
            far,
        ),
        "max_distance": _preset(
            "Cyclic or max distance",
            "Always the row farthest on the wrong side: often fewer mistakes. Switch the order.",
            _clouds(9, 18, 0.35),
            order="max_distance",
        ),
        "aggressive": _preset(
            "Aggressive perceptron",
            "It moves on rows it gets right too: the second inequality breaks, and it never ends.",
            _clouds(5, 8, 0.5),
            rule="aggressive",
        ),
        "through_origin": _preset(
            "Without a bias",
            "Lines through the origin only: weight space is a plane, and the solutions a cone.",
            [[1.8, 0.2, 1], [1.2, 1.5, 1], [0.4, 1.9, 1], [2.0, -0.6, 1], [-0.6, -1.5, -1],
             [-1.6, 0.3, -1], [-1.0, -1.0, -1], [0.7, -1.1, -1]],
            bias=False,
        ),
    }  # fmt: skip


def record() -> None:
    """Write the answers of the library to all presets, one file each, and the menu."""
    from novikoff.lab.study import Question, answer, pocket

    RECORDS.mkdir(exist_ok=True)
    menu = {}
    for name, preset in presets().items():
        question = Question.from_json(preset["question"])
        told = answer(question)
        hopeless = told["kind"] != "separable"
        body = {"answer": told, "pocket": pocket(question) if hopeless else None}
        (RECORDS / f"{name}.json").write_text(_dump(body), encoding="utf-8")
        menu[name] = preset
    (RECORDS / "menu.json").write_text(_dump(menu), encoding="utf-8")


def _preset(title: str, lesson: str, points: list[Any], **more: object) -> dict[str, Any]:
    return {"title": title, "lesson": lesson, "question": {"points": points, **more}}


def _logic(labels: list[int]) -> list[list[float]]:
    return [[x, y, label] for (x, y), label in zip(_SQUARE, labels, strict=True)]


def _clouds(
    seed: int, each: int, gap: float, normal: tuple[float, float] = (0.6, 0.8)
) -> list[list[float]]:
    """Two half-moons of points that a gap keeps apart, negative and positive in turn."""
    rng, rows = np.random.default_rng(seed), list[list[float]]()
    while len(rows) < 2 * each:
        label = 1 if len(rows) % 2 else -1
        x = rng.uniform(-2.2, 2.2, 2)
        if label * float(x @ normal) > gap and float(x @ x) < 2.3**2:
            rows.append([round(float(x[0]) + 0.5, 2), round(float(x[1]) + 0.4, 2), label])
    return rows


def _dump(body: object) -> str:
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    record()

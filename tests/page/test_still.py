"""The picture of the lab that a notebook keeps for readers without a kernel."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import novikoff as nv
from novikoff.page.answers import run_answer
from novikoff.page.presets import presets
from novikoff.page.question import Question
from novikoff.page.still import still_picture

SVG = "{http://www.w3.org/2000/svg}"
SQUARE = [[0.0, 0.0, -1], [1.0, 1.0, -1], [0.0, 1.0, 1], [1.0, 0.0, 1]]


def drawn(question: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    asked = Question.from_json(question)
    answer = run_answer(asked)
    return ElementTree.fromstring(still_picture(asked, answer)), answer  # noqa: S314


@pytest.mark.parametrize("name", presets())
def test_every_point_and_the_verdict_are_in_the_picture(name: str) -> None:
    question = presets()[name]["question"]
    picture, answer = drawn(question)
    crosses = [path for path in picture.iter(f"{SVG}path") if "h10" in path.attrib["d"]]
    assert len(crosses) == len(question["points"])
    assert sum("v10" in path.attrib["d"] for path in crosses) == sum(
        label > 0 for *_, label in question["points"]
    )
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    assert " ".join(texts[2:]) == answer["sentence"]
    rings = len(answer["support"]) if answer["kind"] == "inseparable" else 0
    assert len([*picture.iter(f"{SVG}circle")]) == rings


@pytest.mark.parametrize("turn", range(20))
def test_the_line_has_the_classes_on_its_two_sides(turn: int) -> None:
    rng = np.random.default_rng(turn)
    normal, X = rng.normal(size=2), rng.normal(size=(12, 2))
    X[0], X[1] = normal, -normal
    labels = np.where(X @ normal > 0.0, 1, -1)
    points = [[*row, int(label)] for row, label in zip(X.tolist(), labels, strict=True)]
    picture, answer = drawn({"points": points})
    assert answer["kind"] == "separable"
    paths = [path.attrib["d"] for path in picture.iter(f"{SVG}path")]
    (line,) = [path for path in paths if "L" in path]
    x, y, u, v = map(float, re.findall(r"-?[\d.]+", line))
    sides = []
    for path in paths:
        if "h10" in path:
            a, b = map(float, re.findall(r"-?[\d.]+", path)[:2])
            sides.append((u - x) * (b - y) - (v - y) * (a + 5 - x))
    assert np.unique(np.sign(sides) * labels).size == 1


def test_names_and_an_empty_plane() -> None:
    picture, _ = drawn({"points": SQUARE, "names": ["a < b", "c & d"]})
    assert [text.text for text in picture.iter(f"{SVG}text")][:2] == ["a < b", "c & d"]
    picture, answer = drawn({"points": []})
    assert answer["sentence"] in " ".join(text.text or "" for text in picture.iter(f"{SVG}text"))


def test_the_widget_leaves_the_picture_in_its_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("anywidget", reason="the widget needs anywidget")
    shown = nv.lab([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    outputs = list[dict[str, str]]()
    monkeypatch.setattr("IPython.display.display", lambda bundle, **words: outputs.append(bundle))
    shown._ipython_display_()
    picture, page = outputs
    said = "Inseparable, proved: no line separates rows 1, 2, 3, 4."
    assert picture["text/plain"] == page["text/plain"] == said
    assert picture["image/svg+xml"].count("<circle") == 4
    assert f'<img id="{shown.still}" alt="{said}"' in picture["text/html"]
    # Exports prefer a widget, which they cannot run, to every other form of the same output.
    view = "application/vnd.jupyter.widget-view+json"
    assert view in page
    assert view not in picture

"""A picture of the lab for notebooks whose page does not run: points, verdict, and its line."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from novikoff.page.question import Question

# The size of the picture and of the plane in it, in pixels.
_STILL, _PLANE, _PAD, _TOP = 480, 400, 40, 16
# The number of characters in a line of the sentence below the plane.
_LINE = 66
_BLUE, _ORANGE, _GREY = "#0b62a4", "#b8500b", "#555555"


def still_picture(question: Question, answer: dict[str, Any]) -> str:
    """Return an SVG image of a question and of its answer (`run_answer`).

    It shows the points, the line of the largest margin or of a quasi-separation, circles around
    the rows of a contradiction, and the verdict as a sentence.
    """
    sentence = textwrap.wrap(answer["sentence"], _LINE)
    below = _TOP + _PLANE + 36
    height = below + 18 * len(sentence)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_STILL} {height}" width="{_STILL}" '
        f'height="{height}" role="img" font-family="sans-serif" font-size="13">',
        f"<title>{escape(answer['sentence'])}</title>",
        f'<rect width="{_STILL}" height="{height}" fill="#ffffff"/>',
        f'<svg x="{_PAD}" y="{_TOP}" width="{_PLANE}" height="{_PLANE}" '
        f'viewBox="0 0 {_PLANE} {_PLANE}">',
        f'<rect width="{_PLANE}" height="{_PLANE}" fill="none" stroke="#999999"/>',
        *(_plane(question, answer) if question.points else ()),
        "</svg>",
        _text(_PAD + _PLANE / 2, _TOP + _PLANE + 16, question.names[0], ' text-anchor="middle"'),
        _text(
            0, 0, question.names[1],
            f' text-anchor="middle" transform="translate(26 {_TOP + _PLANE / 2}) rotate(-90)"',
        ),
        *(_text(_PAD, below + 18 * k, line) for k, line in enumerate(sentence)),
        "</svg>",
    ]  # fmt: skip
    return "\n".join(parts)


def _plane(question: Question, answer: dict[str, Any]) -> Iterator[str]:
    """The line and the points, in the coordinates of the plane."""
    spans = [_span([point[k] for point in question.points]) for k in (0, 1)]

    def place(x1: float, x2: float) -> tuple[float, float]:
        (left, across), (bottom, up) = spans
        return _PLANE * (x1 - left) / across, _PLANE * (1.0 - (x2 - bottom) / up)

    w = answer["w_star"] or answer.get("weak")
    ends = [] if w is None else _crossings(w, spans)
    if len(ends) == 2:
        (x, y), (u, v) = (place(*end) for end in ends)
        yield f'<path d="M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}" stroke="#222222" stroke-width="2"/>'
    ringed = set(answer["support"]) if answer["kind"] == "inseparable" else set()
    for row, (x1, x2, label) in enumerate(question.points):
        x, y = place(x1, x2)
        arms = f"M{x - 5:.1f} {y:.1f}h10" + (f"M{x:.1f} {y - 5:.1f}v10" if label > 0 else "")
        colour = _BLUE if label > 0 else _ORANGE
        yield f'<path d="{arms}" stroke="{colour}" stroke-width="2.5"/>'
        if row in ringed:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="none" stroke="{_GREY}"/>'


def _span(values: Sequence[float]) -> tuple[float, float]:
    """The lower end and the length of an axis that shows all values with a border around them."""
    low, high = min(values), max(values)
    border = 0.08 * (high - low) or max(abs(high), 1.0)
    return low - border, high - low + 2.0 * border


def _crossings(
    w: Sequence[float], spans: Sequence[tuple[float, float]]
) -> list[tuple[float, float]]:
    """The points where the line ⟨w, (x₁, x₂, 1)⟩ = 0 meets the border of the plane."""
    (left, across), (bottom, up) = spans
    w1, w2, b = w
    ends = set[tuple[float, float]]()
    if w2:
        for x1 in (left, left + across):
            if bottom <= (x2 := -(w1 * x1 + b) / w2) <= bottom + up:
                ends.add((x1, x2))
    if w1:
        for x2 in (bottom, bottom + up):
            if left <= (x1 := -(w2 * x2 + b) / w1) <= left + across:
                ends.add((x1, x2))
    return sorted(ends)[:: max(1, len(ends) - 1)]


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x}" y="{y}" fill="#1a1a1a"{more}>{escape(text)}</text>'

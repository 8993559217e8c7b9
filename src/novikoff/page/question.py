"""A question of the lab's page: the points, the rule, and how it runs.

Questions and answers are JSON, described by ``lab.schema.json``. The server, the offline file and
the notebook all use the same questions and answers.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from novikoff.core.class_labels import Labels, distinct_labels, plain_label, signs_of
from novikoff.core.orders import BY_NAME
from novikoff.core.problem import Problem, signed_problem
from novikoff.core.rows import Matrix, Vector, as_dense
from novikoff.errors import InvalidJsonError
from novikoff.proofs.strict_json import take_fields

MAX_POINTS, MAX_NUMBER, MAX_NAME = 300, 1e6, 40
# Other numbers are 0 or at least this far from 0: products of smaller numbers underflow.
MIN_NUMBER = 1e-60
MAX_SEED = 2**31 - 1
RULES = ("perceptron", "aggressive", "pocket")
# The rules whose sides the plane can show. "line" is w itself.
SHADES = ("line", "voted", "rbf", "poly", "network")
_LABELS = 1, -1

# The kind of each field, as `take_fields` names it; numbers are checked afterwards.
_QUESTION_FIELDS: dict[str, str | tuple[str, ...]] = {
    "points": "list", "order": tuple(BY_NAME), "seed": "count", "bias": "flag", "rule": RULES,
    "step_size": "any", "threshold": "any", "start": "any", "mine": "any", "names": "list",
    "sides": SHADES,
}  # fmt: skip


@dataclass(frozen=True)
class Question:
    """A question of the page. Its fields are the fields of its JSON."""

    points: tuple[tuple[float, float, int], ...]  # x₁, x₂, and the label +1 or −1
    order: str = "cyclic"
    seed: int = 0
    bias: bool = True
    rule: str = "perceptron"
    step_size: float = 1.0  # μ
    threshold: float = 0.0  # δ
    start: tuple[float, ...] | None = None  # w₀
    mine: tuple[float, ...] | None = None  # the learner's own w*
    names: tuple[str, str] = ("x₁", "x₂")  # the names of the two features
    sides: str = "line"

    @classmethod
    def from_json(cls, asked: object) -> Question:
        """Check a question that comes from outside.

        Raises a ValueError that says what is wrong with the question.
        """
        defaults = {field.name: field.default for field in fields(cls) if field.name != "points"}
        given = {**defaults, "names": [*cls.names], **(asked if isinstance(asked, Mapping) else {})}
        try:
            asked_fields = take_fields(given, "the question", **_QUESTION_FIELDS)
        except InvalidJsonError as error:
            text = str(error)
            raise InvalidJsonError(f"{text[0].upper()}{text[1:]}.") from None
        points, names = asked_fields["points"], asked_fields["names"]
        start, mine = asked_fields["start"], asked_fields["mine"]
        (mu,) = _checked_numbers("The step size μ", [asked_fields["step_size"]], 1)
        (delta,) = _checked_numbers("The threshold δ", [asked_fields["threshold"]], 1)
        for good, sentence in (
            (len(points) <= MAX_POINTS, f"The lab draws at most {MAX_POINTS} points. novikoff fit "
             "reads files of any size."),
            (asked_fields["seed"] <= MAX_SEED, f"The seed must be at most {MAX_SEED}."),
            (mu > 0.0, "The step size μ must be positive."),
            (delta >= 0.0, "The threshold δ must not be negative."),
            ([*map(type, names)] == [str, str] and max(map(len, names)) <= MAX_NAME,
             f"The names must be two texts of at most {MAX_NAME} characters."),
        ):  # fmt: skip
            if not good:
                raise ValueError(sentence)
        checked = {
            "points": tuple(_checked_point(row, point) for row, point in enumerate(points, 1)),
            "step_size": mu,
            "threshold": delta,
            "start": None if start is None else _checked_numbers("w₀", start),
            "mine": None if mine is None else _checked_numbers("Your w*", mine),
            "names": tuple(names),
        }
        return cls(**{**asked_fields, **checked})

    def problem(self) -> Problem:
        """The rows a_i = y_i·[x_i, 1]."""
        if not self.points:
            raise ValueError("This needs at least one point.")
        table = np.array(self.points)
        return signed_problem(
            np.ascontiguousarray(table[:, :2]), table[:, 2].astype(np.int8), self.bias
        )

    @property
    def mu(self) -> float:
        """The step size μ of the rule; the pocket algorithm has no step size."""
        return 1.0 if self.rule == "pocket" else self.step_size

    @property
    def delta(self) -> float:
        """The threshold δ of the rule; only the perceptron has a threshold."""
        return self.threshold if self.rule == "perceptron" else 0.0

    def vector(self, given: tuple[float, ...] | None) -> Vector:
        """w₀ or the learner's w* as an array, or zeros. Without a bias, its last entry is 0."""
        return np.array(given or (0.0, 0.0, 0.0)) * (1.0, 1.0, float(self.bias))


def points_of(X: Matrix, labels: Labels, positive: Hashable = None) -> list[Any]:
    """Points from two features and two classes, or from a positive class against all others."""
    kinds = distinct_labels(labels)
    if X.shape != (len(labels), 2) or (len(kinds) > 2 and positive is None):
        raise ValueError(
            f"The lab draws two features and two classes, not {X.shape[1]} and {len(kinds)}."
        )
    signs = signs_of(labels, plain_label(plus_of(kinds) if positive is None else positive), None)
    rows = as_dense(X).tolist()
    return [[x1, x2, sign] for (x1, x2), sign in zip(rows, signs.tolist(), strict=True)]


def plus_of(kinds: Sequence[Hashable]) -> Hashable:
    """The class to draw as +: "+" if the labels are + and −, otherwise the last in sorted order."""
    signs = len(kinds) == 2 and "+" in kinds and ("-" in kinds or "−" in kinds)
    return "+" if signs else kinds[-1]


def checked_box(box: object) -> tuple[float, ...]:
    """Check the left, bottom, right and top ends of a box."""
    return _checked_numbers("The box", box, 4)


def _checked_numbers(what: str, given: object, count: int = 3) -> tuple[float, ...]:
    """Check that a value is a list of ``count`` numbers that the lab can compute with."""
    values = given if isinstance(given, list) else []
    kinds = [isinstance(value, int | float) and not isinstance(value, bool) for value in values]
    wanted, shown = ("a number", values[0]) if count == 1 else (f"{count} numbers", given)
    if kinds != [True] * count or not all(abs(value) <= MAX_NUMBER for value in values):
        raise ValueError(f"{what} must be {wanted} between −10⁶ and 10⁶, not {str(shown)[:40]}.")
    if any(0.0 < abs(value) < MIN_NUMBER for value in values):
        raise ValueError(
            f"{what} has a number closer to 0 than 10⁻⁶⁰, too small for products in float64: "
            f"{str(shown)[:60]}. Use 0, or other units."
        )
    return tuple(map(float, values))


def _checked_point(row: int, given: object) -> tuple[float, float, int]:
    x1, x2, label = _checked_numbers(f"Point {row}", given)
    if label not in _LABELS:
        raise ValueError(f"Point {row} has the label {label:g}, not +1 or −1.")
    return x1, x2, int(label)

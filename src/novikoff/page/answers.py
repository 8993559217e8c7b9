"""What the page may ask the library for, by name: the server and the widget answer the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from novikoff.page.export import export
from novikoff.page.study import Question, answer, pocket, sides

ANSWERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "run": lambda body: answer(Question.from_json(body)),
    "pocket": lambda body: pocket(Question.from_json(body)),
    "sides": lambda body: sides(Question.from_json(body.get("question")), body.get("box")),
    "export": export,
}

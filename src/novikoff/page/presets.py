"""The presets of the lab: data for one lesson each, with recorded answers.

The page shows the recorded answers at once, while the library still compiles its loops.
``static/presets/menu.json`` has titles, lessons and questions. ``python -m novikoff.page.presets``
writes the library's answers beside it, and a test compares them with the library.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

STATIC = Path(__file__).parent / "static"
RECORDS = STATIC / "presets"


def presets() -> dict[str, Any]:
    """The title, lesson and question of each preset by its name, in the order of the menu."""
    menu: dict[str, Any] = records()["menu"]
    return menu


def records() -> dict[str, Any]:
    """The menu of presets, the tour and the challenges."""
    return {
        name: json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("menu", "tour", "challenges")
    }


if __name__ == "__main__":
    from novikoff.page.answers import recorded_answers
    from novikoff.page.question import Question

    for name, preset in presets().items():
        body = recorded_answers(Question.from_json(preset["question"]), preset.get("box"))
        text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        (RECORDS / f"{name}.json").write_text(text + "\n", encoding="utf-8")

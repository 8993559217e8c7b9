"""Data for a lesson each, with recorded answers, so that the page is alive while kernels compile.

``static/presets/menu.json`` has titles, lessons and questions. ``python -m novikoff.page.presets``
records the library's answers beside it; a test compares them with the library.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

STATIC = Path(__file__).parent / "static"
RECORDS = STATIC / "presets"


def presets() -> dict[str, Any]:
    """Name → title, lesson and question, in the order of the menu."""
    found: dict[str, Any] = json.loads((RECORDS / "menu.json").read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    from novikoff.page.study import Question, record

    for name, preset in presets().items():
        body = record(Question.from_json(preset["question"]), preset.get("box"))
        text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        (RECORDS / f"{name}.json").write_text(text + "\n", encoding="utf-8")

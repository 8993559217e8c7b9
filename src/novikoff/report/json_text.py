"""The JSON of reports, which is indented and has null instead of infinity."""

from __future__ import annotations

import json
import math


def finite_or_null(number: float) -> float | None:
    """Return a finite number unchanged, and None for infinity, which JSON does not have."""
    return number if math.isfinite(number) else None


def to_json_text(body: object) -> str:
    """Return the text of a JSON file."""
    return json.dumps(body, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

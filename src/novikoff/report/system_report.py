"""The report of ``novikoff solve``: lines for a person, JSON for a program.

A conflict is shown as the sum that it is: each row with its multiplier, and what they add up to.
``system.schema.json`` describes the JSON. Exact numbers are texts there, such as "1/3".
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from novikoff import __version__
from novikoff.data.errors import counted
from novikoff.geometry.system_checker import Multipliers, row_of
from novikoff.geometry.verdict_text import interval, number, some
from novikoff.systems.solution import plain

if TYPE_CHECKING:
    from novikoff.systems.solution import Solution

SCHEMA_VERSION = 1
# Rows of a conflict and values of a point that the text shows; the JSON has all.
_SHOWN = 40
_ROW_WIDTH = 72
_MOST_DIGITS = 9
_SIGNS = str.maketrans({"-": "−"})
_RELATIONS = {"<=": "≤", ">=": "≥", "=": "=", "<": "<", ">": ">"}


@dataclass(frozen=True)
class SystemReport:
    """An answer, the file that it is about, and what was written beside it."""

    solution: Solution
    source: str
    format: str
    notes: Sequence[str] = ()
    point: str = "any"
    more: Sequence[Multipliers] = ()  # further conflicts, without a common row
    files: Mapping[str, str | None] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def conflicts(self) -> list[Multipliers]:
        """The conflict of the answer, and further ones."""
        proof = self.solution.proof
        first = [] if proof is None or proof.conflict is None else [proof.conflict]
        return [*first, *self.more]

    @property
    def bounds(self) -> int:
        """How many bounds the variables have."""
        asked = self.solution.asked
        return int((asked.system.numbers >= len(asked.rows)).sum())

    def row(self, row: int) -> str:
        """A row as a formula; the middle of a long one is left out."""
        left, relation, right = self.solution.asked.text(row).rsplit(" ", 2)
        if len(left) > _ROW_WIDTH:
            terms = len((row_of(self.solution.asked.stated, row) or ((),))[0])
            left = f"{left[: _ROW_WIDTH - 16].rsplit(' ', 2)[0]} … ({terms} terms)"
        return f"{left.translate(_SIGNS)} {_RELATIONS[relation]} {right.translate(_SIGNS)}"

    def contradiction(self, conflict: Multipliers) -> tuple[list[Fraction], str, Fraction]:
        """Multipliers as whole numbers without a common divisor, and the sum: 0 ≤ or < what."""
        over = math.lcm(*(value.denominator for value in conflict.multipliers))
        whole = [int(value * over) for value in conflict.multipliers]
        common = math.gcd(*whole)
        rows = [row_of(self.solution.asked.stated, k) for k in conflict.rows]
        weights = [Fraction(value, common) for value in whole]
        pairs = [(row, weight) for row, weight in zip(rows, weights, strict=True) if row]
        total = sum((weight * row.sign * row.right for row, weight in pairs), Fraction(0))
        strict = any(row.relation in ("<", ">") for row, _ in pairs)
        return weights, "<" if strict else "<=", total

    def to_json(self) -> str:
        """The report as JSON."""
        found, asked = self.solution, self.solution.asked
        names = asked.variables
        inside = found.implicit_equalities if found.kind == "feasible" else None
        body = {
            "schema_version": SCHEMA_VERSION,
            "program": f"novikoff {__version__}",
            "system": {
                "source": self.source,
                "format": self.format,
                "rows": len(asked.rows),
                "variables": len(names),
                "bounds": self.bounds,
                "notes": list(self.notes),
            },
            "kind": found.kind,
            "w": None if found.w is None else dict(zip(names, found.w.tolist(), strict=True)),
            "exact_w": found.exact_w
            and {name: str(value) for name, value in zip(names, found.exact_w, strict=True)},
            "interior": found.interior if found.kind == "feasible" else None,
            "implicit_equalities": inside and [_named(row) for row in inside],
            "radius": self._radius(),
            "conflict": self._conflict(self.conflicts[0]) if self.conflicts else None,
            "more_conflicts": [self._conflict(conflict) for conflict in self.more],
            "least_squares": _by_name(names, found.least_squares),
            "violation": _finite(found.violation),
            "steps": found.n_steps,
            "files": dict(self.files),
            "seconds": self.seconds,
        }
        return json.dumps(body, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

"""The report of ``novikoff solve``: lines for a person, JSON for a program.

A conflict is shown as the sum that it is: each row with its multiplier, and what they add up to.
``system.schema.json`` describes the JSON. Exact numbers are texts there, such as "1/3".
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from novikoff import __version__
from novikoff.core.stops import Limits
from novikoff.data.errors import counted
from novikoff.geometry.system_checker import row_of
from novikoff.geometry.verdict_text import interval, number, some
from novikoff.systems.least_squares import largest_violation
from novikoff.systems.radius import nearest_boundary
from novikoff.systems.solution import plain

if TYPE_CHECKING:
    from novikoff.core.rows import Vector
    from novikoff.geometry.margin import Interval
    from novikoff.geometry.system_certificate import SystemCertificate
    from novikoff.systems.conflicts import Conflicts
    from novikoff.systems.linear_program import Optimum
    from novikoff.systems.solution import NamedRow, Solution

SCHEMA_VERSION = 1
# Lines of a conflict or a point that the text shows; the JSON has all.
_MOST_LINES = 20
_MOST_NAMES = 8
# A room that is no room for a person.
_LITTLE = 1e-6
_MOST_WIDTH = 72  # of a row as a formula
_MOST_DIGITS = 9  # of multipliers; longer ones are rounded
_SIGNS = {"<=": "≤", ">=": "≥", "-": "−"}


@dataclass(frozen=True)
class SystemReport:
    """An answer, the file that it is about, and the files that were written."""

    solution: Solution
    source: str
    format: str
    notes: Sequence[str] = ()
    conflicts: Conflicts | None = None  # all that share no row, if they were asked for
    optimum: Optimum | None = None
    point: str = "any"
    method: str = "auto"
    files: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def kind(self) -> str:
        """Of the system, or of its linear program where that is undecided."""
        undecided = self.optimum is not None and self.optimum.kind == "undecided"
        return "undecided" if undecided else self.solution.kind

    @property
    def with_radius(self) -> bool:
        """Whether the radius of the largest ball was asked for."""
        found = self.solution
        return self.point == "chebyshev" and found.kind != "undecided" and found.point_found

    @property
    def answers(self) -> Sequence[Solution]:
        """The answer, or one for each conflict."""
        several = () if self.conflicts is None else self.conflicts.solutions
        return several or (self.solution,)

    @property
    def proofs(self) -> list[SystemCertificate]:
        """The certificates of all answers."""
        return [answer.certificate for answer in self.answers if answer.certificate is not None]

    @property
    def exact_w(self) -> Sequence[Fraction] | None:
        """The point: the best one, where there is an objective."""
        return (self.optimum or self.solution).exact_w

    def to_json(self) -> str:
        """The report as JSON."""
        found, asked, best = self.solution, self.solution.asked, self.optimum
        names, feasible = asked.variables, self.solution.kind == "feasible"
        w = (best or found).w
        body = {
            "schema_version": SCHEMA_VERSION,
            "program": f"novikoff {__version__}",
            "system": {
                "source": self.source,
                "format": self.format,
                "rows": len(asked.rows),
                "variables": len(names),
                "bounds": _bounds(self),
                "notes": list(self.notes),
            },
            "kind": found.kind,
            "w": _by_name(names, w),
            "point_found": found.point_found if feasible else None,
            "exact_w": self.exact_w and dict(zip(names, map(str, self.exact_w), strict=True)),
            "interior": found.interior if feasible else None,
            "implicit_equalities": [_plain_row(row) for row in found.implicit_equalities or ()]
            if feasible and found.interior != "unknown"
            else None,
            "radius": _ends(found.radius) if self.with_radius else None,
            "conflict": _conflict(self.answers[0]) if found.kind == "infeasible" else None,
            "conflicts": self.conflicts
            and {
                "listed": [_conflict(answer) for answer in self.answers],
                "complete": self.conflicts.complete,
            },
            "violation": None
            if w is None
            else _float(largest_violation(asked.system, w) if best else found.violation),
            "objective": best
            and {
                "kind": best.kind,
                "value": _ends(best.value),
                "exact_value": None if best.exact_value is None else str(best.exact_value),
                "dual": [_plain_row(row) for row in best.dual],
                "ray": best.ray and dict(zip(names, map(str, best.ray), strict=True)),
            },
            "steps": found.n_steps,
            "files": dict(self.files),
            "seconds": self.seconds,
        }
        return json.dumps(body, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def lines(report: SystemReport) -> Iterator[tuple[str, str]]:
    """Heading and text of each line; lines that belong to the one above have no heading."""
    asked, bounds = report.solution.asked, _bounds(report)
    size = f"{counted(len(asked.rows), 'row')} · {counted(len(asked.variables), 'variable')}"
    size += f" · {counted(bounds, 'bound')}" if bounds else ""
    yield "system", f"{report.source} · {size}"
    for note in report.notes:
        yield "", note
    yield from _VERDICTS[report.solution.kind](report)
    about = " (about the point, not about the best value)" if report.optimum is not None else ""
    for name, path in report.files.items():
        yield name, f"{path}{about if name == 'certificate' else ''}"


def _feasible(report: SystemReport) -> Iterator[tuple[str, str]]:
    found, best = report.solution, report.optimum
    yield "verdict", "feasible — proved: the point satisfies every row, exactly"
    if best is not None:
        yield from _objective(best, maximise=getattr(found.asked.stated, "maximise", False))
    point = list(zip(found.asked.variables, report.exact_w or (), strict=True))
    width = max(len(name) for name, _ in point[:_MOST_LINES])
    for k, (name, value) in enumerate(point[:_MOST_LINES]):
        yield "" if k else "point", f"{name:{width}}  {_value(value)}"
    if len(point) > _MOST_LINES:
        yield "", f"… and {len(point) - _MOST_LINES:,} more (--format json has all)"
    if not found.point_found:
        yield "", f"this is a solution, but not that of --point {report.point}: time was up"
    yield from _room(report)
    equal = found.implicit_equalities
    if equal:
        named = some([row.name for row in equal], len(equal), _MOST_NAMES)
        yield "equalities", f"in every solution these rows hold with =: {named}"
    elif equal is None:
        yield "", "whether rows hold with = in every solution was not found in time"
    if report.with_radius and best is None:
        yield "radius", f"of the largest ball of solutions {interval(found.radius)}"


def _room(report: SystemReport) -> Iterator[tuple[str, str]]:
    """How far the point is from the nearest row, equalities apart; or the rows that it meets."""
    asked, proof = report.solution.asked, report.solution.certificate
    equal = () if proof is None or proof.implicit is None else proof.implicit.rows
    rows, away = nearest_boundary(asked.system, report.exact_w or (), equal, Limits())
    other = "interior" if equal else "chebyshev"
    final = report.optimum is not None or report.with_radius
    more = "" if final else f"; --point {other} finds one with more"
    if away == 0.0:
        few = [asked.name(k).name for k in rows[:_MOST_NAMES]]
        named = some(few, len(rows), _MOST_NAMES)
        yield "room", f"none: the point is on the boundary of {named}{more}"
    elif math.isfinite(away):
        nearest = asked.name(rows[0]).name
        text = f"the nearest boundary is that of {nearest}, {number(away)} away"
        yield "room", text + (more if away < _LITTLE else "")


def _objective(best: Optimum, *, maximise: bool) -> Iterator[tuple[str, str]]:
    end, course = ("greatest", "grows") if maximise else ("least", "falls")
    if best.kind == "unbounded":
        yield "objective", f"unbounded — proved: along a ray of solutions it {course} for ever"
    elif best.exact_value is None:
        yield "objective", f"undecided: the {end} value is in {_ends(best.value)}"
    else:
        yield "objective", f"the {end} value is {_value(best.exact_value)} — proved"


def _infeasible(report: SystemReport) -> Iterator[tuple[str, str]]:
    answers = report.answers
    rows = len(answers[0].conflict)
    fewer = "these rows contradict each other, and no fewer of them do"
    if answers[0].proof is not None and answers[0].proof.witnesses:
        fewer = "these rows contradict each other, and no fewer beside those kept do"
    yield "verdict", f"infeasible — proved: {'this row holds for no point' if rows == 1 else fewer}"
    for k, answer in enumerate(answers):
        yield from _sum(f"conflict {k + 1}" if len(answers) > 1 else "conflict", answer)
    if report.conflicts is not None:
        rest = "; if all rows shown go, the rest is feasible" if report.conflicts.complete else ""
        least = "1 row" if len(answers) == 1 else f"{len(answers)} rows, one of each conflict,"
        yield "", f"at least {least} must go{rest}"


def _sum(heading: str, answer: Solution) -> Iterator[tuple[str, str]]:
    """The rows of a conflict with their multipliers, and the contradiction that is their sum."""
    conflict, asked = answer.conflict, answer.asked
    weights, relation, total = _whole(answer)
    exact = max(len(str(value)) for value in weights) <= _MOST_DIGITS
    unit = Fraction(1) if exact else Fraction(min(abs(value) for value in weights))
    texts = [_pretty(str(w)) if exact else _rounded(w / unit, 4) for w in weights]
    shown = list(zip(texts, conflict, _numbers(answer), strict=True))[:_MOST_LINES]
    names = [row.name if row.kind in ("row", "eq") else "" for _, row, _ in shown]
    wide = max(len(text) for text, *_ in shown), max(map(len, names))
    for k, (text, row, at) in enumerate(shown):
        formula = _formula(asked.text(at)) + (" (kept)" if row.kept else "")
        yield "" if k else heading, f"{text:>{wide[0]}} × {names[k]:{wide[1]}}  {formula}"
    if len(conflict) > len(shown):
        yield "", f"… and {len(conflict) - len(shown)} more (--format json has all)"
    amount = _pretty(plain(total)) if exact else _rounded(total / unit, 4)
    turned = any(">" in asked.text(at) for at in _numbers(answer))
    how = "the sum, ≥ turned into ≤" if turned else "the sum"
    false = f"0 {_pretty(relation)} {amount}, which is false"
    yield "", f"{how}:  {false}{'' if exact else ' (multipliers are rounded here)'}"
    yield from _ways_out(answer, weights, total)


def _ways_out(answer: Solution, weights: list[int], total: Fraction) -> Iterator[tuple[str, str]]:
    """How far each row, if it alone is loosened, must give way: λ_i·δ ≥ −⟨c, λ⟩."""
    pairs = zip(answer.conflict, weights, strict=True)
    ways = [(row.name, -total / abs(weight)) for row, weight in pairs if not row.kept]
    if total == 0 or len(answer.conflict) == 1 or not ways:
        return
    named = some([f"{name} by {_value(by)}" for name, by in ways], len(ways), _MOST_NAMES)
    yield "", f"one of them has to give way, at least:  {named}"


def _undecided(report: SystemReport) -> Iterator[tuple[str, str]]:
    found = report.solution
    more = "--budget SECONDS gives it more" if report.method == "auto" else "--method auto decides"
    yield "verdict", f"undecided — {found.ended} before a proof was found; {more}"
    if found.w is not None:
        yield "", f"the best point found violates a row by {number(found.violation)}"


_VERDICTS = {"feasible": _feasible, "infeasible": _infeasible, "undecided": _undecided}


def _whole(answer: Solution) -> tuple[list[int], str, Fraction]:
    """Multipliers as whole numbers without a common divisor, and their sum: 0 ≤ (or <) what."""
    given = [row.multiplier for row in answer.conflict]
    over = math.lcm(*(value.denominator for value in given))
    scaled = [int(value * over) for value in given]
    weights = [value // math.gcd(*scaled) for value in scaled]
    total, strict = Fraction(0), False
    for weight, at in zip(weights, _numbers(answer), strict=True):
        row = row_of(answer.asked.stated, at)
        if row is not None:
            total += weight * row.sign * row.right
            strict |= row.relation in ("<", ">")
    return weights, "<" if strict else "<=", total


def _numbers(answer: Solution) -> Sequence[int]:
    """The numbers of a conflict's rows as they are stated."""
    proof = answer.proof
    return () if proof is None or proof.conflict is None else proof.conflict.rows


def _conflict(answer: Solution) -> dict[str, object]:
    weights, relation, total = _whole(answer)
    return {
        "rows": [
            {
                **_plain_row(row),
                "multiplier": str(weight),
                "formula": answer.asked.text(at),
                "gives_way_by": str(-total / abs(weight)),
            }
            for row, weight, at in zip(answer.conflict, weights, _numbers(answer), strict=True)
        ],
        "sum": f"0 {relation} {total}",
    }


def _plain_row(row: NamedRow) -> dict[str, object]:
    return {**asdict(row), "multiplier": str(row.multiplier)}


def _by_name(names: Sequence[str], values: Vector | None) -> dict[str, float | None] | None:
    return None if values is None else dict(zip(names, map(_float, values.tolist()), strict=True))


def _ends(bounds: Interval) -> list[float | None]:
    return [_float(bounds.lo), _float(bounds.hi)]


def _float(value: float) -> float | None:
    """JSON has no infinity."""
    return value if math.isfinite(value) else None


def _bounds(report: SystemReport) -> int:
    asked = report.solution.asked
    return int((asked.system.numbers >= len(asked.rows)).sum())


def _value(value: Fraction) -> str:
    """A number for a person, and whether it is rounded."""
    if abs(value) < 10**15:
        text = plain(value)
        if Fraction(text) == value:
            return _pretty(text)
    return f"{_rounded(value, 10)} (rounded)"


def _rounded(value: Fraction, digits: int) -> str:
    """Some digits of a number of any size, which floats may not reach."""
    near = Decimal(value.numerator) / Decimal(value.denominator)
    return _pretty(f"{near:.{digits}g}".replace("e+", "e"))


def _formula(text: str) -> str:
    """A row for a person; the end of a long sum is left out."""
    left, relation, right = text.rsplit(" ", 2)
    if len(left) > _MOST_WIDTH:
        left = left[:_MOST_WIDTH].rsplit(" ", 2)[0] + " …"
    return f"{_pretty(left)} {_pretty(relation)} {_pretty(right)}"


def _pretty(text: str) -> str:
    """With the signs of print: ≤, ≥ and a minus where it is not part of a name."""
    for plain_sign, sign in _SIGNS.items():
        text = " ".join(
            word.replace(plain_sign, sign, 1) if word.startswith(plain_sign) else word
            for word in text.split(" ")
        )
    return text

"""The report of ``novikoff solve`` as lines of text, and as JSON.

A conflict is shown as a sum: each row with its multiplier, and the contradiction that they add up
to. ``system.schema.json`` describes the JSON. Its exact numbers are texts, such as "1/3".
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from novikoff import __version__
from novikoff.core.stops import Limits
from novikoff.proofs.system_statement import Constraint, LinearSystem, Statement
from novikoff.report.json_text import finite_or_null, to_json_text
from novikoff.sentences import (
    conflict_clause,
    counted,
    first_few,
    interval,
    short_number,
    unbounded_clause,
)
from novikoff.systems.distances import largest_violation, nearest_boundary
from novikoff.systems.solution import named_row

if TYPE_CHECKING:
    from novikoff.geometry.margin import Interval
    from novikoff.jobs.system_study import SystemStudy
    from novikoff.systems.linear_program import Optimum
    from novikoff.systems.solution import NamedRow, Solution

SYSTEM_REPORT_VERSION = 1
Value = TypeVar("Value")
NumberFormat: TypeAlias = "Callable[[Fraction], str]"
# The text shows at most this many lines of a conflict or a point; the JSON has all of them.
_MAX_LINES = 20
_MAX_NAMES = 8
# Below this distance from the boundary, the text suggests a point that is farther inside.
_SMALL_DISTANCE = 1e-6
_MAX_WIDTH = 72  # the longest left side of a row that is shown whole
_MAX_MULTIPLIER_DIGITS = 9  # longer multipliers are rounded
_DECIMALS = Context(prec=17)  # a number with more digits is not shown as a decimal
_MAX_FRACTION = 24  # the longest fraction that is not rounded
_SIGNS = {"<=": "≤", ">=": "≥", "-": "−"}


def system_json(study: SystemStudy) -> str:
    """Return the report as JSON."""
    solution, stated, best = study.solution, study.solution.system.stated, study.optimum
    feasible, w, violation = solution.kind == "feasible", (best or solution).w, None
    if w is not None:
        violation = largest_violation(solution.system, w) if best else solution.violation

    def by_name(values: Iterable[Value] | None) -> dict[str, Value] | None:
        return None if values is None else dict(zip(stated.variables, values, strict=True))

    def exactly(values: Sequence[Fraction] | None) -> dict[str, str] | None:
        return by_name(None if values is None else map(str, values))

    body = {
        "schema_version": SYSTEM_REPORT_VERSION,
        "program": f"novikoff {__version__}",
        "system": {
            "source": study.source,
            "format": study.file.format,
            "rows": stated.m,
            "variables": stated.d,
            "bounds": _bounds(study),
            "notes": list(study.file.notes),
        },
        "kind": solution.kind,
        "w": by_name(None if w is None else map(finite_or_null, w.tolist())),
        "point_found": solution.point_found if feasible else None,
        "exact_w": exactly(study.exact_w),
        "interior": solution.interior if feasible else None,
        "implicit_equalities": [_plain_row(row) for row in solution.implicit_equalities or ()]
        if feasible and solution.interior != "unknown"
        else None,
        "radius": _ends(solution.radius) if study.with_radius else None,
        "conflict": conflict_values(study.answers[0]) if solution.kind == "infeasible" else None,
        "conflicts": None
        if study.conflicts is None
        else {
            "listed": [conflict_values(answer) for answer in study.answers],
            "complete": study.conflicts.complete,
        },
        "violation": None if violation is None else finite_or_null(violation),
        "objective": None
        if best is None
        else {
            "kind": best.kind,
            "value": _ends(best.value),
            "exact_value": None if best.exact_value is None else str(best.exact_value),
            "dual": [_plain_row(row) for row in best.dual],
            "ray": exactly(best.ray),
        },
        "steps": solution.n_steps,
        "files": dict(study.files),
        "seconds": study.seconds,
    }
    return to_json_text(body)


def system_lines(study: SystemStudy) -> Iterator[tuple[str, str]]:
    """Yield the heading and the text of each line; a continued line has an empty heading."""
    stated, bounds = study.solution.system.stated, _bounds(study)
    size = f"{counted(stated.m, 'row')} · {counted(stated.d, 'variable')}"
    size += f" · {counted(bounds, 'bound')}" if bounds else ""
    yield "system", f"{study.source} · {size}"
    for note in study.file.notes:
        yield "", note
    yield from _LINES_BY_KIND[study.solution.kind](study)
    about = " (about the point, not about the best value)" if study.optimum is not None else ""
    for name, path in study.files.items():
        yield name, f"{path}{about if name == 'certificate' else ''}"


def _feasible_lines(study: SystemStudy) -> Iterator[tuple[str, str]]:
    solution, best, stated = study.solution, study.optimum, study.solution.system.stated
    yield "verdict", "feasible — proved: the point satisfies every row, exactly"
    if best is not None:
        maximise = isinstance(stated, LinearSystem) and stated.maximise
        yield from _objective(best, maximise=maximise)
    point = list(zip(stated.variables, study.exact_w or (), strict=True))
    width = max(len(name) for name, _ in point[:_MAX_LINES])
    for k, (name, value) in enumerate(point[:_MAX_LINES]):
        yield "" if k else "point", f"{name:{width}}  {_pretty(_exact_number(value))}"
    if len(point) > _MAX_LINES:
        yield "", f"… and {len(point) - _MAX_LINES:,} more (--format json has all)"
    if not solution.point_found:
        asked = study.asked.point
        yield "", f"this is a solution, but not that of --point {asked}, which was not found"
    yield from _boundary_lines(study)
    equal = solution.implicit_equalities
    if equal:
        named = first_few([row.name for row in equal], len(equal), _MAX_NAMES)
        yield "equalities", f"in every solution these rows hold with =: {named}"
    elif equal is None:
        yield "", "whether rows hold with = in every solution was not found in time"
    if study.with_radius and best is None:
        yield "radius", f"of the largest ball of solutions {interval(solution.radius)}"


def _boundary_lines(study: SystemStudy) -> Iterator[tuple[str, str]]:
    """Say how far the point is from the nearest boundary, or on which boundaries it lies."""
    system, proof = study.solution.system, study.solution.certificate
    equal = () if proof is None or proof.implicit is None else proof.implicit.rows
    rows, away = nearest_boundary(system, study.exact_w or (), equal, Limits())
    other = "interior" if equal else "chebyshev"
    final = study.optimum is not None or study.with_radius
    advice = "" if final else f"; --point {other} finds a point inside"
    names = [named_row(system.stated, k).name for k in rows[:_MAX_NAMES]]
    if away == 0.0:
        named = first_few(names, len(rows), _MAX_NAMES)
        yield "boundary", f"the point lies on the boundary of {named}{advice}"
    elif math.isfinite(away):
        text = f"the nearest boundary is that of {names[0]}, {short_number(away)} away"
        yield "boundary", text + (advice if away < _SMALL_DISTANCE else "")


def _objective(best: Optimum, *, maximise: bool) -> Iterator[tuple[str, str]]:
    end = "greatest" if maximise else "least"
    if best.kind == "unbounded":
        yield "objective", f"unbounded — proved: {unbounded_clause(maximise=maximise)}"
    elif best.exact_value is None:
        ends = _pretty(f"{best.value.lo:.17g} and {best.value.hi:.17g}").replace("inf", "∞")
        yield "objective", f"undecided: the {end} value is between {ends}"
    else:
        yield "objective", f"the {end} value is {_pretty(_exact_number(best.exact_value))} — proved"


def _infeasible_lines(study: SystemStudy) -> Iterator[tuple[str, str]]:
    answers = study.answers
    kept = any(answer.proof and answer.proof.witnesses for answer in answers)
    rows, count = "these rows", len(answers[0].conflict)
    if len(answers) > 1:
        rows, count = "the rows of each conflict", max(len(answer.conflict) for answer in answers)
    elif count == 1:
        rows = "this row"
    yield "verdict", f"infeasible — proved: {conflict_clause(rows, count, kept=kept)}"
    for k, answer in enumerate(answers):
        yield from _conflict_lines(f"conflict {k + 1}" if len(answers) > 1 else "conflict", answer)
    if study.conflicts is not None:
        count, share = len(answers), "share no row: at least {} rows"
        if study.solution.system.stated.kept:
            share = "share no row but those kept: at least {} others"
        many = f"these {count} conflicts {share.format(count)}, one of each,"
        if count == 1:
            many = "at least 1 row"
        rest = "; if all rows shown go, the rest is feasible" if study.conflicts.complete else ""
        yield "", f"{many} must go{rest}"


def _conflict_lines(heading: str, answer: Solution) -> Iterator[tuple[str, str]]:
    """Show the rows of a conflict with their multipliers, and their sum, a contradiction."""
    conflict = _Sum.of(answer)
    exact = max(len(str(weight)) for weight in conflict.weights) <= _MAX_MULTIPLIER_DIGITS
    unit = 1 if exact else min(map(abs, conflict.weights))
    times = [
        _pretty(str(weight) if exact else _rounded_number(Fraction(weight, unit), 4))
        for weight in conflict.weights
    ]
    shown = list(zip(times, answer.conflict, conflict.rows, strict=True))[:_MAX_LINES]
    names = [named.name if named.kind in ("row", "eq") else "" for _, named, _ in shown]
    width, name_width = max(len(text) for text, *_ in shown), max(map(len, names))
    for k, (text, named, row) in enumerate(shown):
        formula = _short_formula(answer.system.stated, row) + (" (kept)" if named.kept else "")
        yield "" if k else heading, f"{text:>{width}} × {names[k]:{name_width}}  {formula}"
    if len(conflict.rows) > len(shown):
        yield "", f"… and {len(conflict.rows) - len(shown)} more (--format json has all)"
    amount = _exact_number(conflict.total) if exact else _rounded_number(conflict.total / unit, 4)
    turned = ", ≥ turned into ≤" if any(row.sign < 0 for row in conflict.rows) else ""
    rounded = "" if exact else " (multipliers are rounded here)"
    false = f"{_pretty(f'0 {conflict.relation} {amount}')}, which is false{rounded}"
    yield "", f"the sum{turned}:  {false}"
    ways = [
        f"{named.name} by {_exact_number(by)}"
        for named, by in zip(answer.conflict, conflict.gives_way_by, strict=True)
        if not named.kept
    ]
    if conflict.total != 0 and len(conflict.rows) > 1 and ways:
        listed = first_few(ways, len(ways), _MAX_NAMES)
        yield "", f"if one of them alone gives way, then by at least:  {listed}"


def _undecided_lines(study: SystemStudy) -> Iterator[tuple[str, str]]:
    solution = study.solution
    advice = (
        "--budget SECONDS gives it more"
        if study.asked.method == "auto"
        else "--method auto decides"
    )
    yield "verdict", f"undecided — {solution.ended} before a proof was found; {advice}"
    if solution.w is not None:
        yield "", f"the best point found violates a row by {short_number(solution.violation)}"


_LINES_BY_KIND = {
    "feasible": _feasible_lines,
    "infeasible": _infeasible_lines,
    "undecided": _undecided_lines,
}


class _Sum(NamedTuple):
    """A conflict as a sum: rows times whole numbers without a common divisor."""

    rows: list[Constraint]
    weights: list[int]
    relation: str  # 0 ≤ total, or 0 < total
    total: Fraction

    @classmethod
    def of(cls, answer: Solution) -> _Sum:
        """Return the sum of the conflict of an answer."""
        numbers = answer.proof.conflict.rows if answer.proof and answer.proof.conflict else ()
        stated = (answer.system.stated.row(number) for number in numbers)
        rows = [row for row in stated if row is not None]
        given = [named.multiplier for named in answer.conflict]
        over = math.lcm(*(value.denominator for value in given))
        scaled = [int(value * over) for value in given]
        weights = [value // math.gcd(*scaled) for value in scaled]
        pairs = zip(rows, weights, strict=True)
        total = sum((row.sign * weight * row.right for row, weight in pairs), Fraction(0))
        strict = any(row.relation in ("<", ">") for row in rows)
        return cls(rows, weights, "<" if strict else "<=", total)

    @property
    def gives_way_by(self) -> list[Fraction]:
        """The least δ by which each row must give way, if it alone does: λ_i·δ ≥ −⟨c, λ⟩."""
        return [-self.total / abs(weight) for weight in self.weights]


def conflict_values(answer: Solution) -> dict[str, object]:
    """Return a conflict as JSON values."""
    conflict = _Sum.of(answer)
    columns = answer.conflict, conflict.rows, conflict.weights, conflict.gives_way_by
    return {
        "rows": [
            {
                **_plain_row(named),
                "multiplier": str(weight),
                "formula": _row_formula(answer.system.stated, row),
                "gives_way_by": str(by),
            }
            for named, row, weight, by in zip(*columns, strict=True)
        ],
        "sum": f"0 {conflict.relation} {conflict.total}",
    }


def _plain_row(row: NamedRow) -> dict[str, object]:
    return {**asdict(row), "multiplier": str(row.multiplier)}


def _ends(bounds: Interval) -> list[float | None]:
    return [finite_or_null(bounds.lo), finite_or_null(bounds.hi)]


def _bounds(study: SystemStudy) -> int:
    system = study.solution.system
    return int((system.numbers >= system.stated.m).sum())


def _row_formula(stated: Statement, row: Constraint) -> str:
    """Return a row with exact numbers, such as "2 tea + bread <= 40"."""
    show = _shown_by(stated, lambda value: _decimal(value) or str(value))
    return f"{_left_side(stated, row, show)} {row.relation} {show(row.right)}"


def _short_formula(stated: Statement, row: Constraint) -> str:
    """Return a row for a reader; the end of a long sum is left out."""
    show = _shown_by(stated, _exact_number)
    left_side = _left_side(stated, row, show)
    if len(left_side) > _MAX_WIDTH:
        left_side = left_side[:_MAX_WIDTH].rsplit(" ", 2)[0] + " …"
    return _pretty(f"{left_side} {row.relation} {show(row.right)}")


def _shown_by(stated: Statement, show: NumberFormat) -> NumberFormat:
    """Return how numbers of a system are shown; the numbers of arrays are floats."""
    if isinstance(stated, LinearSystem):
        return show
    return lambda value: repr(float(value)).removesuffix(".0")


def _left_side(stated: Statement, row: Constraint, show: NumberFormat) -> str:
    terms = " + ".join(
        stated.variables[j] if value == 1 else f"{show(value)} {stated.variables[j]}"
        for j, value in row.terms.items()
    )
    terms = terms.replace("+ -1 ", "- ").replace("+ -", "- ")
    return f"-{terms[3:]}" if terms.startswith("-1 ") else terms or "0"


def _exact_number(value: Fraction) -> str:
    """Return a number as a decimal if it is short, otherwise as a fraction with a decimal.

    >>> _exact_number(Fraction(3, 8)), _exact_number(Fraction(-1, 3))
    ('0.375', '-1/3 (-0.3333333333)')
    >>> _exact_number(Fraction(10**40 + 1, 3))
    '3.333333333e39 (rounded)'
    """
    decimal = _decimal(value)
    if decimal:
        return decimal
    fraction, rounded = str(value), _rounded_number(value, 10)
    is_long = len(fraction) > _MAX_FRACTION
    return f"{rounded} (rounded)" if is_long else f"{fraction} ({rounded})"


def _decimal(value: Fraction) -> str:
    """Return the decimal that equals a number; "" if it is infinite or long."""
    near = _DECIMALS.divide(Decimal(value.numerator), Decimal(value.denominator))
    if Fraction(near) != value:
        return ""
    near = near.normalize(_DECIMALS)
    is_plain = -7 <= near.adjusted() < _DECIMALS.prec
    return f"{near:f}" if is_plain else str(near).lower().replace("e+", "e")


def _rounded_number(value: Fraction, digits: int) -> str:
    """Round a number to some digits; it may be beyond the range of floats."""
    near = Decimal(value.numerator) / Decimal(value.denominator)
    return f"{near:.{digits}g}".replace("e+", "e")


def _pretty(text: str) -> str:
    """Replace <=, >= and - by ≤, ≥ and −, unless - is part of a name."""
    for plain_sign, sign in _SIGNS.items():
        text = re.sub(rf"(^| |\(){plain_sign}", rf"\1{sign}", text)
    return text

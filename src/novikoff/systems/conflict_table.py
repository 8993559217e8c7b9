"""How a conflict is shown: as a table of rows that add up to a contradiction, and as JSON values.

Every row has its multiplier and the change that would end the conflict if no other row changed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from decimal import Context, Decimal
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from novikoff.names import ROWS_SHOWN
from novikoff.proofs.system_statement import Constraint, LinearSystem, Statement
from novikoff.sentences import first_few, tolerance_sentence
from novikoff.systems.solution import SOLVER_TOLERANCE, NamedRow, Solution

NumberFormat: TypeAlias = "Callable[[Fraction], str]"
# A text lists at most this many changes that would end a conflict.
_MAX_CHANGES = 8
_MAX_WIDTH = 72  # the longest left side of a row that is shown whole
_MAX_MULTIPLIER_DIGITS = 9  # longer multipliers are rounded
_DECIMALS = Context(prec=17)  # a number with more digits is not shown as a decimal
_MAX_FRACTION = 24  # the longest fraction that is not rounded
_SIGNS = {"<=": "≤", ">=": "≥", "-": "−"}


class ConflictSum(NamedTuple):
    """A conflict as a sum: rows times whole numbers without a common divisor."""

    named: tuple[NamedRow, ...]
    rows: list[Constraint]
    relation: str  # 0 ≤ total, or 0 < total
    total: Fraction

    @classmethod
    def of(cls, answer: Solution) -> ConflictSum:
        """Return the sum of the conflict of an answer."""
        rows = [*answer.conflict_rows]
        pairs = zip(rows, answer.conflict, strict=True)
        total = sum((row.sign * named.multiplier * row.right for row, named in pairs), Fraction(0))
        strict = any(row.relation in ("<", ">") for row in rows)
        return cls(answer.conflict, rows, "<" if strict else "<=", total)

    @property
    def gives_way_by(self) -> list[Fraction]:
        """The least δ by which each row must give way, if it alone does: λ_i·δ ≥ −⟨c, λ⟩."""
        return [-self.total / abs(named.multiplier) for named in self.named]

    @property
    def new_sides(self) -> list[Fraction]:
        """The right side of each row that would end the conflict, if it alone changed."""
        pairs = zip(self.rows, self.named, strict=True)
        return [row.right - row.sign * self.total / named.multiplier for row, named in pairs]


class TableRow(NamedTuple):
    """A row of a conflict for a reader: its multiplier, its name and its formula."""

    times: str
    name: str
    formula: str


class ConflictTable(NamedTuple):
    """A conflict for a reader.

    Attributes
    ----------
    rows : list of TableRow
        The rows that are shown.
    notes : list of str
        How many rows are left out, and the sum.
    advice : list of pairs of str
        Headings and lines about what would end the conflict; a continued line has no heading.
    """

    rows: list[TableRow]
    notes: list[str]
    advice: list[tuple[str, str]]


def conflict_table(answer: Solution, shown: int | None = ROWS_SHOWN) -> ConflictTable:
    """Return the rows of a conflict with their multipliers, their sum, and what would end it.

    Parameters
    ----------
    answer : Solution
        An infeasible solution.
    shown : int or None
        The number of rows to show; None for all.
    """
    conflict = ConflictSum.of(answer)
    weights = [int(named.multiplier) for named in conflict.named]
    exact = max(len(str(weight)) for weight in weights) <= _MAX_MULTIPLIER_DIGITS
    unit = 1 if exact else min(map(abs, weights))
    rows = [
        TableRow(
            pretty(str(weight) if exact else _rounded_number(Fraction(weight, unit), 4)),
            named.name,
            _short_formula(answer.system.stated, row) + (" (kept)" if named.kept else ""),
        )
        for weight, named, row in list(zip(weights, conflict.named, conflict.rows, strict=True))[
            :shown
        ]
    ]
    notes = list[str]()
    if len(conflict.rows) > len(rows):
        n_hidden = len(conflict.rows) - len(rows)
        notes.append(f"… and {n_hidden:,} more: {_families(conflict.named)}")
    amount = exact_number(conflict.total) if exact else _rounded_number(conflict.total / unit, 4)
    turned = ", ≥ turned into ≤" if any(row.sign < 0 for row in conflict.rows) else ""
    rounded = "" if exact else " (multipliers are rounded here)"
    false = f"{pretty(f'0 {conflict.relation} {amount}')}, which is false{rounded}"
    notes.append(f"the sum{turned}:  {false}")
    by = answer.least_violation
    close = by is not None and by <= SOLVER_TOLERANCE
    advice = [("tolerance", tolerance_sentence(by))] if by is not None and close else []
    return ConflictTable(rows, notes, [*advice, *_changes(conflict)])


def conflict_lines(
    answer: Solution, heading: str = "conflict", shown: int | None = ROWS_SHOWN
) -> Iterator[tuple[str, str]]:
    """Yield the lines of a `conflict_table`, each with its heading.

    The first line has this heading; other lines have an empty heading, or one of their own.
    """
    table = conflict_table(answer, shown)
    width, name_width = (max(len(row[column]) for row in table.rows) for column in range(2))
    for k, (times, name, formula) in enumerate(table.rows):
        yield "" if k else heading, f"{times:>{width}} × {name:{name_width}}  {formula}"
    yield from (("", note) for note in table.notes)
    yield from table.advice


def _changes(conflict: ConflictSum) -> Iterator[tuple[str, str]]:
    """Say by how much each row would have to change, if no other row did.

    Kept rows do not change. Bounds at 0, such as x ≥ 0, usually follow from what a variable means,
    and are not listed.
    """
    columns = conflict.named, conflict.rows, conflict.new_sides
    changes = [
        f"{named.name}: {pretty(f'{exact_number(row.right)} → {exact_number(new)}')}"
        for named, row, new in zip(*columns, strict=True)
        if not named.kept and not (named.kind in ("lower", "upper") and row.right == 0)
    ]
    if conflict.total == 0 or not changes:
        return
    advice = "to end this conflict, change one of these numbers, at least as far as shown"
    yield "way out", advice
    for change in changes[:_MAX_CHANGES]:
        yield "", change
    if len(changes) > _MAX_CHANGES:
        yield "", f"… or one of {len(changes) - _MAX_CHANGES:,} others"


def _families(rows: Sequence[NamedRow]) -> str:
    """Count the rows whose names begin alike, such as "120 demand[*], 3 lower bound of x*"."""
    stems = Counter(re.sub(r"[\[(\d].*", "*", row.name, flags=re.DOTALL) for row in rows)
    parts = [f"{count:,} × {stem}" for stem, count in stems.most_common()]
    return "by name, all rows are " + first_few(parts, len(parts), _MAX_CHANGES)


def conflict_values(answer: Solution) -> dict[str, object]:
    """Return a conflict as JSON values."""
    conflict = ConflictSum.of(answer)
    columns = conflict.named, conflict.rows, conflict.gives_way_by, conflict.new_sides
    return {
        "rows": [
            {
                **row_values(named),
                "formula": row_formula(answer.system.stated, row),
                "gives_way_by": str(by),
                "changes_to": str(new),
            }
            for named, row, by, new in zip(*columns, strict=True)
        ],
        "sum": f"0 {conflict.relation} {conflict.total}",
        "least_violation": str(answer.least_violation),
    }


def row_values(row: NamedRow) -> dict[str, object]:
    """Return a row as JSON values."""
    return {**asdict(row), "multiplier": str(row.multiplier)}


def row_formula(stated: Statement, row: Constraint) -> str:
    """Return a row with exact numbers, such as "2 tea + bread <= 40"."""
    show = _shown_by(stated, lambda value: _decimal(value) or str(value))
    return f"{_left_side(stated, row, show)} {row.relation} {show(row.right)}"


def _short_formula(stated: Statement, row: Constraint) -> str:
    """Return a row for a reader; the end of a long sum is left out."""
    show = _shown_by(stated, exact_number)
    left_side = _left_side(stated, row, show)
    if len(left_side) > _MAX_WIDTH:
        left_side = left_side[:_MAX_WIDTH].rsplit(" ", 2)[0] + " …"
    return pretty(f"{left_side} {row.relation} {show(row.right)}")


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


def exact_number(value: Fraction) -> str:
    """Return a number as a decimal if it is short, otherwise as a fraction with a decimal.

    >>> exact_number(Fraction(3, 8)), exact_number(Fraction(-1, 3))
    ('0.375', '-1/3 (-0.3333333333)')
    >>> exact_number(Fraction(10**40 + 1, 3))
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


def pretty(text: str) -> str:
    """Replace <=, >= and - by ≤, ≥ and −, unless - is part of a name."""
    for plain_sign, sign in _SIGNS.items():
        text = re.sub(rf"(^| |\(){plain_sign}", rf"\1{sign}", text)
    return text

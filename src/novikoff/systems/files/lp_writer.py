"""Writing the rows of a conflict in LP format, which every solver reads."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from decimal import Context, Decimal
from fractions import Fraction

from novikoff.proofs.system_statement import Constraint, Statement

_NOT_IN_NAMES = re.compile(r"[^\w!\"#$%&(),.;?@'`{}~|]|[\[\]]", re.ASCII)
# The keywords of the format, and names that other programs read as numbers, are no names.
_RESERVED = re.compile(
    r"(?i)(st|s\.t\.|subject|such|bounds?|generals?|gen|integers?|int|free|inf|infinity"
    r"|binar(y|ies)|bin|end|max\w*|min\w*|sos[12]?|semis?)|e\d*"
)
_NUMBERS_PER_LINE = 8


def lp_text(stated: Statement, numbers: Iterable[int], title: str = "") -> str:
    r"""Return the rows and bounds with these numbers as a model without an objective.

    The numbers are exact: a row with a number that no decimal expresses is multiplied by a whole
    number. Characters that the format does not allow in names become _. Strict rows become weak.

    Examples
    --------
    >>> from novikoff.proofs.system_statement import LinearSystem
    >>> row = Constraint("my row", {0: Fraction(1), 1: Fraction(-1, 3)}, "<=", Fraction(1, 2))
    >>> system = LinearSystem(("a", "b"), (row,), (None, Fraction(1)), (None, None))
    >>> print(lp_text(system, [0, 4]))
    Minimize
     obj:
    Subject To
     my_row: 3 a - 1 b <= 1.5
    Bounds
     a free
     1 <= b
    End
    <BLANKLINE>
    """
    numbers = sorted(numbers)
    rows = {number: stated.row(number) for number in numbers}
    used = sorted({j for row in rows.values() if row is not None for j in row.terms})
    variables = _unique((str(stated.variables[j]) for j in used), "x")
    name_of = dict(zip(used, variables, strict=True))
    listed = [row for number, row in rows.items() if row is not None and number < stated.m]
    lines = [f"\\ {line}" for line in title.splitlines()] + ["Minimize", " obj:", "Subject To"]
    for name, row in zip(_unique((row.name for row in listed), "r"), listed, strict=True):
        lines += _row_lines(name, row, name_of)
    lines.append("Bounds")
    for j in used:
        high, low = (rows.get(stated.m + j + shift) for shift in (0, stated.d))
        ends = [None if side is None else _decimal(side.right) for side in (low, high)]
        if ends == [None, None]:
            lines.append(f" {name_of[j]} free")
        elif ends[1] is None:
            lines.append(f" {ends[0]} <= {name_of[j]}")
        else:
            lines.append(f" {ends[0] or '-inf'} <= {name_of[j]} <= {ends[1]}")
    return "\n".join([*lines, "End", ""])


def _row_lines(name: str, row: Constraint, names: dict[int, str]) -> list[str]:
    strict = row.relation in ("<", ">")
    comment = [f"\\ the next row is strict in the system: {row.relation}"] if strict else []
    factor = math.lcm(*(_other_factor(value) for value in (*row.terms.values(), row.right)))
    terms = []
    for j, value in row.terms.items():
        sign = "-" if value < 0 else "+"
        terms.append(f"{sign} {_decimal(abs(value) * factor)} {names[j]}")
    if not terms:  # a row without variables needs one in this format
        terms = [f"0 {next(iter(names.values()), 'x')}"]
    pieces = [
        " ".join(terms[k : k + _NUMBERS_PER_LINE]) for k in range(0, len(terms), _NUMBERS_PER_LINE)
    ]
    pieces[0] = pieces[0].removeprefix("+ ")
    relation = {"<": "<=", ">": ">="}.get(row.relation, row.relation)
    pieces[-1] += f" {relation} {_decimal(row.right * factor)}"
    return [*comment, f" {name}: {pieces[0]}", *(f"   {piece}" for piece in pieces[1:])]


def _other_factor(value: Fraction) -> int:
    """The part of the denominator that is prime to 10, without which no decimal is exact."""
    bottom = value.denominator
    for prime in (2, 5):
        while bottom % prime == 0:
            bottom //= prime
    return bottom


def _decimal(value: Fraction) -> str:
    """The decimal that equals a number, or the nearest with 40 digits if there is none."""
    digits = max(40, len(str(value.numerator)) + len(str(value.denominator)) * 4)
    exact = Context(prec=digits if _other_factor(value) == 1 else 40)
    near = exact.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(exact)
    return f"{near:f}" if -20 < near.adjusted() < 20 else str(near)


def _unique(names: Iterable[str], prefix: str) -> list[str]:
    """Names that the format allows, all different."""
    found: dict[str, None] = {}
    for name in names:
        plain = _NOT_IN_NAMES.sub("_", name) or prefix
        if plain[0] in "0123456789." or _RESERVED.fullmatch(plain):
            plain = f"{prefix}_{plain}"
        unique, n = plain, 2
        while unique in found:
            unique, n = f"{plain}_{n}", n + 1
        found[unique] = None
    return [*found]

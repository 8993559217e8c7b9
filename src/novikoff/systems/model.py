"""A system of linear inequalities as it is written down: names and exact numbers.

Text files are read into a `LinearSystem`, in which 0.1 means one tenth. Arrays stay arrays, in
which 0.1 means the float next to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

Relation = Literal["<=", ">=", "=", "<", ">"]


class Constraint(NamedTuple):
    """One row: Σ ``terms[j]``·w_j ``relation`` ``right``; variables that are not named have 0."""

    name: str
    terms: dict[int, Fraction]
    relation: Relation
    right: Fraction


@dataclass(frozen=True)
class LinearSystem:
    """Constraints over named variables, their bounds (None: there is none), and an objective.

    ``objective`` is minimised; a file that maximises says so by ``maximise`` and its terms stay as
    they are written. ``kept`` are names of rows that may not be blamed for a contradiction.

    Examples
    --------
    >>> from fractions import Fraction
    >>> row = Constraint("hours", {0: Fraction(1), 1: Fraction(2)}, "<=", Fraction(40))
    >>> LinearSystem(("tea", "bread"), (row,), (Fraction(0),) * 2, (None,) * 2).variables
    ('tea', 'bread')
    """

    variables: tuple[str, ...]
    constraints: tuple[Constraint, ...]
    lower: tuple[Fraction | None, ...]
    upper: tuple[Fraction | None, ...]
    objective: dict[int, Fraction] | None = None
    maximise: bool = False
    constant: Fraction = Fraction(0)
    kept: frozenset[str] = frozenset()

"""Parts that the readers of text files share: lines, exact numbers, and the model they build."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from numbers import Rational
from typing import Any, Final, NamedTuple

from novikoff.data.messages import listed, quoted
from novikoff.errors import DataError
from novikoff.proofs.system_statement import Constraint, LinearSystem, Relation
from novikoff.sentences import counted
from novikoff.systems.system_model import SystemModel

# Numbers with more digits are rejected.
_MAX_WRITTEN_DIGITS: Final = 1000
_RATIONAL = re.compile(
    r"([-+]?)([0-9]*)(?:\.([0-9]*))?(?:[eEdD]([-+]?[0-9]+))?(?:/([0-9]+))?", re.ASCII
)
_INFINITY = re.compile(r"([-+]?)inf(?:inity)?", re.IGNORECASE)
_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n)|[^\r\n]++")


class FileLine(NamedTuple):
    """A line of a file, counted from 1."""

    source: str
    line: int

    def error(self, sentence: str) -> DataError:
        """Return an error that names the file and the line."""
        return DataError(f"{self.source}, line {self.line:,}: {sentence}")


def each_line(text: str) -> Iterator[str]:
    r"""Yield the lines of a text with their line ends.

    A list of many short lines would take gigabytes.

    Examples
    --------
    >>> [*each_line("a\nb\r\n\rc")]
    ['a\n', 'b\r\n', '\r', 'c']
    """
    return (found[0] for found in _LINE.finditer(text))


def exact_number(text: str, what: str, place: FileLine) -> Fraction:
    """Convert a field to a rational number: 0.1 is one tenth.

    1.5e3, Fortran's 1.5D3 and 1/3 are numbers too. ``what`` names the field in the error message.
    Numbers with very many digits are rejected, because 1e999999999 would take hours to write out.
    """
    match = _RATIONAL.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        sentence = f"{what} is {quoted(text)}, which is not a finite number"
        if "," in text:
            sentence += "; write the decimal point as a point, without separators of thousands"
        raise place.error(f"{sentence}.")
    sign, whole, fraction, exponent, divisor = (part or "" for part in match.groups())
    digits, power = whole + fraction, exponent.lstrip("+-").lstrip("0")
    if max(len(digits), len(divisor)) > _MAX_WRITTEN_DIGITS or len(power) > 3:
        raise place.error(
            f"{what} is {quoted(text)}, which has more than {_MAX_WRITTEN_DIGITS:,} digits when "
            "it is written out."
        )
    if divisor and not int(divisor):
        raise place.error(f"{what} is {quoted(text)}, a division by zero.")
    shift = int(exponent or 0) - len(fraction)
    value = int(sign + digits)
    if shift >= 0:
        return Fraction(value * 10**shift, int(divisor or 1))
    return Fraction(value, 10**-shift * int(divisor or 1))


def bound_number(text: str, what: str, place: FileLine) -> Fraction | float:
    """Convert a field to a rational number, or to ±infinity, which bounds may be."""
    match = _INFINITY.fullmatch(text)
    if match is not None:
        return float(f"{match[1]}inf")
    return exact_number(text, what, place)


def as_written(value: Any, what: str) -> Fraction:
    """Convert a number of a Python model to the decimal that Python prints for it.

    The float 0.1 becomes one tenth, as it would in a file of the model. ValueError if it is NaN or
    infinite.

    Examples
    --------
    >>> as_written(0.1, "the coefficient of 'x'"), as_written(3, "the right side")
    (Fraction(1, 10), Fraction(3, 1))
    """
    if isinstance(value, float):  # so are the float64 of NumPy
        if not math.isfinite(value):
            raise ValueError(f"{what} is {value:g}, which is not a finite number.")
        return Fraction(int(value)) if value.is_integer() else Fraction(float.__repr__(value))
    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, Rational):
        return Fraction(number)
    return as_written(float(number), what)


# Like other readers, bounds of this size or more count as infinite.
NO_BOUND: Final = Fraction(10**20)


class ModelBuilder:
    """Collects the rows, bounds and notes of a file, and rejects names and bounds that repeat.

    Variables are at least ``default_lower`` unless the file bounds them otherwise.
    """

    def __init__(self, source: str, default_lower: Fraction | None) -> None:
        self.source = source
        self.variables: dict[str, int] = {}
        self.integers: dict[str, None] = {}
        self.notes: list[str] = []
        self._rows: list[Constraint] = []
        self._lines: dict[str, int] = {}  # the line of each row's name
        self._default_lower = default_lower
        self.bounds: dict[tuple[int, str], tuple[Fraction | None, int]] = {}
        self._huge: dict[str, None] = {}

    def variable(self, name: str) -> int:
        """The index of a variable; an unknown variable is added."""
        return self.variables.setdefault(name, len(self.variables))

    def name_row(self, name: str, place: FileLine) -> str:
        """Register the name of a new row; without a name, the third row is "row 3"."""
        name = name or f"row {len(self._lines) + 1}"
        first = self._lines.setdefault(name, place.line)
        if first != place.line:
            raise place.error(f"the row {quoted(name)} appears twice, first in line {first:,}.")
        return name

    def add(
        self, name: str, terms: Mapping[int, Fraction], relation: Relation, right: Fraction
    ) -> None:
        """Add a row; coefficients that are 0 are left out."""
        nonzero = {j: value for j, value in terms.items() if value}
        self._rows.append(Constraint(name, nonzero, relation, right))

    def add_sides(
        self,
        name: str,
        terms: Mapping[int, Fraction],
        least: Fraction | None,
        most: Fraction | None,
    ) -> None:
        """Add least ≤ row ≤ most as two rows with the same name, or as one row with =.

        A side that is None does not exist, nor one of 1e20 and more, which counts as infinite.
        """
        if least is not None and least == most:
            self.add(name, terms, "=", least)
            return
        sides: list[tuple[Relation, Fraction | None]] = [(">=", least), ("<=", most)]
        for relation, side in sides:
            if side is None:
                continue
            if abs(side) < NO_BOUND:
                self.add(name, terms, relation, side)
            elif (relation == "<=") == (side > 0):
                self._huge[name] = None
            else:
                raise FileLine(self.source, self._lines.get(name, 0)).error(
                    f"row {quoted(name)} is {relation} {float(side):g}, which counts as infinite: "
                    "no point satisfies it."
                )

    def bound(
        self, name: str, relation: Relation, value: Fraction | float, place: FileLine
    ) -> None:
        """Bound a variable from above, from below, or by "="; an infinite value means no bound."""
        if relation in ("<=", "="):
            self._bound(name, "upper", value, place)
        if relation in (">=", "="):
            self._bound(name, "lower", value, place)

    def add_variable(
        self, name: str, lower: Any = None, upper: Any = None, *, integer: bool = False
    ) -> int:
        """Add a variable of a Python model with its bounds, and return its index.

        A bound that is None or infinite does not exist. If the name is taken, a number is added.
        """
        name, n = name or f"x{len(self.variables)}", 2
        unique = name
        while unique in self.variables:
            unique, n = f"{name} ({n})", n + 1
        index = self.variable(unique)
        for side, value in (("lower", lower), ("upper", upper)):
            if value is None:
                continue
            number = float(value)
            wrong = number == (math.inf if side == "lower" else -math.inf) or math.isnan(number)
            if wrong:
                raise DataError(
                    f"{self.source}: the {side} bound of {quoted(unique)} is {number:g}: no point "
                    "satisfies it."
                )
            if abs(number) < NO_BOUND:
                limit = as_written(value, f"the {side} bound of {quoted(unique)}")
                self.bounds[index, side] = limit, 0
        if integer:
            self.integers[unique] = None
        return index

    def add_between(
        self, name: str, terms: Mapping[int, Fraction], least: Any = None, most: Any = None
    ) -> None:
        """Add least ≤ row ≤ most of a Python model; a side that is None or infinite is left out."""
        name = name or f"row {len(self._lines) + 1}"
        self._lines[f"{len(self._lines)}"] = 0  # counts the rows; names may repeat
        sides: list[Fraction | None] = []
        for value, end in ((least, -math.inf), (most, math.inf)):
            if value is not None and math.isnan(float(value)):
                raise DataError(f"{self.source}: a side of row {quoted(name)} is NaN.")
            absent = value is None or float(value) == end
            sides.append(None if absent else as_written(value, f"a side of row {quoted(name)}"))
        self.add_sides(name, terms, *sides)

    def free(self, name: str, place: FileLine) -> None:
        """Declare that a variable has no bounds."""
        self.bound(name, ">=", -math.inf, place)
        self.bound(name, "<=", math.inf, place)

    def binary(self, name: str, place: FileLine) -> None:
        """Declare that a variable is 0 or 1."""
        self.integers[name] = None
        self.bound(name, ">=", Fraction(0), place)
        self.bound(name, "<=", Fraction(1), place)

    def _bound(self, name: str, side: str, value: Fraction | float, place: FileLine) -> None:
        limit: Fraction | None = None
        if -NO_BOUND < value < NO_BOUND:
            limit = Fraction(value)
        elif (side == "upper") != (value > 0):
            raise place.error(
                f"the {side} bound of {quoted(name)} is {quoted(str(value))}, which counts as "
                "infinite: no point satisfies it."
            )
        elif isinstance(value, Fraction):
            self._huge[name] = None
        key = self.variable(name), side
        before, line = self.bounds.setdefault(key, (limit, place.line))
        if before != limit:
            raise place.error(
                f"the variable {quoted(name)} has a different {side} bound in line {line:,}."
            )

    def build(
        self,
        format: str,
        objective: Mapping[int, Fraction] | None = None,
        *,
        maximise: bool = False,
        constant: Fraction = Fraction(0),
    ) -> SystemModel:
        """The finished model.

        Programs disagree about an upper bound below 0 without a lower bound. As in HiGHS, the lower
        bound is the default one, so that the two contradict each other; a note says so.
        """
        limits: dict[str, list[Fraction | None]] = {
            "lower": [self._default_lower] * len(self.variables),
            "upper": [None] * len(self.variables),
        }
        names = [*self.variables]
        below_zero: list[str] = []
        for (index, side), (value, _) in self.bounds.items():
            limits[side][index] = value
            unsaid = side == "upper" and (index, "lower") not in self.bounds
            if unsaid and self._default_lower is not None and value is not None and value < 0:
                below_zero.append(names[index])
        if below_zero:
            self.notes.append(
                f"upper bounds below 0 without a lower bound ({listed(below_zero)}): the lower "
                "bound is 0, as in HiGHS, so that no point satisfies both; some programs use −∞"
            )
        if self.integers:
            whole = counted(len(self.integers), "integer variable")
            self.notes.append(
                f"{whole} ({listed([*self.integers])}) may take fractional values here: if this "
                "relaxation is infeasible, so is the problem in whole numbers, but not conversely"
            )
        if self._huge:
            self.notes.append(
                "bounds and right sides of 1e20 and more count as infinite: "
                f"{listed([*self._huge])}"
            )
        model = LinearSystem(
            tuple(names),
            tuple(self._rows),
            tuple(limits["lower"]),
            tuple(limits["upper"]),
            None if objective is None else {j: value for j, value in objective.items() if value},
            maximise,
            constant,
            integers=frozenset(self.variables[name] for name in self.integers),
        )
        return SystemModel(model, format, self.source, tuple(self.notes))

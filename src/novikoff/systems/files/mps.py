"""The MPS format of linear programs, fixed and free.

A line that begins in the first column names a section. In a free file, blanks separate the fields.
In a fixed file, the fields stand in columns 2–3, 5–12, 15–22, 25–36, 40–47 and 50–61, so that names
may contain blanks. Variables are at least 0 unless BOUNDS says otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from novikoff.data.messages import listed, quoted
from novikoff.errors import DataError
from novikoff.proofs.system_statement import Relation
from novikoff.sentences import counted
from novikoff.systems.files.builder import (
    FileLine,
    ModelBuilder,
    bound_number,
    each_line,
    exact_number,
)
from novikoff.systems.system_model import SystemModel

_KINDS: Final = ("N", "L", "G", "E")
_FIXED_COLUMNS: Final = ((1, 3), (4, 12), (14, 22), (24, 36), (39, 47), (49, 61))
_BOUNDS: Final[dict[str, Relation]] = {"UP": "<=", "UI": "<=", "LO": ">=", "LI": ">=", "FX": "="}
_VALUELESS: Final = ("FR", "MI", "PL", "BV")


def mps_system(text: str, source: str) -> SystemModel:
    """Read the system of an MPS file: as a free file and, if that fails, as a fixed file."""
    try:
        return _MpsParser(source, fixed=False).parse(text)
    except DataError:
        try:
            return _MpsParser(source, fixed=True).parse(text)
        except DataError:
            pass
        raise


class _MpsParser:
    """Parses the lines in one pass; each section has a method that takes the fields of a line."""

    def __init__(self, source: str, *, fixed: bool) -> None:
        self.builder = ModelBuilder(source, default_lower=Fraction(0))
        self.place = FileLine(source, 0)
        self.fixed = fixed
        self.kinds: dict[str, str] = {}  # N, L, G or E of every row
        self.terms: dict[str, dict[int, Fraction]] = {}
        self.right: dict[str, Fraction] = {}
        self.range: dict[str, Fraction] = {}
        self.sets: dict[str, str] = {}  # the name of the vector in each of RHS, RANGES and BOUNDS
        self.whole = self.maximise = False

    def parse(self, text: str) -> SystemModel:
        section, ended = "", False
        sections: dict[str, Callable[[list[str]], None]] = {
            "OBJSENSE": self._sense,
            "ROWS": self._row,
            "COLUMNS": self._column,
            "RHS": self._right,
            "RANGES": self._ranges,
            "BOUNDS": self._bound,
        }
        for number, full in enumerate(each_line(text), 1):
            line = full.rstrip("\r\n")
            self.place = self.place._replace(line=number)
            if not line.strip() or line.startswith(("*", "$")):
                continue
            if ended:
                raise self.place.error("there is text after ENDATA.")
            if line[0].isspace():
                if section not in sections:
                    raise self.place.error("this line is in no section; ROWS must come first.")
                sections[section](self._fields(line, section))
                continue
            word, *rest = line.split()
            section = word.upper()
            if section == "OBJSENSE" and rest:
                self._sense(rest)
            elif section == "ENDATA":
                ended = True
            elif section != "NAME" and section not in sections:
                raise self.place.error(
                    f"{quoted(word)} is not a supported section; supported are NAME, "
                    f"{', '.join(sections)} and ENDATA."
                )
        if not ended:
            raise self.place.error("the file ends here without ENDATA: it may be incomplete.")
        return self._build()

    def _fields(self, line: str, section: str) -> list[str]:
        """The fields of a line in the order of the fixed form; an empty first field is left out."""
        if self.fixed:
            fields = [line[begin:end].strip() for begin, end in _FIXED_COLUMNS]
            covered = {k for begin, end in _FIXED_COLUMNS for k in range(begin, end)}
            stop = next((k for k in (2, 4) if fields[k].startswith("$")), 6)
            limit = len(line) if stop == 6 else _FIXED_COLUMNS[stop][0]
            if any(not line[k].isspace() for k in range(limit) if k not in covered):
                raise self.place.error("there is text between the columns of the fixed form.")
            fields = fields[:stop]
            while fields and not fields[-1]:
                fields.pop()
            return fields if section in ("ROWS", "BOUNDS") else fields[1:]
        fields = line.split()
        for k, field in enumerate(fields[2:], 2):
            named = field in self.kinds or field in self.builder.variables
            if field[0] in "$*" and not named:  # a comment
                fields = fields[:k]
                break
        if section in ("RHS", "RANGES") and len(fields) % 2 == 0:
            fields.insert(0, "")  # the vector may be without a name
        elif section == "BOUNDS" and len(fields) == 3 - (fields[0].upper() in _VALUELESS):
            fields.insert(1, "")
        return fields

    def _sense(self, fields: list[str]) -> None:
        word = " ".join(fields).upper()
        if word not in ("MIN", "MINIMIZE", "MAX", "MAXIMIZE"):
            raise self.place.error(f"OBJSENSE is {quoted(word)}, neither MIN nor MAX.")
        self.maximise = word.startswith("MAX")

    def _row(self, fields: list[str]) -> None:
        if len(fields) != 2 or fields[0].upper() not in _KINDS:
            raise self.place.error("a row is N, L, G or E and one name.")
        kind, name = fields[0].upper(), self.builder.name_row(fields[1], self.place)
        self.kinds[name], self.terms[name] = kind, {}

    def _column(self, fields: list[str]) -> None:
        if len(fields) > 2 and fields[1] == "'MARKER'":
            if fields[-1] not in ("'INTORG'", "'INTEND'"):
                raise self.place.error(f"the marker {quoted(fields[-1])} is not known.")
            self.whole = fields[-1] == "'INTORG'"
            return
        for name, text in self._pairs(fields, "a column's name"):
            j = self.builder.variable(fields[0])
            what = f"the coefficient of {quoted(fields[0])} in row {quoted(name)}"
            if j in self.terms[name]:
                raise self.place.error(f"{what} appears twice.")
            self.terms[name][j] = exact_number(text, what, self.place)
            if self.whole:
                self.builder.integers[fields[0]] = None

    def _right(self, fields: list[str]) -> None:
        self._vector("RHS", fields, self.right, "the right side of row")

    def _ranges(self, fields: list[str]) -> None:
        self._vector("RANGES", fields, self.range, "the range of row")
        for name in fields[1::2]:
            if self.kinds[name] == "N":
                raise self.place.error(f"row {quoted(name)} is N, which has no range.")

    def _vector(
        self, section: str, fields: list[str], values: dict[str, Fraction], what: str
    ) -> None:
        for name, text in self._pairs(fields, "a vector's name"):
            if not self._is_first(section, fields[0]):
                return
            if name in values:
                raise self.place.error(f"{what} {quoted(name)} appears twice.")
            values[name] = exact_number(text, f"{what} {quoted(name)}", self.place)

    def _pairs(self, fields: list[str], first: str) -> list[tuple[str, str]]:
        if len(fields) not in (3, 5):
            raise self.place.error(
                f"there are {counted(len(fields), 'field')}; {first} is needed, and one or two "
                "pairs of a row and a number."
            )
        pairs = list(zip(fields[1::2], fields[2::2], strict=True))
        for name, _ in pairs:
            if name not in self.kinds:
                raise self.place.error(f"there is no row {quoted(name)} in ROWS.")
        return pairs

    def _bound(self, fields: list[str]) -> None:
        kind, *rest = fields or [""]
        kind = kind.upper()
        if kind not in (*_BOUNDS, *_VALUELESS):
            semi = " (semi-continuous)" if kind == "SC" else ""
            raise self.place.error(f"{quoted(kind)}{semi} is not a supported kind of bound.")
        if len(rest) != 3 and not (len(rest) == 2 and kind in _VALUELESS):
            raise self.place.error(
                f"the bound {kind} has {counted(len(rest), 'field')} after it; a vector's name, a "
                "column and a number are needed."
            )
        if not self._is_first("BOUNDS", rest[0]):
            return
        name = rest[1]
        if name not in self.builder.variables:
            raise self.place.error(f"there is no column {quoted(name)} in COLUMNS.")
        if kind in ("LI", "UI"):
            self.builder.integers[name] = None
        if kind == "BV":
            self.builder.binary(name, self.place)
        elif kind == "FR":
            self.builder.free(name, self.place)
        elif kind in _VALUELESS:
            endless = -math.inf if kind == "MI" else math.inf
            self.builder.bound(name, ">=" if kind == "MI" else "<=", endless, self.place)
        else:
            value = bound_number(rest[2], f"the bound of {quoted(name)}", self.place)
            self.builder.bound(name, _BOUNDS[kind], value, self.place)

    def _is_first(self, section: str, name: str) -> bool:
        """Whether this is the first vector of the section; the others are left out, with a note."""
        first = self.sets.setdefault(section, name)
        if first != name:
            note = (
                f"{section} has a further vector {quoted(name)}, which is left out: the first one, "
                f"{quoted(first)}, counts; HiGHS also reads what the first one leaves open"
            )
            if note not in self.builder.notes:
                self.builder.notes.append(note)
        return first == name

    def _build(self) -> SystemModel:
        free = [name for name, kind in self.kinds.items() if kind == "N"]
        if len(free) > 1:
            self.builder.notes.append(
                f"rows of kind N after the first, {quoted(free[0])}, are ignored: "
                f"{listed(free[1:])}"
            )
        bounded = {j for j, _ in self.builder.bounds}
        open_ = [x for x in self.builder.integers if self.builder.variables[x] not in bounded]
        if open_:
            self.builder.notes.append(
                f"integer variables without bounds ({listed(open_)}) have no upper bound here; "
                "some programs use 1"
            )
        for name, kind in self.kinds.items():
            terms, right = self.terms[name], self.right.get(name, Fraction(0))
            reach = self.range.get(name)
            if kind == "N":
                continue
            low = None if kind == "L" else right
            high = None if kind == "G" else right
            if reach is not None and (kind == "G" or (kind == "E" and reach > 0)):
                high = right + abs(reach)
            elif reach is not None:
                low = right - abs(reach)
            self.builder.add_sides(name, terms, low, high)
        goal = free[0] if free else None
        return self.builder.build(
            "mps",
            None if goal is None else self.terms[goal],
            maximise=self.maximise,
            constant=-self.right.get(goal, Fraction(0)) if goal else Fraction(0),
        )

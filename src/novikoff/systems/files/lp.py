r"""The LP format of CPLEX, in which sums are written as on paper.

    Maximize
     profit: 3 tea + 2 bread
    Subject To
     money: 3 tea + 1.10 bread <= 20
     1 <= tea - bread <= 4
    Bounds
     tea >= 2
     bread free
    End

A sum may continue on the next line; a backslash begins a comment. In this format "<" means "<=",
and variables are at least 0 unless Bounds says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final, NamedTuple

from novikoff.data.messages import quoted
from novikoff.errors import DataError
from novikoff.proofs.system_statement import Relation
from novikoff.systems.files.builder import (
    FileLine,
    ModelBuilder,
    bound_number,
    each_line,
    exact_number,
)
from novikoff.systems.system_model import SystemModel

_SECTIONS: Final = {
    "objective": r"max(?:imi[sz]e|imum)?|min(?:imi[sz]e|imum)?",
    "rows": r"subject\s+to:?|such\s+that:?|s\.t\.|st\.?",
    "bounds": r"bounds?",
    "refused": r"semi(?:-continuous|s)?|sos[12]?|pwlobj|lazy\s+constraints|user\s+cuts"
    r"|general\s+constraints",
    "integers": r"generals?|gen|integers?|int",
    "binaries": r"binary|binaries|bin",
    "end": r"end",
}
_SECTION = re.compile(
    r"\s*(?:" + "|".join(f"(?P<{k}>{words})" for k, words in _SECTIONS.items()) + r")(?=\s|$)"
    r"(?!\s*:)",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"\s*(?:(?P<relation><=|=<|>=|=>|<|>|=)|(?P<sign>[-+])|(?P<colon>:)"
    r"|(?P<infinity>inf(?:inity)?(?![^\s<>=+:-]))"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<name>[^\W\d_][^\s:<>=+*^\-]*|[_!\"#$%&(),;?@'`{}~|][^\s:<>=+*^\-]*)|(?P<other>\S))",
    re.IGNORECASE,
)
_LP_RELATIONS: Final[dict[str, Relation]] = {
    "<": "<=", "<=": "<=", "=<": "<=", ">": ">=", ">=": ">=", "=>": ">=", "=": "="
}  # fmt: skip
_FLIPPED: Final[dict[Relation, Relation]] = {"<=": ">=", ">=": "<=", "=": "="}
Sum = tuple[dict[int, Fraction], Fraction]


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def lp_system(text: str, source: str) -> SystemModel:
    """Read the system of a file in LP format."""
    parser = _LpParser(source, _tokens(text))
    parser.parse()
    goal, constant = parser.objective
    return parser.builder.build("lp", goal or None, maximise=parser.maximise, constant=constant)


def parse_objective(text: str, variables: tuple[str, ...]) -> tuple[bool, Sum]:
    """Parse an objective such as "max 3 tea + 2 bread": whether to maximise, and the sum.

    >>> parse_objective("max 3 tea - bread + 1", ("bread", "tea"))
    (True, ({1: Fraction(3, 1), 0: Fraction(-1, 1)}, Fraction(1, 1)))
    """
    parser = _LpParser("the objective", _tokens(text))
    for name in variables:
        parser.builder.variable(name)
    if parser.next.kind != "objective":
        raise parser.error('an objective begins with "min" or "max"')
    parser.begin_objective()
    unknown = [*parser.builder.variables][len(variables) :]
    if unknown:
        raise DataError(f"the system has no variable {quoted(unknown[0])}.")
    if parser.next.kind != "end":
        raise parser.error("a sign, a number or a variable is expected")
    return parser.maximise, parser.objective


def _tokens(text: str) -> Iterator[_Token]:
    """Yield the tokens of a file; the name of a section is recognised at the start of a line."""
    line = 0
    for line, full in enumerate(each_line(text), 1):
        rest = full.partition("\\")[0].rstrip()
        section = _SECTION.match(rest)
        at = 0
        if section is not None:
            yield _Token(str(section.lastgroup), section[0].strip(), line)
            at = section.end()
        while at < len(rest):
            match = _TOKEN.match(rest, at)
            if match is None:
                break
            yield _Token(str(match.lastgroup), match[0].strip(), line)
            at = match.end()
    yield _Token("end", "", max(line, 1))


class _LpParser:
    """A recursive-descent parser; each method reads the part of the file that it is named after."""

    def __init__(self, source: str, tokens: Iterator[_Token]) -> None:
        self.builder = ModelBuilder(source, default_lower=Fraction(0))
        # The token that was taken last, the next token, and the token after it. The file ends with
        # an end token.
        self.tokens = tokens
        self.previous = self.next = next(tokens)
        self.after = next(tokens, self.next)
        self.objective: Sum = {}, Fraction(0)
        self.maximise = self.in_objective = self.is_quadratic = False

    @property
    def place(self) -> FileLine:
        return FileLine(self.builder.source, self.next.line)

    def error(self, expected: str) -> Exception:
        seen_text = quoted(self.next.text) if self.next.text else "the end of the file"
        return self.place.error(f"{expected}, but there is {seen_text}.")

    def take(self) -> _Token:
        token = self.next
        if token.text or token.kind != "end":
            self.previous, self.next = token, self.after
            self.after = next(self.tokens, self.next)
        return token

    def parse(self) -> None:
        if self.next.kind != "objective":
            raise self.error('the file must begin with "Minimize" or "Maximize"')
        self.begin_objective()
        readers = {
            "rows": self.row,
            "bounds": self.bound,
            "integers": self.integer,
            "binaries": self.binary,
        }
        while self.next.kind != "end":
            if self.next.kind == "refused" and self.after.kind in _SECTIONS:
                self.take()  # HiGHS writes the heading of a section that is empty
                continue
            if self.next.kind not in readers:
                raise self.error("a section of a linear program is expected (Subject To, Bounds)")
            read = readers[self.take().kind]
            while self.next.kind not in _SECTIONS:
                read()
        if not self.next.text:
            raise self.error('"End" is expected: the file may be incomplete')
        self.take()
        if self.next.text:
            raise self.error('nothing is expected after "End"')

    def begin_objective(self) -> None:
        self.maximise = self.take().text.lower().startswith("max")
        self.label()
        if self.next.kind in ("sign", "number", "name") or self.next.text == "[":
            self.in_objective = True
            objective = self.sum()
            self.in_objective = False
            self.objective = ({}, Fraction(0)) if self.is_quadratic else objective

    def label(self) -> str:
        """The name before a colon, or an empty string."""
        if self.next.kind == "name" and self.after.kind == "colon":
            name = self.take().text
            self.take()
            return name
        return ""

    def row(self) -> None:
        """``name: sum <= number``, or ``number <= sum <= number``."""
        place, name = self.place, self.label()
        name = self.builder.name_row(name, place)
        terms, constant = self.sum()
        relation = self.relation()
        if self.any_term:
            self.add(name, terms, relation, self.right() - constant)
        else:
            least, (terms, constant) = constant, self.sum()
            if not self.any_term:
                raise self.error("a row needs a variable")
            if self.next.kind == "relation":
                if _LP_RELATIONS[self.next.text] != relation or relation == "=":
                    raise self.error("both signs of a range must point the same way")
                self.take()
                ends = least - constant, self.right() - constant
                low, high = ends if relation == "<=" else ends[::-1]
                self.builder.add_sides(name, terms, low, high)
            else:
                self.add(name, terms, _FLIPPED[relation], least - constant)
        self.end_of_line("a row")

    def add(
        self, name: str, terms: dict[int, Fraction], relation: Relation, right: Fraction
    ) -> None:
        """Add a row with a single sign."""
        low = None if relation == "<=" else right
        self.builder.add_sides(name, terms, low, None if relation == ">=" else right)

    def sum(self) -> Sum:
        """Terms and constants with signs between them."""
        terms: dict[int, Fraction] = {}
        constant, first, self.any_term = Fraction(0), True, False
        while first or self.next.kind == "sign":
            first = False
            factor = Fraction(self.sign())
            numbered = self.next.kind == "number"
            if numbered:
                factor *= exact_number(self.next.text, "a coefficient", self.place)
                self.take()
            if self.next.kind == "name" and self.after.kind != "colon":
                j = self.builder.variable(self.take().text)
                terms[j] = terms[j] + factor if j in terms else factor
                self.any_term = True
            elif numbered:
                constant += factor
            elif self.next.text == "[":
                self.quadratic()
            else:
                raise self.error("a number or a variable is expected")
        return terms, constant

    def quadratic(self) -> None:
        """Leave out a quadratic objective, which does not change the solutions; reject a row."""
        if not self.in_objective:
            raise self.place.error("quadratic terms are not supported: rows must be linear.")
        while self.next.kind not in _SECTIONS:
            self.take()
        self.is_quadratic = True
        self.builder.notes.append("the objective is quadratic, and is left out")

    def sign(self) -> int:
        sign = 1
        while self.next.kind == "sign":
            sign *= -1 if self.take().text == "-" else 1
        return sign

    def relation(self) -> Relation:
        if self.next.kind != "relation":
            raise self.error("one of <=, >= and = is expected")
        return _LP_RELATIONS[self.take().text]

    def number(self, what: str) -> Fraction | float:
        """A number with signs; bounds may be infinite."""
        sign = self.sign()
        if self.next.kind != "number" and (what, self.next.kind) != ("the bound", "infinity"):
            raise self.error("a number is expected; variables stand on the left")
        value = bound_number(self.next.text, what, self.place)
        self.take()
        return value if sign > 0 else -value

    def right(self) -> Fraction:
        return Fraction(self.number("the right side"))

    def end_of_line(self, what: str) -> None:
        if self.next.text and self.next.line == self.previous.line:
            raise self.error(f"{what} ends with its number, and the next begins a new line")

    def bound(self) -> None:
        """``number <= x <= number``, either half of it, ``x = number`` or ``x free``."""
        place = self.place
        if self.next.kind == "name":
            name = self.known()
            if self.next.kind == "name" and self.next.text.lower() == "free":
                self.take()
                self.builder.free(name, place)
            else:
                self.builder.bound(name, self.relation(), self.number("the bound"), place)
        else:
            value = self.number("the bound")
            relation = _FLIPPED[self.relation()]
            name = self.known()
            self.builder.bound(name, relation, value, place)
            if self.next.kind == "relation":
                self.builder.bound(name, self.relation(), self.number("the bound"), place)
        self.end_of_line("a bound")

    def known(self) -> str:
        """The name of a variable; a variable that is in no row gets a note."""
        if self.next.kind != "name":
            raise self.error("a variable is expected")
        name = self.take().text
        if name not in self.builder.variables:
            self.builder.notes.append(f"{quoted(name)} is in no row and not in the objective")
            self.builder.variable(name)
        return name

    def integer(self) -> None:
        self.builder.integers[self.known()] = None

    def binary(self) -> None:
        place = self.place
        self.builder.binary(self.known(), place)

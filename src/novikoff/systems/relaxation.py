"""What must give way in an infeasible system: the record of the answer, and its words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from novikoff.core.rows import Vector
from novikoff.geometry.margin import Interval
from novikoff.proofs import exact
from novikoff.proofs.relaxation_certificate import RelaxationCertificate
from novikoff.proofs.system_certificate import SystemCertificate
from novikoff.sentences import (
    KEPT_ROWS_CONTRADICT,
    fewest_rows_clause,
    first_few,
    html_table,
    least_violation_clause,
    must_go,
)
from novikoff.systems.conflict_table import exact_number, pretty
from novikoff.systems.solution import RELAXED, NamedRow, Solution, is_whole

_MAX_NAMED = 8


@dataclass(frozen=True)
class RelaxedRow:
    """A row that gives way, by how much, and the right side that suffices.

    Attributes
    ----------
    kind, index, name
        The row, as in `NamedRow`.
    gives_way_by : Fraction
        How far the point violates the row.
    old_side, new_side : Fraction
        The right side of the row, and the right side with which the point satisfies it. For an
        equality, it is the value at the point.
    """

    kind: Literal["row", "eq", "upper", "lower"]
    index: int
    name: str
    gives_way_by: Fraction
    old_side: Fraction
    new_side: Fraction


@dataclass(frozen=True)
class Relaxation:
    """What must give way so that the rest of a system is feasible, with proved bounds.

    Attributes
    ----------
    by : "rows", "total" or "max"
        What is minimised: the weights of the rows that are given up, the weighted sum of the
        violations, or the largest weighted violation.
    kind : str
        "relaxed"; "feasible" if nothing has to give way; "infeasible" if the rows that may not give
        way contradict each other; "undecided" if the time was up before a point was found.
    least, most : Fraction, Fraction or None
        The least value is between these numbers, exactly; ``most`` belongs to ``rows`` and ``w``,
        and is None without a point.
    rows : tuple of RelaxedRow
        The rows that give way. All other rows hold at the point.
    w, exact_w : array and tuple of Fraction, or None
        A point that satisfies all other rows, in floats and exactly.
    conflicts : tuple of Solution
        With ``by="rows"``: infeasible solutions, of which every choice of rows must hit each
        conflict. Each has its certificate.
    multipliers : tuple of NamedRow
        With "total" and "max": the multipliers λ that prove ``least``; empty if it is 0.
    certificate : RelaxationCertificate, SystemCertificate or None
        The proof of ``least`` and ``most``. If the kind is "feasible" or "infeasible", it is the
        certificate of ``solution``. None if nothing is proved, or with a tolerance.
    solution : Solution
        The answer to the system as it is, or to the rows that may not give way if ``kind`` is
        "infeasible".
    ended : str
        If "undecided", or if ``least`` is less than ``most``, why the search ended, such as "the
        time was up" or "it was interrupted"; else empty.

    See Also
    --------
    relax : Returns a relaxation.
    """

    by: Literal["rows", "total", "max"]
    kind: Literal["relaxed", "feasible", "infeasible", "undecided"]
    solution: Solution = field(repr=False)
    least: Fraction = Fraction(0)
    most: Fraction | None = None
    rows: tuple[RelaxedRow, ...] = ()
    w: Vector | None = None
    exact_w: tuple[Fraction, ...] | None = None
    conflicts: tuple[Solution, ...] = ()
    multipliers: tuple[NamedRow, ...] = ()
    proof: RelaxationCertificate | None = field(default=None, repr=False)
    ended: str = ""

    @property
    def relaxed(self) -> bool:
        """Whether the model has integer variables, so that the answer is about its relaxation.

        What must give way in the relaxation, in which integer variables may take fractional values,
        must give way in the model, too. It suffices in the model if the point is ``whole``.
        """
        return self.solution.relaxed

    @property
    def whole(self) -> bool:
        """Whether the exact point gives whole numbers to all integer variables of the model."""
        return is_whole(self.solution.system.stated, self.exact_w)

    @property
    def certificate(self) -> RelaxationCertificate | SystemCertificate | None:
        """The proof of the bounds, which `verify` checks."""
        if self.kind in ("feasible", "infeasible"):
            return self.solution.certificate
        return None if self.solution.tolerance else self.proof

    @property
    def value(self) -> Interval:
        """The interval of the least value, rounded outwards to floats."""
        most = math.inf if self.most is None else exact.rounded_up(self.most)
        return Interval(exact.rounded_down(self.least), most)

    @property
    def is_least(self) -> bool:
        """Whether it is proved that no less suffices."""
        return self.most is not None and self.least == self.most

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield the heading and the text of each line, for reports."""
        yield "relaxation", self._sentence()
        shown = self.rows[: 3 * _MAX_NAMED]
        for row in shown:
            what = pretty(f"{exact_number(row.old_side)} → {exact_number(row.new_side)}")
            yield "", f"{row.name}: {what}"
        if len(self.rows) > len(shown):
            yield "", f"… and {len(self.rows) - len(shown):,} more"
        if self._is_fractional:
            yield "", RELAXED

    @property
    def _is_fractional(self) -> bool:
        """Whether the point is a solution of the relaxation only."""
        return self.relaxed and self.exact_w is not None and not self.whole

    @property
    def _is_weighted(self) -> bool:
        """Whether a row has another weight than 1."""
        return self.proof is not None and self.proof.weights is not None

    def _sentence(self) -> str:
        if self.kind == "feasible":
            which = "relaxation" if self._is_fractional else "system"
            return f"nothing has to give way: the {which} is feasible"
        if self.kind == "infeasible":
            return KEPT_ROWS_CONTRADICT
        low, weighted = exact_number(self.least), self._is_weighted
        if self.most is None:
            known = ""
            if self.least and self.by == "rows":
                known = f"; {must_go(low, weighted=weighted)}"
            elif self.least:
                known = f"; {least_violation_clause(self.by, low, '', weighted=weighted)}"
            ended = self.ended or "the search ended"
            return f"undecided: {ended} before a point was found{known}"
        high, why = exact_number(self.most), f" ({self.ended})" if self.ended else ""
        if self.by != "rows":
            return f"{least_violation_clause(self.by, low, high, weighted=weighted)}{why}"
        listed = [row.name for row in self.rows]
        names = first_few(listed, len(listed), _MAX_NAMED)
        if 1 < len(listed) <= _MAX_NAMED:
            names = f"{', '.join(listed[:-1])} and {listed[-1]}"
        rest = "the relaxation of the rest" if self._is_fractional else "the rest"
        enough = f"without {names}, {rest} is feasible"
        count = len(listed)
        return f"{fewest_rows_clause(low, high, enough, count=count, weighted=weighted)}{why}"

    def __str__(self) -> str:
        sentence = self._sentence()
        text = f"{sentence[:1].upper()}{sentence[1:]}."
        return f"{text} {RELAXED}" if self._is_fractional else text

    def __repr__(self) -> str:
        return f"<Relaxation: {self}>"

    def _repr_html_(self) -> str:
        """The rows that give way as a table, for notebooks."""
        return html_table([*self.lines()])

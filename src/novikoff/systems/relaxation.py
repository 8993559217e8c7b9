"""What must give way in an infeasible system: the fewest rows, or the least violation.

The rows that may be given up are an *elastic* system. The fewest rows that must go are a smallest
set that has a row of every conflict (a maximum feasible subsystem is what remains). Conflicts are
found one after another, each among the rows that are left if a smallest hitting set of the
conflicts found before goes. If no conflict is left, this hitting set suffices; what proves that no
smaller set does are shares of the conflicts, or a tree of cases (`novikoff.proofs.hitting`).

References
----------
Parker, M. and Ryan, J. (1996). Finding the minimum weight IIS cover of an infeasible system of
linear inequalities. *Annals of Mathematics and Artificial Intelligence* 17, 107-126.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits, check_budget
from novikoff.geometry.hitting_sets import best_shares, prove_bound, smallest_hitting_set
from novikoff.geometry.margin import Interval
from novikoff.geometry.passes import OutOfTimeError, TooLargeError
from novikoff.names import RELAXATIONS
from novikoff.proofs import exact
from novikoff.proofs.hitting import Branch
from novikoff.proofs.relaxation_certificate import RelaxationCertificate, RowWeights
from novikoff.proofs.system_certificate import SystemCertificate
from novikoff.proofs.system_statement import Arrays, LinearSystem
from novikoff.sentences import (
    KEPT_ROWS_CONTRADICT,
    fewest_rows_clause,
    first_few,
    html_table,
    least_violation_clause,
    must_go,
)
from novikoff.systems.conflict_table import exact_number, pretty
from novikoff.systems.conflicts import infeasible_solution
from novikoff.systems.elastic import LeastViolation, least_violation, violations_at
from novikoff.systems.engine import Conflict, Point
from novikoff.systems.files.builder import as_written
from novikoff.systems.linear_program import optimise
from novikoff.systems.solution import (
    RELAXED,
    NamedRow,
    Solution,
    is_whole,
    named_row,
    named_rows,
    reason,
)
from novikoff.systems.solve import solve_system
from novikoff.systems.statement import groups_of, row_name, row_numbers, stated_system
from novikoff.systems.suggested import decide
from novikoff.systems.system import (
    System,
    nearest_floats,
    sorted_multipliers,
    split_equalities,
    system_of,
)

_MAX_NAMED = 8
# Weights are whole multiples of a unit, up to this many: then floats hold their sums exactly.
_MOST_UNITS = 2**31


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


def relax(
    A: object,
    c: object = None,
    *,
    by: Literal["rows", "total", "max"] = "rows",
    weights: npt.ArrayLike | Mapping[str, float] | None = None,
    keep: object = None,
    signs: bool = False,
    A_eq: object = None,
    c_eq: object = None,
    lower: object = None,
    upper: object = None,
    strict: bool | npt.ArrayLike = False,
    names: Sequence[str] | None = None,
    equality_names: Sequence[str] | None = None,
    variables: Sequence[str] | None = None,
    budget: float | None = None,
) -> Relaxation:
    """Find what must give way in an infeasible system: fewest rows, or least violation.

    Parameters
    ----------
    A, c, A_eq, c_eq, lower, upper, strict, names, equality_names, variables
        The system, as in `solve`; A may be a model.
    by : "rows", "total" or "max"
        Whether to give up the fewest rows, to minimise the sum of all violations, or the largest
        violation. Strict rows count as weak rows, except with "rows".
    weights : array of shape (n,) or mapping, optional
        Positive numbers: the cost of giving up a row, or a factor on its violation; 1 by default.
        An array has one number for each row of A (of a model: for each row). A mapping has names,
        patterns or groups of rows, as in `solve`.
    keep : mask, row numbers, str or sequence of str, optional
        Rows that must not give way, as in `solve`.
    signs : bool
        Whether bounds at 0, such as x ≥ 0, may give way too.
    budget : float, optional
        The number of seconds after which the best answer so far is returned.

    Returns
    -------
    Relaxation
        The rows that give way, a point, and proved bounds on the least value.

    See Also
    --------
    explain : Find one conflict.

    Examples
    --------
    >>> import novikoff as nv
    >>> A, c = [[1, 0], [-1, 0], [0, 1], [0, -1]], [1, -3, 2, -5]  # x ≤ 1, x ≥ 3, y ≤ 2, y ≥ 5
    >>> fewest = nv.relax(A, c)
    >>> fewest.is_least, len(fewest.rows)
    (True, 2)
    >>> print(nv.relax(A, c, by="total"))
    Every point violates the rows by at least 5 in total — proved; the point found violates them \
by 5 in total.
    >>> print(nv.relax(A, c, by="max", keep=[0]))
    Every point violates some row by at least 2 — proved; the point found violates no row by \
more than 2.
    """
    if by not in RELAXATIONS:
        raise ValueError(f"by must be one of {', '.join(RELAXATIONS)}, not {by!r}.")
    seconds = check_budget(budget)
    stated = stated_system(
        A, c, A_eq=A_eq, c_eq=c_eq, lower=lower, upper=upper, strict=strict, names=names,
        equality_names=equality_names, variables=variables, keep=keep,
    )  # fmt: skip
    return relax_system(stated, by, Limits(seconds=seconds), weights=weights, signs=signs)


def relax_system(
    stated: LinearSystem | Arrays,
    by: Literal["rows", "total", "max"],
    limits: Limits,
    *,
    weights: npt.ArrayLike | Mapping[str, float] | None = None,
    signs: bool = False,
    solution: Solution | None = None,
) -> Relaxation:
    """Relax a system, as `relax` does, that was checked; its solution may be known."""
    prices = _weights(stated, weights, signs)
    system = system_of(stated)
    solution = solution or solve_system(system, limits)
    if solution.kind == "feasible":
        return Relaxation(
            by, "feasible", solution, most=Fraction(0), w=solution.w, exact_w=solution.exact_w
        )
    try:
        if by == "rows":
            return _FewestRows(system, prices, solution, limits).run()
        return _least(system, prices, by, solution, limits)
    except (OutOfTimeError, TooLargeError, OverflowError) as error:
        ended = reason(error, limits)
    except KeyboardInterrupt as error:
        limits.interrupt()
        ended = reason(error, limits)
    return _undecided(system, prices, by, solution, ended)


def _undecided(
    system: System,
    prices: dict[int, Fraction],
    by: Literal["rows", "total", "max"],
    solution: Solution,
    ended: str,
) -> Relaxation:
    """The answer without a point; the conflict of the solution, if it has one, proves a bound."""
    ended = solution.ended or ended
    claim = None if solution.proof is None else solution.proof.conflict
    undecided = Relaxation(by, "undecided", solution, ended=ended)
    if claim is None or claim.multipliers is None:
        return undecided
    blamed = {
        k: abs(value) / prices[k]
        for k, value in zip(claim.rows, claim.multipliers, strict=True)
        if k in prices
    }
    if not blamed:  # the rows that may not give way contradict each other
        return Relaxation(by, "infeasible", solution)
    if by == "rows":
        least = min(prices[k] for k in blamed)
        tree = (Branch(None, (0,), (least,)),)
        proof = _certificate(system, by, prices, least, conflicts=(claim,), branches=tree)
        return replace(undecided, least=least, conflicts=(solution,), proof=proof)
    size = sum(blamed.values(), Fraction(0)) if by == "max" else max(blamed.values())
    scaled = replace(claim, multipliers=tuple(value / size for value in claim.multipliers))
    rows = zip(solution.conflict_rows, scaled.multipliers, strict=True)
    least = -sum((row.sign * value * row.right for row, value in rows), Fraction(0))
    if least == 0:  # only strict rows exclude every point
        return undecided
    proof = _certificate(system, by, prices, least, multipliers=scaled)
    multipliers = named_rows(system.stated, scaled)
    return replace(undecided, least=least, multipliers=multipliers, proof=proof)


def _weights(
    stated: LinearSystem | Arrays,
    weights: npt.ArrayLike | Mapping[str, float] | None,
    signs: bool,
) -> dict[int, Fraction]:
    """The weight of every row that may give way, by its number."""
    prices = dict.fromkeys((k for k in range(stated.n) if row_name(stated, k)), Fraction(1))
    if isinstance(weights, Mapping):
        for chosen, value in weights.items():
            price = _weight(value)
            prices |= dict.fromkeys(row_numbers(stated, chosen, "weights"), price)
    elif weights is not None:
        given = np.asarray(weights)
        n = len(stated.c) if isinstance(stated, Arrays) else stated.m
        if given.shape != (n,):
            raise ValueError(f"weights must have {n} numbers, one for each row.")
        prices |= {k: _weight(value) for k, value in enumerate(given.tolist()) if k in prices}
    return {
        k: price
        for k, price in prices.items()
        if k not in stated.kept and (signs or "signs" not in groups_of(stated, k))
    }


def _weight(value: Any) -> Fraction:
    number = as_written(value, "a weight")
    if number <= 0:
        raise ValueError(f"weights must be positive numbers, not {value!r}.")
    return number


class _Best(NamedTuple):
    """A point, the homogeneous rows that it violates, and their weight."""

    weight: Fraction
    rows: frozenset[int]
    w: list[Fraction]


class _FewestRows:
    """The search for the rows of least weight, by conflicts and their hitting sets.

    Attributes
    ----------
    halves : System
        The homogeneous rows, in which each of two equal bounds is a row.
    numbers : list of int
        The number of the stated row of each homogeneous row.
    weights : list of Fraction
        The weight of each homogeneous row; 0 if it may not be given up.
    unit, costs
        All weights are whole multiples of ``unit``; these multiples are the costs.
    conflicts, sets
        The conflicts found so far, and the rows of each of them that may be given up.
    best : _Best or None
        The best point found so far.
    """

    def __init__(
        self, system: System, prices: dict[int, Fraction], solution: Solution, limits: Limits
    ) -> None:
        self.system, self.prices, self.solution, self.limits = system, prices, solution, limits
        self.halves = split_equalities(system, system.fixed)
        rows = range(self.halves.homogenising_row)
        self.numbers = [self.halves.stated_number(i, Fraction(1)) for i in rows]
        self.weights = [prices.get(number, Fraction(0)) for number in self.numbers]
        self.unit = Fraction(1, math.lcm(*(weight.denominator for weight in self.weights)))
        if max(self.weights, default=self.unit) / self.unit > _MOST_UNITS:
            raise ValueError("the weights differ too much, or have too many digits.")
        self.costs = np.array([float(weight / self.unit) for weight in self.weights])
        self.conflicts: list[Solution] = []
        self.sets: list[tuple[int, ...]] = []
        self.best: _Best | None = None
        self.ended = ""

    def run(self) -> Relaxation:
        """Search until the best point is proved to be best, or a limit is reached."""
        try:
            self.start()
            hitting = frozenset[int]()
            while (at := self.find_conflicts(hitting)) is not None:
                gone, w = at
                self.improve(gone, w)
                if gone == hitting:  # without the hitting set, no conflict is left
                    break
                suggested = smallest_hitting_set(self.sets, self.costs, self.limits)
                if suggested is None:
                    break
                hitting = frozenset(suggested.elements)
            else:
                return Relaxation("rows", "infeasible", self.conflicts[-1])
        except (OutOfTimeError, TooLargeError, OverflowError) as error:
            self.ended = reason(error, self.limits)
        except KeyboardInterrupt as error:
            self.limits.interrupt()
            self.ended = reason(error, self.limits)
        return self.answer()

    def start(self) -> None:
        """Begin with the rows that a point with the least total violation violates."""
        may_give = [i for i, number in enumerate(self.numbers) if number in self.prices]
        w = self.nearer(may_give, [])
        if w:
            self.improve(may_give, w)

    def find_conflicts(
        self, hitting: frozenset[int]
    ) -> tuple[frozenset[int], list[Fraction]] | None:
        """Find conflicts that share no row, among the rows that are not in a hitting set.

        Returns
        -------
        gone, w
            The hitting set and the rows of the new conflicts, and a point that satisfies all other
            rows. None if rows that may not be given up contradict each other; the last conflict has
            these rows.
        """
        gone, n = hitting, len(self.numbers)
        while True:
            within = np.ones(n + 1, dtype=np.bool_)
            within[list(gone)] = False
            decided = decide(self.halves, self.limits, within=within, floats=False)
            if isinstance(decided, Point):
                return gone, list(self.halves.point(decided.v))
            self.conflicts.append(_solution(self.halves, self.system, decided))
            blamed = tuple(i for i in decided.rows.tolist() if i < n and self.weights[i])
            if not blamed:
                return None
            self.sets.append(blamed)
            gone |= {*blamed}

    def improve(self, rows: Iterable[int], w: list[Fraction]) -> None:
        """Keep a point that satisfies all rows but these, if it violates rows of less weight."""
        violated = _violated(self.halves, rows, w, self.limits)
        weight = self.weight(violated)
        if self.best is None or weight < self.best.weight:
            self.best = _Best(weight, violated, w)

    def prove(self) -> tuple[Fraction, tuple[Branch, ...]]:
        """Prove a lower bound on the weight: with shares of the conflicts, or a tree of cases."""
        if not self.sets:
            return Fraction(0), ()
        n, sets, costs = len(self.numbers), self.sets, self.costs
        _, shares, least = best_shares(sets, n, costs, Fraction(0), Limits())
        places = tuple(k for k, share in enumerate(shares) if share)
        tree: tuple[Branch, ...] = (Branch(None, places, tuple(shares[k] for k in places)),)
        if self.best is not None and least * self.unit < self.best.weight:
            target = self.best.weight / self.unit
            better = prove_bound(sets, costs, target, self.limits)
            least, tree = (least, tree) if better is None else (target, better)
        named = (self._in_words_of_the_statement(branch) for branch in tree)
        return least * self.unit, tuple(named) if least else ()

    def answer(self) -> Relaxation:
        """The best point with the proved bound."""
        if self.best is None and not self.sets:
            return _undecided(self.system, self.prices, "rows", self.solution, self.ended)
        least, tree = self.prove()
        proofs = [found.proof for found in self.conflicts if found.proof is not None]
        claims = tuple(proof.conflict for proof in proofs if proof.conflict is not None)
        proof = _certificate(
            self.system, "rows", self.prices, least, conflicts=claims if tree else (), branches=tree
        )
        conflicts = tuple(self.conflicts)
        if self.best is None:
            return Relaxation(
                "rows", "undecided", self.solution, least, conflicts=conflicts, proof=proof,
                ended=self.ended,
            )  # fmt: skip
        w = self.nearer(self.best.rows, self.best.w)
        given_up = _violated(self.halves, self.best.rows, w, Limits())
        most = self.weight(given_up)
        rows = _relaxed_rows(self.system, w, {self.numbers[i] for i in given_up})
        return Relaxation(
            "rows", "relaxed", self.solution, least, most, tuple(rows), nearest_floats(w),
            tuple(w), conflicts, proof=_with_point(proof, w, most),
            ended=self.ended if least < most else "",
        )  # fmt: skip

    def weight(self, rows: Iterable[int]) -> Fraction:
        """The weight of some homogeneous rows."""
        return sum((self.weights[i] for i in rows), Fraction(0))

    def nearer(self, given_up: Iterable[int], w: list[Fraction]) -> list[Fraction]:
        """A point that violates at most these rows, by less in total than w, if one is found."""
        if self.system.strict.any():
            return w
        weights = {self.numbers[i]: self.weights[i] for i in given_up}
        try:
            found = least_violation(self.system, weights, "total", self.limits)
        except (OutOfTimeError, OverflowError):
            return w
        return w if found is None else list(found.point)

    def _in_words_of_the_statement(self, branch: Branch) -> Branch:
        """A node with the number of the stated row, and with shares of weights."""
        element = None if branch.element is None else self.numbers[branch.element]
        return Branch(element, branch.sets, tuple(share * self.unit for share in branch.shares))


def _certificate(
    system: System,
    by: Literal["rows", "total", "max"],
    prices: dict[int, Fraction],
    least: Fraction,
    **claims: Any,
) -> RelaxationCertificate:
    """The proof of a lower bound, without a point."""
    stated = system.stated
    kept = (k for k in range(stated.n) if k not in prices and stated.row(k) is not None)
    weights = {k: price for k, price in sorted(prices.items()) if price != 1}
    return RelaxationCertificate(
        by, stated.n, stated.d, stated.sha256(), tuple(kept),
        RowWeights(tuple(weights), tuple(weights.values())) if weights else None, least, **claims,
    )  # fmt: skip


def _with_point(
    proof: RelaxationCertificate, w: Iterable[Fraction], most: Fraction
) -> RelaxationCertificate:
    return replace(proof, value=most, point=(*w, Fraction(1)))


def _solution(halves: System, system: System, conflict: Conflict) -> Solution:
    found = infeasible_solution(halves, conflict, {})
    found.system = system
    return found


def _violated(
    system: System, rows: Iterable[int], w: Sequence[Fraction], limits: Limits
) -> frozenset[int]:
    """The rows that a point violates."""
    numbers = np.array([*rows], dtype=np.int64)
    slacks = system.slack(w, limits, numbers)
    violated = set[int]()
    for i, slack in zip(numbers.tolist(), slacks, strict=True):
        wrong = slack != 0 if system.equalities[i] else slack < 0
        if wrong or (system.strict[i] and slack == 0):
            violated.add(i)
    return frozenset(violated)


def _least(
    system: System,
    prices: dict[int, Fraction],
    by: Literal["total", "max"],
    solution: Solution,
    limits: Limits,
) -> Relaxation:
    """Minimise the total or the largest violation."""
    weak = replace(system, strict=np.zeros_like(system.strict))
    found = least_violation(weak, prices, by, limits)
    if found is None or found.least < found.most:
        better = _by_exact_program(system, prices, by, limits)
        if better is None and found is None:
            return _kept_rows_only(system, prices, by, solution, limits)
        found = better or found
    if found is None:
        return _undecided(system, prices, by, solution, "the numbers grew beyond floats")
    rows = tuple(_relaxed_rows(system, found.point))
    claim = sorted_multipliers(found.multipliers) if found.multipliers else None
    multipliers = () if claim is None else named_rows(system.stated, claim)
    proof = _certificate(system, by, prices, found.least, multipliers=claim)
    return Relaxation(
        by, "relaxed", solution, found.least, found.most, rows, nearest_floats(found.point),
        found.point, (), multipliers, _with_point(proof, found.point, found.most),
    )  # fmt: skip


def _kept_rows_only(
    system: System,
    prices: dict[int, Fraction],
    by: Literal["total", "max"],
    solution: Solution,
    limits: Limits,
) -> Relaxation:
    """The answer if no point was found, perhaps because the kept rows contradict each other."""
    kept = [k for k in range(system.stated.n) if k not in prices]
    within = np.isin(system.numbers, kept) | system.mask_of_e
    decided = decide(system, limits, within=within, floats=False)
    if isinstance(decided, Conflict):
        return Relaxation(by, "infeasible", _solution(system, system, decided))
    return _undecided(system, prices, by, solution, "the numbers grew beyond floats")


def _by_exact_program(
    system: System,
    prices: dict[int, Fraction],
    by: Literal["total", "max"],
    limits: Limits,
) -> LeastViolation | None:
    """The least violation by an exact linear program with a variable for each violation."""
    stated, p = system.stated, system.p
    rows, names = [], [*map(str, stated.variables)]
    of_row: list[tuple[int, int]] = []  # the stated row of each row, and the sign of its λ
    terms: dict[int, Fraction] = {} if by == "total" else {p: Fraction(1)}
    n_extra = 0 if by == "total" else 1
    for number in range(stated.n):
        row = stated.row(number)
        if row is None:
            continue
        weak = row._replace(relation={"<": "<=", ">": ">="}.get(row.relation, row.relation))  # type: ignore[arg-type]
        if number not in prices:
            rows.append(weak)
            of_row.append((number, 1))
            continue
        for relation in ("<=", ">=") if row.relation == "=" else (weak.relation,):
            sign = 1 if relation == ">=" else -1
            if by == "total":
                extra, share = p + n_extra, Fraction(1)
                terms[extra] = prices[number]
                n_extra += 1
            else:
                extra, share = p, 1 / prices[number]
            rows.append(weak._replace(terms={**row.terms, extra: sign * share}, relation=relation))
            of_row.append((number, -1 if row.relation == "=" and relation == ">=" else 1))
    names += [f"violation {k}" for k in range(n_extra)]
    lower = (None,) * p + (Fraction(0),) * n_extra
    program = LinearSystem(tuple(names), tuple(rows), lower, (None,) * len(names), terms)
    best = optimise(program, limits)
    if best.kind != "optimal" or best.exact_value is None or best.exact_w is None:
        return None
    multipliers = dict[int, Fraction]()
    for dual in best.dual:
        if dual.kind in ("row", "eq"):  # the others are the bounds v ≥ 0 of violations
            number, sign = of_row[dual.index]
            value = multipliers.get(number, Fraction(0)) + sign * dual.multiplier
            multipliers[number] = value
    used = {number: value for number, value in multipliers.items() if value}
    return LeastViolation(best.exact_value, best.exact_value, best.exact_w[:p], used)


def _relaxed_rows(
    system: System, w: Sequence[Fraction], given_up: Iterable[int] = ()
) -> Iterator[RelaxedRow]:
    """The rows that a point violates, and those that are given up."""
    broken = dict.fromkeys(given_up, Fraction(0)) | dict(violations_at(system, w, Limits()))
    for number in sorted(broken):
        row, named = system.stated.row(number), named_row(system.stated, number)
        if row is not None:
            at = sum((value * w[j] for j, value in row.terms.items()), Fraction(0))
            yield RelaxedRow(named.kind, named.index, named.name, broken[number], row.right, at)

"""The theorem on one's own data, as tables: in each order, and with other features (B1, B6, B8)."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from novikoff.core import updates
from novikoff.core.orders import BY_NAME, Order, named
from novikoff.core.problem import Problem
from novikoff.core.rows import Vector
from novikoff.core.runs import Plan, Run
from novikoff.core.scaling import Scaling
from novikoff.core.schemes import Binary
from novikoff.core.stops import Limits
from novikoff.core.sweep import run
from novikoff.core.training import load_kernels
from novikoff.geometry.separability import Verdict, VerdictData, separate
from novikoff.sentences import digits_down, digits_up, large

_MAX_EPOCHS, _MAX_SECONDS = 1000, 5.0  # of each order
_MAX_NAME = 40  # characters of the name of an order


class OrderRun(NamedTuple):
    """What the perceptron did from zero weights, in one order."""

    order: str
    mistakes: int
    epochs: int
    clean: bool
    period: int | None

    @property
    def ending(self) -> str:
        """How it ended, in words."""
        if self.clean:
            return "all rows right"
        if self.period is None:
            return "stopped"
        return f"repeats every {self.period:,} epochs" if self.period > 1 else "repeats every epoch"


@dataclass(frozen=True, eq=False)
class Board:
    """R, γ and R²/γ² of two classes, and the mistakes of the perceptron in each order.

    ``bound`` is ⌊R²/γ²⌋, proved by ``verdict``; None where no hyperplane separates the classes. In
    print R is rounded up and γ down.
    """

    verdict: Verdict
    n: int
    d: int
    runs: list[OrderRun]

    @property
    def radius(self) -> float:
        """R = max ‖a_i‖, rounded up."""
        return self.verdict.radius

    @property
    def margin(self) -> float:
        """γ, rounded down; 0 where no hyperplane separates the classes."""
        return self.verdict.margin.lo

    @property
    def bound(self) -> int | None:
        """No run from zero weights makes more mistakes, in whatever order."""
        return self.verdict.mistake_bound

    def __str__(self) -> str:
        lines = [f"{name:<9}{value}" for name, value in self._facts()]
        return "\n".join([*lines, "", *_columns(self._table(), "<>><")])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        facts, table = self._facts(), self._table()
        return _html(facts) + _html(table[1:], head=table[0])

    def _facts(self) -> list[tuple[str, str]]:
        facts = [
            ("data", f"{self.n:,} rows, {self.d:,} columns: {self.verdict.kind}"),
            ("R", f"{digits_up(self.radius, 6)}, the length of the longest row [x, 1]"),
        ]
        proof = self.verdict.certificate
        rule, which = "[w, b]", ""
        if proof is not None and not proof.fit_intercept:
            facts[1] = ("R", f"{digits_up(self.radius, 6)}, the length of the longest row x")
            rule, which = "w", " through the origin"
        if self.verdict.kind != "separable":
            none = f"none: no hyperplane{which} has every row on its side"
            return [*facts, ("γ", "not known" if self.verdict.kind == "undecided" else none)]
        margin = f"{digits_down(self.margin, 6)}, the largest margin of any rule {rule} of length 1"
        if self.bound is None:
            return [*facts, ("γ", margin)]
        most = f"{large(self.bound)}: no run makes more mistakes, in any order"
        return [*facts, ("γ", margin), ("⌊R²/γ²⌋", most)]

    def _table(self) -> list[tuple[str, ...]]:
        head = ("order", "mistakes", "epochs", "end")
        body = [(r.order, f"{r.mistakes:,}", f"{r.epochs:,}", r.ending) for r in self.runs]
        return [head, *body]


def report(
    X: object,
    y: object,
    *,
    positive: Hashable = None,
    fit_intercept: bool = True,
    orders: Iterable[str | Sequence[int] | Order] | None = None,
    random_state: int = 0,
) -> Board:
    """Decide, and run the perceptron from zero weights in every order (B1, B8).

    Guarantee: if the classes are separable, no run makes more than ``bound`` = ⌊R²/γ²⌋ mistakes,
    with R and γ proved by ``verdict``.

    Parameters
    ----------
    X, y : array of shape (n, d), array of shape (n,)
        The rows, and labels of two kinds.
    positive : label
        The positive class; the others, of which there may be several, are the negative.
    fit_intercept : bool
        Whether the rules have a bias.
    orders : names, lists of row numbers, or objects of `novikoff.orders`
        Which to run; by default all that have a name.
    random_state : int
        The seed of the orders that are random.

    Returns
    -------
    Board
        It prints as a table, in a notebook too. A run ends when all rows are right, after 1,000
        epochs, or after five seconds.

    Examples
    --------
    >>> import novikoff as nv
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> nv.theory.report(X, [0, 0, 0, 1], orders=["cyclic", [3, 1, 0, 2], "max_distance"])
    data     4 rows, 2 columns: separable
    R        1.73206, the length of the longest row [x, 1]
    γ        0.242535, the largest margin of any rule [w, b] of length 1
    ⌊R²/γ²⌋  51: no run makes more mistakes, in any order
    <BLANKLINE>
    order         mistakes  epochs  end
    cyclic              18       9  all rows right
    [3, 1, 0, 2]        20       9  all rows right
    max_distance        15       4  all rows right
    """
    verdict = separate(X, y, positive=positive, fit_intercept=fit_intercept)
    problem, runs = cast(VerdictData, verdict.data).problem, []  # checked, and signed
    for order in BY_NAME if orders is None else orders:
        ran = run_perceptron(
            problem, order, max_epochs=_MAX_EPOCHS, max_seconds=_MAX_SECONDS,
            random_state=random_state,
        )  # fmt: skip
        runs.append(OrderRun(_name(order), ran.mistakes, ran.epochs, ran.converged, ran.periods[0]))
    return Board(verdict, problem.n, problem.p - 1, runs)


@dataclass(frozen=True, eq=False)
class Normalised:
    """The features after one change.

    Attributes
    ----------
    name : str
        The change, in words.
    verdict : Verdict
        R, γ and ⌊R²/γ²⌋ of the changed rows, proved.
    mistakes : int or None
        Those of the perceptron, in the order of the rows; None after 1,000 epochs without an end.
    """

    name: str
    verdict: Verdict
    mistakes: int | None


@dataclass(frozen=True, eq=False)
class Normalisations:
    """The features as given and after some changes; it prints as a table."""

    rows: list[Normalised]

    def __str__(self) -> str:
        head = ("features", "R", "γ", "⌊R²/γ²⌋", "mistakes")
        return "\n".join(_columns([head, *map(_cells, self.rows)], "<>>>>"))

    __repr__ = __str__


def compare_normalisations(
    X: object,
    y: object,
    *,
    factors: Sequence[float] = (0.1, 10.0),
    shift: npt.ArrayLike | None = None,
    fit_intercept: bool = True,
) -> Normalisations:
    """Decide, bound and run the same data under changes of its features (B6; Ex 1.29).

    Guarantee: multiplying all x by c > 0 leaves the kind of verdict as it is, and so does a
    translation where rules have a bias: ⟨w, x⟩ + b = ⟨w/c, c·x⟩ + b, and
    ⟨w, x⟩ + b = ⟨w, x + z⟩ + (b − ⟨w, z⟩). But R and γ change. Without a bias a factor changes
    neither R/γ nor the mistakes, while a translation may destroy separability.

    Parameters
    ----------
    X, y : array of shape (n, d), array of shape (n,)
        The rows, dense, and labels of two kinds.
    factors : sequence of float
        By which to multiply all features.
    shift : array of shape (d,), optional
        What to add to each row; by default ten times the largest entry, in each column.
    fit_intercept : bool
        Whether rules have a bias.

    Returns
    -------
    Normalisations
        As given; times each factor; moved; centred, each column less its mean; within the unit
        ball; and standardised, each column of mean 0 and variance 1 unless it is constant. Numbers
        are rounded to floats after each change. In print R is rounded up and γ down.

    Examples
    --------
    >>> compare_normalisations([[1, 5], [2, 6], [4, 5], [5, 6]], [0, 0, 1, 1], shift=[10, 10])
    features          R         γ  ⌊R²/γ²⌋  mistakes
    as given      7.875   1.11733       49         7
    × 0.1         1.269  0.111783      128        23
    × 10          78.11   11.1732       48         7
    moved         21.96   1.08757      407        21
    centred       2.292   1.11803        4         1
    unit ball     1.415  0.143113       97        17
    standardised  1.898  0.904534        4         2
    """
    given = separate(X, y, fit_intercept=fit_intercept)
    rows = cast(VerdictData, given.data).problem.X
    if not isinstance(rows, np.ndarray):
        raise ValueError("X must be dense: a translation leaves no zeros.")
    rows = rows.astype(np.float64, copy=False)
    positive = given.certificate.positive if given.certificate is not None else None

    def changed() -> Iterator[tuple[str, Vector]]:
        for c in factors:
            if not 0.0 < c < float("inf"):
                raise ValueError(f"A factor must be finite and positive, not {c}.")
            yield f"× {c:g}", rows * c
        yield "moved", rows + _shift(shift, rows)
        yield "centred", rows - rows.mean(axis=0)
        yield "unit ball", rows / (max(math.hypot(*row) for row in rows.tolist()) or 1.0)
        yield "standardised", np.asarray(Scaling.of(rows, centre=True).apply(rows))

    found = [Normalised("as given", given, _mistakes(given))]
    for name, Z in changed():
        verdict = separate(Z, y, positive=positive, fit_intercept=fit_intercept)
        found.append(Normalised(name, verdict, _mistakes(verdict)))
    return Normalisations(found)


def run_perceptron(
    problem: Problem,
    order: str | Sequence[int] | Order = "cyclic",
    *,
    max_epochs: int | None = None,
    max_updates: int | None = None,
    max_seconds: float | None = None,
    aggressive: bool = False,
    random_state: int = 0,
    trace: bool = False,
    reference: Vector | None = None,
    after_epoch: Callable[[Run], bool] | None = None,
) -> Run:
    """Run from zero weights until all rows are right or a limit is reached.

    With ``aggressive`` it acts on every row (A10); ``reference`` is the w* of the trace.
    KeyboardInterrupt on Ctrl-C.
    """
    rule = named(order)
    load_kernels(problem, Binary(), rule, trace=trace)  # the clock does not count it
    update = updates.aggressive() if aggressive else updates.perceptron()
    limits = Limits(max_epochs, max_updates, max_seconds)
    plan = Plan(
        update, rule, limits, random_state, trace=trace, reference=reference,
        after_epoch=after_epoch,
    )  # fmt: skip
    ran = run(problem, plan)
    if limits.interrupted:
        raise KeyboardInterrupt
    return ran


def _columns(table: Sequence[tuple[str, ...]], sides: str) -> Iterator[str]:
    """The table with aligned columns, numbers to the right (>), words to the left (<)."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = zip(row, sides, widths, strict=True)
        yield "  ".join(f"{cell:{side}{width}}" for cell, side, width in cells).rstrip()


def _html(rows: Sequence[tuple[str, ...]], head: tuple[str, ...] = ()) -> str:
    """A table whose first column names its rows."""
    lines = ["".join(f"<th>{escape(cell)}</th>" for cell in head)] if head else []
    for name, *cells in rows:
        lines.append(f"<th>{escape(name)}</th><td>{'</td><td>'.join(map(escape, cells))}</td>")
    return f"<table><tr>{'</tr><tr>'.join(lines)}</tr></table>"


def _name(order: str | Sequence[int] | Order) -> str:
    """How an order is called in a table: a list of row numbers by the first of them."""
    text = str(order)
    return text if len(text) <= _MAX_NAME else f"{text[: _MAX_NAME - 1]}…"


def _shift(shift: npt.ArrayLike | None, rows: Vector) -> Vector:
    if shift is None:
        return np.full(rows.shape[1], 10.0 * float(np.abs(rows).max()))
    vector = np.asarray(shift, dtype=np.float64)
    if vector.shape != rows.shape[1:] or not np.isfinite(vector).all():
        raise ValueError(f"The shift must be {rows.shape[1]} finite numbers, one for each column.")
    return vector


def _mistakes(verdict: Verdict) -> int | None:
    """Those of the perceptron on separable data, if it ends within 1,000 epochs."""
    if verdict.kind != "separable":
        return None
    ran = run_perceptron(cast(VerdictData, verdict.data).problem, max_epochs=_MAX_EPOCHS)
    return ran.mistakes if ran.converged else None


def _cells(row: Normalised) -> tuple[str, ...]:
    verdict = row.verdict
    margin = digits_down(verdict.margin.lo, 6) if verdict.kind == "separable" else verdict.kind
    bound = "" if verdict.mistake_bound is None else large(verdict.mistake_bound)
    mistakes = "no end" if row.mistakes is None else f"{row.mistakes:,}"
    return row.name, digits_up(verdict.radius), margin, bound, mistakes

"""The theorem on one's own data, as a table for the board (B1, B3, B8)."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, NamedTuple, cast

from novikoff.geometry.verdict_text import large

if TYPE_CHECKING:
    from novikoff.core.orders import Order
    from novikoff.core.problem import Problem
    from novikoff.core.rows import Vector
    from novikoff.core.runs import Run
    from novikoff.geometry.separability import Table, Verdict

_MAX_EPOCHS, _MAX_SECONDS = 1000, 5.0  # of each order


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

    ``bound`` is ⌊R²/γ²⌋, proved by ``verdict``; None where no rule separates the classes.
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
        """γ, rounded down; 0 where no rule separates the classes."""
        return self.verdict.margin.lo

    @property
    def bound(self) -> int | None:
        """No run from zero weights makes more mistakes, in whatever order."""
        return self.verdict.mistake_bound

    def __str__(self) -> str:
        lines = [f"{name:<9}{value}" for name, value in self._facts()]
        return "\n".join([*lines, "", *_columns(self._table())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        facts, table = self._facts(), self._table()
        return _html(facts) + _html(table[1:], head=table[0])

    def _facts(self) -> list[tuple[str, str]]:
        facts = [
            ("data", f"{self.n:,} rows, {self.d:,} columns: {self.verdict.kind}"),
            ("R", f"{self.radius:.6g}, the length of the longest row [x, 1]"),
        ]
        proof = self.verdict.certificate
        if proof is not None and not proof.fit_intercept:
            facts[1] = ("R", f"{self.radius:.6g}, the length of the longest row x")
        if self.verdict.kind != "separable":
            unknown = self.verdict.kind == "undecided"
            return [*facts, ("γ", "not known" if unknown else "none: no rule has every row right")]
        ratio = self.radius / self.margin if self.margin > 0.0 else math.inf
        bound = ""
        if self.bound is not None:
            bound = f": at most {large(self.bound)} mistakes, in any order"
        return [
            *facts,
            ("γ", f"{self.margin:.6g}, the largest margin of any rule [w, b] of length 1"),
            ("R²/γ²", f"{ratio * ratio:,.6g}{bound}"),
        ]

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
    R        1.73205, the length of the longest row [x, 1]
    γ        0.242536, the largest margin of any rule [w, b] of length 1
    R²/γ²    51: at most 51 mistakes, in any order
    <BLANKLINE>
    order         mistakes  epochs  end
    cyclic              18       9  all rows right
    [3, 1, 0, 2]        20       9  all rows right
    max_distance        15       4  all rows right
    """
    from novikoff.core.orders import BY_NAME
    from novikoff.geometry.separability import separate

    verdict = separate(X, y, positive=positive, fit_intercept=fit_intercept)
    problem, runs = cast("Table", verdict.data).problem, []  # checked, and signed
    for order in BY_NAME if orders is None else orders:
        ran = run_perceptron(
            problem, order, max_epochs=_MAX_EPOCHS, max_seconds=_MAX_SECONDS,
            random_state=random_state,
        )  # fmt: skip
        name = order if isinstance(order, str) else str(order)
        runs.append(OrderRun(name, ran.mistakes, ran.epochs, ran.converged, ran.periods[0]))
    return Board(verdict, problem.n, problem.p - 1, runs)


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
    from novikoff.core import updates
    from novikoff.core.orders import named
    from novikoff.core.runs import Plan
    from novikoff.core.schemes import Binary
    from novikoff.core.stops import Limits
    from novikoff.core.sweep import run
    from novikoff.core.training import load_kernels

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


def _columns(table: list[tuple[str, ...]]) -> Iterator[str]:
    """The table with aligned columns: numbers to the right, words to the left."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for order, mistakes, epochs, end in table:
        yield f"{order:<{widths[0]}}  {mistakes:>{widths[1]}}  {epochs:>{widths[2]}}  {end}"


def _html(rows: Sequence[tuple[str, ...]], head: tuple[str, ...] = ()) -> str:
    """A table whose first column names its rows."""
    lines = ["".join(f"<th>{escape(cell)}</th>" for cell in head)] if head else []
    for name, *cells in rows:
        lines.append(f"<th>{escape(name)}</th><td>{'</td><td>'.join(map(escape, cells))}</td>")
    return f"<table><tr>{'</tr><tr>'.join(lines)}</tr></table>"

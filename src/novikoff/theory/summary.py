"""The mistake bound on given data, beside the mistakes of the perceptron in every order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from novikoff.core.orders import BY_NAME, Order
from novikoff.geometry.separability import separate
from novikoff.geometry.verdict import Verdict, VerdictData
from novikoff.sentences import (
    aligned_lines,
    definition_of_margin,
    digits_down,
    digits_up,
    html_table,
    hyperplane,
    kind_in_words,
    mistakes_of_any_run,
    run_ending,
    verdict_clause,
)
from novikoff.theory.run import run_from_zero

# A run in one order stops after this many epochs or this many seconds.
MAX_RUN_EPOCHS, _MAX_RUN_SECONDS = 1000, 5.0
# The table shows at most this many characters of the name of an order.
_MAX_ORDER_NAME = 40


class OrderRun(NamedTuple):
    """The perceptron's run from zero weights in one order.

    Attributes
    ----------
    order : str
        The name of the index rule.
    mistakes, epochs : int
        The number of mistakes, and the number of passes over the rows.
    clean : bool
        Whether the run ended with every row classified correctly.
    period : int or None
        The number of epochs after which the weights repeat; None if no repetition was seen.
    """

    order: str
    mistakes: int
    epochs: int
    clean: bool
    period: int | None

    @property
    def ending(self) -> str:
        """The ending of the run, in words."""
        return run_ending(clean=self.clean, period=self.period)


@dataclass(frozen=True, eq=False)
class Summary:
    """R, γ and R²/γ² of two classes, and the mistakes of the perceptron in each order.

    It prints as a table, in a notebook too. R is rounded up and γ is rounded down in print.

    Attributes
    ----------
    verdict : Verdict
        Whether a hyperplane separates the classes, with the proof of R, γ and ⌊R²/γ²⌋.
    n, d : int
        The number of rows, and of columns.
    runs : list of OrderRun
        One run for each order.

    Examples
    --------
    >>> import novikoff as nv
    >>> summary = nv.theory.summary([[0.0], [1.0], [3.0]], [0, 0, 1], orders=["cyclic"])
    >>> summary.bound, summary.runs[0].mistakes
    (50, 8)
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
        """γ, rounded down; 0 if no hyperplane separates the classes."""
        return self.verdict.margin.lo

    @property
    def bound(self) -> int | None:
        """⌊R²/γ²⌋: no run from zero weights makes more mistakes, in any order.

        None if no hyperplane separates the classes.
        """
        return self.verdict.mistake_bound

    def __str__(self) -> str:
        lines = [f"{name:<9}{value}" for name, value in self._facts()]
        return "\n".join([*lines, "", *aligned_lines(self._table(), "<>><")])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        facts, table = self._facts(), self._table()
        return html_table(facts) + html_table(table[1:], head=table[0])

    def _facts(self) -> list[tuple[str, str]]:
        facts = [
            ("data", f"{self.n:,} rows, {self.d:,} columns: {kind_in_words(self.verdict.kind)}"),
            ("R", f"{digits_up(self.radius, 6)}, the length of the longest row [x, 1]"),
        ]
        proof = self.verdict.certificate
        free = proof is None or proof.fit_intercept
        plane = hyperplane(fit_intercept=free)
        if not free:
            facts[1] = ("R", f"{digits_up(self.radius, 6)}, the length of the longest row x")
        if self.verdict.kind != "separable":
            none = f"none: {verdict_clause(self.verdict.kind, plane)}"
            return [*facts, ("γ", "not known" if self.verdict.kind == "undecided" else none)]
        margin = f"{digits_down(self.margin, 6)}, {definition_of_margin(fit_intercept=free)}"
        if self.bound is None:
            return [*facts, ("γ", margin)]
        return [*facts, ("γ", margin), ("⌊R²/γ²⌋", mistakes_of_any_run(self.bound))]

    def _table(self) -> list[tuple[str, ...]]:
        head = ("order", "mistakes", "epochs", "end")
        body = [(r.order, f"{r.mistakes:,}", f"{r.epochs:,}", r.ending) for r in self.runs]
        return [head, *body]


def summary(
    X: object,
    y: object,
    *,
    positive: Hashable = None,
    fit_intercept: bool = True,
    orders: Iterable[str | Sequence[int] | Order] | None = None,
    random_state: int = 0,
) -> Summary:
    """Compare the mistake bound R²/γ² with the mistakes of the perceptron in every order.

    The function decides whether the classes are separable, and runs the perceptron from zero
    weights in each order. If the classes are separable, no run makes more than ``bound`` = ⌊R²/γ²⌋
    mistakes; ``verdict`` proves R and γ.

    Parameters
    ----------
    X, y : array of shape (n, d), array of shape (n,)
        The rows, and their labels of two classes.
    positive : label
        The positive class. All other classes together are then the negative class.
    fit_intercept : bool
        Whether the rules have a bias.
    orders : names, lists of row numbers, or objects of `novikoff.orders`
        The orders to run; by default all orders that have a name.
    random_state : int
        The seed of the random orders.

    Returns
    -------
    Summary
        The verdict and one run for each order, which print as a table. A run ends when it
        classifies every row correctly, after 1,000 epochs, or after five seconds.

    References
    ----------
    Novikoff, A. B. J. (1962). On convergence proofs on perceptrons. *Proceedings of the Symposium
    on the Mathematical Theory of Automata* 12, 615-622.

    Examples
    --------
    >>> import novikoff as nv
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> nv.theory.summary(X, [0, 0, 0, 1], orders=["cyclic", [3, 1, 0, 2], "max_distance"])
    data     4 rows, 2 columns: separable (complete separation)
    R        1.73206, the length of the longest row [x, 1]
    γ        0.242535, the largest margin of any rule (w, b) of length 1
    ⌊R²/γ²⌋  51: no run makes more mistakes, in any order
    <BLANKLINE>
    order         mistakes  epochs  end
    cyclic              18       9  all rows correct
    [3, 1, 0, 2]        20       9  all rows correct
    max_distance        15       4  all rows correct
    """
    verdict = separate(X, y, positive=positive, fit_intercept=fit_intercept)
    problem, runs = cast(VerdictData, verdict.data).problem, []  # checked, and signed
    for order in BY_NAME if orders is None else orders:
        run = run_from_zero(
            problem, order, max_epochs=MAX_RUN_EPOCHS, max_seconds=_MAX_RUN_SECONDS,
            random_state=random_state,
        )  # fmt: skip
        name = _short_name(order)
        runs.append(OrderRun(name, run.mistakes, run.epochs, run.converged, run.periods[0]))
    return Summary(verdict, problem.n, problem.d, runs)


def _short_name(order: str | Sequence[int] | Order) -> str:
    """Return the name of an order for a table; a long list of row numbers is cut off."""
    text = str(order)
    return text if len(text) <= _MAX_ORDER_NAME else f"{text[: _MAX_ORDER_NAME - 1]}…"

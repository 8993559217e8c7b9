"""The verdict: does a separating hyperplane exist, which one, and the proof (C1-C4).

The road, cheapest first; each step ends it only with a proof:

1. A few epochs of the perceptron. A clean cycle is a w; its counts bound γ from above.
2. The point of the hull nearest to the origin (`min_norm`). Either it is a w, the one of
   the largest margin, or the origin lies in the hull: λ on a few rows contradicts any w.
3. If not separable: is any row separated at all (`faces`)?

Nothing that floats say is believed: signs are proved row by row, λ by a verified solve or
in rationals. What could not be proved within the budget is *undecided*.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Real
from typing import Literal, NamedTuple, TypeAlias, cast

import numpy as np

from novikoff.core.blocks import Blocks, CodedBlocks
from novikoff.core.cores import cores
from novikoff.core.problem import pose
from novikoff.core.rows import Floats, Indices, SparseMatrix, Vector
from novikoff.core.stops import Limits
from novikoff.geometry import exact
from novikoff.geometry.blockwise import inquire_blocks
from novikoff.geometry.certificate import Certificate
from novikoff.geometry.checker import Margin, mistake_bound
from novikoff.geometry.exact import Signs
from novikoff.geometry.inquiry import Finding, inquire, spread
from novikoff.geometry.margin import Interval
from novikoff.geometry.passes import Data, doing_beside
from novikoff.geometry.rational import OutOfTimeError
from novikoff.geometry.room import explained
from novikoff.geometry.selection import GivenBlocks, Table
from novikoff.geometry.table import (
    Label,
    Matrix,
    SignedRows,
    as_matrix,
    digest,
    distinct,
    labels_of,
    plain_label,
    signs_of,
    used_columns,
)

Goal: TypeAlias = Literal["margin", "kind"]
Progress: TypeAlias = Callable[[Interval], None]

_STUCK = "its numbers differ too much in size to prove more in blocks; in memory it may be"


@dataclass(frozen=True, eq=False)
class Verdict:
    """Whether a hyperplane separates two classes, and what proves it.

    Attributes
    ----------
    kind : str
        "separable", "quasi-separable", "inseparable" or "undecided".
    coef : array of shape (d,) or None
        The weights: of the largest margin found if separable, weakly separating if
        quasi-separable. Where no floats do (a row is zero in exact numbers, or margins are
        below the precision of float64), these are the rounded weights of the certificate.
    intercept : float or None
        The bias.
    margin : Interval
        Holds γ, the margin of the mistake bound; [0, 0] if not separable.
    geometric_margin : Interval
        Holds the margin with a free bias, half the distance of the two hulls.
    radius : float
        R = max‖a_i‖, rounded up.
    mistake_bound : int or None
        ⌈R²/γ²⌉ for the lower bound on γ: no perceptron run from zero errs more often.
    support : array of int
        The rows that carry the margin, or the contradiction.
    separated_rows : array of int
        The rows strictly on their side of the hyperplane.
    certificate : Certificate or None
        The proof; None if undecided and nothing is proved.
    obstacle : str or None
        What more would have taken, where blocks were to be decided in too little memory.
    """

    kind: Literal["separable", "quasi-separable", "inseparable", "undecided"]
    coef: Vector | None
    intercept: float | None
    margin: Interval
    geometric_margin: Interval
    radius: float
    mistake_bound: int | None
    support: Indices
    separated_rows: Indices
    certificate: Certificate | None
    obstacle: str | None = None

    def __repr__(self) -> str:
        return f"<Verdict: {self}>"

    def __str__(self) -> str:
        n = self.certificate.n if self.certificate is not None else 0
        if self.kind == "separable" and self.geometric_margin.lo == math.inf:
            return "separable: all rows are of one class"
        if self.kind == "separable":
            return (
                f"separable: γ = {self.margin.lo:.6g} (relative width "
                f"{self.margin.relative_width:.1e}), at most {self.mistake_bound:,} mistakes"
                if self.mistake_bound is not None
                else "separable: by a margin beyond float64"
            )
        if self.kind == "quasi-separable":
            apart = len(self.separated_rows)
            return (
                f"quasi-separable: {apart:,} rows strictly apart, {n - apart:,} on the hyperplane"
            )
        if self.kind == "inseparable":
            return f"inseparable: {len(self.support)} rows contradict any hyperplane"
        return f"undecided: γ is in [{self.margin.lo:.6g}, {self.margin.hi:.6g}]"


def separate(
    X: object,
    y: object = None,
    *,
    positive: Hashable = None,
    fit_intercept: bool = True,
    tol: float = 1e-8,
    goal: Goal = "margin",
    budget: float | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Decide whether a hyperplane separates two classes, with proof (C1-C4).

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (n, d), or blocks
        The rows. Float32 and float64 arrays and CSR matrices are read in place; blocks, such as
        `novikoff.data.blocks` makes, are gone through several times, one in memory at a time.
    y : array of shape (n,)
        Labels of two kinds; the larger is the positive class. With one kind only, the
        question is whether all rows fit on one side. Blocks have their own labels.
    positive : label, optional
        The positive class; the others, of which there may be several, are the negative.
    fit_intercept : bool
        Whether the hyperplane may have a bias.
    tol : float
        The relative width of the interval for the margin, as far as float64 allows: where
        rows are of very different lengths it may stay wider.
    goal : "margin" or "kind"
        Whether to go on for the margin, or stop as soon as the kind is proved.
    budget : float, optional
        Seconds after which to return what is known.
    progress : callable, optional
        Called with the current interval for the margin.

    Returns
    -------
    Verdict
        On Ctrl-C or at the end of the budget, with what is proved until then.

    Examples
    --------
    >>> import novikoff as nv
    >>> verdict = nv.separate([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> verdict.kind, verdict.mistake_bound
    ('separable', 52)
    >>> nv.separate([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]).kind
    'inseparable'
    >>> nv.separate([[1.0], [2.0], [2.0], [3.0]], [0, 0, 1, 1]).kind
    'quasi-separable'
    """
    _check_options(fit_intercept, tol, goal, budget)
    limits = Limits(seconds=budget)
    if isinstance(X, Blocks):
        blocks, labels = _coded(X, y)
        sides = _sides(labels, positive)
        return decide_blocks(blocks, sides, bool(fit_intercept), tol, goal, limits, progress)[0]
    sides = _sides(_distinct(y), positive)
    return _decide(X, y, sides, fit_intercept, tol, goal, limits, progress)


def separate_classes(
    X: object,
    y: object = None,
    *,
    fit_intercept: bool = True,
    tol: float = 1e-8,
    goal: Goal = "margin",
    budget: float | None = None,
    progress: Progress | None = None,
) -> dict[Hashable, Verdict]:
    """Decide for every class whether a hyperplane separates it from all others.

    The parameters are those of `separate`; the budget is for all classes together.

    Examples
    --------
    >>> import novikoff as nv
    >>> verdicts = nv.separate_classes([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    >>> {label: verdict.kind for label, verdict in verdicts.items()}
    {'a': 'separable', 'b': 'inseparable', 'c': 'separable'}
    """
    _check_options(fit_intercept, tol, goal, budget)
    limits = Limits(seconds=budget)
    if isinstance(X, Blocks):
        blocks, labels = _coded(X, y)
        return {
            label: decide_blocks(
                blocks, (plain_label(label), None), bool(fit_intercept), tol, goal, limits, progress
            )[0]
            for label in labels
        }
    return {
        label: _decide(X, y, (plain_label(label), None), fit_intercept, tol, goal, limits, progress)
        for label in _distinct(y)
    }


def decide(
    matrix: Matrix,
    signs: Signs,
    sides: tuple[Label, Label],
    fit_intercept: bool,
    tol: float,
    goal: Goal | Literal["gap"],
    limits: Limits,
    progress: Progress | None = None,
    names: list[str] | None = None,
) -> tuple[Verdict, Finding]:
    """Decide for checked rows and signs; the finding has what the verdict leaves out."""
    small, columns = used_columns(matrix)
    rows = cast("Floats | SparseMatrix", small)
    problem = pose(rows, signs, fit_intercept, names=names, threads=cores())
    data = Data(problem, SignedRows(small, signs, fit_intercept))
    try:
        with doing_beside(data, lambda: digest(matrix, signs)) as hashing:
            found = inquire(data, goal, tol, limits, progress)
            if found.w is not None and columns is not None:
                found.w = spread(found.w, columns, matrix.shape[1])
            facts = _Facts(matrix.shape, fit_intercept, problem.radius, hashing())
            return _report(facts, found, sides), found
    finally:
        data.close()


def decide_blocks(
    blocks: CodedBlocks,
    sides: tuple[Label, Label],
    fit_intercept: bool,
    tol: float,
    goal: Goal,
    limits: Limits,
    progress: Progress | None = None,
) -> tuple[Verdict, Finding]:
    """Decide for rows in blocks; the finding has what the verdict leaves out."""
    signs = signs_of(blocks.classes, *sides)
    table = Table(blocks, signs, fit_intercept)
    try:
        table.survey(limits)
    except OutOfTimeError:  # not even R is known
        unknown = Finding(Interval(0.0, math.inf))
        return _report(_Facts((0, table.d), fit_intercept, math.inf, ""), unknown, sides), unknown
    found = inquire_blocks(table, goal, tol, limits, progress)
    if isinstance(blocks, GivenBlocks):  # nobody vouches for them
        table.survey(Limits())
    facts = _Facts((table.n, table.d), fit_intercept, table.radius, table.sha256)
    verdict = _report(facts, found, sides)
    if found.wanted > 0:
        why = explained(found.wanted, getattr(blocks, "max_memory", None))
        verdict = replace(verdict, obstacle=why)
    elif verdict.kind == "undecided" and limits.reached() is None:
        verdict = replace(verdict, obstacle=_STUCK)
    return verdict, found


def _coded(blocks: Blocks, y: object) -> tuple[CodedBlocks, list[Hashable]]:
    if y is not None:
        raise ValueError("y cannot be given along with blocks.")
    coded = blocks if isinstance(blocks, CodedBlocks) else GivenBlocks(blocks)
    return coded, distinct(labels_of(coded.classes))


def _decide(
    X: object,
    y: object,
    sides: tuple[Label, Label],
    fit_intercept: bool,
    tol: float,
    goal: Goal,
    limits: Limits,
    progress: Progress | None,
) -> Verdict:
    matrix = as_matrix(X)
    signs = signs_of(y, *sides)
    n, d = matrix.shape
    if n == 0 or d == 0:
        raise ValueError(f"X has {n} rows and {d} columns: there is nothing to separate.")
    if len(signs) != n:
        raise ValueError(f"X has {n} rows, but y has {len(signs)} labels.")
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    return decide(matrix, signs, sides, bool(fit_intercept), tol, goal, limits, progress, names)[0]


def _check_options(fit_intercept: bool, tol: float, goal: str, budget: float | None) -> None:
    if not isinstance(fit_intercept, bool | np.bool_):
        raise ValueError(f"fit_intercept must be True or False, not {fit_intercept!r}.")
    if not (isinstance(tol, Real) and 0.0 < tol < 1.0):
        raise ValueError(f"tol must be between 0 and 1, not {tol!r}.")
    if goal not in ("margin", "kind"):
        raise ValueError(f"goal must be 'margin' or 'kind', not {goal!r}.")
    if budget is not None and not (isinstance(budget, Real) and 0.0 < budget <= 1e300):
        raise ValueError(f"budget must be a positive number of seconds, not {budget!r}.")


class _Facts(NamedTuple):
    """What a verdict says of all rows: their number and width, R rounded up, the digest."""

    shape: tuple[int, int]
    fit_intercept: bool
    radius: float
    sha256: str


def _report(facts: _Facts, found: Finding, sides: tuple[Label, Label]) -> Verdict:
    """The verdict on a finding, with its certificate."""
    radius = facts.radius
    bound = mistake_bound(radius, found.margin.lo)
    n, d = facts.shape
    proof = None
    if found.kind is not None:
        weighing = found.weighing
        proof = Certificate(
            kind=found.kind,
            n=n,
            d=d,
            fit_intercept=facts.fit_intercept,
            positive=sides[0],
            negative=sides[1],
            sha256=facts.sha256,
            w=None if found.w is None else tuple(found.w),
            dependence=found.dependence,
            contradiction=found.contradiction,
            margin=None
            if found.kind != "separable" or weighing is None
            else Margin(
                *found.margin,
                tuple(weighing.rows.tolist()),
                tuple(Fraction(float(value)) for value in weighing.weights),
            ),
            radius=radius,
            mistake_bound=bound,
        )
    w = None if found.w is None else np.array(exact.numbers(found.w).near)
    return Verdict(
        kind="undecided" if found.kind is None or found.kind == "not separable" else found.kind,
        coef=None if w is None else w[:d],
        intercept=None if w is None else float(w[d]) if facts.fit_intercept else 0.0,
        margin=found.margin,
        geometric_margin=found.geometric_margin,
        radius=radius,
        mistake_bound=bound,
        support=found.support,
        separated_rows=found.separated,
        certificate=proof,
    )


def _sides(found: list[Hashable], positive: Hashable) -> tuple[Label, Label]:
    """The labels of the two sides; None is the rest."""
    if positive is not None:
        chosen = plain_label(positive)
        others = [label for label in map(plain_label, found) if label != chosen]
        if len(others) == len(found):
            raise ValueError(f"The positive class {positive!r} is none of the labels {found[:10]}.")
        return chosen, others[0] if len(others) == 1 else None
    if len(found) > 2:
        raise ValueError(
            f"y has {len(found)} classes; separate() takes two. Name the positive one, or use "
            "separate_classes() to test each class against the rest."
        )
    return plain_label(found[-1]), plain_label(found[0]) if len(found) > 1 else None


def _distinct(y: object) -> list[Hashable]:
    if y is None:
        raise ValueError("y is missing: every row needs a label.")
    labels = distinct(labels_of(y))
    if not labels:
        raise ValueError("y is empty: there is nothing to separate.")
    return labels

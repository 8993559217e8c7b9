"""The verdict: does a separating hyperplane exist, which one, and the proof (C1-C4).

The road, cheapest first; each step ends it only with a proof:

1. The point of the hull nearest to the origin (`min_norm`). Either it is a w, the one of
   the largest margin, or the origin lies in the hull: λ on a few rows contradicts any w.
2. If not separable: is any row separated at all (`faces`)?

Nothing that floats say is believed: signs are proved row by row, λ by a verified solve or
in rationals. What could not be proved within the budget is *undecided*.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np

from novikoff import sentences
from novikoff.core.blas import one_blas_thread
from novikoff.core.class_labels import Labels, check_labels, distinct_labels, plain_label, signs_of
from novikoff.core.problem import Problem, Rows
from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.core.validation import Columns, check_matrix, check_same_index, columns_of
from novikoff.geometry.margin import Interval
from novikoff.geometry.min_norm import affordable
from novikoff.geometry.passes import LocalPasses, Passes
from novikoff.geometry.recession import Aliased, Estimate, Estimates, logistic_estimates
from novikoff.geometry.verdict_search import IntervalProgress, SearchResult, search_verdict
from novikoff.proofs import exact
from novikoff.proofs.certificate import Certificate, integer_mistake_bound
from novikoff.proofs.digest import MatrixDigest
from novikoff.proofs.proof_data import Label
from novikoff.proofs.remote import RemoteRows

Goal: TypeAlias = Literal["margin", "kind"]

_STUCK = "its numbers differ too much in size to prove more"
# `Verdict.from_certificate` lists the separated rows up to this number.
_MAX_ROWS_TOLD = 10_000_000
_TOO_WIDE = "it has too many columns to prove that no hyperplane separates the classes"


@dataclass(frozen=True, eq=False)
class VerdictData:
    """The data that a verdict is about."""

    problem: Problem
    columns: Columns
    index: Labels | None = None  # the labels of a data frame's rows
    seconds: float = 10.0  # for `Verdict.logistic` and the responsible columns
    only_negative: bool = False  # whether the only label stands for the class that did not happen


@dataclass(frozen=True, eq=False)
class Verdict:
    """Whether a hyperplane separates two classes, and what proves it.

    Attributes
    ----------
    kind : str
        "separable", "quasi-separable", "inseparable" or "undecided".
    coef : array of shape (d,) or None
        The weights: of the largest margin found if separable, weakly separating if
        quasi-separable. Where ``needs_exact_weights``, no floats were found that do the same
        (margins are below the precision of float64), and these are the rounded weights of the
        certificate.
    intercept : float or None
        The bias.
    margin : Interval
        Holds γ, the margin of the mistake bound; [0, 0] if not separable.
    geometric_margin : Interval
        Holds the margin with a free bias, half the distance of the two hulls.
    radius : float
        R = max‖a_i‖, rounded up.
    mistake_bound : int or None
        ⌊R²/γ²⌋ for the lower bound on γ: no perceptron run from zero errs more often. A mistake
        is y·f(x) ≤ 0, so that f(x) = 0 counts, though `predict` calls it the negative class.
    support : array of int
        The rows that carry the margin, or the contradiction.
    separated_rows : array of int
        The rows strictly on their side of the hyperplane. Empty for rows of a cluster: then only
        their number is known, and `novikoff.cluster.ClusterRows.separated` finds them.
    n_separated : int
        The number of these rows.
    certificate : Certificate or None
        The proof; None if nothing is proved, or if `find_verdict` was asked for no certificate.
    undecided_reason : str or None
        Why it is undecided, where that is not for lack of time.
    needs_exact_weights : bool
        Whether only the exact weights of the certificate separate, not coef and intercept.
    data : VerdictData or None
        The rows, and the names of columns and rows; None for a verdict read from a certificate.
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
    undecided_reason: str | None = None
    needs_exact_weights: bool = False
    n_separated: int = 0
    data: VerdictData | None = None

    @property
    def rows(self) -> Labels | None:
        """The label of every row: of the index of a data frame, else its number, from 0.

        ``verdict.rows[verdict.support]`` are the labels of rows. None without the data.
        """
        if self.data is None:
            return None
        return np.arange(self.data.problem.n) if self.data.index is None else self.data.index

    @property
    def logistic(self) -> Mapping[Hashable, Estimate] | None:
        """What becomes of each weight of a logistic regression (Albert and Anderson 1984).

        By the column's name in a data frame, else its number, and "(intercept)", in more brackets
        if a column has that name. It is found
        when first asked for; None if undecided, beyond 500 weights, after ten seconds, and for a
        verdict that was read from a certificate, which does not have the data. Signs are those
        for the positive class. Where `separate` sees one label only, it is that, unless it is 0,
        a negative number or False: then all rows are negative, and the intercept goes to −∞.

        - "finite": a finite maximum-likelihood estimate exists. So it is for every weight of
          inseparable data, and for no weight of separable data.
        - "+inf", "-inf": there is none, and every direction along which the likelihood rises to
          its least upper bound has this sign. Proved: without this column alone, fewer rows
          can be strictly on their side.
        - "diverges": there is none, and no sign is proved. Such directions of either sign exist,
          or the sign was not looked for: it takes a verdict without each such column, and all of
          them may take some seconds, which 100,000 × 20 or 300 × 80 numbers do.
        - "undetermined": columns depend on each other (are aliased), and any value of this weight
          is as good. Whether they have finite estimates together is in `aliased`.
        - "reference": the level with which the others of a category column are compared; the
          levels' own columns depend on each other. It is the one with the most rows that stay on
          the hyperplane, else the one with the most rows.

        Which weights are finite or determined is a question of ranks, which are exact.

        Examples
        --------
        >>> import novikoff as nv
        >>> died = [0, 1, 0, 1, 1]
        >>> nv.separate([[0, 1], [0, 2], [0, 3], [1, 2], [1, 9]], died).logistic
        {0: '+inf', 1: 'finite', '(intercept)': 'finite'}
        """
        return self._estimates and self._estimates.coefficients

    @property
    def aliased(self) -> list[Aliased] | None:
        """Columns that depend on each other, and whether they have a finite estimate together.

        A list of ``(columns, finite)``, one for each class of such columns; None where `logistic`
        is None. No weight of them alone is determined by the data. What they contribute together
        is, as far as rows differ in it; where ``finite`` is False, it has no finite estimate.
        A column of zeros contributes nothing, and is in no class.

        Examples
        --------
        >>> import novikoff as nv
        >>> nv.separate([[0, 0, 1], [0, 0, 2], [0, 0, 3], [1, 2, 2]], [0, 1, 0, 1]).aliased
        [Aliased(columns=(0, 1), finite=False)]
        """
        return self._estimates and self._estimates.aliased

    @property
    def responsible_columns(self) -> list[Hashable] | None:
        """The columns each of which, left out alone, leaves inseparable data: proved.

        A logistic regression then has finite estimates. Category columns are left out whole. Empty
        where no single column does it; None where that is not known, for the same reasons as with
        `logistic`.

        Examples
        --------
        >>> import novikoff as nv
        >>> nv.separate([[0, 1], [0, 2], [0, 3], [1, 2]], [0, 1, 0, 1]).responsible_columns
        [0]
        """
        return self._estimates and self._estimates.responsible

    @cached_property
    def _estimates(self) -> Estimates | None:
        if self.data is None or self.certificate is None or self.kind == "undecided":
            return None
        w = self.certificate.w
        limits = Limits(seconds=self.data.seconds)
        found = logistic_estimates(
            self.data.problem, self.data.columns, w, self.separated_rows, limits
        )
        return found.negated() if found is not None and self.data.only_negative else found

    def summary(self) -> None:
        """Print what `novikoff fit` prints about a verdict; rows as in ``rows``.

        Examples
        --------
        >>> import novikoff as nv
        >>> nv.separate([[0, 1], [0, 2], [0, 3], [1, 2]], [0, 1, 0, 1]).summary()
        verdict     quasi-separable (quasi-complete separation) — proved: a hyperplane with no row \
on its wrong side separates at most 1 row and contains the other 3
        separated   rows 3 (counted from 0)
        logistic    a logistic regression has some infinite estimates: 0 → +∞
                    finite estimates exist without the column 0
        """
        for heading, text in self._lines():
            print(f"{heading:12}{text}")

    def _repr_html_(self) -> str:
        """The summary as a table, for notebooks."""
        return sentences.html_table(self._lines())

    def _lines(self) -> Iterator[tuple[str, str]]:
        index = None if self.data is None else self.data.index
        how = "(counted from 0)" if index is None else "(labels of the index)"

        def show(rows: Indices) -> str:
            first = rows[: sentences.SHOWN]
            named = map(str, (first if index is None else index[first]).tolist())
            return f"{sentences.first_few([*named], len(rows))} {how}"

        return sentences.verdict_lines(self, show)

    def __repr__(self) -> str:
        return f"<Verdict: {self}>"

    def __str__(self) -> str:
        return sentences.verdict_sentence(self)

    @classmethod
    def from_certificate(cls, proof: Certificate) -> Verdict:
        """The verdict as far as its certificate tells it.

        Which rows are strictly apart is not told if they are neither all nor none, nor of more
        than ten million rows: a certificate of few bytes may claim any number.

        Examples
        --------
        >>> import novikoff as nv
        >>> verdict = nv.separate([[0.0], [1.0]], [0, 1])
        >>> again = Verdict.from_certificate(verdict.certificate)
        >>> again.kind, again.margin == verdict.margin, again.mistake_bound
        ('separable', True, 10)
        """
        told = proof.kind == "separable" and proof.n <= _MAX_ROWS_TOLD
        return replace(cls._without_rows(proof), separated_rows=np.arange(proof.n if told else 0))

    @classmethod
    def _without_rows(cls, proof: Certificate) -> Verdict:
        """The same, whose separated rows are not told."""
        separable = proof.kind == "separable"
        lo, hi = (0.0, math.inf) if separable else (0.0, 0.0)
        gap = proof.geometric_margin
        if proof.margin is not None:
            lo, hi = proof.margin.lo, proof.margin.hi
        widest = hi if not proof.fit_intercept else math.inf if separable else 0.0
        if gap is not None:
            widest = gap.hi
        coef, intercept, needs_exact_weights = _floats(proof)
        return cls(
            kind="undecided" if proof.kind == "not separable" else proof.kind,
            coef=coef,
            intercept=intercept,
            margin=Interval(lo, hi),
            geometric_margin=Interval(lo if gap is None else max(lo, gap.lo), widest),
            radius=math.inf if proof.radius is None else proof.radius,
            mistake_bound=proof.mistake_bound,
            support=np.array(sorted(proof.multipliers), dtype=np.int64),
            separated_rows=np.empty(0, dtype=np.int64),
            certificate=proof,
            needs_exact_weights=needs_exact_weights,
            n_separated=proof.n if separable else 0,
        )


def separate(
    X: object,
    y: object = None,
    *,
    positive: Hashable = None,
    fit_intercept: bool = True,
    tol: float = 1e-8,
    goal: Goal = "margin",
    budget: float | None = None,
    progress: IntervalProgress | None = None,
) -> Verdict:
    """Decide whether a hyperplane separates two classes, with proof (C1-C4).

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (n, d)
        The rows. Float32 and float64 arrays, memory-mapped ones too, and CSR matrices are read in
        place, in several passes. A column of pandas categories becomes one column of 0 and 1 for
        each category that occurs. Or the rows of a cluster, which have their labels with them
        (`novikoff.cluster.rows`).
    y : array of shape (n,)
        Labels of two kinds; the larger is the positive class. With one kind only, the
        question is whether all rows fit on one side. A pandas Series must have the index of X.
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
        Seconds after which to return what is known; loading and compiling do not count.
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
    ('separable', 51)
    >>> nv.separate([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]).kind
    'inseparable'
    >>> nv.separate([[1.0], [2.0], [2.0], [3.0]], [0, 0, 1, 1]).kind
    'quasi-separable'
    """
    _check_options(fit_intercept, tol, goal, budget)
    if isinstance(X, RemoteRows):
        X.check_alone(y)
        return X.separate(
            positive=positive, fit_intercept=fit_intercept, tol=tol, goal=goal, budget=budget,
            progress=progress,
        )  # fmt: skip
    rows, labels, columns, index = _read(X, y, bool(fit_intercept))
    found = distinct_labels(labels)
    sides = choose_sides(found, positive)
    problem = rows.with_signs(signs_of(labels, *sides))
    limits = Limits(seconds=budget)
    verdict = find_verdict(problem, sides, tol=tol, goal=goal, limits=limits, progress=progress)
    alone = positive is None and len(found) == 1 and not isinstance(sides[0], str)
    only_negative = alone and not float(sides[0] or 0) > 0.0
    data = VerdictData(problem, columns, index, only_negative=only_negative)
    return replace(verdict, data=data)


def separate_classes(
    X: object,
    y: object,
    *,
    fit_intercept: bool = True,
    tol: float = 1e-8,
    goal: Goal = "margin",
    budget: float | None = None,
    progress: IntervalProgress | None = None,
) -> dict[Hashable, Verdict]:
    """Decide for every class whether a hyperplane separates it from all others (one-vs-rest).

    Where every class is separable from the rest, the class of the largest score is right for every
    row. Where some are not, this says nothing of rules that compare the scores of several classes,
    as a multinomial logistic regression does: the class of the largest of several linear scores
    may be right for every row, although no class is separable from the rest.

    The parameters are those of `separate`; the budget is for all classes together.

    Examples
    --------
    >>> import novikoff as nv
    >>> verdicts = nv.separate_classes([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    >>> {label: verdict.kind for label, verdict in verdicts.items()}
    {'a': 'separable', 'b': 'inseparable', 'c': 'separable'}
    """
    _check_options(fit_intercept, tol, goal, budget)
    if isinstance(X, RemoteRows):
        raise TypeError("On a cluster, ask separate() for each class: positive=… of rows.labels.")
    rows, labels, columns, index = _read(X, y, bool(fit_intercept))
    limits, digest = Limits(seconds=budget), MatrixDigest.of(rows.X)
    found = {}
    for label in distinct_labels(labels):
        sides = plain_label(label), None
        own = rows.with_signs(signs_of(labels, *sides))
        verdict = find_verdict(
            own, sides, tol=tol, goal=goal, limits=limits, progress=progress, digest=digest
        )
        found[label] = replace(verdict, data=VerdictData(own, columns, index))
    return found


def find_verdict(
    problem: Problem,
    sides: tuple[Label, Label],
    *,
    tol: float = 1e-8,
    goal: Goal = "margin",
    limits: Limits | None = None,
    progress: IntervalProgress | None = None,
    digest: MatrixDigest | None = None,
    certificate: bool = True,
) -> Verdict:
    """Decide for rows that were checked before.

    Parameters
    ----------
    problem : Problem
        The rows under the signs of the question.
    sides : tuple of labels
        The positive label and the negative, None for all others.
    tol, goal, progress
        As in `separate`.
    limits : Limits, optional
        When to return what is known.
    digest : MatrixDigest, optional
        That of the matrix, where it is known: it is computed once for all questions about it.
    certificate : bool
        Whether the verdict has a certificate. Without one, no digest of the rows is computed.

    Examples
    --------
    >>> from novikoff.core.problem import pose
    >>> problem = pose(np.array([[0.0], [1.0]]), np.array([-1, 1], dtype=np.int8), True)
    >>> verdict = find_verdict(problem, (1, 0), certificate=False)
    >>> verdict.kind, verdict.mistake_bound, verdict.certificate
    ('separable', 10, None)
    """
    limits, passes = limits or Limits(), LocalPasses(problem)
    sha256 = ""
    if certificate:
        with ThreadPoolExecutor(1) as pool:  # SHA-256 does not hold up the search
            hashing = pool.submit(lambda: digest or MatrixDigest.of(problem.X))
            found = search_verdict(passes, goal, tol, limits, progress)
        sha256 = hashing.result().signed(problem.signs)
    else:
        found = search_verdict(passes, goal, tol, limits, progress)
    with one_blas_thread():
        verdict = make_verdict(passes, sha256, found, sides)
    if found.kind == "separable":
        verdict = replace(verdict, separated_rows=np.arange(problem.n))
    elif found.separated is not None:
        verdict = replace(verdict, separated_rows=np.flatnonzero(passes.all.of(found.separated)))
    if not certificate:
        verdict = replace(verdict, certificate=None)
    return with_undecided_reason(verdict, passes, limits)


def with_undecided_reason(verdict: Verdict, passes: Passes, limits: Limits) -> Verdict:
    """The verdict with the reason why it is undecided, where that is not for lack of time."""
    if verdict.kind != "undecided" or limits.reached() is not None:
        return verdict
    searched = (passes.without_empty_columns() or (passes,))[0]
    return replace(verdict, undecided_reason=_STUCK if affordable(searched) else _TOO_WIDE)


def _read(X: Any, y: object, fit_intercept: bool) -> tuple[Rows, Labels, Columns, Labels | None]:
    """The rows, their labels, the names of the columns, and the index of a data frame."""
    matrix, labels = check_matrix(X), check_labels(y)
    n, d = matrix.shape
    if len(labels) == 0:
        raise ValueError("y is empty: there is nothing to separate.")
    if n == 0 or d == 0:
        raise ValueError(f"X has {n} rows and {d} columns: there is nothing to separate.")
    if len(labels) != n:
        raise ValueError(f"X has {n} rows, but y has {len(labels)} labels.")
    check_same_index(X, y)
    columns = columns_of(X, d)
    names = columns.names if hasattr(X, "columns") else None
    index = X.index.to_numpy() if hasattr(X, "iloc") else None
    return Rows.of(matrix, fit_intercept, names=names), labels, columns, index


def _check_options(fit_intercept: bool, tol: float, goal: str, budget: float | None) -> None:
    seconds = 1.0 if budget is None else budget
    a_flag = isinstance(fit_intercept, bool | np.bool_)
    in_time = isinstance(seconds, Real) and 0.0 < seconds <= 1e300
    for name, value, good, wanted in (
        ("fit_intercept", fit_intercept, a_flag, "True or False"),
        ("tol", tol, isinstance(tol, Real) and 0.0 < tol < 1.0, "between 0 and 1"),
        ("goal", goal, goal in ("margin", "kind"), "'margin' or 'kind'"),
        ("budget", budget, in_time, "a positive number of seconds"),
    ):
        if not good:
            raise ValueError(f"{name} must be {wanted}, not {value!r}.")


def make_verdict(
    passes: Passes, sha256: str, found: SearchResult, sides: tuple[Label, Label]
) -> Verdict:
    """The verdict on a finding, with its certificate, but for the numbers of separated rows."""
    none = np.empty(0, dtype=np.int64)
    margin, separable = found.margin, found.kind == "separable"
    if found.kind is None:
        return Verdict(
            kind="undecided",
            coef=None,
            intercept=None,
            margin=Interval(margin.lo, margin.hi),
            geometric_margin=Interval(0.0, math.inf),
            radius=passes.radius,
            mistake_bound=None,
            support=np.array(sorted(margin.rows), dtype=np.int64),
            separated_rows=none,
            certificate=None,
            n_separated=found.n_separated,
        )
    proof = Certificate(
        kind=found.kind,
        n=passes.n,
        d=passes.d,
        fit_intercept=passes.fit_intercept,
        positive=sides[0],
        negative=sides[1],
        sha256=sha256,
        w=found.w,
        dependence=found.dependence,
        contradiction=found.contradiction,
        margin=margin if separable else None,
        geometric_margin=found.geometric_margin if separable else None,
        radius=passes.radius,
        mistake_bound=integer_mistake_bound(passes.radius, margin.lo),
    )
    verdict = Verdict._without_rows(proof)
    if not separable:
        return replace(verdict, n_separated=found.n_separated)
    if passes.fit_intercept and len(passes.first_rows) == 1:
        verdict = replace(verdict, geometric_margin=Interval(math.inf, math.inf))
    if verdict.needs_exact_weights and verdict.coef is not None:
        w = np.append(verdict.coef, verdict.intercept or 0.0)[: passes.p]
        finite = bool(np.isfinite(w).all())
        proved = finite and passes.least_products(exact.floats(w), Limits()).separates
        verdict = replace(verdict, needs_exact_weights=not proved)
    return verdict


def _floats(proof: Certificate) -> tuple[Vector | None, float | None, bool]:
    """The weights of a proof as floats, the bias, and whether they are rounded."""
    if proof.w is None:
        return None, None, False
    rounded = any(v and not (abs(v) < 2**1000 and float(v) == v) for v in proof.w)
    w = exact.numbers(proof.w).near if rounded else np.array([float(value) for value in proof.w])
    return w[: proof.d], float(w[proof.d]) if proof.fit_intercept else 0.0, rounded


def choose_sides(found: Sequence[Hashable], positive: Hashable) -> tuple[Label, Label]:
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

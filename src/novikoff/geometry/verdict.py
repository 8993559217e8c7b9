"""The verdict on separability: the record, and how a search becomes one."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from novikoff import sentences
from novikoff.core.class_labels import Labels
from novikoff.core.problem import Problem
from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.core.validation import Columns
from novikoff.geometry.corral import affordable
from novikoff.geometry.logistic import Estimates, logistic_estimates
from novikoff.geometry.margin import Interval
from novikoff.geometry.passes import Passes
from novikoff.geometry.recession_span import Estimate
from novikoff.geometry.verdict_search import SearchResult
from novikoff.proofs import exact
from novikoff.proofs.certificate import Certificate, integer_mistake_bound
from novikoff.proofs.proof_data import SideLabel

_SIZES_DIFFER = "its numbers differ too much in size to prove more"
_TOO_WIDE = "it has too many columns to prove that no hyperplane separates the classes"
# `Verdict.from_certificate` lists the separated rows up to this number.
_MAX_LISTED_ROWS = 10_000_000


@dataclass(frozen=True, eq=False)
class VerdictData:
    """The data that a verdict is about.

    Attributes
    ----------
    problem : Problem
        The signed rows.
    columns : Columns
        The names of the columns, and which of them belong to one category column.
    index : array or None
        The labels of the rows of a data frame.
    only_negative : bool
        Whether the only label that occurs is the negative class: 0, a negative number or False.
    """

    problem: Problem
    columns: Columns
    index: Labels | None = None
    only_negative: bool = False


@dataclass(frozen=True, eq=False)
class Verdict:
    """The answer whether a hyperplane separates two classes, with its proof.

    Statisticians know the kinds from logistic regression (Albert and Anderson 1984). Separable data
    has *complete separation*, quasi-separable data has *quasi-complete separation*, and inseparable
    data has *overlap*. A finite maximum-likelihood estimate exists in the case of overlap only.

    Attributes
    ----------
    kind : str
        "separable": some hyperplane has every row strictly on the side of its class.
        "quasi-separable": no hyperplane separates all rows in this way, but some hyperplane has no
        row on the wrong side and does not contain all rows.
        "inseparable": every hyperplane has a row on the wrong side, or contains all rows.
        "undecided": none of the three was proved.
    coef : array of shape (d,) or None
        The weights w. For separable data, they have the largest margin that was found. For
        quasi-separable data, they have no row on the wrong side and separate as many rows as
        possible.
    intercept : float or None
        The bias.
    margin : Interval
        An interval that contains the margin γ of the mistake bound, in which the bias counts as a
        weight; [0, 0] if the data is not separable.
    geometric_margin : Interval
        An interval that contains the margin with a free bias, as in a support vector machine: half
        the distance between the convex hulls of the two classes.
    radius : float
        R = max ‖a_i‖, rounded up.
    mistake_bound : int or None
        ⌊R²/γ²⌋ for the lower bound on γ: a perceptron that starts from zero, with δ = 0 and without
        weights of rows or classes, makes at most this many mistakes. A mistake is y·f(x) ≤ 0, so
        that f(x) = 0 counts as a mistake, although `predict` assigns it to the negative class.
    support : array of int
        For separable data, the numbers of the support vectors, which prove the upper bound on the
        margin. Otherwise the numbers of a few rows that no hyperplane separates.
    separated_rows : array of int
        The numbers of the rows that are strictly on the side of their class. The array is empty for
        rows of a cluster: `novikoff.cluster.ClusterRows.separated` finds them.
    n_separated : int
        The number of these rows.
    certificate : Certificate or None
        The proof, which anyone can check with the data; None if the verdict is undecided.
    undecided_reason : str or None
        The reason why the verdict is undecided, if more time would not help.
    needs_exact_weights : bool
        Whether only the exact weights in the certificate separate the rows. Then the margin is too
        narrow for float64, and coef and intercept are rounded.
    data : VerdictData or None
        The rows, and the names of rows and columns. None for a verdict from a certificate or about
        rows of a cluster.

    See Also
    --------
    separate : Decide separability; it returns a verdict.
    Certificate : The proof of a verdict.

    References
    ----------
    Albert, A. and Anderson, J. A. (1984). On the existence of maximum likelihood estimates in
    logistic regression models. *Biometrika* 71(1), 1-10.
    """

    kind: Literal["separable", "quasi-separable", "inseparable", "undecided"]
    margin: Interval
    geometric_margin: Interval
    radius: float
    support: Indices
    separated_rows: Indices
    coef: Vector | None = None
    intercept: float | None = None
    mistake_bound: int | None = None
    certificate: Certificate | None = None
    undecided_reason: str | None = None
    needs_exact_weights: bool = False
    n_separated: int = 0
    data: VerdictData | None = None
    _found_estimates: Estimates | None = None  # of `with_estimates`

    @property
    def rows(self) -> Labels | None:
        """The label of every row: from the index of a data frame, else its number from 0.

        ``verdict.rows[verdict.support]`` are the labels of the support vectors. None if the verdict
        does not have the data.
        """
        if self.data is None:
            return None
        return np.arange(self.data.problem.n) if self.data.index is None else self.data.index

    @property
    def logistic(self) -> Mapping[Hashable, Estimate] | None:
        """For each coefficient of a logistic regression, whether a finite estimate exists.

        The keys are the names of the columns of a data frame, or their numbers, and "(intercept)",
        in further brackets if a column has this name. The first constant column of X beside an
        intercept is taken for the intercept, and has its estimate. The values are those of
        `detect_separation`:

        - "finite": a finite maximum-likelihood estimate exists. With overlap (inseparable data)
          every coefficient that is not aliased is finite; with complete separation none is.
        - "+inf", "-inf": the estimate is infinite. Along every direction in which the likelihood
          rises to its supremum, the coefficient has this sign: proved.
        - "either sign": the estimate is infinite, and both signs occur among these directions:
          proved.
        - "undecided": not determined within the limits of the search.
        - "aliased": the column depends linearly on the columns before it, and is left out, as in R
          and Stata. The answers about all other coefficients are about the model without it.
        - "reference": the reference level of a category column, to which the other levels are
          compared. It is the first level.

        Signs refer to the positive class. If all rows have the same label, this label is the
        positive class. But if the label is 0, a negative number or False, it is the negative class,
        and the intercept goes to −∞.

        The answer is computed when it is first needed. It is None if the verdict is undecided or
        does not have the data.

        References
        ----------
        Albert, A. and Anderson, J. A. (1984). On the existence of maximum likelihood estimates in
        logistic regression models. *Biometrika* 71(1), 1-10.

        Examples
        --------
        >>> import novikoff as nv
        >>> died = [0, 1, 0, 1, 1]
        >>> nv.separate([[0, 1], [0, 2], [0, 3], [1, 2], [1, 9]], died).logistic
        {0: '+inf', 1: 'finite', '(intercept)': 'finite'}
        """
        return self._estimates and self._estimates.coefficients

    @property
    def aliased(self) -> list[Hashable] | None:
        """The columns that are left out, because they depend linearly on the columns before them.

        The intercept is before all columns, and reference levels are not listed. None if `logistic`
        is None.

        Examples
        --------
        >>> import novikoff as nv
        >>> nv.separate([[0, 0, 1], [0, 0, 2], [0, 0, 3], [1, 2, 2]], [0, 1, 0, 1]).aliased
        [1]
        """
        known = self.logistic
        return None if known is None else [name for name in known if known[name] == "aliased"]

    @property
    def responsible_columns(self) -> list[Hashable] | None:
        """The columns each of which causes the separation: proved.

        Without any one of these columns, the data has overlap, and a logistic regression has finite
        estimates. A category column is left out as a whole, and a column together with the columns
        that are aliased. The list is empty if no single column is responsible; None if this was not
        determined.

        Examples
        --------
        >>> import novikoff as nv
        >>> nv.separate([[0, 1], [0, 2], [0, 3], [1, 2]], [0, 1, 0, 1]).responsible_columns
        [0]
        """
        return self._estimates and self._estimates.responsible

    @cached_property
    def _estimates(self) -> Estimates | None:
        return self._found_estimates or with_estimates(self, Limits())._found_estimates

    def summary(self) -> None:
        """Print the lines that `novikoff fit` prints about a verdict, with row labels as in `rows`.

        Examples
        --------
        >>> import novikoff as nv
        >>> nv.separate([[0, 1], [0, 2], [0, 3], [1, 2]], [0, 1, 0, 1]).summary()
        verdict     quasi-separable (quasi-complete separation), proved
                    a hyperplane with no row on its wrong side separates at most 1 row and \
contains the other 3
        separated   rows 3 (counted from 0)
        logistic    a logistic regression has some infinite estimates: 0 → +∞
                    finite estimates exist without the column 0
        """
        for heading, text in self._lines():
            print(sentences.report_line(heading, text, None))

    def _repr_html_(self) -> str:
        """Return the summary as an HTML table, for notebooks."""
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
        return sentences.wrapped(f"<Verdict: {sentences.verdict_sentence(self)}>")

    def __str__(self) -> str:
        return sentences.wrapped(sentences.verdict_sentence(self))

    @classmethod
    def from_certificate(cls, proof: Certificate) -> Verdict:
        """Return the verdict that a certificate proves.

        ``separated_rows`` is empty unless the data is separable and has at most ten million rows: a
        certificate does not list these rows.

        Parameters
        ----------
        proof : Certificate
            The certificate, which is not checked here: see `verify`.

        Returns
        -------
        Verdict
            The verdict, without ``data``.

        Examples
        --------
        >>> import novikoff as nv
        >>> verdict = nv.separate([[0.0], [1.0]], [0, 1])
        >>> again = Verdict.from_certificate(verdict.certificate)
        >>> again.kind, again.margin == verdict.margin, again.mistake_bound
        ('separable', True, 10)
        """
        listed = proof.kind == "separable" and proof.n <= _MAX_LISTED_ROWS
        verdict = _without_separated_rows(proof)
        return replace(verdict, separated_rows=np.arange(proof.n if listed else 0))


def make_verdict(
    passes: Passes,
    sha256: str,
    result: SearchResult,
    sides: tuple[SideLabel, SideLabel],
    limits: Limits,
) -> Verdict:
    """Make the verdict on the result of a search, with its certificate.

    ``separated_rows`` is left empty. ``sha256`` is the digest of the data, and ``sides`` are the
    positive and the negative label. An undecided verdict says why, unless the limits were reached.
    """
    margin, separable = result.margin, result.kind == "separable"
    reason = None
    if result.kind in (None, "not separable") and limits.reached() is None:
        searched = (passes.without_empty_columns() or (passes,))[0]
        reason = _SIZES_DIFFER if affordable(searched) else _TOO_WIDE
    if result.kind is None:
        verdict = Verdict(
            kind="undecided",
            margin=Interval(margin.lo, margin.hi),
            geometric_margin=Interval(0.0, math.inf),
            radius=passes.radius,
            support=np.array(sorted(margin.rows), dtype=np.int64),
            separated_rows=np.empty(0, dtype=np.int64),
        )
    else:
        proof = Certificate(
            kind=result.kind,
            n=passes.n,
            d=passes.d,
            fit_intercept=passes.fit_intercept,
            positive=sides[0],
            negative=sides[1],
            sha256=sha256,
            w=result.w,
            dependence=result.dependence,
            contradiction=result.contradiction,
            margin=margin if separable else None,
            geometric_margin=result.geometric_margin if separable else None,
            radius=passes.radius,
            mistake_bound=integer_mistake_bound(passes.radius, margin.lo),
        )
        verdict = _without_separated_rows(proof)
    if not separable:
        return replace(verdict, n_separated=result.n_separated, undecided_reason=reason)
    if passes.fit_intercept and len(passes.first_rows) == 1:  # one class only
        verdict = replace(verdict, geometric_margin=Interval(math.inf, math.inf))
    if verdict.needs_exact_weights and verdict.coef is not None:
        w = np.append(verdict.coef, verdict.intercept or 0.0)
        verdict = replace(verdict, needs_exact_weights=not passes.separates(w))
    return verdict


def with_estimates(verdict: Verdict, limits: Limits) -> Verdict:
    """Return the verdict with the estimates of a logistic regression, computed within limits.

    There are none if the verdict is undecided or does not have the data.
    """
    data, proof = verdict.data, verdict.certificate
    if data is None or proof is None or verdict.kind == "undecided":
        return verdict
    separated = verdict.separated_rows
    estimates = logistic_estimates(data.problem, data.columns, proof.w, separated, limits)
    return replace(
        verdict, _found_estimates=estimates.negated() if data.only_negative else estimates
    )


def _without_separated_rows(proof: Certificate) -> Verdict:
    """The verdict that a certificate proves, without a list of separated rows."""
    separable, gap = proof.kind == "separable", proof.geometric_margin
    margin = Interval(0.0, math.inf if separable else 0.0)
    if proof.margin is not None:
        margin = Interval(proof.margin.lo, proof.margin.hi)
    # A free bias cannot narrow the margin, and does not widen it if there is no bias.
    geometric_margin = margin
    if separable and proof.fit_intercept:
        geometric_margin = Interval(margin.lo, math.inf)
    if gap is not None:
        geometric_margin = Interval(max(margin.lo, gap.lo), gap.hi)
    coef, intercept, rounded = _float_weights(proof)
    return Verdict(
        kind="undecided" if proof.kind == "not separable" else proof.kind,
        margin=margin,
        geometric_margin=geometric_margin,
        radius=math.inf if proof.radius is None else proof.radius,
        support=np.array(sorted(proof.multipliers), dtype=np.int64),
        separated_rows=np.empty(0, dtype=np.int64),
        coef=coef,
        intercept=intercept,
        mistake_bound=proof.mistake_bound,
        certificate=proof,
        needs_exact_weights=rounded,
        n_separated=proof.n if separable else 0,
    )


def _float_weights(proof: Certificate) -> tuple[Vector | None, float | None, bool]:
    """The weights of a certificate as floats, the bias, and whether they are rounded."""
    if proof.w is None:
        return None, None, False
    rounded = any(v and not (abs(v) < 2**1000 and float(v) == v) for v in proof.w)
    w = exact.numbers(proof.w).near if rounded else np.array([float(value) for value in proof.w])
    return w[: proof.d], float(w[proof.d]) if proof.fit_intercept else 0.0, rounded

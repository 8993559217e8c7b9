"""Does the maximum-likelihood estimate exist? `detect_separation` and its record."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from html import escape
from numbers import Rational, Real
from typing import Literal

import numpy as np

from novikoff import sentences
from novikoff.core.class_labels import Labels
from novikoff.core.problem import signed_problem
from novikoff.core.rows import Indices, Matrix
from novikoff.core.stops import Limits, check_budget
from novikoff.geometry.null_space import null_space
from novikoff.geometry.passes import OutOfTimeError
from novikoff.geometry.recession import Recession, recession_of_cone
from novikoff.geometry.recession_span import Estimate
from novikoff.geometry.separability import find_verdict
from novikoff.models.advice import Situation, remedies
from novikoff.models.cones import ModelCone
from novikoff.models.families import FAMILIES
from novikoff.models.likelihoods import Remainder
from novikoff.models.limiting import LimitingModel
from novikoff.models.outcomes import ModelQuestion, model_of
from novikoff.models.sources import read_arguments
from novikoff.proofs.certificate import Certificate

SeparationKind = Literal["complete separation", "quasi-complete separation", "overlap", "undecided"]

_WORDS = {
    "+inf": "+∞",
    "-inf": "−∞",
    "either sign": "infinite, either sign",
    "reference": "reference level",
    "aliased": "aliased: depends on the columns before it",
}
# A table of more coefficients than this shows the infinite ones, and counts the others.
_LONGEST_TABLE = 24
_WIDTH, _HEADING = 80, 12  # of the text, and of the headings on its left


def detect_separation(
    X: object = None,
    y: object = None,
    *,
    formula: str | None = None,
    data: object = None,
    family: str | None = None,
    link: str | None = None,
    fit_intercept: bool = True,
    weights: object = None,
    trials: object = None,
    groups: object = None,
    strata: object = None,
    duration: object = None,
    event: object = None,
    entry: object = None,
    ties: str = "efron",
    reference: object = None,
    missing: str = "error",
    budget: float | None = None,
) -> Separation:
    """Decide whether the maximum-likelihood estimate of a model exists, and prove the answer.

    With *complete* or *quasi-complete separation* the likelihood has no maximum, and some
    coefficients are infinite. The answer says which coefficients, with which signs, and which
    observations cause it. It is exact: there is no tolerance.

    Parameters
    ----------
    X : array, data frame, sparse matrix of shape (n, d), or model
        The covariates. A column of categories becomes one column for each level but the reference
        level. A constant column is the intercept, if the model has one. Matrices of formulaic and
        patsy have names. For "bradley-terry", X is the table of wins: X[i, j] says how often i beat
        j.

        Or a model of statsmodels, fitted or not (Logit, Probit, GLM, MNLogit, OrderedModel,
        Poisson, NegativeBinomial, PHReg, ConditionalLogit), or a Cox fitter of lifelines with its
        frame as ``data``. The names are those of its summary table.
    y : array, optional
        The outcome, as each family needs it; see Notes.
    formula : str, optional
        A formula about the columns of ``data``, such as "died ~ age + C(colour)". It needs the
        package formulaic, which computes the columns and names them.
    data : data frame, optional
        The frame of a formula, or of a fitter of lifelines. y, weights, duration and the like may
        be names of its columns. Without a formula, all other columns are the covariates.
    family : str, optional
        By default "binomial", or the family of the model:
        "binomial", "poisson", "negative-binomial", "multinomial", "cumulative", "adjacent",
        "sequential", "cox", "conditional-logit", "choice", "rank-ordered" or "bradley-terry".
    link : str, optional
        "logit", "probit", "cloglog", "loglog", "cauchit" or "log" for binomial models; all of these
        but "log" for sequential models, and all but "log" and "cauchit" for cumulative models; else
        the only link that the family has.
    fit_intercept : bool
        Whether the model has an intercept. Models with thresholds, Cox and conditional models have
        none in any case.
    weights : array of shape (n,), optional
        Weights of the observations. Observations of weight 0 are left out; positive weights do not
        change the answer. Nor do offsets, if the model has an intercept or another link than "log".
    trials : array of shape (n,), optional
        The number of trials, if y is the number of successes.
    groups : array of shape (n,), optional
        The group, matched set or choice situation of each row, for "conditional-logit", "choice"
        and "rank-ordered".
    strata : array of shape (n,), optional
        The strata of a Cox model.
    duration, event, entry : arrays of shape (n,), optional
        For "cox": the time at which each row ends, whether it ends with an event (default: all do),
        and the time at which it begins to be at risk.
    ties : "efron", "breslow" or "exact"
        How a Cox model treats tied events.
    reference : label or mapping, optional
        For a mapping: the reference level of each factor; by default it is the first level. For a
        label: the class of y that a binomial model codes as 0, or the baseline class of a
        multinomial model, or the reference of "bradley-terry"; by default the first class. In a
        mapping, the class of y has the key "y".
    missing : "error" or "drop"
        Whether rows with missing values are rejected with an error or left out.
    budget : float, optional
        Seconds after which the answer contains everything that is proved by then; a step of exact
        arithmetic that has begun is finished first. Without a budget, searches for signs end after
        a fixed number of steps.

    Returns
    -------
    Separation
        Whether the estimate exists, whether the estimate of each coefficient is finite, the
        separated observations, and a certificate.

    See Also
    --------
    separate : The verdict about two classes, with the margin.

    Notes
    -----
    The outcome y is

    - binomial: two labels, of which the larger (or second category) is a success; or proportions
      between 0 and 1; or two columns, successes and failures; or successes with ``trials``;
    - poisson, negative-binomial, and piecewise-exponential hazards as poisson models of the
      events: numbers ≥ 0. For negative-binomial the answer is the same for every dispersion, given
      or estimated (NB1 and NB2);
    - multinomial: labels, or a table of counts with one column for each class;
    - cumulative, adjacent, sequential: numbers, or labels in the order of their categories;
    - conditional-logit: 0 and 1; choice: 1 for the chosen row of each group; rank-ordered: ranks,
      1 for the best;
    - cox, bradley-terry: none.

    The inequalities behind each model are in `novikoff.models.cones`.

    References
    ----------
    Albert, A. and Anderson, J. A. (1984). On the existence of maximum likelihood estimates in
    logistic regression models. *Biometrika* 71(1), 1-10.

    Heinze, G. and Schemper, M. (2002). A solution to the problem of separation in logistic
    regression. *Statistics in Medicine* 21(16), 2409-2419.

    Geyer, C. J. (2009). Likelihood inference in exponential families and directions of recession.
    *Electronic Journal of Statistics* 3, 259-289.

    Examples
    --------
    >>> import novikoff as nv
    >>> separation = nv.detect_separation([[0, 1], [0, 2], [0, 3], [1, 2], [1, 9]], [0, 1, 0, 1, 1])
    >>> separation.exists, separation.kind
    (False, 'quasi-complete separation')
    >>> dict(separation.coefficients)
    {'(intercept)': 'finite', 0: '+inf', 1: 'finite'}
    >>> separation.separated
    array([3, 4])
    >>> nv.detect_separation([[0.0], [1.0], [2.0]], [0, 1, 3], family="poisson").kind
    'overlap'

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"died": [0, 1, 0, 1, 1], "colour": [*"rrbgg"]})
    >>> separation = nv.detect_separation(formula="died ~ C(colour)", data=frame)
    >>> dict(separation.coefficients)
    {'Intercept': '-inf', 'C(colour)[T.g]': '+inf', 'C(colour)[T.r]': '+inf'}
    """
    limits = Limits(seconds=check_budget(budget))  # the clock starts before the data is read
    arguments = read_arguments(
        X=X, y=y, formula=formula, data=data, family=family, link=link,
        fit_intercept=fit_intercept, weights=weights, trials=trials, groups=groups, strata=strata,
        duration=duration, event=event, entry=entry, ties=ties, reference=reference,
        missing=missing,
    )  # fmt: skip
    return separation_of(model_of(arguments, limits), limits)


def separation_of(model: ModelQuestion, limits: Limits) -> Separation:
    """Return the record of a model whose arguments are read."""
    separation = Separation(
        family=model.family,
        link=model.link,
        rows=model.rows,
        notes=model.notes,
        _positions=model.positions,
        _labels=model.labels,
        _model_cone=model.cone,
        _recession=recession_of_cone(model.cone.inequalities, limits),
        _labelled=model.labelled,
        _references=model.references,
    )
    if limits.seconds is not None:  # the answer has what is proved by the end of the budget
        _ = separation.coefficients, separation.responsible_columns
    return separation


class Coefficients(Mapping[Hashable, Estimate]):
    """Whether the estimate of each coefficient is finite, by name; a table in notebooks."""

    def __init__(self, values: Mapping[Hashable, Estimate]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: Hashable) -> Estimate:
        return self._values[name]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)

    def lines(self) -> list[tuple[str, str]]:
        """The rows of the table: name and estimate, in words."""
        return [(str(name), _WORDS.get(value, value)) for name, value in self._values.items()]

    def folded(self) -> list[tuple[str, str]]:
        """The rows of the table; of a long table, the infinite coefficients and counts of others.

        Examples
        --------
        >>> estimates = {f"x{j}": "finite" for j in range(1, 31)} | {"z": "+inf"}
        >>> Coefficients(estimates).folded()
        [('z', '+∞'), ('30 others', 'finite')]
        """
        every = self.lines()
        if len(every) <= _LONGEST_TABLE:
            return every
        quiet = ("finite", "reference", "aliased")
        kinds = [*self._values.values()]
        shown = [line for line, kind in zip(every, kinds, strict=True) if kind not in quiet]
        lines = shown[:_LONGEST_TABLE]
        if len(shown) > len(lines):
            lines.append((f"… {len(shown) - len(lines):,} more", "infinite or undecided"))
        for kind in quiet:
            if kind in kinds:
                others = sentences.counted(kinds.count(kind), "other" if shown else "coefficient")
                lines.append((others, _WORDS.get(kind, kind)))
        return lines

    def _repr_html_(self) -> str:
        head, lines = ("coefficient", "estimate"), self.folded()
        table = sentences.html_table(lines, head)
        if lines == (every := self.lines()):
            return table
        rest = sentences.html_table(every, head)
        return f"{table}<details><summary>all {len(every):,}</summary>{rest}</details>"


@dataclass(frozen=True, eq=False)
class Separation:
    """Whether the maximum-likelihood estimate of a model exists, and the proof.

    Attributes
    ----------
    family, link : str
        The model.
    rows : array
        The label of each observation: from the index of a data frame, else its number from 0.
    notes : list of str
        What was done with the data: columns taken for the intercept, rows left out.
    """

    family: str
    link: str
    rows: Labels
    notes: list[str]
    _positions: Indices = field(repr=False)  # of the rows in the data that were given
    _labels: Labels = field(repr=False)  # of all rows that were given
    _model_cone: ModelCone = field(repr=False)
    _recession: Recession = field(repr=False)
    _labelled: bool = False  # whether rows are labels of an index
    _references: Mapping[Hashable, Hashable] = field(default_factory=dict)

    @property
    def exists(self) -> bool | None:
        """Whether a finite maximum-likelihood estimate exists; None if it is not decided.

        If columns are aliased, this is about the model without them.
        """
        face = self._recession.face
        if face.separated.any():
            return False
        return True if face.complete else None

    @property
    def kind(self) -> SeparationKind:
        """The kind of the data, in the words of Albert and Anderson (1984).

        "complete separation": some direction fits every observation perfectly. "quasi-complete
        separation": some direction fits some observations perfectly and changes the fit of no
        other. "overlap": neither, so that finite estimates exist.
        """
        face = self._recession.face
        if face.separated.all() and len(self._model_cone.equal) == 0:
            return "complete separation"
        if face.separated.any():
            return "quasi-complete separation" if face.complete else "undecided"
        return "overlap" if face.complete else "undecided"

    @cached_property
    def coefficients(self) -> Coefficients:
        """Whether the estimate of each coefficient is finite, and else its sign.

        - "finite": the maximum-likelihood estimate of this coefficient is finite.
        - "+inf", "-inf": it is infinite. Along every direction in which the likelihood rises to its
          supremum, the coefficient has this sign: proved.
        - "either sign": it is infinite, and both signs occur among these directions: proved.
        - "undecided": not determined within the limits of the search.
        - "aliased": the column depends linearly on the columns before it, and is left out, as in R
          and Stata. The answers about all other coefficients are about the model without it.
        - "reference": the reference level of a factor, to which the other levels are compared.
        """
        first = self._recession.rows.p - len(self._model_cone.names)
        gone = set(self._recession.aliased)
        estimates: dict[Hashable, Estimate] = {}
        references = {
            columns[0]: name for name, columns in self._model_cone.terms.items() if columns
        }
        for j, name in enumerate(self._model_cone.names):
            for level, column in self._references.items():
                if references.get(j) == column:
                    estimates[level] = "reference"
            estimates[name] = (
                "aliased" if first + j in gone else self._recession.coefficient(first + j)
            )
        return Coefficients(
            estimates | dict.fromkeys(self._references.keys() - estimates, "reference")
        )

    @cached_property
    def separated(self) -> Labels:
        """The labels of the separated observations.

        An observation is separated if the likelihood rises to its supremum only along directions in
        which a part of the observation's own contribution rises to its limit: a Poisson mean that
        goes to 0, a probability that goes to 0 or 1. If the kind is "undecided", there may be more.
        """
        return self.rows[self.separated_positions]

    @cached_property
    def separated_positions(self) -> Indices:
        """The positions of the separated observations in `rows`."""
        face = self._recession.face
        return np.flatnonzero(
            self._model_cone.observations(face.separated, self._recession.face.direction)
        )

    @cached_property
    def direction(self) -> Mapping[Hashable, float]:
        """A direction in which the likelihood rises to its supremum, rounded; 0 if there is none.

        It separates all of the separated observations. The certificate has the exact numbers.
        """
        components = self._recession.face.direction[-len(self._model_cone.names) :]
        largest = max(map(abs, components), default=Fraction(0)) or Fraction(1)
        scaled = [float(value / largest) for value in components]
        return dict(zip(self._model_cone.names, scaled, strict=True))

    @cached_property
    def responsible_columns(self) -> list[Hashable] | None:
        """The columns each of which causes the separation: proved.

        Without any one of these columns, finite estimates exist. A factor is left out as a whole,
        and a column together with the columns that are aliased. The intercept is not listed; with
        ``fit_intercept=False`` a constant column of X counts like any other, but the constant
        column of a formula or of a model object is an intercept. The list is empty if no single
        column is responsible; None if this was not determined.
        """
        first = self._recession.rows.p - len(self._model_cone.names)
        terms = {
            name: [first + j for j in columns] for name, columns in self._model_cone.terms.items()
        }
        return self._recession.responsible_terms(terms)

    def estimable(self, c: Mapping[Hashable, float] | Sequence[float]) -> Estimate:
        """Whether the estimate of a linear combination c·β of the coefficients is finite.

        Parameters
        ----------
        c : mapping, Series or sequence
            Factors by name, or one for each coefficient in the order of `coefficients`, without
            reference levels. Aliased coefficients count as 0.

        Returns
        -------
        str
            "finite", "+inf", "-inf", "either sign" or "undecided".

        Examples
        --------
        >>> import novikoff as nv
        >>> separation = nv.detect_separation([[0, 1], [0, 2], [0, 3], [1, 2]], [0, 1, 0, 1])
        >>> separation.estimable({0: 1, 1: -2}), separation.estimable({"(intercept)": 1, 1: 2})
        ('+inf', 'finite')
        """
        names = self._model_cone.names
        if isinstance(c, Mapping) or hasattr(c, "items"):  # a Series has names too
            given = dict(c.items())
            unknown = [name for name in given if name not in names]
            if unknown:
                raise ValueError(f"{unknown[0]!r} is not a coefficient; these are: {names[:20]}.")
            values = [given.get(name, 0) for name in names]
        else:
            values = [*c]
            if len(values) != len(names):
                raise ValueError(f"c has {len(values)} entries for {len(names)} coefficients.")
        hidden = self._recession.rows.p - len(names)
        factors = zip(names, values, strict=True)
        return self._recession.estimate(
            {hidden + j: _factor(name, value) for j, (name, value) in enumerate(factors)}
        )

    def limiting_model(self) -> LimitingModel:
        """Return the rows and columns to refit, so that any fitter gives the finite part.

        In the limiting model (Geyer 2009) the separated inequalities are left out, and columns that
        depend linearly on others among the remaining rows. The coefficients that are "finite" have
        the same estimates and standard errors in this fit as in the whole model.

        For binomial, Poisson and negative binomial models these are the observations that are not
        separated. A Cox model gets finer strata, and a conditional model finer groups. Multinomial
        and adjacent-category models become discrete choices among fewer alternatives, sequential
        and Bradley–Terry models become binomial models of fewer rows. A cumulative model remains a
        cumulative model of fewer rows, or becomes a binomial model; if some observations lose one
        side only, their outcome is an interval of classes.

        Raises
        ------
        ValueError
            If the budget ended before all separated observations were known.

        References
        ----------
        Geyer, C. J. (2009). Likelihood inference in exponential families and directions of
        recession. *Electronic Journal of Statistics* 3, 259-289.

        Examples
        --------
        >>> import novikoff as nv
        >>> separation = nv.detect_separation([[0, 1], [0, 2], [0, 3], [1, 2]], [0, 1, 0, 1])
        >>> model = separation.limiting_model()
        >>> model
        <LimitingModel: binomial, 3 rows, columns (intercept), 1>
        >>> model.rows, model.finite
        (array([0, 1, 2]), ['(intercept)', 1])

        A Cox model whose strata are finer:

        >>> X, times = [[0, 1], [0, 3], [1, 2], [0, 1], [1, 1]], [1, 2, 3, 4, 5]
        >>> cox = nv.detect_separation(X, family="cox", duration=times, event=[1, 1, 0, 1, 0])
        >>> cox.limiting_model().rows, cox.limiting_model().strata
        (array([0, 1, 3]), array([0, 0, 0]))
        """
        if not self._recession.face.complete:
            raise ValueError("The separated observations are not known: give a larger budget.")
        try:
            at = self._coefficients_left
        except OutOfTimeError:
            raise ValueError("The columns to refit are not known: give a larger budget.") from None
        names, left = self._model_cone.names, self._remainder
        columns = [names[j] for j in at.tolist()]
        return LimitingModel(
            family=left.family or self.family,
            columns=columns,
            finite=[name for name in columns if self.coefficients[name] == "finite"],
            positions=self._positions[left.observations],
            y=left.y,
            groups=left.groups,
            strata=left.strata,
            weights=left.weights,
            _labels=self._labels,
            _at=at,
            _design=left.design,
        )

    @cached_property
    def _remainder(self) -> Remainder:
        """What is left of the likelihood after the separated inequalities are left out."""
        face, cone = self._recession.face, self._model_cone
        return cone.likelihood.remaining(face.separated, cone.coefficients_of(face.direction))

    @cached_property
    def _coefficients_left(self) -> Indices:
        """The coefficients that the rows of the limiting model determine, in ascending order.

        They include all thresholds that these rows determine, because a fitter of cumulative models
        cannot leave out thresholds.
        """
        recession, thresholds = self._recession, self._model_cone.thresholds
        first = recession.rows.p - len(self._model_cone.names)
        dependent = recession.span.basis
        if len(thresholds) > 0 and thresholds[0] > 0 and dependent:
            later = np.isin(recession.kept, first + np.asarray(thresholds), invert=True)
            order = recession.kept[np.argsort(later, kind="stable")]
            dependent = null_space(
                recession.rows, recession.span.held, order, recession.budget.limits
            )
        return np.array(
            [
                j - first
                for j in np.sort(recession.kept).tolist()
                if j >= first and j not in dependent
            ],
            dtype=np.int64,
        )

    @cached_property
    def certificate(self) -> Certificate | None:
        """The proof of the kind, which anyone can check; None if it was not found.

        It is the certificate of `novikoff.separate` about the rows of `certified_rows`, without an
        intercept, and is computed when it is first needed. "separable" and "quasi-separable" mean
        that no finite estimate exists, "inseparable" means that finite estimates exist.

        Examples
        --------
        >>> import novikoff as nv
        >>> separation = nv.detect_separation([[0.0], [1.0], [2.0]], [0, 1, 3], family="poisson")
        >>> _ = nv.verify(separation.certificate, *separation.certified_rows())
        """
        if self.kind == "undecided":
            return None
        X, _ = self.certified_rows()
        if X.shape[0] == 0:
            return None
        problem = signed_problem(X, np.ones(X.shape[0], dtype=np.int8), False)
        return find_verdict(problem, (1, None), goal="kind").certificate

    def certified_rows(self) -> tuple[Matrix, Labels]:
        """Return the rows that the certificate is about, and their labels, which are all 1.

        The rows are A, E and −E, in the notation of `novikoff.models.cones`.
        """
        X = self._model_cone.rows()
        return X, np.ones(X.shape[0], dtype=np.int64)

    @cached_property
    def advice(self) -> list[str]:
        """What can be done about infinite estimates: one or two sentences for each remedy.

        The sentences name packages and functions for this family of models, the coefficients with
        one-sided intervals, and the coefficients that a refit can estimate. The list is empty
        unless it is proved that no finite estimate exists.
        """
        if self.exists is not False:
            return []
        estimates = self.coefficients
        infinite = ("+inf", "-inf", "either sign")
        factors = {*self._references.values()}
        try:
            limiting = self.limiting_model()
        except ValueError:  # the budget ended
            limiting = None
        return remedies(
            Situation(
                self.family,
                self.link,
                [(name, estimate) for name, estimate in estimates.items() if estimate in infinite],
                limiting,
                [
                    column
                    for column, columns in self._model_cone.terms.items()
                    if column in factors
                    and any(estimates[self._model_cone.names[j]] in infinite for j in columns)
                ],
                self.responsible_columns or [],
            )
        )

    @property
    def n_coefficients(self) -> int:
        """The number of coefficients, without reference levels."""
        return len(self._model_cone.names)

    @property
    def model_in_words(self) -> str:
        """The family and the link, such as "binomial, logit link"."""
        return f"{FAMILIES[self.family].title}{f', {self.link} link' if self.link else ''}"

    def _shown(self, at: Indices) -> str:
        first = [str(label) for label in self.rows[at[: sentences.SHOWN]].tolist()]
        how = "labels of the index" if self._labelled else "counted from 0"
        return f"{sentences.first_few(first, len(at))} ({how})"

    def __str__(self) -> str:
        lines = []
        for part, heading, text in sentences.separation_lines(self, self._shown):
            row = [text] if part == "estimates" else []  # a row of the table keeps its spaces
            hanging = "  " if part == "advice" else ""
            width = _WIDTH - _HEADING
            wrapped = textwrap.wrap(text, width, subsequent_indent=hanging, break_on_hyphens=False)
            parts = row or wrapped
            lines.append(f"{heading:{_HEADING}}{parts[0]}")
            lines += [f"{'':{_HEADING}}{part}" for part in parts[1:]]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Separation: {self.kind}, {self.model_in_words}>"

    def _repr_html_(self) -> str:
        told = [
            (heading, text)
            for part, heading, text in sentences.separation_lines(self, self._shown)
            if part not in ("estimates", "advice")
        ]
        advice = "".join(f"<li>{escape(remedy)}</li>" for remedy in self.advice)
        listed = f"<ul>{advice}</ul>" if advice else ""
        return f"{sentences.html_table(told)}{self.coefficients._repr_html_()}{listed}"


def _factor(name: Hashable, value: object) -> Fraction:
    """A factor of a linear combination; ValueError if it is not a finite number."""
    if isinstance(value, Rational):
        return Fraction(value)
    if isinstance(value, Real) and math.isfinite(float(value)):
        return Fraction(float(value))
    raise ValueError(f"c has {value!r} for the coefficient {name!r}: it must be a finite number.")

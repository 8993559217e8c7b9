"""The main job: decide, learn, fall back on the rule with the fewest mistakes.

1. Each class against the rest (or the one against the other): is it separable? With proof.
2. If all are: the perceptron. Where it is not clean within its epochs, it goes on from the
   hyperplanes of the largest margin, and is clean at once.
3. If not: the pocket, with a proved bound on how much better any rule could be.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.problem import pose
from novikoff.core.rows import Floats, Indices, SparseMatrix, Vector
from novikoff.geometry.error_bound import ErrorBound
from novikoff.geometry.margin import Interval
from novikoff.geometry.passes import Data, cores
from novikoff.geometry.recession import Recession, recession
from novikoff.geometry.separability import Verdict, separate
from novikoff.geometry.table import Label, SignedRows, as_matrix, plain_label, signs_of
from novikoff.learners.linear import LinearLearner
from novikoff.learners.perceptron import Perceptron
from novikoff.learners.pocket import Pocket

Matrix: TypeAlias = "Floats | SparseMatrix"
Labels: TypeAlias = npt.NDArray[np.generic]
# Called with what is being done, and the interval for the margin once there is one.
Progress: TypeAlias = Callable[[str, Interval | None], None]

# The perceptron looks at so many entries of X, in at least and at most so many epochs.
_ENTRIES, _LEAST, _MOST = 4_000_000_000, 20, 1000


@dataclass(frozen=True)
class Options:
    """How a study is made.

    Attributes
    ----------
    fit_intercept : bool
        Whether rules may have a bias.
    positive : label or None
        With it, the question is this class against all others.
    order, epochs, seed
        Of the perceptron; ``epochs=None`` is 1000, fewer for very large data.
    budget : float or None
        Seconds for all of it.
    verdict : bool
        Whether to decide at all; without, only the perceptron runs.
    proofs : bool
        Whether to go on for the margin, the lower bound on mistakes and the like; without, only
        the model is wanted.
    """

    fit_intercept: bool = True
    positive: Hashable = None
    order: str = "permuted"
    epochs: int | None = None
    seed: int = 0
    budget: float | None = None
    verdict: bool = True
    proofs: bool = True


@dataclass(frozen=True)
class Case:
    """One class against another, or against the rest (``negative`` is None)."""

    positive: Label
    negative: Label
    verdict: Verdict
    recession: Recession | None = None
    errors: int | None = None
    bound: ErrorBound | None = None

    @property
    def least_errors(self) -> int | None:
        """No hyperplane makes fewer mistakes: proved."""
        return None if self.bound is None else int(self.bound.bound)


@dataclass(frozen=True)
class Run:
    """What the perceptron did."""

    clean: bool
    mistakes: int
    epochs: int
    seconds: float


@dataclass(frozen=True)
class Study:
    """All that was found.

    Attributes
    ----------
    classes, counts
        The labels and how many rows have each.
    cases : list of Case
        One for two classes, else one for each; empty without a verdict.
    run : Run or None
        The perceptron from zero; None where no rule is perfect.
    model : estimator
        The best rule found.
    rule : str
        "perceptron", "largest margin" or "fewest mistakes".
    confusion : array of int
        Rows of each class (down) that the model gives to each class (across).
    clashes : list of arrays
        Identical rows with different labels.
    """

    classes: list[Label]
    counts: Indices
    cases: list[Case]
    run: Run | None
    model: LinearLearner
    rule: str
    confusion: Indices
    clashes: list[Indices] = field(default_factory=list)

    @property
    def errors(self) -> int:
        """The rows that the model gets wrong."""
        return int(self.confusion.sum() - np.trace(self.confusion))

    @property
    def kinds(self) -> list[str]:
        """The kind of each case."""
        return [case.verdict.kind for case in self.cases]


def study(
    X: Matrix,
    y: Labels,
    options: Options = Options(),  # noqa: B008 — frozen
    progress: Progress | None = None,
) -> Study:
    """Decide, learn and count (E2).

    Parameters
    ----------
    X : array or CSR matrix
        The rows.
    y : array
        The labels, of two classes or more.
    options : Options
        How.
    progress : callable, optional
        Called with the name of each step, and with the interval for the margin.

    Examples
    --------
    >>> found = study(np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0]))
    >>> found.kinds, found.rule, found.errors, found.cases[0].least_errors
    (['inseparable'], 'fewest mistakes', 1, 1)
    """
    tell = progress or (lambda step, interval: None)
    clock = _Clock(options.budget)
    y = one_against_rest(y, options.positive)
    labels, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    classes = [plain_label(label) for label in labels.tolist()]
    if len(classes) < 2:
        raise ValueError(f"All rows have the label {classes[0]!r}: two classes are needed.")
    cases = _decide(X, y, classes, options, clock, tell) if options.verdict else []
    perfect = all(case.verdict.kind in ("separable", "undecided") for case in cases)
    run, model, rule = None, None, "perceptron"
    if perfect:
        tell("perceptron", None)
        model, run = _run_perceptron(X, y, options, clock.part(0.5))
        if not run.clean and cases and all(case.verdict.kind == "separable" for case in cases):
            model, rule = _from_verdicts(X, y, cases, options), "largest margin"
    if model is None or (cases and run is not None and not run.clean and rule == "perceptron"):
        tell("pocket", None)
        model, rule = _fill_pocket(X, y, options, clock), "fewest mistakes"
        cases = _with_errors(cases, model)
    tell("report", None)
    predicted = np.searchsorted(labels, model.predict(X))
    confusion = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(confusion, (codes, predicted), 1)
    return Study(
        classes=classes,
        counts=counts,
        cases=_with_recession(X, y, cases, options) if options.proofs else cases,
        run=run,
        model=model,
        rule=rule,
        confusion=confusion,
        clashes=_clashes(X, codes) if options.proofs and not perfect else [],
    )


class _Clock:
    """The budget, shared by the steps."""

    def __init__(self, seconds: float | None) -> None:
        self.end = None if seconds is None else time.monotonic() + seconds

    def part(self, share: float) -> float | None:
        """A share of the seconds that are left, never quite none."""
        return None if self.end is None else max(0.01, share * (self.end - time.monotonic()))


def one_against_rest(y: Labels, positive: Hashable) -> Labels:
    """With a positive class among several: its label, and one for all others."""
    if positive is None:
        return y
    chosen = y == np.asarray(positive)
    if not np.any(chosen):
        raise ValueError(f"No row has the label {positive!r}, which was to be positive.")
    if len(np.unique(y)) <= 2:
        return y
    rest = f"not {positive}"
    return np.where(chosen, str(positive), rest)


def _decide(
    X: Matrix, y: Labels, classes: list[Label], options: Options, clock: _Clock, tell: Progress
) -> list[Case]:
    chosen = classes[-1] if options.positive is None else _as_in(classes, options.positive)
    asked = [chosen] if len(classes) == 2 else classes
    cases = []
    for k, positive in enumerate(asked):
        step = "verdict" if len(asked) == 1 else f"verdict for {positive}"
        tell(step, None)

        def show(interval: Interval, step: str = step) -> None:
            tell(step, interval)

        verdict = separate(
            X,
            y,
            positive=positive,
            fit_intercept=options.fit_intercept,
            budget=clock.part(0.6 / (len(asked) - k)),
            progress=show,
        )
        negative = next(c for c in classes if c != positive) if len(classes) == 2 else None
        cases.append(Case(positive, negative, verdict))
    return cases


def _as_in(classes: list[Label], positive: Hashable) -> Label:
    """The label as it stands among the classes, where it may have become text."""
    return next((c for c in classes if c == positive), str(positive))


def _run_perceptron(
    X: Matrix, y: Labels, options: Options, seconds: float | None
) -> tuple[LinearLearner, Run]:
    size = max(1, X.size if isinstance(X, np.ndarray) else X.nnz)
    epochs = options.epochs or int(np.clip(_ENTRIES // size, _LEAST, _MOST))
    began = time.perf_counter()
    model = _perceptron(options, epochs, seconds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the report says so itself
        model.fit(X, y)
    took = time.perf_counter() - began
    return model, Run(model.converged_, model.n_mistakes_, model.n_iter_, took)


def _perceptron(options: Options, epochs: int, seconds: float | None) -> Perceptron:
    return Perceptron(
        fit_intercept=options.fit_intercept,
        order=options.order,
        max_epochs=epochs,
        max_seconds=seconds,
        random_state=options.seed,
        n_jobs=cores(),
    )


def _from_verdicts(X: Matrix, y: Labels, cases: list[Case], options: Options) -> LinearLearner:
    """The hyperplanes of the largest margin, as a perceptron that starts from them."""
    rules = [_oriented(case, cases) for case in cases]
    model = _perceptron(options, 1000, None)
    coefs, biases = [w[:-1] for w in rules], [w[-1] for w in rules]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y, coef_init=np.array(coefs), intercept_init=np.array(biases))


def _oriented(case: Case, cases: list[Case]) -> Vector:
    """The weights, positive for the larger class of two, scaled to a margin of 1."""
    verdict = case.verdict
    assert verdict.coef is not None and verdict.intercept is not None  # noqa: S101 — separable
    w = np.append(verdict.coef, verdict.intercept)
    size = float(np.abs(w).max())
    w = w / size if size > 0.0 else w
    turned = len(cases) == 1 and case.negative is not None and _larger(case)
    return -w if turned else w


def _larger(case: Case) -> bool:
    """Whether the negative label comes after the positive one."""
    pair = np.unique(np.array([case.positive, case.negative]))
    return bool(pair[-1] == case.negative)


def _fill_pocket(X: Matrix, y: Labels, options: Options, clock: _Clock) -> Pocket:
    return Pocket(
        fit_intercept=options.fit_intercept,
        lower_bound=options.proofs,
        random_state=options.seed,
        max_seconds=clock.part(0.9),
        n_jobs=cores(),
    ).fit(X, y)


def _with_errors(cases: list[Case], model: Pocket) -> list[Case]:
    errors, bounds = model.n_errors_, model.certificate_
    each = zip(
        errors if isinstance(errors, list) else [errors],
        bounds if isinstance(bounds, list) else [bounds],
        strict=True,
    )
    return [
        replace(case, errors=int(wrong), bound=proof)
        for case, (wrong, proof) in zip(cases, each, strict=True)
    ]


def _with_recession(
    X: Matrix, y: Labels, cases: list[Case], options: Options
) -> list[Case]:
    """For quasi-separable cases, what becomes of the weights of a logistic regression."""
    return [
        replace(
            case,
            recession=recession(
                as_matrix(X),
                signs_of(y, case.positive, None),
                options.fit_intercept,
                case.verdict.separated_rows,
            ),
        )
        if case.verdict.kind == "quasi-separable"
        else case
        for case in cases
    ]


def _clashes(X: Matrix, codes: Indices) -> list[Indices]:
    from novikoff.geometry.twins import clashes

    signs = np.ones(X.shape[0], dtype=np.int8)
    data = Data(pose(X, signs, True, threads=cores()), SignedRows(as_matrix(X), signs, True))
    try:
        return list(clashes(data, codes))
    finally:
        data.close()

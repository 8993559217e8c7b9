"""The steps of a study, and what each of them finds."""

from __future__ import annotations

import hashlib
import os
import time
import warnings
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.blocks import Blocks, CodedBlocks
from novikoff.core.problem import pose
from novikoff.core.rows import Floats, Indices, SparseMatrix, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.error_bound import ErrorBound
from novikoff.geometry.margin import Interval
from novikoff.geometry.passes import Data, cores
from novikoff.geometry.recession import Recession, recession
from novikoff.geometry.separability import Verdict, separate
from novikoff.geometry.table import Label, SignedRows, as_matrix, digest, plain_label, signs_of
from novikoff.geometry.twins import clashes
from novikoff.learners.perceptron import Perceptron
from novikoff.learners.pocket import Pocket

Matrix: TypeAlias = "Floats | SparseMatrix"
Labels: TypeAlias = npt.NDArray[np.generic]
# Called with what is being done, and the interval for the margin once there is one.
Progress: TypeAlias = Callable[[str, Interval | None], None]

# The perceptron looks at so many entries of X, in at least and at most so many epochs.
_ENTRIES, _LEAST, _MOST = 1_000_000_000, 20, 1000
# The label of all classes but the positive one; it comes before others, as the negative does.
REST = "(rest)"
# Vectors of all weights that are in use at once, about.
_RULES = 16
# Up to so many classes are also told apart pair by pair.
_MOST_PAIRED = 30


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
    average : bool
        Whether the perceptron predicts with the average of its weights. It may err on data that
        its last weights separate: so this is for studies without a verdict.
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
    average: bool = False
    proofs: bool = True

    @property
    def rule(self) -> str:
        """What the perceptron predicts with."""
        return "average" if self.average else "perceptron"


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


def fingerprint(X: Matrix, codes: Indices) -> str:
    """SHA-256 of the rows, the same for dense and sparse storage, and of the class of each."""
    rows = digest(as_matrix(X), np.ones(X.shape[0], dtype=np.int8))
    return hashlib.sha256(rows.encode() + codes.astype("<i8").tobytes()).hexdigest()


class Clock:
    """The budget, shared by the steps."""

    def __init__(self, seconds: float | None) -> None:
        self.end = None if seconds is None else time.monotonic() + seconds

    def part(self, share: float) -> float | None:
        """A share of the seconds that are left, never quite none."""
        return None if self.end is None else max(0.01, share * (self.end - time.monotonic()))

    @property
    def over(self) -> bool:
        """Whether nothing is left of it."""
        return self.end is not None and time.monotonic() >= self.end

    def limits(self) -> Limits:
        """All that is left of it."""
        return Limits(seconds=None if self.end is None else max(0.0, self.end - time.monotonic()))


def check_width(n_features: int) -> None:
    """Raise ValueError if there are so many features that the rules alone would fill the memory.

    The system would not say so, but end the program: a single wrong index is enough.
    """
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not every system tells
        return
    if 8 * n_features * _RULES > memory:
        raise ValueError(
            f"it has {n_features:,} features, and rules of so many weights do not fit into memory."
        )


def one_against_rest(y: Labels, positive: Hashable) -> Labels:
    """With a positive class among several: its label, and a smaller one for all others."""
    if positive is None:
        return y
    chosen = y == np.asarray(positive)
    if not np.any(chosen):
        raise ValueError(f"No row has the label {positive!r}, which was to be positive.")
    if len(np.unique(y)) <= 2:
        return y
    return np.where(chosen, check_rest(positive), REST)


def check_rest(positive: object) -> str:
    """The name of a positive class beside the rest, which must come before it."""
    name = str(positive)
    if not name > REST:
        raise ValueError(f"The label {name!r} cannot be told from {REST!r}: rename it.")
    return name


def decide(
    X: Matrix | Blocks,
    y: Labels | None,
    classes: list[Label],
    options: Options,
    clock: Clock,
    tell: Progress,
) -> list[Case]:
    """The verdict on each class that is asked about."""
    asked = classes if len(classes) > 2 else classes[-1:]
    if options.positive is not None:
        asked = [plain_label(options.positive)]
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


def run_perceptron(
    X: Matrix | CodedBlocks, y: Labels | None, options: Options, seconds: float | None
) -> tuple[Perceptron, Run]:
    """The perceptron from zero weights, within its epochs."""
    size = max(1, _entries(X))
    epochs = options.epochs or int(np.clip(_ENTRIES // size, _LEAST, _MOST))
    began = time.perf_counter()
    model = _perceptron(options, epochs, seconds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the report says so itself
        model.fit(X, y)
    took = time.perf_counter() - began
    return model, Run(model.converged_, model.n_mistakes_, model.n_iter_, took)


def _entries(X: Matrix | CodedBlocks) -> int:
    """How many numbers a pass looks at, about."""
    if isinstance(X, CodedBlocks):
        return (X.n_rows or 1) * min(X.n_features, 1000)
    return int(X.size if isinstance(X, np.ndarray) else X.nnz)


def _perceptron(options: Options, epochs: int, seconds: float | None) -> Perceptron:
    return Perceptron(
        fit_intercept=options.fit_intercept,
        order=options.order,
        average="averaged" if options.average else False,
        max_epochs=epochs,
        max_seconds=seconds,
        random_state=options.seed,
        n_jobs=cores(),
    )


def from_verdicts(X: Matrix, y: Labels, cases: list[Case], options: Options) -> Perceptron:
    """The hyperplanes of the largest margin, as a perceptron that starts from them."""
    rules = [weights_of(case) for case in cases]
    model = _perceptron(options, 1000, None)
    coefs, biases = [w[:-1] for w in rules], [w[-1] for w in rules]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y, coef_init=np.array(coefs), intercept_init=np.array(biases))


def weights_of(case: Case) -> Vector:
    """The weights of a separable case and the bias, positive for the larger of two labels."""
    verdict = case.verdict
    if verdict.coef is None or verdict.intercept is None:
        raise ValueError("Without a hyperplane there are no weights.")
    w = np.append(verdict.coef, verdict.intercept)
    size = float(np.abs(w).max())
    w = w / size if size > 0.0 else w
    turned = case.negative is not None and np.unique([case.positive, case.negative])[-1] == (
        np.asarray(case.negative)
    )
    return -w if turned else w


def fill_pocket(X: Matrix, y: Labels, options: Options, clock: Clock) -> Pocket:
    """The rule with the fewest mistakes, and a bound on how few there can be."""
    several = len(np.unique(y)) > 2
    return _pocket(options, clock.part(0.5 if several else 0.9), "ovr", options.proofs).fit(X, y)


def better_of_pairs(X: Matrix, y: Labels, pocket: Pocket, options: Options, clock: Clock) -> Pocket:
    """With several classes, the rule that tells them apart pair by pair, if it errs less.

    Rules against the rest are each the best for their class, but their scores have no
    common scale. Where the budget is used up, they are not tried.
    """
    if not 2 < len(pocket.classes_) <= _MOST_PAIRED or clock.over:
        return pocket
    pairs = _pocket(options, clock.part(0.9), "ovo", False).fit(X, y)
    return min((pocket, pairs), key=lambda model: int((model.predict(X) != y).sum()))


def _pocket(
    options: Options, seconds: float | None, scheme: Literal["ovr", "ovo"], bound: bool
) -> Pocket:
    return Pocket(
        fit_intercept=options.fit_intercept,
        lower_bound=bound,
        multi_class=scheme,
        random_state=options.seed,
        max_seconds=seconds,
        n_jobs=cores(),
    )


def with_errors(cases: list[Case], model: Pocket) -> list[Case]:
    """The cases with the mistakes of their rules and what proves how few there can be."""
    errors, bounds = model.n_errors_, model.certificate_
    each = zip(
        errors if isinstance(errors, list) else [errors],
        bounds if isinstance(bounds, list) else [bounds],
        strict=True,
    )
    return [
        replace(case, errors=int(wrong), bound=_renamed(proof, case))
        for case, (wrong, proof) in zip(cases, each, strict=True)
    ]


def _renamed(proof: ErrorBound, case: Case) -> ErrorBound:
    """The proof in terms of the labels as they were given."""
    if case.negative is not None:
        return proof
    return replace(proof, positive=case.positive, negative=None)


def with_recession(X: Matrix, y: Labels, cases: list[Case], options: Options) -> list[Case]:
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


def find_clashes(X: Matrix, codes: Indices) -> list[Indices]:
    """Groups of identical rows that are not all of one class."""
    signs = np.ones(X.shape[0], dtype=np.int8)
    data = Data(pose(X, signs, True, threads=cores()), SignedRows(as_matrix(X), signs, True))
    try:
        return list(clashes(data, codes))
    finally:
        data.close()

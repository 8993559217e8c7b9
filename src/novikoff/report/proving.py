"""The steps of a study that decide and prove, and those that follow from a verdict."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import replace
from typing import Literal

import numpy as np

from novikoff.core.blocks import Blocks
from novikoff.core.cores import cores
from novikoff.core.problem import pose
from novikoff.core.rows import Indices, Vector
from novikoff.geometry.error_bound import ErrorBound
from novikoff.geometry.margin import Interval
from novikoff.geometry.passes import Data
from novikoff.geometry.recession import recession
from novikoff.geometry.separability import separate
from novikoff.geometry.table import Label, SignedRows, as_matrix, digest, plain_label, signs_of
from novikoff.geometry.twins import clashes
from novikoff.learners.perceptron import Perceptron
from novikoff.learners.pocket import Pocket
from novikoff.report.steps import Case, Clock, Labels, Matrix, Options, Progress, perceptron_of

# Up to so many classes are also told apart pair by pair.
_MOST_PAIRED = 30


def fingerprint(X: Matrix, codes: Indices) -> str:
    """SHA-256 of the rows, the same for dense and sparse storage, and of the class of each."""
    rows = digest(as_matrix(X), np.ones(X.shape[0], dtype=np.int8))
    return hashlib.sha256(rows.encode() + codes.astype("<i8").tobytes()).hexdigest()


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


def from_verdicts(X: Matrix, y: Labels, cases: list[Case], options: Options) -> Perceptron:
    """The hyperplanes of the largest margin, as a perceptron that starts from them."""
    rules = [weights_of(case) for case in cases]
    model = perceptron_of(options, 1000, None)
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

"""The main job: decide, learn, fall back on the rule with the fewest mistakes.

1. Each class against the rest (or the one against the other): is it separable? With proof.
2. If all are: the perceptron. Where it is not clean within its epochs, it goes on from the
   hyperplanes of the largest margin, and is clean at once.
3. If not: the pocket, with a proved bound on how much better any rule could be.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from novikoff.core.rows import Indices
from novikoff.geometry.table import Label, plain_label
from novikoff.learners.inputs import numbered
from novikoff.learners.perceptron import Perceptron
from novikoff.report.steps import (
    Case,
    Clock,
    Labels,
    Matrix,
    Options,
    Progress,
    Run,
    check_width,
    one_against_rest,
    run_perceptron,
)

if TYPE_CHECKING:
    from novikoff.geometry.certificate import Certificate
    from novikoff.geometry.error_bound import ErrorBound
    from novikoff.learners.pocket import Pocket


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
        "perceptron", "average", "largest margin" or "fewest mistakes".
    confusion : array of int
        Rows of each class (down) that the model gives to each class (across).
    clashes : list of arrays
        Identical rows with different labels.
    sha256 : str
        The digest of rows and classes.
    y : array
        The labels: as they were given, or the positive one and another for the rest.
    options : Options
        How it was made.
    unsought : str
        Why identical rows with different labels were not looked for, where that is so.
    """

    classes: list[Label]
    counts: Indices
    cases: list[Case]
    run: Run | None
    model: Perceptron | Pocket
    rule: str
    confusion: Indices
    clashes: list[Indices]
    sha256: str
    y: Labels
    options: Options
    unsought: str = ""

    @property
    def proofs(self) -> list[Certificate | ErrorBound]:
        """The certificates of all verdicts, then of all lower bounds above zero."""
        verdicts = [case.verdict.certificate for case in self.cases]
        bounds = [case.bound if case.least_errors else None for case in self.cases]
        return [proof for proof in (*verdicts, *bounds) if proof is not None]

    @property
    def errors(self) -> int:
        """The rows that the model gets wrong; for two classes, also those on the hyperplane."""
        return self.misnamed + self.on_hyperplane

    @property
    def misnamed(self) -> int:
        """The rows to which the model gives another label."""
        return int(self.confusion.sum() - np.trace(self.confusion))

    @property
    def on_hyperplane(self) -> int:
        """The rows of two classes that get their label by the tie alone: f(x) = 0 is negative."""
        if len(self.cases) != 1 or self.cases[0].errors is None:
            return 0
        return max(0, self.cases[0].errors - self.misnamed)

    @property
    def kinds(self) -> list[str]:
        """The kind of each case."""
        return [case.verdict.kind for case in self.cases]


def study(
    X: Matrix,
    y: Labels,
    options: Options = Options(),  # noqa: B008 — frozen
    progress: Progress | None = None,
    names: Sequence[str] | None = None,
) -> Study:
    """Decide, learn and count.

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
    names : sequence of str, optional
        The names of the columns, for the model.

    Examples
    --------
    >>> found = study(np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0]))
    >>> found.kinds, found.rule, found.errors, found.cases[0].least_errors
    (['inseparable'], 'fewest mistakes', 1, 1)
    """
    tell = progress or (lambda step, interval: None)
    check_width(X.shape[1])
    given, y = y, one_against_rest(y, options.positive)
    labels, codes = numbered(y)
    classes: list[Label] = [plain_label(label) for label in labels.tolist()]
    if len(classes) < 2:
        raise ValueError(f"All rows have the label {classes[0]!r}: two classes are needed.")
    clock = Clock(options.budget)
    with ThreadPoolExecutor(1) as beside:
        cases: list[Case] = []
        sha256 = clashes = None
        if options.verdict:
            from novikoff.report import proving

            if options.proofs:
                sha256 = beside.submit(proving.fingerprint, X, codes)
            every: list[Label] = [plain_label(label) for label in np.unique(given).tolist()]
            cases = proving.decide(X, given, every, options, clock, tell)
            if options.proofs and imperfect(cases):
                clashes = beside.submit(proving.find_clashes, X, codes)
        learned = _learn(X, y, cases, options, clock, tell)
        tell("report", None)
        predicted = np.searchsorted(labels, learned.model.predict(X))
        pairs = np.bincount(codes * len(labels) + predicted, minlength=len(labels) ** 2)
        cases = learned.cases
        if cases and options.proofs:
            cases = proving.with_recession(X, given, cases, options)
        if names is not None:
            learned.model.feature_names_in_ = np.array(list(names), dtype=object)
        return Study(
            classes=classes,
            counts=np.bincount(codes),
            cases=cases,
            run=learned.run,
            model=learned.model,
            rule=learned.rule,
            confusion=pairs.reshape(len(labels), len(labels)),
            clashes=[] if clashes is None else clashes.result(),
            sha256="" if sha256 is None else sha256.result(),
            y=y,
            options=options,
        )


@dataclass(frozen=True)
class Learned:
    """The rule that was learned, and how."""

    model: Perceptron | Pocket
    rule: str
    run: Run | None
    cases: list[Case]


def _learn(
    X: Matrix, y: Labels, cases: list[Case], options: Options, clock: Clock, tell: Progress
) -> Learned:
    """The perceptron where a perfect rule may exist; else, or if it fails, what is better."""
    run = None
    if not imperfect(cases):
        tell("perceptron", None)
        perceptron, run = run_perceptron(X, y, options, clock.part(0.5))
        if run.clean or not cases:
            return Learned(perceptron, options.rule, run, cases)
    from novikoff.report import proving

    if all(case.verdict.kind == "separable" for case in cases):
        return Learned(proving.from_verdicts(X, y, cases, options), "largest margin", run, cases)
    tell("pocket", None)
    pocket = proving.fill_pocket(X, y, options, clock)
    model = proving.better_of_pairs(X, y, pocket, options, clock)
    return Learned(model, "fewest mistakes", run, proving.with_errors(cases, pocket))


def imperfect(cases: list[Case]) -> bool:
    """Whether it is proved that no rule is perfect."""
    return any(case.verdict.kind in ("quasi-separable", "inseparable") for case in cases)

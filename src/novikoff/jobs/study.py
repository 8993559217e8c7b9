"""The main job: decide separability, learn, or find the rule with the fewest mistakes.

1. Decide each class against the rest (or one of two classes against the other), with proof.
2. If all verdicts are "separable", the perceptron runs on standardised features, to show the
   convergence theorem. Its rule is mapped back to the original features, and the signs of all rows
   are proved there. The model is the hyperplane of the largest margin, which usually misclassifies
   fewer unseen rows. It is the perceptron's rule if the options ask for it, the run is clean, and
   the rule classifies every row correctly on the original features.
3. Otherwise the pocket algorithm finds a rule with few mistakes, and a lower bound on the mistakes
   of every rule is proved.

The rows are arrays in memory or on disk (`ArrayTask`) or on a cluster (`ClusterTask`). Arrays are
checked, coded and hashed once.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, cast

import numpy as np

from novikoff.core.class_labels import (
    CodedLabels,
    Label,
    Sides,
    check_labels,
    code_labels,
    plain_label,
    side_labels,
)
from novikoff.core.model import LinearModel, evaluate
from novikoff.core.orders import Greedy, Order, named
from novikoff.core.problem import Rows
from novikoff.core.rows import Indices, Signs, Vector, n_stored
from novikoff.core.stops import Limits
from novikoff.core.validation import Columns, check_matrix
from novikoff.jobs.study_cluster import ClusterTask
from novikoff.jobs.study_records import (
    Case,
    EachRow,
    PerceptronRun,
    RuleName,
    Study,
    StudyOptions,
    StudyProgress,
)
from novikoff.jobs.study_tasks import StudyClasses, StudyTask
from novikoff.proofs.digest import MatrixDigest
from novikoff.proofs.remote import RemoteRows
from novikoff.sentences import least_mistakes

if TYPE_CHECKING:
    from novikoff.cluster import ClusterRows
    from novikoff.core.fitting import Fit
    from novikoff.geometry.descent import Basis
    from novikoff.geometry.margin import Interval
    from novikoff.geometry.scheme_rules import FoundRules
    from novikoff.geometry.verdict import Verdict
    from novikoff.jobs.study_records import FoundRule
    from novikoff.proofs.error_bound import ErrorBound

_DEFAULT_OPTIONS = StudyOptions()
# One-vs-one rules are tried for at most this many classes, if X has at most this many entries.
MAX_PAIRED_CLASSES, MAX_PAIRED_ENTRIES = 30, 1 << 25
POCKET_UPDATES = 10_000
# A study keeps about this many weight vectors in memory at the same time, at most.
_RULES_IN_MEMORY = 16
# The limit on the work of a run without --epochs (about two seconds on a common machine), and the
# work of each epoch, of each row of an epoch, and of each entry of a row. The work is counted, not
# timed, so that the same data and seed give the same bits.
WORK, WORK_OF_EPOCH, WORK_OF_ROW, WORK_OF_ENTRY = 1_200_000_000, 20_000, 50, 3
MIN_EPOCHS = 20


def study(
    X: object,
    y: object = None,
    options: StudyOptions = _DEFAULT_OPTIONS,
    progress: StudyProgress | None = None,
    *,
    columns: Columns | None = None,
) -> Study:
    """Decide separability, learn a rule, and count its mistakes.

    Parameters
    ----------
    X, y
        The rows, an array or a CSR matrix that may be memory-mapped, and their labels, which may
        be `CodedLabels`, of two classes or more. Or rows of a cluster, which include their labels.
    options : StudyOptions
        The options of the study.
    progress : callable, optional
        Called with the name of each step, and with the interval that contains the margin.
    columns : Columns, optional
        The names of the columns of X.

    Examples
    --------
    >>> result = study(np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0]))
    >>> result.kinds, result.rule, result.mistakes, result.cases[0].least_mistakes
    (['inseparable'], 'fewest mistakes', 1, 1)
    """
    announce = progress or _ignore
    clock = Limits(seconds=options.budget)
    task: StudyTask
    if isinstance(X, RemoteRows):
        task = ClusterTask.of(cast("ClusterRows", X), options, clock, announce)
    else:
        task = ArrayTask.of(X, y, columns, options, clock, announce)

    cases = _decide(task) if options.verdict else []
    kinds = {case.verdict.kind for case in cases}
    separable, imperfect = kinds == {"separable"}, bool(kinds & {"quasi-separable", "inseparable"})
    by_margin = separable and options.model == "margin"

    rule: RuleName
    fit = run = None
    if isinstance(task, ArrayTask) and not imperfect and (options.proofs or not by_margin):
        fit, run = run_perceptron(task, decided=bool(cases))
        if options.scale == "standard" and options.proofs:
            cases = [task.with_scaled(fit.rows, case) for case in cases]

    pocket: list[FoundRule] = []
    separates = run is not None and run.separates_original
    if fit is not None and not by_margin and (not cases or separates):
        rule = "average" if options.average else "perceptron"
        model = fit.model
    elif separable:
        rule = "largest margin"
        model = task.model(_largest_margins(task, cases))
    else:
        rule = "fewest mistakes"
        model, pocket, cases = task.fewest_mistakes(cases)

    clock.raise_if_interrupted()
    announce("writing the report")
    rows_of_run = None if fit is None else fit.rows
    confusion, margins, each_row = task.count(model, rows_of_run, duplicates=imperfect)
    return Study(
        options=options,
        labels=task.classes.data_labels,
        classes=[plain_label(value) for value in task.classes.labels.tolist()],
        cases=cases,
        run=run,
        rule=rule,
        model=model,
        pocket=pocket,
        confusion=confusion,
        margins=margins,
        each_row=each_row,
        loading=task.clock.paused_seconds,
    )


def _ignore(step: str, interval: Interval | None = None, /) -> None:
    """Show no progress."""


def _decide(task: StudyTask) -> list[Case]:
    """Decide each comparison of the task."""
    comparisons = task.classes.cases
    phase = task.clock.part(0.6)
    cases = []
    for k, sides in enumerate(comparisons):
        step = f"verdict for {sides[0]}" if len(comparisons) > 1 else "verdict"
        task.announce(step)
        limits = phase.part(1.0 / (len(comparisons) - k))
        verdict = task.decide(sides, limits, partial(task.announce, step))
        cases.append(Case(*sides, verdict))
    return cases


def _largest_margins(task: StudyTask, cases: list[Case]) -> Vector:
    """The weights of the hyperplanes of the largest margin, with a free bias if it is known.

    If one of these hyperplanes, rounded to floats, does not separate the rows, the hyperplanes of
    the verdicts are returned instead, whose signs are proved.
    """
    from novikoff.geometry.margin import largest_margin, separator

    rules = []
    for case in cases:
        widest = largest_margin(case.verdict, free_bias=True)
        widest = widest or largest_margin(case.verdict, free_bias=False)
        rules.append(case.for_model(separator(case.verdict) if widest is None else widest.w))
    W = np.column_stack(rules)
    if np.isfinite(W).all() and task.separated_by(W):
        return W
    return np.column_stack([case.for_model(separator(case.verdict)) for case in cases])


@dataclass(frozen=True)
class ArrayTask(StudyTask):
    """A study of arrays.

    Attributes
    ----------
    rows : Rows
        The original rows.
    given, codes : array of int
        The label of each row, and its class in the model, as numbers.
    columns : Columns
        The names of the columns.
    digest : MatrixDigest or None
        The digest of X; None without a verdict.
    """

    rows: Rows
    given: Indices
    codes: Indices
    columns: Columns
    digest: MatrixDigest | None

    @classmethod
    def of(
        cls, X: object, y: object, columns: Columns | None, options: StudyOptions, clock: Limits,
        announce: StudyProgress,
    ) -> ArrayTask:  # fmt: skip
        """Check the rows, code their labels unless they are coded already, and hash the rows."""
        matrix = check_matrix(X)
        coded = y if isinstance(y, CodedLabels) else code_labels(check_labels(y))
        check_width(matrix.shape[1])
        classes = StudyClasses.of(coded.classes, options.positive)
        names = None if columns is None else columns.names
        rows = Rows.of(matrix, options.fit_intercept, names=names)
        digest = None
        if options.verdict:
            with clock.paused():  # the time of imports does not count
                from novikoff.geometry import separability  # noqa: F401

                digest = MatrixDigest.of(matrix)
        return cls(
            classes, options, clock, announce,
            rows=rows,
            given=coded.codes,
            codes=classes.codes[coded.codes],
            columns=columns or Columns(range(matrix.shape[1])),
            digest=digest,
        )  # fmt: skip

    @property
    def size(self) -> int:
        """The number of entries of X; of a sparse X, the number of stored entries."""
        return max(1, n_stored(self.rows.X))

    def signs(self, positive: Label) -> Signs:
        """+1 for the rows with this label, −1 for all others."""
        is_positive = self.given == self.classes.data_labels.index(positive)
        return np.where(is_positive, 1, -1).astype(np.int8)

    def decide(self, sides: Sides, limits: Limits, progress: Callable[[Interval], None]) -> Verdict:
        """Decide one comparison. A single comparison also gets the logistic coefficients."""
        from novikoff.geometry.separability import find_verdict
        from novikoff.geometry.verdict import VerdictData, with_estimates

        problem = self.rows.with_signs(self.signs(sides[0]))
        verdict = find_verdict(problem, sides, limits=limits, progress=progress, digest=self.digest)
        if self.options.proofs and len(self.classes.cases) == 1:
            verdict = replace(verdict, data=VerdictData(problem, self.columns))
            verdict = with_estimates(verdict, limits.part(0.1).apart())
        return verdict

    def with_scaled(self, scaled: Rows, case: Case) -> Case:
        """Add the verdict on the standardised rows, whose margin is known to a thousandth.

        It has no certificate, because only its margin, radius and mistake bound are reported.
        """
        if case.verdict.kind != "separable":
            return case
        from novikoff.geometry.separability import find_verdict

        problem = scaled.with_signs(self.signs(case.positive))
        sides = case.positive, case.negative
        limits = self.clock.part(0.5)
        verdict = find_verdict(problem, sides, tol=1e-3, limits=limits, certificate=False)
        return replace(case, scaled=verdict)

    def separated_by(self, W: Vector) -> bool:
        """Whether every rule, proved, has each original row strictly on its correct side."""
        from novikoff.geometry.passes import prove_signs

        sides, codes = self.classes.scheme.sides, self.codes
        return bool(np.isfinite(W).all()) and all(
            prove_signs(self.rows.with_signs(sides[codes, k]), W[:, k]) for k in range(W.shape[1])
        )

    def fewest_mistakes(self, cases: list[Case]) -> tuple[LinearModel, list[FoundRule], list[Case]]:
        """Find the model with the fewest mistakes; return it, its rules, and cases with bounds.

        With several classes, one-vs-one rules are tried too. Each one-vs-rest rule is the best rule
        for its class, but the scores of these rules have no common scale.
        """
        self.announce("loading")
        with self.clock.paused():
            from novikoff.core.pocket import compile_pocket_loop
            from novikoff.geometry import scheme_rules  # noqa: F401 — imported before the clock
            from novikoff.geometry.descent import whitening
        with self.clock.paused():
            compile_pocket_loop(self.rows)
        n_classes, seed = len(self.classes.labels), self.options.seed
        basis = cache(lambda: whitening(self.rows, np.random.default_rng(seed)))
        paired = 2 < n_classes <= MAX_PAIRED_CLASSES and self.size <= MAX_PAIRED_ENTRIES
        proofs = self.options.proofs
        limits = self.clock.part(0.5 if paired else 0.9)
        rules = self._rules("ovr", basis, limits, proved=proofs)
        if proofs:
            cases = [
                replace(case, mistakes=int(best.mistakes), bound=_renamed(best.proof, case))
                for case, best in zip(cases, rules.alone, strict=True)
            ]
        if paired and self.clock.reached() is None:
            other = self._rules("ovo", basis, self.clock.part(0.9), proved=False)
            if self._mistakes(other.model) < self._mistakes(rules.model):
                rules = other
        return rules.model, [*rules.together], cases

    def _rules(
        self, kind: str, basis: Callable[[], Basis], limits: Limits, *, proved: bool
    ) -> FoundRules:
        """Find the rules of a scheme with few mistakes, and report the progress of each search."""
        from novikoff.geometry.scheme_rules import find_rules

        options, labels = self.options, self.classes.labels
        model = LinearModel(labels, self.rows.d, options.fit_intercept, multi_class=kind)
        limits = replace(limits, updates=POCKET_UPDATES)

        def begin(rule: int) -> Callable[[float, float], None]:
            positive, negative = side_labels(model.scheme, labels, rule)
            step = "fewest mistakes"
            if model.n_rules > 1:
                step += f" of {positive} against {'the rest' if negative is None else negative}"
            self.announce(step)
            return partial(self._announce_mistakes, step)

        return find_rules(
            self.rows,
            self.codes,
            model,
            lower_bound=proved,
            limits=limits,
            seed=options.seed,
            digest=self.digest,
            basis=basis,
            begin=begin,
        )

    def _announce_mistakes(self, step: str, cost: float, bound: float) -> None:
        least = f", {least_mistakes('hyperplane', math.ceil(bound))}" if bound > 0.0 else ""
        self.announce(f"{step}: {cost:,.0f} so far{least}")

    def _mistakes(self, model: LinearModel) -> int:
        chosen = model.scheme.choose(model.scores(self.rows.X))
        return int(np.count_nonzero(chosen != self.codes))

    def count(
        self, model: LinearModel, rows_of_run: Rows | None, *, duplicates: bool
    ) -> tuple[Indices, list[float], EachRow]:
        """Return the confusion matrix, the margin of each rule, and the results for each row.

        ``rows_of_run`` are the rows that the perceptron saw, None if it did not run. If
        ``duplicates``, identical rows with different labels are searched for.
        """
        evaluation = evaluate(model, self.rows.X, self.codes)
        groups = list[Indices]()
        rows_of_run = self.rows if rows_of_run is None else rows_of_run
        if self.options.proofs and duplicates:
            from novikoff.geometry.duplicates import conflicting_duplicates

            groups = list(conflicting_duplicates(self.rows, self.codes))
        separable_without = False
        if model.n_rules == 1 and (evaluation.predicted != self.codes).any():
            from novikoff.geometry.passes import prove_signs

            relabelled = self.rows.with_signs(model.sides[evaluation.predicted, 0])
            separable_without = prove_signs(relabelled, model.W[:, 0])
        each_row = EachRow(
            rows_of_run,
            self.codes,
            evaluation.predicted,
            evaluation.distances,
            groups,
            separable_without,
        )
        return evaluation.confusion, evaluation.margins.tolist(), each_row


def _renamed(proof: ErrorBound, case: Case) -> ErrorBound:
    """The proof in terms of the labels of the data."""
    if case.negative is not None:
        return proof
    return replace(proof, positive=case.positive, negative=None)


def check_width(n_features: int) -> None:
    """Raise ValueError if there are so many features that the weights alone would fill the memory.

    One wrong index in a sparse file can cause this, and the system would then kill the process.
    """
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # this system does not report its memory
        return
    if 8 * n_features * _RULES_IN_MEMORY > memory:
        raise ValueError(
            f"it has {n_features:,} features, and rules of so many weights do not fit into memory."
        )


def run_perceptron(task: ArrayTask, *, decided: bool) -> tuple[Fit[LinearModel], PerceptronRun]:
    """Run the perceptron on the rows of a study; its rule is mapped to the original features.

    If the verdict is ``decided``, ``separates_original`` is proved.
    """
    options, clock = task.options, task.clock
    task.announce("loading")
    with clock.paused():
        from novikoff.core import updates
        from novikoff.core.fitting import fit_model
        from novikoff.core.runs import Plan
        from novikoff.geometry.passes import cores

    began, stopped = time.perf_counter(), clock.paused_seconds
    rows, order = task.rows, named(options.order)
    model = LinearModel(
        task.classes.labels, rows.d, options.fit_intercept, averages=options.average
    )
    with clock.paused():
        model.load(rows, order)
    task.announce("perceptron")  # notices a Ctrl-C that the compiler ignored
    epochs, updates_at_most = affordable_work(options, order, rows.n, task.size * model.n_rules)
    limits = replace(clock.part(0.5), epochs=epochs, updates=updates_at_most)
    plan = Plan(
        update=updates.perceptron(),
        order=order,
        limits=limits,
        seed=options.seed,
        average=options.average,
        threads=cores(),
    )
    standardised = options.scale == "standard"
    fit = fit_model(model, rows, task.codes, plan, standardised=standardised)
    seconds = time.perf_counter() - began - (clock.paused_seconds - stopped)
    separates = fit.separates_original and (not decided or task.separated_by(fit.model.W))
    return fit, PerceptronRun(
        converged=fit.run.converged,
        separates_original=separates,
        mistakes=fit.model.n_mistakes,
        epochs=fit.run.epochs,
        seconds=seconds,
        scale=options.scale,
        max_epochs=limits.epochs,
        max_updates=limits.updates,
        period=next(filter(None, fit.run.periods), None),
    )


def affordable_work(
    options: StudyOptions, order: Order, n: int, entries: int
) -> tuple[int, int | None]:
    """Return the limits on epochs and updates: as asked for, or about two seconds of work.

    If the order looks at all rows before each update, updates are limited too.
    """
    if options.epochs is not None:
        return options.epochs, None
    cycle = n * WORK_OF_ROW + entries * WORK_OF_ENTRY
    updates = WORK // cycle + MIN_EPOCHS if isinstance(order, Greedy) else None
    return max(MIN_EPOCHS, WORK // (WORK_OF_EPOCH + cycle)), updates

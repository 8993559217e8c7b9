"""The main job: decide, learn, fall back on the rule with the fewest mistakes.

1. Each class against the rest (or the one against the other): is it separable? With proof.
2. If all are: the perceptron, on standardised features, to show the theorem. Its rule is mapped
   back to the features as given, and its signs are proved there. The model is the hyperplane of
   the largest margin, which errs less on unseen rows; or the perceptron's, if that is asked for,
   it is clean within its epochs and survives the way back.
3. If not: the pocket, with a proved bound on how much better any rule could be.

The rows are arrays, which are checked, coded and hashed once; or they are on a cluster, where no
perceptron runs and nothing is told of single rows, but for those that carry a proof.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from novikoff.core.linear_model import LinearModel, evaluate
from novikoff.core.model import Labels
from novikoff.core.problem import Problem, pose
from novikoff.core.rows import Indices, Vector
from novikoff.core.scaling import train_standardised
from novikoff.core.schemes import Scheme, scheme_for, sides_of
from novikoff.core.stops import Limits
from novikoff.core.validation import (
    Columns,
    Label,
    check_labels,
    check_matrix,
    code_labels,
    plain_label,
)
from novikoff.proofs.remote import RemoteRows

if TYPE_CHECKING:
    from novikoff.cluster import Rows
    from novikoff.cluster.pocket import CountedRule
    from novikoff.core.orders import Order
    from novikoff.geometry.descent import Basis
    from novikoff.geometry.fewest_mistakes import FewestMistakes, FoundRules
    from novikoff.geometry.margin import Interval
    from novikoff.geometry.separability import Verdict
    from novikoff.proofs.certificate import Certificate
    from novikoff.proofs.checker import GeometricMargin
    from novikoff.proofs.digest import MatrixDigest
    from novikoff.proofs.error_bound import ErrorBound

    Pocketed: TypeAlias = FewestMistakes | CountedRule

# The labels of the positive and of the negative side; None is the rest.
Sides: TypeAlias = tuple[Label, Label | None]
# Called with the step that begins, and the interval for the margin once there is one.
StudyProgress: TypeAlias = "Callable[[str, Interval | None], None]"
# Makes a context in which kernels are loaded and compiled.
Loading: TypeAlias = Callable[[], contextlib.AbstractContextManager[object]]

# The perceptron's work without --epochs: about two seconds on a common machine. It is counted, not
# timed, so that the same data and seed give the same bits: this much for each epoch, row and entry.
WORK, WORK_OF_EPOCH, WORK_OF_ROW, WORK_OF_ENTRY = 1_200_000_000, 20_000, 50, 3
MIN_EPOCHS = 20
# Up to this many classes are also told apart pair by pair, where X has no more entries than this.
MAX_PAIRED_CLASSES, MAX_PAIRED_ENTRIES = 30, 1 << 25
POCKET_UPDATES = 10_000
_RULES_IN_MEMORY = 16  # at the same time, about
# The label of all classes but the positive one; it sorts before others, as the negative does.
REST = "(rest)"


@dataclass(frozen=True)
class Options:
    """How a study is made."""

    fit_intercept: bool = True
    positive: Hashable = None  # a label: this class against all others
    order: str = "permuted"  # of the perceptron, as are epochs, seed, average and scale
    epochs: int | None = None  # None: about two seconds
    seed: int = 0
    budget: float | None = None  # seconds, loading and compiling not counted
    verdict: bool = True  # else only the perceptron runs
    average: bool = False  # the model is the average of its weights, which may err needlessly
    proofs: bool = True  # beside the model: the margin, the lower bound on mistakes and the like
    # Features of mean 0 and variance 1, or as given.
    scale: Literal["standard", "none"] = "standard"
    model: Literal["margin", "perceptron"] = "margin"  # of separable data


_DEFAULT = Options()


@dataclass(frozen=True)
class Case:
    """One class against another, or against the rest (``negative`` is None)."""

    positive: Label
    negative: Label | None
    verdict: Verdict
    errors: int | None = None
    bound: ErrorBound | None = None
    scaled: Verdict | None = None  # on the standardised features, which the perceptron sees

    @property
    def least_errors(self) -> int | None:
        """No hyperplane makes fewer mistakes: proved."""
        return None if self.bound is None else int(self.bound.bound)

    @property
    def gap(self) -> GeometricMargin | None:
        """The hyperplane of the largest margin with a free bias, if it is known."""
        proof = self.verdict.certificate
        return None if proof is None else proof.geometric_margin

    def turned(self, w: Vector) -> Vector:
        """Weights of this case for the model's positive class: the later one of two."""
        if self.negative is None:
            return w
        larger = np.unique(np.array([self.positive, self.negative]))[-1]
        return w if larger == np.asarray(self.positive) else -w


@dataclass(frozen=True)
class PerceptronRun:
    """The perceptron's run; ``returned`` is False if its rule fails on the features as given."""

    clean: bool
    mistakes: int
    epochs: int
    seconds: float
    scale: str
    max_epochs: int | None  # the limits of the run
    max_updates: int | None
    returned: bool = True
    period: int | None = None  # epochs after which the weights of a rule repeat for ever: proved


@dataclass(frozen=True)
class EachRow:
    """What is known of every single row of arrays."""

    problem: Problem  # the rows that the perceptron saw, signed for two classes
    codes: Indices  # the class
    predicted: Indices  # the class that the model gives
    distances: Vector  # how far it is on its label's side of the rule that it is worst at
    duplicates: list[Indices]  # identical rows with different labels

    @property
    def wrong(self) -> Indices:
        """The rows to which the model gives another label, the farthest on the wrong side first."""
        rows = np.flatnonzero(self.predicted != self.codes)
        return rows[np.argsort(self.distances[rows], kind="stable")]


@dataclass(frozen=True)
class Study:
    """All that was found; made by `study`."""

    options: Options
    labels: list[Label]  # as they were given
    classes: list[Label]  # the labels of the model: those given, or the positive one and the rest
    cases: list[Case]  # one for two classes, else one for each; empty without a verdict
    run: PerceptronRun | None  # the perceptron from zero; None where no rule is perfect
    rule: str  # "perceptron", "average", "largest margin" or "fewest mistakes"
    model: LinearModel  # the best rule found, for the features as given
    pocket: list[Pocketed]  # how each rule of a model of fewest mistakes came about
    confusion: Indices  # rows of each class (down) that the model gives to each class (across)
    margins: list[float]  # the distance of the nearest row to each rule, below 0 if it errs
    each_row: EachRow | None  # None where rows are on a cluster
    sha256: str = ""  # the digest of rows and classes
    loading: float = 0.0  # seconds spent on loading and compiling

    @property
    def proofs(self) -> list[Certificate | ErrorBound]:
        """The certificates of all verdicts, then of all lower bounds above zero."""
        verdicts = [case.verdict.certificate for case in self.cases]
        bounds = [case.bound if case.least_errors else None for case in self.cases]
        return [proof for proof in (*verdicts, *bounds) if proof is not None]

    @property
    def errors(self) -> int:
        """The rows to which the model gives another label; f(x) = 0 is the negative class."""
        return int(self.confusion.sum() - np.trace(self.confusion))

    @property
    def kinds(self) -> list[str]:
        """The kind of each case."""
        return [case.verdict.kind for case in self.cases]

    @property
    def multipliers(self) -> dict[int, float]:
        """The λ of rows that carry a margin or a contradiction, as shares of the sum of all λ.

        Of several classes, the largest share.
        """
        shares = dict[int, float]()
        for case in self.cases:
            proof, gap = case.verdict.certificate, case.gap
            weights = {} if proof is None else proof.multipliers
            if gap is not None:
                weights = dict(zip(gap.rows, gap.multipliers, strict=True))
            whole = sum(weights.values())
            for row, weight in weights.items():
                shares[row] = max(shares.get(row, 0.0), float(weight / whole))
        return shares


def study(
    X: object,
    y: object = None,
    options: Options = _DEFAULT,
    progress: StudyProgress | None = None,
    *,
    columns: Columns | None = None,
    loading: Loading = contextlib.nullcontext,
) -> Study:
    """Decide, learn and count.

    ``X`` is an array or a CSR matrix, perhaps memory-mapped, whose ``columns`` have names, and
    ``y`` has two classes or more; or X is rows of a cluster, which have their labels with them.
    ``progress`` hears the name of each step, and the interval for the margin.

    Examples
    --------
    >>> found = study(np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0]))
    >>> found.kinds, found.rule, found.errors, found.cases[0].least_errors
    (['inseparable'], 'fewest mistakes', 1, 1)
    """
    tell = progress or (lambda step, interval: None)
    how = options, Limits(seconds=options.budget), tell, loading
    task: _Task
    if isinstance(X, RemoteRows):
        task = _OnCluster.of(cast("Rows", X), *how)
    else:
        task = _OfArrays.of(X, y, columns, *how)

    cases = _decide(task) if options.verdict else []
    kinds = {case.verdict.kind for case in cases}
    separable, imperfect = kinds == {"separable"}, bool(kinds & {"quasi-separable", "inseparable"})
    by_margin = separable and options.model == "margin"

    trained = None
    if isinstance(task, _OfArrays) and not imperfect and (options.proofs or not by_margin):
        trained = _run_perceptron(task, decided=bool(cases))
        if options.scale == "standard" and options.proofs:
            cases = [_with_scaled(task, trained.problem, case) for case in cases]

    pocket: list[Pocketed] = []
    if trained is not None and not by_margin and (not cases or trained.perfect):
        rule, model = "average" if options.average else "perceptron", trained.model
    elif separable:
        rule, model = "largest margin", task.model(_widest(task, cases))
    else:
        rule, (model, pocket, cases) = "fewest mistakes", task.fewest_mistakes(cases)

    tell("writing the report", None)
    confusion, margins, each_row = task.count(model, trained, duplicates=imperfect)
    return Study(
        options=options,
        labels=task.classes.given,
        classes=[plain_label(value) for value in task.classes.labels.tolist()],
        cases=cases,
        run=None if trained is None else trained.run,
        rule=rule,
        model=model,
        pocket=pocket,
        confusion=confusion,
        margins=margins,
        each_row=each_row,
        sha256=task.fingerprint(cases) if options.proofs else "",
        loading=task.clock.stopped,
    )


@dataclass(frozen=True)
class _Classes:
    """The labels as given and those of the model, and which of them stand against which."""

    given: list[Label]
    labels: Labels  # of the model: those given, or the positive one and the rest
    codes: Indices  # the class of the model that each label as given belongs to
    cases: list[Sides]  # what is decided
    rules: list[Sides]  # the sides of the model's rules, by the labels as given

    @property
    def scheme(self) -> Scheme:
        """One rule for two classes, else one for each."""
        return scheme_for(len(self.labels), "ovr")


def _classes(values: Labels, options: Options) -> _Classes:
    """Who stands against whom: each class against the rest, or the positive class alone."""
    given: list[Label] = [plain_label(value) for value in values.tolist()]
    if len(given) < 2:
        raise ValueError(f"All rows have the label {given[0]!r}: two classes are needed.")
    several = len(given) > 2
    asked = given if several else given[-1:]
    if options.positive is not None:
        asked = [plain_label(options.positive)]
        if asked[0] not in given:
            raise ValueError(f"No row has the label {asked[0]!r}, which was to be positive.")
    cases: list[Sides] = [
        (label, None if several else next(other for other in given if other != label))
        for label in asked
    ]
    if several and options.positive is not None:
        positive = asked[0]
        if not str(positive) > REST:
            raise ValueError(f"The label {positive!r} cannot be told from {REST!r}: rename it.")
        codes = np.array([int(label == positive) for label in given])
        return _Classes(given, np.array([REST, str(positive)]), codes, cases, cases)
    scheme = scheme_for(len(given), "ovr")
    rules = [sides_of(scheme, values, k) for k in range(scheme.sides.shape[1])]
    return _Classes(given, values, np.arange(len(given)), cases, rules)


# Step 1: the verdicts.


def _decide(task: _Task) -> list[Case]:
    """The verdict on each class that is asked about."""
    asked = task.classes.cases
    phase = task.clock.part(0.6)
    cases = []
    for k, sides in enumerate(asked):
        step = f"verdict for {sides[0]}" if len(asked) > 1 else "verdict"
        task.tell(step, None)
        limits = phase.part(1.0 / (len(asked) - k))
        verdict = task.decide(sides, limits, partial(task.tell, step))
        cases.append(Case(*sides, verdict))
    return cases


# Step 2: rules that get every row right.


@dataclass(frozen=True)
class _Trained:
    """What the perceptron has learned."""

    model: LinearModel  # for the features as given
    run: PerceptronRun
    problem: Problem  # the rows that it saw

    @property
    def perfect(self) -> bool:
        """Whether its rule gets every row as given right."""
        return self.run.clean and self.run.returned


def _run_perceptron(task: _OfArrays, *, decided: bool) -> _Trained:
    """The perceptron from zero weights, its rule for the features as given."""
    options = task.options
    clock = task.clock
    task.tell("loading", None)
    with clock.standing_still():
        from novikoff.core import orders, updates
        from novikoff.core.runs import Plan
        from novikoff.geometry.passes import cores

    began, stopped = time.perf_counter(), clock.stopped
    problem, order = task.problem, orders.named(options.order)
    model = LinearModel(
        task.classes.labels, problem.p - 1, options.fit_intercept, averages=options.average
    )
    with clock.standing_still(), task.loading():
        model.load(problem, order)
    task.tell("perceptron", None)  # Ctrl-C is lost inside the compiler, and heard here
    limits = _affordable(options, order, problem.n, task.size * model.n_rules)
    limits.seconds = clock.part(0.5).seconds
    plan = Plan(
        update=updates.perceptron(),
        order=order,
        limits=limits,
        seed=options.seed,
        average=options.average,
        threads=cores(),
    )
    if options.scale == "standard":
        model, trained, problem = train_standardised(model, problem, task.codes, plan)
    else:
        trained = model.train(problem, task.codes, plan)
    seconds = time.perf_counter() - began - (clock.stopped - stopped)
    clean = bool(trained.converged)
    run = PerceptronRun(
        clean=clean,
        mistakes=model.n_mistakes,
        epochs=int(trained.epochs),
        seconds=seconds,
        scale=options.scale,
        max_epochs=limits.epochs,
        max_updates=limits.updates,
        returned=not decided or not clean or task.separated_by(model.W),
        period=next(filter(None, trained.periods), None),
    )
    return _Trained(model, run, problem)


def _affordable(options: Options, order: Order, n: int, entries: int) -> Limits:
    """The epochs asked for, or about two seconds: of updates, where each looks at all rows."""
    from novikoff.core.orders import Greedy

    if options.epochs is not None:
        return Limits(epochs=options.epochs)
    cycle = n * WORK_OF_ROW + entries * WORK_OF_ENTRY
    updates = WORK // cycle + MIN_EPOCHS if isinstance(order, Greedy) else None
    return Limits(max(MIN_EPOCHS, WORK // (WORK_OF_EPOCH + cycle)), updates)


def _with_scaled(task: _OfArrays, scaled: Problem, case: Case) -> Case:
    """The case with the margin of the standardised rows, to a thousandth."""
    if case.verdict.kind != "separable":
        return case
    from novikoff.geometry.separability import find_verdict

    problem = scaled.with_signs(task.signs(case.positive))
    sides = case.positive, case.negative
    return replace(case, scaled=find_verdict(problem, sides, tol=1e-3, limits=task.clock.part(0.5)))


def _widest(task: _Task, cases: list[Case]) -> Vector:
    """The hyperplanes of the largest margin, with a free bias; scores ±1 on the nearest rows.

    Where floats lose one of them, the verdict's own, whose signs are proved.
    """
    from novikoff.geometry.largest_margin import largest_margin, separator

    rules = []
    for case in cases:
        found = largest_margin(case.verdict, free_bias=True)
        found = found or largest_margin(case.verdict, free_bias=False)
        rules.append(case.turned(separator(case.verdict) if found is None else found.w))
    W = np.column_stack(rules)
    if np.isfinite(W).all() and task.separated_by(W):
        return W
    return np.column_stack([case.turned(separator(case.verdict)) for case in cases])


# What depends on where the rows are: the verdict, step 3, and what is counted.


@dataclass(frozen=True)
class _TaskBase:
    """The classes, and what every step needs to know."""

    classes: _Classes
    options: Options
    clock: Limits
    tell: StudyProgress
    loading: Loading

    def model(self, W: Vector, kind: str = "ovr") -> LinearModel:
        """The model of weights."""
        bias = self.options.fit_intercept
        model = LinearModel(self.classes.labels, len(W) - 1, bias, multi_class=kind)
        model.W = W
        return model

    def _model_of(self, rules: Sequence[Pocketed], kind: str) -> LinearModel:
        model = self.model(np.column_stack([rule.w for rule in rules]), kind)
        model.totals[1:] = [rule.updates for rule in rules]
        return model


@dataclass(frozen=True)
class _OfArrays(_TaskBase):
    """A study of rows in memory or on disk."""

    problem: Problem  # the rows as given, without signs
    given: Indices  # the label of each row, as given
    codes: Indices  # and the class of the model
    columns: Columns
    digest: MatrixDigest | None  # of X, where something is proved

    @classmethod
    def of(
        cls, X: object, y: object, columns: Columns | None, options: Options, clock: Limits,
        tell: StudyProgress, loading: Loading,
    ) -> _OfArrays:  # fmt: skip
        """Check the rows, code and hash them."""
        matrix, labels = check_matrix(X), check_labels(y)
        check_width(matrix.shape[1])
        values, given = code_labels(labels)
        classes = _classes(values, options)
        signs = np.ones(len(labels), dtype=np.int8)
        names = None if columns is None else columns.names
        problem = pose(matrix, signs, options.fit_intercept, names=names)
        digest = None
        if options.verdict:
            with clock.standing_still():  # what is imported here takes no time later
                from novikoff.geometry import separability  # noqa: F401
                from novikoff.proofs.digest import MatrixDigest
            digest = MatrixDigest.of(matrix)
        return cls(
            classes, options, clock, tell, loading,
            problem=problem,
            given=given,
            codes=classes.codes[given],
            columns=columns or Columns(range(matrix.shape[1])),
            digest=digest,
        )  # fmt: skip

    @property
    def size(self) -> int:
        """The entries of X, those that are not zero if it is sparse."""
        X = self.problem.X
        return max(1, X.size if isinstance(X, np.ndarray) else X.nnz)

    def signs(self, positive: Label) -> npt.NDArray[np.int8]:
        """+1 for the rows of a label as given, −1 for all others."""
        own = self.given == self.classes.given.index(positive)
        return np.where(own, 1, -1).astype(np.int8)

    def decide(self, sides: Sides, limits: Limits, progress: Callable[[Interval], None]) -> Verdict:
        """The verdict; where it is the only one, with the weights of a logistic regression."""
        from novikoff.geometry.separability import VerdictData, find_verdict

        problem = self.problem.with_signs(self.signs(sides[0]))
        verdict = find_verdict(problem, sides, limits=limits, progress=progress, digest=self.digest)
        if self.options.proofs and len(self.classes.cases) == 1:
            table, left = VerdictData(problem, self.columns), limits.left()
            if left is not None:
                table = replace(table, seconds=min(table.seconds, 0.1 * left))
            verdict = replace(verdict, data=table)
            _ = verdict.logistic  # found now, while the clock runs
        return verdict

    def separated_by(self, W: Vector) -> bool:
        """Whether every rule has every row as given strictly on its side: proved."""
        from novikoff.geometry.passes import prove_signs

        sides, codes = self.classes.scheme.sides, self.codes
        return bool(np.isfinite(W).all()) and all(
            prove_signs(self.problem.with_signs(sides[codes, k]), W[:, k])
            for k in range(W.shape[1])
        )

    def fewest_mistakes(self, cases: list[Case]) -> tuple[LinearModel, list[Pocketed], list[Case]]:
        """The model with the fewest mistakes, its rules, and the cases with their bounds.

        With several classes, rules for pairs of them are tried too: rules against the rest are
        each the best for their class, but their scores have no common scale.
        """
        self.tell("loading", None)
        with self.clock.standing_still():
            from novikoff.core.pocket import load_kernel
            from novikoff.geometry import fewest_mistakes  # noqa: F401 — imported before the clock
            from novikoff.geometry.descent import whitening
        with self.clock.standing_still(), self.loading():
            load_kernel(self.problem)
        n_classes, seed = len(self.classes.labels), self.options.seed
        basis = cache(lambda: whitening(self.problem, np.random.default_rng(seed)))
        paired = 2 < n_classes <= MAX_PAIRED_CLASSES and self.size <= MAX_PAIRED_ENTRIES
        proofs = self.options.proofs
        limits = self.clock.part(0.5 if paired else 0.9)
        found = self._rules("ovr", basis, limits, proved=proofs)
        if proofs:
            cases = [
                replace(case, errors=int(best.errors), bound=_renamed(best.proof, case))
                for case, best in zip(cases, found.alone, strict=True)
            ]
        if paired and self.clock.reached() is None:
            other = self._rules("ovo", basis, self.clock.part(0.9), proved=False)
            if self._mistakes(other.model) < self._mistakes(found.model):
                found = other
        return found.model, [*found.together], cases

    def _rules(
        self, kind: str, basis: Callable[[], Basis], limits: Limits, *, proved: bool
    ) -> FoundRules:
        """The rules of a scheme with few mistakes, each search told to the user."""
        from novikoff.geometry.fewest_mistakes import find_rules

        options, labels = self.options, self.classes.labels
        model = LinearModel(labels, self.problem.p - 1, options.fit_intercept, multi_class=kind)
        limits.updates = POCKET_UPDATES

        def begin(rule: int) -> Callable[[float, float], None]:
            positive, negative = sides_of(model.scheme, labels, rule)
            step = "fewest mistakes"
            if model.n_rules > 1:
                step += f" of {positive} against {'the rest' if negative is None else negative}"
            self.tell(step, None)
            return partial(self._tell_mistakes, step)

        return find_rules(
            self.problem,
            self.codes,
            model,
            lower_bound=proved,
            limits=limits,
            seed=options.seed,
            digest=self.digest,
            basis=basis,
            begin=begin,
        )

    def _tell_mistakes(self, step: str, errors: float, bound: float) -> None:
        self.tell(f"{step}: {errors:,.0f} so far, no hyperplane has fewer than {bound:,.0f}", None)

    def _mistakes(self, model: LinearModel) -> int:
        chosen = model.scheme.choose(model.scores(self.problem.X))
        return int(np.count_nonzero(chosen != self.codes))

    def count(
        self, model: LinearModel, trained: _Trained | None, *, duplicates: bool
    ) -> tuple[Indices, list[float], EachRow]:
        """The confusion matrix, the nearest row to each rule, and what is known of each row."""
        found = evaluate(model, self.problem.X, self.codes)
        groups = list[Indices]()
        seen = self.problem if trained is None else trained.problem
        if len(self.classes.labels) == 2:
            seen = seen.with_signs(self.classes.scheme.sides[self.codes, 0])
        if self.options.proofs and duplicates:
            from novikoff.geometry.duplicates import conflicting_duplicates

            groups = list(conflicting_duplicates(self.problem, self.codes))
        each_row = EachRow(seen, self.codes, found.predicted, found.distances, groups)
        return found.confusion, found.margins.tolist(), each_row

    def fingerprint(self, cases: list[Case]) -> str:
        """The digest of rows and classes."""
        if self.digest is None:
            return ""
        codes = self.codes.astype("<i8").tobytes()
        return hashlib.sha256(self.digest.root.encode() + codes).hexdigest()


@dataclass(frozen=True)
class _OnCluster(_TaskBase):
    """A study of rows on a cluster, which have their labels with them."""

    rows: Rows

    @classmethod
    def of(
        cls, rows: Rows, options: Options, clock: Limits, tell: StudyProgress, loading: Loading
    ) -> _OnCluster:
        """Take the labels of the rows."""
        classes = _classes(np.asarray(rows.labels), options)
        return cls(classes, options, clock, tell, loading, rows=rows)

    def decide(self, sides: Sides, limits: Limits, progress: Callable[[Interval], None]) -> Verdict:
        """The verdict."""
        from novikoff.cluster.shards import Setting

        setting = Setting(*sides, self.options.fit_intercept)
        return self.rows.decide(setting, "margin", 1e-8, limits, progress)

    def separated_by(self, W: Vector) -> bool:
        """Whether every rule has every row strictly on its side: proved."""
        return self.rows.separated_by(W, self.classes.rules, self.options.fit_intercept)

    def fewest_mistakes(self, cases: list[Case]) -> tuple[LinearModel, list[Pocketed], list[Case]]:
        """The model with the fewest mistakes, its rules, and the cases with their bounds."""
        options, classes = self.options, self.classes
        self.tell("fewest mistakes", None)
        verdicts = [case.verdict for case in cases]
        rules = self.rows.fewest_mistakes(
            classes.rules, options.fit_intercept, self.clock, options.seed, verdicts
        )
        cases = [
            replace(case, errors=rule.errors, bound=rule.proof)
            for case, rule in zip(cases, rules, strict=True)
        ]
        named = []  # by the labels of the model
        for k, rule in enumerate(rules):
            positive, negative = sides_of(classes.scheme, classes.labels, k)
            proof = replace(rule.proof, positive=positive, negative=negative)
            named.append(replace(rule, proof=proof))
        return self._model_of(rules, "ovr"), [*named], cases

    def count(
        self, model: LinearModel, trained: _Trained | None, *, duplicates: bool
    ) -> tuple[Indices, list[float], None]:
        """The confusion matrix, and the nearest row to each rule."""
        found = self.rows.judge(model, self.classes.codes)
        return found.confusion, found.margins.tolist(), None

    def fingerprint(self, cases: list[Case]) -> str:
        """The digest of the rows with the signs of the first case."""
        proofs = [case.verdict.certificate or case.bound for case in cases]
        return next((proof.sha256 for proof in proofs if proof is not None), "")


_Task: TypeAlias = _OfArrays | _OnCluster


def _renamed(proof: ErrorBound, case: Case) -> ErrorBound:
    """The proof in terms of the labels as they were given."""
    if case.negative is not None:
        return proof
    return replace(proof, positive=case.positive, negative=None)


def check_width(n_features: int) -> None:
    """Raise ValueError if there are so many features that the rules alone would fill the memory.

    The system would not say so, but end the program: a single wrong index is enough.
    """
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not every system tells
        return
    if 8 * n_features * _RULES_IN_MEMORY > memory:
        raise ValueError(
            f"it has {n_features:,} features, and rules of so many weights do not fit into memory."
        )

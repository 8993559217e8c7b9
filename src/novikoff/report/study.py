"""The main job: decide, learn, fall back on the rule with the fewest mistakes.

1. Each class against the rest (or the one against the other): is it separable? With proof.
2. If all are: the perceptron, on standardised features. Its rule is mapped back to the features
   as given, and its signs are proved there. Where it is not clean within its epochs, or its rule
   does not survive the way back, the hyperplane of the largest margin is the model.
3. If not: the pocket, with a proved bound on how much better any rule could be.

X is checked once, labels are coded once, X is hashed once, and one `Problem` is handed down.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.linear_model import LinearModel
from novikoff.core.problem import Problem, pose
from novikoff.core.rows import Indices, Vector
from novikoff.core.schemes import labels_of, scheme_for, signs_of
from novikoff.core.stops import Limits
from novikoff.core.validation import Label, check_labels, check_matrix, plain_label
from novikoff.report.scaling import Matrix, Scaling

if TYPE_CHECKING:
    from novikoff.geometry.certificate import Certificate
    from novikoff.geometry.checker import MatrixDigest
    from novikoff.geometry.error_bound import ErrorBound
    from novikoff.geometry.fewest_mistakes import FewestMistakes
    from novikoff.geometry.margin import Interval
    from novikoff.geometry.recession import Recession
    from novikoff.geometry.separability import Verdict
    from novikoff.report.model_file import ModelRecord

Labels: TypeAlias = npt.NDArray[np.generic]
# Called with the step that begins, and the interval for the margin once there is one.
Progress: TypeAlias = "Callable[[str, Interval | None], None]"
# Makes a context in which kernels are loaded and compiled.
Loading: TypeAlias = Callable[[], contextlib.AbstractContextManager[object]]

# The perceptron looks at about this many entries of X, within these numbers of epochs.
ENTRIES_SEEN, MIN_EPOCHS, MAX_EPOCHS = 1_000_000_000, 20, 10_000
MAX_PAIRED_CLASSES = 30  # up to this many are also told apart pair by pair
POCKET_UPDATES = 10_000
_RULES_IN_MEMORY = 16  # at the same time, about
# The label of all classes but the positive one; it sorts before others, as the negative does.
REST = "(rest)"


@dataclass(frozen=True)
class Options:
    """How a study is made.

    With a ``positive`` label, the question is this class against all others. ``order``,
    ``epochs`` (None: 10,000, fewer for large data), ``seed`` and ``scale`` (whether it sees
    features of mean 0 and variance 1) are those of the perceptron; without a ``verdict`` nothing
    else runs. ``budget`` is in seconds, loading and compiling not counted. ``average``: the
    average of the perceptron's weights is the model; it may err on data that the last weights
    separate, so this is for studies without a verdict. ``proofs``: the margin, the lower bound
    on mistakes and the like are wanted beside the model.
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
    scale: Literal["standard", "none"] = "standard"


@dataclass(frozen=True)
class Case:
    """One class against another, or against the rest (``negative`` is None).

    ``scaled`` is the verdict on the standardised features, whose margin and bound are those of
    the perceptron's run.
    """

    positive: Label
    negative: Label | None
    verdict: Verdict
    recession: Recession | None = None
    errors: int | None = None
    bound: ErrorBound | None = None
    scaled: Verdict | None = None

    @property
    def least_errors(self) -> int | None:
        """No hyperplane makes fewer mistakes: proved."""
        return None if self.bound is None else int(self.bound.bound)


@dataclass(frozen=True)
class Run:
    """The perceptron's run; ``returned`` is False if its rule fails on the features as given."""

    clean: bool
    mistakes: int
    epochs: int
    seconds: float
    scale: str
    returned: bool = True


def study(
    X: object,
    y: object,
    options: Options = Options(),
    progress: Progress | None = None,
    *,
    names: Sequence[str] | None = None,
    loading: Loading = contextlib.nullcontext,
) -> Study:
    """Decide, learn and count.

    ``X`` is an array or a CSR matrix, perhaps memory-mapped, whose columns have ``names`` for
    messages; ``y`` has two classes or more. ``progress`` hears the name of each step, and the
    interval for the margin.

    Examples
    --------
    >>> found = study(np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0]))
    >>> found.kinds, found.rule, found.errors, found.cases[0].least_errors
    (['inseparable'], 'fewest mistakes', 1, 1)
    """
    tell = progress or (lambda step, interval: None)
    found = Study(check_matrix(X), check_labels(y), options, tell, names)
    found._sum_up(*found._make(loading))
    return found


class Study:
    """All that was found; made by `study`.

    Attributes
    ----------
    classes : list of labels
        The labels of the model.
    codes : array of int
        The class of each row.
    cases : list of Case
        One for two classes, else one for each; empty without a verdict.
    run : Run or None
        The perceptron from zero; None where no rule is perfect.
    model : LinearModel
        The best rule found, for the features as given.
    rule : str
        "perceptron", "average", "largest margin" or "fewest mistakes".
    pocket : list of FewestMistakes
        For each rule of a model of fewest mistakes, how it came about.
    problem : Problem
        The rows that the perceptron saw, signed for two classes.
    confusion : array of int
        Rows of each class (down) that the model gives to each class (across).
    duplicates : list of arrays
        Identical rows with different labels.
    sha256 : str
        The digest of rows and classes.
    options : Options
        How it was made.
    loading : float
        Seconds spent on loading and compiling.
    """

    model: LinearModel
    rule: str
    confusion: Indices
    duplicates: list[Indices]
    sha256: str
    loading: float

    def __init__(
        self, X: Matrix, y: Labels, options: Options, tell: Progress, names: Sequence[str] | None
    ) -> None:
        self.options, self._tell = options, tell
        check_width(X.shape[1])
        values, codes = np.unique(y, return_inverse=True)
        self._given: list[Label] = [plain_label(value) for value in values.tolist()]
        self._given_codes = codes.astype(np.int64)
        self._labels, self.codes = self._against_rest(values)
        self.classes: list[Label] = [plain_label(value) for value in self._labels.tolist()]
        if len(self.classes) < 2:
            raise ValueError(f"All rows have the label {self._given[0]!r}: two classes are needed.")
        self._scheme = scheme_for(len(self.classes), "ovr")
        signs = np.ones(len(y), dtype=np.int8)
        self._as_given = pose(X, signs, options.fit_intercept, names=names)
        self.problem = self._as_given
        self._digest: MatrixDigest | None = None
        self.cases: list[Case] = []
        self.pocket: list[FewestMistakes] = []
        self.run: Run | None = None
        self._clock = Clock(options.budget)

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
    def imperfect(self) -> bool:
        """Whether it is proved that no rule is perfect."""
        return any(kind in ("quasi-separable", "inseparable") for kind in self.kinds)

    def _against_rest(self, values: Labels) -> tuple[Labels, Indices]:
        """Labels and codes of the model: with a positive class among several, it and the rest."""
        positive = plain_label(self.options.positive)
        if self.options.positive is not None and positive not in self._given:
            raise ValueError(f"No row has the label {positive!r}, which was to be positive.")
        if self.options.positive is None or len(values) <= 2:
            return values, self._given_codes
        if not str(positive) > REST:
            raise ValueError(f"The label {positive!r} cannot be told from {REST!r}: rename it.")
        chosen = self._given_codes == self._given.index(positive)
        return np.array([REST, str(positive)]), chosen.astype(np.int64)

    def _make(self, loading: Loading) -> tuple[str, LinearModel]:
        """The best rule that was found, and what it is."""
        if self.options.verdict:
            self._decide()
        if not self.imperfect:
            model, run = self._run_perceptron(loading)
            if not self.cases or (run.clean and run.returned):
                return "average" if self.options.average else "perceptron", model
            if set(self.kinds) == {"separable"}:
                W = np.column_stack([_turned(case, case.verdict) for case in self.cases])
                return "largest margin", self._model(W, "ovr")
        return "fewest mistakes", self._fill_pocket(loading)

    def _sum_up(self, rule: str, model: LinearModel) -> None:
        """Count what the model does, and list what contradicts every model."""
        self._tell("report", None)
        self.rule, self.model = rule, model
        n = len(self.classes)
        pairs = np.bincount(self.codes * n + self._predicted(model), minlength=n * n)
        self.confusion = pairs.reshape(n, n)
        if n == 2:
            self.problem = self.problem.resigned(signs_of(self.codes, self._scheme.sides, 0))
        self.duplicates, self.sha256, self.loading = [], "", self._clock.stopped
        if self.options.proofs and self.imperfect:
            from novikoff.geometry.duplicates import conflicting_duplicates

            self.duplicates = list(conflicting_duplicates(self._as_given, self.codes))
        if self.options.proofs and self._digest is not None:
            codes = self.codes.astype("<i8").tobytes()
            self.sha256 = hashlib.sha256(self._digest.root.encode() + codes).hexdigest()

    def _decide(self) -> None:
        """The verdict on each class that is asked about."""
        with self._clock.standing_still():
            from novikoff.geometry.checker import MatrixDigest
            from novikoff.geometry.separability import decide

        self._digest = MatrixDigest.of(self._as_given.X)
        several = len(self._given) > 2
        asked = self._given if several else self._given[-1:]
        if self.options.positive is not None:
            asked = [plain_label(self.options.positive)]
        for k, positive in enumerate(asked):
            negative = None if several else next(c for c in self._given if c != positive)
            step = f"verdict for {positive}" if len(asked) > 1 else "verdict"
            self._tell(step, None)
            problem = self._signed(positive, self._as_given)
            verdict, _ = decide(
                problem,
                (positive, negative),
                limits=self._clock.left(0.6 / (len(asked) - k)),
                progress=partial(self._tell, step),
                digest=self._digest,
            )
            case = Case(positive, negative, verdict)
            if self.options.proofs and verdict.kind == "quasi-separable":
                from novikoff.geometry.recession import recession

                case = replace(case, recession=recession(problem, verdict.separated_rows))
            self.cases.append(case)

    def _signed(self, positive: Label, problem: Problem) -> Problem:
        """A problem with one class on the positive side, all others on the negative."""
        own = self._given_codes == self._given.index(positive)
        return problem.resigned(np.where(own, 1, -1).astype(np.int8))

    def _run_perceptron(self, loading: Loading) -> tuple[LinearModel, Run]:
        """The perceptron from zero weights, its rule for the features as given."""
        options, fit_intercept = self.options, self.options.fit_intercept
        with self._clock.standing_still():
            from novikoff.core import orders, updates
            from novikoff.core.training import Plan, load_kernels, train

        self._tell("loading", None)
        began, stopped = time.perf_counter(), self._clock.stopped
        order, X, scaling = orders.named(options.order), self._as_given.X, None
        if options.scale == "standard":
            scaling = Scaling.of(X, centre=fit_intercept)
            self.problem = pose(scaling.apply(X), self._as_given.signs, fit_intercept)
        with self._clock.standing_still(), loading():
            load_kernels(self.problem, self._scheme, order)
        self._tell("perceptron", None)  # Ctrl-C is lost inside the compiler, and heard here
        size = max(1, X.size if isinstance(X, np.ndarray) else X.nnz)
        epochs = options.epochs or int(np.clip(ENTRIES_SEEN // size, MIN_EPOCHS, MAX_EPOCHS))
        plan = Plan(
            update=updates.perceptron(),
            order=order,
            limits=Limits(epochs=epochs, seconds=self._clock.left(0.5).seconds),
            seed=options.seed,
            average=options.average,
            threads=_threads(),
        )
        trained = train(self.problem, self.codes, self._scheme, plan)
        seconds = time.perf_counter() - began - (self._clock.stopped - stopped)
        model = LinearModel.trained(trained, self._labels, fit_intercept)
        if scaling is not None:
            blank = np.empty((0, model.n_rules))
            model = replace(model, W=scaling.back(model.decisive()), weighted=blank)
        clean, mistakes = bool(trained.converged), int(trained.totals[2].sum())
        proved = not self.cases or not clean or self._separates(model.W)
        self.run = Run(clean, mistakes, int(trained.epochs), seconds, options.scale, proved)
        if scaling is not None and options.proofs:
            self.cases = [self._with_scaled(case) for case in self.cases]
        return model, self.run

    def _separates(self, W: Vector) -> bool:
        """Whether every rule has every row as given strictly on its side: proved."""
        from novikoff.geometry.passes import prove_signs

        sides = self._scheme.sides
        return bool(np.isfinite(W).all()) and all(
            prove_signs(self._as_given.resigned(signs_of(self.codes, sides, k)), W[:, k])
            for k in range(W.shape[1])
        )

    def _with_scaled(self, case: Case) -> Case:
        """The case with the margin of the standardised rows, to a thousandth."""
        if case.verdict.kind != "separable":
            return case
        from novikoff.geometry.separability import decide

        problem, sides = self._signed(case.positive, self.problem), (case.positive, case.negative)
        verdict, _ = decide(problem, sides, tol=1e-3, limits=self._clock.left(0.5))
        return replace(case, scaled=verdict)

    def _fill_pocket(self, loading: Loading) -> LinearModel:
        """The rule with the fewest mistakes, and a bound on how few there can be.

        With several classes, rules for pairs of them are tried too: rules against the rest are
        each the best for their class, but their scores have no common scale.
        """
        self._tell("loading", None)
        with self._clock.standing_still():
            from novikoff.core.pocket import load_kernel
            from novikoff.geometry import fewest_mistakes  # noqa: F401 — imported before the clock
        with self._clock.standing_still(), loading():
            load_kernel(self._as_given)
        self._tell("pocket", None)
        several, proofs = len(self.classes) > 2, self.options.proofs
        model = self._fewest_mistakes("ovr", 0.5 if several else 0.9, bound=proofs)
        if proofs:
            self.cases = [
                replace(case, errors=int(best.errors), bound=_renamed(best.proof, case))
                for case, best in zip(self.cases, self.pocket, strict=True)
            ]
        if several and len(self.classes) <= MAX_PAIRED_CLASSES and not self._clock.over:
            kept = self.pocket
            other = self._fewest_mistakes("ovo", 0.9, bound=False)
            wrong = [(self._predicted(each) != self.codes).sum() for each in (other, model)]
            if wrong[0] < wrong[1]:
                return other
            self.pocket = kept
        return model

    def _fewest_mistakes(self, kind: str, share: float, *, bound: bool) -> LinearModel:
        from novikoff.geometry.fewest_mistakes import fewest_mistakes

        scheme = scheme_for(len(self.classes), kind)
        n_rules, seconds = scheme.sides.shape[1], self._clock.left(share).seconds
        self.pocket = []
        for k in range(n_rules):
            signs, digest = signs_of(self.codes, scheme.sides, k), self._digest
            problem = self._as_given.resigned(signs)
            if not signs.all():  # a pair of classes: their rows only
                taken, digest = np.flatnonzero(signs), None
                problem = pose(problem.X[taken], signs[taken], self.options.fit_intercept)
            each = None if seconds is None else seconds / n_rules
            best = fewest_mistakes(
                problem,
                lower_bound=bound,
                limits=Limits(updates=POCKET_UPDATES, seconds=each),
                rng=np.random.default_rng([self.options.seed, k]),
                sides=labels_of(scheme, self._labels, k),
                digest=digest,
            )
            self.pocket.append(best)
        model = self._model(np.column_stack([best.w for best in self.pocket]), kind)
        model.totals[1:] = [best.updates for best in self.pocket]
        return model

    def _model(self, W: Vector, multi_class: str) -> LinearModel:
        bias = self.options.fit_intercept
        blank = LinearModel.blank(
            self._labels, len(W) - 1, fit_intercept=bias, multi_class=multi_class
        )
        return replace(blank, W=W)

    def _predicted(self, model: LinearModel) -> Indices:
        return np.searchsorted(self._labels, model.predict(self._as_given.X))


class Clock:
    """The budget, shared by the steps; it stands still while something is loaded."""

    def __init__(self, seconds: float | None) -> None:
        self.end = None if seconds is None else time.monotonic() + seconds
        self.stopped = 0.0

    def left(self, share: float = 1.0) -> Limits:
        """A share of the seconds that are left, never quite none."""
        if self.end is None:
            return Limits()
        return Limits(seconds=max(0.01, share * (self.end - time.monotonic())))

    @property
    def over(self) -> bool:
        """Whether nothing is left of it."""
        return self.end is not None and time.monotonic() >= self.end

    @contextlib.contextmanager
    def standing_still(self) -> Iterator[None]:
        """A context whose time is not counted."""
        began = time.monotonic()
        try:
            yield
        finally:
            took = time.monotonic() - began
            self.stopped += took
            self.end = None if self.end is None else self.end + took


def record_of(found: Study, names: list[object] | None = None) -> ModelRecord:
    """The model of a study, for a file: an estimator's name, its parameters and what it found."""
    from novikoff.report.model_file import ModelRecord, pocket_state, run_state

    options, model = found.options, found.model
    parameters: dict[str, object] = {
        "fit_intercept": options.fit_intercept,
        "multi_class": model.multi_class,
        "random_state": options.seed,
    }
    if found.rule == "fewest mistakes":
        fitted, arrays = pocket_state(
            [int(best.errors) for best in found.pocket],
            [best.proof for best in found.pocket],
            [np.array(best.history, dtype=np.float64).reshape(-1, 2) for best in found.pocket],
        )
        return ModelRecord("Pocket", model, names, parameters, fitted, arrays)
    parameters["order"] = options.order
    if model.averages:
        parameters["average"] = "averaged"
    run = found.run
    clean = found.rule == "largest margin" or (run is not None and run.clean)
    fitted = run_state(0 if run is None else run.epochs, converged=clean)
    return ModelRecord("Perceptron", model, names, parameters, fitted)


def reference_of(found: Study) -> tuple[Vector, float] | None:
    """Weights and margin of a separator of ``found.problem``, where there is one of two classes."""
    if len(found.classes) != 2 or not found.cases:
        return None
    case = found.cases[0]
    verdict = case.verdict if case.scaled is None else case.scaled
    if verdict.kind != "separable":
        return None
    return _turned(case, verdict), verdict.margin.lo


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


def _turned(case: Case, verdict: Verdict) -> Vector:
    if verdict.coef is None or verdict.intercept is None:
        raise ValueError("Without a hyperplane there are no weights.")
    w = np.append(verdict.coef, verdict.intercept)
    w = np.ldexp(w, -int(np.frexp(np.abs(w).max())[1]))  # a power of two: the signs stay proved
    if case.negative is None:
        return w
    larger = np.unique(np.array([case.positive, case.negative]))[-1]
    return w if larger == np.asarray(case.positive) else -w


def _renamed(proof: ErrorBound | None, case: Case) -> ErrorBound | None:
    """The proof in terms of the labels as they were given."""
    if proof is None or case.negative is not None:
        return proof
    return replace(proof, positive=case.positive, negative=None)


def _threads() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

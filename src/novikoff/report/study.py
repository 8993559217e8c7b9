"""The main job: decide, learn, fall back on the rule with the fewest mistakes.

1. Each class against the rest (or the one against the other): is it separable? With proof.
2. If all are: the perceptron, on standardised features, to show the theorem. Its rule is mapped
   back to the features as given, and its signs are proved there. The model is the hyperplane of
   the largest margin, which errs less on unseen rows; or the perceptron's, if that is asked for,
   it is clean within its epochs and survives the way back.
3. If not: the pocket, with a proved bound on how much better any rule could be.

X is checked once, labels are coded once, X is hashed once, and one `Problem` is handed down.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.linear_model import LinearModel
from novikoff.core.problem import Problem, pose
from novikoff.core.rows import Indices, Vector
from novikoff.core.scaling import Matrix, standardise
from novikoff.core.schemes import labels_of, scheme_for
from novikoff.core.stops import Limits
from novikoff.core.validation import Columns, Label, check_labels, check_matrix, plain_label

if TYPE_CHECKING:
    from novikoff.core.orders import Order
    from novikoff.geometry.certificate import Certificate
    from novikoff.geometry.checker import GeometricMargin
    from novikoff.geometry.descent import Basis
    from novikoff.geometry.digest import MatrixDigest
    from novikoff.geometry.error_bound import ErrorBound
    from novikoff.geometry.fewest_mistakes import FewestMistakes
    from novikoff.geometry.margin import Interval
    from novikoff.geometry.separability import Verdict
    from novikoff.report.model_file import ModelRecord

Labels: TypeAlias = npt.NDArray[np.generic]
# Called with the step that begins, and the interval for the margin once there is one.
StudyProgress: TypeAlias = "Callable[[str, Interval | None], None]"
# Makes a context in which kernels are loaded and compiled.
Loading: TypeAlias = Callable[[], contextlib.AbstractContextManager[object]]

# The perceptron's work without --epochs: about two seconds on a common machine. It is counted, not
# timed, so that the same data and seed give the same bits: so much for each epoch, row and entry.
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
    scale: Literal["standard", "none"] = (
        "standard"  # features of mean 0 and variance 1, or as given
    )
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
    returned: bool = True
    period: int | None = None  # epochs after which the weights of a rule repeat for ever: proved


def study(
    X: object,
    y: object,
    options: Options = _DEFAULT,
    progress: StudyProgress | None = None,
    *,
    columns: Columns | None = None,
    loading: Loading = contextlib.nullcontext,
) -> Study:
    """Decide, learn and count.

    ``X`` is an array or a CSR matrix, perhaps memory-mapped, whose ``columns`` have names; ``y``
    has two classes or more. ``progress`` hears the name of each step, and the interval for the
    margin.

    Examples
    --------
    >>> found = study(np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0]))
    >>> found.kinds, found.rule, found.errors, found.cases[0].least_errors
    (['inseparable'], 'fewest mistakes', 1, 1)
    """
    found = Study(check_matrix(X), check_labels(y), options, columns)
    found._tell = progress or found._tell
    found.rule, found.model = found._learn(loading)
    found._tell("report", None)
    found._sum_up()
    return found


class Study:
    """All that was found; made by `study`."""

    options: Options
    classes: list[Label]  # the labels of the model
    codes: Indices  # the class of each row
    cases: list[Case]  # one for two classes, else one for each; empty without a verdict
    run: PerceptronRun | None = None  # the perceptron from zero; None where no rule is perfect
    model: LinearModel  # the best rule found, for the features as given
    rule: str  # "perceptron", "average", "largest margin" or "fewest mistakes"
    pocket: list[FewestMistakes]  # how each rule of a model of fewest mistakes came about
    problem: Problem  # the rows that the perceptron saw, signed for two classes
    predicted: Indices  # the class that the model gives each row
    distances: Vector  # how far each row is on its label's side of the rule that it is worst at
    margins: list[float]  # the distance of the nearest row to each rule, below 0 if it errs
    confusion: Indices  # rows of each class (down) that the model gives to each class (across)
    duplicates: list[Indices]  # identical rows with different labels
    sha256: str = ""  # the digest of rows and classes
    loading: float = 0.0  # seconds spent on loading and compiling

    def __init__(self, X: Matrix, y: Labels, options: Options, columns: Columns | None) -> None:
        check_width(X.shape[1])
        values, codes = np.unique(y, return_inverse=True)
        self.options = options
        self._given: list[Label] = [plain_label(value) for value in values.tolist()]
        self._given_codes = codes.astype(np.int64)
        self._labels, self.codes = self._against_rest(values)
        self.classes = [plain_label(value) for value in self._labels.tolist()]
        if len(self.classes) < 2:
            raise ValueError(f"All rows have the label {self._given[0]!r}: two classes are needed.")
        self._scheme = scheme_for(len(self.classes), "ovr")
        signs = np.ones(len(y), dtype=np.int8)
        names = None if columns is None else columns.names
        self.problem = self._as_given = pose(X, signs, options.fit_intercept, names=names)
        self._columns = columns or Columns(range(X.shape[1]))
        self._digest: MatrixDigest | None = None
        self.cases, self.pocket, self.duplicates = [], [], []
        self._clock = Limits(seconds=options.budget)
        self._tell: StudyProgress = lambda step, interval: None

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
    def wrong(self) -> Indices:
        """The rows to which the model gives another label, the farthest on the wrong side first."""
        rows = np.flatnonzero(self.predicted != self.codes)
        return rows[np.argsort(self.distances[rows], kind="stable")]

    @property
    def multipliers(self) -> dict[int, float]:
        """The λ of rows that carry a margin or a contradiction, as shares of the sum of all λ.

        Of several classes, the largest share.
        """
        shares = dict[int, float]()
        for case in self.cases:
            proof, gap = case.verdict.certificate, case.gap
            weights = {} if proof is None else proof.weights
            if gap is not None:
                weights = dict(zip(gap.rows, gap.weights, strict=True))
            whole = sum(weights.values())
            for row, weight in weights.items():
                shares[row] = max(shares.get(row, 0.0), float(weight / whole))
        return shares

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

    def _learn(self, loading: Loading) -> tuple[str, LinearModel]:
        """The best rule that was found, and what it is."""
        if self.options.verdict:
            self._decide()
        separable, margin = set(self.kinds) == {"separable"}, self.options.model == "margin"
        if not self.imperfect and (self.options.proofs or not (separable and margin)):
            model, run = self._run_perceptron(loading)
            clean = not self.cases or (run.clean and run.returned)
            if clean and not (separable and margin):
                return "average" if self.options.average else "perceptron", model
        if separable:
            return "largest margin", self._model(self._widest(), "ovr")
        return "fewest mistakes", self._fill_pocket(loading)

    def _widest(self) -> Vector:
        """The hyperplanes of the largest margin, with a free bias; scores ±1 on the nearest rows.

        Where floats lose one of them, the verdict's own, whose signs are proved.
        """
        from novikoff.geometry.margin import canonical

        rules = []
        for case in self.cases:
            claim = case.gap
            if claim is None:
                margin, w = case.verdict.margin.hi, separator(case, case.verdict)
            else:
                margin, w = claim.hi, case.turned(np.array([float(value) for value in claim.w]))
            rules.append(canonical(w, margin, free_bias=claim is not None))
        W = np.column_stack(rules)
        if self._separates(W):
            return W
        return np.column_stack([separator(case, case.verdict) for case in self.cases])

    def _sum_up(self) -> None:
        """Count what the model does, and list what contradicts every model."""
        n, scores = len(self.classes), self.model.scores(self._as_given.X)
        self.predicted = self.model.scheme.choose(scores)
        self._measure(scores)
        pairs = np.bincount(self.codes * n + self.predicted, minlength=n * n)
        self.confusion = pairs.reshape(n, n)
        if n == 2:
            self.problem = self.problem.resigned(self._scheme.sides[self.codes, 0])
        self.loading = self._clock.stopped
        if self.options.proofs and self.imperfect:
            from novikoff.geometry.duplicates import conflicting_duplicates

            self.duplicates = list(conflicting_duplicates(self._as_given, self.codes))
        if self.options.proofs and self._digest is not None:
            codes = self.codes.astype("<i8").tobytes()
            self.sha256 = hashlib.sha256(self._digest.root.encode() + codes).hexdigest()

    def _measure(self, scores: Vector) -> None:
        """The distance y·f(x)/‖w‖ of each row to each rule that its label has a side of."""
        W = self.model.decisive()[:-1]
        largest = np.abs(W).max(axis=0)
        self.distances, self.margins = np.full(len(scores), np.inf), []
        for k, sides in enumerate(self.model.sides.T):
            signs = sides[self.codes]
            with np.errstate(all="ignore"):  # a rule without weights has no hyperplane
                length = largest[k] * np.linalg.norm(W[:, k] / largest[k])
                own = np.where(signs == 0, np.inf, signs * scores[:, k] / length)
            self.margins.append(float(own.min()))
            self.distances = np.minimum(self.distances, own)

    def _decide(self) -> None:
        """The verdict on each class that is asked about."""
        with self._clock.standing_still():
            from novikoff.geometry.digest import MatrixDigest
            from novikoff.geometry.separability import Table, decide

        self._digest = MatrixDigest.of(self._as_given.X)
        several = len(self._given) > 2
        asked = self._given if several else self._given[-1:]
        if self.options.positive is not None:
            asked = [plain_label(self.options.positive)]
        phase = self._clock.part(0.6)
        for k, positive in enumerate(asked):
            negative = None if several else next(c for c in self._given if c != positive)
            step = f"verdict for {positive}" if len(asked) > 1 else "verdict"
            self._tell(step, None)
            problem = self._signed(positive, self._as_given)
            verdict = decide(
                problem,
                (positive, negative),
                limits=phase.part(1.0 / (len(asked) - k)),
                progress=partial(self._tell, step),
                digest=self._digest,
            )
            if self.options.proofs and len(asked) == 1:
                table, left = Table(problem, self._columns), phase.left()
                if left is not None:
                    table = replace(table, seconds=min(table.seconds, 0.1 * left))
                verdict = replace(verdict, data=table)
                _ = verdict.logistic  # found now, while the clock runs
            self.cases.append(Case(positive, negative, verdict))

    def _signed(self, positive: Label, problem: Problem) -> Problem:
        """A problem with one class on the positive side, all others on the negative."""
        own = self._given_codes == self._given.index(positive)
        return problem.resigned(np.where(own, 1, -1).astype(np.int8))

    def _run_perceptron(self, loading: Loading) -> tuple[LinearModel, PerceptronRun]:
        """The perceptron from zero weights, its rule for the features as given."""
        options, scaling = self.options, None
        self._tell("loading", None)
        with self._clock.standing_still():
            from novikoff.core import orders, updates
            from novikoff.core.runs import Plan
            from novikoff.core.training import load_kernels
            from novikoff.geometry.passes import cores

        began, stopped = time.perf_counter(), self._clock.stopped
        order = orders.named(options.order)
        if options.scale == "standard":
            self.problem, scaling = standardise(self._as_given)
        with self._clock.standing_still(), loading():
            load_kernels(self.problem, self._scheme, order)
        self._tell("perceptron", None)  # Ctrl-C is lost inside the compiler, and heard here
        limits = self._affordable(order)
        limits.seconds = self._clock.part(0.5).seconds
        plan = Plan(
            update=updates.perceptron(),
            order=order,
            limits=limits,
            seed=options.seed,
            average=options.average,
            threads=cores(),
        )
        given = self._labels, self.problem.p - 1, options.fit_intercept
        model = LinearModel(*given, averages=options.average)
        trained = model.train(self.problem, self.codes, plan)
        seconds = time.perf_counter() - began - (self._clock.stopped - stopped)
        if scaling is not None:
            model = scaling.back_model(model)
        clean = bool(trained.converged)
        returned = not self.cases or not clean or self._separates(model.W)
        self.run = PerceptronRun(
            clean, model.n_mistakes, int(trained.epochs), seconds, options.scale, returned,
            next(filter(None, trained.periods), None),
        )  # fmt: skip
        if scaling is not None and options.proofs:
            self.cases = [self._with_scaled(case) for case in self.cases]
        return model, self.run

    def _affordable(self, order: Order) -> Limits:
        """The epochs asked for, or about two seconds: of updates, where each looks at all rows."""
        from novikoff.core.orders import Greedy

        if self.options.epochs is not None:
            return Limits(epochs=self.options.epochs)
        n, n_rules = len(self.codes), self._scheme.sides.shape[1]
        cycle = n * WORK_OF_ROW + self._size() * n_rules * WORK_OF_ENTRY
        updates = WORK // cycle + MIN_EPOCHS if isinstance(order, Greedy) else None
        return Limits(max(MIN_EPOCHS, WORK // (WORK_OF_EPOCH + cycle)), updates)

    def _separates(self, W: Vector) -> bool:
        """Whether every rule has every row as given strictly on its side: proved."""
        from novikoff.geometry.passes import prove_signs

        sides = self._scheme.sides
        return bool(np.isfinite(W).all()) and all(
            prove_signs(self._as_given.resigned(sides[self.codes, k]), W[:, k])
            for k in range(W.shape[1])
        )

    def _with_scaled(self, case: Case) -> Case:
        """The case with the margin of the standardised rows, to a thousandth."""
        if case.verdict.kind != "separable":
            return case
        from novikoff.geometry.separability import decide

        problem, sides = self._signed(case.positive, self.problem), (case.positive, case.negative)
        verdict = decide(problem, sides, tol=1e-3, limits=self._clock.part(0.5))
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
            from novikoff.geometry.descent import whitening
        with self._clock.standing_still(), loading():
            load_kernel(self._as_given)
        rng = np.random.default_rng(self.options.seed)
        basis = cache(lambda: whitening(self._as_given, rng))
        n_classes, proofs = len(self.classes), self.options.proofs
        paired = 2 < n_classes <= MAX_PAIRED_CLASSES and self._size() <= MAX_PAIRED_ENTRIES
        model, alone = self._fewest_mistakes("ovr", basis, 0.5 if paired else 0.9, bound=proofs)
        if proofs:
            self.cases = [
                replace(case, errors=int(best.errors), bound=_renamed(best.proof, case))
                for case, best in zip(self.cases, alone, strict=True)
            ]
        if paired and self._clock.reached() is None:
            kept = self.pocket
            other, _ = self._fewest_mistakes("ovo", basis, 0.9, bound=False)
            chosen = [each.predict(self._as_given.X) for each in (other, model)]
            wrong = [
                (np.searchsorted(self._labels, labels) != self.codes).sum() for labels in chosen
            ]
            if wrong[0] < wrong[1]:
                return other
            self.pocket = kept
        return model

    def _fewest_mistakes(
        self, kind: str, basis: Callable[[], Basis], share: float, *, bound: bool
    ) -> tuple[LinearModel, list[FewestMistakes]]:
        """The rules that are best together, and each that is the best by itself."""
        from novikoff.geometry.fewest_mistakes import best_together, fewest_mistakes

        scheme = scheme_for(len(self.classes), kind)
        n_rules, limits = scheme.sides.shape[1], self._clock.part(share)
        limits.updates = POCKET_UPDATES
        alone: list[FewestMistakes] = []
        for k in range(n_rules):
            positive, negative = labels_of(scheme, self._labels, k)
            step = "fewest mistakes"
            if n_rules > 1:
                step += f" of {positive} against {'the rest' if negative is None else negative}"
            self._tell(step, None)
            best = fewest_mistakes(
                self._as_given.resigned(scheme.sides[self.codes, k]),
                lower_bound=bound,
                limits=limits.part(1.0 / (n_rules - k)),
                rng=np.random.default_rng([self.options.seed, k]),
                sides=(positive, negative),
                digest=self._digest,
                basis=basis,
                progress=partial(self._tell_mistakes, step),
            )
            alone.append(best)
        self.pocket = best_together(alone, scheme, self.codes)
        model = self._model(np.column_stack([best.w for best in self.pocket]), kind)
        model.totals[1:] = [best.updates for best in self.pocket]
        return model, alone

    def _tell_mistakes(self, step: str, errors: float, bound: float) -> None:
        self._tell(f"{step}: {errors:,.0f} so far, no rule has fewer than {bound:,.0f}", None)

    def _size(self) -> int:
        """The entries of X, those that are not zero if it is sparse."""
        X = self._as_given.X
        return max(1, X.size if isinstance(X, np.ndarray) else X.nnz)

    def _model(self, W: Vector, kind: str) -> LinearModel:
        bias = self.options.fit_intercept
        model = LinearModel(self._labels, len(W) - 1, bias, multi_class=kind)
        model.W = W
        return model


def record_of(found: Study, names: list[object] | None = None) -> ModelRecord:
    """The model of a study, for a file: an estimator's name, its parameters and what it found."""
    from novikoff.report.model_file import ModelRecord, pocket_state, run_state

    options, model, run = found.options, found.model, found.run
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
    parameters |= {"order": options.order, "average": "averaged" if model.averages else False}
    clean = found.rule == "largest margin" or (run is not None and run.clean)
    fitted = run_state(0 if run is None else run.epochs, converged=clean)
    return ModelRecord("Perceptron", model, names, parameters, fitted)


def separator(case: Case, verdict: Verdict) -> Vector:
    """The weights of a verdict's hyperplane, for the model's positive class."""
    if verdict.coef is None or verdict.intercept is None:
        raise ValueError("Without a hyperplane there are no weights.")
    w = np.append(verdict.coef, verdict.intercept)
    # Scaled by a power of two, so that the signs stay proved.
    return case.turned(np.ldexp(w, -int(np.frexp(np.abs(w).max())[1])))


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


def _renamed(proof: ErrorBound, case: Case) -> ErrorBound:
    """The proof in terms of the labels as they were given."""
    if case.negative is not None:
        return proof
    return replace(proof, positive=case.positive, negative=None)

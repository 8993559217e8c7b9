"""Claims of the estimators: fewest mistakes, largest margins, periods, counts, regret."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np
import pytest
from matplotlib.text import Text
from sklearn.exceptions import ConvergenceWarning

import novikoff as nv
from novikoff.core.stops import Limits
from novikoff.geometry.hitting_sets import prove_bound
from novikoff.proofs.hitting import Branch
from novikoff.report.plots import blank_axes
from novikoff.report.plots.style import whole_bound
from tests.cases import each_of
from tests.claims.oracles import (
    at_most,
    fewest_mistakes,
    is_root,
    largest_square,
    perceptron,
    products,
)
from tests.claims.problems import EXTREME, TAME, Generator, Labelled, Shown, exactly, labelled, tame
from tests.claims.register import claim
from tests.cluster.cases import local_rows
from tests.separability_oracle import (
    Point,
    contradiction,
    decide,
    signed_rows,
    squared_distance,
)


def fitted(learner: Any, problem: Labelled, **more: Any) -> Any:
    """The learner after its fit; None if it rejects numbers of extreme size."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            return learner.fit(problem.X, problem.y, **more)
        except nv.NotSeparableError:
            raise
        except ValueError:
            sizes = np.abs(problem.X[problem.X != 0.0])
            if sizes.max() > 1e100 or sizes.min() < 1e-100:
                return None
            raise


def rules_of(learner: Any) -> list[Point]:
    """The weights of every rule, the bias last if there is one."""
    pairs = zip(learner.coef_.tolist(), learner.intercept_.tolist(), strict=True)
    return [exactly([*w, b] if learner.fit_intercept else w) for w, b in pairs]


@dataclass
class Rule:
    """One rule of several: the rows it is about, by their numbers, and their costs."""

    rows: list[Point]
    numbers: list[int]
    costs: list[Fraction]
    fixed: Fraction  # what rows of zeros cost every rule without a bias

    @classmethod
    def of(cls, problem: Labelled, positive: Any, negative: Any) -> Rule:
        costs = exactly(np.ones(len(problem.y)) if problem.weights is None else problem.weights)
        signs = np.where(problem.y == positive, 1, -1)
        rows = signed_rows(problem.X, signs.tolist(), problem.bias)
        own = [
            i for i, label in enumerate(problem.y.tolist())
            if negative is None or label in (positive, negative)
        ]  # fmt: skip
        blank = [i for i in own if not any(rows[i])]  # f(x) = 0 is the negative class
        fixed = sum((costs[i] for i in blank if signs[i] > 0), Fraction(0))
        own = [i for i in own if any(rows[i])]
        return cls([rows[i] for i in own], own, [costs[i] for i in own], fixed)

    def errors(self, w: Point) -> Fraction:
        """The cost of the mistakes of w; a row on the hyperplane is a mistake."""
        sides = products(self.rows, w)
        costs = zip(sides, self.costs, strict=True)
        return self.fixed + sum((cost for side, cost in costs if side <= 0), Fraction(0))

    def fewest(self) -> Fraction:
        return self.fixed + fewest_mistakes(self.rows, self.costs)


@claim(
    partial(labelled, most_classes=3, weighted=True),
    covers=[
        "Pocket", "Pocket.n_errors_", "Pocket.errors_lower_bound_", "Pocket.optimal_",
        "Pocket.certificate_", "Pocket.converged_", "ErrorBound", "ErrorBound.bound",
        "ErrorBound.contradictions", "ErrorBound.shares", "ErrorBound.claim", "ErrorBound.verify",
        "ErrorBound.search", "RuleSearch.operations", "RuleSearch.weighted", "RuleSearch",
        "ErrorBound.total", "plots.PocketDisplay",
    ],
    sentences=[
        "misclassifies at least {}", "a total sample_weight of at least {}",
        "every {} makes at least {} mistake",
    ],
    problems=60,
)  # fmt: skip
def fewest(problem: Labelled) -> None:
    """No hyperplane makes fewer mistakes than the bound, and the rule makes the stated number.

    If the two are equal, the rule is optimal. Every bound has a certificate.
    """
    rng = np.random.default_rng(problem.seed)
    learner = nv.Pocket(
        fit_intercept=problem.bias,
        multi_class=str(rng.choice(["ovr", "ovo"])),  # type: ignore[arg-type]
        max_updates=int(rng.choice([10, 300])),
        refine=bool(rng.random() < 0.7),
        random_state=0,
    )
    if fitted(learner, problem, sample_weight=problem.weights) is None:
        return
    assert np.isfinite(learner.coef_).all()
    found = zip(
        each_of(learner.certificate_), rules_of(learner), each_of(learner.n_errors_),
        each_of(learner.errors_lower_bound_), each_of(learner.optimal_), strict=True,
    )  # fmt: skip
    for proof, w, errors, least, optimal in found:
        rule = Rule.of(problem, proof.positive, proof.negative)
        truth = rule.fewest()
        assert Fraction(least) <= truth
        assert proof.bound <= truth
        assert float(rule.errors(w)) == errors
        assert optimal == (rule.errors(w) == proof.bound)
        assert not optimal or truth == rule.errors(w)
        nv.verify(proof, problem.X, problem.y, sample_weight=problem.weights)
        told = re.search(r"at least ([\d.,e-]*\d)", proof.claim())
        assert told is not None
        assert Fraction(told[1].replace(",", "")) <= truth
        drawn = nv.plots.PocketDisplay(np.zeros(1), np.array([float(errors)]), least, "").plot(
            blank_axes()
        )
        for shown in numbers_in(drawn, r"at least (\S+) mistakes"):
            assert shown <= truth
    assert learner.converged_ == (not any(each_of(learner.n_errors_)))


@claim(tame(), covers=["suspect_rows"], problems=40)
def suspects(problem: Labelled) -> None:
    """Without the rows that are marked, the data is separable, and no fewer rows do that."""
    if len(problem.classes) != 2:
        return
    frame = nv.suspect_rows(problem.X, problem.y, fit_intercept=problem.bias)
    marked, rows = [*frame.index[frame.relabel]], problem.rows()
    left = [row for i, row in enumerate(rows) if i not in marked]
    one = Fraction(1)
    assert not frame.attrs["separable"] or fewest_mistakes(left, [one] * len(left)) == 0
    rule = Rule.of(problem, problem.classes[1], None)
    assert frame.attrs["least"] <= rule.fewest() <= len(marked)
    assert not frame.attrs["fewest"] or rule.fewest() == len(marked)


@claim(
    partial(labelled, styles=TAME + EXTREME),
    covers=["Pocket.n_errors_", "Pocket.coef_", "Pocket.wrong_"],
    problems=60,
)
def errors_of_predict(problem: Labelled) -> None:
    """`predict` misclassifies exactly the rows that the pocket counts."""
    learner = nv.Pocket(fit_intercept=problem.bias, max_updates=100, random_state=0)
    if fitted(learner, problem) is not None:
        wrong = learner.predict(problem.X) != problem.y
        assert wrong.sum() == learner.n_errors_
        assert each_of(learner.wrong_)[0].tolist() == np.flatnonzero(wrong).tolist()


@claim(
    partial(labelled, most_classes=3),
    covers=[
        "MaxMargin", "MaxMargin.margin_", "MaxMargin.verdict_", "MaxMargin.support_",
        "MaxMargin.coef_", "MaxMargin.dual_coef_", "NotSeparableError",
    ],
)  # fmt: skip
def largest_margin(problem: Labelled) -> None:
    """The interval contains the largest margin, and every row is classified correctly.

    If there is no margin, the exception has a proof about its rows.
    """
    rng = np.random.default_rng(problem.seed)
    free, scheme = bool(rng.random() < 0.5), str(rng.choice(["ovr", "ovo"]))
    learner = nv.MaxMargin(
        "free" if free else "padded", fit_intercept=problem.bias,
        multi_class=scheme,  # type: ignore[arg-type]
    )  # fmt: skip
    try:
        if fitted(learner, problem) is None:
            return
    except nv.NotSeparableError as error:
        X, y = problem.X[error.rows], problem.y[error.rows]
        nv.verify(error.certificate, X, y)
        signs = np.where(y == error.certificate.positive, 1, -1).tolist()
        assert decide(signed_rows(X, signs, problem.bias)).kind != "separable"
        return
    pairs = zip(each_of(learner.verdict_), rules_of(learner), each_of(learner.margin_), strict=True)
    for verdict, w, margin in pairs:
        proof = verdict.certificate
        assert proof is not None
        rule = Rule.of(problem, proof.positive, proof.negative)
        square = squared_distance(rule.rows)
        if free and problem.bias:
            plus = [row[:-1] for row in rule.rows if row[-1] > 0]
            minus = [row[:-1] for row in rule.rows if row[-1] < 0]
            pairs_of_rows = [
                [x + z for x, z in zip(a, b, strict=True)] for a in plus for b in minus
            ]
            square = squared_distance(pairs_of_rows) / 4
        assert is_root(margin.lo, square, margin.hi)
        assert verdict.needs_exact_weights or min(products(rule.rows, w)) > 0
    if len(problem.classes) == 2:
        assert (learner.predict(problem.X) == problem.y).all()
        used = np.asarray(learner.dual_coef_) @ problem.X[learner.support_]
        (margin,) = each_of(learner.margin_)
        if margin.relative_width < 1e-7 and np.abs(problem.X).max() < 1e6:
            np.testing.assert_allclose(learner.coef_[0], used, rtol=1e-5, atol=1e-6)


@claim(
    partial(labelled, styles=("integers", "two values"), most_rows=7),
    covers=["Perceptron", "Perceptron.period_"],
    sentences=["{} repeat every {}, so {}"],
    problems=60,
)  # fmt: skip
def period(problem: Labelled) -> None:
    """A period agrees with the run without rounding, and proves that no rule separates the rows."""
    rows = problem.rows()
    learner = nv.Perceptron(order="cyclic", fit_intercept=problem.bias, max_epochs=300)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        learner.fit(problem.X, problem.y)
    found = learner.period_
    if found is None:
        return
    assert isinstance(found, int)
    assert contradiction(rows) is not None
    ran = perceptron(rows, repeat(range(len(rows)), learner.n_iter_ + 2 * found))
    first = next(t for t in range(len(ran.ends)) if ran.ends[t] in ran.ends[:t])
    assert found == first - ran.ends.index(ran.ends[first])
    told = re.search(r"its weights repeat every (?:(\d+) )?epochs?, so", str(heard[0].message))
    assert told is not None
    assert int(told[1] or 1) == found


@claim(
    tame(),
    covers=[
        "Perceptron.n_mistakes_", "Perceptron.n_updates_", "Perceptron.converged_",
        "Perceptron.update_counts_", "Perceptron.trace_", "Trace", "Trace.margin_ceilings",
        "plots.MistakesDisplay",
    ],
)  # fmt: skip
def run_of_the_perceptron(problem: Labelled) -> None:
    """A fit that converged classifies every row correctly, and keeps the bounds of the theorem.

    ‖w_t‖/t is not below γ up to rounding, and w is the sum of the rows times their updates.
    """
    rows = problem.rows()
    learner = fitted(
        nv.Perceptron(fit_intercept=problem.bias, max_epochs=200, trace=True, random_state=0),
        problem,
    )
    (w,) = rules_of(learner)
    right = min(products(rows, w)) > 0
    if learner.converged_:
        assert right or not np.array_equal(problem.X, problem.X.round())
        assert (learner.predict(problem.X) == problem.y).all()
    if contradiction(rows) is None:
        square = squared_distance(rows)
        assert learner.n_mistakes_ <= largest_square(rows) / square
        for ceiling in learner.trace_.margin_ceilings().tolist():
            assert at_most(square, ceiling)
        verdict = nv.separate(problem.X, problem.y, fit_intercept=problem.bias)
        drawn = nv.plots.MistakesDisplay(
            learner.trace_, margin=verdict.margin.lo, radius=verdict.radius
        )
        assert drawn.bound is not None
        assert learner.n_mistakes_ <= whole_bound(drawn.bound)
        if verdict.margin.lo > 1e-12 * verdict.radius:  # else w* in floats may not separate
            assert_drawn(rows, drawn, nv.plots.ProofDisplay.from_estimator(
                learner, problem.X, problem.y, ax=blank_axes(3)
            ))  # fmt: skip
    if np.array_equal(problem.X, problem.X.round()):
        total = [
            sum(int(k) * row[j] for k, row in zip(learner.update_counts_, rows, strict=True))
            for j in range(len(rows[0]))
        ]
        assert total == w


def assert_drawn(rows: list[Point], mistakes: Any, proof: Any) -> None:
    """In pictures of a run, γ is never too large, and R and the bound are never too small."""
    square, longest = squared_distance(rows), largest_square(rows)
    for gamma in numbers_in(proof, r"γ ≥ (\S+(?: × \S+)?)"):
        assert gamma**2 <= square
    for radius in numbers_in(proof, r"R ≤ (\S+(?: × \S+)?)"):
        assert radius**2 >= longest
    bounds = numbers_in(proof, r"R²/γ²⌋ = (\S+(?: × \S+)?)")
    bounds += numbers_in(mistakes.plot(blank_axes()), r"bound R²/γ² = (\S+(?: × \S+)?)")
    assert len(bounds) == 2
    assert min(bounds) >= longest // square


SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def numbers_in(display: Any, pattern: str) -> list[Fraction]:
    """The numbers of a picture's texts where a pattern has its group, such as 12,345 or 3 × 10⁹."""
    texts = (" ".join(text.get_text().split()) for text in display.figure_.findobj(Text))
    found = (match[1] for text in texts for match in re.finditer(pattern, text))
    return [_number(text.replace(",", "").replace("−", "-")) for text in found]


def _number(text: str) -> Fraction:
    found = re.fullmatch(r"(?:(\S+) × )?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", text)
    if found is None:
        return Fraction(text)
    return Fraction(found[1] or 1) * Fraction(10) ** int(found[2].translate(SUPERSCRIPTS))


@dataclass(frozen=True, repr=False)
class Sharded(Shown):
    """Labelled rows, cut into shards at some edges."""

    rows: Labelled
    edges: list[int]
    mix: str


def sharded(rng: Generator) -> Sharded:
    rows = labelled(rng, styles=TAME)
    edges = sorted(rng.integers(0, len(rows.y) + 1, 2).tolist())
    return Sharded(rows, edges, str(rng.choice(["mistakes", "uniform"])))


@claim(
    sharded,
    covers=["Perceptron.mixed_updates_", "cluster.ClusterRows.fit", "cluster.ClusterRows.separate"],
    problems=25,
)
def mixed_updates(problem: Sharded) -> None:
    """On a cluster the mixed updates are at most R²/γ², and the verdict is the same."""
    given, rows = problem.rows, problem.rows.rows()
    far = local_rows(given.X, given.y, problem.edges, mix=problem.mix)
    verdict = nv.separate(far, fit_intercept=given.bias)
    assert verdict.kind in (decide(rows).kind, "undecided")
    assert is_root(verdict.margin.lo, squared_distance(rows), verdict.margin.hi)
    learner = nv.Perceptron(fit_intercept=given.bias, max_epochs=100, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        learner.fit(far)
    if contradiction(rows) is None:
        bound = largest_square(rows) / squared_distance(rows)
        assert all(Fraction(value) <= bound for value in learner.mixed_updates_.tolist())


@claim(sharded, covers=["cluster.ClusterRows.fewest_mistakes"], problems=20)
def fewest_on_a_cluster(problem: Sharded) -> None:
    """The bound for rows on a cluster is at most the fewest possible mistakes."""
    given = problem.rows
    learner = nv.Pocket(fit_intercept=given.bias, max_updates=100, random_state=0)
    learner.fit(local_rows(given.X, given.y, problem.edges))
    rule = Rule.of(given, given.classes[-1], None)
    (w,) = rules_of(learner)
    assert each_of(learner.errors_lower_bound_)[0] <= rule.fewest()
    assert learner.n_errors_ == rule.errors(w)
    assert not learner.optimal_ or learner.n_errors_ == rule.fewest()


def fewest_of_classes(problem: Labelled, n: int) -> Fraction:
    """The fewest mistakes on n rows of any rule that chooses the largest of linear scores.

    f = 0 is the negative class of two, and of more than two classes the first is chosen.
    """
    labels, k = problem.y.tolist()[:n], len(problem.classes)
    if k == 2:
        rule = problem.rows()[:n]
        weak = [label == problem.classes[0] for label in labels]
        return fewest_mistakes(rule, [Fraction(1)] * n, weak)
    plain = signed_rows(problem.X[:n], [1] * n, problem.bias)
    codes = [problem.classes.index(label) for label in labels]
    return next(
        Fraction(n - len(kept))
        for kept in _subsets(n)
        if contradiction(_against_others(plain, codes, kept, k), _ties(codes, kept, k)) is None
    )


def _subsets(n: int) -> list[list[int]]:
    """Every set of the numbers below n, the largest first."""
    every = ([i for i in range(n) if mask >> i & 1] for mask in range(1 << n))
    return sorted(every, key=len, reverse=True)


def _against_others(
    plain: Sequence[Point], codes: Sequence[int], kept: Sequence[int], k: int
) -> list[Point]:
    """[0 … x … −x … 0] for each row and each other class (Kesler's construction)."""
    rows, zeros = list[Point](), [Fraction(0)] * len(plain[0])
    for i in kept:
        for other in range(k):
            if other != codes[i]:
                parts = [zeros] * k
                parts[codes[i]], parts[other] = plain[i], [-value for value in plain[i]]
                rows.append([value for part in parts for value in part])
    return rows or [zeros * k]


def _ties(codes: Sequence[int], kept: Sequence[int], k: int) -> list[bool]:
    """Of equal scores the class that comes first is chosen."""
    ties = [other > codes[i] for i in kept for other in range(k) if other != codes[i]]
    return ties or [True]


def noise(rng: Generator) -> Labelled:
    """Rows of any size; in half of the problems labels alternate along a line.

    Contradictions among these rows share rows, so each proves only a share of a mistake.
    """
    if rng.random() < 0.5:
        return labelled(rng, most_classes=3, most_rows=6, most_columns=2)
    n = int(rng.integers(5, 8))
    places = rng.permutation(n) - n // 2
    X = places[:, None].astype(np.float64) * rng.choice([1.0, 1.0, 0.1, 5e-324, 1e300])
    return Labelled(X, places % 2, bool(rng.random() < 0.6), None, int(rng.integers(1 << 30)))


@claim(noise, problems=50)
def forged_bound(problem: Labelled) -> None:
    """Contradictions whose shares are doubled prove a larger bound only if it is true."""
    learner = nv.Pocket(fit_intercept=problem.bias, max_updates=100, random_state=0)
    if len(problem.classes) > 2 or (found := fitted(learner, problem)) is None:
        return
    proof, rows = found.certificate_, problem.rows()
    shares = tuple(2 * share for share in proof.each_share())
    bound = Fraction(math.ceil(sum(shares)))
    try:
        replace(proof, shares=shares, bound=bound).verify(problem.X, problem.y)
    except nv.CertificateError:
        return
    assert bound <= fewest_mistakes(rows, [Fraction(1)] * len(rows))


@claim(noise, covers=["ErrorBound.branches"], problems=40)
def bound_by_cases(problem: Labelled) -> None:
    """A tree of cases proves no more than the fewest mistakes, and forged trees prove nothing."""
    learner = nv.Pocket(fit_intercept=problem.bias, max_updates=100, random_state=0)
    if len(problem.classes) > 2 or (found := fitted(learner, problem)) is None:
        return
    proof, rows = found.certificate_, problem.rows()
    truth = fewest_mistakes(rows, [Fraction(1)] * len(rows))
    sets = [claim.among or () for claim in proof.contradictions]
    for target in range(1, len(rows)):
        branches = prove_bound(sets, None, Fraction(target), Limits())
        if branches is None:
            break
        assert target <= truth
        cased = replace(proof, search=None, branches=branches, bound=Fraction(target))
        again = nv.ErrorBound.from_json(cased.to_json())
        again.verify(problem.X, problem.y)
        higher = replace(cased, bound=truth + 1)
        with pytest.raises(nv.CertificateError):
            higher.verify(problem.X, problem.y)
        for forged in (
            branches[:-1],
            (*branches, branches[-1]),
            (Branch(len(rows)), *branches[1:]),
            tuple(replace(part, shares=tuple(2 * v for v in part.shares)) for part in branches),
        ):
            forgery = replace(cased, branches=forged, bound=truth + 1)
            with pytest.raises(nv.CertificateError):
                forgery.verify(problem.X, problem.y)


@dataclass
class Repeats:
    """An online learner that predicts the previous label, on rows of any size."""

    fit_intercept: bool
    label: Any = None

    def predict_one(self, x: object) -> Any:
        return self.label

    def learn_one(self, x: object, label: Any) -> None:
        self.label = label


@claim(noise, problems=50)
def regret_of_noise(problem: Labelled) -> None:
    """The interval and the curve hold the regret where contradictions share rows, at any size."""
    learner = Repeats(problem.bias)
    try:
        found = nv.regret(problem.X, problem.y, learner, random_state=problem.seed)
    except ValueError as error:
        if "range of float64" in str(error) and np.abs(problem.X).max() > 1e99:
            return
        raise
    for n in range(1, len(problem.y) + 1):
        truth = int(found.learner_mistakes[n - 1] - fewest_of_classes(problem, n))
        assert found.curve[n - 1, 0] <= truth <= found.curve[n - 1, 1]
    assert found.interval.lo <= truth <= found.interval.hi


@claim(
    tame(most_classes=3, most_rows=6, most_columns=2),
    covers=["regret", "Regret", "Regret.mistakes", "Regret.best_errors",
            "Regret.errors_lower_bound", "Regret.interval", "Regret.learner_mistakes",
            "Regret.rule_mistakes", "Regret.least_mistakes", "Regret.curve",
            "ErrorBound.with_zero_negative"],
    problems=30,
)  # fmt: skip
def regret(problem: Labelled) -> None:
    """No fixed rule makes fewer mistakes than the bound, and the interval holds the regret."""
    found = nv.regret(problem.X, problem.y, nv.Perceptron(fit_intercept=problem.bias))
    learner, mistakes = nv.Perceptron(fit_intercept=problem.bias), 0
    for x, label in zip(problem.X, problem.y.tolist(), strict=True):
        mistakes += learner.predict_one(x) != label
        learner.learn_one(x, label)
    assert found.mistakes == mistakes
    assert found.errors_lower_bound <= found.best_errors
    best = fewest_of_classes(problem, len(problem.y))
    assert found.learner_mistakes[-1] == mistakes
    assert found.rule_mistakes.min(axis=0)[-1] == found.best_errors
    for n in range(1, len(problem.y) + 1):
        fewest = fewest_of_classes(problem, n)
        assert found.least_mistakes[n - 1] <= fewest
        assert found.curve[n - 1, 1] >= found.learner_mistakes[n - 1] - fewest
    assert found.errors_lower_bound <= best
    assert best <= found.best_errors
    assert found.interval.lo <= mistakes - best <= found.interval.hi


@claim(
    tame(most_rows=12),
    covers=["KernelPerceptron", "KernelPerceptron.n_mistakes_", "KernelPerceptron.converged_",
            "KernelPerceptron.dual_coef_", "KernelPerceptron.update_counts_",
            "KernelPerceptron.trace_"],
    problems=40,
)  # fmt: skip
def kernel_perceptron(problem: Labelled) -> None:
    """With the linear kernel, it makes the mistakes of the perceptron, and keeps its bound."""
    whole = Labelled(problem.X.round(), problem.y, problem.bias, None, problem.seed)
    rows = whole.rows()
    learner = fitted(
        nv.KernelPerceptron(
            kernel="linear", fit_intercept=problem.bias, order="cyclic", max_epochs=50, trace=True
        ),
        whole,
    )
    ran = perceptron(rows, repeat(range(len(rows)), 50))
    assert learner.n_mistakes_ == ran.mistakes
    assert learner.converged_ == ran.clean
    assert learner.update_counts_.tolist() == np.bincount(ran.rows, minlength=len(rows)).tolist()
    norms = [sum(value * value for value in w) for w in ran.w[1:]]
    np.testing.assert_allclose(learner.trace_.squared_norm, np.array(norms, dtype=float), rtol=1e-9)

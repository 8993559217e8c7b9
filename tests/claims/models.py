"""Claims of `nv.detect_separation`: for each family, the kind, the rows and every coefficient.

The oracle (`tests.models.oracle`) writes down all inequalities of a model from its definition and
asks an exact simplex method. The problems have ties, empty levels, aliased columns, weights of 0
and numbers whose differences float64 rounds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import novikoff as nv
from novikoff.errors import DataError
from tests.claims.problems import Shown
from tests.claims.register import claim
from tests.models import model_problems, oracle
from tests.models.oracle import System

Rng = np.random.Generator


@dataclass(frozen=True, repr=False)
class Question(Shown):
    """What `nv.detect_separation` is asked: a design, an outcome and options by name."""

    family: str
    X: Any  # an array of numbers
    levels: list[str] | None  # the level of each row in a factor, whose first level is "a"
    intercept: bool
    options: dict[str, Any]  # y, weights, trials, …

    @property
    def used(self) -> list[int]:
        """The rows whose weight is not 0."""
        weights = self.options.get("weights")
        return [i for i in range(len(self.X)) if weights is None or weights[i] > 0]

    def column(self, name: str) -> Any:
        """An option for the rows that are used."""
        own = self.options.get(name)
        return None if own is None else [np.asarray(own)[i].tolist() for i in self.used]

    def ask(self) -> nv.Separation:
        """Ask the library."""
        X = self.X
        if self.levels is not None:
            X = pd.DataFrame(self.X, columns=[f"x{j}" for j in range(self.X.shape[1])])
            X["f"] = pd.Categorical(self.levels, categories=["never", "a", "b", "c", "d"])
        return nv.detect_separation(
            X, family=self.family, fit_intercept=self.intercept, **self.options
        )

    def rows(self, *, constant: bool) -> list[list[Fraction]]:
        """The columns of the model as fractions: the intercept, numbers, levels but the first."""
        levels = self.levels or []
        shown = sorted({levels[i] for i in self.used} if levels else [])
        first = [] if constant or not self.keeps else shown[:1]
        numbers = self.X[self.used].astype(float)
        same = [j for j, own in enumerate(numbers.T) if own[0] and (own == own[0]).all()]
        if constant and same:  # this column is the intercept
            order = [same[0], *(j for j in range(numbers.shape[1]) if j != same[0])]
            numbers = numbers[:, order]
        elif constant:
            numbers = np.insert(numbers, 0, 1.0, axis=1)
        found = []
        for i, row in zip(self.used, numbers.tolist(), strict=True):
            dummies = [int(levels[i] == own) for own in (*first, *shown[1:])]
            found.append([*map(Fraction, row), *map(Fraction, dummies)])
        return found

    @property
    def keeps(self) -> bool:
        """Whether a factor keeps all levels if there is no intercept."""
        return self.family in ("binomial", "poisson", "negative-binomial", "multinomial")


def table(rng: Rng, n: int, d: int) -> Any:
    """Small numbers with ties; sometimes aliased or constant columns, or rounded decimals."""
    X = rng.integers(-2, 3, size=(n, d)).astype(np.float64)
    kind = rng.integers(0, 8)
    if kind == 0 and d > 1:
        X[:, -1] = 2.0 * X[:, 0]
    elif kind == 1 and d > 2:
        X[:, 1] = X[:, 0] - X[:, 2]
    elif kind == 2:
        X = X * 0.1 + rng.integers(0, 2, size=X.shape) * 0.7
    elif kind == 3:
        X[:, 0] = X[:, 0] > 0
    elif kind == 4:
        X[:, 0] = 0.0
    return X


def weights(rng: Rng, n: int) -> dict[str, Any]:
    """Sometimes weights, of which some are 0."""
    if rng.random() < 0.7:
        return {}
    own = rng.integers(0, 3, n).astype(np.float64)
    own[0] = own[-1] = 1.0
    return {"weights": own}


def question(
    rng: Rng,
    family: str,
    outcome: Callable[[Rng, Any], dict[str, Any]],
    *,
    n: int = 9,
    d: int = 3,
    intercept: bool = True,
) -> Question:
    """A design of about n rows and at most d columns, and an outcome."""
    rows = int(rng.integers(4, n + 1))
    X = table(rng, rows, int(rng.integers(1, d + 1)))
    levels = rng.choice([*"abcd"], rows).tolist() if rng.random() < 0.25 else None
    options = {**outcome(rng, X), **weights(rng, rows)}
    return Question(family, X, levels, intercept and rng.random() < 0.8, options)


def labels(rng: Rng, X: Any, K: int) -> Any:
    """Classes 0 to K − 1, often decided by a linear score."""
    n = len(X)
    if rng.random() < 0.5:
        return rng.integers(0, K, n)
    score = X @ rng.integers(-1, 2, X.shape[1]) + rng.integers(-1, 2) * 0.5
    y = np.clip(np.floor(score + K / 2), 0, K - 1).astype(int)
    flips = rng.random(n) < rng.choice([0.0, 0.15])
    return np.where(flips, rng.integers(0, K, n), y)


def check(problem: Question, system: System, names: int, hidden: Collection[int] = ()) -> None:
    """The library's answer is the oracle's; intercepts and thresholds are ``hidden`` columns."""
    truth = oracle.answers(system, names)
    found = problem.ask()
    assert found.kind == truth.kind
    assert found.exists == (truth.kind == "overlap")
    fates = [value for value in found.coefficients.values() if value != "reference"]
    assert fates == truth.coefficients
    used = np.array(problem.used)
    assert set(found.separated.tolist()) == {int(used[i]) for i in truth.separated}
    for name, value in found.direction.items():
        fate = found.coefficients[name]
        assert {"+inf": value > 0, "-inf": value < 0}.get(fate, fate != "finite" or value == 0)
    headline = str(found).splitlines()[0]
    told = re.search(r"(no )?finite estimates exist", headline)
    assert told is not None
    assert bool(told[1]) == (truth.kind != "overlap")
    if len(problem.X) % 3 == 0:  # a linear combination, for some of the problems
        c = [(3 * j + len(problem.X)) % 5 - 2 for j in range(names)]
        wanted = oracle.functional(system, names, [Fraction(value) for value in c])
        assert found.estimable(c) == wanted
        assert found.responsible_columns is not None
        told_columns = [str(name) for name in found.responsible_columns]
        assert told_columns == responsible(problem, found, system, names, hidden)


def responsible(
    problem: Question, found: nv.Separation, system: System, p: int, hidden: Collection[int]
) -> list[str]:
    """The columns and factors without each of which nothing is separated."""
    truth = oracle.answers(system, p)
    kept = [j for j in range(p) if truth.coefficients[j] != "aliased"]
    terms: dict[str, list[int]] = {}
    names = [str(name) for name, value in found.coefficients.items() if value != "reference"]
    for j, name in enumerate(names):
        if j not in hidden:
            column = name.rpartition(":")[0] if problem.family == "multinomial" else name
            terms.setdefault(column.partition("=")[0], []).append(j)
    guilty = []
    for term, columns in terms.items():
        few = [j for j in kept if j not in columns]
        weak = [(i, [row[j] for j in few]) for i, row in system.weak]
        equal = [(i, [row[j] for j in few]) for i, row in system.equal]
        some = any(j in kept for j in columns)
        if some and truth.separated and not oracle.answers(System(weak, equal), len(few)).separated:
            guilty.append(term)
    return guilty


def binary(rng: Rng) -> Question:
    """Labels, proportions, or successes and failures; any link."""

    def outcome(rng: Rng, X: Any) -> dict[str, Any]:
        kind, y = rng.integers(0, 4), labels(rng, X, 2)
        link = str(rng.choice(["logit", "probit", "cloglog", "cauchit", "log"]))
        if kind == 0:
            return {"y": np.where(y == 1, "yes", "no"), "link": link, "reference": "no"}
        m = rng.integers(1, 4, len(X))
        s = np.where(rng.random(len(X)) < 0.8, y * m, rng.integers(0, m + 1))
        if kind == 1:
            return {"y": np.stack([s, m - s], axis=1), "link": link}
        if kind == 2:
            return {"y": s, "trials": m, "link": link}
        return {"y": y, "link": link, "reference": 0}

    return question(rng, "binomial", outcome)


@claim(
    binary,
    covers=[
        "Separation.exists", "Separation.kind", "Separation.coefficients", "Separation.separated",
        "Separation.direction", "Separation", "detect_separation",
    ],
    problems=60,
)  # fmt: skip
def binomial(problem: Question) -> None:
    """A binomial model: successes out of trials, any link."""
    y, m = successes(problem)
    X, link = problem.rows(constant=problem.intercept), problem.options["link"]
    if not oracle.has_likelihood(X, y, m, link):
        with pytest.raises(DataError, match="the likelihood is 0 for all coefficients"):
            problem.ask()
        return
    system = oracle.binomial(X, y, m, link)
    check(problem, system, len(X[0]), {0} if problem.intercept else ())


def log_binary(rng: Rng) -> Question:
    """Successes and failures with the log link and without an intercept."""

    def outcome(rng: Rng, X: Any) -> dict[str, Any]:
        m = rng.integers(1, 3, len(X))
        s = np.where(rng.random(len(X)) < 0.6, labels(rng, X, 2) * m, rng.integers(0, m + 1))
        return {"y": np.stack([s, m - s], axis=1), "link": "log"}

    return question(rng, "binomial", outcome, n=6, intercept=False)


@claim(
    log_binary, covers=["detect_separation", "Separation.exists", "Separation.kind"], problems=60
)
def log_link_without_intercept(problem: Question) -> None:
    """A binomial model with the log link has an answer only if its likelihood is not 0."""
    binomial(problem)


def successes(problem: Question) -> tuple[list[int], list[int]]:
    """Successes and trials."""
    y, m = problem.column("y"), problem.column("trials")
    if m is not None:
        return y, m
    pairs = [v if isinstance(v, list) else [int(v in (1, "yes")), int(v in (0, "no"))] for v in y]
    return [v[0] for v in pairs], [sum(v) for v in pairs]


def counts(rng: Rng) -> Question:
    """Counts, many of which are 0."""

    def outcome(rng: Rng, X: Any) -> dict[str, Any]:
        return {"y": np.maximum(0, labels(rng, X, 3) - rng.integers(0, 2)) * rng.integers(1, 3)}

    return question(rng, str(rng.choice(["poisson", "negative-binomial"])), outcome)


@claim(counts, covers=["Separation.coefficients", "Separation.separated"], problems=60)
def poisson(problem: Question) -> None:
    """A Poisson model with the log link."""
    X = problem.rows(constant=problem.intercept)
    system = oracle.poisson(X, problem.column("y"))
    check(problem, system, len(X[0]), {0} if problem.intercept else ())


def classes(rng: Rng) -> Question:
    """Three classes, or a table of counts."""

    def outcome(rng: Rng, X: Any) -> dict[str, Any]:
        y = labels(rng, X, 3)
        y[0], y[-1] = 0, 2
        if rng.random() < 0.7:
            return {"y": y}
        own = np.eye(3, dtype=int)[y] * rng.integers(1, 3, (len(y), 1))
        return {"y": own + np.eye(3, dtype=int)[rng.integers(0, 3, len(y))] * rng.integers(0, 2)}

    return question(rng, "multinomial", outcome, n=7, d=2)


@claim(classes, covers=["Separation.coefficients", "Separation.separated"], problems=40)
def multinomial(problem: Question) -> None:
    """A multinomial logit model, jointly for all classes."""
    y = problem.column("y")
    if not isinstance(y[0], list):
        shown = sorted(set(y))
        y = [[int(v == own) for own in shown] for v in y]
    X = problem.rows(constant=problem.intercept)
    p = len(X[0]) * (len(y[0]) - 1)
    intercepts = range(0, p, len(X[0])) if problem.intercept else ()
    check(problem, oracle.multinomial(X, y, 0), p, intercepts)


def ordered(rng: Rng) -> Question:
    """Ordered classes."""

    def outcome(rng: Rng, X: Any) -> dict[str, Any]:
        y = labels(rng, X, int(rng.integers(2, 6)))
        y[0], y[-1] = y.min(), y.max() + (y.min() == y.max())
        return {"y": y}

    family = str(rng.choice(["cumulative", "adjacent", "sequential"]))
    return question(rng, family, outcome, n=8, d=2, intercept=False)


@claim(ordered, covers=["Separation.coefficients", "Separation.separated"], problems=60)
def ordinal(problem: Question) -> None:
    """Cumulative, adjacent-category and sequential models."""
    y = problem.column("y")
    shown = sorted(set(y))
    codes = [shown.index(value) for value in y]
    X = problem.rows(constant=False)
    system = getattr(oracle, problem.family)(X, codes, len(shown))
    check(problem, system, len(X[0]) + len(shown) - 1, range(len(shown) - 1))


def survival(rng: Rng) -> Question:
    """Times with ties, censoring, strata and entry times."""

    def outcome(rng: Rng, X: Any) -> dict[str, Any]:
        n = len(X)
        order = np.argsort(np.argsort(-X[:, 0], kind="stable")) if rng.random() < 0.5 else None
        duration = rng.integers(2, 7, n) if order is None else order + 2
        found: dict[str, Any] = {"duration": duration.astype(float)}
        found["event"] = np.where(np.arange(n) == np.argmin(duration), 1, rng.integers(0, 2, n))
        found["ties"] = str(rng.choice(["efron", "breslow", "exact"]))
        if rng.random() < 0.3:
            found["strata"] = rng.integers(0, 2, n)
        if rng.random() < 0.4:
            found["entry"] = np.minimum(rng.integers(0, 6, n), duration - 1).astype(float)
        return found

    return question(rng, "cox", outcome, n=9, intercept=False)


@claim(survival, covers=["Separation.coefficients", "Separation.separated"], problems=80)
def cox(problem: Question) -> None:
    """A Cox model: ties, strata, entry times."""
    X = problem.rows(constant=False)
    strata = problem.column("strata") or [0] * len(X)
    times = problem.column("duration"), problem.column("event"), problem.column("entry")
    system = oracle.cox(X, *times, strata, problem.options["ties"])
    if not system.weak and not system.equal:
        return
    check(problem, system, len(X[0]))


def alternatives(rng: Rng) -> Question:
    """Groups of rows with outcomes, one choice each, or ranks."""
    family = str(rng.choice(["conditional-logit", "choice", "rank-ordered"]))

    def outcome(rng: Rng, X: Any) -> dict[str, Any]:
        n = len(X)
        groups = rng.integers(0, 3, n)
        groups[-1] = groups[0]
        if family == "conditional-logit":
            y = rng.integers(0, 2, n)
            y[0], y[-1] = 0, 1
            return {"y": y, "groups": groups}
        score = X[:, 0] + rng.random(n) * rng.choice([0.1, 5.0])
        ranks = np.ones(n)
        for g in set(groups.tolist()):
            own = np.flatnonzero(groups == g)
            ranks[own] = np.argsort(np.argsort(-score[own])) + 1
        if family == "choice":
            return {"y": (ranks == 1).astype(int), "groups": groups}
        return {"y": np.minimum(ranks, rng.integers(2, 6)), "groups": groups}

    made = question(rng, family, outcome, intercept=False)
    made.options.pop("weights", None)
    return made


@claim(alternatives, covers=["Separation.coefficients", "Separation.separated"], problems=60)
def choices(problem: Question) -> None:
    """Conditional logit, discrete choice and rank-ordered models."""
    X, y, groups = problem.rows(constant=False), problem.column("y"), problem.column("groups")
    if problem.family == "rank-ordered":
        system = oracle.preferences(X, groups, lambda i, k: y[i] < y[k])
    else:
        system = oracle.preferences(X, groups, lambda i, k: y[i] == 1 and y[k] == 0)
    check(problem, system, len(X[0]))


def tournament(rng: Rng) -> Question:
    """A table of wins between a few players."""
    k = int(rng.integers(2, 6))
    wins = rng.integers(0, 3, (k, k)) * (rng.random((k, k)) < rng.choice([0.3, 0.6]))
    np.fill_diagonal(wins, 0)
    wins[0, 1] += not wins.any()
    return Question("bradley-terry", wins, None, True, {"reference": int(rng.integers(0, k))})


@claim(tournament, covers=["Separation.coefficients", "Separation.separated"], problems=60)
def bradley_terry(problem: Question) -> None:
    """A Bradley–Terry model."""
    system = oracle.bradley_terry(problem.X.tolist(), problem.options["reference"])
    check(problem, system, len(problem.X) - 1, range(len(problem.X) - 1))


@claim(
    binary,
    covers=[
        "Separation.responsible_columns", "Separation.estimable", "Separation.certificate",
        "Separation.certified_rows", "Separation.limiting_model",
    ],
    problems=40,
)  # fmt: skip
def consequences(problem: Question) -> None:
    """What causes the separation, what remains estimable, and a certificate that verifies."""
    y, m = successes(problem)
    X = problem.rows(constant=problem.intercept)
    system = oracle.binomial(X, y, m, problem.options["link"])
    p = len(X[0])
    truth, found = oracle.answers(system, p), problem.ask()
    kinds = {"separable", "quasi-separable"} if truth.separated else {"inseparable"}
    assert found.certificate is not None
    assert found.certificate.kind in kinds
    nv.verify(found.certificate, *found.certified_rows())
    names = [name for name, fate in found.coefficients.items() if fate != "reference"]
    guilty = responsible(problem, found, system, p, {0} if problem.intercept else ())
    assert found.responsible_columns is not None
    assert [str(name) for name in found.responsible_columns] == guilty
    # A contrast, with the coefficients as they are in the oracle's rows.
    c = [(3 * j + len(X)) % 5 - 2 for j in range(p)]
    wanted = oracle.functional(system, p, [Fraction(value) for value in c])
    assert found.estimable(dict(zip(names, c, strict=True))) == wanted
    assert found.estimable(c) == wanted
    # What is left has full rank, and determines exactly the finite coefficients.
    model = found.limiting_model()
    rows = [problem.used.index(int(label)) for label in model.rows]
    assert {*range(len(X))} - {*rows} == truth.separated
    at = [names.index(name) for name in model.columns]
    left = [[X[i][j] for j in at] for i in rows]
    assert oracle.rank(left) == len(at) == (oracle.rank([X[i] for i in rows]) if rows else 0)
    assert model.finite == [
        name for j, name in enumerate(names) if truth.coefficients[j] == "finite"
    ]


@dataclass(frozen=True, repr=False)
class Likelihood(Shown):
    """A random problem of `tests.models.model_problems`."""

    name: str
    seed: int


def likelihood(rng: Rng) -> Likelihood:
    """A problem of any family of models."""
    names = [*model_problems.CASES]
    return Likelihood(names[int(rng.integers(len(names)))], int(rng.integers(1 << 30)))


@claim(
    likelihood,
    covers=["Separation.limiting_model"],
    problems=30,
)
def limits(problem: Likelihood) -> None:
    """The limiting model has the limit of the likelihood, for all families."""
    case = model_problems.problem(problem.name, problem.seed)
    model_problems.check_limit(case, problem.seed)
    assert case.found.certificate is not None
    nv.verify(case.found.certificate, *case.found.certified_rows())

"""Random small problems of every family of models, with their log-likelihoods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import novikoff as nv
from novikoff.errors import DataError
from tests.models import likelihoods
from tests.models.likelihoods import LogLik, Vector

N = 9
# Products of rows with a direction d that are not 0 are at least about 1e-6 in these problems, and
# rounding adds about 1e-16.
FAR, NEAR = 1e8, 1e-5


class Case(NamedTuple):
    """An answer, the log-likelihood of the coefficients, and the likelihood of a limiting model."""

    found: nv.Separation
    loglik: LogLik
    limiting: Callable[[Any], LogLik]


def covariates(rng: Any, n: int = N) -> Any:
    """Two covariates with many ties, so that separation is frequent."""
    X = rng.integers(-1, 3, (n, 2)).astype(float)
    if rng.random() < 0.5:
        X[:, 1] = rng.integers(0, 2, n)
    X[:2] = [[0, 1], [1, 0]]  # no column is constant
    return X


def with_intercept(X: Vector) -> Any:
    return np.column_stack([np.ones(len(X)), X])


def refit_binary(model: Any, link: str) -> LogLik:
    """The likelihood of a limiting model that is binomial, with outcomes of its own."""
    y = model.y if model.y.ndim == 2 else np.stack([model.y, 1 - model.y], axis=1)
    return likelihoods.binary(model.X, y[:, 0], y[:, 1], link)


def binary(link: str) -> Callable[[Any], Case]:
    def make(rng: Any) -> Case:
        X, trials = covariates(rng), rng.integers(1, 3, N)
        s = np.where(rng.random(N) < 0.3, rng.integers(0, trials + 1), trials * (X[:, 0] > 0))
        if link == "log":
            s = s * (X[:, 1] == X[0, 1])
        X1, f = with_intercept(X), trials - s

        def limiting(model: Any) -> LogLik:
            at = model.positions
            return likelihoods.binary(model.X, s[at], f[at], link)

        found = nv.detect_separation(X, s, trials=trials, link=link)
        return Case(found, likelihoods.binary(X1, s, f, link), limiting)

    return make


def counts(family: str) -> Callable[[Any], Case]:
    def make(rng: Any) -> Case:
        X, dispersion = covariates(rng), 0.0 if family == "poisson" else 0.7
        y = rng.poisson(0.8, N) * (rng.random(N) < 0.7)
        y[0], y[X[:, 0] == X[1, 0]] = 1, 0

        def limiting(model: Any) -> LogLik:
            return likelihoods.counts(model.X, y[model.positions], dispersion)

        found = nv.detect_separation(X, y, family=family)
        return Case(found, likelihoods.counts(with_intercept(X), y, dispersion), limiting)

    return make


def refit_choice(model: Any) -> LogLik:
    return likelihoods.conditional(model.X, model.y, model.groups, model.weights)


def multinomial(rng: Any) -> Case:
    X, y = covariates(rng), np.append([0, 1, 2], rng.integers(0, 3, N - 3))
    X[y == 2, 0] += 1
    found = nv.detect_separation(X, y, family="multinomial")
    return Case(found, likelihoods.multinomial(with_intercept(X), np.eye(3)[y]), refit_choice)


def class_counts(rng: Any) -> Case:
    X, table = covariates(rng, 5), rng.integers(0, 3, (5, 3)) * rng.integers(0, 2, (5, 3))
    table[np.arange(3), np.arange(3)] += 1
    table[3:, 0] += table[3:].sum(axis=1) == 0
    found = nv.detect_separation(X, table, family="multinomial")
    return Case(found, likelihoods.multinomial(with_intercept(X), table), refit_choice)


def ordinal(family: str, link: str = "logit", *, empty: bool = False) -> Callable[[Any], Case]:
    def make(rng: Any) -> Case:
        X = covariates(rng)
        y = np.append([0, 1, 2], rng.integers(0, 3, N - 3))
        X[:, 0] += rng.integers(0, 3) * y
        k, given = 2, y
        if empty:  # a category that does not occur
            import pandas as pd

            given = pd.Categorical([*"acd"], categories=[*"abcd"], ordered=True)[y]
        found = nv.detect_separation(X, given, family=family, link=link)
        if family == "adjacent":
            return Case(found, likelihoods.adjacent(X, y, k), refit_choice)
        if family == "sequential":
            return Case(
                found, likelihoods.sequential(X, y, k, link), lambda own: refit_binary(own, link)
            )

        def limiting(model: Any) -> LogLik:
            if model.family == "binomial":
                return refit_binary(model, link)
            own = y[model.positions]
            both = np.stack([own, own], axis=1) if model.y is None else model.y
            thresholds = [name for name in found.coefficients if "|" in str(name)]
            at = [model.columns.index(name) if name in model.columns else -1 for name in thresholds]
            n_slopes = len(model.columns) - sum(place >= 0 for place in at)
            loglik = likelihoods.intervals(model.X, both[:, 0], both[:, 1], k, link)
            slopes = [j for j in range(len(model.columns)) if j not in at]
            assert model.X.shape[1] == n_slopes == len(slopes)

            def of_columns(b: Vector) -> float:
                theta = np.where(np.array(at) >= 0, np.append(b, 0.0)[at], 0.0)
                return loglik(np.append(theta, b[slopes]))

            return of_columns

        return Case(found, likelihoods.intervals(X, y, y, k, link), limiting)

    return make


def cox(ties: str, *, entries: bool, strata: bool = False) -> Callable[[Any], Case]:
    def make(rng: Any) -> Case:
        X, t = covariates(rng), rng.integers(2, 7, N).astype(float)
        event = rng.integers(0, 2, N)
        if rng.random() < 0.6:  # the risk falls with the first covariate
            t = 3.0 - X[:, 0] + rng.integers(0, 2, N) / 2
        event[np.argmin(t)] = 1
        event[np.argsort(t)[1]] = 1
        entry = np.minimum(rng.integers(0, 4, N), t - 1).astype(float) if entries else None
        of = rng.integers(0, 2, N) if strata else np.zeros(N, dtype=int)

        def limiting(model: Any) -> LogLik:
            at = model.positions
            begins = None if entry is None else entry[at]
            return likelihoods.cox(model.X, t[at], event[at], begins, ties, model.strata)

        found = nv.detect_separation(
            X, family="cox", duration=t, event=event, entry=entry, ties=ties, strata=of
        )
        return Case(found, likelihoods.cox(X, t, event, entry, ties, of), limiting)

    return make


def choices(family: str) -> Callable[[Any], Case]:
    def make(rng: Any) -> Case:
        n = 12
        X, groups = covariates(rng, n), np.repeat([0, 1, 2], 4)
        ranks = np.concatenate([rng.permutation(4) for _ in range(3)]) + 1
        if rng.random() < 0.7:
            order = np.lexsort((rng.random(n), -X[:, 0], groups))
            ranks[order] = np.tile([1, 2, 3, 4], 3)
        ranks = np.minimum(ranks, rng.integers(3, 5))
        y = {"rank-ordered": ranks, "choice": (ranks == 1).astype(int)}.get(
            family, (ranks <= 2).astype(int)
        )
        found = nv.detect_separation(X, y, family=family, groups=groups)
        of = likelihoods.rankings if family == "rank-ordered" else likelihoods.conditional

        def limiting(model: Any) -> LogLik:
            return of(model.X, y[model.positions], model.groups)

        return Case(found, of(X, y, groups), limiting)

    return make


def bradley_terry(rng: Any) -> Case:
    wins = rng.integers(0, 3, (4, 4)) * rng.integers(0, 2, (4, 4))
    np.fill_diagonal(wins, 0)
    wins[0, 1:] += wins[1:, 0] == 0
    found = nv.detect_separation(wins, family="bradley-terry")
    return Case(found, likelihoods.paired(wins), lambda model: refit_binary(model, "logit"))


CASES: dict[str, Callable[[Any], Case]] = {
    "logit": binary("logit"),
    "probit": binary("probit"),
    "cloglog": binary("cloglog"),
    "loglog": binary("loglog"),
    "cauchit": binary("cauchit"),
    "log link": binary("log"),
    "poisson": counts("poisson"),
    "negative binomial": counts("negative-binomial"),
    "multinomial": multinomial,
    "multinomial, counts": class_counts,
    "cumulative, logit": ordinal("cumulative"),
    "cumulative, probit": ordinal("cumulative", "probit"),
    "cumulative, cloglog": ordinal("cumulative", "cloglog"),
    "cumulative, empty category": ordinal("cumulative", empty=True),
    "adjacent": ordinal("adjacent"),
    "adjacent, empty category": ordinal("adjacent", empty=True),
    "sequential": ordinal("sequential"),
    "sequential, empty category": ordinal("sequential", empty=True),
    "cox, breslow": cox("breslow", entries=False),
    "cox, efron": cox("efron", entries=False),
    "cox, exact": cox("exact", entries=False),
    "cox, strata": cox("efron", entries=False, strata=True),
    "cox, start-stop": cox("breslow", entries=True),
    "cox, start-stop, exact": cox("exact", entries=True, strata=True),
    "conditional logit": choices("conditional-logit"),
    "choice": choices("choice"),
    "rank-ordered": choices("rank-ordered"),
    "Bradley-Terry": bradley_terry,
}


def problem(name: str, seed: int) -> Case:
    """A problem whose likelihood depends on the coefficients."""
    rng = np.random.default_rng([seed, *name.encode()])
    while True:
        try:
            return CASES[name](rng)
        except DataError as error:
            assert "does not depend on the coefficients" in str(error)  # noqa: PT017


def check_limit(case: Case, seed: int) -> None:
    """The log-likelihood tends to that of the limiting model along d, from random coefficients."""
    model, rng = case.found.limiting_model(), np.random.default_rng(seed)
    names = [*case.found.direction]
    d = np.array([*case.found.direction.values()])
    at = [names.index(own) for own in model.columns]
    fates = case.found.coefficients
    assert model.finite == [name for name in names if fates[name] == "finite"]
    X: Any = model.X
    assert np.linalg.matrix_rank(X if isinstance(X, np.ndarray) else X.toarray()) == X.shape[1]
    for _ in range(5):
        few = rng.standard_normal(len(at))
        b = np.zeros(len(names))
        b[at] = few
        left = case.limiting(model)(few) if len(model.positions) else 0.0
        if np.isfinite(left):  # else b is not in the domain of the likelihood
            near = case.loglik(b + FAR * d)
            assert abs(near - left) <= NEAR, (near, left, model)

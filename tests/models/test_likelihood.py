"""The answers of `nv.detect_separation` against the likelihood itself, maximised numerically.

The likelihood of each model is written here from its definition, and maximised with a ridge penalty
that tends to 0. An infinite estimate keeps growing as the penalty vanishes, and a finite estimate
converges. Coefficients whose growth is not clear are skipped; there must be few of them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_expit, log_ndtr, logsumexp

import novikoff as nv

PROBLEMS = 3
RIDGES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
SETTLED, GROWING = 0.05, 0.25

Vector = Any


class Case(NamedTuple):
    found: nv.Separation
    loglik: Callable[[Vector], float]


def binary(link: str) -> Callable[[Any], Case]:
    def make(rng: Any) -> Case:
        X, y = table(rng), rng.integers(0, 2, 8)
        y[:2] = 0, 1
        A = np.column_stack([np.ones(8), X])
        log_of = {"logit": log_expit, "probit": log_ndtr}[link]
        return Case(
            nv.detect_separation(X, y, link=link),
            lambda b: float(log_of(np.where(y == 1, A @ b, -(A @ b))).sum()),
        )

    return make


def counts(family: str) -> Callable[[Any], Case]:
    def make(rng: Any) -> Case:
        X, y = table(rng), rng.poisson(0.6, 8)
        y[0] = 1
        A = np.column_stack([np.ones(8), X])

        def loglik(b: Vector) -> float:
            eta = np.minimum(A @ b, 500.0)
            if family == "poisson":
                return float((y * eta - np.exp(eta)).sum())
            return float((y * eta - (y + 1.0) * np.logaddexp(0.0, eta)).sum())  # dispersion 1

        return Case(nv.detect_separation(X, y, family=family), loglik)

    return make


def multinomial(rng: Any) -> Case:
    X, y = table(rng), np.append([0, 1, 2], rng.integers(0, 3, 5))
    A = np.column_stack([np.ones(8), X])

    def loglik(b: Vector) -> float:
        eta = np.column_stack([np.zeros(8), A @ b.reshape(2, -1).T])
        return float((eta[np.arange(8), y] - logsumexp(eta, axis=1)).sum())

    return Case(nv.detect_separation(X, y, family="multinomial"), loglik)


def ordinal(family: str) -> Callable[[Any], Case]:
    def make(rng: Any) -> Case:
        X, y = table(rng), np.append([0, 1, 2], rng.integers(0, 3, 5))

        def loglik(b: Vector) -> float:
            eta, total = X @ b[2:], 0.0
            if family == "adjacent":
                scores = np.column_stack([np.zeros(8), b[0] + eta, b[0] + b[1] + 2 * eta])
                return float((scores[np.arange(8), y] - logsumexp(scores, axis=1)).sum())
            for m in range(2):  # stages
                total += log_expit(b[m] + eta[y > m]).sum() + log_expit(-b[m] - eta[y == m]).sum()
            return float(total)

        return Case(nv.detect_separation(X, y, family=family), loglik)

    return make


def cox(ties: str, *, entries: bool) -> Callable[[Any], Case]:
    def make(rng: Any) -> Case:
        X, t = table(rng), rng.integers(2, 6, 8).astype(float)
        event = rng.integers(0, 2, 8)
        event[np.argmin(t)] = 1
        entry = np.minimum(rng.integers(0, 4, 8), t - 1).astype(float) if entries else None

        def loglik(b: Vector) -> float:
            eta, total = X @ b, 0.0
            for u in np.unique(t[event == 1]):
                D = np.flatnonzero((t == u) & (event == 1))
                R = np.flatnonzero((t >= u) & (True if entry is None else entry < u))
                total += eta[D].sum()
                if ties == "breslow":
                    total -= len(D) * logsumexp(eta[R])
                elif ties == "exact":
                    sets = combinations(R.tolist(), len(D))
                    total -= logsumexp([eta[list(own)].sum() for own in sets])
                else:
                    top = eta[R].max()
                    whole, tied = np.exp(eta[R] - top).sum(), np.exp(eta[D] - top).sum()
                    total -= sum(
                        np.log(whole - k / len(D) * tied) + top for k in range(len(D))
                    )  # fmt: skip
            return float(total)

        found = nv.detect_separation(
            X, family="cox", duration=t, event=event, entry=entry, ties=ties
        )
        return Case(found, loglik)

    return make


def choices(family: str) -> Callable[[Any], Case]:
    def make(rng: Any) -> Case:
        X, groups = table(rng), np.repeat([0, 1], 4)
        ranks = np.concatenate([rng.permutation(4), rng.permutation(4)]) + 1
        y = ranks if family == "rank-ordered" else (ranks == 1).astype(int)
        if family == "conditional-logit":
            y = (ranks <= 2).astype(int)

        def loglik(b: Vector) -> float:
            eta, total = X @ b, 0.0
            for g in (0, 1):
                own = np.flatnonzero(groups == g)
                if family == "conditional-logit":
                    sets = [eta[list(pair)].sum() for pair in combinations(own.tolist(), 2)]
                    total += eta[own[y[own] == 1]].sum() - logsumexp(sets)
                    continue
                order = own[np.argsort(ranks[own])]
                stages = 1 if family == "choice" else 3
                total += sum(eta[order[k]] - logsumexp(eta[order[k:]]) for k in range(stages))
            return float(total)

        return Case(nv.detect_separation(X, y, family=family, groups=groups), loglik)

    return make


def bradley_terry(rng: Any) -> Case:
    wins = rng.integers(0, 2, (4, 4))
    np.fill_diagonal(wins, 0)
    wins[0, 1:] |= wins[1:, 0] == 0

    def loglik(b: Vector) -> float:
        skill = np.append(0.0, b)
        return float((wins * log_expit(skill[:, None] - skill[None, :])).sum())

    return Case(nv.detect_separation(wins, family="bradley-terry"), loglik)


def table(rng: Any) -> Any:
    return rng.integers(-2, 3, (8, 2)).astype(float)


CASES: dict[str, Callable[[Any], Case]] = {
    "logit": binary("logit"),
    "probit": binary("probit"),
    "poisson": counts("poisson"),
    "negative binomial": counts("negative-binomial"),
    "multinomial": multinomial,
    "adjacent": ordinal("adjacent"),
    "sequential": ordinal("sequential"),
    "cox, breslow": cox("breslow", entries=False),
    "cox, efron": cox("efron", entries=False),
    "cox, exact": cox("exact", entries=False),
    "cox, start-stop": cox("breslow", entries=True),
    "conditional logit": choices("conditional-logit"),
    "choice": choices("choice"),
    "rank-ordered": choices("rank-ordered"),
    "Bradley-Terry": bradley_terry,
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # line searches divide by 0
@pytest.mark.parametrize("name", CASES)
def test_infinite_estimates_grow_as_the_ridge_vanishes(name: str) -> None:
    assert compared(name, PROBLEMS) >= 0.7


def compared(name: str, problems: int) -> float:
    """Compare the coefficients of many problems; return the share whose growth is clear."""
    clear, total = 0, 0
    for seed in range(problems):
        found, loglik = CASES[name](np.random.default_rng([seed, len(name)]))
        fates = [*found.coefficients.values()][: len([*found.direction])]
        if "aliased" in fates:
            continue
        growth = growth_of(loglik, len(fates))
        if growth is None:
            total += len(fates)
            continue
        for fate, grown in zip(fates, growth, strict=True):
            total += 1
            if SETTLED <= abs(grown) <= GROWING:
                continue
            # A coefficient that may have either sign may also stay finite.
            if fate != "either sign":
                told = {"+inf": grown > GROWING, "-inf": grown < -GROWING}
                assert told.get(fate, abs(grown) < SETTLED), (name, seed, fates, growth)
            clear += 1
    return clear / max(total, 1)


def growth_of(loglik: Callable[[Vector], float], p: int) -> Any:
    """The growth of each coefficient in the last step of the penalty; None if it is not found."""
    path = [np.zeros(p)]
    for ridge in RIDGES:

        def minus(b: Vector, ridge: float = ridge) -> float:
            return ridge * float(b @ b) - loglik(b)

        best = minimize(minus, path[-1], method="Nelder-Mead" if p < 2 else "Powell",
                        options={"xtol": 1e-7, "ftol": 1e-14, "maxiter": 20_000}
                        if p > 1 else {"xatol": 1e-7, "fatol": 1e-14})  # fmt: skip
        polished = minimize(minus, best.x, method="BFGS", options={"gtol": 1e-10})
        path.append(polished.x if polished.fun <= best.fun else best.x)
    slope = [
        abs(loglik(path[-1] + h) - loglik(path[-1] - h)) / 2e-4 for h in 1e-4 * np.eye(p)
    ]  # fmt: skip
    wanted = 2 * RIDGES[-1] * np.abs(path[-1])
    return path[-1] - path[-2] if np.all(np.abs(slope - wanted) < 2e-6) else None

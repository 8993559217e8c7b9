"""The least cost of mistakes by boxes of rules, compared with an enumeration in rationals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import novikoff as nv
from novikoff.core.rows import Vector
from novikoff.proofs import rule_boxes
from novikoff.proofs.rule_boxes import BoxSearch
from tests.cases import case_named
from tests.oracle import signed

pytestmark = pytest.mark.usefixtures("brief_descents")

Point = tuple[Fraction, ...]


def null_vectors(rows: list[Point], p: int) -> list[list[Fraction]]:
    """A basis of all w with ⟨a, w⟩ = 0 for the rows, by elimination in fractions."""
    table, pivots = [list(row) for row in rows], list[int]()
    for j in range(p):
        k = next((i for i in range(len(pivots), len(table)) if table[i][j]), None)
        if k is None:
            continue
        at = len(pivots)
        table[at], table[k] = table[k], table[at]
        table[at] = [value / table[at][j] for value in table[at]]
        for i, row in enumerate(table):
            if i != at and row[j]:
                table[i] = [x - row[j] * y for x, y in zip(row, table[at], strict=True)]
        pivots.append(j)
    basis = []
    for free in (j for j in range(p) if j not in pivots):
        w = [Fraction(0)] * p
        w[free] = Fraction(1)
        for row, j in zip(table, pivots, strict=False):
            w[j] = -row[free]
        basis.append(w)
    return basis


def least_cost(rows: list[Point], costs: list[Fraction]) -> Fraction:
    """The least cost of the rows with ⟨a, w⟩ ≤ 0, over all w, by enumeration.

    Rules that are not on any row's hyperplane suffice. Each of them is near a line on which as many
    independent rows vanish as possible. On both sides of every such line, the rows that do not
    vanish have the same sign as nearby, and the others are a problem of their own.
    """
    always = sum((c for a, c in zip(rows, costs, strict=True) if not any(a)), Fraction(0))
    kept = [(a, c) for a, c in zip(rows, costs, strict=True) if any(a)]
    if not kept:
        return always
    p, points = len(kept[0][0]), [a for a, _ in kept]
    blind = null_vectors(points, p)  # directions that change no product
    rank, least, seen = p - len(blind), None, set[frozenset[int]]()
    for chosen in combinations(points, rank - 1):
        lines = null_vectors([*chosen, *(tuple(w) for w in blind)], p)
        if len(lines) != 1:
            continue
        sides = [sum(map(lambda x, y: x * y, a, lines[0]), Fraction(0)) for a in points]
        vanish = frozenset(i for i, side in enumerate(sides) if side == 0)
        if vanish in seen:
            continue
        seen.add(vanish)
        rest = least_cost([points[i] for i in vanish], [kept[i][1] for i in vanish])
        for turn in (1, -1):
            wrong = (c for (_, c), side in zip(kept, sides, strict=True) if turn * side < 0)
            cost = rest + sum(wrong, Fraction(0))
            least = cost if least is None else min(least, cost)
    assert least is not None
    return always + least


KINDS = ["general", "grid", "duplicates", "collinear", "zeros", "nearly collinear", "sizes"]


def problem(seed: int) -> tuple[Vector, Any, bool, Vector | None]:
    """A few rows of at most three columns, with labels, a bias or none, and costs or none."""
    rng, kind = np.random.default_rng(seed), KINDS[seed % len(KINDS)]
    n, d = int(rng.integers(4, 13)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d))
    if kind == "grid":
        X = rng.integers(-1, 2, size=(n, d)).astype(np.float64)
    if kind == "duplicates":
        X = X[rng.integers(max(2, n // 2), size=n)]
    if kind in ("collinear", "nearly collinear"):
        X = rng.integers(-3, 4, size=(n, 1)) * rng.integers(1, 9, size=d) / 4.0
        X += rng.integers(2, size=(n, 1))
        X[:2] = rng.normal(size=(2, d))
        X = X + (rng.normal(size=X.shape) * 1e-15 if kind == "nearly collinear" else 0.0)
    if kind == "zeros":
        X[rng.random(X.shape) < 0.5] = 0.0
        X[0] = 0.0
    if kind == "sizes":
        X *= 10.0 ** rng.integers(-150, 150, size=(1, d))
    y = rng.choice([-1, 1], size=n)
    y[0] = -y[-1]
    pick = int(rng.integers(4))
    weights = [None, None, rng.integers(0, 4, size=n) + (np.arange(n) == 0), rng.random(n)][pick]
    return X, y, bool(rng.random() < 0.6), None if weights is None else weights.astype(np.float64)


def exactly(X: Vector, y: Any, bias: bool) -> list[Point]:
    return [tuple(map(Fraction, row)) for row in signed(X, y, bias).tolist()]


def optimum(seed: int) -> tuple[Vector, Any, bool, Vector | None, Fraction]:
    X, y, bias, weights = problem(seed)
    costs = [Fraction(1)] * len(y) if weights is None else [Fraction(c) for c in weights.tolist()]
    return X, y, bias, weights, least_cost(exactly(X, y, bias), costs)


@pytest.mark.parametrize("first", range(0, 560, 35))
def test_the_search_proves_the_optimum_and_nothing_more(first: int) -> None:
    for seed in range(first, first + 35):
        X, y, bias, weights, least = optimum(seed)
        A = signed(X, y, bias)
        costs = None if weights is None else [Fraction(c) for c in weights.tolist()]
        step = Fraction(1) if weights is None else Fraction(1, 1 << 60)
        with case_named((seed, KINDS[seed % len(KINDS)])):
            bound = BoxSearch(A, costs, most=1 << 20).prove(least)
            assert bound <= least
            if KINDS[seed % len(KINDS)] != "nearly collinear":  # floats do not resolve all cells
                assert bound == least
            assert BoxSearch(A, costs, most=1 << 20).prove(least + step) <= least


@pytest.mark.parametrize("first", range(0, 105, 35))
def test_the_rule_is_the_best_one_and_its_certificate_holds(first: int) -> None:
    """Rule, number, rows and certificate; without a bias, rows of zeros may be correct."""
    for seed in range(first, first + 35):
        X, y, bias, weights, least = optimum(seed)
        model: Any = nv.Pocket(random_state=0, fit_intercept=bias, max_updates=300)
        model.fit(X, y, sample_weight=weights)
        wrong = model.predict(X) != y
        cost = sum(map(Fraction, np.ones(len(y))[wrong] if weights is None else weights[wrong]))
        free = sum(
            (Fraction(1) if weights is None else Fraction(weights[i]))
            for i in range(len(y))
            if not bias and not X[i].any() and y[i] < 0
        )
        with case_named((seed, KINDS[seed % len(KINDS)])):
            assert float(cost) == model.n_errors_
            assert model.certificate_.bound <= least - free
            nv.verify(model.certificate_, X, y, sample_weight=weights)
            if KINDS[seed % len(KINDS)] != "nearly collinear":  # no floats may be in a tiny cell
                assert cost == least - free
                assert model.optimal_


def corners() -> tuple[Vector, Any, nv.ErrorBound]:
    """Sixteen rows that the search decides, with their certificate."""
    rng = np.random.default_rng(3)
    X = rng.integers(-4, 5, size=(16, 2)).astype(np.float64)
    y = rng.integers(2, size=16)
    proof: Any = nv.Pocket(random_state=0).fit(X, y).certificate_
    assert proof.search is not None
    return X, y, proof


def test_a_proof_by_a_search_survives_its_text_and_is_checked() -> None:
    X, y, proof = corners()
    again = nv.ErrorBound.from_json(proof.to_json())
    assert again == proof
    assert f"at least {proof.bound} row" in nv.verify(again, X, y)
    nv.verify(again, X, y, sample_weight=np.full(16, 1.5))
    with pytest.raises(nv.CertificateError, match="does not prove"):
        nv.verify(again, X, y, sample_weight=np.full(16, 0.5))


def test_a_bound_that_a_check_cannot_repeat_is_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search for a rule leaves other boxes open than a check, where floats resolve no box."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(2, size=60)
    complete: Any = nv.Pocket(random_state=0).fit(X, y).certificate_
    prove = BoxSearch.prove

    def incomplete(search: BoxSearch, target: Fraction, improve: Any = None) -> Fraction:
        return Fraction(0) if improve is None else prove(search, target, improve) - 1

    monkeypatch.setattr(BoxSearch, "prove", incomplete)
    proof: Any = nv.Pocket(random_state=0).fit(X, y).certificate_
    assert proof.search is None
    assert proof.bound <= complete.bound
    nv.verify(proof, X, y)


def test_a_search_may_be_repeated() -> None:
    X, y, proof = corners()
    search = BoxSearch(signed(X, np.where(y == 1, 1, -1), True))
    operations = []
    for _ in range(2):
        assert search.prove(proof.bound) == proof.bound
        operations.append(search.operations)
    assert operations[0] == operations[1]


FORGERIES: dict[str, Any] = {
    "bound raised": lambda p: replace(p, bound=p.bound + 1),
    "bound raised a little": lambda p: replace(p, bound=p.bound + Fraction(1, 10**20)),
    "no search": lambda p: replace(p, search=None),
    "too few operations": lambda p: replace(p, search=replace(p.search, operations=0)),
    "negative operations": lambda p: replace(p, search=replace(p.search, operations=-1)),
    "too many operations": lambda p: replace(p, search=replace(p.search, operations=1 << 50)),
    "too many rows": lambda p: replace(p, n=1 << 40),
    "other digest": lambda p: replace(p, sha256="0" * 64),
    "classes exchanged and bound raised": lambda p: replace(
        p, positive=p.negative, negative=p.positive, bound=p.bound + 1
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_searches_are_rejected(name: str) -> None:
    X, y, proof = corners()
    with pytest.raises(nv.CertificateError):
        nv.verify(FORGERIES[name](proof), X, y)


def test_other_labels_are_rejected() -> None:
    X, y, proof = corners()
    y[0] = 1 - y[0]
    with pytest.raises(nv.CertificateError):
        nv.verify(proof, X, y)


def test_a_bound_on_costs_says_so() -> None:
    X, y, _ = corners()
    weights = np.random.default_rng(0).random(16)
    proof: Any = nv.Pocket(random_state=0).fit(X, y, sample_weight=weights).certificate_
    assert proof.search.weighted
    assert "a total sample_weight of at least" in nv.verify(proof, X, y, sample_weight=weights)
    with pytest.raises(nv.CertificateError):
        nv.verify(replace(proof, bound=proof.bound + 1), X, y, sample_weight=weights)


def test_centres_of_boxes_are_exact() -> None:
    """No width is halved so often that the centre of a half would be rounded."""
    C, H = np.array([[1.0, 0.7]]), np.array([[0.0, 1.0, 1.0]])
    C[0, 1] = np.ldexp(np.round(np.ldexp(0.7, 48)), -48)
    while (H[:, :-1] > rule_boxes._SMALLEST).any():
        low_end, high_end = (Fraction(C[0, 1]) + side * Fraction(H[0, 1]) for side in (-1, 1))
        centres, halves = rule_boxes._halved(C, H, np.ones((1, 2)))
        (low, high), half = map(Fraction, centres[:, 1].tolist()), Fraction(halves[0, 1])
        assert (low - half, low + half, high + half) == (low_end, high - half, high_end)
        C, H = centres[1:], halves[1:]


def wrong_bounds() -> int:
    """The number of problems for which the search claims more than the optimum."""
    n_wrong = 0
    for seed in (1, 2, 3, 4, 8, 9, 11, 15, 16, 18, 22, 23):
        X, y, bias, weights, least = optimum(seed)
        costs = None if weights is None else [Fraction(c) for c in weights.tolist()]
        search = BoxSearch(signed(X, y, bias), costs, most=1 << 20)
        n_wrong += search.prove(least + (1 if weights is None else least / 8 + 1)) > least
    return n_wrong


def test_mutants_of_the_search_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    assert wrong_bounds() == 0
    with monkeypatch.context() as patch:  # rows that cross a box count as mistakes
        patch.setattr(rule_boxes._Boxes, "_costs", lambda self, wrong: np.full(len(wrong), 1e9))
        assert wrong_bounds() > 0
    with monkeypatch.context() as patch:  # the bias is forgotten
        merge = BoxSearch._merge

        def without_bias(search: BoxSearch) -> Any:
            search.A = search.A[:, :-1]
            return merge(search)

        patch.setattr(BoxSearch, "_merge", without_bias)
        assert wrong_bounds() > 0
    with monkeypatch.context() as patch:  # ties are broken to the wrong side
        exact = rule_boxes.least_in_the_plane
        patch.setattr(rule_boxes, "least_in_the_plane", lambda rows, costs: 1 + exact(rows, costs))
        assert wrong_bounds() > 0

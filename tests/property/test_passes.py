"""Visits give the same bits for every order of merging, and mostly for every cut of the rows."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.core.problem import signed_problem
from novikoff.core.rows import Vector
from novikoff.geometry.duplicates import RowHashes
from novikoff.geometry.null_space import Missed
from novikoff.geometry.passes import LocalPasses, Passes
from novikoff.geometry.visits import (
    ColumnSums,
    ExactSigns,
    LeastProducts,
    MostViolated,
    Sizes,
    Visit,
)
from novikoff.proofs import exact
from tests.cases import csr

Make = Callable[[Passes, Vector, np.random.Generator], Visit]


def _most_violated(by_side: bool, centred: bool) -> Make:
    def make(passes: Passes, w: Vector, rng: np.random.Generator) -> Visit:
        centre = np.full(passes.d, 0.5) if centred and not passes.sparse else None
        levels = (float(rng.normal()) + 1.0, float(rng.normal()) + 1.0)
        return MostViolated(w, exact.floats(w), 1e-9, 3, levels, centre, by_side=by_side)

    return make


VISITS: dict[str, Make] = {
    "most violated": _most_violated(False, False),
    "most violated of each side": _most_violated(True, False),
    "most violated, centred": _most_violated(True, True),
    "least": lambda passes, w, rng: LeastProducts(exact.floats(w), passes.doubt(w)),
    "sizes": lambda passes, w, rng: Sizes(np.ones(passes.p)),
    "signs": lambda passes, w, rng: ExactSigns(
        exact.numbers([Fraction(int(4 * value), 3) for value in w]), passes.doubt(w)
    ),
    "sums": lambda passes, w, rng: ColumnSums(rng.random(passes.n) < 0.7),
    "hashes": lambda passes, w, rng: RowHashes(),
    "rows missed": lambda passes, w, rng: Missed(
        rng.random(passes.n) < 0.5,
        [dict(enumerate(v)) for v in rng.integers(-2, 3, size=(2, passes.p)).tolist()],
    ),
}


def seen(visit: Any) -> object:
    """The result of a visit as bytes, so that it can be compared bit by bit."""
    if isinstance(visit, Visit):
        return {name: seen(value) for name, value in vars(visit).items()}
    if isinstance(visit, dict):
        return {key: seen(visit[key]) for key in sorted(visit)}
    if isinstance(visit, np.ndarray):
        return (
            visit.dtype.str,
            visit.shape,
            visit.tolist() if visit.dtype == object else bytes(visit),
        )
    if isinstance(visit, list | tuple):
        return [seen(part) for part in visit]
    return visit.hex() if isinstance(visit, float) else visit


def joined(visit: Any) -> object:
    """The same, with pieces joined in the order of their first rows."""
    for name, value in vars(visit).items():
        pieces = [*value.values()] if isinstance(value, dict) else []
        if pieces and all(isinstance(piece, np.ndarray) for piece in pieces):
            setattr(visit, name, {0: np.concatenate([value[k] for k in sorted(value)])})
    return seen(visit)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(VISITS)), st.integers(0, 10**6), st.booleans(), st.booleans())
def test_merging_in_any_order_gives_the_same_bits(
    name: str, seed: int, sparse: bool, fit_intercept: bool
) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 30)), int(rng.integers(1, 5))
    X = rng.integers(-2, 3, size=(n, d)) * rng.choice(np.array([1.0, 1.0, 0.1, 1e-3]), size=(n, d))
    X[rng.integers(n)] = X[rng.integers(n)]
    signs = rng.choice([-1, 1], size=n).astype(np.int8)
    passes = LocalPasses(signed_problem(csr(X) if sparse else X, signs, fit_intercept))
    w: Vector = np.asarray(rng.integers(-2, 3, size=passes.p) + 0.5, dtype=np.float64)
    question = VISITS[name](passes, w, rng)
    edges = np.unique(np.concatenate([[0, n], rng.integers(0, n, size=4)])).tolist()

    def tree() -> Visit:
        parts = []
        for first, last in pairwise(edges):
            parts.append(question.blank())
            parts[-1].look_at(passes.whole_part.range(first, last))
        while len(parts) > 1:  # merge any two parts, in either order
            i, j = rng.permutation(len(parts))[:2].tolist()
            parts[i].merge(parts[j])
            del parts[j]
        return parts[0]

    one, two = tree(), tree()
    assert seen(one) == seen(two)
    whole = question.blank()
    whole.look_at(passes.whole_part)
    assert joined(one) == joined(whole)
    assert seen(question.blank()) == seen(question)

"""Columns of tables as rows of a matrix: by the kernel and without it, the same numbers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from novikoff.data import fill as module
from novikoff.data.arrow import Cells, arrow
from novikoff.data.features import Numbers
from novikoff.data.fill import fill

KINDS = ["float32", "float64", "int16", "bool", "halffloat", "float64 with gaps", "float64 odd"]


def column(kind: str, n: int, rng: np.random.Generator) -> Cells:
    """Numbers in chunks of odd lengths, which begin in the middle of their memory."""
    pa, before = arrow(), int(rng.integers(5))
    x = rng.normal(size=before + n) * 100.0
    if "odd" in kind:
        x[rng.integers(len(x))] = rng.choice([np.inf, -np.inf, np.nan])
    name = kind.split()[0]
    if name == "bool":
        values = pa.array(x > 0.0)
    else:
        of = {"halffloat": "float16"}.get(name, name)
        gaps = rng.random(before + n) < 0.2 if "gaps" in kind else None
        values = pa.array(x.astype(of), mask=gaps)
    values = values.slice(before)
    cuts = sorted(rng.integers(0, n + 1, size=2).tolist())
    edges = [0, *cuts, n]
    chunks = [values.slice(a, b - a) for a, b in pairwise(edges)]
    cells: Cells = pa.chunked_array(chunks)
    return cells


@pytest.mark.parametrize("large", [0, 1 << 60], ids=["kernel", "columns"])
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(1, 700),
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=6),
)
@example(seed=0, n=600, kinds=["float64 odd", "float64"])
@example(seed=1, n=600, kinds=["float64 odd"])
@example(seed=2, n=600, kinds=["float64 odd"])
@example(seed=3, n=600, kinds=["float64 odd"])
@example(seed=4, n=700, kinds=["float32"] * 21)
@example(seed=5, n=300, kinds=["float64"] * 11)
@example(seed=6, n=600, kinds=["float64"] * 6 + ["int16"] + ["float64"] * 3 + ["bool"] * 2)
@example(seed=7, n=600, kinds=["float64", "int16", "bool", "float64"])
@example(seed=8, n=600, kinds=["float64", "float64", "bool", "float64"])
def test_every_number_is_where_it_belongs(large: int, seed: int, n: int, kinds: list[str]) -> None:
    rng = np.random.default_rng(seed)
    columns = [column(kind, n, rng) for kind in kinds]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LARGE", large)
        X, largest_sq = fill([Numbers("x", cells) for cells in columns], n, "rows")
    single = all(kind in ("float32", "halffloat") for kind in kinds)
    assert X.dtype == (np.float32 if single else np.float64)
    if largest_sq < np.inf:
        assert np.isfinite(X).all()
        assert np.isclose(largest_sq, np.square(X.astype(np.float64)).sum(axis=1).max(), rtol=1e-14)
    elif large == 0 and set(kinds) in ({"float32"}, {"float64"}):
        raise AssertionError("Plain numbers are known to be finite.")
    for j, cells in enumerate(columns):
        wanted = np.array(cells.to_pylist(), dtype=np.float64)  # None is NaN
        assert np.array_equal(X[:, j].astype(np.float64), wanted, equal_nan=True)

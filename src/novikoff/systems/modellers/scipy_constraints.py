"""Constraints of SciPy: a ``LinearConstraint``, ``Bounds``, or a list of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from novikoff.systems.files.builder import ModelBuilder
from novikoff.systems.modellers.highspy_models import add_rows


def read_model(model: Any, builder: ModelBuilder) -> None:
    """Add two-sided rows lb ≤ A w ≤ ub and bounds; variables are w[0], w[1] and so on."""
    import scipy.sparse as sp

    builder.source = "the constraints of SciPy"
    parts = [*model] if isinstance(model, list | tuple) else [model]
    bounds = [part for part in parts if type(part).__name__ == "Bounds"]
    rows = [part for part in parts if type(part).__name__ == "LinearConstraint"]
    if len(bounds) > 1 or len(bounds) + len(rows) < len(parts) or not rows:
        raise ValueError("LinearConstraint, and at most one Bounds, can be read.")
    matrices: list[Any] = [row.A if sp.issparse(row.A) else np.atleast_2d(row.A) for row in rows]
    tables: list[Any] = [sp.csr_array(matrix) for matrix in matrices]
    d = tables[0].shape[1]
    low, high = (bounds[0].lb, bounds[0].ub) if bounds else (-np.inf, np.inf)
    pairs = zip(np.broadcast_to(low, d).tolist(), np.broadcast_to(high, d).tolist(), strict=True)
    for j, (least, most) in enumerate(pairs):
        builder.add_variable(f"w[{j}]", least, most)
    first = 0
    for row, A in zip(rows, tables, strict=True):
        n = A.shape[0]
        if A.shape[1] != d:
            raise ValueError(f"a LinearConstraint has {A.shape[1]} columns, another {d}.")
        sides = (np.broadcast_to(side, n).tolist() for side in (row.lb, row.ub))
        add_rows(builder, A, [f"row {first + i}" for i in range(n)], *sides)
        first += n

"""Models of highspy: a ``Highs`` object or a ``HighsLp``."""

from __future__ import annotations

from typing import Any

import numpy as np

from novikoff.systems.files.builder import ModelBuilder, as_written

_NOT_LINEAR = {"kSemiContinuous": "semi-continuous", "kSemiInteger": "semi-integer"}


def read_model(model: Any, builder: ModelBuilder) -> None:
    """Add the columns and the rows of a ``Highs`` object."""
    import scipy.sparse as sp

    if hasattr(model, "getModel") and model.getModel().hessian_.dim_ > 0:
        builder.notes.append("the quadratic objective is left out")
    lp = model.getLp() if hasattr(model, "getLp") else model
    if not hasattr(lp, "a_matrix_"):
        raise ValueError("give the Highs object, which has the rows.")
    builder.source = lp.model_name_ or "the model of HiGHS"
    kinds = [kind.name for kind in lp.integrality_] or ["kContinuous"] * lp.num_col_
    names = [*lp.col_names_] or [""] * lp.num_col_
    columns = zip(names, lp.col_lower_, lp.col_upper_, kinds, strict=True)
    for name, low, high, kind in columns:
        if kind in _NOT_LINEAR:
            raise ValueError(f"the column {name!r} is {_NOT_LINEAR[kind]}, which is not linear.")
        builder.add_variable(name, low, high, integer=kind != "kContinuous")
    matrix = lp.a_matrix_
    parts = np.array(matrix.value_), np.array(matrix.index_), np.array(matrix.start_)
    shape = lp.num_row_, lp.num_col_
    by_row = matrix.format_.name == "kRowwise"
    A: Any = (
        sp.csr_array(parts, shape=shape) if by_row else sp.csc_array(parts, shape=shape).tocsr()
    )
    add_rows(builder, A, [*lp.row_names_], lp.row_lower_, lp.row_upper_)


def add_rows(builder: ModelBuilder, A: Any, names: list[str], low: Any, high: Any) -> None:
    """Add the rows low ≤ A w ≤ high of a CSR matrix."""
    numbers = [as_written(value, "a coefficient") for value in A.data.tolist()]
    ends = A.indptr.tolist()
    for i, (least, most) in enumerate(zip(low, high, strict=True)):
        places = slice(ends[i], ends[i + 1])
        terms: dict[int, Any] = {}
        for j, value in zip(A.indices[places].tolist(), numbers[places], strict=True):
            terms[j] = terms.get(j, 0) + value
        builder.add_between(names[i] if names else "", terms, least, most)

"""Models of linopy: a ``Model``."""

from __future__ import annotations

from typing import Any

import numpy as np

from novikoff.systems.files.builder import ModelBuilder, as_written


def read_model(model: Any, builder: ModelBuilder) -> None:
    """Add the variables and the constraints of a ``Model``, named by their coordinates."""
    if not hasattr(model, "constraints"):
        raise ValueError("give the Model, which has the constraints.")
    builder.source = "the model of linopy"
    for what, words in (
        ("sos", "special ordered sets (SOS)"),
        ("semi_continuous", "semi-continuous variables"),
    ):
        listed = [*getattr(model.variables, what, ())]
        if listed:
            raise ValueError(f"{listed[0]!r} has {words}, which are not linear.")
    if len([*getattr(model, "indicator_constraints", ())]):
        raise ValueError("the model has indicator constraints, which are not linear.")
    whole = {*model.variables.integers, *model.variables.binaries}
    index: dict[int, int] = {}
    for name in model.variables:
        part = model.variables[name]
        sides = (
            np.broadcast_to(side.values, part.shape).ravel() for side in (part.lower, part.upper)
        )
        for (label, at), low, high in zip(_labels(part), *sides, strict=True):
            if label >= 0:
                index[label] = builder.add_variable(at, low, high, integer=name in whole)
    for name in model.constraints:
        part = model.constraints[name]
        labels = part.labels
        signs, rights = (
            side.broadcast_like(labels).transpose(*labels.dims).values.ravel()
            for side in (part.sign, part.rhs)
        )
        tables = [
            table.transpose(*labels.dims, part.term_dim).values.reshape(labels.size, -1)
            for table in (part.vars, part.coeffs)
        ]
        for k, (label, at) in enumerate(_labels(part)):
            if label < 0:  # masked
                continue
            terms: dict[int, Any] = {}
            for variable, value in zip(*(table[k].tolist() for table in tables), strict=True):
                if variable in index:
                    number = as_written(value, f"a coefficient of {at!r}")
                    terms[index[variable]] = terms.get(index[variable], 0) + number
            sign, right = str(signs[k]), rights[k]
            builder.add_between(
                at, terms, right if sign in ">==" else None, right if sign in "<==" else None
            )


def _labels(part: Any) -> list[tuple[int, str]]:
    """The label and the name of every element, such as ``demand[tea, 3]``."""
    labels = part.labels
    numbers = labels.values
    if numbers.ndim == 0:
        return [(int(numbers), str(part.name))]
    coordinates = [labels.indexes[dim].tolist() for dim in labels.dims]
    pairs = []
    for at in np.ndindex(numbers.shape):
        where = ", ".join(str(axis[k]) for axis, k in zip(coordinates, at, strict=True))
        pairs.append((int(numbers[at]), f"{part.name}[{where}]"))
    return pairs

"""Models of CVXPY: a ``Problem`` whose constraints are affine."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.systems.files.builder import ModelBuilder, as_written

# The kinds of constraints whose expression is compared with 0 by ≤ or =.
_RELATIONS = {"Inequality": "<=", "NonPos": "<=", "NonNeg": ">=", "Equality": "=", "Zero": "="}
# Attributes of variables that bounds express.
_ATTRIBUTES = ("nonneg", "pos", "nonpos", "neg", "integer", "boolean", "bounds", "diag")
_MAX_NAME = 60


def read_model(model: Any, builder: ModelBuilder) -> None:
    """Add the variables and the affine constraints of a ``Problem``.

    A constraint is named by its label, or by its text; elements of it by their index.
    """
    if not hasattr(model, "constraints"):
        raise ValueError("give the Problem, which has the constraints.")
    builder.source = "the problem of CVXPY"
    for row in model.constraints:
        kind = type(row).__name__
        if kind not in _RELATIONS or not _expression(row).is_affine():
            raise ValueError(f"the constraint {_name(row)!r} ({kind}) is not affine.")
    for parameter in model.parameters():
        if parameter.value is None:
            raise ValueError(f"the parameter {parameter.name()!r} has no value.")
    variables = {x.id: x for row in model.constraints for x in row.variables()}
    variables |= {x.id: x for x in model.variables()}
    first: dict[int, int] = {}
    for key, x in variables.items():
        first[key] = len(builder.variables)
        _add_variable(x, builder)
    values = {key: x.value for key, x in variables.items()}
    try:
        for x in variables.values():  # an affine expression has the same gradient everywhere
            x.save_value(np.zeros(x.shape))
        for row in model.constraints:
            _add_row(row, first, builder)
    finally:
        for key, x in variables.items():
            x.save_value(values[key])


def _add_variable(x: Any, builder: ModelBuilder) -> None:
    set_ = [
        name for name, value in x.attributes.items() if value is not None and value is not False
    ]
    other = [name for name in set_ if name not in _ATTRIBUTES[:-1]]
    if other:
        raise ValueError(
            f"the variable {x.name()!r} has the attribute {other[0]}, which no row has."
        )
    low, high = np.full(x.size, -np.inf), np.full(x.size, np.inf)
    if x.attributes.get("bounds") is not None:
        sides = [np.broadcast_to(side, x.shape).ravel(order="F") for side in x.attributes["bounds"]]
        low, high = sides[0].astype(float), sides[1].astype(float)
    if {"nonneg", "pos", "boolean"} & {*set_}:
        low = np.maximum(low, 0.0)
    if {"nonpos", "neg"} & {*set_}:
        high = np.minimum(high, 0.0)
    if "boolean" in set_:
        high = np.minimum(high, 1.0)
    whole = bool({"integer", "boolean"} & {*set_})
    for k, at in enumerate(_indices(x.shape)):
        builder.add_variable(f"{x.name()}{at}", low[k], high[k], integer=whole)


def _add_row(row: Any, first: dict[int, int], builder: ModelBuilder) -> None:
    """Add the elements of a constraint, as left − right compared with 0.

    Each summand is its value at 0 plus its gradient. The summands are added exactly: CVXPY would
    round 0.1 − 0.3.
    """
    relation, name = _RELATIONS[type(row).__name__], _name(row)
    sides = [(row.args[0], 1)]
    sides += [(side, -1) for side in row.args[1:]]
    shape = _expression(row).shape
    size = int(np.prod(shape, dtype=np.int64))
    terms: list[dict[int, Any]] = [{} for _ in range(size)]
    constants = [Fraction(0)] * size
    for side, sign in sides:
        for summand, turned in _summands(side, sign):
            _add_summand(summand, turned, first, (terms, constants), shape, name)
    for k, at in enumerate(_indices(shape)):
        right = -constants[k]
        builder.add_between(
            f"{name}{at}",
            terms[k],
            right if relation in (">=", "=") else None,
            right if relation in ("<=", "=") else None,
        )


def _summands(expression: Any, sign: int) -> Iterator[tuple[Any, int]]:
    """The parts of a sum of expressions of one shape, each with its sign."""
    kind = type(expression).__name__
    inner = kind in ("AddExpression", "NegExpression")
    if inner and all(part.shape == expression.shape for part in expression.args):
        for part in expression.args:
            yield from _summands(part, -sign if kind == "NegExpression" else sign)
    else:
        yield expression, sign


def _add_summand(
    summand: Any,
    sign: int,
    first: dict[int, int],
    sums: tuple[list[dict[int, Any]], list[Fraction]],
    shape: tuple[int, ...],
    name: str,
) -> None:
    """Add an affine expression to the terms and the constants of the elements of a constraint."""
    import scipy.sparse as sp

    terms, constants = sums
    places = np.broadcast_to(
        np.arange(summand.size).reshape(summand.shape, order="F"), shape
    ).ravel(order="F")
    for k, place in enumerate(places.tolist()):
        value = np.ravel(summand.value, order="F")[place]
        constants[k] += sign * as_written(value, f"the constant of {name!r}")
    for x, gradient in summand.grad.items():
        if gradient is None:
            raise ValueError(f"the constraint {name!r} has no gradient.")
        table = sp.csc_array(sp.coo_array([[gradient]]) if np.ndim(gradient) == 0 else gradient)
        for k, place in enumerate(places.tolist()):
            entries = slice(table.indptr[place], table.indptr[place + 1])
            for j, value in zip(
                table.indices[entries].tolist(), table.data[entries].tolist(), strict=True
            ):
                number = sign * as_written(value, f"a coefficient of {name!r}")
                terms[k][first[x.id] + j] = terms[k].get(first[x.id] + j, 0) + number


def _expression(row: Any) -> Any:
    """The expression that is compared with 0."""
    return row.expr if hasattr(row, "expr") else row.args[0]


def _name(row: Any) -> str:
    label = getattr(row, "label", None)
    text = str(label() if callable(label) else label or row)
    return text if len(text) <= _MAX_NAME else f"{text[:_MAX_NAME]}… (constraint {row.id})"


def _indices(shape: tuple[int, ...]) -> list[str]:
    """The index of every element in the order of Fortran, such as [0, 1]."""
    if shape == ():
        return [""]
    return ["[" + ", ".join(map(str, reversed(at))) + "]" for at in np.ndindex(*reversed(shape))]

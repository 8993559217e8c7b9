"""Models of gurobipy: a ``Model``."""

from __future__ import annotations

from typing import Any

from novikoff.systems.files.builder import ModelBuilder
from novikoff.systems.modellers.highspy_models import add_rows

_NOT_LINEAR = {"S": "semi-continuous", "N": "semi-integer"}
_PARTS = {
    "NumSOS": "special ordered sets (SOS)",
    "NumQConstrs": "quadratic constraints",
    "NumGenConstrs": "general constraints, such as indicators",
}


def read_model(model: Any, builder: ModelBuilder) -> None:
    """Add the variables and the linear constraints of a ``Model``.

    A range of Gurobi has a variable of its own, as ``addRange`` makes it.
    """
    if not hasattr(model, "getConstrs"):
        raise ValueError("give the Model, which has the constraints.")
    model.update()  # rows that were added since the last update are not visible before
    builder.source = model.ModelName or "the model of Gurobi"
    for attribute, words in _PARTS.items():
        if getattr(model, attribute):
            raise ValueError(f"the model has {words}, which are not linear.")
    if model.IsQP:
        builder.notes.append("the quadratic objective is left out")
    for x in model.getVars():
        if x.VType in _NOT_LINEAR:
            raise ValueError(f"{x.VarName!r} is {_NOT_LINEAR[x.VType]}, which is not linear.")
        builder.add_variable(x.VarName, x.LB, x.UB, integer=x.VType in "BI")
    rows = model.getConstrs()
    signs, rights = model.getAttr("Sense", rows), model.getAttr("RHS", rows)
    low = [right if sign in ">=" else None for sign, right in zip(signs, rights, strict=True)]
    high = [right if sign in "<=" else None for sign, right in zip(signs, rights, strict=True)]
    add_rows(builder, model.getA().tocsr(), model.getAttr("ConstrName", rows), low, high)

"""Models of PuLP: an ``LpProblem``."""

from __future__ import annotations

from typing import Any

from novikoff.systems.files.builder import ModelBuilder, as_written


def read_model(model: Any, builder: ModelBuilder) -> None:
    """Add the variables and the constraints of an ``LpProblem``."""
    if not hasattr(model, "constraints"):
        raise ValueError("give the LpProblem, which has the constraints.")
    builder.source = str(model.name or "the model of PuLP")
    if getattr(model, "sos1", None) or getattr(model, "sos2", None):
        raise ValueError("the model has special ordered sets (SOS), which are not linear.")
    index: dict[Any, int] = {}  # by identity: LpVariable hashes by it, and == makes a constraint

    def add(variable: Any) -> int:
        whole = variable.cat != "Continuous"
        return builder.add_variable(
            str(variable.name), variable.lowBound, variable.upBound, integer=whole
        )

    for variable in model.variables():
        index[id(variable)] = add(variable)
    constraints = model.constraints  # a dictionary up to PuLP 3.2, a method from PuLP 4 on
    for row in constraints() if callable(constraints) else constraints.values():
        name, terms = row.name, dict[int, Any]()
        for variable, value in row.items():
            if id(variable) not in index:
                index[id(variable)] = add(variable)
            terms[index[id(variable)]] = as_written(value, f"a coefficient of row {name!r}")
        right = -as_written(row.constant, f"the right side of row {name!r}")
        sense = int(row.sense)
        builder.add_between(
            str(name or ""),
            terms,
            right if sense >= 0 else None,
            right if sense <= 0 else None,
        )

"""Models of Pyomo: a ``ConcreteModel`` or a block."""

from __future__ import annotations

from typing import Any

from novikoff.systems.files.builder import ModelBuilder, as_written

# Components that are not rows and variables, and have no rows of their own.
_NOT_LINEAR = {
    "SOSConstraint": "a special ordered set (SOS)",
    "Disjunction": "a disjunction",
    "Disjunct": "a disjunct",
    "LogicalConstraint": "a logical constraint",
    "Complementarity": "a complementarity condition",
    "IndexedComplementarity": "a complementarity condition",
}


def read_model(model: Any, builder: ModelBuilder) -> None:
    """Add the active constraints of a model, and the variables that they use."""
    from pyomo.environ import Constraint, Var
    from pyomo.repn import generate_standard_repn

    if not hasattr(model, "component_data_objects"):
        raise ValueError("give the model or the block, which has the constraints.")
    if not model.is_constructed():
        raise ValueError("the model is abstract: give the instance that create_instance returns.")
    builder.source = str(model.name)
    for part in model.component_objects(active=True, descend_into=True):
        kind = part.ctype.__name__
        if kind in _NOT_LINEAR:
            raise ValueError(f"{part.name!r} is {_NOT_LINEAR[kind]}, which is not linear.")
    index: dict[int, int] = {}

    def of(variable: Any) -> int:
        if id(variable) not in index:
            index[id(variable)] = builder.add_variable(
                variable.name, variable.lb, variable.ub, integer=not variable.is_continuous()
            )
        return index[id(variable)]

    fixed = [x.name for x in model.component_data_objects(Var, descend_into=True) if x.fixed]
    if fixed:
        builder.notes.append(f"variables that are fixed count as numbers, such as {fixed[0]!r}")
    for row in model.component_data_objects(Constraint, active=True, descend_into=True):
        form = generate_standard_repn(row.body)
        if not form.is_linear():
            raise ValueError(f"the constraint {row.name!r} is not linear.")
        pairs = zip(form.linear_vars, form.linear_coefs, strict=True)
        terms = {
            of(x): as_written(value, f"a coefficient of row {row.name!r}") for x, value in pairs
        }
        constant = as_written(form.constant, f"the constant of row {row.name!r}")
        sides = [
            None if side is None else as_written(side, f"a side of row {row.name!r}") - constant
            for side in (row.lb, row.ub)
        ]
        builder.add_between(row.name, terms, *sides)

"""Linear models of OR-tools: of pywraplp, ModelBuilder and MathOpt."""

from __future__ import annotations

from typing import Any

from novikoff.systems.files.builder import ModelBuilder, as_written


def read_model(model: Any, builder: ModelBuilder) -> None:
    """Add the variables and the linear constraints of a model."""
    builder.source = "the model of OR-tools"
    if hasattr(model, "linear_constraints"):
        _read_math_opt(model, builder)
    elif hasattr(model, "ExportModelToProto"):
        from ortools.linear_solver import linear_solver_pb2

        proto = linear_solver_pb2.MPModelProto()
        model.ExportModelToProto(proto)
        _read_proto(proto, builder)
    elif hasattr(model, "export_to_proto"):
        _read_proto(model.export_to_proto(), builder)
    else:
        raise ValueError(
            f"{type(model).__name__} is not a linear model: pywraplp.Solver, ModelBuilder and "
            "MathOpt have linear models; CP-SAT has none."
        )


def _read_proto(proto: Any, builder: ModelBuilder) -> None:
    builder.source = proto.name or builder.source
    if proto.general_constraint:
        name = proto.general_constraint[0].name
        raise ValueError(f"{name!r} is a general constraint, such as an indicator: not linear.")
    for x in proto.variable:
        builder.add_variable(x.name, x.lower_bound, x.upper_bound, integer=x.is_integer)
    for row in proto.constraint:
        terms: dict[int, Any] = {}
        for j, value in zip(row.var_index, row.coefficient, strict=True):
            terms[j] = terms.get(j, 0) + as_written(value, f"a coefficient of {row.name!r}")
        builder.add_between(row.name, terms, row.lower_bound, row.upper_bound)


def _read_math_opt(model: Any, builder: ModelBuilder) -> None:
    builder.source = model.name or builder.source
    for what in ("quadratic_constraints", "sos1_constraints", "sos2_constraints",
                 "indicator_constraints"):  # fmt: skip
        listed = getattr(model, f"get_{what}", None) or getattr(model, what, None)
        if listed is not None and [*listed()]:
            raise ValueError(f"the model has {what.replace('_', ' ')}, which are not linear.")
    index: dict[int, int] = {}
    for x in model.variables():
        index[x.id] = builder.add_variable(x.name, x.lower_bound, x.upper_bound, integer=x.integer)
    for row in model.linear_constraints():
        terms: dict[int, Any] = {}
        for term in row.terms():
            j, number = index[term.variable.id], f"a coefficient of {row.name!r}"
            terms[j] = terms.get(j, 0) + as_written(term.coefficient, number)
        builder.add_between(row.name, terms, row.lower_bound, row.upper_bound)

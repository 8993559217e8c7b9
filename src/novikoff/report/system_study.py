"""From a file of inequalities to its report: read, ask, answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from novikoff.report.system_report import SystemReport
from novikoff.systems.conflicts import Conflicts, conflicts, conflicts_of
from novikoff.systems.files.lp import parse_objective
from novikoff.systems.files.reading import read_model
from novikoff.systems.linear_program import Optimum, optimise
from novikoff.systems.model import Model
from novikoff.systems.solution import Solution
from novikoff.systems.solve import solve, solve_model


@dataclass(frozen=True)
class SystemOptions:
    """What is asked about a system; ``objective`` is "file", or such as "max 3 tea + bread"."""

    point: str = "any"
    method: str = "auto"
    keep: Sequence[str] = ()
    all_conflicts: bool = False
    objective: str | None = None
    budget: float | None = None
    format: str | None = None


def study_system(
    path: str, options: SystemOptions, show: Callable[[str, None], None]
) -> SystemReport:
    """Read a file and answer what is asked about its system.

    DataError or ValueError says in a sentence what is wrong with the file or the question.
    """
    began = time.perf_counter()
    show(f"reading {path}", None)
    file = read_model(path, options.format)
    show("solving", None)
    try:
        found, best, several = _answers(file.content, options)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    report = SystemReport(
        found,
        path,
        file.format,
        file.notes,
        several,
        best,
        options.point,
        options.method,
    )
    if found.kind == "feasible":
        show("looking for implicit equalities", None)
        _ = found.interior
    return replace(report, seconds=time.perf_counter() - began)


def _answers(
    content: Model | dict[str, Any], options: SystemOptions
) -> tuple[Solution, Optimum | None, Conflicts | None]:
    """The answer, and with it the best value and all conflicts, where they are asked for."""
    asked: dict[str, Any] = {"point": options.point, "method": options.method}
    budget, best, several = options.budget, None, None
    if isinstance(content, Model):
        model = _with_objective(replace(content, kept=frozenset(options.keep)), options.objective)
        if options.objective is not None:
            best = optimise(model, budget=budget)
        found = best.solution if best else solve_model(model, **asked, budget=budget)
        if options.all_conflicts and found.kind == "infeasible":
            several = conflicts_of(model, budget=budget)
        return found, best, several
    if options.objective is not None:
        raise ValueError("an npz file has no objective, nor names for one: use nv.linear_program.")
    content = {**content, "keep": list(options.keep) or None}
    found = solve(**content, **asked, budget=budget)
    if options.all_conflicts and found.kind == "infeasible":
        several = conflicts(**content, budget=budget)
    return found, None, several


def _with_objective(model: Model, text: str | None) -> Model:
    if text == "file" and model.objective is None:
        raise ValueError('there is no objective in the file; say one, as "max 3 tea + 2 bread".')
    if text in (None, "file"):
        return model
    maximise, (terms, constant) = parse_objective(text or "", model.variables)
    return replace(model, objective=terms, maximise=maximise, constant=constant)

"""From a file of inequalities to its report: read, ask, answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from novikoff.core.stops import Limits, Stop
from novikoff.report.system_report import SystemReport
from novikoff.systems.conflicts import Conflicts, conflicts_of
from novikoff.systems.files.lp import parse_objective
from novikoff.systems.files.reading import read_model
from novikoff.systems.linear_program import Optimum, optimise
from novikoff.systems.model import LinearSystem
from novikoff.systems.solution import Solution
from novikoff.systems.solve import answer
from novikoff.systems.statement import ask_arrays, ask_model


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
        found, best, several = _answers(file.content, options, lambda: show("solving", None))
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


@dataclass
class _Told(Limits):
    """Limits that say how things stand whenever they are asked, for long work."""

    tell: Callable[[], None] = lambda: None

    def reached(self, n_epochs: int = 0) -> Stop | None:
        self.tell()
        return super().reached(n_epochs)


def _answers(
    content: LinearSystem | dict[str, Any], options: SystemOptions, tell: Callable[[], None]
) -> tuple[Solution, Optimum | None, Conflicts | None]:
    """The answer, and with it the best value and all conflicts, where they are asked for."""
    seconds, several = options.budget, None

    def limits() -> Limits:
        return _Told(seconds=seconds, tell=tell)

    if isinstance(content, LinearSystem):
        model = _with_objective(replace(content, kept=frozenset(options.keep)), options.objective)
        if options.objective is not None:
            best = optimise(model, budget=seconds, limits=limits())
            return best.solution, best, None
        asked = ask_model(model, seconds)
    else:
        if options.objective is not None:
            raise ValueError("arrays have no names for an objective: use nv.linear_program.")
        content = {**content, "keep": list(options.keep) or None}
        asked = ask_arrays(**content, seconds=seconds)
    found = answer(asked, limits(), point=options.point, method=options.method)
    if options.all_conflicts and found.kind == "infeasible":
        several = conflicts_of(asked, limits())
    return found, None, several


def _with_objective(model: LinearSystem, text: str | None) -> LinearSystem:
    if text == "file" and model.objective is None:
        raise ValueError('there is no objective in the file; say one, as "max 3 tea + 2 bread".')
    if text in (None, "file"):
        return model
    maximise, (terms, constant) = parse_objective(text or "", model.variables)
    return replace(model, objective=terms, maximise=maximise, constant=constant)

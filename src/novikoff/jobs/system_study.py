"""Answer what is asked about the system of inequalities in a file."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from novikoff.core.stops import Limits, Stop
from novikoff.proofs.system_certificate import SystemCertificate
from novikoff.proofs.system_statement import Arrays, LinearSystem
from novikoff.systems.conflicts import Conflicts, conflicts_of
from novikoff.systems.files.builder import SystemFile
from novikoff.systems.files.lp import parse_objective
from novikoff.systems.files.reading import read_model
from novikoff.systems.linear_program import Optimum, optimise
from novikoff.systems.solution import Solution
from novikoff.systems.solve import solve_system
from novikoff.systems.statement import keep_rows
from novikoff.systems.system import system_of


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


@dataclass(frozen=True)
class SystemStudy:
    """The answer to what was asked about a system, and the file that it is about."""

    solution: Solution
    source: str
    file: SystemFile
    asked: SystemOptions
    conflicts: Conflicts | None = None  # several that share no row, if they were asked for
    optimum: Optimum | None = None
    files: Mapping[str, str] = field(default_factory=dict)  # what was written, by its role
    seconds: float = 0.0

    @property
    def kind(self) -> str:
        """Of the system, or of its linear program where that is undecided."""
        undecided = self.optimum is not None and self.optimum.kind == "undecided"
        return "undecided" if undecided else self.solution.kind

    @property
    def with_radius(self) -> bool:
        """Whether the radius of the largest ball was asked for."""
        found = self.solution
        return self.asked.point == "chebyshev" and found.kind != "undecided" and found.point_found

    @property
    def answers(self) -> Sequence[Solution]:
        """The answer, or one for each conflict."""
        several = () if self.conflicts is None else self.conflicts.solutions
        return several or (self.solution,)

    @property
    def proofs(self) -> list[SystemCertificate]:
        """The certificates of all answers."""
        return [answer.certificate for answer in self.answers if answer.certificate is not None]

    @property
    def exact_w(self) -> Sequence[Fraction] | None:
        """The point: the best one, where there is an objective."""
        return (self.optimum or self.solution).exact_w


def study_system(
    path: str, options: SystemOptions, show: Callable[[str, None], None]
) -> SystemStudy:
    """Read a file and answer what is asked about its system.

    DataError or ValueError says in a sentence what is wrong with the file or the question.
    """
    began = time.perf_counter()
    show(f"reading {path}", None)
    file = read_model(path, options.format)
    show("solving", None)
    try:
        found, best, several = _answers(file.stated, options, lambda: show("solving", None))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if found.kind == "feasible":
        show("looking for implicit equalities", None)
        _ = found.interior
    seconds = time.perf_counter() - began
    return SystemStudy(found, path, file, options, several, best, seconds=seconds)


@dataclass
class _Told(Limits):
    """Limits that say how things stand whenever they are asked, for long work."""

    tell: Callable[[], None] = lambda: None

    def reached(self, n_epochs: int = 0) -> Stop | None:
        self.tell()
        return super().reached(n_epochs)


def _answers(
    stated: LinearSystem | Arrays, options: SystemOptions, tell: Callable[[], None]
) -> tuple[Solution, Optimum | None, Conflicts | None]:
    """The answer, and with it the best value and all conflicts, where they are asked for."""

    def limits() -> Limits:
        return _Told(seconds=options.budget, tell=tell)

    stated = keep_rows(stated, options.keep)
    if options.objective is not None:
        best = optimise(_with_objective(stated, options.objective), limits())
        return best.solution, best, None
    system = system_of(stated)
    found, several = (
        solve_system(system, limits(), point=options.point, method=options.method),
        None,
    )
    if options.all_conflicts and found.kind == "infeasible":
        several = conflicts_of(system, limits())
    return found, None, several


def _with_objective(stated: LinearSystem | Arrays, text: str) -> LinearSystem:
    if isinstance(stated, Arrays):
        raise ValueError("arrays have no names for an objective: use nv.linear_program.")
    if text != "file":
        maximise, (terms, constant) = parse_objective(text, stated.variables)
        return replace(stated, objective=terms, maximise=maximise, constant=constant)
    if stated.objective is None:
        raise ValueError('there is no objective in the file; say one, as "max 3 tea + 2 bread".')
    return stated

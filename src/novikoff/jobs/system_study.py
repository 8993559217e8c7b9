"""Read a file of inequalities, and solve the system in it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from novikoff.core.stops import ReportingLimits
from novikoff.names import ROWS_SHOWN
from novikoff.proofs.relaxation_certificate import RelaxationCertificate
from novikoff.proofs.system_certificate import SystemCertificate
from novikoff.proofs.system_statement import Arrays, LinearSystem
from novikoff.systems.conflicts import Conflicts, conflicts_of
from novikoff.systems.explanation import solve_blaming
from novikoff.systems.files.reading import read_system
from novikoff.systems.linear_program import Optimum, optimise, with_objective
from novikoff.systems.relax import relax_system
from novikoff.systems.relaxation import Relaxation
from novikoff.systems.solution import INTERRUPTED, Solution, is_whole
from novikoff.systems.solve import check_tolerance, solve_system
from novikoff.systems.statement import keep_rows, loosened
from novikoff.systems.system import system_of
from novikoff.systems.system_model import SystemModel


@dataclass(frozen=True, kw_only=True)
class SystemOptions:
    """The options for a study of a system of inequalities.

    Attributes
    ----------
    point, method : str
        Which point to find, and by which method, as in `novikoff.solve`.
    keep : sequence of str
        The names of rows that may not be blamed for a conflict.
    disjoint_conflicts : bool
        Whether to find several conflicts that share no row.
    relax : "rows", "total", "max" or None
        What to minimise if the system is infeasible, as in `novikoff.relax`.
    blame : sequence of str
        Names, patterns or groups of the rows to blame first, as in `novikoff.explain`.
    tolerance : str or None
        How far a point may violate each row and each bound.
    objective : str or None
        "file" for the objective in the file, or an objective such as "max 3 tea + bread".
    budget : float or None
        The number of seconds for all answers together.
    format : str or None
        The format of the file; if None, the end of its name determines it.
    rows : int or None
        The number of rows of a conflict that the text shows; None for all.
    """

    point: str = "any"
    method: str = "auto"
    keep: Sequence[str] = ()
    disjoint_conflicts: bool = False
    relax: Literal["rows", "total", "max"] | None = None
    blame: Sequence[str] = ()
    tolerance: str | None = None
    objective: str | None = None
    budget: float | None = None
    format: str | None = None
    rows: int | None = ROWS_SHOWN


@dataclass(frozen=True)
class SystemStudy:
    """The answer to a question about a system, and the file of the system.

    Attributes
    ----------
    solution : Solution
        The answer.
    source, file
        The name of the file, and its contents.
    asked : SystemOptions
        The options of the study.
    conflicts : Conflicts or None
        Several conflicts that share no row, if they were asked for.
    relaxation : Relaxation or None
        What must give way, if this was asked for and the system is infeasible.
    optimum : Optimum or None
        The solution of the linear program, if there is an objective.
    files : mapping
        The files that were written, by their role.
    seconds : float
        The time that reading and solving took.
    """

    solution: Solution
    source: str
    file: SystemModel
    asked: SystemOptions
    conflicts: Conflicts | None = None
    relaxation: Relaxation | None = None
    optimum: Optimum | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def kind(self) -> str:
        """The kind of the solution; "undecided" if the linear program is undecided."""
        undecided = self.optimum is not None and self.optimum.kind == "undecided"
        return "undecided" if undecided else self.solution.kind

    @property
    def whole(self) -> bool:
        """Whether the point that is shown gives whole numbers to all integer variables."""
        return is_whole(self.solution.system.stated, self.exact_w)

    @property
    def ended(self) -> str:
        """Why a search ended early: for the solution, or for what must give way; else empty."""
        return self.solution.ended or ("" if self.relaxation is None else self.relaxation.ended)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the search."""
        return self.solution.ended == INTERRUPTED

    @property
    def with_radius(self) -> bool:
        """Whether the radius of the largest ball was asked for."""
        solution = self.solution
        return (
            self.asked.point == "chebyshev"
            and solution.kind != "undecided"
            and solution.point_found
        )

    @property
    def answers(self) -> Sequence[Solution]:
        """The solution, or one solution for each conflict."""
        several = () if self.conflicts is None else self.conflicts.solutions
        return several or (self.solution,)

    @property
    def proofs(self) -> list[SystemCertificate | RelaxationCertificate]:
        """The certificates of all answers."""
        proofs = [answer.certificate for answer in self.answers]
        relaxed = None if self.relaxation is None else self.relaxation.certificate
        return [proof for proof in (*proofs, relaxed) if proof is not None]

    @property
    def exact_w(self) -> Sequence[Fraction] | None:
        """The point; with an objective, the optimal point."""
        return (self.optimum or self.solution).exact_w


def study_system(path: str, options: SystemOptions, show: Callable[[str], None]) -> SystemStudy:
    """Read a file and solve its system.

    DataError or ValueError is raised if something is wrong with the file or with the options.
    """
    began = time.perf_counter()
    show(f"reading {path}")
    file = read_system(path, options.format)
    show("solving")
    try:
        solution, best, several, relaxation = _answers(file.stated, options, show)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    seconds = time.perf_counter() - began
    return SystemStudy(solution, path, file, options, several, relaxation, best, seconds=seconds)


def find_implicit_equalities(study: SystemStudy, show: Callable[[str], None]) -> None:
    """Look for rows that hold with equality in every solution; Ctrl-C leaves this unknown.

    This may take longer than the verdict, so it comes after it.
    """
    if study.solution.kind != "feasible" or study.interrupted:
        return
    try:
        show("looking for rows that hold with = in every solution (Ctrl-C skips this)")
        _ = study.solution.interior
    except KeyboardInterrupt:
        study.solution.interior_proof = None


def _answers(
    stated: LinearSystem | Arrays, options: SystemOptions, announce: Callable[[str], None]
) -> tuple[Solution, Optimum | None, Conflicts | None, Relaxation | None]:
    """Return the solution, and the optimum, the conflicts and the relaxation if asked for."""
    step = "solving"

    limits = ReportingLimits(seconds=options.budget, tell=lambda: announce(step))
    stated = keep_rows(stated, options.keep)
    if options.objective is not None:
        text = None if options.objective == "file" else options.objective
        best = optimise(with_objective(stated, text), limits)
        best.solution.seconds = limits.seconds_left()
        return best.solution, best, None, None
    tolerance = check_tolerance(Fraction(options.tolerance or 0))
    if tolerance:
        stated = loosened(stated, tolerance)
    if options.blame:
        solution = solve_blaming(stated, options.blame, limits)
    else:
        system, point, method = system_of(stated), options.point, options.method
        solution = solve_system(system, limits, point=point, method=method)
    several: Conflicts | None = None
    relaxation: Relaxation | None = None
    if solution.kind == "infeasible" and options.disjoint_conflicts:
        step = "looking for more conflicts"
        several = conflicts_of(system_of(stated), limits)
    if solution.kind == "infeasible" and options.relax is not None:
        step = "looking for what must give way"
        relaxation = relax_system(stated, options.relax, limits, solution=solution)
    solution.seconds = limits.seconds_left()  # for the implicit equalities
    return solution, None, several, relaxation

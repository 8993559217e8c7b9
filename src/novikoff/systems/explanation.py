"""Why a model is infeasible: its conflict, in the words of the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy.typing as npt

from novikoff.core.stops import Limits, check_budget
from novikoff.names import ROWS_SHOWN
from novikoff.proofs.system_certificate import SystemCertificate
from novikoff.proofs.system_statement import Arrays, LinearSystem
from novikoff.sentences import conflict_clause, html_table, proved_sentence, report_line
from novikoff.systems.conflict_table import conflict_lines
from novikoff.systems.files.lp_writer import lp_text
from novikoff.systems.modellers import model_system, package_of
from novikoff.systems.solution import NamedRow, Solution
from novikoff.systems.solve import solve_system
from novikoff.systems.statement import row_name, row_numbers, stated_system
from novikoff.systems.system import system_of
from novikoff.systems.system_model import SystemModel


@dataclass(frozen=True)
class Explanation:
    """The answer to the question why a model is infeasible; printing it shows the conflict.

    Attributes
    ----------
    solution : Solution
        The answer, with its certificate.
    source : str
        The name of the model or the file.
    notes : tuple of str
        What was decided while the model was read.

    See Also
    --------
    explain : Returns an explanation.
    """

    solution: Solution
    source: str = ""
    notes: tuple[str, ...] = ()

    @property
    def kind(self) -> Literal["feasible", "infeasible", "undecided"]:
        """The kind of the solution: "feasible", "infeasible" or "undecided"."""
        return self.solution.kind

    @property
    def relaxed(self) -> bool:
        """Whether the model has integer variables, so that the answer is about its relaxation."""
        return self.solution.relaxed

    @property
    def conflict(self) -> tuple[NamedRow, ...]:
        """The rows that contradict each other (IIS); empty unless infeasible."""
        return self.solution.conflict

    @property
    def certificate(self) -> SystemCertificate | None:
        """The proof of the answer."""
        return self.solution.certificate

    def lines(self, rows: int | None = ROWS_SHOWN) -> Iterator[tuple[str, str]]:
        """Yield the heading and the text of each line.

        Parameters
        ----------
        rows : int or None
            The number of rows of the conflict to show; None for all.
        """
        if self.source:
            yield "model", self.source
        for note in self.notes:
            yield "", note
        if self.kind != "infeasible":
            yield "verdict", self.solution.sentence
            return
        count = len(self.conflict)
        these = "this row" if count == 1 else "these rows"
        kept = any(row.kept for row in self.conflict)
        yield "verdict", proved_sentence("infeasible", conflict_clause(these, count, kept=kept))
        yield from conflict_lines(self.solution, shown=rows)

    def to_lp(self) -> str:
        """Return the conflict as a model in LP format; ValueError if there is no conflict."""
        proof = self.solution.proof
        if proof is None or proof.conflict is None:
            raise ValueError("There is no conflict: the system is not known to be infeasible.")
        title = f"conflict of {self.source}" if self.source else "conflict"
        return lp_text(self.solution.system.stated, proof.conflict.rows, title)

    def __str__(self) -> str:
        return "\n".join(report_line(heading, text) for heading, text in self.lines())

    def __repr__(self) -> str:
        return f"<Explanation: {self.solution}>"

    def _repr_html_(self) -> str:
        """The lines as a table, for notebooks."""
        return html_table([*self.lines()])


def explain(
    model: object,
    c: object = None,
    *,
    A_eq: object = None,
    c_eq: object = None,
    lower: object = None,
    upper: object = None,
    strict: bool | npt.ArrayLike = False,
    names: Sequence[str] | None = None,
    equality_names: Sequence[str] | None = None,
    variables: Sequence[str] | None = None,
    keep: object = None,
    blame: Sequence[str] | None = None,
    budget: float | None = None,
) -> Explanation:
    """Explain why a model is infeasible: the few rows that contradict each other, with proof.

    If the model has integer variables, its relaxation is explained. If the relaxation is
    infeasible, so is the model, but not conversely.

    Parameters
    ----------
    model : object
        A model of PuLP, Pyomo, linopy, CVXPY (affine constraints), highspy, gurobipy or OR-tools
        (linear models), a LinearConstraint of SciPy or a list of them and of Bounds, a model of
        `read_system`, or a matrix A. Names are kept. Numbers of models are read as the decimals
        that Python prints: 0.1 is one tenth.
    c, A_eq, c_eq, lower, upper, strict, names, equality_names, variables
        With a matrix, the other parts of the system, as in `solve`.
    keep : mask, row numbers, str or sequence of str, optional
        Rows that may not be blamed, by name, pattern or group, as in `solve`.
    blame : sequence of str, optional
        Names, patterns or groups of the rows to blame, those to be preferred first. If there is a
        conflict that needs only rows of the first group and kept rows, it is returned. Otherwise
        rows of the first two groups may be blamed, and so on, at last any row. All other rows are
        kept.
    budget : float, optional
        The number of seconds for all searches together. If no time is left for one of them, the
        answer is undecided.

    Returns
    -------
    Explanation
        The conflict. Printed, it is a table; ``conflict`` has its rows, ``to_lp()`` writes it as a
        model, and ``certificate`` is the proof.

    Raises
    ------
    DataError
        If a part of the model is not linear: quadratic constraints, special ordered sets,
        semi-continuous variables, indicators. A quadratic objective is left out.

    See Also
    --------
    relax : Find the fewest rows to give up, or the least violation.
    solve : Find a point that satisfies a system.

    Examples
    --------
    >>> import novikoff as nv
    >>> print(nv.explain([[1, 1], [-1, 0]], [4, -3], lower=[0, 2], names=["money", "tea"],
    ...                  variables=["x", "y"]))
    verdict     infeasible, proved: these rows contradict each other, and no fewer of them
                  do (an irreducible infeasible subset, IIS)
    conflict    1 × money             x + y ≤ 4
                1 × tea               −x ≤ −3
                1 × lower bound of y  y ≥ 2
                the sum, ≥ turned into ≤:  0 ≤ −1, which is false
    way out     to end this conflict, change one of these numbers, at least as far as shown
                money: 4 → 5
                tea: −3 → −2
                lower bound of y: 2 → 1
    """
    seconds = check_budget(budget)
    if package_of(model) is not None:
        model = model_system(model)
    stated = stated_system(
        model, c, A_eq=A_eq, c_eq=c_eq, lower=lower, upper=upper, strict=strict, names=names,
        equality_names=equality_names, variables=variables, keep=keep,
    )  # fmt: skip
    solution = solve_blaming(stated, blame or (), Limits(seconds=seconds))
    if isinstance(model, SystemModel):
        return Explanation(solution, model.source, model.notes)
    return Explanation(solution)


def solve_blaming(stated: LinearSystem | Arrays, blame: Sequence[str], limits: Limits) -> Solution:
    """Solve a system; a conflict blames rows of the first groups, if such a conflict exists.

    The rows of the first group may be blamed, then those of the first two groups, and so on. All
    other rows are kept. If these contradict each other, the next group may be blamed as well.
    """
    everyone = frozenset(k for k in range(stated.n) if row_name(stated, k) is not None)
    allowed = frozenset[int]()
    for group in [blame] if isinstance(blame, str) else blame:
        allowed |= row_numbers(stated, group, "blame")
        kept = (everyone - allowed) | stated.kept
        system = system_of(replace(stated, kept=kept))
        solution = solve_system(system, limits)
        if solution.kind != "infeasible" or any(not row.kept for row in solution.conflict):
            return solution
    return solve_system(system_of(stated), limits)

"""The proof of what is said about a system of inequalities, for a stranger to check (D3, D8)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from novikoff.proofs.proof_text import Proof
from novikoff.proofs.system_checker import Multipliers, Radius, check_system
from novikoff.proofs.system_statement import Statement, arrays_of


@dataclass(frozen=True)
class SystemCertificate(Proof):
    """A point, or rows that contradict each other (Farkas 1902, Motzkin 1936).

    Rows are numbered as they are stated: rows, equalities, upper bounds and lower bounds by
    variable.

    Attributes
    ----------
    answer : str
        "feasible" or "infeasible".
    n, d : int
        How many numbers rows may have, and the number of variables.
    sha256 : str
        The digest of the system; names have no part in it.
    point : tuple of Fraction or None
        (w, t) with t > 0, for the point w/t: it satisfies every row. Beside a conflict with
        ⟨c, λ⟩ = 0, it satisfies the rows of the conflict, strict rows weakly.
    conflict : Multipliers or None
        λ with Σ λ_i a_i = 0 and ⟨c, λ⟩ < 0, or ≤ 0 where a strict row takes part; rows that ask
        for at least c are turned round.
    irreducible : bool
        Whether no fewer of the rows contradict each other. Without kept rows it follows from linear
        independence.
    kept : tuple of int
        Rows that may not be blamed: the conflict is irreducible among the others.
    witnesses : tuple of points
        With kept rows, for each row that is blamed a point that satisfies the others and the kept.
    implicit : Multipliers or None
        λ > 0 on all rows that the point meets with equality, Σ λ_i a_i = 0 and ⟨c, λ⟩ = 0: every
        solution meets them so, and the point is in the relative interior.
    radius : Radius or None
        Bounds on the signed radius.
    """

    kinds = ("system",)

    answer: str
    n: int
    d: int
    sha256: str
    point: tuple[Fraction, ...] | None = None
    conflict: Multipliers | None = None
    irreducible: bool = False
    kept: tuple[int, ...] = ()
    witnesses: tuple[tuple[Fraction, ...], ...] = ()
    implicit: Multipliers | None = None
    radius: Radius | None = None

    def check(self, stated: Statement) -> None:
        """Check every claim against a system as it is stated; CertificateError says what fails."""
        check_system(self, stated)

    def verify(
        self,
        A: object,
        c: object,
        *,
        A_eq: object = None,
        c_eq: object = None,
        lower: object = None,
        upper: object = None,
        strict: object = False,
    ) -> None:
        """Check every claim against arrays, as they were given to `solve`, in exact arithmetic.

        CertificateError says what does not hold.

        Examples
        --------
        >>> import novikoff as nv
        >>> answer = nv.solve([[1.0], [-1.0]], [0.0, -1.0])
        >>> answer.certificate.verify([[1.0], [-1.0]], [0.0, -1.0])
        >>> answer.certificate.verify([[1.0], [-1.0]], [0.0, 1.0])
        Traceback (most recent call last):
            ...
        novikoff.errors.CertificateError: The certificate is for another system: the \
digest of its rows differs.
        """
        check_system(self, arrays_of(A, c, A_eq, c_eq, lower, upper, strict))

    def claim(self) -> str:
        """What is proved, in a sentence."""
        size = f"in {self.d:,} variable{'s' * (self.d != 1)}{self._distance()}"
        if self.conflict is None:
            more = ""
            if self.implicit is not None:
                k = len(self.implicit.rows)
                more = f"; {k} of its rows hold with equality in every solution" if k else ""
            return f"Feasible: a point satisfies every row, {size}{more}."
        k = len(self.conflict.rows)
        rows = "1 row contradicts itself" if k == 1 else f"{k} rows contradict each other"
        least = ", and no fewer of them do" if self.irreducible and k > 1 else ""
        if self.kept and self.irreducible:
            least = ", and each row that is not kept is needed for that"
        return f"Infeasible: {rows}{least}, {size}."

    def _distance(self) -> str:
        """What the radius says, with all digits that its ends have."""
        if self.radius is None:
            return ""
        least, most = self.radius.least, self.radius.most
        if self.answer == "infeasible":
            return f"; every point is at least {-most!r} away from a row" if most < 0.0 else ""
        ends = [f"at least {least!r}"] if least > 0.0 else []
        ends += [f"at most {most!r}"] if most < math.inf else []
        return f"; the radius of a largest ball is {' and '.join(ends)}" if ends else ""

"""Certificates of systems with false claims: the checker rejects all of them."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import novikoff as nv
from novikoff.proofs.system_certificate import Multipliers, Radius
from novikoff.proofs.system_statement import Constraint, LinearSystem, arrays_of
from tests.cases import case_named

F = Fraction
INF = math.inf


def system_of(**given: Any) -> dict[str, Any]:
    """The arguments of ``verify`` for one variable, with some of them changed."""
    return {"A": [[1.0]], "c": [5.0], **given}


def forged(given: dict[str, Any], **claims: Any) -> nv.SystemCertificate:
    """A certificate with the digest of the arrays, whether they are acceptable or not."""
    parts = ("A", "c", "A_eq", "c_eq", "lower", "upper", "strict")
    stated = arrays_of(*(given.get(name, False if name == "strict" else None) for name in parts))
    return nv.SystemCertificate("feasible", stated.n, stated.d, stated.sha256(), **claims)


# Right sides and bounds that no point satisfies, and the error messages.
UNSATISFIABLE = [
    pytest.param({"c": [-INF]}, r"c\[0\] is -inf", id="c"),
    pytest.param({"lower": INF}, r"lower\[0\] is \+inf", id="lower"),
    pytest.param({"upper": [-INF]}, r"upper\[0\] is -inf", id="upper"),
    pytest.param({"A_eq": [[1.0]], "c_eq": [INF]}, r"c_eq\[0\] is infinity", id="c_eq=inf"),
    pytest.param({"A_eq": [[1.0]], "c_eq": [-INF]}, r"c_eq\[0\] is infinity", id="c_eq=-inf"),
    pytest.param({"A_eq": [[1.0]], "c_eq": INF}, r"c_eq\[0\] is infinity", id="c_eq, one for all"),
    pytest.param({"c": [math.nan]}, r"c\[0\] is NaN", id="c=nan"),
    pytest.param({"lower": math.nan}, r"lower\[0\] is NaN", id="lower=nan"),
]


@pytest.mark.parametrize(("given", "complaint"), UNSATISFIABLE)
def test_solver_and_checker_reject_the_same_infinities(
    given: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        nv.solve(**system_of(**given))
    with pytest.raises(nv.CertificateError, match=f"another system: {complaint}"):
        forged(system_of(**given), point=(F(0), F(1))).verify(**system_of(**given))


@pytest.mark.parametrize("given", [{"c": [INF]}, {"lower": -INF}, {"upper": [INF]}])
def test_infinities_that_ask_nothing_are_no_rows(given: dict[str, Any]) -> None:
    found = nv.solve(**system_of(**given))
    assert found.kind == "feasible"
    assert found.certificate is not None
    found.certificate.verify(**system_of(**given))


class Changing(np.ndarray):
    """An array whose numbers change after they have been read once."""

    after: Any
    readings: int

    def __array_finalize__(self, other: Any) -> None:
        self.after, self.readings = getattr(other, "after", None), 0

    def __getitem__(self, key: Any) -> Any:
        self.readings += 1
        return np.asarray(self if self.readings == 1 else self.after)[key]


def changing(before: Any, after: Any) -> Any:
    found = np.array(before, dtype=float).view(Changing)
    found.after = np.array(after, dtype=float)
    return found


@pytest.mark.parametrize("part", ["A", "A_eq"])
@pytest.mark.parametrize("sparse", [False, True])
def test_what_is_hashed_is_what_is_checked(part: str, sparse: bool) -> None:
    """The rows x ≥ 1 and −x ≥ 1 are hashed; a second reading would see x ≥ 1 twice."""
    rows, harmless = np.array([[-1.0], [1.0]]), np.array([[-1.0], [-1.0]])
    signs = np.array([-1.0, -1.0])
    point = (F(1), F(1))

    def table(before: Any, after: Any) -> Any:
        if not sparse:
            return changing(before, after)
        found = sp.csr_array(before)
        found.data = changing(found.data, sp.csr_array(after).data)
        return found

    def given(matrix: Any) -> dict[str, Any]:
        if part == "A":
            return {"A": matrix, "c": signs}
        return {"A": np.zeros((1, 1)), "c": [0.0], "A_eq": matrix, "c_eq": signs}

    true = nv.solve(**given(harmless)).certificate
    assert true is not None
    true.verify(**given(harmless))
    bad = forged(given(rows), point=point)
    with pytest.raises(nv.CertificateError, match="does not satisfy row"):
        bad.verify(**given(table(rows, harmless)))
    with pytest.raises(nv.CertificateError, match="digest of its rows differs"):
        bad.verify(**given(table(harmless, rows)))


def test_rows_with_nan_are_rejected_wherever_they_stand() -> None:
    rows, right = np.array([[1.0], [-1.0], [1.0]]), [0.0, -1.0, 5.0]
    proof = nv.solve(rows, right).certificate
    assert proof is not None
    rows[2] = math.nan
    with pytest.raises(nv.CertificateError, match="NaN in row 2, column 0"):
        proof.verify(rows, right)


# The radius: with rows w ≤ 3 and −w ≤ 3, and u fixed at 0, the line u = 0 has balls of radius 3.
FIXED: dict[str, Any] = {
    "A": [[1.0, 0.0], [-1.0, 0.0]],
    "c": [3.0, 3.0],
    "lower": [-INF, 0.0],
    "upper": [INF, 0.0],
}


def proof_of(given: dict[str, Any]) -> nv.SystemCertificate:
    found = nv.solve(**given).certificate
    assert found is not None
    return found


def test_equalities_of_a_feasible_system_have_no_part_in_its_radius() -> None:
    proof, origin = proof_of(FIXED), (F(0), F(0), F(1))
    # Rows 3 and 5 are the upper and the lower bound of u.
    for least in (-1.0, 0.0):
        with case_named(least):
            claim = Radius(least, 0.0, origin, (3, 5), (F(1), F(1)))
            with pytest.raises(nv.CertificateError, match="does not show a radius"):
                replace(proof, radius=claim).verify(**FIXED)
    true = Radius(3.0, 3.0, origin, (0, 1), (F(1), F(1)))
    replace(proof, radius=true).verify(**FIXED)
    replace(proof, radius=replace(true, least=-1.0)).verify(**FIXED)
    off = (F(0), F(1, 2), F(1))  # the point violates the bounds of u, by less than 1
    with pytest.raises(nv.CertificateError, match=r"at row \d is below -1\.0"):
        replace(proof, radius=Radius(-1.0, INF, off, (), ())).verify(**FIXED)


def test_a_row_of_zeros_that_fails_has_no_finite_radius() -> None:
    given: dict[str, Any] = {"A": [[0.0], [1.0]], "c": [-1.0, 5.0]}
    for least in (-1e-300, -1e300):
        with case_named(least):
            claim = Radius(least, INF, (F(0), F(1)), (), ())
            with pytest.raises(nv.CertificateError, match="at row 0"):
                replace(proof_of(given), radius=claim).verify(**given)
    rows = (Constraint("r", {}, "=", F(1)),)
    model = LinearSystem(("x",), rows, (None,), (None,))
    certificate = nv.SystemCertificate(
        "infeasible", model.n, 1, model.sha256(), conflict=Multipliers((0,), (F(-1),))
    )
    certificate.check(model)
    claim = Radius(-1e300, INF, (F(0), F(1)), (), ())
    with pytest.raises(nv.CertificateError, match="at row 0"):
        replace(certificate, radius=claim).check(model)


def test_the_radius_of_an_infeasible_system_is_not_positive() -> None:
    given: dict[str, Any] = {"A": [[0.0], [1.0], [-1.0]], "c": [0.0, 1.0, 1.0], "strict": True}
    proof = proof_of(given)
    assert proof.answer == "infeasible"  # because of 0 < 0, although −1 ≤ w ≤ 1 has solutions
    claim = Radius(1.0, 1.0, (F(0), F(1)), (1, 2), (F(1), F(1)))
    with pytest.raises(nv.CertificateError, match="is not positive"):
        replace(proof, radius=claim).verify(**given)
    replace(proof, radius=Radius(0.0, 0.0, (F(0), F(1)), (), ())).verify(**given)
    with pytest.raises(nv.CertificateError, match="does not show a radius"):
        replace(proof, radius=Radius(-1.0, -0.5, (F(0), F(1)), (), ())).verify(**given)


def test_a_claim_in_subnormal_units_is_looked_at_closely() -> None:
    """The slack 1 of the row 1e150·w ≤ 1 at w = 0 is less than 1e-100 of its length."""
    given: dict[str, Any] = {"A": [[1e150, 0.0], [0.0, 1.0]], "c": [1.0, 1.0]}
    far = F(10) ** 223  # the unit of the point: in it, 1e-100 is below all floats
    point = (F(0), -far, F(1))
    proof = proof_of(given)
    replace(proof, radius=Radius(1e-151, INF, point, (), ())).verify(**given)
    with pytest.raises(nv.CertificateError, match="at row 0"):
        replace(proof, radius=Radius(1e-100, INF, point, (), ())).verify(**given)


def test_rows_that_look_dependent_modulo_the_usual_primes_are_an_irreducible_conflict() -> None:
    p, q = 2_147_483_647.0, 2_147_483_629.0
    given: dict[str, Any] = {"A": [[p, 0.0], [0.0, q], [-p, -q]], "c": [0.0, 0.0, -1.0]}
    proof = proof_of(given)
    assert proof.irreducible
    proof.verify(**given)
    twice: dict[str, Any] = {"A": [*given["A"], [p, 0.0]], "c": [*given["c"], 0.0]}
    weights = (F(1, 2), F(1), F(1), F(1, 2))
    more = replace(proof_of(twice), conflict=Multipliers((0, 1, 2, 3), weights))
    with pytest.raises(nv.CertificateError, match="fewer may do"):
        more.verify(**twice)


@pytest.mark.parametrize(
    "more", [{"irreducible": True}, {"kept": (0,)}, {"witnesses": ((F(0), F(1)),)}]
)
def test_parts_that_are_not_checked_are_rejected(more: dict[str, Any]) -> None:
    given = system_of()
    with pytest.raises(nv.CertificateError, match="no conflict that could be irreducible"):
        replace(proof_of(given), **more).verify(**given)
    given = system_of(A=[[1.0], [-1.0]], c=[0.0, -1.0])
    proof = replace(proof_of(given), irreducible=False)
    proof.verify(**given)
    if "irreducible" not in more:
        with pytest.raises(nv.CertificateError, match="no irreducible conflict"):
            replace(proof, **more).verify(**given)

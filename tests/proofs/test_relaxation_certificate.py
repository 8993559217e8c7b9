"""Certificates of relaxations: the checker accepts what is proved and rejects forgeries."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

import pytest

import novikoff as nv
from novikoff.proofs.hitting import Branch
from novikoff.proofs.relaxation_certificate import RowWeights
from novikoff.proofs.system_certificate import Multipliers
from tests.cases import case_named
from tests.proofs.test_certificate import sealed

F = Fraction
# x ≤ 1, x ≥ 3 and x ≥ 4, y ≤ 2 and y ≥ 5: one row for each variable must go.
GIVEN: dict[str, Any] = {
    "A": [[1, 0], [-1, 0], [-1, 0], [0, 1], [0, -1]],
    "c": [1, -3, -4, 2, -5],
}
# Each two of the equations x = 0, x = 1, x = 2 and x = 3 contradict each other.
PAIRS: dict[str, Any] = {"A": None, "c": None, "A_eq": [[1.0]] * 4, "c_eq": [0.0, 1.0, 2.0, 3.0]}


def proof_of(
    by: Literal["rows", "total", "max"], given: dict[str, Any] = GIVEN, **more: Any
) -> nv.RelaxationCertificate:
    proof = nv.relax(**given, by=by, **more).certificate
    assert isinstance(proof, nv.RelaxationCertificate)
    return proof


@pytest.mark.parametrize(
    ("by", "more", "claim"),
    [
        (
            "rows",
            {},
            "At least 2 of the rows must be given up so that a point satisfies the others, and 2 "
            "are enough, in 2 variables.",
        ),
        (
            "rows",
            {"weights": {"row 0": 3, "row 3": 0.5}},
            "Rows of total weight at least 5/2 must be given up so that a point satisfies the "
            "others, and a weight of 5/2 is enough, in 2 variables.",
        ),
        (
            "total",
            {"keep": [1, 2]},
            "Every point violates the rows by at least 6 in total, and a point violates them by 6, "
            "if 2 rows must hold, in 2 variables.",
        ),
        (
            "max",
            {},
            "Every point violates some row by at least 3/2, and a point violates none by more than "
            "3/2, in 2 variables.",
        ),
    ],
)
def test_a_relaxation_has_a_certificate_that_says_what_is_proved(
    by: Literal["rows", "total", "max"], more: dict[str, Any], claim: str
) -> None:
    proof = proof_of(by, **more)
    again = nv.RelaxationCertificate.from_json(proof.to_json())
    assert again == proof
    assert nv.verify(again, X=GIVEN["A"], y=GIVEN["c"]) == claim


def test_a_tree_of_cases_proves_what_shares_do_not() -> None:
    """The six conflicts of four equations have shares of 2 in all, but three rows must go."""
    proof = proof_of("rows", PAIRS)
    assert (proof.bound, proof.value) == (F(3), F(3))
    assert len(proof.branches) > 1
    proof.verify(**PAIRS)
    without = replace(proof, branches=proof.branches[:-1])
    with pytest.raises(nv.CertificateError, match="not one tree"):
        without.verify(**PAIRS)
    outside = tuple(
        replace(branch, element=7) if branch.decides else branch for branch in proof.branches
    )
    with pytest.raises(nv.CertificateError, match="decides about a row that is in no conflict"):
        replace(proof, branches=outside).verify(**PAIRS)


ROWS, TOTAL = "rows", "total"
POINT = (F(1), F(2), F(1))  # it violates the rows 1, 2 and 4


@pytest.mark.parametrize(
    ("by", "changes", "complaint"),
    [
        (ROWS, {"sha256": "0" * 64}, "digest of its rows differs"),
        (ROWS, {"bound": F(3)}, "A bound of 2 is shown, and not that of the certificate"),
        (ROWS, {"value": F(1)}, "which is more than the certificate states"),
        (ROWS, {"value": None}, "a point its value"),
        (ROWS, {"point": None}, "needs a point"),
        (ROWS, {"point": POINT}, "value 3, which is more"),
        (ROWS, {"point": (F(0), F(0))}, "one coordinate for each variable"),
        (ROWS, {"point": (F(3), F(2), F(-1))}, "is not positive"),
        (ROWS, {"kept": (0, 1)}, r"row \d, which is kept|kept rows contradict|A bound of"),
        (ROWS, {"kept": (5,)}, "Row 5 of the certificate does not exist"),
        (ROWS, {"weights": RowWeights((0,), (F(-1),))}, "not positive"),
        (ROWS, {"weights": RowWeights((0, 0), (F(1), F(1)))}, "do not belong together"),
        (ROWS, {"weights": RowWeights((0,), ())}, "do not belong together"),
        (ROWS, {"weights": RowWeights((9,), (F(1),))}, "Row 9 of the certificate does not exist"),
        (ROWS, {"kept": (0,), "weights": RowWeights((0,), (F(1),))}, "kept has a weight"),
        (ROWS, {"branches": ()}, "A bound of 0 is shown"),
        (ROWS, {"branches": (Branch(None, (0, 1), (F(2), F(2))),)}, "more than 1, its cost"),
        (ROWS, {"branches": (Branch(None, (0, 0), (F(1), F(1))),)}, "or one twice"),
        (ROWS, {"branches": (Branch(0),) * 10_001}, "more than 10,000 branches"),
        (ROWS, {"conflicts": (Multipliers((0, 3), (F(1), F(1))),) * 2}, "is not zero"),
        (ROWS, {"conflicts": (Multipliers((), ()),) * 2}, "without rows"),
        (ROWS, {"multipliers": Multipliers((0, 1), (F(1), F(1)))}, "do not show how many rows"),
        (ROWS, {"by": "most"}, "The question 'most' is not known"),
        (ROWS, {"by": "total"}, r"how large a violation is|which is more"),
        (TOTAL, {"multipliers": None}, "A bound of 0 is shown"),
        (TOTAL, {"multipliers": Multipliers((0, 2), (F(2), F(2)))}, "are too large"),
        (TOTAL, {"multipliers": Multipliers((0, 2), (F(1), F(-1)))}, "is not positive"),
        (TOTAL, {"multipliers": Multipliers((0, 2), (F(1), F(1)))}, "A bound of 3 is shown"),
        (TOTAL, {"by": "max"}, "too large"),
        (TOTAL, {"by": "rows"}, "which is more|how many rows"),
        (TOTAL, {"conflicts": (Multipliers((0, 1), (F(1), F(1))),)}, "how large a violation is"),
    ],
)
def test_a_forged_certificate_is_rejected(
    by: Literal["rows", "total", "max"], changes: dict[str, Any], complaint: str
) -> None:
    proof = proof_of(by)
    proof.verify(**GIVEN)
    with pytest.raises(nv.CertificateError, match=complaint):
        replace(proof, **changes).verify(**GIVEN)


def test_a_bound_on_rows_that_are_kept_is_no_bound_without_them() -> None:
    """With x ≥ 4 kept, x ≤ 1 is violated by 3; otherwise, 3/2 of it is enough."""
    proof = proof_of("max", keep=[2])
    assert (proof.kept, proof.bound) == ((2,), F(3))
    proof.verify(**GIVEN)
    with pytest.raises(nv.CertificateError, match="too large"):
        replace(proof, kept=()).verify(**GIVEN)


def test_strict_rows_are_given_up_but_violated_by_nothing() -> None:
    given: dict[str, Any] = {"A": [[1.0], [-1.0]], "c": [0.0, 0.0], "strict": True}
    proof = proof_of("rows", given)
    assert (proof.bound, proof.value) == (F(1), F(1))
    proof.verify(**given)
    with pytest.raises(nv.CertificateError, match="value 2, which is more"):
        replace(proof, point=(F(0), F(1))).verify(**given)
    weak = proof_of("total", given)
    assert (weak.bound, weak.value, weak.multipliers) == (F(0), F(0), None)
    weak.verify(**given)


@pytest.mark.parametrize(
    ("by", "field", "value", "complaint"),
    [
        ("rows", "branches.0.sets", [0, 99], "'branches.sets'"),
        ("rows", "branches.0.shares", [], "'branches.shares'"),
        ("rows", "branches.0.element", 77, "'branches.element'"),
        ("rows", "bound", ["-0x1p+0"], "'bound'"),
        ("total", "multipliers.rows", [0, 0], "'multipliers.rows'"),
        ("rows", "by", 3, "'by'"),
    ],
)
def test_a_text_with_impossible_fields_is_rejected(
    by: Literal["rows", "total", "max"], field: str, value: Any, complaint: str
) -> None:
    body = json.loads(proof_of(by).to_json())
    *path, last = field.split(".")
    part = body
    for name in path:
        part = part[int(name)] if isinstance(part, list) else part[name]
    part[last] = value
    with pytest.raises(nv.CertificateError, match=complaint):
        nv.RelaxationCertificate.from_json(sealed(body))


def test_with_a_tolerance_nothing_has_a_certificate() -> None:
    """The rows of a loosened system are not those that the user can verify."""
    from novikoff.core.stops import Limits
    from novikoff.systems.relax import relax_system
    from novikoff.systems.statement import loosened, stated_system

    stated = loosened(stated_system(**GIVEN), F(1, 10))
    for by in ("rows", "total", "max"):
        with case_named(by):
            answer = relax_system(stated, by, Limits())
            assert answer.kind == "relaxed"
            assert answer.certificate is None
    kept = loosened(stated_system(**GIVEN, keep=[0, 1, 2]), F(1, 10))
    answer = relax_system(kept, "rows", Limits())
    assert (answer.kind, answer.certificate) == ("infeasible", None)

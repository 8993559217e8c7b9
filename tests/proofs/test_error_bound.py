"""Proofs of lower bounds on mistakes survive their text, and altered proofs are rejected."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import novikoff as nv
from novikoff.core.problem import signed_problem
from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.geometry.packing import Packing
from novikoff.geometry.passes import LocalPasses
from novikoff.proofs.dependence import Dependence
from novikoff.proofs.error_bound import RuleSearch
from tests.cases import CORNERS, XOR, case_named, labelled, noisy
from tests.oracle import signed

FOUR = np.vstack([CORNERS, CORNERS + 10.0 * CORNERS.mean(), 3.0 * CORNERS - 1.0, CORNERS])


pytestmark = pytest.mark.usefixtures("brief_descents")


@pytest.fixture(autouse=True)
def by_contradictions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prove bounds by contradictions alone; `test_rule_boxes` tests the search of all rules."""
    monkeypatch.setattr("novikoff.geometry.fewest_mistakes._MOST_WEIGHTS", 0)


def proof_of(X: Vector, y: Any, weights: Vector | None = None) -> nv.ErrorBound:
    found: Any = nv.Pocket(random_state=0).fit(X, y, sample_weight=weights)
    return found.certificate_


@pytest.mark.parametrize("data", [labelled(13, 60, 3), (FOUR, XOR * 4)], ids=["noise", "xor"])
def test_a_proof_survives_its_text(data: tuple[Vector, Any]) -> None:
    X, y = data
    proof = proof_of(X, y)
    again = nv.ErrorBound.from_json(proof.to_json())
    assert again == proof
    assert again.to_json() == proof.to_json()
    nv.verify(again, X, y)


def test_an_altered_text_is_rejected() -> None:
    text = proof_of(CORNERS, XOR).to_json()
    body = json.loads(text)
    body["n"] = 5
    for altered in (json.dumps(body), text.replace("lower bound", "upper bound"), "{}", "[]", "x"):
        with case_named(altered[:20]), pytest.raises(nv.CertificateError):
            nv.ErrorBound.from_json(altered)
    separable = nv.separate([[1.0], [2.0]], [0, 1]).certificate
    assert separable is not None
    with pytest.raises(nv.CertificateError):
        nv.ErrorBound.from_json(separable.to_json())
    with pytest.raises(nv.CertificateError):
        nv.Certificate.from_json(text)


def first(proof: nv.ErrorBound, **changes: Any) -> nv.ErrorBound:
    """The proof with a different first contradiction."""
    claim = replace(proof.contradictions[0], **changes)
    return replace(proof, contradictions=(claim, *proof.contradictions[1:]))


def moved(proof: nv.ErrorBound) -> nv.ErrorBound:
    """The proof, whose first contradiction names different rows."""
    used = {i for each in proof.contradictions for i in each.among or ()}
    free = next(i for i in range(proof.n) if i not in used)
    among = tuple(sorted((*among_first(proof)[1:], free)))
    return first(proof, among=among, rows=(), multipliers=())


def among_first(proof: nv.ErrorBound) -> tuple[int, ...]:
    return proof.contradictions[0].among or ()


MUTANTS: dict[str, Callable[[nv.ErrorBound], nv.ErrorBound]] = {
    "bound raised": lambda p: replace(p, bound=p.bound + 1),
    "bound beyond all floats": lambda p: replace(p, bound=Fraction(16) ** 400),
    "bound below zero": lambda p: replace(p, bound=Fraction(-1)),
    "bound far below zero": lambda p: replace(p, bound=-(Fraction(16) ** 400)),
    "bound raised a little": lambda p: replace(p, bound=p.bound + Fraction(1, 10**20)),
    "one left out": lambda p: replace(p, contradictions=p.contradictions[1:]),
    "one twice": lambda p: replace(
        p, contradictions=(*p.contradictions, p.contradictions[0]), bound=p.bound + 1
    ),
    "one twice for another": lambda p: replace(
        p, contradictions=(p.contradictions[1], *p.contradictions[1:])
    ),
    "other rows": moved,
    "no rows": lambda p: first(p, among=(), rows=(), multipliers=()),
    "rows not named": lambda p: first(p, among=None),
    "a row twice": lambda p: first(p, among=among_first(p) * 2),
    "a weight more": lambda p: first(
        p, rows=among_first(p)[:1], multipliers=(Fraction(1, 2),), exact=True
    ),
    "weights of zero": lambda p: first(
        p, rows=among_first(p), multipliers=(Fraction(-1),) * len(among_first(p)), exact=True
    ),
    "classes exchanged": lambda p: replace(p, positive=p.negative, negative=p.positive),
    "rows more": lambda p: replace(p, n=p.n + 1),
    "columns more": lambda p: replace(p, d=p.d + 1),
    "other digest": lambda p: replace(p, sha256="0" * 64),
}


def accepted(proof: nv.ErrorBound, X: Vector, y: object) -> bool:
    """Whether a proof, or its text, is accepted."""
    with suppress(nv.CertificateError):
        proof.verify(X, y)
        return True
    with suppress(nv.CertificateError):
        nv.verify(nv.ErrorBound.from_json(proof.to_json()), X, y)
        return True
    return False


def test_mutants_are_rejected() -> None:
    X, y = labelled(14, 60, 2)
    proof = proof_of(X, y.tolist())
    assert len(proof.contradictions) >= 3
    assert accepted(proof, X, y)
    assert [name for name, alter in MUTANTS.items() if accepted(alter(proof), X, y)] == []


def test_altered_multipliers_are_rejected() -> None:
    """Each multiplier of each contradiction, by a relative 10⁻³."""
    X, y = labelled(15, 50, 3)
    proof = proof_of(X, y.tolist())
    proof.verify(X, y)
    altered = 0
    for k, claim in enumerate(proof.contradictions):
        for j, mu in enumerate(claim.multipliers):
            shifted = (mu + (1 + abs(mu)) / 1000,)
            others = claim.multipliers[:j] + shifted + claim.multipliers[j + 1 :]
            claims: list[Dependence] = list(proof.contradictions)
            claims[k] = replace(claim, multipliers=others)
            with case_named((k, j)), pytest.raises(nv.CertificateError):
                replace(proof, contradictions=tuple(claims)).verify(X, y)
            altered += 1
    assert altered > 5


def test_other_data_and_other_weights_are_rejected() -> None:
    """The bound is proved for the costs given, and for larger ones."""
    nudged = FOUR.copy()
    nudged[3, 1] = math.nextafter(nudged[3, 1], 2.0)
    for changed, X, y in (
        ("a feature", nudged, XOR * 4),
        ("a label", FOUR, XOR * 3 + [1, 1, 1, 0]),
        ("a row fewer", FOUR[:-1], (XOR * 4)[:-1]),
    ):
        with case_named(changed), pytest.raises(nv.CertificateError):
            nv.verify(proof_of(FOUR, XOR * 4), X, y)
    weights = np.tile([2.0, 3.0, 2.0, 4.0], 4)
    proof = proof_of(FOUR, XOR * 4, weights)
    assert proof.bound >= 8
    proof.verify(FOUR, XOR * 4, weights)
    proof.verify(FOUR, XOR * 4, weights + 1.0)
    for light in (None, weights * (1.0 - 2.0**-50)):
        with (
            case_named(light),
            pytest.raises(nv.CertificateError, match=r"prove mistakes of|in sets with shares"),
        ):
            proof.verify(FOUR, XOR * 4, light)
    rounds_up = np.full(16, 2**53 + 3), [0.5, *[2**53 + 3] * 15]
    for bad in (weights[:-1], -weights, weights * math.nan, np.zeros(16), *rounds_up, ["2"] * 16):
        with case_named(bad), pytest.raises(nv.CertificateError):
            proof.verify(FOUR, XOR * 4, bad)
    with pytest.raises(ValueError, match=r"sample_weight contains integers beyond 2\*\*53"):
        proof_of(FOUR, XOR * 4, rounds_up[0])


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        (None, "misclassifies at least 4 rows, "),
        (np.full(16, 2.0), "rows with a total sample_weight of at least 8, "),
        (np.full(16, 2.0 / 3.0), "at least 2.6666666666666665, "),  # not 2.66667
        (np.full(16, 1234567.0), "at least 4,938,268, "),  # not 4.93827e+06
    ],
)
def test_a_claim_is_no_more_than_was_proved(weights: Any, says: str) -> None:
    assert says in proof_of(FOUR, XOR * 4, weights).claim()


ALTERNATING = np.arange(5.0)[:, None], [1, 0, 1, 0, 1]


def test_contradictions_with_common_rows_prove_more() -> None:
    """Three of five rows contradict each other: two contradictions have a common row."""
    X, y = ALTERNATING
    packing = Packing(LocalPasses(signed_problem(X, np.where(y, 1, -1).astype(np.int8), True)))
    while packing.take_next(Limits()):
        pass
    assert packing.bound == 1
    model: Any = nv.Pocket(random_state=0).fit(X, y)
    assert (model.n_errors_, model.errors_lower_bound_, model.optimal_) == (2, 2, True)
    proof = nv.ErrorBound.from_json(model.certificate_.to_json())
    assert proof == model.certificate_
    proof.verify(X, y)
    with pytest.raises(nv.CertificateError):  # the shares add up to a number between 1 and 2
        replace(proof, bound=Fraction(3)).verify(X, y)


def shared(proof: nv.ErrorBound) -> list[Fraction]:
    return list(proof.shares or ())


SHARES: dict[str, Callable[[list[Fraction]], list[Fraction] | None]] = {
    "none": lambda v: None,
    "none of them": lambda v: [],
    "one missing": lambda v: v[1:],
    "one more": lambda v: [*v, Fraction(0)],
    "one raised": lambda v: [v[0] + 1, *v[1:]],
    "all raised a little": lambda v: [share * Fraction(10**12 + 1, 10**12) for share in v],
    "one below zero": lambda v: [v[0] + 1, v[1] - 1, *v[2:]],
    "all on one": lambda v: [sum(v, Fraction(0)), *[Fraction(0)] * (len(v) - 1)],
    "all halved": lambda v: [share / 2 for share in v],
}


@pytest.mark.parametrize(("name", "alter"), SHARES.items())
def test_altered_shares_are_rejected(name: str, alter: Any) -> None:
    X, y = ALTERNATING
    proof = proof_of(X, y)
    altered = alter(shared(proof))
    assert altered != shared(proof)
    forged = replace(proof, shares=None if altered is None else tuple(altered))
    assert not accepted(forged, X, y), name


def test_shares_are_rounded_up_only_where_costs_are_whole() -> None:
    X, y = ALTERNATING
    proof = proof_of(X, y)
    assert 1 < sum(shared(proof)) < 2
    with pytest.raises(nv.CertificateError, match="prove a bound of"):
        proof.verify(X, y, np.full(5, 1.5))
    proof.verify(X, y, np.full(5, 2.0))
    heavy = proof_of(X, y, np.full(5, 1.5))
    assert heavy.bound == sum(shared(heavy)) > 1.5
    heavy.verify(X, y, np.full(5, 1.5))


@pytest.mark.parametrize("bound", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
def test_a_bound_on_costs_is_rejected_without_costs(bound: Fraction) -> None:
    """Without sample_weight every cost is 1: this proves nothing about other costs."""
    y = np.array([0, 1, 1, 0])
    costs = np.full(4, 0.1)
    proof = proof_of(CORNERS, y, costs)
    proof.verify(CORNERS, y, costs)
    forged = replace(proof, bound=bound, shares=None)
    with pytest.raises(nv.CertificateError, match="pass sample_weight"):
        forged.verify(CORNERS, y)
    for weighted in (True, False):
        with case_named(weighted):
            searched = replace(forged, search=RuleSearch(10**6, weighted))
            with pytest.raises(nv.CertificateError):
                searched.verify(CORNERS, y)


def test_a_study_s_search_cannot_be_called_weighted() -> None:
    y = np.array([0, 1, 1, 0])
    proof = replace(proof_of(CORNERS, y), contradictions=(), shares=None, bound=Fraction(1))
    replace(proof, search=RuleSearch(10**6, False)).verify(CORNERS, y)
    with pytest.raises(nv.CertificateError, match="pass sample_weight"):
        replace(proof, search=RuleSearch(10**6, True)).verify(CORNERS, y)


def test_rows_of_other_classes_prove_nothing() -> None:
    """The proof about two of three classes covers all rows; others would be rows of zeros."""
    X = np.vstack([CORNERS, [[5.0, 5.0], [6.0, 5.0]]])
    y = np.array([0, 1, 1, 0, 2, 2])
    proofs: Any = nv.Pocket(multi_class="ovo", random_state=0).fit(X, y).certificate_
    bound = next(proof for proof in proofs if proof.bound > 0)
    assert (bound.n, {bound.positive, bound.negative}) == (6, {0, 1})
    bound.verify(X, y)
    alone = Dependence((), (), True, (4,))
    forged = replace(bound, bound=Fraction(1), contradictions=(alone,), shares=None)
    with pytest.raises(nv.CertificateError, match="Row 4 is of neither class"):
        forged.verify(X, y)
    with pytest.raises(nv.CertificateError):  # other rows are other data
        bound.verify(X[:4], y[:4])
    with pytest.raises(nv.CertificateError, match="digest"):
        bound.verify(X, np.array([0, 1, 1, 0, 1, 2]))


def test_a_packing_adds_up_the_cheapest_row_of_each() -> None:
    X, signs = noisy(1, 40, 2)
    costs = np.random.default_rng(0).choice(np.array([1.0, 2.0, 5.0]), size=40)
    packing = Packing(LocalPasses(signed_problem(X, signs, True)), costs)
    packing.take_duplicates(Limits())
    twins = len(packing.contradictions)
    while packing.take_next(Limits()):
        pass
    rows = [claim.among or () for claim in packing.contradictions]
    assert 0 < twins < len(rows)
    assert packing.complete
    assert packing.bound == sum(costs[list(among)].min() for among in rows)
    assert len(set().union(*rows)) == sum(map(len, rows))


@pytest.mark.parametrize("part_rows", [2000, 50])
@pytest.mark.parametrize("seed", range(5))
def test_no_hyperplane_is_below_the_bound(
    seed: int, part_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same holds for the sum of the bounds of parts of the rows."""
    module = "novikoff.geometry.fewest_mistakes"
    monkeypatch.setattr(f"{module}._PART_ROWS", part_rows)
    monkeypatch.setattr(f"{module}._PART_ROWS_PER_WEIGHT", 1)
    X, signs = noisy(seed, 200, 2)
    proof = proof_of(X, signs.tolist())
    proof.verify(X, signs)
    planes = np.random.default_rng(0).normal(size=(3, 2000))
    mistakes = (signed(X, signs, True) @ planes <= 0.0).sum(axis=0)
    assert 0 < proof.bound <= mistakes.min()

"""The checker rejects data and certificates that are made to deceive it."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nv
from novikoff.core.rows import Vector
from novikoff.proofs.certificate import GeometricMargin
from novikoff.proofs.dependence import Dependence
from novikoff.proofs.digest import HashTree, MatrixDigest, rows_per_leaf
from tests.cases import CORNERS, case_named
from tests.proofs.test_certificate import sealed


def certificate(X: object, y: object, **options: Any) -> nv.Certificate:
    proof = nv.separate(X, y, **options).certificate
    assert proof is not None
    return proof


# The digest


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("d", [1, 3, 700])
def test_the_digest_is_about_numbers_not_their_storage(share: float, d: int) -> None:
    rng = np.random.default_rng(d)
    n = 2 * rows_per_leaf(d) // 3 * 2 + 1 if d > 1 else 1000
    X = (rng.random((n, d)) < share) * rng.integers(-8, 8, (n, d)) / 4.0
    reference = MatrixDigest.of(X)
    explicit = sp.csr_array(np.where(X == 0.0, 9.0, X))
    explicit.data[explicit.data == 9.0] = -0.0
    for same in (sp.csr_array(X), X.astype(np.float32), 0.0 - (0.0 - X), explicit):
        with case_named(same):
            assert MatrixDigest.of(same) == reference
    other = X.copy()
    other[n // 2, d - 1] += 0.5
    assert MatrixDigest.of(other) != reference
    assert MatrixDigest.of(X[:-1]) != reference


def test_signs_and_shape_are_in_the_digest() -> None:
    X = np.zeros((4, 2))
    signs = np.array([1, -1, 1, 1], dtype=np.int8)
    digest = MatrixDigest.of(X)
    assert digest.signed(signs) != digest.signed(-signs)
    assert digest.signed(signs) != MatrixDigest.of(np.zeros((4, 3))).signed(signs)


# Data that is not finite, or changes


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_forged_proof_about_numbers_that_are_not_finite_is_rejected(
    value: float, sparse: bool
) -> None:
    X = np.array([[1.0, 2.0], [value, 1.0], [3.0, 1.0]])
    given = sp.csr_array(X) if sparse else X
    signs = np.array([1, 1, -1], dtype=np.int8)
    forged = nv.Certificate(
        "separable", 3, 2, True, 1, 0, MatrixDigest.of(X).signed(signs), w=(Fraction(1),) * 3
    )
    with pytest.raises(nv.CertificateError, match="row 1, column 0"):
        forged.verify(given, [1, 1, 0])


class Fickle(np.ndarray[Any, Any]):
    """An array whose numbers differ when it is read again."""

    reads: dict[str, int]

    def __getitem__(self, key: Any) -> Any:
        found = np.asarray(super().__getitem__(key)).copy()
        seen = self.__dict__.setdefault("seen", set())
        first = (key.start, key.stop) if isinstance(key, slice) else str(key)
        if first in seen:
            found = found + 1.0
        seen.add(first)
        return found


def test_data_is_read_once() -> None:
    """If the digest and the claims used different readings, a false proof could pass."""
    X, y = CORNERS, [0, 0, 0, 1]
    proof = certificate(X, y)
    fickle = X.copy().view(Fickle)
    proof.verify(fickle, y)  # the first reading is the data of the proof
    with pytest.raises(nv.CertificateError, match="digest"):
        proof.verify(fickle, y)


def test_a_mapped_file_is_verified_in_place(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 30)).astype(np.float32)
    y = np.where(X[:, 0] > 0.0, 1, 0)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r+")
    proof = certificate(mapped, y, goal="kind")
    proof.verify(mapped, y)
    mapped[19_999, 29] += 1.0
    with pytest.raises(nv.CertificateError, match="digest"):
        proof.verify(mapped, y)


# Text that is not strict, or too much


def test_a_field_twice_or_unknown_is_rejected() -> None:
    proof = certificate(CORNERS, [0, 0, 0, 1])
    text = proof.to_json()
    with pytest.raises(nv.CertificateError, match="twice"):
        nv.Certificate.from_json(text.replace('"kind"', '"n": 4,\n "kind"', 1))
    body = json.loads(text)
    for where, edited in {
        "certificate": {**body, "more": 1},
        "margin": {**body, "margin": {**body["margin"], "more": 1}},
    }.items():
        with case_named(where), pytest.raises(nv.CertificateError, match="unknown field"):
            nv.Certificate.from_json(sealed(edited))
    with pytest.raises(nv.CertificateError, match="NaN"):
        nv.Certificate.from_json(text.replace('"positive": 1', '"positive": NaN'))


HOSTILE: list[dict[str, Any]] = [
    {"w": ["0x" + "f" * 400_000]},
    {"w": {"denominator": "0x" + "f" * 250_000, "numerators": ["0x" + "e" * 250_000]}},
    {"w": {"denominator": "0x1", "numerators": ["0x1"] * 50_000}},
    {"w": {"denominator": "0x" + "f" * 30_000, "numerators": ["0x3"] * 65_000}, "d": 64_999},
    {"w": []},
    {"w": ["0x1p+1"] * 50_000, "d": 49_999},
    {"n": 10**9, "dependence": {"rows": [0] * 90_000, "multipliers": [], "exact": True}},
    {"n": 10**9, "margin": {"lo": "0x0p+0", "hi": "inf", "rows": list(range(70_000))}},
    {"n": 10**400},
    {"d": 2**53, "w": None, "geometric_margin": None},
    {"mistake_bound": 10**4000},
    {"positive": "a" * 500_000},
    {"w": [[[[]]] * 100_000]},
]


@contextmanager
def counted_calls() -> Iterator[list[int]]:
    """The number of calls of functions, of Python and of C, inside the block."""
    calls = [0]

    def count(frame: FrameType, event: str, argument: object) -> None:
        calls[0] += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(before)


@pytest.mark.parametrize("edit", HOSTILE, ids=lambda edit: repr(edit)[:40])
def test_half_a_megabyte_of_hostile_text_costs_little(edit: dict[str, Any]) -> None:
    body = json.loads(certificate(CORNERS, [0, 0, 0, 1]).to_json())
    text = sealed({**body, **edit})
    with counted_calls() as calls, pytest.raises(nv.CertificateError):
        nv.Certificate.from_json(text).verify(CORNERS, [0, 0, 0, 1])
    assert calls[0] < 5_000 + 10 * len(text)


def test_many_long_numbers_cost_in_proportion() -> None:
    body = json.loads(certificate(CORNERS, [0, 1, 1, 0]).to_json())
    digits = "f" * 32_000
    claim: dict[str, Any] = {
        "among": [0, 1, 2, 3],
        "rows": [0, 1, 2, 3],
        "multipliers": {"denominator": "0x" + digits, "numerators": ["0x" + digits] * 4},
        "exact": True,
    }
    text = sealed({**body, "contradiction": claim, "dependence": {**claim, "among": None}})
    with counted_calls() as calls:
        nv.Certificate.from_json(text)
    assert calls[0] < 5_000  # no call for each digit


def test_sparse_matrices_of_other_formats_are_checked_or_rejected() -> None:
    proof = certificate(CORNERS, [0, 1, 1, 0])
    proof.verify(sp.csc_array(CORNERS), [0, 1, 1, 0])
    proof.verify(sp.coo_array(CORNERS), [0, 1, 1, 0])
    for ends, message in (([0, 2, 10**6], "ends beyond"), ([0, 3, 2], "rise"), ([0, 4], "1 int")):
        bad = sp.csc_array(CORNERS)
        bad.indptr = np.array(ends, dtype=np.int32)
        with case_named(message), pytest.raises(nv.CertificateError, match=message):
            proof.verify(bad, [0, 1, 1, 0])
    odd = SimpleNamespace(tocsr=None, format="odd", shape=CORNERS.shape)
    with pytest.raises(nv.CertificateError, match="convert it by tocsr"):
        proof.verify(odd, [0, 1, 1, 0])


def test_a_margin_that_is_infinite_from_below_is_rejected() -> None:
    body = json.loads(certificate([[0.0], [1.0], [3.0]], [0, 0, 1]).to_json())
    body["geometric_margin"].update(lo="inf", hi="inf")
    with pytest.raises(nv.CertificateError, match=r"geometric_margin\.lo"):
        nv.Certificate.from_json(sealed(body))


# Claims with their hypotheses


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("y", [[0, 0, 0, 1], [0, 1, 1, 0], [1, 1, 1, 1], [0, 1, 1, 1]])
def test_a_claim_names_its_hypotheses(fit_intercept: bool, y: list[int]) -> None:
    proof = certificate(CORNERS, y, fit_intercept=fit_intercept)
    claim = proof.claim()
    assert ("with a bias" if fit_intercept else "through the origin") in claim
    assert "4 rows of 2 columns" in claim
    assert claim.lower().startswith(proof.kind)
    assert ("1 from 0" in claim) == (0 in y)


@pytest.mark.parametrize("y", [[0, 1, 1, 0], [0, 1, 0, 1, 1]], ids=str)
def test_weights_are_by_row_and_balance(y: list[int]) -> None:
    X = CORNERS if len(y) == 4 else np.vstack([CORNERS, [[0.0, 0.0]]])
    proof = certificate(X, y)
    total = np.zeros(3)
    for row, weight in proof.multipliers.items():
        assert weight > 0
        total += float(weight) * (2 * y[row] - 1) * np.append(X[row], 1.0)
    np.testing.assert_allclose(total, 0.0, atol=1e-12)


def test_the_multipliers_of_a_margin_and_of_all_rows() -> None:
    separable = certificate(CORNERS, [0, 0, 0, 1])
    assert separable.margin is not None
    assert tuple(separable.multipliers) == separable.margin.rows
    stiemke = replace(certificate(CORNERS, [0, 1, 1, 0]), contradiction=None)
    all_rows = replace(stiemke, dependence=Dependence((0,), (Fraction(0),), True))
    assert all_rows.multipliers == dict.fromkeys(range(4), Fraction(1))


# The geometric margin


def gap(proof: nv.Certificate) -> GeometricMargin:
    assert proof.geometric_margin is not None
    return proof.geometric_margin


def test_the_geometric_margin_has_its_proof() -> None:
    X = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.5], [4.0, 9.0]])
    y = [0, 0, 1, 1]
    proof = certificate(X, y)
    proof.verify(X, y)
    old = gap(proof)
    assert old.lo <= 1.5 <= old.hi
    mutants = [
        replace(old, lo=old.hi * (1 + 1e-9), hi=old.hi * 2),
        replace(old, lo=0.0, hi=old.lo * (1 - 1e-9)),
        replace(old, lo=math.nan),
        replace(old, lo=-1.0),
        replace(old, w=tuple(-value for value in old.w)),
        replace(old, w=old.w[1:]),
        replace(old, w=(Fraction(0), *old.w[1:])),
        replace(old, multipliers=tuple(-value for value in old.multipliers)),
        replace(old, multipliers=(2 * old.multipliers[0], *old.multipliers[1:])),
        replace(old, multipliers=old.multipliers[1:]),
        replace(old, rows=old.rows[::-1], multipliers=old.multipliers, hi=old.lo),
    ]
    for k, mutant in enumerate(mutants):
        with case_named(k), pytest.raises(nv.CertificateError):
            replace(proof, geometric_margin=mutant).verify(X, y)
    replace(proof, geometric_margin=replace(old, lo=old.lo / 2, hi=math.inf)).verify(X, y)
    inseparable = certificate(CORNERS, [0, 1, 1, 0])
    forged = replace(inseparable, geometric_margin=GeometricMargin(*old.__dict__.values()))
    with pytest.raises(nv.CertificateError):
        forged.verify(CORNERS, [0, 1, 1, 0])


@pytest.mark.parametrize("offset", [0.0, 1e8, -3e7])
@pytest.mark.parametrize("n", [2, 500])
def test_data_far_from_the_origin_has_a_tight_gap(offset: float, n: int) -> None:
    """Moving all rows changes only their rounding."""
    rng = np.random.default_rng(n)
    width = 1e-6 if offset else 1.0
    X = offset + width * np.arange(n)[:, None] / n * 8.0
    y = np.where(np.arange(n) < n // 2, "low", "high")
    X = np.hstack([X, rng.normal(size=(n, 1))])
    verdict = nv.separate(X, y)
    assert verdict.kind == "separable"
    assert verdict.geometric_margin.relative_width <= 1e-6
    assert verdict.coef is not None
    assert not verdict.needs_exact_weights
    assert verdict.certificate is not None
    verdict.certificate.verify(X, y)


def test_two_points_a_millionth_apart_at_a_hundred_million() -> None:
    X: Vector = np.array([[1e8], [1e8 + 1e-6]])
    verdict = nv.separate(X, [0, 1])
    half = (Fraction(X[1, 0]) - Fraction(X[0, 0])) / 2
    assert Fraction(verdict.geometric_margin.lo) <= half <= Fraction(verdict.geometric_margin.hi)
    assert verdict.geometric_margin.relative_width < 1e-9
    assert verdict.coef is not None
    assert verdict.intercept is not None
    w, b = Fraction(verdict.coef[0]), Fraction(verdict.intercept)
    assert w * Fraction(X[0, 0]) + b < 0 < w * Fraction(X[1, 0]) + b


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_parts_that_cut_leaves_anywhere_have_the_digest_of_the_whole(
    seed: int, sparse: bool
) -> None:
    """Leaves have 16 rows here, because they are made for fewer numbers than in fact."""
    with mock.patch("novikoff.proofs.digest._NUMBERS_PER_LEAF", 1 << 8):
        check_parts(seed, sparse, 20)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_parts_of_wide_rows_have_the_digest_of_the_whole(seed: int, sparse: bool) -> None:
    check_parts(seed, sparse, 20_000)  # a leaf has 16 rows


def check_parts(seed: int, sparse: bool, d: int) -> None:
    """Cut rows anywhere, add the parts to trees, and merge the trees in any order."""
    assert rows_per_leaf(d) == 16
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 200))
    few = sp.csr_array(sp.random(n, d, density=0.1 if d < 100 else 1e-3, random_state=seed))
    X: Any = few if sparse else few.toarray() + 1.0
    signs = rng.choice([-1, 1], size=n).astype(np.int8)
    edges = np.unique(np.concatenate([[0, n], rng.integers(0, n + 1, size=6)])).tolist()
    trees = []
    for first, last in pairwise(edges):
        trees.append((HashTree(d), HashTree(0)))
        trees[-1][0].add(first, X[first:last])
        trees[-1][1].add(first, signs[first:last])
    while len(trees) > 1:  # merge any two trees, in either order
        i, j = rng.permutation(len(trees))[:2].tolist()
        for one, other in zip(trees[i], trees[j], strict=True):
            one.merge(other)
        del trees[j]
    rows, sides = trees[0]
    assert MatrixDigest.of_tree(rows, n).signed(sides) == MatrixDigest.of(X).signed(signs)
    if n > 16:
        missing = HashTree(d)
        missing.add(1, X[1:])
        with pytest.raises(ValueError, match="not been hashed"):
            missing.root(n)


def test_sparse_rows_of_zeros_have_no_columns_at_all() -> None:
    X, y = sp.csr_array((3, 2)), [0, 1, 1]
    nv.verify(certificate(X, y, fit_intercept=False), X, y)

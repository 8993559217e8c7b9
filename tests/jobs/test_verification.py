"""`nv.verify` checks every argument that it takes, and takes no others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import novikoff as nv
from tests.cases import CORNERS, XOR

X = np.array([[0.0], [1.0], [3.0]])
y = np.array([0, 0, 1])
A, c = [[1.0], [-1.0]], [0.0, 1.0]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"sample_weight": [1.0, 2.0, 3.0]}, "sample_weight"),
        ({"strict": True}, "strict"),
        ({"A": 3, "foo": 1}, "A, foo"),
        ({"sample_weights": None}, "sample_weights"),
    ],
)
def test_a_verdict_is_about_the_data_only(given: dict[str, Any], names: str) -> None:
    proof = nv.separate(X, y).certificate
    assert proof is not None
    assert nv.verify(proof, X, y, sample_weight=None).startswith("Separable")
    with pytest.raises(
        TypeError, match=rf"^{names} cannot be .* Certificate is about the data only"
    ):
        nv.verify(proof, X, y, **given)


@pytest.mark.parametrize("name", ["costs", "strict", "lower"])
def test_an_error_bound_takes_costs_by_one_name(name: str) -> None:
    proof = nv.Pocket().fit(CORNERS, XOR).certificate_
    assert isinstance(proof, nv.ErrorBound)
    given: Any = {name: np.ones(4)}
    assert nv.verify(proof, CORNERS, XOR, sample_weight=np.ones(4))
    with pytest.raises(TypeError, match=rf"^{name} cannot be .* data and sample_weight only"):
        nv.verify(proof, CORNERS, XOR, **given)


@pytest.mark.parametrize("name", ["sample_weight", "uper", "b"])
def test_a_system_takes_its_parts_by_their_names(name: str) -> None:
    proof = nv.solve(A, c).certificate
    assert proof is not None
    given: Any = {name: [1.0, 1.0]}
    assert nv.verify(proof, A=A, c=c) == nv.verify(proof, A, c)
    with pytest.raises(TypeError, match=rf"^{name} cannot .* A, c, A_eq, c_eq, lower, upper, st"):
        nv.verify(proof, A, c, **given)
    with pytest.raises(TypeError, match=r"^A was given twice"):
        nv.verify(proof, A, c, A=A)

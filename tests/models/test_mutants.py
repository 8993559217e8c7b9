"""The claim of a model fails if its inequalities are wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import novikoff as nv
from novikoff.core.rows import stacked
from novikoff.geometry.cone import Cone
from novikoff.models import cones
from tests.cases import case_named
from tests.claims.register import all_claims
from tests.claims.test_claims import SEED


def equalities_as_inequalities(design: Any, y: Any) -> Any:
    right = cones.poisson(design, y)
    A, E = right.inequalities.A, right.inequalities.E
    owner = np.concatenate([right.owner, right.equal])
    return replace(
        right, inequalities=Cone(stacked(A, E), E[:0]), owner=owner, equal=right.equal[:0]
    )


def risk_set_off_by_one(
    design: Any, duration: Any, event: Any, entry: Any, strata: Any, ties: str
) -> Any:
    """A mutant in which rows that are censored at the time of an event are not at risk."""
    return cones.cox(design, duration - 0.5 * ~event, event, entry, strata, ties)


def baseline_forgotten(design: Any, counts: Any, levels: Any, baseline: int) -> Any:
    return cones.multinomial(design, counts, levels, (baseline + 1) % len(levels))


@pytest.mark.parametrize(
    ("name", "mutant"),
    [
        ("poisson", equalities_as_inequalities),
        ("cox", risk_set_off_by_one),
        ("multinomial", baseline_forgotten),
    ],
)
def test_a_wrong_cone_is_noticed(
    name: str, mutant: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = all_claims()[f"models.{name}"]
    right = getattr(cones, name)

    def broken(*arguments: Any) -> Any:
        with monkeypatch.context() as inner:
            inner.setattr(cones, name, right)
            return mutant(*arguments)

    monkeypatch.setattr(cones, name, broken)

    def run_all() -> None:
        for number in range(claim.problems):
            claim.run(SEED, number)

    with pytest.raises(AssertionError):
        run_all()


def test_a_forged_certificate_of_a_model_with_equalities_is_rejected() -> None:
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 3]
    overlap = nv.detect_separation(X, y, family="poisson")
    apart = nv.detect_separation([[1.0], [0.0], [0.0]], y, family="poisson")
    assert (overlap.kind, apart.kind) == ("overlap", "quasi-complete separation")
    for found in (overlap, apart):
        with case_named(found.kind):
            assert found.certificate is not None
            nv.verify(found.certificate, *found.certified_rows())
    assert overlap.certificate is not None
    assert apart.certificate is not None
    forged = replace(overlap.certificate, sha256=apart.certificate.sha256)
    with pytest.raises(nv.CertificateError):
        nv.verify(forged, *apart.certified_rows())
    forged = replace(apart.certificate, sha256=overlap.certificate.sha256)
    with pytest.raises(nv.CertificateError):
        nv.verify(forged, *overlap.certified_rows())

"""Every claim of the register, on some random problems; `make fuzz` tries many more."""

from __future__ import annotations

import pytest

from tests.claims.register import all_claims

SEED = 0


@pytest.mark.parametrize("name", all_claims())
def test_claim(name: str) -> None:
    claim = all_claims()[name]
    for number in range(claim.problems):
        claim.run(SEED, number)

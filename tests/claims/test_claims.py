"""Check every claim of the register on a few random problems; `make fuzz` checks many more."""

from __future__ import annotations

import pytest

from tests.claims.register import all_claims

SEED = 0


@pytest.mark.parametrize("name", all_claims())
def test_claim(name: str) -> None:
    claim = all_claims()[name]
    for number in range(claim.problems):
        claim.run(SEED, number)

"""The limiting model: the limit of the likelihood along the direction of separation.

For any coefficients b, the log-likelihood of b + t·d tends to the log-likelihood of b in the
limiting model as t grows (Geyer 2009). Both are computed here from their definitions. More problems
are in the claim `tests.claims.models.limits`.
"""

from __future__ import annotations

import pytest

from tests.models.model_problems import CASES, check_limit, problem

PROBLEMS = 8


@pytest.mark.parametrize("name", CASES)
def test_the_likelihood_tends_to_that_of_the_limiting_model(name: str) -> None:
    kinds = set()
    for seed in range(PROBLEMS):
        case = problem(name, seed)
        kinds.add(case.found.kind)
        check_limit(case, seed)
    assert kinds - {"overlap"}

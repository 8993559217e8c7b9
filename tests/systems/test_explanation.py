"""`nv.explain`: its arguments, and those of the other questions about a system."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import novikoff as nv
from tests.cases import case_named

# The questions take the system by the same arguments, but an optimum on strict rows may not exist,
# and an optimum blames no row.
PARTS = ["A_eq", "c_eq", "lower", "upper", "strict", "names", "equality_names", "variables", "keep"]
BUDGET = "budget"


@pytest.mark.parametrize("question", [nv.solve, nv.conflicts, nv.relax, nv.explain])
def test_all_questions_take_a_system_by_the_same_arguments(question: Any) -> None:
    parameters, known = (inspect.signature(ask).parameters for ask in (question, nv.solve))
    for name in ["c", *PARTS, BUDGET]:
        with case_named(name):
            assert parameters[name] == known[name]
    listed = [name for name in parameters if name in PARTS]
    assert sorted(listed) == sorted(PARTS)
    assert not any(part.kind is part.VAR_KEYWORD for part in parameters.values())


def test_a_linear_program_takes_a_system_by_the_same_arguments() -> None:
    parameters, known = (inspect.signature(ask).parameters for ask in (nv.linear_program, nv.solve))
    for name in {*PARTS, BUDGET} - {"strict", "keep"}:
        assert parameters[name] == known[name]


def test_a_misspelt_argument_is_named_with_its_function() -> None:
    question: Any = nv.explain
    with pytest.raises(TypeError, match=r"explain\(\) got an unexpected keyword argument 'lowr'"):
        question([[1.0]], [2.0], lowr=0)


def test_blame_takes_one_budget_for_all_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    from novikoff.core.stops import Limits
    from novikoff.systems import explanation

    seen: list[Limits] = []
    solve_system = vars(explanation)["solve_system"]

    def spied(system: Any, limits: Limits, **more: Any) -> Any:
        seen.append(limits)
        return solve_system(system, limits, **more)

    monkeypatch.setattr(explanation, "solve_system", spied)
    answer = nv.explain([[1.0], [-1.0], [-1.0]], [0.0, -1.0, 5.0], blame=["row 2", "row 1"])
    assert [row.name for row in answer.conflict if not row.kept] == ["row 1"]
    assert len(seen) > 1
    assert len({*map(id, seen)}) == 1

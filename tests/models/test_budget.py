"""The budget of `nv.detect_separation`, and Ctrl-C while HiGHS runs."""

from __future__ import annotations

import signal
import threading
from typing import Any

import numpy as np
import pytest

import novikoff as nv
from novikoff.core import stops
from novikoff.geometry import faces, recession, recession_programs, recession_span


class Clock:
    """A clock that stands still until `end` is called."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def end(self) -> None:
        self.now += 1e6


def clusters() -> tuple[Any, Any]:
    """Classes of which some can be separated: the signs of many coefficients need a search."""
    rng = np.random.default_rng(7)
    y = np.arange(90) % 5
    centres = rng.standard_normal((5, 4)) * np.array([[6.0], [6.0], [1.0], [1.0], [1.0]])
    return np.round(centres[y] + rng.standard_normal((90, 4)), 3), y


def test_all_coefficients_are_decided_without_a_budget() -> None:
    X, y = clusters()
    found = nv.detect_separation(X, y, family="multinomial")
    assert found.kind == "quasi-complete separation"
    assert "undecided" not in found.coefficients.values()


def test_no_search_begins_after_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time ends within the first linear program; what is proved by then is in the answer."""
    clock, built = Clock(), []

    class Program(recession_programs.SignProgram):
        def __init__(self, *arguments: Any) -> None:
            built.append(self)
            super().__init__(*arguments)

        def solve(self, *arguments: Any) -> Any:
            clock.end()
            return super().solve(*arguments)

    X, y = clusters()
    whole = nv.detect_separation(X, y, family="multinomial")
    monkeypatch.setattr(stops, "time", clock)
    monkeypatch.setattr(recession_span, "SignProgram", Program)
    found = nv.detect_separation(X, y, family="multinomial", budget=10.0)
    assert len(built) == 1
    assert found.kind == whole.kind
    assert [*found.separated] == [*whole.separated]
    fates = found.coefficients
    assert "undecided" in fates.values()
    assert {name: own for name, own in fates.items() if own != "undecided"}.items() <= (
        whole.coefficients.items()
    )
    assert found.responsible_columns is None


@pytest.mark.parametrize(
    ("module", "step"),
    [
        (recession, "null_space"),
        (recession, "find_face"),
        (recession_span, "null_space"),
        (recession_span, "find_face"),
        (recession_span, "exact_product"),
    ],
    ids=["aliased-columns", "separated-rows", "span", "sign", "rows-on-the-span"],
)
def test_the_answer_is_what_is_proved_when_a_step_ends_the_budget(
    module: Any, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, calls = Clock(), []
    original: Any = getattr(module, step)

    def slow(*arguments: Any, **options: Any) -> Any:
        calls.append(step)
        clock.end()
        return original(*arguments, **options)

    X, y = clusters()
    whole = nv.detect_separation(X, y, family="multinomial")
    monkeypatch.setattr(stops, "time", clock)
    monkeypatch.setattr(module, step, slow)
    found = nv.detect_separation(X, y, family="multinomial", budget=10.0)
    assert len(calls) <= 2
    assert found.kind in (whole.kind, "undecided")
    assert {*found.coefficients.values()} <= {"undecided", *whole.coefficients.values()}
    assert {*found.separated} <= {*whole.separated}
    assert str(found)


def test_ctrl_c_ends_the_wait_for_the_float_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    from scipy import optimize

    X, y = clusters()
    found = nv.detect_separation(X, y, family="multinomial")
    released = threading.Event()

    def busy(*arguments: Any, **options: Any) -> Any:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        released.wait(60.0)
        raise ValueError

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
    try:
        with monkeypatch.context() as patched:
            patched.setattr(optimize, "linprog", busy)
            with pytest.raises(KeyboardInterrupt):
                _ = found.coefficients
            assert not released.is_set()
    finally:
        released.set()
        signal.signal(signal.SIGINT, before)
    assert "undecided" not in found.coefficients.values()  # asked again


@pytest.mark.parametrize("budget", [0, -1.0, float("nan"), "1"])
def test_a_budget_is_a_positive_number_of_seconds(budget: Any) -> None:
    with pytest.raises(ValueError, match="budget must be a positive number"):
        nv.detect_separation([[0.0], [1.0]], [0, 1], budget=budget)


def test_one_projection_tells_whether_any_row_is_separated(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column is not the cause of the separation if anything is separated without it."""
    searches, projections = [], []
    span: Any = recession_span
    facial: Any = faces
    search, project = span.separates_any, facial.project_on_cone

    def searching(*arguments: Any) -> Any:
        searches.append(search(*arguments))
        return searches[-1]

    def projecting(*arguments: Any) -> Any:
        projections.append(arguments)
        return project(*arguments)

    X, y = clusters()
    found = nv.detect_separation(X, y, family="multinomial")
    assert "undecided" not in found.coefficients.values()
    monkeypatch.setattr(span, "separates_any", searching)
    monkeypatch.setattr(facial, "project_on_cone", projecting)
    assert found.responsible_columns == []
    assert searches == [True] * X.shape[1]
    assert len(projections) == len(searches)

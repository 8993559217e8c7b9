"""Each claim notices a false answer: the answer is made wrong, and the claim must fail."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import novikoff as nv
from novikoff.page.export import joined
from tests.cases import each_of
from tests.claims import commands, page
from tests.claims.register import Claim, all_claims
from tests.claims.test_claims import SEED
from tests.cli.conftest import Result

Mutant = tuple[str, Any, str, Callable[[Any], Any]]


def wrong_verdict(**changes: Callable[[Any], Any]) -> Callable[[nv.Verdict], nv.Verdict]:
    """A verdict; if it is separable, some of its attributes are changed."""

    def change(verdict: nv.Verdict) -> nv.Verdict:
        if verdict.kind != "separable" or verdict.mistake_bound is None:
            return verdict
        return replace(verdict, **{name: f(getattr(verdict, name)) for name, f in changes.items()})

    return change


def changed(answer: Any, **changes: Any) -> Any:
    """The same answer with changed attributes."""
    for name, value in changes.items():
        setattr(answer, name, value)
    return answer


def reading(pattern: str, more: int) -> Callable[[Result], Result]:
    """The output of a command, with a wrong number."""

    def change(done: Result) -> Result:
        out = re.sub(
            pattern, lambda found: f"{found[1]}{int(found[2]) + more}", done.out, flags=re.M
        )
        return replace(done, out=out)

    return change


# The claim, the function that returns the answer, and the change that makes the answer wrong.
MUTANTS: list[Mutant] = [
    ("verdicts.kind", nv, "separate", wrong_verdict(kind=lambda kind: "inseparable")),
    ("verdicts.kind", nv, "separate", wrong_verdict(separated_rows=lambda rows: rows[1:])),
    ("verdicts.margin", nv, "separate",
     wrong_verdict(margin=lambda gamma: nv.Interval(gamma.lo, gamma.lo * (1 - 1e-6)))),
    ("verdicts.margin", nv, "separate", wrong_verdict(radius=lambda radius: radius * (1 - 1e-9))),
    ("verdicts.logistic_of_categories", nv, "separate", lambda verdict: OtherSigns(verdict)),
    ("verdicts.mistake_bound", nv, "separate", wrong_verdict(mistake_bound=lambda n: n // 2)),
    ("learners.regret", nv, "regret",
     lambda found: HigherBound(found)),
    ("learners.fewest_on_a_cluster", nv.Pocket, "fit",
     lambda fit: changed(fit, errors_lower_bound_=fit.errors_lower_bound_ + 1)),
    ("learners.largest_margin", nv.MaxMargin, "fit",
     lambda fit: changed(fit, margin_=[nv.Interval(0.0, 0.0) for _ in each_of(fit.margin_)])),
    ("systems.feasible", nv, "solve",
     lambda found: changed(found, exact_w=found.exact_w and tuple(x + 1 for x in found.exact_w))),
    ("systems.tolerance", nv, "solve",
     lambda found: changed(found, exact_w=found.exact_w and tuple(x + 1 for x in found.exact_w))),
    ("systems.conflict", nv, "solve",
     lambda found: changed(found, conflict=found.conflict[1:])),
    ("systems.optimum", nv, "linear_program",
     lambda found: changed(found, exact_value=found.exact_value and found.exact_value + 1)),
    ("systems.least_squares", nv, "solve",
     lambda found: changed(found, least_squares=None if found.least_squares is None
                           else found.least_squares + 0.1)),
    ("theory.weight_bound", nv.theory, "weight_bound",
     lambda found: replace(found, kappa_squared=found.kappa_squared / 2)),
    ("theory.forced_mistakes", nv.theory, "force_mistakes",
     lambda found: replace(found, mistakes=found.mistakes + 1)),
    ("theory.weight_path", nv.theory, "watch_weights",
     lambda found: replace(found, period=found.period and 2 * found.period)),
    ("streams.margin_of_a_stream", nv, "stream",
     lambda records: [replace(r, margin_bound=r.margin_bound and 0.9 * r.margin_bound)
                      for r in records]),
    ("streams.counts_of_a_stream", nv, "stream",
     lambda records: [replace(r, mistakes=r.mistakes - 1) for r in records]),
    ("page.pocket_of_the_page", page, "pocket_answer",
     lambda told: {**told, "bound": told["bound"] + 1}),
    ("page.bound_of_the_run", page, "run_answer",
     lambda told: {**told, "reference": (told.get("reference") or None)
                   and {**told["reference"], "bound": 1}}),
    ("page.sentences_of_the_page", page, "recorded_answers",
     lambda told: {**told, "answer": {**told["answer"], "reference":
                   told["answer"]["reference"] and {**told["answer"]["reference"],
                                                    "bound_text": "0"}}}),
    ("commands.fit_several_classes", commands, "inside",
     reading(r"(fewest mistakes: (?:from )?)(\d+)", 1)),
    ("commands.fit_two_classes", commands, "inside",
     reading(r"(^bound +the perceptron makes at most )(\d+)", -1)),
    ("commands.solve", commands, "inside", reading(r"(row \d+: \S+ → )(\d+)", 1)),
]  # fmt: skip


class HigherBound:
    """A regret whose lower bound is above the true regret."""

    def __init__(self, found: Any) -> None:
        self._found = found
        self.errors_lower_bound = found.best_errors + 1

    def __getattr__(self, name: str) -> Any:
        return getattr(self._found, name)


class OtherSigns:
    """A verdict whose infinite logistic weights have the wrong sign."""

    def __init__(self, verdict: nv.Verdict) -> None:
        self._verdict = verdict
        signs = {"+inf": "-inf", "-inf": "+inf"}
        fates = (verdict.logistic or {}).items()
        self.logistic = {name: signs.get(str(fate), str(fate)) for name, fate in fates} or None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._verdict, name)


def run_all(claim: Claim) -> None:
    for number in range(claim.problems):
        claim.run(SEED, number)


@pytest.mark.parametrize(
    "mutant", MUTANTS, ids=[f"{name}-{k}" for k, (name, *_) in enumerate(MUTANTS)]
)
def test_claim_notices(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    name, home, source, change = mutant
    claim, ask = all_claims()[name], getattr(home, source)

    def answer(*given: Any, **more: Any) -> Any:
        return change(ask(*given, **more))

    monkeypatch.setattr(home, source, answer)
    with pytest.raises(AssertionError):
        run_all(claim)


@pytest.mark.parametrize("name", ["sayUp", "sayDown"])
def test_numbers_rounded_to_the_nearest_would_be_noticed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The claim about the page's sentences fails if the page rounds limits like other numbers."""

    def careless(module: str) -> str:
        script, found = re.subn(rf"const {name} = [^;]*;", f"const {name} = say;", joined(module))
        assert found == 1
        return script

    monkeypatch.setattr(page, "joined", careless)
    page.window.cache_clear()
    try:
        with pytest.raises(AssertionError):
            run_all(all_claims()["page.sentences_of_the_page"])
    finally:
        page.window.cache_clear()

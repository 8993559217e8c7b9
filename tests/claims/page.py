"""Claims of the lab: its headline, the numbers of the proof, and the pocket."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from novikoff.page.answers import pocket_answer, recorded_answers, run_answer
from novikoff.page.export import joined
from novikoff.page.question import Question
from tests import chromium
from tests.claims.oracles import (
    at_most,
    fewest_mistakes,
    is_root,
    largest_square,
    perceptron,
    products,
    root,
)
from tests.claims.problems import Generator, Shown, exactly
from tests.claims.register import claim
from tests.page.hosts import compare, page_host, random_question
from tests.separability_oracle import (
    Point,
    contradiction,
    decide,
    inner,
    signed_rows,
    squared_distance,
)


@dataclass(frozen=True, repr=False)
class Asked(Shown):
    """A question of the page, as JSON."""

    question: dict[str, Any]

    @property
    def rows(self) -> list[Point]:
        points = np.array(self.question["points"])
        return signed_rows(points[:, :2], points[:, 2].astype(int).tolist(), self.question["bias"])

    def vector(self, name: str) -> Point:
        given = self.question.get(name) or [0.0, 0.0, 0.0]
        return exactly(given)[: 2 + self.question["bias"]]


def question(rng: Generator) -> Asked:
    """Points on a grid or anywhere; δ, μ, w₀ and the learner's own w* are dyadic numbers."""
    n = int(rng.integers(1, 9))
    points = rng.integers(-3, 4, (n, 2)) if rng.random() < 0.6 else rng.normal(size=(n, 2)).round(3)
    labels = np.where(points @ rng.normal(size=2) + rng.normal() / 2 > 0, 1, -1)
    if rng.random() < 0.4:
        labels = np.where(rng.random(n) < 0.3, -labels, labels)
    scale = float(rng.choice([1.0, 1.0, 1.0, 1e5, 1e-4]))
    asked: dict[str, Any] = {
        "points": np.column_stack([points * scale, labels]).tolist(),
        "bias": bool(rng.random() < 0.7),
        "order": str(rng.choice(["cyclic", "permuted", "max_distance"])),
        "seed": int(rng.integers(100)),
        "rule": str(rng.choice(["perceptron", "perceptron", "perceptron", "aggressive"])),
        "step_size": float(rng.choice([1.0, 1.0, 0.5, 2.0])),
        "threshold": float(rng.choice([0.0, 0.0, 0.25, 3.0])),
    }
    if rng.random() < 0.3:
        asked["start"] = rng.integers(-4, 5, 3).astype(float).tolist()
    if rng.random() < 0.3:
        asked["mine"] = rng.integers(-3, 4, 3).astype(float).tolist()
    return Asked(asked)


@claim(
    question,
    sentences=["{}, proved: {}", ": at most "],
)  # fmt: skip
def headline(problem: Asked) -> None:
    """The headline has the right kind, rows that contradict each other, and a bound that holds."""
    told, rows = run_answer(Question.from_json(problem.question)), problem.rows
    truth = decide(rows)
    assert told["kind"] in (truth.kind, "undecided")
    said = told["sentence"]
    if said.startswith("All points have one label"):
        return
    assert said.startswith(told["kind"].capitalize())
    if found := re.search(r"separates rows ([\d, ]+)\.", said):
        assert contradiction([rows[int(i) - 1] for i in found[1].split(",")]) is not None
    if found := re.search(r"separates at most (\d+) rows? and contains the other (\d+)", said):
        assert int(found[1]) == len(truth.separated)
        assert int(found[2]) == len(rows) - len(truth.separated)
    if found := re.search(r"at most .*?= ([\d,]+) (mistake|update)", said):
        made = re.search(r"This run (?:made|was stopped after) (\d+)", said)
        assert made is not None
        assert int(found[1].replace(",", "")) >= int(made[1])
    if found := re.search(r"γ ≥ (\S+), R ≤ ([^\s:]+?)[:.]? ", said):
        gamma, radius = squared_distance(rows), largest_square(rows)
        assert Fraction(found[1]) ** 2 <= gamma
        assert Fraction(found[2]) ** 2 >= radius
        assert math.isclose(float(found[1]), root(gamma)[0], rel_tol=1e-3)
        assert math.isclose(float(found[2]), root(radius)[0], rel_tol=1e-3)
    else:
        assert told["kind"] != "separable"


@claim(question)
def bound_of_the_run(problem: Asked) -> None:
    """The run makes no more updates than the bound of its reference, in any arithmetic."""
    told, rows = run_answer(Question.from_json(problem.question)), problem.rows
    reference = told.get("reference")
    if reference is None:
        return
    w = exactly(reference["w"])[: len(rows[0])]
    if reference["margin"] > 0.0:
        truth = min(products(rows, w))
        assert truth > 0
        square = squared_distance(rows)
        assert at_most(Fraction(reference["margin"]) ** 2, float(root(square)[1]) * (1 + 1e-12))
        assert reference["mine"] or is_root(reference["margin"], square, math.inf)
    else:
        assert reference["mine"]
    wrong = [i for i, side in enumerate(products(rows, w)) if side <= 0]
    assert reference["wrong"] == wrong or reference["mine"]
    if reference["bound"] is None:
        return
    assert problem.question["rule"] == "perceptron"
    assert len(told["run"]["index"]) <= reference["bound"]
    step, delta = Fraction(problem.question["step_size"]), Fraction(problem.question["threshold"])
    ran = perceptron(
        rows, [range(len(rows))] * 300, start=problem.vector("start"), delta=delta, step=step,
        most=300,
    )  # fmt: skip
    assert len(ran.rows) <= reference["bound"]


@claim(question, problems=60)
def numbers_of_the_run(problem: Asked) -> None:
    """Every list of the page keeps the inequalities of the proof, up to rounding.

    ⟨w*, w_t⟩ and the cosine are not below their bounds, ‖w_t‖² is not above its own, and no
    ceiling is below γ.
    """
    told, rows = run_answer(Question.from_json(problem.question)), problem.rows
    if told["kind"] == "empty":
        return
    run, reference = told["run"], told["reference"]
    weights = [exactly(w)[: len(rows[0])] for w in run["weights"]]
    bounds = run["bounds"]
    for t, w in enumerate(weights):
        square = float(inner(w, w))
        slip = 1e-7 * (1.0 + square)
        assert math.isclose(run["squared_norm"][t], square, rel_tol=1e-9, abs_tol=1e-12)
        if problem.question["rule"] == "perceptron":
            assert square <= bounds["squared_norm"][t] + slip
        if reference is not None and reference["margin"] > 0.0 and "inner" in run:
            along = float(inner(exactly(reference["w"])[: len(rows[0])], w))
            assert math.isclose(run["inner"][t], along, rel_tol=1e-7, abs_tol=slip)
            assert along >= bounds["inner"][t] - slip
            size = math.sqrt(square)
            if problem.question["rule"] == "perceptron" and size > 0.0:
                assert along / size >= bounds["cosine"][t] - 1e-6
        wrong = sum(side <= 0 for side in products(rows, w))
        assert run["errors"][t] == wrong or not _whole(problem)
    if "ceiling" in run and contradiction(rows) is None:
        gamma = squared_distance(rows)
        for ceiling in run["ceiling"][1:]:
            assert at_most(gamma, ceiling * (1.0 + 1e-9))


def _whole(problem: Asked) -> bool:
    """Whether every number is one whose sums are exact."""
    points = np.array(problem.question["points"])
    return bool(np.array_equal(points, points.round()))


@claim(
    question,
    sentences=["misclassifies at least", "proved. The dashed violet line misclassifies {}",
               "is better", "the fewest found", "no line makes fewer than"],
    problems=30,
)  # fmt: skip
def pocket_of_the_page(problem: Asked) -> None:
    """No line misclassifies fewer rows than the bound; the line found misclassifies as stated."""
    found, rows = pocket_answer(Question.from_json(problem.question)), problem.rows
    # Without a bias, f(x) = 0 is the negative class for points at the origin.
    fixed = sum(not any(row) and label > 0 for row, (_, _, label) in
                zip(rows, problem.question["points"], strict=True))  # fmt: skip
    own = [row for row in rows if any(row)]
    least = fixed + fewest_mistakes(own, [Fraction(1)] * len(own))
    assert found["bound"] <= least
    w = exactly(found["w"])[: len(rows[0])]
    errors = fixed + sum(side <= 0 for side in products(own, w))
    assert found["errors"] == errors
    said = re.fullmatch(r".* at least (\d+) rows?, proved\. .* misclassifies (\d+)(: no .*|,.*)",
                        found["sentence"])  # fmt: skip
    assert said is not None
    assert (int(said[1]), int(said[2])) == (found["bound"], found["errors"])
    assert not said[3].startswith(": no ") or errors == least


@claim(question)
def contradiction_of_the_page(problem: Asked) -> None:
    """λ proves a contradiction: Σ λ_i a_i = 0 with λ of sum 1, up to rounding."""
    told, rows = run_answer(Question.from_json(problem.question)), problem.rows
    weights = told.get("weights") or []
    if not weights:
        return
    lam = [Fraction(value) for _, value in weights]
    few = [rows[i] for i, _ in weights]
    assert abs(sum(lam, Fraction(-1))) < Fraction(1, 10**12)
    size = max((abs(value) for row in few for value in row), default=Fraction(0))
    for j in range(len(rows[0])):
        total = sum((a * row[j] for a, row in zip(lam, few, strict=True)), Fraction(0))
        assert abs(total) <= size / 10**12
    assert contradiction(few) is not None


# Start the page with an answer, and read its texts at some of its moments.
READ = """([record, moments]) => {
  document.body.innerHTML = '<main id="lab" class="lab"></main>';
  const silent = () => new Promise(() => {});
  const host = { name: "", about: "", forms: [], ask: silent, ready: silent, record: silent };
  const lab = new LabPage(document.getElementById("lab"), host);
  lab.begin(whole(record.question), record, 0);
  const text = (root, selector) => root.querySelector(selector)?.textContent ?? "";
  return moments.map((moment) => {
    lab.goTo(moment);
    return {
      cards: [...document.querySelectorAll(".card:not([hidden])")].map((card) =>
        ["h2", ".caption", ".readout"].map((part) => text(card, part))),
      budget: text(document, ".budget"), title: text(document, ".space-panel h2"),
      explain: text(document, ".explain"), story: text(document, ".story"),
      room: text(document, ".limit-name"), leaf: text(document, ".leaf"),
      t: momentOf(lab.full.run, lab.moment).t,
      end: outcome(lab.full, lab.question, "never"),
    };
  });
}"""


@cache
def window() -> Any:
    """A blank page with the lab's script."""
    page = chromium.browser().new_page()
    page.add_script_tag(content=joined("app.js"))
    return page


def number(text: str) -> Fraction:
    """A number as the page shows it: 12,345, −0.5, 1.2e-7, 1.4·10^16."""
    digits, _, power = text.replace(",", "").replace("−", "-").partition("·10^")
    return Fraction(digits) * Fraction(10) ** int(power or 0)


NUMBER = r"(−?[\d.,]*\d(?:e[+-]?\d+|·10\^\d+)?)"


@claim(
    question,
    sentences=[
        " of at most {}{}", ", so t ≤ {}: at most {} {}", "is at most 1{}.", "the margin γ{}",
        "which is at least {}", "misclassifies at least {}, proved.", " · fewest found {}",
        " · at least {}", "after at most {} {}.", "closes after at most {} updates",
        "cannot leave it", "Why no line separates{}", "so it adds at most",
        "no line has a larger margin", "moves w along w* by at least {}γ", "but adds at most {} to",
        "Every update moves w along w* by at least γ", "A mistake still adds at most {}R²",
        "No line has a margin γ > 0", "does not bound its mistakes", "are their bounds",
        "bound tends to 0", "The run never ends: no line separates the points",
    ],
    problems=40,
)  # fmt: skip
def sentences_of_the_page(problem: Asked) -> None:
    """Every number that the page itself writes beside a bound is rounded to the safe side.

    The page runs in Chromium on recorded answers. Its bounds are compared with the formula of the
    theorem in fractions, its rounded limits with the numbers that it was given.
    """
    asked = Question.from_json(problem.question)
    recorded, rows = recorded_answers(asked), problem.rows
    run = recorded["answer"]["run"]
    last = run["visited"] if run["visits"] is not None else len(run["index"])
    moments = sorted({0, 1, last // 2, last})
    texts = window().evaluate(READ, [{"question": problem.question, **recorded}, moments])
    for shown in texts:
        check_limits(shown["cards"], run, shown["t"])
        everything = " ".join([shown["budget"], shown["explain"], *map(" ".join, shown["cards"])])
        everything = " ".join([everything, shown["story"], shown["room"]])
        check_stated_bounds(problem, recorded["answer"], everything)
        check_room(shown["leaf"], run, shown["t"])
        hopeless = [
            "there is no margin" in everything,
            "there is no w*" in everything,
            "The run never ends" in shown["end"],
            "never ends" in shown["leaf"],
        ]
        if any(hopeless):
            assert contradiction(rows) is not None
        if found := re.search(r"Why no line separates( strictly)?", shown["title"]):
            assert contradiction(rows) is not None
            assert (decide(rows).kind == "quasi-separable") == (found[1] is not None)
        if found := re.search(r"Strictly separated: rows ([\d, ]+)\. On the line", everything):
            apart = [int(row) - 1 for row in found[1].split(",")]
            assert apart == decide(rows).separated


def check_limits(cards: list[list[str]], run: dict[str, Any], t: int) -> None:
    """Lower limits of the charts are not above the library's numbers, upper limits not below."""
    limits = {"⟨": "inner", "‖": "squared_norm", "c": "cosine"}  # by the formula's first letter
    for formula, _, readout in cards:
        if found := re.match(rf"{NUMBER} ([≤≥]) {NUMBER}", readout):
            exact = Fraction(run["bounds"][limits[formula[0]]][t])
            off = (number(found[3]) - exact) * (1 if found[2] == "≤" else -1)
            assert 0 <= off <= max(abs(exact) / 9, Fraction(1, 10**60))
        elif found := re.fullmatch(rf"γ ≤ {NUMBER}", readout):
            assert number(found[1]) >= Fraction(run["ceiling"][t])


def check_room(text: str, run: dict[str, Any], t: int) -> None:
    """The outer numbers of the chart are the library's bounds, rounded to the safe side."""
    if found := re.search(rf"{NUMBER} ≤ {NUMBER} ≤ {NUMBER} ≤ {NUMBER}", text):
        low, _, _, high = map(number, found.groups())
        assert low <= Fraction(run["bounds"]["inner"][t])
        assert float(high) ** 2 >= run["bounds"]["squared_norm"][t] * (1.0 - 1e-12)


def check_stated_bounds(problem: Asked, told: dict[str, Any], text: str) -> None:
    """Compare the bounds that a text states with the theorem, in fractions."""
    rows, reference = problem.rows, told["reference"]
    if found := re.search(rf"misclassifies at least {NUMBER}, proved", text):
        own = [row for row in rows if any(row)]
        fixed = sum(not any(row) and label > 0 for row, (_, _, label) in
                    zip(rows, problem.question["points"], strict=True))  # fmt: skip
        assert number(found[1]) <= fixed + fewest_mistakes(own, [Fraction(1)] * len(own))
    stated = [number(found[1]) for found in re.finditer(
        rf"at most {NUMBER} (?:updates?|mistakes?)\b|", text) if found[0]]  # fmt: skip
    stated += [number(found) for found in re.findall(rf" of at most {NUMBER}", text)]
    stated += [number(found) for found in re.findall(rf"only room for {NUMBER} ", text)]
    stated += [number(found) for found in re.findall(rf"= {NUMBER}: no room left", text)]
    if not stated and "which is at least" not in text:
        return
    mine = problem.vector("mine")
    square = squared_distance(rows)  # γ²
    if any(mine):
        least = min(products(rows, mine))
        square = least**2 / inner(mine, mine)
        for found in re.findall(rf"which is at least {NUMBER}", text):
            assert number(found) ** 2 <= square
    assert reference["margin"] > 0.0
    step, delta = (Fraction(problem.question[name]) for name in ("step_size", "threshold"))
    start = problem.vector("start")
    size, gamma = root(inner(start, start))[0], root(square)
    most = (largest_square(rows) + 2 * delta / step + 2 * gamma[0] * size / step) / gamma[1] ** 2
    assert all(bound >= math.floor(most) for bound in stated)


@claim(
    random_question,
    sentences=["Separable, proved: γ ≥ {}", ": at most ⌊{}⌋ = {} {}.", "Inseparable, proved: no {}",
               "Quasi-separable, proved: a {}", "Every {} misclassifies at least {}, proved."],
    problems=150,
)  # fmt: skip
def answers_of_the_page_itself(problem: dict[str, Any]) -> None:
    """The page that answers without the library gives the library's answers.

    Kinds, mistakes in their order and supports are equal, margins and bounds agree to 1e-9. Its
    bounds are exact. Its fewest mistakes are those of an oracle in fractions.
    """
    compare(page_host(), problem)
    table = np.array(problem["points"])
    rows = signed_rows(table[:, :2], table[:, 2].astype(int).tolist(), problem["bias"])
    if len(rows) > 8:
        return
    told = page_host().ask("run", problem)
    truth = decide(rows)
    assert (told["kind"], told["separated"]) == (truth.kind, truth.separated)
    own = [row for row in rows if any(row)]
    fixed = sum(not any(row) and label > 0 for row, (_, _, label) in
                zip(rows, problem["points"], strict=True))  # fmt: skip
    least = fixed + fewest_mistakes(own, [Fraction(1)] * len(own))
    assert page_host().ask("pocket", problem)["bound"] == least

"""The page that answers by itself gives the library's answers, and errors in it are noticed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from novikoff.page.presets import STATIC, presets
from tests.cases import case_named
from tests.page.hosts import PageHost, compare, compare_sides, library, page_host, random_question
from tests.separability_oracle import inner, signed_rows

jsonschema = pytest.importorskip("jsonschema")
PRESETS = presets()


BOX = [-3.0, -3.0, 3.0, 3.0]


@pytest.mark.parametrize("name", PRESETS)
def test_presets(name: str) -> None:
    compare(page_host(), PRESETS[name]["question"])


PLAIN: dict[str, Any] = {"bias": True, "rule": "perceptron", "order": "cyclic", "step_size": 1.0,
                         "threshold": 0.0}  # fmt: skip

# R²/γ² is just below 2, and the run in floats makes 2 updates.
TIGHT = {
    "15.6": [[15.641, 15.609, 1], [-15.641, 15.609, -1]],
    "7.8": [[7.8445, 7.7805, 1], [-7.8445, 7.7805, -1]],
    "250": [[250.001, 249.999, 1], [-250.001, 249.999, -1]],
    "1.1": [[1.113597772986279, 0.49, 1], [-1.113597772986279, 0.49, -1]],
}


@pytest.mark.parametrize("points", TIGHT.values(), ids=TIGHT)
def test_a_bound_holds_for_the_run_in_floats(points: list[list[float]]) -> None:
    compare(page_host(), {**PLAIN, "points": points})


ON_THE_LINE = {**PLAIN, "points": [[1, 1, 1], [0, 0, -1]], "mine": [1.0, 5.0, -6.0]}


@pytest.mark.parametrize("host", ["library", "page"])
def test_the_mistakes_of_a_line_are_counted_exactly(host: str) -> None:
    """(1, 1) is on the line of (1, 5, −6), but not on that of this vector with length 1."""
    ask = library if host == "library" else page_host().ask
    assert ask("run", ON_THE_LINE)["reference"]["wrong"] == [0]


@pytest.mark.parametrize("rule", ["perceptron", "aggressive", "pocket"])
def test_points_at_the_origin_are_drawn_alike(rule: str) -> None:
    """Without a bias their rows are 0, and so are the squares that the draws are weighted with."""
    points = [[0, 0, 1], [0, 0, -1], [0, 0, 1]]
    compare(
        page_host(), {**PLAIN, "points": points, "bias": False, "order": "random", "rule": rule}
    )


def collinear(seed: int, n: int) -> dict[str, Any]:
    """Points on a line in decimals: as floats, they are only nearly collinear."""
    rng = np.random.default_rng([31, seed])
    x = rng.integers(-60, 61, n) / 10
    labels = rng.choice([-1, 1], n)
    return {**PLAIN, "points": np.column_stack([x, (2 * x - 0.1).round(1), labels]).tolist()}


@pytest.mark.parametrize("seed", range(20))
def test_the_line_of_fewest_mistakes_of_nearly_collinear_points(seed: int) -> None:
    assert_best_line(page_host(), collinear(seed, 3 + seed % 8))


def assert_best_line(host: PageHost, asked: dict[str, Any]) -> None:
    """No w of the run misclassifies fewer rows than the line that is called the best found."""
    run, best = host.ask("run", asked), host.ask("pocket", asked)
    points = np.array(asked["points"])
    rows = signed_rows(points[:, :2], points[:, 2].astype(int).tolist(), True)
    assert best["bound"] <= best["errors"] == misclassified(rows, best["w"])
    assert best["errors"] <= min(misclassified(rows, w) for w in run["run"]["weights"])
    assert best["errors"] <= min(misclassified(rows, w) for w in ([0, 0, 1], [0, 0, -1]))


def test_a_line_of_fewest_mistakes_that_rounding_spoils() -> None:
    points = [[1.8, 3.5, -1], [4, 7.9, 1], [5.5, 10.9, -1], [4.6, 9.1, -1], [5.4, 10.7, 1]]
    best = page_host().ask("pocket", {**PLAIN, "points": points})
    assert (best["errors"], best["bound"]) == (2, 1)


def test_the_fewest_mistakes_of_300_collinear_points_take_few_exact_products() -> None:
    """Three million products with each pair of points would take seconds."""
    points = collinear(0, 300)["points"]
    exactly = [[round(10 * x), round(20 * x - 1), label] for x, _, label in points]
    host = PageHost(("const product = (a, b) =>",
                     "let products = 0;\nconst product = (a, b) => ++products > 1e6 ? "
                     "(() => { throw new Error(\"too many products\"); })() :"))  # fmt: skip
    best = host.ask("pocket", {**PLAIN, "points": exactly})
    host.close()
    assert best["errors"] == best["bound"] == fewest_on_a_line(exactly)


def fewest_on_a_line(points: list[list[int]]) -> int:
    """The fewest mistakes of a threshold on the first coordinate."""
    cuts = sorted({x for x, _, _ in points})
    ends = [*(cut - 0.5 for cut in cuts), cuts[-1] + 0.5]
    counts = [
        sum((label > 0) != (side * (x - end) > 0) for x, _, label in points)
        for end in ends
        for side in (1, -1)
    ]
    return min(counts)


def misclassified(rows: list[Any], w: Sequence[float]) -> int:
    return sum(inner(a, [Fraction(value) for value in w]) <= 0 for a in rows)


@pytest.mark.parametrize("order", ["cyclic", "fixed", "permuted", "blocks", "random",
                                   "max_distance", "max_residual"])  # fmt: skip
@pytest.mark.parametrize("n", [1, 2, 64, 65, 150, 300])
def test_orders_of_many_rows(order: str, n: int) -> None:
    """NumPy's generator: blocks of 64 rows, permutations, and draws by the length of a row."""
    rng = np.random.default_rng([n, len(order)])
    points = rng.integers(-9, 10, (n, 2)).astype(float)
    labels = np.where(points @ [2.0, -1.0] + rng.normal(size=n) > 0.5, 1, -1)
    rows = np.column_stack([points, labels]).tolist()
    for seed in (0, 1, 2**31 - 1):
        with case_named(seed):
            rule = "aggressive" if seed else "perceptron"
            asked = {"points": rows, "order": order, "seed": seed, "rule": rule}
            run, other = (ask("run", asked)["run"] for ask in (library, page_host().ask))
            assert other["index"] == run["index"]
            assert other["visits"] == run["visits"]


def test_a_kernel_run_in_random_order_ends() -> None:
    points = [[0, 0, -1], [0, 1, 1], [1, 0, 1], [1, 1, -1]]
    asked = {**PLAIN, "points": points, "order": "random", "sides": "rbf"}
    compare_sides(page_host(), asked, BOX)
    for ask in (library, page_host().ask):
        assert "then a clean round" in ask("sides", {"question": asked, "box": BOX})["sentence"]


@pytest.mark.parametrize("sides", ["line", "voted", "rbf", "poly", "network"])
@pytest.mark.parametrize("seed", range(6))
def test_sides(sides: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    asked = random_question(rng)
    n = len(asked["points"])
    labels = rng.choice([-1, 1], n)
    points = np.column_stack([rng.normal(size=(n, 2)), labels]).tolist()
    compare_sides(page_host(), {**asked, "points": points, "sides": sides, "step_size": 1.0}, BOX)


REJECTED: dict[str, dict[str, Any]] = {
    "a label": {"points": [[0, 0, 2]]},
    "a long point": {"points": [[0, 0, 1, 1]]},
    "a text": {"points": [["0", 0, 1]]},
    "a huge number": {"points": [[1e7, 0, 1]]},
    "a tiny number": {"points": [[1e-70, 0, 1]]},
    "many points": {"points": [[0, 0, 1]] * 301},
    "an order": {"points": [], "order": "backwards"},
    "a rule": {"points": [], "rule": "lasso"},
    "a seed": {"points": [], "seed": -1},
    "a large seed": {"points": [], "seed": 2**31},
    "a step": {"points": [], "step_size": 0},
    "a threshold": {"points": [], "threshold": -1},
    "a start": {"points": [], "start": [1, 2]},
    "names": {"points": [], "names": ["a", "b" * 41]},
    "a bias": {"points": [], "bias": 1},
    "a field": {"points": [], "colour": "red"},
    "a field of every object": {"points": [], "toString": 5},
    "a start that is 0": {"points": [], "start": 0},
    "a start that is false": {"points": [], "start": False},
    "an empty start": {"points": [], "start": ""},
    "a w* that is 0": {"points": [], "mine": 0},
    "an empty cell": {"points": [[1, "", 1]]},
}


@pytest.mark.parametrize("host", ["library", "page"])
@pytest.mark.parametrize("asked", REJECTED.values(), ids=REJECTED)
def test_an_invalid_question_is_rejected(asked: dict[str, Any], host: str) -> None:
    ask = library if host == "library" else page_host().ask
    with pytest.raises(ValueError, match=r"\w+"):
        ask("run", asked)


def test_the_answers_have_the_fields_of_the_schema() -> None:
    schema = json.loads((STATIC.parent / "lab.schema.json").read_text("utf-8"))
    for name in ("two_clouds", "xor", "on_the_line", "pocket"):
        question = PRESETS[name]["question"]
        for what, kind in (("run", "answer"), ("pocket", "pocket")):
            told = page_host().ask(what, question)
            jsonschema.validate(told, {**schema, "$ref": f"#/$defs/{kind}"})
    shaded = {"question": {**PRESETS["xor"]["question"], "sides": "rbf"}, "box": BOX}
    jsonschema.validate(page_host().ask("sides", shaded), {**schema, "$ref": "#/$defs/sides"})


def test_a_weakly_separating_w_keeps_the_digits_of_its_small_numbers() -> None:
    """Coordinates of 1e-30 beside the bias: w has numbers of very different sizes."""
    tiny = 1e-30
    spots = [(tiny, -tiny, -1), (-tiny, 0.0, 1), (-tiny, 0.0, -1), (tiny, -tiny, -1)]
    points = [list(spots[k]) for k in (0, 1, 2, 2, 2, 3, 2)]
    compare(page_host(), {"points": points, "bias": True, "rule": "perceptron",
                          "order": "cyclic", "step_size": 1.0, "threshold": 0.0})  # fmt: skip


def test_the_points_as_a_table() -> None:
    asked = {"form": "csv", "question": PRESETS["and"]["question"]}
    table = page_host().ask("export", asked)
    assert table.startswith("x₁,x₂,label\n0,0,-1\n")
    with pytest.raises(ValueError, match="novikoff lab, on your machine, also writes this file"):
        page_host().ask("export", {**asked, "form": "certificate"})


# What is changed in the modules, and what is broken then.
MUTANTS = {
    "mistakes are strict": ("if (m > threshold) raw", "if (m >= threshold) raw"),
    "a bias in every row": ("bias ? label : 0]", "label]"),
    "a label is lost": ("label * x1, label * x2, bias", "label * x1, x2, bias"),
    "the start is forgotten": ("given?.[0] ?? 0", "0"),
    "the step is 1": ("w[j] += mu * value", "w[j] += value"),
    "the last row stays": ("let i = out.length - 1; i > 0", "let i = out.length - 2; i > 0"),
    "another multiplier": ("49fccf645n", "49fccf647n"),
    "the wrong half of 64 bits": ("Number(bits >> 32n)", "Number(bits & 0xffffffffn)"),
    "drawn too low": ("if (ladder[middle] > at)", "if (ladder[middle] > at - ladder[0])"),
    "no check of missed rows": ("rows.every((a) => inner(a, w) > threshold)", "true"),
    "the last of equal rows": ("violation < least) [worst", "violation <= least) [worst"),
    "no length of a row": ('order === "max_distance" ? Math.sqrt(inner(a, a))', "false ? 1"),
    "the last w of equals": ("wrong.length < errors[pocket", "wrong.length <= errors[pocket"),
    "γ is not the least": ("least * divisor >= square", "2n * least * divisor >= square"),
    "λ may be negative": ("some((multiplier) => multiplier <= 0n)", "some(() => false)"),
    "a volume has the wrong sign": ("-product(p, cross(r, s))", "product(p, cross(r, s))"),
    "no second look at the rest": ("fixed.push(", "return { separated: [], weak: null }; ("),
    "the shortest row is R": ("(a > b ? a : b)", "(a > b ? b : a)"),
    "γ is not rounded down": ("Math.min(gamma, low) * (1 - EPSILON) : gamma", "gamma : gamma"),
    "w* is rounded before it is counted": ("own ? mine : w]);", "w]);"),
    "δ counts once": ("times([2n, 1n], delta)", "times([1n, 1n], delta)"),
    "w₀ counts once": ("over(times([4n, 1n], start)", "over(start"),
    "a bound for every rule": ('null || question.rule === "aggressive"', "null"),
    "μ is left out of a rise": ("rise = times(mu, fraction(margin))", "rise = fraction(margin)"),
    "δ is left out of the growth": ("times([2n, 1n], mu, delta)", "times([0n, 1n], mu, delta)"),
    "means over too many rows": ("/ (n_steps[t - 1] + 1)", "/ (n_steps[t - 1] + 2)"),
    "a row on the line is right": ("!(inner(a, w) > 0)).length", "inner(a, w) < 0).length"),
    "a ceiling without μ": ("steps += mu;", "steps += 1;"),
    "a side is given up too early": ("enough && minus >= enough", "enough || minus >= enough"),
    "rows on the plane are mistakes": ("=== side), ...local]", "=== side)]"),
    "parallel rows agree": ("2 * same.length >= parallel.length ? same", "true ? parallel"),
    "a period of its square": (
        "const period = ++this.since;",
        "const period = (++this.since) ** 2;",
    ),
    "points at the origin": ("label > 0 && !rows[row].some", "!rows[row].some"),
}


@pytest.mark.parametrize("mutation", MUTANTS.values(), ids=MUTANTS)
def test_a_mutant_is_noticed(mutation: tuple[str, str]) -> None:
    """A module with one error disagrees with the library on one of the first questions."""
    host = PageHost(mutation)
    with pytest.raises((AssertionError, ValueError, TypeError)):
        compare_many(host)
    host.close()


def compare_many(host: PageHost) -> None:
    """Compare the answers to hundreds of random questions, and to some that are difficult."""
    for number in range(400):
        compare(host, random_question(np.random.default_rng([8, number])))
    for points in TIGHT.values():
        compare(host, {**PLAIN, "points": points})
    compare(host, ON_THE_LINE)
    for seed in range(20):
        assert_best_line(host, collinear(seed, 3 + seed % 8))

"""The page's own answers beside the library's: both answer the questions of lab.schema.json.

`PageHost` asks the modules of the page, in Node or in Chromium. `compare` asks both for one
question and asserts that the answers agree: kinds, mistakes in their order, supports, exact bounds,
and numbers to 1e-9. Where only rounding decides a comparison, the runs may differ from there on;
where a proof is not unique, the page's proof is checked by an exact oracle.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from novikoff.page.export import ANSWERS, joined
from tests import chromium
from tests.separability_oracle import Point, contradiction, inner, signed_rows, squared_distance

Json = dict[str, Any]
NODE = shutil.which("node")
TOLERANCE = 1e-9
_ASKED = """{ run: answerRun, pocket: answerPocket, sides: answerSides, export: answerExport }"""
_REPLY = """(what, body) => {
  try { return { good: (ANSWERS)[what](body) }; }
  catch (error) { return { bad: String(error.message) }; }
}""".replace("ANSWERS", _ASKED)
_READ_LINES = """
import { createInterface } from "node:readline";
const reply = REPLY;
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(reply(...JSON.parse(line))));
}
""".replace("REPLY", _REPLY)


class PageHost:
    """The modules of the page, with one text replaced by another if there is a mutation."""

    def __init__(self, mutation: tuple[str, str] | None = None) -> None:
        script = joined("answers.js")
        if mutation is not None:
            assert script.count(mutation[0]) >= 1, f"{mutation[0]!r} is not in the modules"
            script = script.replace(*mutation)
        self.process: subprocess.Popen[str] | None = None
        if NODE is None:
            self.page = chromium.browser().new_page()
            self.page.add_script_tag(content=script)
            return
        self.folder = TemporaryDirectory()
        module = Path(self.folder.name) / "answers.mjs"
        module.write_text(script + _READ_LINES, encoding="utf-8")
        self.process = subprocess.Popen(  # noqa: S603
            [NODE, str(module)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, what: str, body: Json) -> Any:
        """The answer; ValueError with the page's sentence if it rejects the question."""
        if self.process is None:
            told = self.page.evaluate(f"([what, body]) => ({_REPLY})(what, body)", [what, body])
        else:
            assert self.process.stdin is not None
            assert self.process.stdout is not None
            self.process.stdin.write(json.dumps([what, body]) + "\n")
            self.process.stdin.flush()
            told = json.loads(self.process.stdout.readline())
        if "bad" in told:
            raise ValueError(told["bad"])
        return told["good"]

    def close(self) -> None:
        if self.process is None:
            self.page.close()
            return
        self.process.communicate()
        self.folder.cleanup()


@cache
def page_host() -> PageHost:
    """The modules as they are; the process ends with the tests."""
    return PageHost()


def library(what: str, body: Json) -> Any:
    """The library's answer, which is computed once for all mutants of the page."""
    return _answered(what, json.dumps(body))


@lru_cache(maxsize=2000)
def _answered(what: str, body: str) -> Any:
    return ANSWERS[what](json.loads(body))


def random_question(rng: np.random.Generator, most: int = 12) -> Json:
    """A question with any rule, order, w₀, δ, μ, and easy or degenerate points."""
    large = rng.random() < 0.06
    n = int(rng.integers(60, 200)) if large else int(rng.integers(1, most + 1))
    style = str(rng.choice(["integers", "tenths", "floats", "narrow", "line", "two spots"]))
    points = rng.integers(-3, 4, (n, 2)).astype(float)
    if style == "tenths":
        points = rng.integers(-15, 16, (n, 2)) / 10
    elif style in ("floats", "narrow"):
        points = rng.normal(size=(n, 2))
    elif style == "line":
        points[:, 1] = 2.0 * points[:, 0] - 1.0
    elif style == "two spots":
        points = points[rng.integers(0, min(2, n), n)]
    direction, shift = rng.normal(size=2), rng.normal() / 2
    labels = np.where(points @ direction + shift > 0, 1, -1)
    if style == "narrow":  # the classes touch, or nearly
        points -= np.outer(points @ direction + shift, direction) * 0.999 / (direction @ direction)
    if rng.random() < 0.5:
        labels = np.where(rng.random(n) < 0.25, -labels, labels)
    scale = float(rng.choice([1.0, 1.0, 1.0, 1.0, 1e5, 1e-4, 1e-30]))
    asked: Json = {
        "points": [[x1, x2, int(label)] for (x1, x2), label in
                   zip((points * scale).tolist(), labels, strict=True)],
        "bias": bool(rng.random() < 0.7),
        "order": str(rng.choice(["cyclic", "fixed", "permuted", "blocks", "random",
                                 "max_distance", "max_residual"])),
        "seed": int(rng.integers(2**31)),
        "rule": str(rng.choice(["perceptron", "perceptron", "perceptron", "aggressive", "pocket"])),
        "step_size": float(rng.choice([1.0, 1.0, 0.5, 2.0, 0.1])),
        "threshold": float(rng.choice([0.0, 0.0, 0.0, 0.25, 3.0])),
    }  # fmt: skip
    if rng.random() < 0.3:
        asked["start"] = (rng.integers(-4, 5, 3) * rng.choice([1.0, 0.3])).tolist()
    if rng.random() < 0.3:
        asked["mine"] = rng.integers(-3, 4, 3).astype(float).tolist()
    return asked


def compare(host: PageHost, question: Json) -> None:
    """Ask both hosts for the run and, if no line separates the points, for the fewest mistakes."""
    here, there = library("run", question), host.ask("run", question)
    assert isinstance(here, dict)
    if here["kind"] == "empty":
        assert here == there
        return
    points = np.array(question["points"])
    rows = signed_rows(points[:, :2], points[:, 2].astype(int).tolist(), question.get("bias", True))
    if here["kind"] != "undecided":
        assert there["kind"] == here["kind"]
        assert there["separated"] == here["separated"]
        assert here.keys() == there.keys() or not here["weights"]
    compare_proofs(rows, question, here, there)
    for answer in (here, there):  # a proved bound holds for the run in floats too
        bound = answer["reference"] and answer["reference"]["bound"]
        assert bound is None or len(answer["run"]["index"]) <= bound
    if is_precise(here, there):
        compare_references(rows, there["support"], here["reference"], there["reference"])
        same = compare_runs(rows, question, here["run"], there["run"])
        own = there["reference"] is not None and there["reference"]["mine"]
        # At a tie, rounding decides whether an update of the rule with δ > 0 is a mistake.
        same = same and here["run"]["mistakes"] == there["run"]["mistakes"]
        if same and here["support"] == there["support"] and not own:
            compare_texts(here["sentence"], there["sentence"])
    if there["kind"] != "separable" and len(rows) <= 30:
        compare_pockets(rows, question, host)


def is_precise(here: Json, there: Json) -> bool:
    """Whether the library's w* is as exact as the page's, which it need not be if γ is tiny."""
    if here["kind"] != "separable":
        return bool(here["kind"] == there["kind"])
    one, other = here["reference"], there["reference"]
    near = np.abs(np.array(here["w_star"]) - there["w_star"]).max() <= 1e-6
    return bool(near and (other["mine"] or one["margin"] > (1.0 - TOLERANCE) * other["margin"]))


def compare_proofs(rows: list[Point], question: Json, here: Json, there: Json) -> None:
    """The support proves the verdict: it is the library's, or an exact oracle accepts it."""
    few = [rows[row] for row in there["support"]]
    if there["kind"] == "separable":
        if there["support"] != here["support"] or not is_precise(here, there):
            # γ is at most the distance of the hull of few rows, and at least the margin of w*.
            w = [Fraction(value) for value in there["w_star"]][: len(rows[0])]
            least, gamma = (
                min(float(inner(a, w)) for a in rows), float(squared_distance(few)) ** 0.5
            )  # fmt: skip
            # The entries of w* are rounded to floats.
            assert least >= (1.0 - TOLERANCE) * gamma - 2.0**-51 * radius_of(rows)
        return
    assert there["w_star"] is None
    weights = there["weights"]
    assert [row for row, _ in weights] == there["support"]
    assert all(value > 0 for _, value in weights)
    assert contradiction(few) is not None
    assert abs(sum(value for _, value in weights) - 1.0) < 1e-12
    size = max(abs(float(value)) for row in few for value in row)
    for j in range(len(rows[0])):
        total = sum((Fraction(value) * rows[row][j] for row, value in weights), Fraction(0))
        assert abs(total) <= size / 10**12
    if there["support"] == here["support"]:
        assert_near([value for _, value in weights], [value for _, value in here["weights"]])
        assert_near(there["meeting"], here["meeting"])
    if there["kind"] == "quasi-separable":
        weak = [Fraction(value) for value in there["weak"]][: len(rows[0])]
        apart = set(there["separated"])
        for row, a in enumerate(rows):
            side = float(inner(a, weak))
            slip = 1e-12 * sum(abs(float(x * y)) for x, y in zip(a, weak, strict=True))
            assert side > -slip if row in apart else abs(side) <= slip


def radius_of(rows: list[Point]) -> float:
    return max(float(inner(a, a)) for a in rows) ** 0.5


def compare_references(
    rows: list[Point], support: list[int], here: Json | None, there: Json | None
) -> None:
    """The same w* and margin, and the same bound: both round R up and γ down in the same way.

    If the library's γ is not as exact as the page's, the library's bound may be larger.
    """
    if here is None or there is None:
        assert here is there
        return
    for name in ("mine", "formula", "wrong") if here["mine"] else ("mine", "formula"):
        assert there[name] == here[name]
    assert_near(there["w"], here["w"], 1e-6)
    slip = TOLERANCE * here["margin"] if here["margin"] > 0.0 else 1e-12 * radius_of(rows)
    assert abs(there["margin"] - here["margin"]) <= slip
    if here["margin"] <= 0.0 or here["bound"] is None:
        assert there["bound"] is None or here["bound"] is None
        return
    is_close = there["margin"] - here["margin"] <= 2.0**-36 * there["margin"]
    if there["bound"] < here["bound"] < 10**9 and not is_close:
        assert (here["formula"], here["mine"]) == ("R²/γ²", False)
        square = max(inner(a, a) for a in rows) / squared_distance([rows[row] for row in support])
        assert math.floor(square) <= there["bound"]
        assert here["bound"] <= (1.0 + 3.0 * TOLERANCE) * square
    else:
        assert there["bound"] <= here["bound"] or here["bound"] >= 10**9
        slip = 0 if here["bound"] < 10**9 else 3.0 * TOLERANCE * here["bound"]
        assert abs(here["bound"] - there["bound"]) <= slip
    if there["bound"] == here["bound"]:
        assert there["bound_text"] == here["bound_text"]


def compare_runs(rows: list[Point], question: Json, here: Json, there: Json) -> bool:
    """The same updates, visits and lists; False if they differ after a tie by rounding."""
    same = [*zip(here["index"], here["n_steps"], strict=True)]
    other = [*zip(there["index"], there["n_steps"], strict=True)]
    if same != other or here["visited"] != there["visited"]:
        pairs = zip(same, other, strict=False)
        first = next((t for t, (a, b) in enumerate(pairs) if a != b), min(len(same), len(other)))
        # The pocket algorithm draws from all misclassified rows: an earlier tie shifts its draws.
        since = 0 if question["rule"] == "pocket" else first
        near = there["weights"][since : first + 1]
        assert any(is_tie(rows, question, w) for w in near), f"update {first}"
        return False
    assert there.keys() == here.keys()
    exact = "tau", "converged", "stop", "visits", "visited", "period"
    for name in exact:
        assert there[name] == here[name], name
    sizes = 1.0 + max((abs(x) for w in here["weights"] for x in w), default=0.0)
    for name, value in here.items():
        if name in ("bounds", "index", "n_steps", *exact):
            continue
        if name in ("errors", "mistakes", "pocket") and there[name] != value:
            assert any(is_tie(rows, question, w) for w in there["weights"]), name
        elif name in ("weights", "averages"):
            assert_near(np.ravel(there[name]), np.ravel(value), scale=sizes)
        elif name == "cosine":  # of w that is more than the rounding errors of a sum that cancels
            longer = [
                t for t, square in enumerate(here["squared_norm"]) if square > 1e-12 * sizes**2
            ]
            assert_near([there[name][t] for t in longer], [value[t] for t in longer], 1e-7, 1.0)
        elif name not in ("errors", "mistakes", "pocket"):
            numbers = [x for x in value if x is not None]
            sums = 1e-6 * sizes * (1.0 + radius_of(rows)) if name != "ceiling" else 0.0
            assert_near([x for x in there[name] if x is not None], numbers, scale=sums)
    for name, bound in here["bounds"].items():
        certain = [t for t, below in enumerate(here["bounds"]["inner"])
                   if name != "cosine" or abs(below) > TOLERANCE * sizes * (1 + t)]  # fmt: skip
        # ⟨w*, w₀⟩ may cancel to a rounding error of its terms.
        slip = 1e-3 * sizes if name == "inner" else 0.0
        mine, its = ([told[t] for t in certain] for told in (there["bounds"][name], bound))
        assert_near(mine, its, scale=slip)
    return True


def is_tie(rows: list[Point], question: Json, w: list[float]) -> bool:
    """Whether rounding decides a comparison of the run at w: of a margin with δ or 0, or of two.

    A comparison whose sums have no rounding error is no tie: both hosts must decide it alike.
    """
    delta = question["threshold"] if question["rule"] == "perceptron" else 0.0
    weights = [Fraction(value) for value in w][: len(rows[0])]
    margins = [float(inner(a, weights)) for a in rows]
    rounded = [rounds(a, weights) for a in rows]
    slips = [1e-11 * sum(abs(float(x * y)) for x, y in zip(a, weights, strict=True)) for a in rows]
    if any(
        off and abs(m - limit) <= slip + 1e-13 * limit
        for m, slip, off in zip(margins, slips, rounded, strict=True)
        for limit in (delta, 0.0)
    ):
        return True
    if not question["order"].startswith("max_"):
        return False
    distance = question["order"] == "max_distance"
    size = [float(inner(a, a)) ** 0.5 if distance else 1.0 for a in rows]
    depth = [(m - delta) / (s or 1.0) for m, s in zip(margins, size, strict=True)]
    least, scale = min(depth), max(map(abs, depth)) + delta / min(s or 1.0 for s in size)
    near = [i for i, value in enumerate(depth) if value - least <= 1e-11 * scale]
    alike = len({(margins[i], size[i]) for i in near}) == 1
    return len(near) > 1 and (any(rounded[i] for i in near) or not alike)


def rounds(a: Point, w: list[Fraction]) -> bool:
    """Whether ⟨a, w⟩ may have a rounding error in floats."""
    terms = [x * y for x, y in zip(a, w, strict=True)]
    sums = [*terms, terms[0] + terms[1], sum(terms, Fraction(0))]
    return any(Fraction(float(value)) != value for value in sums)


def compare_pockets(rows: list[Point], question: Json, host: PageHost) -> None:
    """The page's fewest mistakes lie between the library's bound and the library's rule."""
    here, there = library("pocket", question), host.ask("pocket", question)
    assert isinstance(here, dict)
    assert there.keys() == here.keys()
    assert here["bound"] <= there["bound"] <= here["errors"]
    w = [Fraction(value) for value in there["w"]][: len(rows[0])]
    labels = [label for _, _, label in question["points"]]
    wrong = sum(
        inner(a, w) <= 0 if any(a) else label > 0 for a, label in zip(rows, labels, strict=True)
    )
    assert there["errors"] == wrong
    # If the margin of the other rows is tiny, a rounded w misclassifies some of them as well.
    whole = all(float(value).is_integer() for point in question["points"] for value in point)
    assert there["errors"] == there["bound"] if whole else there["errors"] >= there["bound"]
    if here["bound"] == here["errors"] == there["errors"]:
        compare_texts(here["sentence"], there["sentence"])


def compare_sides(host: PageHost, question: Json, box: list[float]) -> None:
    """The same sides on nearly all of the grid, and the same words; or both reject the question."""
    asked = {"question": question, "box": box}
    try:
        here = library("sides", asked)
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            host.ask("sides", asked)
        return
    there = host.ask("sides", asked)
    assert isinstance(here, dict)
    assert there["box"] == list(here["box"])
    pairs = zip("".join(here["rows"]), "".join(there["rows"]), strict=True)
    assert sum(a != b for a, b in pairs) <= 64  # of 6,400: points on the border
    compare_texts(here["sentence"], there["sentence"])


_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")


def compare_texts(here: str, there: str) -> None:
    """The same words; numbers may be written differently, or rounded in the last digit shown."""
    assert _NUMBER.sub("#", there) == _NUMBER.sub("#", here)
    pairs = zip(_NUMBER.findall(here), _NUMBER.findall(there), strict=False)
    share = 0.15 if "e-" in there or "10^" in there else 1.2e-3  # such numbers have two digits
    for one, other in pairs:
        a, b = (float(text.replace(",", "")) for text in (one, other))
        one_less = "." not in one and "," not in one and a - b == 1.0  # a bound, ⌊R²/γ²⌋
        assert one_less or abs(a - b) <= share * max(abs(a), abs(b)), (here, there)


def assert_near(
    there: Any, here: Any, tolerance: float = TOLERANCE, scale: float | None = None
) -> None:
    """Numbers agree relative to the largest, or to ``scale`` if they are sums of larger terms."""
    assert len(there) == len(here)
    a, b = np.array(there, dtype=float), np.array(here, dtype=float)
    most = max(np.abs(b).max(initial=0.0), scale or 0.0)
    assert (np.abs(a - b) <= tolerance * most).all(), (there, here)

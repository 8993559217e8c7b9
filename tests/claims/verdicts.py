"""Claims of `nv.separate`: the kind, the margins, the mistake bound, the logistic weights."""

from __future__ import annotations

import contextlib
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product, repeat
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

import novikoff as nv
from novikoff.sentences import interval
from tests.claims.oracles import (
    at_least,
    at_most,
    is_root,
    largest_square,
    perceptron,
    products,
)
from tests.claims.problems import (
    TAME,
    Generator,
    Labelled,
    Shown,
    Vector,
    exactly,
    labelled,
    tame,
)
from tests.claims.register import claim
from tests.models.oracle import System, answers
from tests.separability_oracle import (
    Point,
    contradiction,
    decide,
    inner,
    signed_rows,
    squared_distance,
)

KINDS = ("separable", "quasi-separable", "inseparable")


def ask(problem: Labelled, **more: Any) -> nv.Verdict:
    return nv.separate(problem.X, problem.y, fit_intercept=problem.bias, **more)


def weights_of(verdict: nv.Verdict) -> Point:
    """The rule in floats, its bias last if there is one."""
    assert verdict.coef is not None
    assert verdict.certificate is not None
    bias = [verdict.intercept] * verdict.certificate.fit_intercept
    return exactly([*verdict.coef.tolist(), *bias])


@claim(
    labelled,
    covers=[
        "separate", "Verdict", "Verdict.kind", "Verdict.n_separated", "Verdict.separated_rows",
        "Verdict.coef", "Verdict.intercept", "Verdict.needs_exact_weights", "Verdict.rows",
    ],
    problems=150,
)  # fmt: skip
def kind(problem: Labelled) -> None:
    """The kind and the separated rows are those of an exact simplex, and coef shows them."""
    verdict, rows = ask(problem), problem.rows()
    truth = decide(rows)
    if verdict.kind == "undecided":
        return
    assert verdict.kind == truth.kind
    assert verdict.separated_rows.tolist() == truth.separated
    assert verdict.n_separated == len(truth.separated)
    assert verdict.rows is not None
    assert verdict.rows.tolist() == list(range(len(rows)))
    if verdict.kind != "inseparable" and not verdict.needs_exact_weights:
        sides = products(rows, weights_of(verdict))
        assert [i for i, side in enumerate(sides) if side > 0] == truth.separated
        assert min(sides) >= 0


@claim(partial(labelled, most_classes=4), covers=["separate_classes"], problems=60)
def kind_of_each_class(problem: Labelled) -> None:
    """Every class has its verdict against all others."""
    found = nv.separate_classes(problem.X, problem.y, fit_intercept=problem.bias)
    assert [*found] == problem.classes
    for label, verdict in found.items():
        assert verdict.kind in (decide(problem.rows(label)).kind, "undecided")


@claim(
    labelled,
    covers=["Verdict.margin", "Verdict.radius", "Interval", "Interval.lo", "Interval.hi"],
)
def margin(problem: Labelled) -> None:
    """γ, the distance of the hull of the rows a_i from the origin, is within the interval."""
    verdict, rows = ask(problem), problem.rows()
    assert is_root(verdict.margin.lo, squared_distance(rows), verdict.margin.hi)
    assert at_most(largest_square(rows), verdict.radius)
    if verdict.kind not in ("separable", "undecided"):
        assert verdict.margin == (0.0, 0.0)


@claim(
    tame(),
    covers=["Verdict.margin", "Interval.relative_width"],
    sentences=["= {}{} (proved"],
)
def margin_as_told(problem: Labelled) -> None:
    """The printed digits are digits of γ, and "proved to" states the possible error."""
    verdict, square = ask(problem), squared_distance(problem.rows())
    assert_told(interval(verdict.margin), square)
    lo, hi = verdict.margin
    assert verdict.margin.relative_width == ((hi - lo) / hi if hi else 0.0)


def assert_told(text: str, square: Fraction) -> None:
    """A number in words, as `sentences.interval` writes it, holds √square."""
    if found := re.fullmatch(r"= ([\d.e+-]+)(…?) \((exactly|proved)(?: to (.*))?\)", text):
        shown, cut = Fraction(found[1]), found[2] == "…"
        digits = found[1].partition("e")[0]
        last = Fraction(10) ** (int(found[1].partition("e")[2] or 0) - _decimals(digits))
        off = Fraction(found[4] or 0)
        below, above = shown - (0 if cut else max(off, last)), shown + max(off, last)
        if found[3] == "exactly":  # seven digits of a number that is known to the last bit
            below, above = shown - last, shown + last
        assert below <= 0 or below**2 <= square
        assert square <= above**2
    elif found := re.fullmatch(r"≥ (\S+)(?: \(and ≤ (\S+)\))?", text):
        assert at_least(square, float(found[1]))
        assert found[2] is None or at_most(square, float(found[2].replace("∞", "inf")))
    elif found := re.fullmatch(r"≤ (\S+)", text):
        assert at_most(square, float(found[1].replace("∞", "inf")))
    else:
        assert text == "= ∞"


def told_count(text: str, pattern: str) -> Fraction | None:
    """A printed count, such as 12,345 or 1.4·10^16, in the place of {}; None if there is none."""
    count = r"([\d,]+(?:\.\d·10\^\d+)?)"
    found = re.search(pattern.replace("{}", count), text)
    if found is None:
        return None
    digits, _, power = found[1].replace(",", "").partition("·10^")
    return Fraction(digits) * 10 ** int(power or 0)


def assert_bound(text: str, pattern: str, rows: Sequence[Point]) -> None:
    """The printed mistake bound, if there is one, is not below ⌊R²/γ²⌋."""
    told = told_count(text, pattern)
    assert told is None or told >= largest_square(rows) // squared_distance(rows)


def _decimals(digits: str) -> int:
    return len(digits.partition(".")[2])


def squared_free_margin(rows: Sequence[Point]) -> Fraction:
    """The square of half the distance of the two hulls; the last coordinate is the sign."""
    plus = [row[:-1] for row in rows if row[-1] > 0]
    minus = [row[:-1] for row in rows if row[-1] < 0]
    pairs = [[a + b for a, b in zip(*pair, strict=True)] for pair in product(plus, minus)]
    return squared_distance(pairs) / 4


@claim(labelled, covers=["Verdict.geometric_margin"])
def geometric_margin(problem: Labelled) -> None:
    """With a free bias, the margin is half the distance between the two hulls."""
    verdict, rows = ask(problem), problem.rows()
    if not problem.bias:
        assert is_root(
            verdict.geometric_margin.lo, squared_distance(rows), verdict.geometric_margin.hi
        )
        return
    square = squared_free_margin(rows)
    assert is_root(verdict.geometric_margin.lo, square, verdict.geometric_margin.hi)


@claim(
    labelled,
    covers=["Verdict.mistake_bound", "bounds.mistake_bound"],
    sentences=["at most {} mistake{}", "{}, proved", " is at most {}"],
)
def mistake_bound(problem: Labelled) -> None:
    """No run from zero makes more mistakes than ⌊R²/γ²⌋, and the number is not below that."""
    verdict, rows = ask(problem), problem.rows()
    if verdict.mistake_bound is None:
        return
    square = squared_distance(rows)
    assert verdict.mistake_bound >= math.floor(largest_square(rows) / square)
    rng = np.random.default_rng(problem.seed)
    orders = (rng.permutation(len(rows)).tolist() for _ in repeat(None))
    assert perceptron(rows, orders, most=2000).mistakes <= verdict.mistake_bound
    worst = nv.bounds.mistake_bound(verdict.radius, verdict.margin.lo)
    assert worst == math.inf or Fraction(worst) >= largest_square(rows) / square


@claim(labelled, covers=["Verdict.support"])
def support(problem: Labelled) -> None:
    """The support has the margin of all rows, or contradicts every hyperplane by itself."""
    verdict, rows = ask(problem), problem.rows()
    few = [rows[i] for i in verdict.support.tolist()]
    if verdict.kind == "separable" and few and verdict.margin.hi < math.inf:
        square = squared_distance(few)
        assert at_most(square, verdict.margin.hi * (1.0 + 1e-12))
    elif verdict.kind == "inseparable":
        assert contradiction(few) is not None


@claim(
    partial(labelled, most_classes=3),
    covers=[
        "verify", "Certificate", "Certificate.claim", "Certificate.verify", "Verdict.certificate",
        "Certificate.kind", "Certificate.w", "Certificate.multipliers", "Certificate.margin",
        "Certificate.geometric_margin", "Certificate.radius", "Certificate.mistake_bound",
        "Certificate.contradiction", "Certificate.dependence", "Verdict.from_certificate",
    ],
    sentences=[
        "no {} separates {}",
    ],
)  # fmt: skip
def certificate(problem: Labelled) -> None:
    """The certificate verifies, and w and λ alone prove its sentence."""
    verdict = ask(problem, positive=problem.classes[0])
    proof, rows = verdict.certificate, problem.rows(problem.classes[0])
    if proof is None:
        return
    nv.verify(nv.Certificate.from_json(proof.to_json()), problem.X, problem.y)
    truth = decide(rows)
    said = proof.claim().partition(":")[0].partition(" (")[0].lower()
    assert said in (truth.kind, "not separable")
    assert (said != "not separable") or truth.kind != "separable"
    again = nv.Verdict.from_certificate(proof)
    assert again.kind in (verdict.kind, "undecided")
    assert (again.margin, again.mistake_bound) == (verdict.margin, verdict.mistake_bound)
    if proof.w is not None:
        w = list(proof.w)[: len(rows[0])]
        sides = products(rows, w)
        assert min(sides) >= 0
        assert [i for i, side in enumerate(sides) if side > 0] == truth.separated
    if proof.kind in ("inseparable", "quasi-separable", "not separable"):
        among = [*proof.multipliers]
        assert proof.contradiction is None or contradiction([rows[i] for i in among]) is not None
    if proof.margin is not None:
        square = squared_distance(rows)
        assert is_root(proof.margin.lo, square, proof.margin.hi)
        total = [
            sum((value * rows[i][j] for i, value in proof.multipliers.items()), Fraction(0))
            for j in range(len(rows[0]))
        ]
        whole = sum(proof.multipliers.values())
        assert at_most(inner(total, total) / whole**2, proof.margin.hi)


@claim(partial(labelled, most_classes=2))
def forged_certificate(problem: Labelled) -> None:
    """A certificate of other labels, given the digest of these labels, holds only if it is true."""
    other = problem.y.copy()
    k = problem.seed % len(other)
    other[k] = next(label for label in problem.classes if label != other[k])
    own = nv.separate(problem.X, problem.y, fit_intercept=problem.bias).certificate
    if len({*other.tolist()}) < 2 or own is None:
        return
    stolen = nv.separate(problem.X, other, fit_intercept=problem.bias).certificate
    if stolen is None:
        return
    forged = replace(stolen, sha256=own.sha256, positive=own.positive, negative=own.negative)
    try:
        nv.verify(forged, problem.X, problem.y)
    except nv.CertificateError:
        return
    rows = problem.rows(own.positive)
    truth = decide(rows)
    assert forged.kind in (truth.kind, "not separable")
    assert forged.kind != "not separable" or truth.kind != "separable"
    if forged.margin is not None:
        assert is_root(forged.margin.lo, squared_distance(rows), forged.margin.hi)


@claim(
    labelled,
    covers=["Verdict.logistic"],
    problems=120,
)
def logistic(problem: Labelled) -> None:
    """Each coefficient of a logistic regression: finite, infinite with a sign, or aliased.

    The first constant column is the intercept, if there is one.
    """
    fates = ask(problem).logistic
    if fates is not None:
        names: list[Any] = [*range(problem.X.shape[1])]
        wanted, _ = estimates(problem.rows(), names, problem.bias, {name: [name] for name in names})
        assert dict(fates) == wanted


def estimates(
    rows: Sequence[Point], names: list[Any], bias: bool, terms: dict[Any, list[Any]]
) -> tuple[dict[Any, str], list[Any]]:
    """The estimate of each coefficient, and the responsible columns.

    The bias is the last column of the rows, if there is one.
    """
    signs = [row[-1] for row in rows]
    constant = next(
        (j for j in range(len(names)) if bias and _is_constant([row[j] for row in rows], signs)),
        None,
    )
    columns = dict(zip(names, range(len(names)), strict=True))
    if bias and constant is not None:
        columns = {names[constant]: constant, **columns}
    elif bias:
        columns = {"(intercept)": len(names), **columns}
    few = [[Fraction(row[j]) for j in columns.values()] for row in rows]
    truth = answers(System([*enumerate(few)], []), len(columns))
    found = dict(zip(columns, truth.coefficients, strict=True))
    guilty = []
    for name, own in terms.items():
        left = [found[c] != "aliased" and c not in own for c in columns]
        without = [[v for v, stays in zip(row, left, strict=True) if stays] for row in few]
        free = not any(left) or decide(without).kind == "inseparable"
        counts = any(found.get(c, "aliased") != "aliased" for c in own)
        is_intercept = constant is not None and own == [names[constant]]
        if truth.separated and free and counts and not is_intercept:
            guilty.append(name)
    return found, guilty


def _is_constant(column: Sequence[Any], signs: Sequence[Any]) -> bool:
    """Whether a signed column is a multiple of the signed column of the bias."""
    first = Fraction(column[0]) / Fraction(signs[0])
    return first != 0 and all(
        Fraction(value) == first * Fraction(sign) for value, sign in zip(column, signs, strict=True)
    )


@dataclass(frozen=True, repr=False)
class Categories(Shown):
    """A table with category columns, each given by the level of each row; and labels."""

    X: Vector  # the number columns
    levels: list[list[str]]  # one list for each category column
    unused: int  # categories that no row has
    y: npt.NDArray[Any]
    bias: bool

    @property
    def frame(self) -> pd.DataFrame:
        columns: dict[str, Any] = {f"x{j}": self.X[:, j] for j in range(self.X.shape[1])}
        for k, values in enumerate(self.levels):
            known = sorted({*values}) + [f"unused {i}" for i in range(self.unused)]
            columns[f"c{k}"] = pd.Categorical(values, categories=known)
        return pd.DataFrame(columns)

    def columns(self) -> dict[str, list[list[int]] | Vector]:
        """The columns of the design matrix by name, a category column one for each level."""
        found: dict[str, Any] = {f"x{j}": self.X[:, j] for j in range(self.X.shape[1])}
        for k, values in enumerate(self.levels):
            for level in sorted({*values}):
                found[f"c{k}={level}"] = [float(value == level) for value in values]
        return found

    def rows(self, without: Sequence[str] = ()) -> list[Point]:
        """The signed rows of the design matrix without some columns."""
        kept = [column for name, column in self.columns().items() if name not in without]
        X = np.column_stack(kept) if kept else np.zeros((len(self.y), 1))
        return signed_rows(X, np.where(self.y == 1, 1, -1).tolist(), self.bias)


def categories(rng: Generator) -> Categories:
    """One or two category columns of two or three levels, and up to two columns of numbers."""
    problem = labelled(rng, styles=TAME, most_columns=2)
    n = len(problem.y)
    levels = [
        [str(level) for level in rng.choice(["a", "b", "c"][: int(rng.integers(1, 4))], n)]
        for _ in range(int(rng.integers(1, 3)))
    ]
    y = (problem.y == problem.classes[-1]).astype(int)
    if rng.random() < 0.4:  # labels that depend on a level
        y = np.array([int(level == "a") for level in levels[0]])
        y[:2] = [0, 1]
    X = problem.X[:, : int(rng.integers(0, problem.X.shape[1] + 1))]
    return Categories(X, levels, int(rng.integers(2)), y, problem.bias)


@claim(categories, covers=["Verdict.logistic", "Verdict.responsible_columns"])
def logistic_of_categories(problem: Categories) -> None:
    """Weights of category columns are those of the design matrix without the reference levels.

    The reference level is the first; without a bias, the first category column has none. A category
    column is responsible if the data is inseparable without all of its levels.
    """
    verdict = nv.separate(problem.frame, problem.y, fit_intercept=problem.bias)
    truth = decide(problem.rows())
    assert verdict.kind in (truth.kind, "undecided")
    fates = verdict.logistic
    if fates is None:
        return
    references = [
        f"c{k}={min(levels)}"
        for k, levels in enumerate(problem.levels)
        if k > 0 or problem.bias
    ]  # fmt: skip
    names = [name for name in problem.columns() if name not in references]
    rows = problem.rows(without=references)
    assert decide(rows).separated == truth.separated
    if not names:  # a column of zeros stands for no column
        rows = [row[1:] for row in rows]
    terms = {
        column: [name for name in names if name.partition("=")[0] == column]
        for column in problem.frame
    }
    wanted, guilty = estimates(rows, names, problem.bias, terms)
    assert dict(fates) == {**wanted, **dict.fromkeys(references, "reference")}
    assert verdict.responsible_columns == guilty


@claim(labelled, covers=["Verdict.aliased"])
def aliased(problem: Labelled) -> None:
    """The columns that depend linearly on the intercept and the columns before them."""
    verdict = ask(problem)
    if verdict.aliased is not None:
        names: list[Any] = [*range(problem.X.shape[1])]
        wanted, _ = estimates(problem.rows(), names, problem.bias, {})
        assert verdict.aliased == [name for name in names if wanted[name] == "aliased"]


@claim(labelled, covers=["Verdict.responsible_columns"], problems=100)
def responsible_columns(problem: Labelled) -> None:
    """The data is inseparable without one of these columns, but not without any other column."""
    verdict = ask(problem)
    if verdict.responsible_columns is not None:
        names: list[Any] = [*range(problem.X.shape[1])]
        terms = {name: [name] for name in names}
        _, guilty = estimates(problem.rows(), names, problem.bias, terms)
        assert verdict.responsible_columns == guilty


@claim(
    partial(labelled, most_rows=6),
    covers=["Verdict.summary", "Verdict.undecided_reason"],
    sentences=[
        "{}, proved: {}", "no {} separates these {}", "no {} separates them",
        "separates at most {} and contains the other {}",
    ],
)  # fmt: skip
def summary(problem: Labelled) -> None:
    """Every number of the summary, and of the line that a verdict prints as, is true."""
    verdict, rows = ask(problem), problem.rows()
    truth, text = decide(rows), io.StringIO()
    with contextlib.redirect_stdout(text):
        verdict.summary()
    assert_verdict_text(text.getvalue(), rows, truth.kind)
    said = " ".join(str(verdict).split())
    assert said.partition(":")[0] in (truth.kind, "undecided")
    assert_bound(said, "at most {} mistakes", rows)
    if found := re.search(r"(\d+) of the (\d+) rows contradict each other", said):
        assert (int(found[1]), int(found[2])) == (len(verdict.support), len(rows))


def assert_verdict_text(text: str, rows: Sequence[Point], kind: str, first: int = 0) -> None:
    """The lines of a report on one verdict; rows are counted from ``first``."""
    truth = decide(rows)
    said = re.search(r"^verdict +(\S+)", text, flags=re.MULTILINE)
    assert said is not None
    assert said[1] in (kind, "undecided")
    if found := re.search(r"wrong side separates at most (\d+) rows? .* other (\d+)", text):
        assert int(found[1]) == len(truth.separated)
        assert int(found[2]) == len(rows) - len(truth.separated)
    if found := re.search(r"proved(?: for all|: no hyperplane .*separates the) (\d+) rows", text):
        assert int(found[1]) == len(rows)
    if found := re.search(r"conflict +rows ([\d, ]+)[^:]*: no .* separates these (\d+)", text):
        few = [int(i) - first for i in found[1].split(",")]
        assert len(few) == int(found[2])
        assert contradiction([rows[i] for i in few]) is not None
    most = r"makes at most {} mistakes? "
    assert_bound(text, rf"{most}\(R²/γ²\)", rows)
    assert_bound(text, f"{most}on the original features", rows)
    if found := re.search(
        r"^ {12}γ (.*?)(?: with [^,]*)?, longest row R ≤ (\S+)$", text, flags=re.MULTILINE
    ):
        assert_told(found[1], squared_distance(rows))
        assert at_most(largest_square(rows), float(found[2].replace("∞", "inf")))
    kinds = {
        "has no finite estimates": "separable",
        "has some infinite estimates": "quasi-separable",
        "has finite estimates": "inseparable",
    }
    if found := re.search(r"^logistic .*$", text, flags=re.MULTILINE):
        assert [kinds[said] for said in kinds if said in found[0]] == [kind]


@claim(tame(most_rows=40), covers=["Verdict.kind", "Verdict.margin"], problems=40)
def after_no_time(problem: Labelled) -> None:
    """The answer when the time is up is also true."""
    verdict = ask(problem, budget=1e-9)
    rows = problem.rows()
    assert verdict.kind in (decide(rows).kind, "undecided")
    assert is_root(verdict.margin.lo, squared_distance(rows), verdict.margin.hi)

"""Claims that commands print: `fit`, `verify`, `stream` and `solve`, run in this process."""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial, wraps
from pathlib import Path
from typing import Any

import numpy as np

from novikoff.core.fitting import standardise
from novikoff.core.problem import Rows
from novikoff.proofs.system_statement import Constraint
from tests.claims.learners import Rule
from tests.claims.oracles import at_most, is_root, largest_square, perceptron
from tests.claims.problems import EXTREME, TAME, Labelled, System, labelled, system
from tests.claims.register import claim
from tests.claims.systems import is_feasible, oracle, signed_radius, stated
from tests.claims.verdicts import (
    assert_bound,
    assert_told,
    assert_verdict_text,
    estimates,
    squared_free_margin,
    told_count,
)
from tests.cli.conftest import inside
from tests.separability_oracle import Point, contradiction, decide, squared_distance

NAMES = ("no", "yes", "zero", "zz")


@contextmanager
def csv_file(problem: Labelled) -> Iterator[Path]:
    """A folder with data.csv: columns x0, x1, … and the label, a word that sorts as the class."""
    classes = problem.classes
    lines = [",".join([*(f"x{j}" for j in range(problem.X.shape[1])), "label"])]
    for x, label in zip(problem.X.tolist(), problem.y.tolist(), strict=True):
        lines.append(",".join([*map(repr, x), NAMES[classes.index(label)]]))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "data.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        yield Path(folder)


def words(problem: Labelled) -> list[str]:
    return [] if problem.bias else ["--no-intercept"]


class RefusedError(Exception):
    """Numbers of extreme size are refused with an error that says so."""


def fit(problem: Labelled, folder: Path, *more: str) -> str:
    """The report; RefusedError if the command says that numbers of extreme size are too much."""
    done = inside(
        "fit", folder / "data.csv", "--label", "label", "--epochs", "20", "--out", folder,
        *words(problem), *more,
    )  # fmt: skip
    sizes = np.abs(problem.X[problem.X != 0.0])
    if done.code == 2 and "scale" in done.err and (sizes.max() > 1e100 or sizes.min() < 1e-100):
        raise RefusedError
    assert done.code == 0, done.err
    return done.out


def unless_refused(check: Callable[[Labelled], None]) -> Callable[[Labelled], None]:
    """A check that also passes if the command rejects the data."""

    @wraps(check)
    def checked(problem: Labelled) -> None:
        with suppress(RefusedError):
            check(problem)

    return checked


@claim(
    labelled,
    sentences=["misclassifies at least {}", "misclassifies fewer", "; proved: {}",
               "the hyperplane with the fewest mistakes possible", "its rule separates the rows",
               "proved: {}", "relabel {}, and a {} separates the classes: proved"],
    problems=30,
)  # fmt: skip
@unless_refused
def fit_two_classes(problem: Labelled) -> None:
    """Every number and every verdict of the report on two classes is true."""
    with csv_file(problem) as folder:
        out = fit(problem, folder, "--no-files", "--verbose")
    rows, rule = problem.rows(), Rule.of(problem, problem.classes[-1], None)
    truth = decide(rows)
    assert_verdict_text(out, rows, truth.kind, first=1)
    sizes = np.abs(problem.X[problem.X != 0.0])
    tame = sizes.min(initial=1.0) > 1e-50 and sizes.max(initial=1.0) < 1e50
    assert_mistakes(out, rule, exact=bool(tame))
    assert_logistic(out, problem, rows)
    if "its rule separates the rows" in out:
        assert truth.kind == "separable"
    assert_standardised(out, problem)
    if re.search("proved: its weights repeat every", out):
        assert truth.kind != "separable"
    if problem.bias and (found := re.search(r"^margin +(.*), with a free bias", out, re.M)):
        told = found[1] if found[1][0] in "≥≤" else f"= {found[1]}"
        assert_told(told, squared_free_margin(rows))


def assert_standardised(out: str, problem: Labelled) -> None:
    """The bound and the margin on the standardised rows, on which the perceptron runs."""
    bound = re.search(r"^bound +(.*)\n +on standardised features", out, re.M)
    if bound is None:
        return
    scaled, _ = standardise(Rows.of(problem.X, problem.bias))
    rows = replace(problem, X=np.asarray(scaled.X)).rows()
    assert_bound(bound[1], "makes at most {} mistake", rows)
    if found := re.search(r"there γ (.*?)(?: with [^,]*)?, longest row R ≤ (\S+)", out):
        assert_told(found[1], squared_distance(rows))
        assert at_most(largest_square(rows), float(found[2]))
    mistakes = re.search(r"^perceptron +.* after ([\d,]+) mistake", out, re.M)
    most = told_count(bound[1], "makes at most {} mistake")
    assert mistakes is None or most is None or int(mistakes[1].replace(",", "")) <= most


def assert_mistakes(out: str, rule: Rule, *, exact: bool) -> None:
    """The printed mistakes of the rule, and of any rule, are true.

    Where products underflow, not ``exact``, `predict` may be right by chance.
    """
    found = re.search(r"^mistakes +(\d+) of (\d+) rows", out, flags=re.MULTILINE)
    fewest = rule.fewest()
    if found is None:
        assert fewest == 0 or not exact
        return
    assert int(found[1]) >= fewest or not exact
    if re.search("proved: no .* misclassifies fewer", out):
        assert int(found[1]) <= fewest
    if least := re.search(r"proved: every .* misclassifies at least (\d+)", out):
        assert int(least[1]) <= fewest
    if "the hyperplane with the fewest mistakes possible" in out:
        assert int(found[1]) <= fewest
    if re.search(r"^ +relabel (?:these|this)", out, flags=re.MULTILINE):
        named = re.search(r"^ +rows? ([\d, ]*\d)(?: \(the worst first\))?\n +relabel", out, re.M)
        assert named is not None
        wrong = {int(number) - 1 for number in named[1].split(",")}
        assert len(wrong) == int(found[1])
        assert decided_without(rule, wrong) == {"separable"}


def decided_without(rule: Rule, wrong: set[int]) -> set[str]:
    """The verdicts on the rows without the wrong rows, and with other labels of these rows."""
    pairs = [*zip(rule.numbers, rule.rows, strict=True)]
    rest = [row for i, row in pairs if i not in wrong]
    relabelled = [[-x if i in wrong else x for x in row] for i, row in pairs]
    return {decide(rows).kind for rows in (rest, relabelled) if rows}


def assert_logistic(out: str, problem: Labelled, rows: Sequence[Point]) -> None:
    """The infinite weights, and the columns that cause them, are printed truly."""
    names = [f"x{j}" for j in range(problem.X.shape[1])]
    bias = len(rows[0]) > len(names)
    wanted, guilty = estimates(rows, names, bias, {name: [name] for name in names})
    for name, sign in re.findall(r"(x\d|\(intercept\)) → ([+−])∞", out):
        assert wanted[name] == ("+inf" if sign == "+" else "-inf")
    for listed in re.findall(r"finite estimates exist without .*?((?:x\d(?:, )?)+)$", out, re.M):
        assert listed.split(", ") == guilty


@claim(
    partial(labelled, styles=TAME, most_classes=3, most_rows=6),
    problems=20,
)
@unless_refused
def fit_as_json(problem: Labelled) -> None:
    """For each class, the JSON has the oracle's verdict, margin, bound and mistakes."""
    with csv_file(problem) as folder:
        report = json.loads(fit(problem, folder, "--no-files", "--format", "json"))
    verdict = report["verdict"]
    for case in verdict["cases"]:
        positive = problem.classes[NAMES.index(case["positive"])]
        rows = problem.rows(positive)
        truth = decide(rows)
        assert case["kind"] in (truth.kind, "undecided")
        square = squared_distance(rows)
        lo, hi = (case["margin"][end] for end in ("lo", "hi"))
        assert is_root(math.inf if lo is None else lo, square, math.inf if hi is None else hi)
        assert case["radius"] is None or at_most(largest_square(rows), case["radius"])
        if case["mistake_bound"] is not None:
            assert case["mistake_bound"] >= largest_square(rows) // square
        fewest = Rule.of(problem, positive, None).fewest()
        assert case["errors_lower_bound"] is None or case["errors_lower_bound"] <= fewest
        assert case["errors"] is None or case["errors"] >= fewest
        if case["logistic"] is not None:
            names = [f"x{j}" for j in range(problem.X.shape[1])]
            wanted, _ = estimates(rows, names, len(rows[0]) > len(names), {})
            assert case["logistic"] == wanted
    errors = report["model"]["errors"]
    wrong = report["model"]["wrong"]
    assert wrong["count"] == errors
    if wrong["separable_without"] and errors:
        assert len(problem.classes) == 2
        rule = Rule.of(problem, problem.classes[-1], None)
        assert decided_without(rule, {row - 1 for row in wrong["rows"]}) == {"separable"}
    assert sum(map(sum, report["model"]["confusion"])) == len(problem.y)


@claim(
    partial(labelled, styles=TAME, most_classes=3),
    sentences=["Proved: {}."],
    problems=3,
)
def fit_as_html(problem: Labelled) -> None:
    """The headline of the page is about two classes, and is true."""
    with csv_file(problem) as folder:
        out = fit(problem, folder, "--no-files", "--format", "html")
    if len(problem.classes) > 2:
        assert "Each class against the rest" in out
        return
    kind = decide(problem.rows()).kind
    said = re.search(r"Proved: no hyperplane[^.]* separates all \d+ rows\.", out)
    assert (said is not None) == (kind == "inseparable")


@claim(
    partial(labelled, styles=TAME, most_classes=3),
    sentences=["fewest mistakes: {}", ", proved"],
    problems=15,
)
@unless_refused
def fit_several_classes(problem: Labelled) -> None:
    """The line of each class is true of this class against the rest."""
    with csv_file(problem) as folder:
        out = fit(problem, folder, "--no-files", "--verbose")
    if len(problem.classes) == 2:
        return
    for name, label in zip(NAMES, problem.classes, strict=False):
        rows = problem.rows(label)
        line = re.search(rf"^ +{name} +(\S+) +(.*)$", out, flags=re.MULTILINE)
        assert line is not None
        assert line[1] in (decide(rows).kind, "undecided")
        if found := re.match(r"fewest mistakes: (?:from (\d+) to )?(\d+)", line[2]):
            fewest = Rule.of(problem, label, None).fewest()
            assert int(found[1] or found[2]) <= fewest <= int(found[2])
        assert_bound(line[2], r"R²/γ² = {} on the original features", rows)
        bounded = rows
        if "on standardised features" in out:
            scaled, _ = standardise(Rows.of(problem.X, problem.bias))
            bounded = replace(problem, X=np.asarray(scaled.X)).rows(label)
        assert_bound(line[2], r"perceptron: at most {} mistake", bounded)
        if found := re.search(r"no hyperplane .*separates rows (\d[\d, ]*)(?:;|$)", line[2]):
            few = [rows[int(i) - 1] for i in found[1].split(",")]
            assert contradiction(few) is not None


@claim(
    partial(labelled, styles=TAME + EXTREME[:2]),
    sentences=[" is at most {}", "a {} separates {}", "no {} separates {}"],
    problems=20,
)
@unless_refused
def verify(problem: Labelled) -> None:
    """The certificate of a fit holds for its data, and each claim that is printed is true."""
    with csv_file(problem) as folder:
        fit(problem, folder)
        done = inside("verify", folder / "data.cert.json", folder / "data.csv")
        other = Labelled(problem.X, problem.y[::-1], problem.bias, None, 0)
        if not np.array_equal(other.y, problem.y):
            with csv_file(other) as changed:
                proof = folder / "data.cert.json"
                assert inside("verify", proof, changed / "data.csv").code == 1
    assert done.code == 0, done.err
    rows, rule = problem.rows(), Rule.of(problem, problem.classes[-1], None)
    claims = re.findall(r"^holds +(.*)$", done.out, flags=re.MULTILINE)
    assert claims
    for said in claims:
        if found := re.match(r"Every hyperplane .*misclassifies at least (\d+) row", said):
            assert int(found[1]) <= rule.fewest()
        else:
            kind = said.partition(":")[0].partition(" (")[0].lower()
            assert kind == decide(rows).kind or kind == "not separable"
        if found := re.search(r"γ is in \[(\S+), (\S+)\]", said):
            assert is_root(float(found[1]), squared_distance(rows), float(found[2]))
        assert_bound(said, r"R²/γ²⌋? is at most {}\.(?: |$)", rows)
        if problem.bias and (found := re.search(r"the margin is in \[(\S+), (\S+)\]", said)):
            assert is_root(float(found[1]), squared_free_margin(rows), float(found[2]))


@claim(
    partial(labelled, styles=TAME, most_rows=12),
    sentences=["the largest margin of any rule {}"],
    problems=40,
)
def stream(problem: Labelled) -> None:
    """The mistakes are those of the run, and no rule has a margin above the bound printed."""
    with csv_file(problem) as folder:
        done = inside("stream", folder / "data.csv", "--label", "label", *words(problem))
    assert done.code == 0, done.err
    rows = problem.rows()
    found = re.search(r"^mistakes +(\d+) of (\d+) rows", done.out, flags=re.MULTILINE)
    assert found is not None
    if np.array_equal(problem.X, problem.X.round()):
        assert int(found[1]) == perceptron(rows, [range(len(rows))]).mistakes
    if told := re.search(r"γ ≤ (\S+) on the rows learned", done.out):
        assert at_most(squared_distance(rows), float(told[1])), told[0]
    for line in re.findall(r"^ +([\d,]+) +[\d,]+ +\S+% +\S+% +(\S+)$", done.out, re.MULTILINE):
        if line[1] != "–":
            seen = rows[: int(line[0].replace(",", ""))]
            assert at_most(squared_distance(seen), float(line[1])), line


@contextmanager
def system_file(problem: System) -> Iterator[Path]:
    """A CSV of inequalities, whose decimals are the floats exactly; bounds are left out."""
    p = len(problem.objective)
    lines = [",".join([*(f"w{j}" for j in range(p)), "relation", "right"])]
    for row in rows_of(problem).values():
        terms = [decimal(row.terms.get(j, Fraction(0))) for j in range(p)]
        lines.append(",".join([*terms, row.relation, decimal(row.right)]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "system.csv")
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        yield path


def rows_of(problem: System) -> dict[str, Constraint]:
    """Rows and equalities by the names that the command gives them."""
    found = [row for at, row in stated(problem).items() if at[0] in ("row", "eq")]
    return {f"row {i}": row for i, row in enumerate(found, 1)}


def decimal(value: Fraction) -> str:
    """A float, whose decimal is finite, without rounding."""
    return str(value.numerator) if value.denominator == 1 else str(Decimal(float(value)))


@claim(
    partial(system, styles=("integers", "two values")),
    sentences=[
        "{}, proved: {}", "satisfies every row", "value is {}, proved",
        "no fewer", "at least {} rows",
        "at least 1 row", "at least as far as shown", "at least {} others",
    ],
    problems=80,
)  # fmt: skip
def solve(problem: System) -> None:
    """Point, conflicts and best value of a system agree with an exact solver."""
    rows, p = rows_of(problem), len(problem.objective)
    asked = ["--point", problem.point]
    f = {j: Fraction(value) for j, value in enumerate(problem.objective.tolist()) if value}
    strict = any(row.relation == "<" for row in rows.values())
    if problem.maximise:
        asked = ["--disjoint-conflicts"]
    elif f and not strict:
        terms = " + ".join(f"{int(value)} w{j}" for j, value in f.items())
        asked = ["--objective", f"min {terms}".replace("+ -", "- ")]
    with system_file(problem) as path:
        done = inside("solve", path, *asked)
    assert done.code == 0, done.err
    keyed = {("row", i): row for i, row in enumerate(rows.values())}
    feasible, said = is_feasible(keyed, p), done.out.replace("−", "-")
    verdict = re.search(r"^verdict +(\S+), proved", said, flags=re.MULTILINE)
    assert verdict is not None
    assert verdict[1] == ("feasible" if feasible else "infeasible")
    if not feasible:
        assert_conflicts(said, rows, p)
        return
    assert_point(said, rows, p)
    if "--objective" in asked:
        value = oracle.least_value(oracle.polyhedron(rows.values(), p), f)
        if value is None:
            assert "unbounded, proved" in said
        else:
            found = re.search(r"value is (\S+?)(?: .*)?, proved", said)
            assert found is not None
            rounded = "(rounded)" in found[0]
            assert (
                math.isclose(float(found[1]), value, rel_tol=1e-8)
                if rounded
                else (Fraction(found[1]) == value)
            )
    if found := re.search(r"radius +of the largest ball of solutions (.*)$", said, re.MULTILINE):
        lo, hi = signed_radius(keyed, p, feasible=True)
        assert_told_between(found[1], lo, hi)


def assert_told_between(text: str, lo: Any, hi: Any) -> None:
    """Check that a printed number is in an interval, up to the digits shown."""
    if lo in (math.inf, 0):
        assert text.startswith(("= ∞", "≥", "= 0")), text
    else:
        shown = re.search(r"[\d.]+(?:e[+-]\d+)?", text)
        assert shown is not None
        assert math.isclose(float(shown[0]), lo, rel_tol=1e-2), (text, float(lo), float(hi))


def assert_point(said: str, rows: dict[str, Constraint], p: int) -> None:
    """The point that is printed satisfies every row, where its numbers are not rounded."""
    lines = re.search(r"^point((?: +w\d +.*\n)+)", said, flags=re.MULTILINE)
    assert lines is not None
    if "rounded" in lines[1]:
        return
    w = [Fraction(value) for value in re.findall(r"w\d +(\S+)", lines[1])]
    assert len(w) == p
    for row in rows.values():
        left = sum((value * w[j] for j, value in row.terms.items()), Fraction(0))
        assert {"<=": left <= row.right, "<": left < row.right, "=": left == row.right}[
            row.relation
        ]
    if found := re.search(r"in every solution these rows hold with =: (.*)", said):
        solutions = oracle.polyhedron(rows.values(), p)
        for name in re.findall(r"row \d+", found[1]):
            assert oracle.is_always_met(solutions, rows[name])


def assert_conflicts(said: str, rows: dict[str, Constraint], p: int) -> None:
    """Rows that are named together contradict each other, and all of them are needed."""
    _, *groups = re.split(r"^conflict(?: \d+)? ", said, flags=re.MULTILINE)
    used: list[set[str]] = []
    for group in groups:
        few = {name: rows[name] for name in re.findall(r"× (row \d+) ", group)}
        assert few
        assert not is_feasible(_keyed(few), p)
        for name in few:
            rest = {other: row for other, row in few.items() if other != name}
            assert is_feasible(_keyed(rest), p)
        used.append(set(few))
        for line in re.findall(r"^ *(row \d+: .* → .*)$", group, re.MULTILINE):
            name, change = line.split(": ")
            old, new = (side.split()[0] for side in change.split(" → "))
            if "rounded" in line:
                continue
            row = few[name]
            assert Fraction(old) == row.right
            less = Fraction(999, 1000) * (Fraction(new) - row.right)
            moved = Constraint(row.name, row.terms, row.relation, row.right + less)
            assert not is_feasible(_keyed({**few, name: moved}), p)
            moved = moved._replace(right=Fraction(new))
            assert is_feasible(_keyed({**few, name: moved}), p) or any(
                other.relation == "<" for other in few.values()
            )
    if found := re.search(r"these (\d+) conflicts share no row[^:]*: at least (\d+) ", said):
        assert int(found[1]) == int(found[2]) == len(used)
        assert sum(map(len, used)) == len(set().union(*used))
    if "the rest is feasible" in said:
        gone = set().union(*used)
        assert is_feasible(_keyed({name: row for name, row in rows.items() if name not in gone}), p)


def _keyed(rows: dict[str, Constraint]) -> dict[tuple[str, int], Constraint]:
    return {("row", i): row for i, row in enumerate(rows.values())}

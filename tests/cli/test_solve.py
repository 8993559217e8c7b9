"""``novikoff solve``: a point or a contradictory sum, and the proof that it writes."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import signal
import sys
from fractions import Fraction
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from novikoff.systems import solution
from novikoff.systems.files.reading import read_system
from tests.cases import case_named
from tests.cli.conftest import inside, on_terminal, refused, script
from tests.systems.test_system_files import BAD

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((resources.files("novikoff.report") / "system.schema.json").read_text())

DAY = """wish,work,family,sleep,is,hours
a day has 24 hours,1,1,1,=,24
the boss wants,1,,,>=,9
the children want,,1,,>=,8
the doctor says,,,1,>=,7.5
nobody works so long,1,,,<=,16
"""


@pytest.fixture
def day(tmp_path: Path) -> Path:
    path = tmp_path / "day.csv"
    path.write_text(DAY)
    return path


def report(*words: str | Path) -> Any:
    done = inside("solve", *words, "--format", "json")
    assert done.err == ""
    jsonschema.validate(done.json, SCHEMA)
    return done.json


def test_a_conflict_is_a_sum(day: Path) -> None:
    done = inside("solve", day)
    assert (done.code, done.err) == (0, "")
    assert done.line("system").endswith("day.csv · 5 rows · 3 variables")
    assert done.line("verdict") == (
        "infeasible, proved: these rows contradict each other, and no fewer of them do "
        "(an irreducible infeasible subset, IIS)"
    )
    assert done.out.split("\nconflict", 1)[1].split("\n")[:10] == [
        "    1 × a day has 24 hours  work + family + sleep = 24",
        "            1 × the boss wants      work ≥ 9",
        "            1 × the children want   family ≥ 8",
        "            1 × the doctor says     sleep ≥ 7.5",
        "            the sum, ≥ turned into ≤:  0 ≤ −0.5, which is false",
        "way out     to end this conflict, change one of these numbers, at least as far as shown",
        "            a day has 24 hours: 24 → 24.5",
        "            the boss wants: 9 → 8.5",
        "            the children want: 8 → 7.5",
        "            the doctor says: 7.5 → 7",
    ]


@pytest.mark.parametrize(
    ("money", "tea", "bread", "kind"),
    [
        ("13", "2", "3", "feasible"),
        ("10", "1/2", "3", "feasible"),
        ("10", "2", "2", "feasible"),
        ("12.99", "2", "3", "infeasible"),
    ],
)
def test_a_row_that_gives_way_by_what_is_said_ends_the_conflict(
    money: str, tea: str, bread: str, kind: str, tmp_path: Path
) -> None:
    path = tmp_path / "diet.csv"
    path.write_text("name,tea,bread,is,r\nmoney,2,3,<=,10\ntea,1,,>=,2\nbread,,1,>=,3\n")
    rows = report(path)["conflict"]["rows"]
    assert {row["name"]: row["gives_way_by"] for row in rows} == {
        "money": "3",
        "tea": "3/2",
        "bread": "1",
    }
    path.write_text(f"tea,bread,is,r\n2,3,<=,{money}\n1,,>=,{tea}\n,1,>=,{bread}\n")
    assert report(path)["kind"] == kind


def test_points_and_values_beyond_floats(tmp_path: Path) -> None:
    path = tmp_path / "far.csv"
    path.write_text("name,x,y,is,r\na,1,,>=,1e200\nb,-1e200,1,>=,1/3\n")
    found = report(path)
    assert found["w"]["y"] is None
    assert Fraction(found["exact_w"]["y"]) >= 10**400
    best = report(path, "--objective", "min y")["objective"]
    assert Fraction(best["exact_value"]) == 10**400 + Fraction(1, 3)
    assert best["value"] == [sys.float_info.max, None]
    assert "1.000000000e400" in inside("solve", path, "--objective", "min y").out
    assert inside("solve", path, "--point", "interior").code == 0


def test_a_number_is_a_short_decimal_or_a_fraction_beside_its_decimal(tmp_path: Path) -> None:
    path = tmp_path / "thirds.csv"
    path.write_text("name,x,y,is,r\na,3,,=,1\nb,1/3,-1,=,0.10\n")
    point = inside("solve", path).out.split("\npoint", 1)[1].split("\n")
    assert [line.split() for line in point[:2]] == [
        ["x", "1/3", "(0.3333333333)"],
        ["y", "1/90", "(0.01111111111)"],
    ]
    path.write_text("name,x,is,r\na,1/7,<=,0.1\nb,1,>=,1\nc,1,<=,1e20\nd,1,>=,1/3\n")
    conflict = inside("solve", path).out
    assert "7 × a  1/7 (0.1428571429) x ≤ 0.1\n" in conflict
    assert "0 ≤ −0.3, which is false" in conflict
    assert "a: 0.1 → 1/7 (0.1428571429)\n            b: 1 → 0.7\n" in conflict
    path.write_text("name,x,is,r\na,1,=,1e20\n")
    assert "x  1e20\n" in inside("solve", path).out
    path.write_text("name,x,is,r\na,3,=,1e25\n")
    assert "x  3.333333333e24 (rounded)\n" in inside("solve", path).out


@pytest.mark.parametrize("option", ["--out", "--certificate"])
@pytest.mark.parametrize("linked", [False, True])
def test_no_report_replaces_the_file_that_it_is_about(
    option: str, linked: bool, day: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(day)
    done = inside("solve", day, option, link if linked else day, "--force")
    assert done.code == 2
    assert "is an input file" in done.err
    assert day.read_text() == DAY


def test_the_page_shows_what_is_printed(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "inequalities.md").read_text("utf-8")
    shown = re.search(r"\$ cat day\.csv\n(.*?)\$ novikoff (.*?)\n(.*?)```", text, re.DOTALL)
    assert shown is not None
    (tmp_path / "day.csv").write_text(shown[1])
    done = script(*shlex.split(shown[2], comments=True), cwd=tmp_path, COLUMNS="88")
    assert done.out == shown[3]


def test_the_json_adds_up(day: Path) -> None:
    body = report(day)
    assert body["kind"] == "infeasible"
    assert body["conflict"]["sum"] == "0 <= -1/2"
    model, total = read_system(str(day)).model, dict[int, Fraction]()
    for row in body["conflict"]["rows"]:
        stated = model.constraints[row["index"]]
        assert stated.name == row["name"]
        factor = Fraction(row["multiplier"]) * (-1 if ">" in stated.relation else 1)
        for j, value in {**stated.terms, -1: stated.right}.items():
            total[j] = total.get(j, Fraction(0)) + factor * value
    assert total == {-1: Fraction(-1, 2), 0: 0, 1: 0, 2: 0}


@pytest.mark.parametrize("point", ["any", "nearest", "interior", "chebyshev"])
def test_a_point_solves_the_system(point: str, day: Path) -> None:
    day.write_text(DAY.replace(",8\n", ",7\n"))
    body = report(day, "--point", point)
    w = [Fraction(value) for value in body["exact_w"].values()]
    assert (body["kind"], body["interior"], sum(w)) == ("feasible", "relative", 24)
    assert w[0] >= 9
    assert w[1] >= 7
    assert w[2] >= Fraction("7.5")
    if point in ("interior", "chebyshev"):
        assert w[0] > 9
    assert (body["radius"] is not None) == (point == "chebyshev")


def test_the_room_of_a_point(day: Path) -> None:
    day.write_text(DAY.replace(",8\n", ",7\n"))
    text = inside("solve", day, "--point", "chebyshev")
    assert text.line("boundary") == "the nearest boundary is that of the boss wants, 0.1667 away"
    assert text.line("radius").startswith("of the largest ball of solutions = 0.16666")
    tight = inside("solve", day, "--point", "nearest")
    assert "the point lies on the boundary of" in tight.line("boundary")


def test_rows_that_hold_with_equality_are_named(tmp_path: Path) -> None:
    path = tmp_path / "thin.csv"
    path.write_text("name,x,y,is,to\na,1,1,<=,1\nb,-1,-1,<=,-1\nc,1,,<=,5\n")
    done = inside("solve", path)
    assert done.line("equalities") == "in every solution these rows hold with =: a, b"
    assert [row["name"] for row in report(path)["implicit_equalities"]] == ["a", "b"]


def test_the_best_value(day: Path, tmp_path: Path) -> None:
    day.write_text(DAY.replace(",8\n", ",7\n"))
    body = report(day, "--objective", "max family + 0.5")
    assert (body["objective"]["kind"], body["objective"]["exact_value"]) == ("optimal", "8")
    assert body["exact_w"]["family"] == "15/2"
    told = inside("solve", day, "--objective", "max family", "--certificate", tmp_path / "c.json")
    assert told.line("certificate").endswith("(about the point, not about the best value)")
    assert inside("solve", day, "--objective", "min family").line("objective") == (
        "the least value is 7, proved"
    )
    unbounded = tmp_path / "cone.lp"
    unbounded.write_text("max\n x\nst\n x - y <= 1\nend\n")
    assert report(unbounded, "--objective", "file")["objective"]["kind"] == "unbounded"


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--objective", "file"], "there is no objective in the file"),
        (["--objective", "max tea"], 'the system has no variable "tea"'),
        (["--objective", "family"], 'an objective begins with "min" or "max"'),
        (["--objective", "max family >"], "is expected"),
        (["--keep", "the cat wants"], "no such row; did you mean"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_wrong_objective_is_rejected(words: list[str], part: str, day: Path) -> None:
    refused(inside("solve", day, *words), part)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (
            ["--objective", "max family", "--disjoint-conflicts"],
            "cannot be used with --disjoint-conflicts",
        ),
        (["--point", "nearest", "--method", "smooth"], "cannot be used with --method"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_options_that_exclude_each_other(words: list[str], part: str, day: Path) -> None:
    done = inside("solve", day, *words)
    assert (done.code, done.out) == (2, "")
    assert part in done.err


def test_kept_rows_are_not_blamed_and_conflicts_share_no_row(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("name,x,y,is,to\na,1,,<=,0\nb,1,,>=,1\nc,,1,<,0\nd,,1,>=,0\ne,1,,>=,2\n")
    body = report(path, "--disjoint-conflicts")
    listed = [{row["name"] for row in one["rows"]} for one in body["conflicts"]["listed"]]
    assert len(listed) == 2
    assert not listed[0] & listed[1]
    assert {"c", "d"} in listed
    assert body["conflicts"]["complete"]
    text = inside("solve", path, "--disjoint-conflicts")
    assert "these 2 conflicts share no row: at least 2 rows, one of each, must go" in text.out
    held = inside("solve", path, "--disjoint-conflicts", "--keep", "a", "--keep", "c")
    assert "conflicts share no row but those kept: at least" in held.out
    assert "conflicts that share no row, though not every conflict" in " ".join(
        inside("solve", "--help").out.split()
    )
    assert "0 < 0, which is false" in text.out
    alone = inside("solve", path, "--disjoint-conflicts", "--keep", "c", "--keep", "d")
    assert "rows that may not give way contradict each other" in alone.out
    assert "must go" not in alone.out
    kept = report(path, "--keep", "c", "--keep", "d", "--keep", "a")
    blamed = [row["name"] for row in kept["conflict"]["rows"] if not row["kept"]]
    assert blamed in ([], ["b"], ["e"])  # c and d, which are kept, contradict each other


def test_files_are_written_whole_or_not_at_all(day: Path, tmp_path: Path) -> None:
    proof, out = tmp_path / "day.cert.json", tmp_path / "day.txt"
    done = inside("solve", day, "--certificate", proof, "--out", out)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert "which is false" in out.read_text()
    assert str(proof) in out.read_text()
    held = inside("verify", proof, day)
    assert held.line("holds").startswith("Infeasible: 4 rows contradict each other, and no fewer")
    refused(inside("solve", day, "--certificate", proof), "already exists", "--force")
    refused(inside("solve", day, "--out", tmp_path / "none" / "x"), "does not exist")
    assert inside("solve", day, "--certificate", proof, "--force").code == 0
    done = inside("solve", day, "--certificate", proof, "--out", proof, "--force")
    assert (done.code, "is the name of two outputs" in done.err) == (2, True)
    other = tmp_path / "other.csv"
    other.write_text(DAY.replace(",9\n", ",9.5\n"))
    refused(inside("verify", proof, other), "another system", code=1)
    assert "not for inequalities" in inside("verify", proof, day, "--cluster", "local:1").err
    text = proof.read_text()
    proof.write_text(re.sub(r'"format": "csv"', '"format": "prose"', text))
    refused(inside("verify", proof, day), "cannot be read as prose")


def test_arrays_from_a_pipe(tmp_path: Path) -> None:
    file = io.BytesIO()
    np.savez(file, A=[[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], c=[1.0, -1.0, -1.0])
    (tmp_path / "a.npz").write_bytes(file.getvalue())
    body = report(tmp_path / "a.npz", "--keep", "row 0")
    assert [row["kept"] for row in body["conflict"]["rows"]] == [True, False, False]
    done = inside("solve", "-", "--from", "csv", stdin=DAY.encode())
    assert (done.code, "which is false" in done.out) == (0, True)
    refused(inside("solve", "-", stdin=DAY.encode()), "--from")


def test_a_point_has_few_digits_where_these_will_do(tmp_path: Path) -> None:
    path = tmp_path / "diet.lp"
    path.write_text("max\n tea\nst\n c1: tea + bread <= 4\n c2: tea >= 1\n c3: bread >= 1.5\nend\n")
    assert report(path)["exact_w"] == {"tea": "1", "bread": "3/2"}


def test_a_model_in_whole_numbers_is_not_called_feasible(tmp_path: Path) -> None:
    path = tmp_path / "odd.lp"
    path.write_text("min\n a\nst\n r: 2 a + 2 b = 3\ngeneral\n a b\nend\n")
    done = inside("solve", path)
    assert done.line("verdict").startswith("relaxation feasible, proved")
    assert "the relaxation's least value" in inside("solve", path, "--objective", "file").out
    body = report(path)
    assert (body["kind"], body["relaxed"], body["whole"]) == ("feasible", True, False)
    path.write_text(path.read_text().replace("= 3", "= 4"))
    body = report(path)
    assert body["relaxed"]
    assert body["whole"] is (Fraction(body["exact_w"]["a"]).denominator == 1)


def test_the_verdict_with_an_objective_is_about_the_best_point(tmp_path: Path) -> None:
    path = tmp_path / "whole.lp"
    path.write_text("max\n 5 a + 4 b\nst\n r: 2 a + 2 b <= 3\ngeneral\n a b\nend\n")
    assert report(path)["whole"]  # the origin
    body = report(path, "--objective", "file")
    assert (body["exact_w"], body["whole"]) == ({"a": "3/2", "b": "0"}, False)
    done = inside("solve", path, "--objective", "file")
    assert done.line("verdict").startswith("relaxation feasible, proved")
    assert inside("solve", path, "--require", "feasible").code == 0
    for answer in ("feasible", "optimal"):
        with case_named(answer):
            unmet = inside("solve", path, "--objective", "file", "--require", answer)
            assert unmet.code == 1
            assert f"the answer is relaxation optimal, not {answer}: integer variables" in unmet.err
    path.write_text("min\n a\nst\n r: 2 a + 2 b = 3\ngeneral\n a b\nend\n")
    assert inside("solve", path, "--require", "feasible").code == 1


def test_what_must_go_from_a_model_in_whole_numbers_is_about_its_relaxation(tmp_path: Path) -> None:
    path = tmp_path / "odd.lp"
    path.write_text("min\n\nst\n r: 2 a = 3\n cap: a >= 5\nbounds\n a free\ngeneral\n a\nend\n")
    told = report(path, "--relax", "total", "--keep", "r")["relaxation"]
    assert (told["relaxed"], told["whole"], told["least"]) == (True, False, "7/2")
    kept = inside("solve", path, "--relax", "rows", "--keep", "r", "--disjoint-conflicts").out
    assert "without cap, the relaxation of the rest is feasible" in " ".join(kept.split())
    assert "if all rows shown go, the relaxation of the rest" in " ".join(kept.split())
    assert "need not exist" in inside("solve", path, "--relax", "rows", "--keep", "r").out
    several = report(path, "--disjoint-conflicts")["conflicts"]
    assert several["relaxed"]


def test_a_nearest_point_that_strict_rows_exclude_is_not_found(tmp_path: Path) -> None:
    path = tmp_path / "strict.csv"
    path.write_text("x,y,is,c\n1,1,>,2\n")
    assert not report(path, "--point", "nearest")["point_found"]
    done = inside("solve", path, "--point", "nearest")
    assert "does not exist: strict rows exclude it" in " ".join(done.out.split())
    path.write_text("x,y,is,c\n1,1,>=,2\n")
    assert report(path, "--point", "nearest")["point_found"]


@pytest.mark.parametrize(("by", "least"), [("rows", "1"), ("total", "97"), ("max", "97/3")])
def test_an_interrupted_search_says_so_and_what_the_conflict_proves(
    by: str, least: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "three.csv"
    path.write_text("name,x,y,is,c\na,1,,<=,1\nc,,1,<=,2\ne,1,1,>=,100\n")

    def press_ctrl_c(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    home = "fewest_rows" if by == "rows" else "relax"
    monkeypatch.setattr(f"novikoff.systems.{home}.least_violation", press_ctrl_c)
    body = report(path, "--relax", by)
    told = body["relaxation"]
    assert (told["kind"], told["least"], told["most"]) == ("undecided", least, None)
    assert told["ended"] == body["ended"] == "it was interrupted"
    proof = tmp_path / "proof.json"
    line = inside("solve", path, "--relax", by, "--certificate", proof).line("relaxation")
    assert line.startswith("undecided: it was interrupted before a point was found")
    checked = inside("verify", proof, path)
    assert (checked.code, "at least" in checked.out.lower()) == (0, True)


def test_a_conflict_within_tolerances_is_said_and_a_tolerance_accepts_it(tmp_path: Path) -> None:
    path = tmp_path / "thirds.csv"
    path.write_text("name,x,y,is,c\ns,1,1,=,1\na,1,,=,.333333333\nb,,1,=,.666666666\n")
    done = inside("solve", path)
    assert done.line("tolerance").startswith("The rows miss each other by 3.33e-10 only")
    assert report(path)["conflict"]["least_violation"] == "1/3000000000"
    loose = report(path, "--tolerance", "1e-9")
    assert (loose["kind"], loose["tolerance"]) == ("feasible", "1/1000000000")
    x, y = (Fraction(loose["exact_w"][name]) for name in "xy")
    misses = x + y - 1, x - Fraction(".333333333"), y - Fraction(".666666666")
    assert max(map(abs, misses)) <= Fraction(1, 10**9)
    assert report(path, "--tolerance", "1/3000000000")["kind"] == "feasible"
    assert report(path, "--tolerance", "1/3000000001")["kind"] == "infeasible"
    assert "from 0 on" in inside("solve", path, "--tolerance", "-1").err
    both = inside("solve", path, "--tolerance", "1", "--certificate", tmp_path / "c")
    assert "--tolerance cannot be used with --certificate" in both.err


def test_what_must_go_is_the_fewest_rows(tmp_path: Path) -> None:
    """x ≤ 1, x ≥ 3, y ≤ 2, y ≥ 5, x + y ≥ 100: two rows must go, in three conflicts."""
    path = tmp_path / "five.csv"
    path.write_text("name,x,y,is,c\na,1,,<=,1\nb,1,,>=,3\nc,,1,<=,2\nd,,1,>=,5\ne,1,1,>=,100\n")
    body = report(path, "--relax", "rows")["relaxation"]
    assert (body["least"], body["most"], len(body["rows"])) == ("2", "2", 2)
    assert {row["name"] for row in body["rows"]} == {"a", "c"}
    assert len(body["conflicts"]) >= 2
    done = inside("solve", path, "--relax", "rows")
    assert done.line("relaxation").startswith("2 rows must go, no fewer — proved: without a and c")
    proof = path.parent / "proof.json"
    for by in ("rows", "total", "max"):
        with case_named(by):
            inside("solve", path, "--relax", by, "--certificate", proof, "--force")
            assert [part["kind"] for part in json.loads(proof.read_text())["proofs"]] == [
                "system",
                "relaxation",
            ]
            checked = inside("verify", proof, path)
            assert checked.code == 0
            claim = "At least 2 of the rows must be" if by == "rows" else "Every point violates"
            assert claim in checked.out
    assert report(path, "--relax", "max")["relaxation"]["least"] == "97/3"
    held = report(path, "--relax", "total", "--keep", "[a-d]")["relaxation"]
    assert held["kind"] == "infeasible"
    path.write_text("name,x,is,c\na,1,<=,1\nb,1,>=,3\n")
    blamed = report(path, "--blame", "b", "--blame", "a")["conflict"]["rows"]
    assert [(row["name"], row["kept"]) for row in blamed] == [("a", True), ("b", False)]


def test_a_conflict_is_written_as_a_model_and_as_a_page(day: Path, tmp_path: Path) -> None:
    model, page = tmp_path / "conflict.lp", tmp_path / "day.html"
    words: list[str | Path] = ["--conflict-lp", model, "--format", "html", "--out", page]
    assert inside("solve", day, *words).code == 0
    again = report(model)
    assert (again["kind"], len(again["conflict"]["rows"])) == ("infeasible", 4)
    text = page.read_text()
    assert "infeasible" in text
    assert "<td>the boss wants</td><td>work ≥ 9</td>" in text
    assert inside("solve", day, *words, "--force").code == 0
    few = inside("solve", day, "--rows", "2").out
    assert "… and 2 more" in few


def test_the_page_has_the_names_of_rows_as_they_are(tmp_path: Path) -> None:
    """Names with two blanks, with the sign of multiplication and with the headings of the text."""
    path = tmp_path / "names.csv"
    path.write_text("name,x,is,c\nc  d,1,<=,1\n2 × way out,1,>=,3\n")
    page = inside("solve", path, "--format", "html").out
    assert "<tr><td>1</td><td>c  d</td><td>x ≤ 1</td></tr>" in page
    assert "<tr><td>1</td><td>2 × way out</td><td>x ≥ 3</td></tr>" in page
    assert "<li>c  d: 1 → 3</li><li>2 × way out: 3 → 1</li>" in page
    assert "infeasible</span> proved: these rows contradict each other" in page
    both = inside("solve", path, "--format", "html", "--relax", "rows", "--disjoint-conflicts").out
    assert "<p>at least 1 row must go; if all rows shown go, the rest is feasible</p>" in both
    assert "<h2>Relaxation</h2><p>1 row must go" in both


def test_the_verdict_comes_before_what_takes_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while implicit equalities are sought leaves the verdict."""
    path = tmp_path / "thin.csv"
    path.write_text("x,is,r\n1,<=,1\n1,>=,1\n")

    def pressed(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(solution, "find_relative_interior", pressed)
    done = inside("solve", path)
    assert done.code == 0
    assert done.line("verdict").startswith("feasible, proved")
    assert "was not found in time" in done.out
    assert report(path)["interior"] == "unknown"


def test_undecided_has_its_own_exit_code(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "hard.csv"
    rows = [[*map(str, row), ">=", "1"] for row in rng.integers(-99, 99, (300, 40)).tolist()]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([[*(f"x{j}" for j in range(40)), "is", "to"], *rows])
    proof = tmp_path / "proof"
    proof.write_bytes(b"of another system")
    done = inside("solve", path, "--budget", "1e-9", "--certificate", proof, "--force")
    assert done.code == 3
    assert done.line("verdict").startswith("undecided")
    assert not proof.exists()  # an old proof would seem to be about this system


def test_ctrl_c_ends_a_method_that_never_would(day: Path, tmp_path: Path) -> None:
    words = ["solve", str(day), "--method", "relaxation", "--out", str(tmp_path / "out")]
    code, out, err = on_terminal(words, signal_at=("solving", signal.SIGINT))
    assert (code, out) == (130, "")
    assert "interrupted: the report says what is known." in err
    kinds = r"undecided — it was interrupted|infeasible, proved"
    assert re.search(kinds, (tmp_path / "out").read_text())


@pytest.mark.parametrize(
    ("form", "content", "part"), BAD[1::9], ids=[part for *_, part in BAD[1::9]]
)
def test_nothing_is_written_for_a_broken_file(
    form: str, content: str | bytes, part: str, tmp_path: Path
) -> None:
    path = tmp_path / f"system.{form}"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    proof, out = tmp_path / "proof", tmp_path / "out"
    refused(inside("solve", path, "--certificate", proof, "--out", out), str(path), part)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    path.unlink()


def test_the_command_imports_no_learner_and_compiles_nothing(day: Path) -> None:
    code = (
        "import sys\nfrom novikoff.cli.main import run\n"
        "try:\n    run()\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('sklearn', 'pandas', 'numba', 'pyarrow') if m in sys.modules])"
    )
    done = script("solve", day, start=[sys.executable, "-c", code])
    assert done.out.endswith("[]\n")


@pytest.mark.parametrize(
    ("c", "words", "code"),
    [
        (3, ["--require", "feasible"], 0),
        (3, ["--require", "infeasible"], 1),
        (3, ["--objective", "max a", "--require", "optimal"], 0),
        (3, ["--objective", "max a", "--require", "feasible"], 0),
        (3, ["--objective", "min a", "--require", "optimal"], 1),
        (3, ["--objective", "min a", "--require", "unbounded"], 0),
        (1, ["--require", "feasible"], 1),
        (1, ["--require", "infeasible"], 0),
        (1, [], 0),
    ],
)
def test_require(c: int, words: list[str], code: int, tmp_path: Path) -> None:
    """The system a ≤ c and a ≥ 2; without the second row, a may fall without limit."""
    path = tmp_path / "a.csv"
    lower = "" if "min a" in words else "1,>=,2\n"
    path.write_text(f"a,is,c\n1,<=,{c}\n{lower}", encoding="utf-8")
    done = inside("solve", path, *words)
    assert done.code == code
    assert done.err.startswith("novikoff: the answer is ") == (code == 1)

"""Files of inequalities: what they mean, what HiGHS reads in them, and what is rejected."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import re
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array

import novikoff as nv
from novikoff.errors import DataError
from novikoff.proofs.system_statement import Constraint, LinearSystem, Relation
from novikoff.systems.files.csv import csv_system
from novikoff.systems.files.lp import lp_system
from novikoff.systems.files.mps import mps_system
from novikoff.systems.files.reading import read_system
from novikoff.systems.system_model import SystemModel
from tests.data_files import npz
from tests.real_data import published_systems, real

F = Fraction


def read(text: str | bytes, format: str, folder: Path) -> SystemModel:
    path = folder / f"system.{format}"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_system(str(path))


def test_a_csv_means_what_it_shows(tmp_path: Path) -> None:
    text = '\ufeffname;tea;"bread, white";is;limit\nmoney;3;1.10;≤;20\n\n;;1/3;>;-1e-3\n'
    file = read(text, "csv", tmp_path)
    model = file.model
    assert (file.format, file.notes) == ("csv", ())
    assert model.variables == ("tea", "bread, white")
    assert model.constraints == (
        Constraint("money", {0: F(3), 1: F(11, 10)}, "<=", F(20)),
        Constraint("row 2", {1: F(1, 3)}, ">", F(-1, 1000)),
    )
    assert model.lower == model.upper == (None, None)
    tabs = read("x\trelation\tright\n1\t=\t0.30\n", "csv", tmp_path).model
    assert tabs.constraints == (Constraint("row 1", {0: F(1)}, "=", F(3, 10)),)
    bare = read("wanted by,x,is,to\nAnn,1,<,2\nBob,-1,=>,1\n", "csv", tmp_path).model
    assert [row.name for row in bare.constraints] == ["Ann", "Bob"]


def test_decimals_are_exact(tmp_path: Path) -> None:
    """0.1 + 0.2 = 0.3 holds in decimals and fails in float64."""
    row = read("a,b,is,to\n0.1,0.2,=,0.3\n", "csv", tmp_path).model.constraints[0]
    assert row.terms[0] + row.terms[1] == row.right
    arrays = npz(A=np.array([[0.1, 0.2]]), c=np.array([0.3]))
    stated = read(arrays, "npz", tmp_path).stated.row(0)
    assert stated is not None
    assert stated.terms[0] + stated.terms[1] != stated.right
    assert stated.right == F(0.3)


MPS = """* the fields of an old file
NAME          OLD CARDS
OBJSENSE
    MAX
ROWS
 N  PROFIT
 N  OTHER
 L  LIM1
 G  LIM2
 E  EVEN
 E  ODD
COLUMNS
    X         PROFIT       1.D1    LIM1            1.0
    X         LIM2             1   EVEN             .5
    MARKER                 'MARKER'                 'INTORG'
    Y         LIM1            1e0  OTHER             1
    MARKER                 'MARKER'                 'INTEND'
    Z         ODD              1   LIM2        -2.5E-1 $ a comment
RHS
    RHS       LIM1             4   PROFIT           -7
    RHS       EVEN             3
RANGES
    R         LIM1           2.5   EVEN             -2
    R         LIM2             0   ODD               1
BOUNDS
 UP B         X                4
 MI B         Y
 UP B         Y               -1
 FX B         Z              2.5
ENDATA
"""


def test_an_mps_file_means_what_its_sections_say(tmp_path: Path) -> None:
    file = read(MPS, "mps", tmp_path)
    model, notes = file.model, file.notes
    assert (model.maximise, model.constant) == (True, F(7))
    assert model.variables == ("X", "Y", "Z")
    assert model.objective == {0: F(10)}
    assert model.constraints == (
        Constraint("LIM1", {0: F(1), 1: F(1)}, ">=", F(3, 2)),
        Constraint("LIM1", {0: F(1), 1: F(1)}, "<=", F(4)),
        Constraint("LIM2", {0: F(1), 2: F(-1, 4)}, "=", F(0)),
        Constraint("EVEN", {0: F(1, 2)}, ">=", F(1)),
        Constraint("EVEN", {0: F(1, 2)}, "<=", F(3)),
        Constraint("ODD", {2: F(1)}, ">=", F(0)),
        Constraint("ODD", {2: F(1)}, "<=", F(1)),
    )
    assert model.lower == (F(0), None, F(5, 2))
    assert model.upper == (F(4), F(-1), F(5, 2))
    assert "OTHER" in notes[0]
    assert "integer variable" in notes[1]
    further = MPS.replace("RANGES\n", "    RHS2      LIM1             9\nRANGES\n")
    further = further.replace("ENDATA", " LO C         X                1\nENDATA")
    again = read(further, "mps", tmp_path)
    assert again.model == model
    assert sum("a further vector" in note for note in again.notes) == 2
    unbounded = MPS.partition("BOUNDS")[0] + "BOUNDS\n fr X\nENDATA\n"
    assert '("Y") have no upper bound here' in read(unbounded, "mps", tmp_path).notes[1]


@pytest.mark.parametrize("format", ["mps", "lp"])
def test_an_upper_bound_below_0_is_read_as_highs_reads_it(format: str, tmp_path: Path) -> None:
    text = {
        "mps": "ROWS\n N C\n L R\nCOLUMNS\n X R 1\nRHS\n B R 4\nBOUNDS\n UP D X -1\nENDATA\n",
        "lp": "Minimize\nobj:\nSubject To\n R: X <= 4\nBounds\n X <= -1\nEnd\n",
    }[format]
    file = read(text, format, tmp_path)
    assert (file.model.lower, file.model.upper) == ((F(0),), (F(-1),))
    assert 'upper bounds below 0 without a lower bound ("X")' in file.notes[0]
    conflict = nv.solve(file).conflict
    assert {row.name for row in conflict} == {"lower bound of X", "upper bound of X"}


@pytest.mark.parametrize("format", ["mps", "lp"])
def test_right_sides_of_1e20_count_as_infinite(format: str, tmp_path: Path) -> None:
    """They are what solvers write for a side that does not exist."""
    text = {
        "mps": "NAME T\nROWS\n N C\n L R\n G S\n L T\nCOLUMNS\n X R 1 S 1\n X T 1\n"
        "RHS\n B R 1e30 S -1e20\n B T 4\nRANGES\n B T 1e30\nENDATA\n",
        "lp": "Minimize\nobj:\nSubject To\n R: X <= 1e30\n S: X >= -1e20\n"
        " T: -1e30 <= X <= 4\nEnd\n",
    }[format]
    file = read(text, format, tmp_path)
    assert file.model.constraints == (Constraint("T", {0: F(1)}, "<=", F(4)),)
    assert 'count as infinite: "R", "S", "T"' in file.notes[0]
    with pytest.raises(DataError, match=r"row \"R\" is <= -1e\+30, which counts as infinite"):
        read(text.replace("1e30 S", "-1e30 S").replace("X <= 1e30", "X <= -1e30"), format, tmp_path)


def test_a_quadratic_objective_is_left_out(tmp_path: Path) -> None:
    text = "Minimize\nobj: 2 x + [ x ^2 - 2 x * y ] / 2\nSubject To\n R: x + y <= 4\nEnd\n"
    file = read(text, "lp", tmp_path)
    assert file.model.objective is None
    assert file.notes == ("the objective is quadratic, and is left out",)


PACKERS = pytest.mark.parametrize("pack", [gzip.compress, bz2.compress], ids=["gzip", "bzip2"])


@PACKERS
def test_packed_files_are_not_unpacked_without_limit(
    pack: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = MPS.encode()
    monkeypatch.setattr("novikoff.systems.files.reading.MAX_UNPACKED", len(text))
    assert read(pack(text), "mps", tmp_path).model == read(text, "mps", tmp_path).model
    with pytest.raises(DataError, match="holds more than 256 MiB: unpack it first"):
        read(pack(text + b"\n"), "mps", tmp_path)


def test_packed_arrays_are_not_unpacked_without_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed, plain = io.BytesIO(), io.BytesIO()
    arrays: dict[str, Any] = {"A": np.zeros((100, 100)), "c": np.zeros(100)}
    np.savez_compressed(packed, **arrays)
    np.savez(plain, **arrays)
    monkeypatch.setattr("novikoff.systems.files.reading.MAX_UNPACKED", 10_000)
    assert read(plain.getvalue(), "npz", tmp_path).format == "npz"
    with pytest.raises(DataError, match=r"save it unpacked, by np\.savez"):
        read(packed.getvalue(), "npz", tmp_path)


@pytest.mark.parametrize(
    ("format", "line", "said"),
    [
        ("csv", "1\n", "no column has any in line 2"),
        ("csv", "1,2,3,4\n", "no column has any in line 2"),
        ("lp", "Minimize\n", 'there is "Minimize"'),
        ("mps", " N c\n", "line 1: this line is in no section"),
    ],
)
def test_an_error_in_the_first_of_many_short_lines_takes_little_memory(
    format: str, line: str, said: str, tmp_path: Path
) -> None:
    """All lines became a list before the first was looked at: 45 million took 6 GB."""
    text = line * 1_000_000
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=said):
            read(text, format, tmp_path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * len(text) + (1 << 20)


@PACKERS
def test_packed_files_have_a_limit_of_lines(
    pack: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("novikoff.systems.files.reading.MAX_LINES", MPS.count("\n"))
    assert read(pack(MPS.encode()), "mps", tmp_path).format == "mps"
    with pytest.raises(DataError, match="lines: unpack it first"):
        read(pack(MPS.encode() + b"\n"), "mps", tmp_path)
    assert read(MPS + "\n", "mps", tmp_path).format == "mps"


def test_names_with_blanks_stand_in_columns(tmp_path: Path) -> None:
    text = (
        "NAME          BLANKS\nROWS\n N  THE COST\n G  MY ROW 1\nCOLUMNS\n"
        "    A COLUMN  THE COST         2.5     MY ROW 1          -1.\n"
        "RHS\n              MY ROW 1          -4.\nBOUNDS\n FR           A COLUMN\nENDATA\n"
    )
    model = read(text, "mps", tmp_path).model
    assert model.variables == ("A COLUMN",)
    assert model.constraints == (Constraint("MY ROW 1", {0: F(-1)}, ">=", F(-4)),)
    assert (model.objective, model.lower) == ({0: F(5, 2)}, (None,))


LP = r"""\ a model on paper
Maximize
 profit: 3 tea + 2bread - 4
   + 0.5 tea
such that
 money: 3 tea +
   1.10 bread <= 20 \ dollars
 - tea + bread => -.5
 both: 1 <= tea - bread <= 4
 5 >= tea
 tea + 1 = 2
Bounds
 -inf <= bread <= +Infinity
 1 <= tea
 tea < 1e30
 jam free
 x#1 = -2.5e-1
General
 jam
END
"""


def test_an_lp_file_means_what_it_says(tmp_path: Path) -> None:
    file = read(LP, "lp", tmp_path)
    model, notes = file.model, file.notes
    assert model.variables == ("tea", "bread", "jam", "x#1")
    assert (model.objective, model.constant, model.maximise) == ({0: F(7, 2), 1: F(2)}, F(-4), True)
    assert model.constraints == (
        Constraint("money", {0: F(3), 1: F(11, 10)}, "<=", F(20)),
        Constraint("row 2", {0: F(-1), 1: F(1)}, ">=", F(-1, 2)),
        Constraint("both", {0: F(1), 1: F(-1)}, ">=", F(1)),
        Constraint("both", {0: F(1), 1: F(-1)}, "<=", F(4)),
        Constraint("row 4", {0: F(1)}, "<=", F(5)),
        Constraint("row 5", {0: F(1)}, "=", F(1)),
    )
    assert model.lower == (F(1), None, None, F(-1, 4))
    assert model.upper == (None, None, None, F(-1, 4))
    assert len(notes) == 4  # jam and x#1 in no row, jam whole, tea without a bound


def test_arrays_mean_what_nv_solve_takes(tmp_path: Path) -> None:
    dense = npz(
        A=np.array([[1.5, 0.0], [0.0, -2.0], [1.0, 1.0]]), c=np.array([1.0, 2.0, np.inf]),
        strict=np.array([True, False, False]), A_eq=np.array([[1, 1]]), c_eq=np.array([3]),
        lower=np.array([0.0, -np.inf]),
    )  # fmt: skip
    stated = read(dense, "npz", tmp_path).stated
    assert [row and row[1:] for row in map(stated.row, range(8))] == [
        ({0: F(3, 2)}, "<", F(1)),
        ({1: F(-2)}, "<=", F(2)),
        None,
        ({0: F(1), 1: F(1)}, "=", F(3)),
        None,
        None,
        ({0: F(1)}, ">=", F(0)),
        None,
    ]
    parts = npz(A_data=[1.5, -2.0, 1.0], A_indices=[0, 1, 2], A_indptr=[0, 1, 3], A_shape=[2, 3],
                strict=True)  # fmt: skip
    stated = read(parts, "npz", tmp_path).stated
    assert stated.row(1) == ("row 1", {1: F(-2), 2: F(1)}, ">", F(0))


numbers = st.fractions(-100, 100, max_denominator=1).flatmap(
    lambda whole: st.integers(0, 999).map(lambda part: whole + F(part, 1000))
)


@st.composite
def models(draw: st.DrawFn) -> LinearSystem:
    """Small models with decimals; every variable is in some row."""
    p, n = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    relations: list[Relation] = ["<=", ">=", "="]
    rows = []
    for i in range(n):
        values = draw(st.lists(numbers, min_size=p, max_size=p))
        if i == 0:
            values = [value or F(1) for value in values]
        terms = {j: value for j, value in enumerate(values) if value} or {0: F(1)}
        rows.append(Constraint(f"r{i}", terms, draw(st.sampled_from(relations)), draw(numbers)))
    bound = st.none() | numbers
    lower = tuple(draw(st.lists(bound, min_size=p, max_size=p)))
    upper = tuple(draw(st.lists(bound, min_size=p, max_size=p)))
    goal = {0: draw(numbers) or F(1)}
    return LinearSystem(tuple(f"x{j}" for j in range(p)), tuple(rows), lower, upper, goal)


def decimal(value: Fraction) -> str:
    return f"{float(value):.3f}"  # all have three digits behind the point


def written_mps(model: LinearSystem) -> str:
    rows = {"<=": "L", ">=": "G", "=": "E"}
    lines = [
        "NAME",
        "ROWS",
        " N cost",
        *(f" {rows[r.relation]} {r.name}" for r in model.constraints),
    ]
    lines.append("COLUMNS")
    for j, x in enumerate(model.variables):
        lines += [f" {x} cost {decimal(v)}" for k, v in (model.objective or {}).items() if k == j]
        lines += [f" {x} {r.name} {decimal(r.terms[j])}" for r in model.constraints if j in r.terms]
    lines += ["RHS", *(f" rhs {r.name} {decimal(r.right)}" for r in model.constraints), "BOUNDS"]
    for x, low, high in zip(model.variables, model.lower, model.upper, strict=True):
        lines.append(f" MI b {x}" if low is None else f" LO b {x} {decimal(low)}")
        lines.append(f" PL b {x}" if high is None else f" UP b {x} {decimal(high)}")
    return "\n".join([*lines, "ENDATA", ""])


def written_lp(model: LinearSystem) -> str:
    def written(terms: dict[int, Fraction]) -> str:
        return " ".join(
            f"{'-' if v < 0 else '+'} {decimal(abs(v))} {model.variables[j]}"
            for j, v in terms.items()
        )

    lines = ["minimize", f" cost: {written(model.objective or {})}", "st"]
    lines += [f" {r.name}: {written(r.terms)} {r.relation} {decimal(r.right)}"
              for r in model.constraints]  # fmt: skip
    lines.append("bounds")
    for x, low, high in zip(model.variables, model.lower, model.upper, strict=True):
        lines.append(f" {'-inf' if low is None else decimal(low)} <= {x}")
        lines.append(f" {x} <= {'inf' if high is None else decimal(high)}")
    return "\n".join([*lines, "end", ""])


def written_csv(model: LinearSystem) -> str:
    lines = [",".join(["name", *model.variables, "relation", "right"])]
    for row in model.constraints:
        cells = [decimal(row.terms[j]) if j in row.terms else ""
                 for j in range(len(model.variables))]  # fmt: skip
        lines.append(",".join([row.name, *cells, row.relation, decimal(row.right)]))
    return "\n".join(lines) + "\n"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(model=models())
def test_what_is_written_is_read_again(model: LinearSystem, tmp_path: Path) -> None:
    def content(found: LinearSystem) -> list[object]:
        """By name: the order of variables is that of their first use."""
        named = found.variables
        return [
            [
                (r.name, {named[j]: v for j, v in r.terms.items()}, *r[2:])
                for r in found.constraints
            ],
            {x: bounds for x, *bounds in zip(named, found.lower, found.upper, strict=True)},
            {named[j]: v for j, v in (found.objective or {}).items()},
        ]

    assert content(read(written_mps(model), "mps", tmp_path).model) == content(model)
    assert content(read(written_lp(model), "lp", tmp_path).model) == content(model)
    table = read(written_csv(model), "csv", tmp_path).model
    assert content(table)[0] == content(model)[0]


GOOD = "NAME\nROWS\n N C\n L R\nCOLUMNS\n X C 1 R 1\nRHS\n S R 4\n{}ENDATA\n"
ON_PAPER = "min\n x + y\nst\n c1: x + y <= 1\n{}end\n"

# Format, content, and what the complaint must hold besides the file's name.
BAD: list[tuple[str, str | bytes, str]] = [
    ("csv", "", "is empty"),
    ("csv", "x,is,to\n", "no row below"),
    ("csv", "x,y,to\n1,2,3\n", "no column has any"),
    ("csv", "x,is,or,to\n1,<=,<=,3\n", 'two columns have them, "is" and "or"'),
    ("csv", "x,is,to\n1,<=,3\n1,about,3\n", 'line 3: column "is" has "about"'),
    ("csv", "x,is,to,why\n1,<=,3,so\n", "there are 2"),
    ("csv", "x,is\n1,<=\n", "there are 0"),
    ("csv", "is,to\n<=,3\n", "names a variable"),
    ("csv", "x,is,to\n1,<=,\n", 'line 2: the right side, column "to", is ""'),
    ("csv", "x,is,to\n1,<=,3\none,>=,3\n", 'line 3: the coefficient of "x" is "one"'),
    ("csv", "x,is,to\nnan,<=,3\n2,<=,3\n", 'line 2: the coefficient of "x" is "nan"'),
    ("csv", "x,y,is,to\nNaN,1,<=,3\n", 'line 2: the coefficient of "x" is "NaN"'),
    ("csv", "x,is,to\n1,<=,inf\n", 'line 2: the right side, column "to", is "inf"'),
    ("csv", "x;is;to\n1,5;<=;3\n", "write the decimal point as a point"),
    ("csv", "x,is,to\n1/0,<=,3\n", "division by zero"),
    ("csv", "x,is,to\n1e999999999,<=,3\n", "more than 1,000 digits"),
    ("csv", "x,is,to\n1e99999999999999999999,<=,3\n", "more than 1,000 digits"),
    ("csv", "x,x,is,to\n1,2,<=,3\n", 'two columns are called "x"'),
    ("csv", "x,,is,to\n1,2,<=,3\n", "column 2 has no name"),
    ("csv", "x,is,to\n1,<=,3,4\n", "line 2: there are 4 fields, 3 in the header"),
    ("csv", "name,x,is,to\na,1,<=,3\na,2,<=,3\n", 'line 3: the row "a" appears twice'),
    ("csv", 'x,is,to\n"1,<=,3\n', "not valid CSV"),
    ("csv", b"x,is,to\n1,<=,3\n\xff,<=,3\n", "line 3: this is not text in UTF-8"),
    ("csv", gzip.compress(b"x,is,to\n1,<=,3\n")[:-9], "cut off"),
    ("csv", bz2.compress(b"x,is,to\n1,<=,3\n")[:-9], "bzip2"),
    ("mps", GOOD.format("").replace("ENDATA\n", ""), "line 8: the file ends here without ENDATA"),
    ("mps", GOOD.format("") + " X C 1\n", "line 10: there is text after ENDATA"),
    ("mps", " X C 1\nENDATA\n", "line 1: this line is in no section"),
    ("mps", GOOD.format("SOS\n"), 'line 9: "SOS" is not a supported section'),
    ("mps", GOOD.format("").replace(" L R", " Q R"), "line 4: a row is N, L, G or E"),
    ("mps", GOOD.format("").replace(" L R", " L R\n G R"), 'line 5: the row "R" appears twice'),
    ("mps", GOOD.format("").replace("X C 1", "X D 1"), 'line 6: there is no row "D"'),
    ("mps", GOOD.format("").replace("X C 1 R 1", "X R 1 R 1"), 'line 6: the coefficient of "X"'),
    ("mps", GOOD.format("").replace("R 1\n", "R\n"), "line 6: there are 4 fields"),
    ("mps", GOOD.format("").replace("R 4", "R 4x"), 'line 8: the right side of row "R" is "4x"'),
    ("mps", GOOD.format("").replace("R 4", "R 4 R 5"), 'the right side of row "R" appears twice'),
    ("mps", GOOD.format("RANGES\n S C 5\n"), "line 10: row"),
    ("mps", GOOD.format("BOUNDS\n UP B Z 5\n"), 'line 10: there is no column "Z"'),
    ("mps", GOOD.format("BOUNDS\n SC B X 5\n"), 'line 10: "SC" (semi-continuous) is not'),
    ("mps", GOOD.format("BOUNDS\n UP B X\n"), "line 10"),
    ("mps", GOOD.format("BOUNDS\n UP B X 5\n UP B X 6\n"), "a different upper bound in line 10"),
    ("mps", GOOD.format("BOUNDS\n LO B X inf\n"), "no point satisfies it"),
    ("mps", GOOD.format("OBJSENSE\n UPWARDS\n"), "neither MIN nor MAX"),
    ("lp", ON_PAPER.format("").replace("min", "best"), "line 1: the file must begin with"),
    ("lp", ON_PAPER.format("").replace("end", ""), '"End" is expected'),
    ("lp", ON_PAPER.format("") + "x <= 3\n", 'nothing is expected after "End"'),
    ("lp", ON_PAPER.format(" c1: x >= 3\n"), 'line 5: the row "c1" appears twice'),
    ("lp", ON_PAPER.format(" x + >= 3\n"), "line 5: a number or a variable is expected"),
    ("lp", ON_PAPER.format(" 1 <= x +\n c2: y <= 3\n"), "line 6: a number or a variable"),
    ("lp", ON_PAPER.format(" x y >= 3\n"), 'one of <=, >= and = is expected, but there is "y"'),
    ("lp", ON_PAPER.format(" x >= y\n"), "line 5: a number is expected"),
    ("lp", ON_PAPER.format(" x >= 3 y\n + y >= 2\n"), "line 5: a row ends with its number"),
    ("lp", ON_PAPER.format(" 1 <= x >= 2\n"), "must point the same way"),
    ("lp", ON_PAPER.format(" 1 <= 2\n"), "a row needs a variable"),
    ("lp", ON_PAPER.format(" x + [ y ^ 2 ] >= 2\n"), "line 5: quadratic terms"),
    ("lp", ON_PAPER.format(" x >= 1e9999\n"), "more than 1,000 digits"),
    ("lp", ON_PAPER.format(" x >= inf\n"), "a number is expected"),
    ("lp", ON_PAPER.format("bounds\n x <= y\n"), "line 6: a number is expected"),
    ("lp", ON_PAPER.format("bounds\n x >= 1\n x >= 2\n"), "a different lower bound in line 6"),
    ("lp", ON_PAPER.format("semi-continuous\n x\n"), "a section of a linear program"),
    ("npz", b"PK\x03\x04 and so on", "not a valid npz file"),
    ("npz", npz(A=np.array([[object()]])), "not a valid npz file"),
    ("npz", npz(c=np.ones(2)), "there is no A"),
    ("npz", npz(A=np.ones((2, 2)), c=np.ones(2), b=np.ones(2)), '"b" is none of them'),
    ("npz", npz(A=np.ones((1, 1)), c=np.array(["a"])), "not numbers"),
    ("npz", npz(A_data=[1.0], c=np.ones(1)), "do not make a CSR matrix"),
    ("npz", npz(A_data=[1.0], A_indices=[5], A_indptr=[0, 1], A_shape=[1, 2], c=[1.0]), "CSR"),
    ("npz", npz(A=np.ones((2, 2))), "c is missing"),
    ("npz", npz(A=np.ones((2, 2)), c=np.ones(3)), "c has 3 numbers, but needs 2: one per row of A"),
    ("npz", npz(A=np.ones(2), c=np.ones(2)), "A "),
    ("npz", npz(A=np.array([[1.0, np.nan]]), c=np.ones(1)), "row 0, column 1"),
    ("npz", npz(A=np.ones((1, 1)), c=np.array([-np.inf])), "c[0] is -inf"),
    ("npz", npz(A=np.ones((1, 1)), c=np.ones(1), strict=np.ones(1)), "strict must be"),
    ("npz", npz(A=np.ones((1, 1)), c=np.ones(1), A_eq=np.ones((1, 2)), c_eq=np.ones(1)), "A_eq"),
]  # fmt: skip


@pytest.mark.parametrize(("format", "content", "part"), BAD, ids=[case[2] for case in BAD])
def test_a_broken_file_is_rejected(
    format: str, content: str | bytes, part: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=r"\w") as caught:
        read(content, format, tmp_path)
    sentence = str(caught.value)
    assert str(tmp_path / f"system.{format}") in sentence
    assert part in sentence
    assert sentence.endswith(".")
    assert len(sentence.removeprefix(str(tmp_path))) < 300


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("missing.mps", "does not exist"),
        ("folder.mps", "is a directory"),
        ("model.xyz", "format is needed"),
    ],
)
def test_no_such_file(name: str, part: str, tmp_path: Path) -> None:
    (tmp_path / "folder.mps").mkdir()
    with pytest.raises(DataError, match=part):
        read_system(str(tmp_path / name))


@pytest.mark.parametrize(
    ("parse", "text"),
    [(mps_system, MPS), (lp_system, LP), (csv_system, "n,x,is,to\na,1,<=,3\nb,2,=,4\n")],
    ids=["mps", "lp", "csv"],
)
def test_pieces_of_files_are_read_or_rejected(parse: Any, text: str) -> None:
    """Every beginning of a good file, and every file that lacks one letter."""
    for k in range(1, len(text)):
        for piece in (text[:k], text[:k] + text[k + 1 :]):
            with contextlib.suppress(DataError):
                parse(piece, "system")


def opened(path: Path) -> Any:
    """HiGHS with a file, read without a complaint that it counts as an error."""
    highspy = pytest.importorskip("highspy")
    peer = highspy.Highs()
    peer.setOptionValue("output_flag", False)
    assert peer.readModel(str(path)) != highspy.HighsStatus.kError, path
    return peer


@pytest.mark.parametrize(
    "name", [*published_systems(), "lp/badfiles/dD2e.mps", "lp/badfiles/no-newline-eof.lp"]
)
def test_highs_reads_the_same(name: str, tmp_path: Path) -> None:
    path = real(name)
    file = read_system(str(path))
    unpack = {".gz": gzip.decompress, ".bz2": bz2.decompress}.get(path.suffix, bytes)
    plain = tmp_path / f"peer.{file.format}"
    plain.write_bytes(unpack(path.read_bytes()))
    compare(file.model, opened(plain).getLp())


@pytest.mark.parametrize("name", ["b.lp", "b.mps"])
def test_what_highs_writes_is_read(name: str, tmp_path: Path) -> None:
    plain = [line for line in MPS.splitlines() if "MARKER" not in line]
    (tmp_path / "a.mps").write_text("\n".join(plain) + "\n")
    peer = opened(tmp_path / "a.mps")
    compare(read_system(str(tmp_path / "a.mps")).model, peer.getLp())
    peer.writeModel(str(tmp_path / name))
    compare(read_system(str(tmp_path / name)).model, opened(tmp_path / name).getLp())


def compare(model: LinearSystem, peer: Any) -> None:
    """The same rows and bounds, to the rounding of float64."""
    same = partial(np.testing.assert_allclose, rtol=1e-12, atol=0.0)
    order = [model.variables.index(name) for name in list(peer.col_names_)]
    assert sorted(order) == list(range(model.d))
    places = {name: i for i, name in enumerate(dict.fromkeys(map(model.name, range(model.m))))}
    low, high = np.full(len(places), -np.inf), np.full(len(places), np.inf)
    ours = np.zeros((len(places), model.d))
    for row in model.constraints:
        i = places[row.name]
        if row.relation in (">=", "="):
            low[i] = float(row.right)
        if row.relation in ("<=", "="):
            high[i] = float(row.right)
        for j, value in row.terms.items():
            ours[i, order.index(j)] = float(value)
    same(peer.row_lower_, low)
    same(peer.row_upper_, high)
    same(peer.col_lower_, [-np.inf if (v := model.lower[j]) is None else float(v) for j in order])
    same(peer.col_upper_, [np.inf if (v := model.upper[j]) is None else float(v) for j in order])
    goal = model.objective or {}
    same(peer.col_cost_, [float(goal.get(j, 0)) for j in order])
    assert peer.offset_ == pytest.approx(float(model.constant), rel=1e-12)
    parts = peer.a_matrix_.value_, peer.a_matrix_.index_, peer.a_matrix_.start_
    same(csc_array(parts, shape=ours.shape).toarray(), ours)


def test_comments_and_names_of_sections_break_nothing() -> None:
    """Files that HiGHS 1.15 refuses, or takes for one column where there are five."""
    comments = read_system(str(real("lp/badfiles/comment.mps"))).model
    assert comments.constraints[:2] == (
        Constraint("R0", {0: F(1), 1: F(1)}, ">=", F(1)),
        Constraint("R0", {0: F(1), 1: F(1)}, "<=", F(2)),
    )
    assert (comments.objective, comments.upper) == ({0: F(-1), 1: F(-2)}, (F(1), None))
    silly = read_system(str(real("lp/badfiles/silly-names.mps"))).model
    assert silly.variables == ("C0", "OBJSENSE", "RANGES", "RHS", "C1")
    assert silly.constraints == (Constraint("R0", dict.fromkeys(range(5), F(-1)), ">=", F(-1)),)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("WithInf.set", "format is needed"),
        ("garbage.lp", "line 2"),
        ("garbage.mps", "line 2"),
        ("model.xyz", "format is needed"),
        ("nan0.mps", 'line 8: the coefficient of "P1" in row "INCOME" is "nan"'),
        ("nan1.mps", 'line 9: the coefficient of "P2" in row "FINISHNG" is "nan"'),
        ("nan2.mps", 'line 12: the right side of row "ASSEMBLY" is "nan"'),
        ("warnings.mps", 'line 12: there is no row "R11"'),
    ],
)
def test_files_that_break_readers_are_rejected(name: str, part: str) -> None:
    with pytest.raises(DataError, match=re.escape(part)):
        read_system(str(real(f"lp/badfiles/{name}")))


def test_empty_sections_as_highs_writes_them_are_read() -> None:
    text = "min\n obj: x\nst\n c: x + y >= 2\nbounds\nbin\n y\ngen\nsemi\nend\n"
    assert lp_system(text, "a.lp").model.integers == {1}
    with pytest.raises(DataError, match='there is "semi"'):
        lp_system(text.replace("semi\n", "semi\n x\n"), "a.lp")

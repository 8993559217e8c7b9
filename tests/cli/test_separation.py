"""``novikoff separation``: its text, its files, its errors and its exit codes."""

from __future__ import annotations

import csv
import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from novikoff.cli import separation
from novikoff.models.families import FAMILIES
from tests.cli.conftest import inside, on_terminal, refused, script
from tests.real_data import DATA

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((resources.files("novikoff.report") / "separation.schema.json").read_text())
ENDOMETRIAL = DATA / "endometrial.csv"

# A factor, weights, and an outcome in words; the vertex of the usual linear program misleads here.
VERTEX = "x1,x2,y\n0,0,0\n3,1,1\n0,0,1\n1,0,0\n"
COLOURS = """colour,age,died,w
red,31,no,1
blue,25,no,1
blue,47,yes,1
red,52,no,2
green,38,yes,1
green,61,yes,0
blue,28,yes,1
"""
LIZARDS = """height,diameter,sun,time,grahami,total
tall,narrow,sunny,early,20,22
tall,narrow,sunny,midday,8,9
tall,narrow,shady,late,4,4
short,wide,sunny,early,3,3
short,wide,shady,midday,1,1
short,narrow,shady,late,6,8
tall,wide,sunny,late,9,13
"""
COUNTS = "dose,treated,visits\n1,0,0\n2,0,0\n3,0,0\n1,1,2\n2,1,0\n3,1,4\n"
TRIAL = """days,died,treated,age,centre
5,1,0,61,A
8,1,0,55,B
9,0,1,48,A
12,1,0,66,A
14,0,1,52,B
20,0,1,50,B
"""
PAIRS = "set,case,x,z\na,1,2,1\na,0,1,0\nb,1,3,0\nb,0,1,1\nc,1,2,0\nc,0,0,0\n"
GRADES = "x,grade\n0,low\n0,mid\n0,high\n0,mid\n1,high\n1,high\n"
WINS = "A,B,C\n0,1,2\n0,0,1\n0,0,0\n"


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "vertex": VERTEX, "colours": COLOURS, "lizards": LIZARDS, "counts": COUNTS,
        "trial": TRIAL, "pairs": PAIRS, "wins": WINS, "grades": GRADES,
    }.items():  # fmt: skip
        Path(f"{name}.csv").write_text(text)


def report(*words: str | Path, code: int = 0) -> Any:
    done = inside("separation", *words, "--format", "json")
    assert done.code == code
    jsonschema.validate(done.json, SCHEMA)
    return done.json


def fates(body: Any) -> dict[str, str]:
    return {own["name"]: own["estimate"] for own in body["coefficients"]}


def test_the_report_of_endometrial() -> None:
    """Heinze and Schemper (2002): NV is infinite."""
    done = inside("separation", ENDOMETRIAL, "--outcome", "HG")
    assert (done.code, done.err) == (0, "")
    first, data, model, rows, cause, *table = done.out.splitlines()
    assert first == "verdict     quasi-complete separation, proved: no finite estimates exist"
    assert data.endswith("endometrial.csv · 79 rows · outcome HG")
    assert model == "model       binomial, logit link · 79 observations · 4 coefficients"
    assert rows == (
        "separated   13 of 79 observations: rows 22, 23, 24, 25, 26, 48, 49, 50, 51, 71, 75, 76 … "
        "and 1 more (counted from 1, without the header)"
    )
    assert cause == "cause       finite estimates exist without the column NV"
    assert table[:4] == [
        "estimates   (intercept)  finite",
        "            NV           +∞",
        "            PI           finite",
        "            EH           finite",
    ]
    advice = "\n".join(table[4:])
    assert advice.startswith("advice      – Firth's penalised likelihood")
    for part in (
        "FirthLogisticRegression of firthmodels", "logistf", "brglm2", "exlogistic",
        "with (intercept), PI and EH only", "interval of NV has a finite lower end",
        "Do not simply leave out NV",
    ):  # fmt: skip
        assert part in advice


def test_the_json_of_endometrial() -> None:
    body = report(ENDOMETRIAL, "--outcome", "HG")
    assert (body["kind"], body["exists"]) == ("quasi-complete separation", False)
    assert fates(body) == {"(intercept)": "finite", "NV": "+inf", "PI": "finite", "EH": "finite"}
    with ENDOMETRIAL.open() as file:
        rows = list(csv.DictReader(file))
    wanted = [k for k, row in enumerate(rows, 1) if row["NV"] == "1"]
    assert body["separated"] == {"count": 13, "rows": wanted, "ids": None}
    assert body["responsible_columns"] == ["NV"]
    assert body["direction"]["NV"] == 1.0
    assert len(body["advice"]) == 5


QUESTIONS: list[tuple[list[str], str, dict[str, str]]] = [
    (["vertex.csv", "--outcome", "y"], "quasi-complete separation",
     {"(intercept)": "finite", "x1": "-inf", "x2": "+inf"}),
    (["colours.csv", "--outcome", "died", "--weights", "w"], "complete separation",
     {"(intercept)": "-inf", "colour=blue": "reference", "colour=green": "either sign",
      "colour=red": "-inf", "age": "+inf"}),
    (["colours.csv", "--outcome", "died", "--weights", "w", "--reference", "colour=red",
      "--reference", "died=yes"], "complete separation",
     {"(intercept)": "+inf", "colour=red": "reference", "colour=blue": "-inf",
      "colour=green": "-inf", "age": "-inf"}),
    (["counts.csv", "--outcome", "visits", "--family", "poisson"], "quasi-complete separation",
     {"(intercept)": "-inf", "dose": "finite", "treated": "+inf"}),
    (["counts.csv", "--outcome", "visits", "--family", "poisson", "--no-intercept", "--features",
      "dose"], "overlap", {"dose": "finite"}),
    (["lizards.csv", "--outcome", "grahami", "--trials", "total", "--features", "height,sun"],
     "overlap", {"(intercept)": "finite", "height=short": "reference", "height=tall": "finite",
                 "sun=shady": "reference", "sun=sunny": "finite"}),
    (["trial.csv", "--family", "cox", "--duration", "days", "--event", "died", "--features",
      "treated"], "quasi-complete separation", {"treated": "-inf"}),
    (["pairs.csv", "--family", "conditional-logit", "--outcome", "case", "--groups", "set",
      "--features", "x"], "complete separation", {"x": "+inf"}),
    (["colours.csv", "--formula", "died ~ C(colour) + age", "--weights", "w"],
     "complete separation",
     {"Intercept": "-inf", "C(colour)[T.green]": "either sign", "C(colour)[T.red]": "-inf",
      "age": "+inf"}),
    (["colours.csv", "--outcome", "died", "--formula", "C(colour) + age", "--weights", "w"],
     "complete separation",
     {"Intercept": "-inf", "C(colour)[T.green]": "either sign", "C(colour)[T.red]": "-inf",
      "age": "+inf"}),
    (["colours.csv", "--outcome", "died", "--formula", "died ~ age", "--weights", "w",
      "--reference", "died=yes"], "overlap", {"Intercept": "finite", "age": "finite"}),
    (["grades.csv", "--family", "cumulative", "--outcome", "grade", "--levels", "low,mid,high",
      "--formula", "~ x"], "quasi-complete separation",
     {"low|mid": "finite", "mid|high": "finite", "x": "+inf"}),
    (["grades.csv", "--family", "cumulative", "--outcome", "grade", "--levels", "low,mid,high"],
     "quasi-complete separation",
     {"low|mid": "finite", "mid|high": "finite", "x": "+inf"}),
    (["trial.csv", "--family", "cox", "--formula", "days ~ treated", "--event", "died"],
     "quasi-complete separation", {"treated": "-inf"}),
    (["wins.csv", "--family", "bradley-terry", "--reference", "wins=B"], "complete separation",
     {"A": "+inf", "B": "reference", "C": "-inf"}),
]  # fmt: skip


@pytest.mark.parametrize(("words", "kind", "estimates"), QUESTIONS, ids=lambda part: str(part)[:40])
def test_models(words: list[str], kind: str, estimates: dict[str, str]) -> None:
    """Small enough to decide by hand."""
    body = report(*words)
    assert body["kind"] == kind
    assert fates(body) == estimates
    told = inside("separation", *words).out
    assert told.startswith(f"verdict     {kind}, proved: ")
    assert ("no finite estimates exist" in told.splitlines()[0]) == (body["exists"] is False)
    for name, estimate in estimates.items():
        sign = {"+inf": "+∞", "-inf": "−∞", "either sign": "infinite, either sign",
                "reference": "reference level"}.get(estimate, estimate)  # fmt: skip
        assert any(line.split()[-len(sign.split()) - 1 :] == [name, *sign.split()]
                   for line in told.splitlines())  # fmt: skip


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["counts.csv", "--outcome", "visits", "--family", "poisson"], "brglm_fit"),
        (["trial.csv", "--family", "cox", "--duration", "days", "--event", "died"], "coxphf"),
        (["pairs.csv", "--family", "conditional-logit", "--outcome", "case", "--groups", "set"],
         "ConditionalLogit"),
        (["wins.csv", "--family", "bradley-terry"], "BradleyTerry2"),
        (["colours.csv", "--outcome", "died"], "Merge levels of the factor colour"),
    ],
)  # fmt: skip
def test_the_advice_is_about_this_model(words: list[str], part: str) -> None:
    assert any(part in remedy for remedy in report(*words)["advice"])


def test_overlap_needs_no_advice() -> None:
    body = report("counts.csv", "--outcome", "visits", "--family", "poisson", "--features", "dose")
    assert body["exists"] is True
    assert (body["advice"], body["separated"]["count"], body["responsible_columns"]) == ([], 0, [])


def test_aliased_columns_do_not_hide_infinite_estimates() -> None:
    rows = [line.split(",") for line in VERTEX.split()]
    Path("twice.csv").write_text(
        "\n".join(",".join([*row[:2], "x3" if k == 0 else str(2 * int(row[1])), row[2]])
                  for k, row in enumerate(rows))
    )  # fmt: skip
    done = inside("separation", "twice.csv", "--outcome", "y")
    assert "no finite estimates exist" in done.out.splitlines()[0]
    assert "x2           +∞" in done.out
    assert "x3           aliased" in done.out
    assert "without the aliased columns" in done.out


def test_long_tables_are_folded() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (400, 30)), rng.integers(0, 2, 400)
    X[:, 7] = y
    names = ",".join(f"x{j}" for j in range(30))
    lines = [
        names + ",y",
        *(",".join(map(str, [*row, own])) for row, own in zip(X, y, strict=True)),
    ]
    Path("wide.csv").write_text("\n".join(lines))
    done = inside("separation", "wide.csv", "--outcome", "y")
    table = done.out.split("\nestimates")[1].split("\nadvice")[0]
    assert "x7" in table
    assert len(table.splitlines()) <= 26
    assert len(report("wide.csv", "--outcome", "y")["coefficients"]) == 31


@pytest.mark.parametrize(
    ("require", "code"), [("overlap", 1), ("complete", 1), ("quasi-complete", 0)]
)
def test_a_gate_for_pipelines(require: str, code: int) -> None:
    done = inside("separation", "vertex.csv", "--outcome", "y", "--require", require)
    assert done.code == code
    wanted = separation._KINDS_BY_WORD[require]
    said = f"novikoff: the verdict is quasi-complete separation, not {wanted}"
    assert done.err.startswith(said) == (code == 1)
    assert done.out.startswith("verdict")


def test_undecided_has_its_own_exit_code() -> None:
    body = report("vertex.csv", "--outcome", "y", "--budget", "1e-9", code=3)
    assert body["kind"] == "undecided"
    assert body["exists"] is not True
    done = inside("separation", "vertex.csv", "--outcome", "y", "--budget", "1e-9")
    first = "undecided: " if body["exists"] is None else "complete or quasi-complete separation"
    assert done.out.startswith(f"verdict     {first}")
    assert "larger budget" in done.out


def test_rows_have_a_column_separated() -> None:
    words = ["colours.csv", "--outcome", "died", "--weights", "w", "--rows", "rows.csv"]
    done = inside("separation", *words)
    assert done.line("rows") == "rows.csv"
    with Path("rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [*rows[0]] == ["row", "died", "separated"]
    assert [row["row"] for row in rows] == [str(k) for k in range(1, 8)]
    assert [row["separated"] for row in rows] == ["1", "1", "1", "1", "1", "", "1"]
    refused(inside("separation", *words), "rows.csv", "--force")
    assert inside("separation", *words, "--force").code == 0


def test_rows_with_missing_values() -> None:
    Path("gaps.csv").write_text(VERTEX + ",1,1\n2,0,0\n")
    refused(inside("separation", "gaps.csv", "--outcome", "y"), "row 5", '"x1"', "--missing drop")
    done = inside("separation", "gaps.csv", "--outcome", "y", "--missing", "drop")
    assert "1 row with missing values dropped (row 5)" in done.out
    assert "rows 2, 4, 6 (counted from 1" in done.out


def test_ids_and_groups_name_the_rows() -> None:
    Path("named.csv").write_text(
        "\n".join(f"{name},{line}" for name, line in
                  zip(["who", "Ann", "Bob", "Cy", "Di"], VERTEX.split(), strict=True))
    )  # fmt: skip
    words = ["named.csv", "--outcome", "y", "--id", "who"]
    assert (
        inside("separation", *words)
        .line("separated")
        .split(": ")[1]
        .startswith("rows 2 (Bob), 4 (Di)")
    )
    assert report(*words)["separated"]["ids"] == ["Bob", "Di"]
    body = report("pairs.csv", "--family", "conditional-logit", "--outcome", "case", "--groups",
                  "set", "--features", "x")  # fmt: skip
    assert set(body["separated"]["ids"]) == {"a", "b", "c"}


FORMATS = ["npz", "npy", "parquet", "arrow", "jsonl", "svmlight", "csv.gz"]


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_read(form: str) -> None:
    """The same rows in each format have the same answer."""
    table = np.array([[0, 0, 0], [3, 1, 1], [0, 0, 1], [1, 0, 0]], dtype=np.float64)
    path, outcome = f"t.{form}", ["--outcome", "y"]
    if form == "npz":
        np.savez(path, X=table[:, :2], y=table[:, 2])
        outcome = []
    elif form == "npy":
        np.save(path, table)
        outcome = ["--outcome", "x3"]
    elif form in ("parquet", "arrow"):
        import pyarrow as pa
        import pyarrow.feather as feather
        import pyarrow.parquet as parquet

        columns = pa.table({name: table[:, j] for j, name in enumerate(["x1", "x2", "y"])})
        write = parquet.write_table if form == "parquet" else feather.write_feather
        write(columns, path)
    elif form == "jsonl":
        keys = ["x1", "x2", "y"]
        lines = [json.dumps(dict(zip(keys, row, strict=True))) for row in table.tolist()]
        Path(path).write_text("\n".join(lines))
    elif form == "svmlight":
        Path(path).write_text("0\n1 1:3 2:1\n1\n0 1:1\n")
        outcome = []
    else:
        import gzip

        Path(path).write_bytes(gzip.compress(VERTEX.encode()))
    body = report(path, *outcome)
    assert [*fates(body).values()] == ["finite", "-inf", "+inf"]
    assert body["separated"]["rows"] == [2, 4]


WRONG: list[tuple[list[str], list[str]]] = [
    (["vertex.csv"], ["--outcome", '"x1", "x2", "y"']),
    (["vertex.csv", "--outcome", "Y"], ['no column "Y"', 'did you mean "y"?']),
    (["none.csv", "--outcome", "y"], ["none.csv"]),
    (["vertex.csv", "--outcome", "y", "--family", "logit"], ["Did you mean 'binomial'?"]),
    (["vertex.csv", "--outcome", "y", "--family", "weibull"],
     ["free scale", "inequalities do not decide"]),
    (["vertex.csv", "--outcome", "y", "--link", "identity"], ["links of the family", "logit"]),
    (["vertex.csv", "--outcome", "y", "--family", "poisson", "--trials", "x2"],
     ["trials", "does not apply"]),
    (["vertex.csv", "--outcome", "y", "--weights", "z"], ['no column "z" (--weights)']),
    (["colours.csv", "--outcome", "died", "--weights", "colour"],
     ['column "colour" (--weights) holds text, such as "blue"']),
    (["colours.csv", "--outcome", "died", "--family", "poisson"],
     ['row 1, column "died" holds "no", which is not a number']),
    (["colours.csv", "--outcome", "died", "--reference", "colour=pink"],
     ["'pink' is not a level of 'colour'"]),
    (["colours.csv", "--outcome", "died", "--reference", "died=maybe"],
     ['the outcome "died" is never "maybe"']),
    (["colours.csv", "--outcome", "died", "--reference", "age=31"],
     ['column "age" (--reference) is not a factor', "--factors age"]),
    (["colours.csv", "--outcome", "age"], ['column "age" (--outcome) has 7 classes', "cumulative"]),
    (["grades.csv", "--family", "cumulative", "--outcome", "grade", "--levels", "low,mid"],
     ['--levels lacks "high", a category of column "grade"']),
    (["grades.csv", "--family", "cumulative", "--outcome", "grade"],
     ['column "grade" (--outcome) is text', "--levels high,low,mid"]),
    (["vertex.csv", "--formula", "y ~ z"], ['no column "z"']),
    (["vertex.csv", "--formula", "y ~ ("], ["The formula 'y ~ (' cannot be read"]),
    (["lizards.csv", "--outcome", "total", "--trials", "grahami"],
     ['column "total" (--outcome) is larger than trials in row 1']),
    (["trial.csv", "--family", "cox", "--duration", "days", "--event", "age"],
     ['column "age" (--event) is not 0 or 1 in row 1', "Censored rows have 0"]),
    (["trial.csv", "--family", "cox", "--duration", "centre"],
     ['row 1, column "centre" holds "A", which is not a number']),
    (["trial.csv", "--family", "cox", "--duration", "days", "--entry", "age"],
     ['column "age" (--entry) is not before duration in row 1']),
    (["pairs.csv", "--family", "choice", "--outcome", "x", "--groups", "set"],
     ['column "x" (--outcome) is not 0 or 1 in row 1']),
    (["vertex.csv", "--outcome", "y", "--factors", "q"], ['no column "q" (--factors)']),
    (["vertex.csv", "--outcome", "y", "--features", "x1", "--factors", "x2"],
     ['column "x2" (--factors) is not among']),
    (["vertex.csv", "--outcome", "y", "--features", "x1", "--weights", "q"],
     ['no column "q" (--weights)']),
    (["vertex.csv", "--outcome", "y", "--features", "q"], ['no column "q" (--features)']),
    (["vertex.csv", "--outcome", "y", "--drop", "y"], ["both by --outcome and by --drop"]),
    (["trial.csv", "--family", "cox", "--duration", "days", "--drop", "days"],
     ["both by --duration and by --drop"]),
    (["pairs.csv", "--family", "choice", "--outcome", "x", "--groups", "q"],
     ['no column "q" (--groups)']),
    (["vertex.csv", "--formula", "y ~ x1 + q"], ['no column "q" (--formula)']),
    (["vertex.csv", "--formula", "y ~ "], ["The formula 'y ~ ' has no covariates"]),
    (["vertex.csv", "--formula", "x1"], ["The formula 'x1' has no outcome: name it first"]),
    (["wins.csv", "--family", "bradley-terry", "--reference", "B=1"],
     ["--reference B=1: with bradley-terry, write --reference wins=NAME", "A, B, C"]),
]  # fmt: skip


@pytest.mark.parametrize(("words", "parts"), WRONG, ids=lambda part: " ".join(part)[:50])
def test_errors_name_the_column_and_the_remedy(words: list[str], parts: list[str]) -> None:
    refused(inside("separation", *words), *parts)


def test_errors_advise_choices_that_the_command_has() -> None:
    Path("missing.csv").write_text("x,y\n1,0\n,1\n3,1\n")
    done = inside("separation", "missing.csv", "--outcome", "y")
    refused(done, "--missing drop")
    assert "mean" not in done.err


def test_categories_that_only_rows_of_weight_0_have_are_left_out() -> None:
    """Without them, the model of the other rows has finite estimates."""
    Path("g.csv").write_text("x,g,w\n0,low,1\n1,low,1\n0,mid,1\n1,mid,1\n2,high,0\n")
    options = ["--outcome", "g", "--weights", "w", "--family"]
    body = report("g.csv", *options, "cumulative", "--levels", "low,mid,high")
    assert fates(body) == {"low|mid": "finite", "x": "finite"}
    assert "classes of y that do not occur are left out" in body["data"]["notes"]
    body = report("g.csv", *options, "multinomial")
    assert "classes of y that only occur in rows left out: high" in body["data"]["notes"]


def test_the_table_of_rows_is_as_the_help_says() -> None:
    Path("w.csv").write_text("x,y,w\n1,0,1\n2,1,0\n,1,1\n4,1,1\n1,1,1\n")
    words = ["--outcome", "y", "--weights", "w", "--missing", "drop", "--rows", "rows.csv"]
    assert inside("separation", "w.csv", *words).code == 0
    rows = [*csv.DictReader(Path("rows.csv").read_text().splitlines())]
    assert [(row["row"], row["separated"]) for row in rows] == [
        ("1", "0"), ("2", ""), ("4", "1"), ("5", "0"),
    ]  # fmt: skip
    told = " ".join(inside("separation", "--help").out.split())
    assert "1 for separated rows, 0 for others, empty for rows of weight 0" in told


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--family", "cox", "--outcome", "died"], "--outcome does not apply to --family cox"),
        (["--family", "cox"], "--family cox needs --duration"),
        (["--family", "choice", "--outcome", "died"], "--family choice needs --groups"),
        (["--outcome", "died", "--weights", "died"], "--outcome and --weights name the same"),
        (["--formula", "died ~ age", "--outcome", "age"], "a --formula that has another outcome"),
        (["--formula", "died ~ age", "--features", "age"], "cannot be used with --formula"),
        (["--outcome", "died", "--levels", "0,1"], "--levels is for cumulative"),
        (["--outcome", "died", "--reference", "centre"], "must be COLUMN=LEVEL"),
        (["--family", "bradley-terry", "--outcome", "died"], "FILE is the table of wins"),
    ],
)
def test_impossible_options_are_usage_errors(words: list[str], part: str) -> None:
    done = inside("separation", "trial.csv", *words)
    assert (done.code, done.out) == (2, "")
    assert part in done.err


@pytest.mark.parametrize(("words", "kind", "estimates"), QUESTIONS, ids=lambda part: str(part)[:40])
def test_certificates_are_verified(words: list[str], kind: str, estimates: dict[str, str]) -> None:
    done = inside("separation", *words, "--certificate", "proof.json")
    assert done.line("certificate") == "proof.json"
    checked = inside("verify", "proof.json", words[0])
    assert (checked.code, checked.err) == (0, "")
    exists = "finite estimates exist" if kind == "overlap" else "no finite estimates exist"
    assert checked.out.rstrip().endswith(f"so that {exists}")


def test_a_certificate_of_other_data_does_not_hold() -> None:
    inside("separation", "vertex.csv", "--outcome", "y", "--certificate", "proof.json")
    Path("vertex.csv").write_text(VERTEX.replace("1,0,0", "1,0,1"))
    done = inside("verify", "proof.json", "vertex.csv")
    refused(done, "other data", code=1)


def test_a_forged_certificate_does_not_hold() -> None:
    """With a bias, a plane separates any rows of one class, which proves nothing here."""
    import novikoff as nv
    from novikoff.formats import certificate_file

    Path("half.csv").write_text("x,y\n0,0\n1,1\n0,1\n1,0\n")
    inside("separation", "half.csv", "--outcome", "y", "--certificate", "proof.json")
    proofs = certificate_file.read_proofs("proof.json")
    rows = np.array([[-1, 0], [1, 1], [1, 0], [-1, -1]], dtype=np.float64)
    forged = nv.separate(rows, np.ones(4, dtype=int)).certificate
    assert forged is not None
    assert forged.kind == "separable"
    text = certificate_file.dump_proofs([forged], proofs.data, proofs.preprocessing).text
    Path("forged.json").write_text(text)
    refused(inside("verify", "forged.json", "half.csv"), "not about the inequalities", code=1)


def test_a_log_link_whose_likelihood_is_0_is_rejected_by_every_command() -> None:
    import novikoff as nv
    from novikoff.formats import certificate_file

    Path("half.csv").write_text("x,y\n1,0\n-1,0\n1,1\n")
    words = ["separation", "half.csv", "--outcome", "y", "--link", "log"]
    parts = ["half.csv", "the likelihood is 0 for all coefficients", "row 1", "Add an intercept"]
    refused(inside(*words, "--no-intercept", "--certificate", "proof.json"), *parts)
    assert inside(*words, "--certificate", "proof.json").code == 0
    proofs = certificate_file.read_proofs("proof.json")
    # The inequalities have no solution, as if finite estimates existed.
    proof = nv.separate([[-1.0], [1.0], [1.0], [-1.0]], [1, 1, 1, 1], fit_intercept=False)
    assert proof.certificate is not None
    model: Any = proofs.data["model"]
    data = {**proofs.data, "model": {**model, "fit_intercept": False}}
    text = certificate_file.dump_proofs([proof.certificate], data, proofs.preprocessing).text
    Path("forged.json").write_text(text)
    refused(inside("verify", "forged.json", "half.csv"), *parts)


@pytest.mark.parametrize("form", ["text", "json", "html"])
def test_the_report_goes_to_a_file(form: str) -> None:
    words = ["separation", "vertex.csv", "--outcome", "y", "--format", form]
    printed = inside(*words).out
    done = inside(*words, "--out", "report")
    assert (done.code, done.out) == (0, "")
    written = Path("report").read_text()
    if form == "text":
        assert written == printed
    refused(inside(*words, "--out", "report"), "report", "--force")
    refused(inside(*words, "--out", "vertex.csv", "--force"), "vertex.csv")


def test_the_html_page_names_the_cause_and_what_can_be_done() -> None:
    page = inside("separation", "colours.csv", "--outcome", "died", "--format", "html").out
    assert page.startswith("<!DOCTYPE html>")
    for part in ("complete separation", "no finite estimates exist.", "colour=green",
                 "reference level", "What can be done", "FirthLogisticRegression"):  # fmt: skip
        assert part in page
    assert "http://" not in page.replace('xmlns="http://', "")


def test_standard_input() -> None:
    done = inside("separation", "-", "--outcome", "y", stdin=VERTEX.encode())
    assert done.code == 0
    assert "x1           −∞" in done.out


def test_on_a_terminal() -> None:
    code, out, _ = on_terminal(["separation", "vertex.csv", "--outcome", "y"], COLUMNS="80")
    assert code == 0
    assert "quasi-complete separation" in out
    assert max(map(len, out.splitlines())) <= 130  # with the codes of colours


def test_nothing_is_compiled_for_a_small_file(tmp_path: Path) -> None:
    """The caches of compiled loops stay empty."""
    cache = tmp_path / "numba"
    done = script("separation", "vertex.csv", "--outcome", "y", cwd=tmp_path,
                  NUMBA_CACHE_DIR=str(cache))  # fmt: skip
    assert done.code == 0
    assert [*cache.rglob("*.nbc")] == []


def test_names_that_are_written_down_again() -> None:
    assert [*FAMILIES] == separation._FAMILIES
    families = SCHEMA["properties"]["model"]["properties"]["family"]["enum"]
    assert families == [*FAMILIES]
    links = {link for family in FAMILIES.values() for link in family.links}
    assert set(SCHEMA["properties"]["model"]["properties"]["link"]["enum"]) == {*links, None}

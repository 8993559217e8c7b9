"""``novikoff fit`` and ``verify`` give the same answers with ``--cluster`` as without."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("distributed", reason="Dask is not installed")

from distributed import Client

import novikoff as nv
from novikoff.data.on_disk import fits
from tests.cases import case_named
from tests.cli.conftest import Result, inside
from tests.cluster.cases import data, write_folder

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((resources.files("novikoff.report") / "report.schema.json").read_text())


def done_well(*words: str | Path) -> Result:
    done = inside(*words)
    assert done.code == 0, done.said
    return done


def report(folder: Path, *words: str | Path) -> Any:
    """The report as JSON, after a check against its schema."""
    more = "--label", "kind", "--format", "json", "--out", folder.parent, "--force"
    found = done_well("fit", folder, *more, *words).json
    jsonschema.validate(found, SCHEMA)
    return found


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("separable", ()),
        ("separable", ("--positive", "down")),
        ("quasi-separable", ()),
        ("inseparable", ("--positive", "down")),
    ],
)
def test_the_report_is_that_of_memory_but_for_single_rows(
    kind: str, words: tuple[str, ...], client: Client, tmp_path: Path
) -> None:
    where = "--cluster", client.scheduler.address
    folder = write_folder(tmp_path / kind, *data(kind, n=120), 3)
    here, there = report(folder, *words), report(folder, *words, *where)
    assert there["data"].pop("notes") == ["the rows are in 3 files"]
    assert here["data"].pop("notes") == []
    assert here["data"] == there["data"]
    (own,), (case,) = here["verdict"]["cases"], there["verdict"]["cases"]
    assert case["separated"]["count"] == own["separated"]["count"]
    assert (case["scaled"], case["logistic"], case["aliased"]) == (None, None, None)
    unknown = {"scaled", "logistic", "aliased", "separated", "responsible_columns"}
    for name in set(own) - unknown:
        if kind != "quasi-separable" or not name.startswith("errors"):  # of all rows at once
            assert case[name] == own[name], name
    assert there["model"]["rule"] == here["model"]["rule"]
    assert [there[name] for name in ("perceptron", "duplicates", "estimate")] == [None] * 3
    assert there["model"]["wrong"] is None
    if kind == "separable":
        assert there["model"]["margins"] == here["model"]["margins"]
        assert there["model"]["confusion"] == here["model"]["confusion"]
    done_well("verify", tmp_path / f"{kind}.cert.json", folder)


def test_fit_on_a_cluster_then_verify_without_one(client: Client, tmp_path: Path) -> None:
    """The folder is larger than the room for data: 700 MB of memory minus 400 for the program."""
    X, y = data("separable", n=60_000)
    X = np.hstack([X, np.random.default_rng(0).normal(size=(len(X), 32))])
    folder = write_folder(tmp_path / "big", X, y, 6)
    assert not fits(folder, "700MB")
    where = "--cluster", client.scheduler.address
    done = done_well("fit", folder, "--label", "kind", *where, "--out", tmp_path)
    assert "separable (complete separation), proved" in done.out
    assert "label       kind: up (+, " in done.out
    proof = tmp_path / "big.cert.json"
    checked = done_well("verify", proof, folder, "--max-memory", "700MB")
    assert "Separable (complete separation): a hyperplane with a bias" in checked.out
    done_well("verify", proof, folder, *where)
    other = inside("verify", proof, folder, *where, "--label", "kind", "--drop", "x9")
    assert "35 numbers, the data has 60000 × 34" in other.err
    model = nv.load(tmp_path / "big.novikoff")
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(35)])
    assert (model.predict(frame) == y).all()
    write_folder(folder, X + 1.0, y, 6)
    for options in ((), where):
        with case_named(options):
            refused = inside("verify", proof, folder, *options)
            assert refused.code != 0
            assert "other data" in refused.err


def test_workers_of_its_own(tmp_path: Path) -> None:
    X, y = data("inseparable")
    folder = write_folder(tmp_path / "small", X, y, 3)
    options = "--label", "kind", "--cluster", "local:2"
    done = done_well("fit", folder, *options, "--out", tmp_path)
    assert (
        done.line("mistakes") == "2 of 600 rows (0.3%); proved: no hyperplane misclassifies fewer"
    )
    assert done.line("conflict").startswith("rows 2, 214: no hyperplane")
    assert done.line("notes") == "rows are counted from 1, one file after the other"
    model = nv.load(tmp_path / "small.novikoff")
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(3)])
    assert isinstance(model, nv.Pocket)
    assert np.count_nonzero(model.predict(frame) != y) == model.n_errors_ == 2
    checked = inside("verify", tmp_path / "small.cert.json", folder)
    assert "Every hyperplane with a bias misclassifies at least 2 rows" in checked.out


def test_verify_on_a_cluster_says_what_it_read(client: Client, tmp_path: Path) -> None:
    X, y = data("separable")
    folder = write_folder(tmp_path / "rows", X, y, 2)
    where = "--cluster", client.scheduler.address
    done_well("fit", folder, "--label", "kind", "--drop", "x2", *where, "--out", tmp_path)
    proof = tmp_path / "rows.cert.json"
    for options in (where, ()):
        with case_named(options):
            done = done_well("verify", proof, folder, *options)
            assert "2 features · label kind\n" in done.out
            assert 'ignored: "x2"' in done.out
            assert "read as the certificate says" in done.out
    body = json.loads(proof.read_text(encoding="utf-8"))
    body["preprocessing"]["missing"] = "mean"
    body["preprocessing"]["columns"][0]["mean"] = 1e6
    proof.write_text(json.dumps(body), encoding="utf-8")
    refused = inside("verify", proof, folder, *where)
    assert refused.code == 2
    assert "--cluster cannot drop or replace missing values" in refused.err


def test_several_classes_are_as_separable_as_the_worst(client: Client, tmp_path: Path) -> None:
    X = np.arange(30.0)[:, None]
    folder = write_folder(tmp_path / "line", X, np.repeat(["a", "b", "c"], 10), 2)
    options = "--label", "kind", "--cluster", client.scheduler.address, "--out", tmp_path
    done = inside("fit", folder, *options, "--require", "separable")
    assert "the verdict is inseparable, not separable" in done.err
    assert done.code != 0
    proofs = inside("verify", tmp_path / "line.cert.json", folder).out
    assert "misclassifies at least 10 rows" in proofs
    page = done_well("fit", folder, *options, "--no-files", "--format", "html").out
    assert "Each class against the rest" in page
    assert "Pictures" not in page
    done_well("fit", folder, *options, "--positive", "a", "--force")
    told = inside("predict", tmp_path / "line.novikoff", folder, "--out", tmp_path / "told.csv")
    assert "0 of 30" in told.err


@pytest.mark.parametrize(
    ("source", "words", "complaint"),
    [
        ("data", "local:none", "needs a number"),
        ("data", "2", "local:2 starts workers on this machine"),
        ("data", "local:1 --cv 5", "--cv cannot be used with --cluster"),
        ("data", "local:1 --from csv", "--from cannot be used with --cluster"),
        ("data", "local:1 --no-header", "--no-header cannot be used with --cluster"),
        ("data", "local:1 --model perceptron", "--model perceptron cannot be used with"),
        ("data", "local:1 --scale none", "--scale cannot be used with --cluster"),
        ("data", "local:1 --epochs 2", "--epochs cannot be used with --cluster"),
        ("data.csv", "local:1", "is not a folder"),
    ],
)
def test_bad_questions(source: str, words: str, complaint: str, tmp_path: Path) -> None:
    write_folder(tmp_path / "data", *data("separable", n=20), 2)
    (tmp_path / "data.csv").write_text("a,y\n1,0\n2,1\n", encoding="utf-8")
    done = inside("fit", tmp_path / source, "--cluster", *words.split(), "--out", tmp_path)
    assert done.code == 2
    assert complaint in done.err
    assert "dashboard" not in done.said  # no worker was started


def test_dask_is_not_imported_without_need() -> None:
    code = "import sys, novikoff as nv; nv.separate([[0.0], [1.0]], [0, 1]); nv.cluster; "
    code += "import novikoff.cli.fit, novikoff.cli.verify; print('dask' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "False"

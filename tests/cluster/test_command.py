"""``novikoff fit`` and ``verify`` with ``--cluster``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("distributed", reason="Dask is not installed")

from distributed import Client

import novikoff as nv
from novikoff.data.on_disk import fits
from tests.cluster.cases import data, write_folder


def run(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "novikoff", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)  # noqa: S603


def test_fit_on_a_cluster_then_verify_without_one(client: Client, tmp_path: Path) -> None:
    """The folder is larger than ``--max-memory`` leaves room for: 700 MB, the program's own 400."""
    X, y = data("separable", n=60_000)
    X = np.hstack([X, np.random.default_rng(0).normal(size=(len(X), 32))])
    folder = write_folder(tmp_path / "big", X, y, 6)
    assert not fits(folder, "700MB")
    where = client.scheduler.address
    done = run("fit", folder, "--label", "kind", "--cluster", where, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "separable — proved" in done.stdout
    assert "label kind: up (+)  down (−)" in done.stdout
    proof = tmp_path / "big.cert.json"
    checked = run("verify", proof, folder, "--max-memory", "700MB")
    assert checked.returncode == 0, checked.stderr
    assert "Separable: a hyperplane with a bias" in checked.stdout
    again = run("verify", proof, folder, "--cluster", where)
    assert again.returncode == 0, again.stderr
    other = run("verify", proof, folder, "--cluster", where, "--label", "kind", "--drop", "x9")
    assert "35 numbers, the data has 60000 × 34" in other.stderr
    model = nv.load(tmp_path / "big.novikoff")
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(35)])
    assert (model.predict(frame) == y).all()
    write_folder(folder, X + 1.0, y, 6)
    for options in ([], ["--cluster", where]):
        refused = run("verify", proof, folder, *options)
        assert refused.returncode != 0
        assert "other data" in refused.stderr


def test_workers_of_its_own(tmp_path: Path) -> None:
    X, y = data("inseparable")
    folder = write_folder(tmp_path / "small", X, y, 3)
    options = ["--label", "kind", "--cluster", "local:2", "--format", "json"]
    done = run("fit", folder, *options, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)["verdicts"][0]
    assert (told["kind"], told["errors"], told["errors_lower_bound"]) == ("inseparable", 2, 2)
    model = nv.load(tmp_path / "small.novikoff")
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(3)])
    assert isinstance(model, nv.Pocket)
    assert np.count_nonzero(model.predict(frame) != y) == model.n_errors_ == 2
    checked = run("verify", tmp_path / "small.cert.json", folder)
    assert "Every hyperplane with a bias makes at least 2 mistakes" in checked.stdout


def test_several_classes_are_as_separable_as_the_worst(client: Client, tmp_path: Path) -> None:
    X = np.arange(30.0)[:, None]
    folder = write_folder(tmp_path / "line", X, np.repeat(["a", "b", "c"], 10), 2)
    options = ["--label", "kind", "--cluster", client.scheduler.address]
    done = run("fit", folder, *options, "--require", "separable", "--out", tmp_path)
    assert "the verdict is inseparable, not separable" in done.stderr
    assert done.returncode != 0
    assert (
        run("fit", folder, *options, "--positive", "a", "--out", tmp_path, "--force").returncode
        == 0
    )
    told = run("predict", tmp_path / "line.novikoff", folder, "--out", tmp_path / "told.csv").stderr
    assert "0 of 30" in told


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--cluster", "local:none"], "needs a number"),
        (["--cluster", "tcp://127.0.0.1:1"], "no scheduler at tcp://127.0.0.1:1"),
        (["--cluster", "2"], "for workers on this machine say local:2"),
        (["--cluster", "local:1", "--cv", "5"], "--cv is not known with --cluster"),
        (["--cluster", "local:1", "--from", "csv"], "--from is not known with --cluster"),
        (["--cluster", "local:1", "--no-header"], "--no-header is not known with --cluster"),
        (["--cluster", "local:1", "--model", "perceptron"], "--model perceptron is not known with"),
        (["--cluster", "local:1", "--scale", "none"], "--scale is not known with --cluster"),
        (["--cluster", "local:1", "--epochs", "2"], "--epochs is not known with --cluster"),
    ],
)
def test_bad_questions(options: list[str], complaint: str, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "data", *data("separable", n=20), 2)
    done = run("fit", folder, *options, "--out", tmp_path)
    assert done.returncode != 0
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr


def test_rows_are_counted_from_1_as_without_a_cluster(client: Client, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "data", *data("inseparable", n=200), 2)
    numbers = []
    for more in ([], ["--cluster", client.scheduler.address]):
        done = run("fit", folder, "--label", "kind", *more, "--out", tmp_path, "--force")
        assert done.returncode == 0, done.stderr
        lines = [line for line in done.stdout.splitlines() if line.startswith("contradict")]
        numbers.append([line.partition(" (")[0] for line in lines])
    assert numbers[0] == numbers[1] != []


def test_a_file_is_refused_before_workers_start(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a,y\n1,0\n2,1\n", encoding="utf-8")
    done = run("fit", path, "--cluster", "local:1", "--out", tmp_path)
    assert done.returncode == 2
    assert "is no folder" in done.stderr
    assert "dashboard" not in done.stderr


def test_dask_is_not_imported_without_need() -> None:
    code = "import sys, novikoff as nv; nv.separate([[0.0], [1.0]], [0, 1]); nv.cluster; "
    code += "import novikoff.cli.fit, novikoff.cli.verify; print('dask' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "False"

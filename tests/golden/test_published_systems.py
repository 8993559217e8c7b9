"""Systems that others published: decided as they say, with a proof that holds on the file."""

from __future__ import annotations

import csv
import json
import os
from fractions import Fraction
from pathlib import Path

import pytest

from novikoff.core.stops import Limits
from novikoff.systems.files.reading import read_model
from novikoff.systems.linear_program import optimise
from tests.cli.conftest import inside

SHARED = Path(os.environ.get("NOVIKOFF_DATA", Path(__file__).parents[3] / "shared/data")) / "lp"
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data/lp is not there")
FOLDERS = (
    "netlib-feasible",
    "netlib-infeasible",
    "classification-infeasible",
    "netlib-made-infeasible",
    "maxfs-random",
    "maxfs-discriminant",
)


def table(name: str) -> list[dict[str, str]]:
    with (SHARED / name).open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("folder", FOLDERS)
def test_decided_as_published_with_a_proof_that_holds(folder: str, tmp_path: Path) -> None:
    published = [row for row in table("index.csv") if row["file"].startswith(f"{folder}/")]
    assert published
    for row in published:
        path, proof = SHARED / row["file"], tmp_path / "proof.json"
        done = inside("solve", path, "--certificate", proof, "--force", "--format", "json")
        assert done.code == 0, done.err
        body = done.json
        assert body["kind"] == row["published_kind"], path
        held = inside("verify", proof, path)
        assert held.line("holds").lower().startswith(row["published_kind"]), held.err
        if body["kind"] == "infeasible":
            conflict = json.loads(done.out)["conflict"]["rows"]
            assert len(conflict) <= int(row["columns"]) + 1
            assert "no fewer" in held.out or len(conflict) == 1


def test_the_best_values_are_those_of_netlib() -> None:
    optima = {row["name"]: row["optimal_value_minimise"] for row in table("netlib_optima.csv")}
    for name in ("afiro", "sc50a", "sc50b", "kb2", "sc105", "recipe"):  # others take longer
        file = read_model(str(SHARED / "netlib-feasible" / f"{name}.mps.gz"))
        found = optimise(file.model, Limits())
        assert found.kind == "optimal"
        assert found.exact_value is not None
        printed = Fraction(optima[name])
        assert abs(found.exact_value - printed) <= abs(printed) * Fraction(1, 10**9), name
        assert found.value.lo <= found.exact_value <= found.value.hi

"""Published systems get the published answer, with a proof that holds for the file."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import pytest

from novikoff.core.stops import Limits
from novikoff.systems.files.reading import read_system
from novikoff.systems.linear_program import optimise
from tests.cli.conftest import inside
from tests.real_data import published_systems, real


def table(name: str) -> list[dict[str, str]]:
    with real(f"lp/{name}").open(newline="") as file:
        return list(csv.DictReader(file))


PUBLISHED = published_systems()


def test_the_larger_systems_are_compared_as_well() -> None:
    real("lp/maxfs-random/prob.20.80.100.0.lp.bz2")  # or the test is skipped, and says why
    assert len(PUBLISHED) == 104


@pytest.mark.parametrize("file", PUBLISHED)
def test_decided_as_published_with_a_proof_that_holds(file: str, tmp_path: Path) -> None:
    path, proof, published = real(file), tmp_path / "proof.json", PUBLISHED[file]
    done = inside("solve", path, "--certificate", proof, "--format", "json")
    assert done.code == 0, done.err
    body = done.json
    assert body["kind"] == published["published_kind"]
    held = inside("verify", proof, path)
    assert held.line("holds").lower().startswith(published["published_kind"]), held.err
    if body["kind"] == "infeasible":
        conflict = json.loads(done.out)["conflict"]["rows"]
        assert len(conflict) <= int(published["columns"]) + 1
        assert "no fewer" in held.out or len(conflict) == 1


@pytest.mark.parametrize("name", ["afiro", "sc50a", "sc50b", "kb2", "sc105", "recipe"])
def test_the_best_values_are_those_of_netlib(name: str) -> None:
    """The other systems of Netlib take longer."""
    optima = {row["name"]: row["optimal_value_minimise"] for row in table("netlib_optima.csv")}
    file = read_system(str(real(f"lp/netlib-feasible/{name}.mps.gz")))
    found = optimise(file.model, Limits())
    assert found.kind == "optimal"
    assert found.exact_value is not None
    printed = Fraction(optima[name])
    assert abs(found.exact_value - printed) <= abs(printed) * Fraction(1, 10**9)
    assert found.value.lo <= found.exact_value <= found.value.hi

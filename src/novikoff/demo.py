"""From nothing to three verdicts on real data: ``make demo`` runs this.

``python -m novikoff.demo [DIR]`` writes three small files and shows the two commands one needs:
``novikoff fit`` decides whether one linear rule gets every row right, and ``novikoff verify``
checks the proof.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

_STORIES = {
    "wine": "178 wines of three growers, 13 measurements each: is there a linear rule for Barolo?\n"
    "On standardised features the perceptron ends clean, under its bound R²/γ².",
    "endometrial": "79 patients (Heinze and Schemper 2002): quasi-separable. A logistic regression "
    "has no\nfinite estimate; the report names the weight that runs to infinity.",
    "iris": "Two species of iris, 50 flowers each: no linear rule gets all of them right. The "
    "report\nnames the rows that contradict each other, and the fewest mistakes possible.",
}


def main(folder: Path) -> None:
    """Write the files and run the commands on each."""
    folder.mkdir(parents=True, exist_ok=True)
    write_data(folder)
    for name, story in _STORIES.items():
        print(f"{story}\n", flush=True)
        data = folder / f"{name}.csv"
        words = ("--positive", "Barolo") if name == "wine" else ()
        _run("fit", data, *words, "--out", folder, "--force")
        _run("verify", folder / f"{name}.cert.json", data)


def write_data(folder: Path) -> None:
    """Write the three files: two of scikit-learn's sets, and one that comes with the package."""
    from sklearn.datasets import load_iris, load_wine

    wine, iris = load_wine(), load_iris()
    growers = [("Barolo", "Grignolino", "Barbera")[code] for code in wine.target.tolist()]
    _write(folder / "wine.csv", wine.feature_names, wine.data, growers, "wine")
    two = iris.target > 0
    species = iris.target_names[iris.target[two]].tolist()
    names = [name.removesuffix(" (cm)") for name in iris.feature_names]
    _write(folder / "iris.csv", names, iris.data[two], species, "species")
    text = (files("novikoff") / "endometrial.csv").read_text()
    (folder / "endometrial.csv").write_text(text)


def _write(
    path: Path, names: Iterable[str], rows: Iterable[object], labels: Sequence[str], label: str
) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(name.replace(" ", "_") for name in names), label])
        for row, value in zip(rows, labels, strict=True):
            writer.writerow([*row.tolist(), value])  # type: ignore[attr-defined]


def _run(command: str, *arguments: object) -> None:
    words = [command, *map(str, arguments)]
    print("$ novikoff", *words, flush=True)
    subprocess.run([sys.executable, "-m", "novikoff", *words], check=True)  # noqa: S603
    print(flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))

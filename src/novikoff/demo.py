"""A demonstration: verdicts on three small data sets. ``make demo`` runs it.

``python -m novikoff.demo [DIR]`` writes three small files and runs two commands on each:
``novikoff fit`` decides whether a linear rule classifies every row correctly, and
``novikoff verify`` checks the proof.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

_STORIES = {
    "wine": "178 wines of three growers, 13 measurements each: is there a linear rule for Barolo?\n"
    "On standardised features the perceptron ends clean, under its bound R²/γ².",
    "digits": "355 handwritten zeros and twos, of which only the bottom row of pixels is seen: "
    "quasi-separable.\nA logistic regression has no finite estimate; the report names the weights "
    "that run to infinity.",
    "iris": "Two species of iris, 50 flowers each: no linear rule gets all of them right. The "
    "report\nnames the rows that contradict each other, and the fewest mistakes possible.",
}


def main(folder: Path) -> None:
    """Write the three files, then run ``fit`` and ``verify`` on each."""
    folder.mkdir(parents=True, exist_ok=True)
    write_data(folder)
    for name, story in _STORIES.items():
        print(f"{story}\n", flush=True)
        data = folder / f"{name}.csv"
        words = ("--positive", "Barolo") if name == "wine" else ()
        _run("fit", data, *words, "--out", folder)
        _run("verify", folder / f"{name}.cert.json", data)


def write_data(folder: Path) -> None:
    """Write three CSV files with data sets of scikit-learn."""
    from sklearn.datasets import load_digits, load_iris, load_wine

    wine, digits, iris = load_wine(), load_digits(), load_iris()
    growers = [("Barolo", "Grignolino", "Barbera")[code] for code in wine.target.tolist()]
    _write_table(folder / "wine.csv", wine.feature_names, wine.data, growers, "wine")
    either = (digits.target == 0) | (digits.target == 2)
    pixels = [f"pixel_{j}" for j in range(1, 9)]
    figures = [("zero", "", "two")[code] for code in digits.target[either].tolist()]
    _write_table(folder / "digits.csv", pixels, digits.data[either][:, -8:], figures, "digit")
    two = iris.target > 0
    species = iris.target_names[iris.target[two]].tolist()
    names = [name.removesuffix(" (cm)") for name in iris.feature_names]
    _write_table(folder / "iris.csv", names, iris.data[two], species, "species")


def _write_table(
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

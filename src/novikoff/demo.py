"""From nothing to a verdict on real data: what ``make demo`` runs.

``python -m novikoff.demo [DIR]`` writes scikit-learn's breast cancer data (569 patients, 30
measurements each) to a CSV file and shows the two commands one needs: ``novikoff fit`` decides
whether one linear rule tells the tumours apart, and ``novikoff verify`` checks the proof.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path


def main(folder: Path) -> None:
    """Write the file and run both commands."""
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / "breast_cancer.csv"
    write_data(data)
    _run("fit", data, "--out", folder, "--force", "--cv", 5)
    _run("verify", folder / "breast_cancer.cert.json", data)


def write_data(path: Path) -> None:
    """Write scikit-learn's breast cancer data as a CSV file with a header."""
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    names = [name.replace(" ", "_") for name in bunch.feature_names.tolist()]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*names, "diagnosis"])
        for row, code in zip(bunch.data.tolist(), bunch.target.tolist(), strict=True):
            writer.writerow([*row, bunch.target_names[code]])


def _run(command: str, *arguments: object) -> None:
    words = [command, *map(str, arguments)]
    print("$ novikoff", *words, flush=True)
    if command == "fit":
        print("(the first run compiles for some 20 seconds)", file=sys.stderr, flush=True)
    subprocess.run([sys.executable, "-m", "novikoff", *words], check=True)  # noqa: S603
    print(flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))

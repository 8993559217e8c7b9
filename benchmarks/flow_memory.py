"""Data larger than the memory it may take: what the system counts, and the same answers."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

from benchmarks import flow_data, flow_peers
from benchmarks.measure import timed
from benchmarks.quality import Quality, judged, same_mistakes
from benchmarks.scale import Scale
from benchmarks.table import Row, figure
from novikoff.learners.perceptron import Perceptron
from novikoff.report.model_file import load

_WIDTH = 100
_LEARN = ("--order", "cyclic", "--epochs", "2")
_LIMIT = ("--max-memory", "1GB")
_MEGABYTES = 1_000.0


def flow_memory(scale: Scale, repeats: int) -> list[Row]:
    """Peak memory of ``novikoff fit --max-memory 1GB``, in megabytes; each job runs once."""
    rows = []
    with flow_data.folder() as folder:
        path = flow_data.csv(folder / f"{scale.large}-{_WIDTH}.csv", scale.large, _WIDTH)
        flow_peers.novikoff("fit", path, "--no-verdict", *_LEARN, "--out", folder, "--force")
        in_memory = _mistakes(path)
        for job in scale.large_jobs:
            seconds, peak = timed(partial(_fit, path, job))
            verdict = "verdict" in job
            quality = _proved(path) if verdict else same_mistakes(_mistakes(path), in_memory)
            name = f"memory of a fit, CSV of {path.stat().st_size / 1e9:.2g} GB, {job} (MB)"
            row = figure(name, [peak], _MEGABYTES, quality)
            row.details["seconds"] = seconds
            rows.append(row)
    return rows


def _fit(path: Path, job: str) -> float:
    """The megabytes of one job; a cache is filled anew."""
    cache = path.with_suffix(".cache")
    shutil.rmtree(cache, ignore_errors=True)
    verdict = () if "verdict" in job else ("--no-verdict",)
    cached = ("--cache", cache) if "cache" in job else ()
    return flow_peers.peak_memory(
        *("fit", path, *_LEARN, *_LIMIT, *verdict, *cached), *("--out", path.parent, "--force")
    )


def _mistakes(path: Path) -> int:
    """Those of the perceptron in the model file."""
    model = load(path.with_suffix(".novikoff"))
    if not isinstance(model, Perceptron):
        raise RuntimeError(f"The model of {path} is no perceptron.")
    return model.n_mistakes_


def _proved(path: Path) -> Quality:
    """Whether the certificate holds, by a look at every row."""
    text = flow_peers.novikoff("verify", path.with_suffix(".cert.json"), path, *_LIMIT)
    return judged("inseparable" in text, "proof verified")

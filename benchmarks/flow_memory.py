"""Data larger than the memory that may be used: what the system counts, and the same mistakes."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import flow_data, flow_peers
from benchmarks.quality import Quality, judged, same_mistakes
from benchmarks.scale import Scale
from benchmarks.table import Row, figure
from novikoff.report.model_file import load

_WIDTH = 100
_BYTES = 1_000  # of a row, about
_LEARN = ("--no-verdict", "--order", "cyclic", "--epochs", "2")
_DECIDE = ("--order", "cyclic", "--epochs", "2")


def flow_memory(scale: Scale, repeats: int) -> list[Row]:
    """Peak memory of ``novikoff fit --max-memory 1GB``, in megabytes."""
    return []

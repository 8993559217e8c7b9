"""The names that users choose from, where commands must know them without importing their owners.

This module imports nothing, so that ``--help`` and a usage error take no time. Every package may
import it. The tables that give a name its meaning are elsewhere; `tests/test_lists.py` checks that
they have these names.
"""

from __future__ import annotations

from typing import Final

# The orders of `novikoff.core.orders.BY_NAME`, in the order in which help and schema list them.
ORDERS: Final = (
    "cyclic",
    "fixed",
    "permuted",
    "blocks",
    "random",
    "max_distance",
    "max_residual",
)
# The pictures of `novikoff.report.pictures.CAPTIONS`.
PLOTS: Final = ("boundary", "margins", "mistakes", "proof")
# The formats of `novikoff.data.source.FILE_FORMATS`, and the endings of their files.
DATA_FORMATS: Final = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".arrows", ".ipc", ".feather"),
    "npy": (".npy",),
    "npz": (".npz",),
    "svmlight": (".svm", ".svmlight", ".libsvm"),
    "jsonl": (".jsonl", ".ndjson"),
}
# The formats of `novikoff.systems.files`, and the endings of their files.
SYSTEM_FORMATS: Final = {
    "csv": (".csv", ".tsv"),
    "mps": (".mps",),
    "lp": (".lp",),
    "npz": (".npz",),
}
# The families of models whose classes are ordered.
ORDERED_FAMILIES: Final = ("cumulative", "adjacent", "sequential")
# The solutions that `novikoff.systems.solve` finds.
POINTS: Final = ("any", "nearest", "interior", "chebyshev")
# What `novikoff.relax` minimises.
RELAXATIONS: Final = ("rows", "total", "max")
# The text of a conflict shows this many of its rows, unless it is asked for more.
ROWS_SHOWN: Final = 24
# "auto", and the methods of `novikoff.systems.methods.METHODS`.
METHOD_NAMES: Final = (
    "auto",
    "relaxation",
    "perceptron",
    "von_neumann",
    "smooth",
    "smooth_primal_dual",
    "rescaled",
    "dunagan_vempala",
    "projection_rescaling",
    "spingarn",
)

"""Data from files: tables, matrices and svmlight, read into arrays or refused in a sentence."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from novikoff.data.choices import Choices, Dataset
from novikoff.data.errors import DataError
from novikoff.data.readers import read
from novikoff.data.recipe import Recipe
from novikoff.data.svmlight import Svmlight, read_svmlight

if TYPE_CHECKING:
    from novikoff.data.chunks.blocks import CachedBlocks, FileBlocks, blocks

__all__ = [
    "CachedBlocks",
    "Choices",
    "DataError",
    "Dataset",
    "FileBlocks",
    "Recipe",
    "Svmlight",
    "blocks",
    "read",
    "read_svmlight",
]


def __getattr__(name: str) -> object:
    """Blocks need kernels, which take a while to load: not before they are asked for."""
    if name not in ("CachedBlocks", "FileBlocks", "blocks"):
        raise AttributeError(f"module 'novikoff.data' has no attribute {name!r}")
    value: object = getattr(import_module("novikoff.data.chunks.blocks"), name)
    globals()[name] = value
    return value

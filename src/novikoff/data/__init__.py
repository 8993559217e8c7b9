"""Data from files: tables, matrices and svmlight, read into arrays or refused in a sentence."""

from __future__ import annotations

from novikoff.data.errors import ChangedError, DataError
from novikoff.data.options import Dataset, Piece, Position, ReadOptions, StreamOptions, parse_size
from novikoff.data.reading import read
from novikoff.data.recipe import Recipe
from novikoff.data.stream import RowStream, open_stream, read_pieces

__all__ = [
    "ChangedError",
    "DataError",
    "Dataset",
    "Piece",
    "Position",
    "ReadOptions",
    "Recipe",
    "RowStream",
    "StreamOptions",
    "open_stream",
    "parse_size",
    "read",
    "read_pieces",
]

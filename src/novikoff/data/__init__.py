"""Data from files: tables, matrices and svmlight, read into arrays or refused in a sentence."""

from __future__ import annotations

from novikoff.data.errors import ChangedError, DataError
from novikoff.data.options import Dataset, Piece, Position, ReadOptions, StreamOptions, parse_size
from novikoff.data.pairs import Svmlight, read_svmlight
from novikoff.data.reading import PieceReader, read, read_pieces
from novikoff.data.recipe import Recipe
from novikoff.data.stream import RowStream, open_stream

__all__ = [
    "ChangedError",
    "DataError",
    "Dataset",
    "Piece",
    "PieceReader",
    "Position",
    "ReadOptions",
    "Recipe",
    "RowStream",
    "StreamOptions",
    "Svmlight",
    "open_stream",
    "parse_size",
    "read",
    "read_pieces",
    "read_svmlight",
]

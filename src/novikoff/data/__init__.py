"""Data from files: tables, matrices and svmlight become arrays, or an error says what is wrong.

`read` (module `reading`) opens a `source` of bytes and finds its format. The `reader` of the format
gives pieces of rows, and `read` joins the pieces, in memory or `on_disk`. `open_stream` (module
`stream`) gives the pieces as they arrive. The readers are `csv`, `arrow_files` and `numpy_files`,
which are `tables` with named columns, and `pairs` (svmlight) and `json_lines`, whose rows name
their features. The module `roles` decides which columns become features: `ReadOptions` says what a
user asks for, and a `Recipe`, which a model file keeps, says how to read other files in the same
way.
"""

from __future__ import annotations

from novikoff.data.options import ReadOptions, StreamOptions, parse_size
from novikoff.data.reader import Piece, Position
from novikoff.data.reading import Dataset, read
from novikoff.data.recipe import Recipe
from novikoff.data.stream import RowStream, open_stream, read_pieces
from novikoff.errors import ChangedError, DataError

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

"""Data from files: tables, matrices and svmlight, read into arrays or refused in a sentence.

`reading` joins the pieces of a `reader` into arrays, in memory or `on_disk`; `stream` hands them on
as they come. A `source` of bytes has one of the `formats`, each with its reader, which cuts what is
text into pieces, and leaves plain ones to the `kernels`: `csv`, `arrow_files` and `numpy_files` are
`tables`, whose `columns` have roles and whose gaps are `missing` values; `pairs` and `json_lines`
name the features of each row. `numbers` knows the meaning of a field, `cells` that of an Arrow
column, `advice` what to do about a column of text, `labels` what labels stand for. A `recipe` is
what a model keeps of all that.
"""

from __future__ import annotations

from novikoff.data.options import Dataset, Piece, Position, ReadOptions, StreamOptions, parse_size
from novikoff.data.reading import read
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

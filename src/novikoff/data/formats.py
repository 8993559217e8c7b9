"""The formats of data files, and how the format of a file is found."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import PurePath
from typing import Literal, NamedTuple, TypeAlias

from novikoff.errors import DataError

# Columns have names (table) or numbers (matrix), or each row names its features.
Family: TypeAlias = Literal["table", "matrix", "named"]


class FileFormat(NamedTuple):
    """A format: module and class of its reader, family, ends of file names, and first bytes.

    A text format has no first bytes (``magics``).
    """

    reader: str
    family: Family
    suffixes: tuple[str, ...]
    magics: tuple[bytes, ...] = ()


# A new format is a line here, and a `novikoff.data.reader.Reader`.
FILE_FORMATS = {
    "csv": FileFormat("csv.CsvTable", "table", (".csv",)),
    "tsv": FileFormat("csv.CsvTable", "table", (".tsv", ".tab")),
    "parquet": FileFormat("arrow_files.ArrowTable", "table", (".parquet", ".pq"), (b"PAR1",)),
    "arrow": FileFormat(
        "arrow_files.ArrowTable",
        "table",
        (".arrow", ".arrows", ".ipc", ".feather"),
        (b"ARROW1", b"\xff\xff\xff\xff"),
    ),
    "npy": FileFormat("numpy_files.NumpyTable", "table", (".npy",), (b"\x93NUMPY",)),
    "npz": FileFormat("numpy_files.NumpyTable", "matrix", (".npz",), (b"PK\x03\x04",)),
    "svmlight": FileFormat("pairs.PairRows", "matrix", (".svm", ".svmlight", ".libsvm")),
    "jsonl": FileFormat("json_lines.JsonRows", "named", (".jsonl", ".ndjson")),
}

_FOREIGN = {
    b"%PDF": "is a PDF, not a file of data",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "is an old Office document: save it as CSV",
}
_SVMLIGHT_LINE = re.compile(
    rb"(?:[ \t]*+(?:#[^\r\n]*+)?[\r\n])*+"  # blank lines and comments, without backtracking
    rb"[ \t]*+[-+.0-9eE]++(?:[ \t]++qid:\d++)?(?:[ \t]++\d++:[-+.0-9eE]++)++[ \t]*+"
    rb"(?:#[^\r\n]*+)?(?:[\r\n]|\Z)"
)
_JSON_LINE = re.compile(rb'[ \t\r\n]*\{[ \t]*"[^\r\n]*\}[ \t]*(?:[\r\n]|\Z)')
_WEB_PAGE = re.compile(rb"<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_JSON = re.compile(
    rb'\{\s*"(?:[^"\\]|\\.)*+"\s*:|\[\s*(?:[\[{]|[-0-9"][^\r\n]*\][ \t]*(?:[\r\n]|\Z))'
)


def find_format(name: str, head: bytes) -> str:
    """Return the format by a file's name, without .gz at its end, or else by its first bytes."""
    path = PurePath(name.lower())
    suffix = PurePath(path.stem).suffix if path.suffix == ".gz" else path.suffix
    by_name = next((name for name, known in FILE_FORMATS.items() if suffix in known.suffixes), None)
    by_content = "svmlight" if _SVMLIGHT_LINE.match(head) else "csv"
    if suffix != ".json" and _JSON_LINE.match(head):  # a .json file is usually a single value
        by_content = "jsonl"
    return by_name or find_magic(head) or by_content


def find_magic(head: bytes) -> str | None:
    """Return the binary format that begins with these bytes, or None."""
    return next(
        (name for name, known in FILE_FORMATS.items() if head.startswith(known.magics)), None
    )


def refuse_foreign(name: str, format: str, head: bytes, view: Callable[[], memoryview]) -> None:
    """Raise DataError if a file is known to be something else than data."""
    what = next((w for start, w in _FOREIGN.items() if head.startswith(start)), "")
    if head.startswith(b"PK\x03\x04"):  # an npz file is a zip archive that contains an array
        try:
            names = zipfile.ZipFile(io.BytesIO(view())).namelist()
        except Exception:  # zipfile may raise any error; the reader of npz files reports it
            names = [".npy"]
        if any(name.startswith("xl/") for name in names):
            what = "is an Excel workbook: save it as CSV"
        elif not any(name.endswith(".npy") for name in names):
            what = "is a zip archive: unpack it"
    elif not FILE_FORMATS[format].magics:
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if _WEB_PAGE.match(start):
            what = "is a web page, not a file of data"
        elif _JSON.match(start) and format != "jsonl":
            what = "is JSON, of which only JSON lines are read (one object a line, --from jsonl); "
            what += "jq -c '.[]' converts a list of objects to JSON lines"
    if what:
        raise DataError(f"{name} {what}.")

"""One door for all files of inequalities: open, unpack, decode, and hand over to the format.

The readers live beside `LinearSystem` because they make one. They share errors and the names of
sources with `novikoff.data`, but no parser: rows of a system are not rows of examples.
"""

from __future__ import annotations

import bz2
import gzip
import io
import sys
from pathlib import Path, PurePath
from typing import Final

from novikoff.data.errors import DataError, readable_errors
from novikoff.data.source import shown
from novikoff.systems.files.builder import MOST_UNPACKED, SystemFile
from novikoff.systems.files.csv import parse_csv
from novikoff.systems.files.lp import parse_lp
from novikoff.systems.files.mps import parse_mps
from novikoff.systems.files.npz import parse_npz

FORMATS: Final = {
    "csv": (".csv", ".tsv"),
    "mps": (".mps",),
    "lp": (".lp",),
    "npz": (".npz",),
}
_TEXTS: Final = {"csv": parse_csv, "mps": parse_mps, "lp": parse_lp}


def read_model(path: str, format: str | None = None) -> SystemFile:
    r"""Read a system from a file ("-": standard input), gzipped or bzipped or not.

    The end of its name says the format unless it is given. Decimals are exact: 0.1 is one tenth.
    DataError says in one sentence what is wrong, with line and field.

    Examples
    --------
    >>> import tempfile
    >>> text = "name,tea,bread,is,limit\nmoney,3,1.1,<=,20\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "diet.csv").write_text(text)
    ...     model = read_model(f"{folder}/diet.csv").model
    >>> model.variables, model.constraints[0].terms[1]
    (('tea', 'bread'), Fraction(11, 10))
    """
    name = shown(path)
    format = format or _format_of(path, name)
    content = _content(path, name)
    if not content or content.isspace():
        raise DataError(f"{name} is empty.")
    if format == "npz":
        return parse_npz(content, name)
    if format not in _TEXTS:  # of a certificate that was altered
        raise DataError(f"{name} cannot be read as {format[:20]}.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{name}, line {line:,}: this is not text in UTF-8.") from None
    return _TEXTS[format](text, name)


def _format_of(path: str, name: str) -> str:
    pure = PurePath(path.lower())
    suffix = PurePath(pure.stem).suffix if pure.suffix in (".gz", ".bz2") else pure.suffix
    for format, suffixes in FORMATS.items():
        if suffix in suffixes:
            return format
    what = "The standard input has no name" if path == "-" else f"{name} does not tell its format"
    raise DataError(
        f"{what}: files of inequalities end in .csv, .tsv, .mps, .lp or .npz; others need --from."
    )


def _content(path: str, name: str) -> bytes:
    with readable_errors(name):
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        packed = content[:3]
        if packed.startswith(b"\x1f\x8b"):
            content = gzip.GzipFile(fileobj=io.BytesIO(content)).read(MOST_UNPACKED + 1)
    if packed == b"BZh":
        try:
            content = bz2.BZ2File(io.BytesIO(content)).read(MOST_UNPACKED + 1)
        except (OSError, ValueError, EOFError):
            raise DataError(f"{name} is damaged: its bzip2 data cannot be unpacked.") from None
    if packed.startswith((b"\x1f\x8b", b"BZh")) and len(content) > MOST_UNPACKED:
        raise DataError(f"{name} holds more than 256 MiB: unpack it first, if that is meant.")
    return content

"""Files that are no data at all, or not as we read it: said in a sentence."""

from __future__ import annotations

import io
import json
import re
import zipfile

from novikoff.data.errors import DataError
from novikoff.data.source import Source

_HEAD = 1 << 20
_ZIP = b"PK\x03\x04"
_BY_START = (
    (b"%PDF", "is a PDF, not a file of data"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is an old Office document: save it as CSV"),
)
_WEB_PAGE = re.compile(r"<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_JSON = re.compile(r'\{\s*"(?:[^"\\]|\\.)*+"\s*:|\[\s*(?:\{\s*"|\[\s*[-0-9"\[{])')


def refuse_foreign(source: Source) -> None:
    """Raise DataError if a file is known for something else than rows of numbers."""
    head = bytes(source.view[:_HEAD])
    for start, what in _BY_START:
        if head.startswith(start):
            raise DataError(f"{source.name} {what}.")
    if head.startswith(_ZIP):
        _refuse_archive(source)
    elif source.format in ("csv", "tsv", "svmlight"):
        _refuse_markup(source, head)


def _refuse_archive(source: Source) -> None:
    """A zip file is npz if there is an array in it."""
    try:
        with zipfile.ZipFile(io.BytesIO(source.view)) as archive:
            names = archive.namelist()
    except Exception:  # whatever zipfile makes of arbitrary bytes; the reader of npz will say it
        return
    if any(name.startswith("xl/") for name in names):
        raise DataError(f"{source.name} is an Excel workbook: save it as CSV.")
    if not any(name.endswith(".npy") for name in names):
        raise DataError(f"{source.name} is a zip archive: unpack it.")


def _refuse_markup(source: Source, head: bytes) -> None:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith((b"<", b"{", b"[")):
        return
    text = start.decode(errors="replace")
    if _WEB_PAGE.match(text):
        raise DataError(f"{source.name} is a web page, not a file of data.")
    if text.startswith(("{", "[")) and (
        _JSON.match(text) or _is_json(text) or _is_json(text.splitlines()[0])
    ):
        raise DataError(f"{source.name} is JSON, which is not read: save it as CSV or Parquet.")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True

"""Reading files of inequalities: open, unpack and decode the file, then parse its format.

CSV, MPS and LP files become a `LinearSystem`, npz files become `Arrays`. The readers share error
messages and the names of sources with `novikoff.data`, but no parser: a row of a system is not a
row of examples.
"""

from __future__ import annotations

import bz2
import gzip
import io
import sys
import zipfile
from os import PathLike, fspath
from pathlib import Path, PurePath
from typing import Any, Final

import numpy as np

from novikoff.data.messages import listed, printable_name, quoted, readable_errors
from novikoff.errors import ArgumentError, DataError
from novikoff.names import SYSTEM_FORMATS
from novikoff.systems.files.csv import csv_system
from novikoff.systems.files.lp import lp_system
from novikoff.systems.files.mps import mps_system
from novikoff.systems.statement import stated_arrays
from novikoff.systems.system_model import SystemModel

_TEXT_PARSERS: Final = {"csv": csv_system, "mps": mps_system, "lp": lp_system}
_ARRAYS: Final = ("A", "c", "A_eq", "c_eq", "lower", "upper", "strict")
# A CSR matrix is stored as these arrays.
_CSR_PARTS: Final = ("data", "indices", "indptr", "shape")
# At most this many bytes of a packed file are read, because more might not fit into memory.
MAX_UNPACKED: Final = 1 << 28
# At most this many lines of a packed file are read: in memory, the numbers of a short line take a
# hundred times the bytes of the line.
MAX_LINES: Final = 10_000_000


def read_system(path: str | PathLike[str], format: str | None = None) -> SystemModel:
    r"""Read a system of inequalities from a file, which may be gzipped or bzipped.

    Decimals are exact: 0.1 is one tenth. DataError says what is wrong, with line and field.

    Parameters
    ----------
    path : str or path
        The file: CSV, MPS, LP format, or npz with the arrays of `solve`; "-" is standard input.
    format : str, optional
        "csv", "mps", "lp" or "npz"; by default, the ending of the name determines it.

    Returns
    -------
    SystemModel
        The system, which `solve`, `explain`, `relax` and `conflicts` take.

    See Also
    --------
    solve : Find a point that satisfies a system, or a conflict.

    Examples
    --------
    >>> import tempfile
    >>> import novikoff as nv
    >>> text = "name,tea,bread,is,limit\nmoney,3,1.1,<=,20\nthirst,1,,>=,9\nno debt,,1,>=,0\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "diet.csv").write_text(text)
    ...     model = nv.read_system(f"{folder}/diet.csv")
    >>> model.variables, model.names
    (('tea', 'bread'), ('money', 'thirst', 'no debt'))
    >>> [row.name for row in nv.solve(model).conflict]
    ['money', 'thirst', 'no debt']
    """
    path = fspath(path)
    name = printable_name(path)
    format = format or _format_of(path, name)
    content = _content(path, name)
    if not content or content.isspace():
        raise DataError(f"{name} is empty.")
    if format == "npz":
        return _parse_npz(content, name)
    if format not in _TEXT_PARSERS:  # the format named by an altered certificate
        raise DataError(f"{name} cannot be read as {format[:20]}.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{name}, line {line:,}: this is not text in UTF-8.") from None
    return _TEXT_PARSERS[format](text, name)


def _format_of(path: str, name: str) -> str:
    pure = PurePath(path.lower())
    suffix = PurePath(pure.stem).suffix if pure.suffix in (".gz", ".bz2") else pure.suffix
    for format, suffixes in SYSTEM_FORMATS.items():
        if suffix in suffixes:
            return format
    what = "The standard input" if path == "-" else name
    raise ArgumentError(
        "format", f"is needed: {what} does not end in .csv, .tsv, .mps, .lp or .npz."
    )


def _content(path: str, name: str) -> bytes:
    with readable_errors(name):
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        packed = content[:3]
        if packed.startswith(b"\x1f\x8b"):
            content = gzip.GzipFile(fileobj=io.BytesIO(content)).read(MAX_UNPACKED + 1)
    if packed == b"BZh":
        try:
            content = bz2.BZ2File(io.BytesIO(content)).read(MAX_UNPACKED + 1)
        except (OSError, ValueError, EOFError):
            raise DataError(f"{name} is damaged: its bzip2 data cannot be unpacked.") from None
    if packed.startswith((b"\x1f\x8b", b"BZh")) and len(content) > MAX_UNPACKED:
        raise DataError(f"{name} holds more than 256 MiB: unpack it first.")
    if packed.startswith((b"\x1f\x8b", b"BZh")) and content.count(b"\n") > MAX_LINES:
        raise DataError(f"{name} has more than {MAX_LINES:,} lines: unpack it first.")
    return content


def _parse_npz(content: bytes, source: str) -> SystemModel:
    """Read arrays with the names of the parameters of `nv.solve`.

    The names are A, c, A_eq, c_eq, lower, upper and strict. A sparse matrix A is stored as A_data,
    A_indices, A_indptr and A_shape (CSR), and a sparse A_eq in the same way. A without c, with
    ``strict`` true, asks for A w > 0. Floats are exact: 0.1 is the float64 nearest to one tenth.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            size = sum(info.file_size for info in packed.infolist())
        if size > max(MAX_UNPACKED, 2 * len(content)):
            raise DataError(f"{source} holds more than 256 MiB: save it unpacked, by np.savez.")
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays: dict[str, Any] = {name: archive[name] for name in archive.files}
    except (DataError, MemoryError):
        raise
    except Exception:  # zipfile and NumPy raise many kinds of errors on damaged files
        raise DataError(
            f"{source} is not a valid npz file of numbers: it cannot be unpacked."
        ) from None
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise DataError(f"{source}, array {quoted(name)} holds {array.dtype}, not numbers.")
    for name in ("A", "A_eq"):
        if f"{name}_data" in arrays:
            arrays[name] = _csr_matrix(arrays, name, source)
    unknown = [name for name in arrays if name not in _ARRAYS]
    if unknown or "A" not in arrays:
        what = f"{listed(unknown)} is none of them" if unknown else "there is no A"
        raise DataError(f"{source}: the arrays of a system are {', '.join(_ARRAYS)}; {what}.")
    strict = arrays.get("strict")
    if strict is not None and strict.ndim == 0 and strict.dtype.kind == "b":
        arrays["strict"] = bool(strict)
    try:
        return SystemModel(stated_arrays(**{"c": None, **arrays}), "npz", source)
    except ValueError as error:
        raise DataError(f"{source}: {error}") from None


def _csr_matrix(arrays: dict[str, Any], name: str, source: str) -> Any:
    from scipy.sparse import csr_array

    parts = [arrays.pop(f"{name}_{part}", None) for part in _CSR_PARTS]
    try:
        data, indices, indptr, shape = parts
        matrix = csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
        matrix.check_format(full_check=True)
    except (AttributeError, IndexError, TypeError, ValueError):
        needed = ", ".join(f"{name}_{part}" for part in _CSR_PARTS)
        raise DataError(f"{source}: {needed} do not make a CSR matrix.") from None
    return matrix

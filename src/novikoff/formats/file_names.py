"""The names of the files of a study, and the first bytes by which a later study recognises them.

NAME.novikoff and NAME.cert.json are the model and the certificate of the data NAME.csv.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from novikoff.names import DATA_FORMATS

MODEL_ENDING: Final = ".novikoff"
CERTIFICATE_ENDING: Final = ".cert.json"
# The first bytes of a picture as SVG and of an HTML report, and bytes near the start of a PNG.
SVG_MARK: Final = b'<svg class="novikoff" '
PNG_MARK: Final = b"Software\0novikoff"
PAGE_MARK: Final = (
    b'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta name="generator" content="novikoff fit">\n'
)
# These endings of data files are not part of NAME.
_DATA_ENDINGS: Final = (
    *(".gz", ".txt", ".data", ".dat"),
    *(suffix for suffixes in DATA_FORMATS.values() for suffix in suffixes),
)


def base_name(source: str) -> str:
    """Return the NAME of the files of a study of this source.

    >>> base_name("data/clicks.csv.gz"), base_name("-"), base_name(".csv")
    ('clicks', 'data', '.csv')
    """
    name = "data" if source == "-" else Path(source).name
    for ending in _DATA_ENDINGS:
        name = name.removesuffix(ending) or name
    return name


def sibling(path: str, ending: str, other: str) -> str | None:
    """Return the file of the same study with another ending, or None if there is no such file.

    >>> sibling("nowhere/iris.novikoff", MODEL_ENDING, CERTIFICATE_ENDING) is None
    True
    """
    partner = path.removesuffix(ending) + other
    return partner if path.endswith(ending) and Path(partner).is_file() else None

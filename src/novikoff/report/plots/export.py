"""Figures as SVG elements for a page, and as image files."""

from __future__ import annotations

import os
import re
import warnings
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from novikoff.errors import OutputError
from novikoff.formats.file_names import SVG_MARK
from novikoff.formats.files import write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PNG_DOTS_PER_INCH: Final = 200
# The parts that are removed from the SVG: the prolog, the style sheet (it would apply to the whole
# page), and ids of groups (nothing refers to them; ids of definitions depend on the prefix).
_NOT_FOR_PAGES: Final = re.compile(
    r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>"
    r"|<defs>\s*<style[^>]*>[^<]*</style>\s*</defs>|(?<=<g) id=\"[^\"]*\"",
    re.DOTALL,
)
_PLACE: Final = re.compile(r' ([xy])="(-?\d+\.\d\d)\d+"')
_ROOT: Final = re.compile(r'<svg\b[^>]*?viewBox="([^"]*)"[^>]*>')


def figure_to_svg(figure: Figure, *, prefix: str = "novikoff", label: str = "") -> str:
    """Return a figure as an SVG element for a page; the text is the same each time.

    The element refers to nothing outside itself, has no prolog, date or style sheet, and shrinks to
    the width of the page. Text stays text, in the reader's font. Ids are made from ``prefix``, a
    text that differs for each figure of a page. ``label`` describes the picture for screen readers.

    Examples
    --------
    >>> from novikoff.report.plots import blank_axes
    >>> svg = figure_to_svg(blank_axes()[0].figure, label="Empty axes")
    >>> svg[:4], svg[-6:], 'aria-label="Empty axes"' in svg
    ('<svg', '</svg>', True)
    """
    text = _NOT_FOR_PAGES.sub("", _render(figure, "svg", prefix).decode("utf-8"))
    text = _PLACE.sub(r' \1="\2"', text)
    text = _ROOT.sub(lambda root: _opening_tag(root[1], label), text, count=1)
    return re.sub(r"\s*\n\s*", "\n", text).strip()


def save_figure(figure: Figure, path: str | os.PathLike[str], force: bool = True) -> None:
    """Write a figure to an .svg or .png file, completely or not at all; or raise `OutputError`."""
    write_file(path, render_figure(figure, Path(path).suffix), force=force)


def render_figure(figure: Figure, suffix: str) -> bytes:
    """Return the content of an image file; the bytes are the same each time.

    Examples
    --------
    >>> from novikoff.report.plots import blank_axes
    >>> render_figure(blank_axes()[0].figure, ".png")[1:4]
    b'PNG'
    """
    if suffix.lower() == ".svg":
        return figure_to_svg(figure).encode("utf-8") + b"\n"
    if suffix.lower() == ".png":
        return _render(figure, "png", "")
    raise OutputError(f"A plot can be written as .svg or .png, not as {suffix!r}.")


def _render(figure: Figure, form: str, salt: str) -> bytes:
    import matplotlib as mpl

    undated = {"svg": {"Date": None, "Creator": None}, "png": {"Software": "novikoff"}}[form]
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": salt, "savefig.bbox": None}
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph .* missing from", UserWarning)
        figure.draw_without_rendering()  # the layout is final only when it is computed twice
        buffer = BytesIO()
        figure.savefig(buffer, format=form, dpi=PNG_DOTS_PER_INCH, metadata=undated)
    return buffer.getvalue()


def _opening_tag(box: str, label: str) -> str:
    width, height = (float(size) / 0.72 for size in box.split()[2:])  # 100 pixels to the inch
    clean = "".join(sign if sign.isprintable() else " " for sign in label)
    name = f' aria-label="{escape(clean)}"' if label else ""
    return (
        f'{SVG_MARK.decode()}xmlns="http://www.w3.org/2000/svg" '
        'xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="{box}" width="{width:g}" height="{height:g}" role="img"{name} '
        'style="max-width: 100%; height: auto; stroke-linejoin: round; stroke-linecap: butt">'
    )

"""Figures as SVG elements that can stand in a page, and as files."""

from __future__ import annotations

import os
import re
import warnings
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from novikoff.errors import OutputError
from novikoff.formats.files import write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PNG_DOTS_PER_INCH: Final = 200
# Left out of the SVG: the prolog, the style sheet (it would apply to the whole page), names of
# groups (only definitions are referred to; their names begin with a digest of the prefix).
_NOT_FOR_PAGES: Final = re.compile(
    r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>"
    r"|<defs>\s*<style[^>]*>[^<]*</style>\s*</defs>|(?<=<g) id=\"[^\"]*\"",
    re.DOTALL,
)
_PLACE: Final = re.compile(r' ([xy])="(-?\d+\.\d\d)\d+"')
_ROOT: Final = re.compile(r'<svg\b[^>]*?viewBox="([^"]*)"[^>]*>')


def figure_to_svg(figure: Figure, *, prefix: str = "novikoff", label: str = "") -> str:
    """A figure as an SVG element: the same text each time, and fit to stand in a page.

    It refers to nothing outside itself, has no prolog, date or style sheet, and shrinks with its
    surroundings. Text stays text, in the reader's font. Ids are made from ``prefix``, any text that
    no other figure of the page has; ``label`` describes the picture to those who cannot see it.

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
    """Write a figure to a file, .svg or .png, whole or not at all; `OutputError` says why not."""
    write_file(path, render_figure(figure, Path(path).suffix), force=force)


def render_figure(figure: Figure, suffix: str) -> bytes:
    """The content of an image file; the same each time.

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

    undated = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}[form]
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": salt, "savefig.bbox": None}
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph .* missing from", UserWarning)
        figure.draw_without_rendering()  # the layout is settled the second time
        buffer = BytesIO()
        figure.savefig(buffer, format=form, dpi=PNG_DOTS_PER_INCH, metadata=undated)
    return buffer.getvalue()


def _opening_tag(box: str, label: str) -> str:
    width, height = (float(size) / 0.72 for size in box.split()[2:])  # 100 pixels to the inch
    clean = "".join(sign if sign.isprintable() else " " for sign in label)
    name = f' aria-label="{escape(clean)}"' if label else ""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="{box}" width="{width:g}" height="{height:g}" role="img"{name} '
        'style="max-width: 100%; height: auto; stroke-linejoin: round; stroke-linecap: butt">'
    )

"""Figures as SVG text that can stand in a page, and as files."""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

from novikoff.report.files import OutputError, write_file
from novikoff.report.plots.style import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI: Final = 200
# What matplotlib writes that a page cannot use, or that differs from day to day.
_SURPLUS: Final = re.compile(
    r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>"
    r"|<defs>\s*<style[^>]*>[^<]*</style>\s*</defs>",
    re.DOTALL,
)
# Quotes and angles in attributes and text are escaped: what looks like a tag is one.
_TAG: Final = re.compile(r"<[A-Za-z][^>]*>")
_ID: Final = re.compile(r'(\bid=")([^"]+)(")')
_LINK: Final = re.compile(r'((?:\bxlink:href=|\bhref=)"#|url\(#)([^")]+)')
# Many markers of one kind: their style and the last digits of their places are said too often.
_MARKERS: Final = re.compile(
    r'<use (xlink:href="[^"]+") x="[^"]+" y="[^"]+" (style="[^"]*")/>'
    r'(?:\s*<use \1 x="[^"]+" y="[^"]+" \2/>){3,}'
)
_PLACE: Final = re.compile(r' x="([^"]+)" y="([^"]+)"')
_ROOT: Final = re.compile(r'<svg\b[^>]*?viewBox="([^"]*)"[^>]*>')


def figure_to_svg(figure: Figure, *, prefix: str | None = None, label: str = "") -> str:
    """A figure as an SVG element: the same text each time, and fit to stand in a page.

    It refers to nothing outside itself, has no prolog, date or style sheet, and shrinks with
    its surroundings. Text stays text, in whatever sans-serif font there is, so that it can be
    read aloud, searched, and shown in every script.

    Parameters
    ----------
    figure : Figure
        What to draw.
    prefix : str, optional
        What all ids begin with, a letter first; unique in the page. By default a digest of
        the figure.
    label : str
        What the picture shows, for those who cannot see it.

    Returns
    -------
    str
        ``<svg …>…</svg>``

    Examples
    --------
    >>> from novikoff.report.plots import blank_axes
    >>> svg = figure_to_svg(blank_axes()[0].figure, prefix="first", label="Empty axes")
    >>> svg[:4], svg[-6:], 'id="first-1"' in svg
    ('<svg', '</svg>', True)
    """
    if prefix is not None and not re.fullmatch(r"[A-Za-z][\w-]*", prefix, re.ASCII):
        raise ValueError(
            f"The prefix {prefix!r} must begin with a letter and go on with letters, digits, "
            "hyphens and underscores."
        )
    text = _SURPLUS.sub("", _render(figure, "svg").decode("utf-8"))
    text = _MARKERS.sub(_shortened, text)
    # In the order of their places: ids depend on the figure alone.
    places: dict[str, int] = {}
    for tag in _TAG.findall(text):
        for _, name, _ in _ID.findall(tag):
            places.setdefault(name, len(places) + 1)
    if prefix is None:
        numbered = _TAG.sub(lambda tag: _renamed(tag[0], places, "n"), text)
        prefix = "n" + hashlib.sha256(numbered.encode()).hexdigest()[:10]
    text = _TAG.sub(lambda tag: _renamed(tag[0], places, prefix), text)
    text = _ROOT.sub(lambda root: _root(root[1], label), text, count=1)
    return re.sub(r"\s*\n\s*", "\n", text).strip()


def save_figure(figure: Figure, path: str | os.PathLike[str], force: bool = True) -> None:
    """Write a figure to a file, whole or not at all.

    Parameters
    ----------
    figure : Figure
        What to draw.
    path : path
        Its ending says how: .svg or .png.
    force : bool
        Whether a file that is already there is replaced.

    Raises
    ------
    OutputError
        If the ending is another one, or the file cannot be written.

    Examples
    --------
    >>> from novikoff.report.plots import blank_axes
    >>> save_figure(blank_axes()[0].figure, "boundary.gif")
    Traceback (most recent call last):
        ...
    novikoff.core.drafts.OutputError: A plot can be written as .svg or .png, not as '.gif'.
    """
    write_file(path, render_figure(figure, Path(path).suffix), force=force)


def render_figure(figure: Figure, suffix: str) -> bytes:
    """The content of an image file; the same each time.

    Parameters
    ----------
    figure : Figure
        What to draw.
    suffix : str
        ".svg" or ".png".

    Returns
    -------
    bytes
        All of it.

    Raises
    ------
    OutputError
        If the suffix is another one.

    Examples
    --------
    >>> from novikoff.report.plots import blank_axes
    >>> render_figure(blank_axes()[0].figure, ".png")[1:4]
    b'PNG'
    """
    if suffix.lower() == ".svg":
        return figure_to_svg(figure).encode("utf-8") + b"\n"
    if suffix.lower() == ".png":
        return _render(figure, "png")
    raise OutputError(f"A plot can be written as .svg or .png, not as {suffix!r}.")


def _render(figure: Figure, form: str) -> bytes:
    require_matplotlib()
    import matplotlib as mpl

    nameless = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}[form]
    plain = mpl.rc_context(
        {"svg.fonttype": "none", "svg.hashsalt": "novikoff", "savefig.bbox": None}
    )
    with plain, warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph .* missing from", UserWarning)
        for _ in range(2):  # the layout has settled the second time
            buffer = BytesIO()
            figure.savefig(buffer, format=form, dpi=_DPI, metadata=nameless)
    return buffer.getvalue()


def _renamed(tag: str, places: dict[str, int], prefix: str) -> str:
    tag = _ID.sub(lambda m: f"{m[1]}{prefix}-{places[m[2]]}{m[3]}", tag)
    return _LINK.sub(lambda m: f"{m[1]}{prefix}-{places[m[2]]}" if m[2] in places else m[0], tag)


def _shortened(markers: re.Match[str]) -> str:
    link, look = markers[1], markers[2]
    places = _PLACE.findall(markers[0])
    uses = "\n".join(f'<use {link} x="{float(x):.2f}" y="{float(y):.2f}"/>' for x, y in places)
    return f"<g {look}>\n{uses}\n</g>"


def _root(box: str, label: str) -> str:
    width, height = (float(size) / 0.72 for size in box.split()[2:])  # 100 pixels to the inch
    clean = "".join(sign if sign.isprintable() else " " for sign in label)
    name = f' aria-label="{escape(clean)}"' if label else ""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="{box}" width="{width:g}" height="{height:g}" role="img"{name} '
        'style="max-width: 100%; height: auto; stroke-linejoin: round; stroke-linecap: butt">'
    )

"""What all plots share: names and numbers as text, greys and dashes, axes and legends."""

from __future__ import annotations

import math
from importlib.util import find_spec
from textwrap import fill
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    from novikoff.core.rows import Indices

INK: Final = "#111111"
GREY: Final = "#777777"
SHADE: Final = "#e6e6e6"
POSITIVE: Final = "#1f4e79"  # dark in print
NEGATIVE: Final = "#b35900"  # lighter, and always hollow
WIDTH: Final = 6.4  # inches: 640 pixels
_LONGEST_NAME: Final = 24
# Lines of more points than this look the same with fewer.
_MOST_VERTICES: Final = 2000
_SUPERSCRIPTS: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def require_matplotlib() -> None:
    """Raise ImportError, with the remedy, if matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise ImportError("Plots need matplotlib: pip install 'novikoff[plots]'.")


def pyplot_axes(height: float, panels: int = 1) -> list[Axes]:
    """Axes of a new figure of pyplot, one below the other, with a shared x axis."""
    require_matplotlib()
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(WIDTH, height), layout="constrained")
    return _stacked(figure, panels)


def blank_axes(panels: int = 1, *, height: float | None = None) -> list[Axes]:
    """Axes of a new plain figure, for programs without a display: pyplot is not imported.

    Parameters
    ----------
    panels : int
        How many, one below the other, with a shared x axis.
    height : float, optional
        The height of the figure in inches; it is 6.4 wide.

    Returns
    -------
    list of Axes
        Their figure is ``axes[0].figure``.

    Examples
    --------
    >>> len(blank_axes(3))
    3
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    size = (WIDTH, height or (4.8 if panels == 1 else 2.2 * panels))
    return _stacked(Figure(figsize=size, layout="constrained"), panels)


def _stacked(figure: Figure, panels: int) -> list[Axes]:
    return [*np.atleast_1d(figure.subplots(panels, sharex=True))]


def figure_of(ax: Axes) -> Figure:
    """The figure that axes are on, also where they are on a part of it."""
    figure = ax.get_figure(root=True)
    if figure is None:
        raise ValueError("These axes are not on a figure any more: make new ones.")
    return figure


def clean_name(name: object) -> str:
    r"""A name that fits into a label: one line, printable, at most 24 characters.

    >>> clean_name("mean of\nall errors")
    'mean of all errors'
    >>> clean_name("a_very_long_name_of_a_feature_12")
    'a_very_long_nam…ature_12'
    """
    words = " ".join(str(name).split())
    text = "".join(sign if sign.isprintable() else "\ufffd" for sign in words) or "(no name)"
    if len(text) > _LONGEST_NAME:
        text = f"{text[:15]}…{text[-8:]}"
    return text


def format_number(value: float) -> str:
    """Three digits, with separators or a power of ten where a reader needs them.

    >>> [format_number(x) for x in (0, 0.5, -12.34, 20000, 0.001044, 3.2e9)]
    ['0', '0.5', '−12.3', '20,000', '1.04 × 10⁻³', '3.2 × 10⁹']
    """
    if not math.isfinite(value):
        return {math.inf: "∞", -math.inf: "−∞"}.get(value, "undefined")
    digits, exponent = f"{value:.2e}".split("e")
    power = int(exponent)
    if value == 0.0:
        text = "0"
    elif -2 <= power < 6:
        text = f"{value:,.0f}" if power >= 2 else f"{float(f'{value:.3g}'):g}"
    else:
        digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
        ten = f"10{str(power).translate(_SUPERSCRIPTS)}"
        text = f"{digits} × {ten}" if digits not in ("1", "-1") else digits[:-1] + ten
    return text.replace("-", "−")


def count_of(number: int, noun: str) -> str:
    """A number of things.

    >>> count_of(1, "row"), count_of(20000, "mistake")
    ('1 row', '20,000 mistakes')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def literally(*texts: Text) -> None:
    """Let ``$`` and ``_`` stand for themselves: a name is not a formula."""
    for text in texts:
        text.set_parse_math(False)
        text.set_usetex(False)


def label_axes(ax: Axes, *, x: str = "", y: str = "", title: str = "") -> None:
    """Name the axes, and what is drawn, in plain text."""
    literally(
        ax.set_xlabel(x),
        ax.set_ylabel(y),
        ax.set_title(wrapped(title), loc="left", fontsize=10.5),
    )


def scale_ticks(ax: Axes, *axes: str) -> None:
    """Write the power of ten that ticks have in common as ``× 10⁻⁷``, on "x" and "y"."""
    from matplotlib.ticker import ScalarFormatter

    class Scaled(ScalarFormatter):
        def get_offset(self) -> str:
            common = super().get_offset()
            power = common.removeprefix("1e").replace("−", "-")
            plain = common.startswith("1e") and power.removeprefix("-").isdecimal()
            return f"× 10{power.translate(_SUPERSCRIPTS)}" if plain else common

    for name in axes:
        axis = ax.xaxis if name == "x" else ax.yaxis
        axis.set_major_formatter(Scaled(useMathText=False))


def number_ticks(ax: Axes, *axes: str) -> None:
    """Write ticks as ``20,000`` or ``10⁶``, on the axes "x" and "y"."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

    for name in axes:
        axis = ax.xaxis if name == "x" else ax.yaxis
        if axis.get_scale() == "linear":  # what is counted is whole
            axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10], integer=True, min_n_ticks=1))
        axis.set_major_formatter(FuncFormatter(lambda value, _: format_number(value)))
        axis.set_minor_formatter(NullFormatter())


def legend_below(ax: Axes, note: str = "", *, columns: int = 2) -> None:
    """A legend under the x axis, where it hides nothing, with a note above its entries."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties
    from matplotlib.transforms import ScaledTranslation

    ticks = FontProperties(size=rcParams["xtick.labelsize"]).get_size_in_points()
    named = 1.4 * float(ax.xaxis.label.get_fontsize()) if ax.get_xlabel() else 0.0
    drop = ScaledTranslation(0.0, -(12 + 1.2 * ticks + named) / 72, ax.figure.dpi_scale_trans)
    legend = ax.legend(
        loc="upper left",
        bbox_to_anchor=(0.0, 0.0),
        bbox_transform=ax.transAxes + drop,
        borderaxespad=0.0,
        borderpad=0.0,
        ncols=columns,
        fontsize=9,
        frameon=False,
        alignment="left",
        title=wrapped(note, 88) or None,
        title_fontsize=8.5,
    )
    literally(legend.get_title(), *legend.get_texts())


def wrapped(text: str, width: int = 78) -> str:
    """Text in lines that fit the width of a figure."""
    return "\n".join(fill(line, width) for line in text.splitlines())


def thinned(length: int) -> Indices:
    """Which of so many points to draw: all, or evenly spread ones with both ends."""
    if length <= _MOST_VERTICES:
        return np.arange(length)
    return np.unique(np.linspace(0, length - 1, _MOST_VERTICES).round().astype(np.int64))


def joined(sentences: Iterable[str]) -> str:
    """Sentences after one another, leaving out empty ones."""
    return " ".join(filter(None, sentences))

"""The common style of all plots: names and numbers as text, colours, axes and legends."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from importlib import import_module
from importlib.util import find_spec
from textwrap import fill
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from novikoff.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    from novikoff.core.rows import Indices

INK: Final = "#111111"
GREY: Final = "#777777"
# The colours and marks are those of the lab (page/static/lab.css).
POSITIVE: Final = "#0068a8"  # dark in black and white print; round markers
NEGATIVE: Final = "#c24e00"  # lighter; square, hollow markers
POSITIVE_SIDE: Final = "#dcecf8"
NEGATIVE_SIDE: Final = "#fce9da"
LIMIT: Final = "#b3123c"  # the bounds of the proof
FORBIDDEN_SIDE: Final = "#fbe6ec"  # the side of a bound on which no value can be
DASHES: Final = (0, (5, 3))
WIDTH_INCHES: Final = 6.4
MAX_VERTICES: Final = 2000  # a line with more points looks the same when it is thinned
_SUPERSCRIPTS: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(eq=False)
class Display(ABC):
    """The base of all displays: numbers are computed once, and ``plot`` draws them."""

    ax_: Any = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)
    _panels: ClassVar[int] = 1

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on a new figure of pyplot."""
        axes = blank_axes(self._panels, pyplot=True) if ax is None else [*np.ravel(ax)]
        if len(axes) != self._panels:
            wanted = "one pair of axes" if self._panels == 1 else "three axes"
            raise ValueError(f"{type(self).__name__} needs {wanted}, not {len(axes)}.")
        self._draw(axes)
        enlarge_marks(axes)
        self.ax_, self.figure_ = axes[0] if self._panels == 1 else axes, figure_of(axes[0])
        return self

    @abstractmethod
    def _draw(self, axes: list[Axes]) -> None:
        """Draw on these axes, of which there are ``_panels``."""


def blank_axes(panels: int = 1, *, pyplot: bool = False) -> list[Axes]:
    """Return axes of a new figure, one below the other. Without pyplot it needs no display.

    >>> len(blank_axes(3))
    3
    """
    require_matplotlib()
    home = import_module("matplotlib.pyplot" if pyplot else "matplotlib.figure")
    new_figure = home.figure if pyplot else home.Figure
    size = (WIDTH_INCHES, 4.8 if panels == 1 else 2.2 * panels)
    scale = text_scale()
    if scale > 1.0:  # wide, as a slide is
        size = (scale * WIDTH_INCHES, scale * WIDTH_INCHES * 9 / 16)
    figure = new_figure(figsize=size, layout="constrained")
    return [*np.atleast_1d(figure.subplots(panels, sharex=True))]


@contextmanager
def slides() -> Iterator[None]:
    """Draw figures for a projector: text, lines and marks twice as large, on a page of 16 by 9.

    Everything that `novikoff.plots` draws inside the block is enlarged. matplotlib's own text is
    enlarged too.

    Examples
    --------
    >>> import novikoff as nv
    >>> with nv.plots.slides():
    ...     figure = nv.plots.blank_axes(3)[0].figure
    >>> figure.get_size_inches().tolist()
    [12.8, 7.2]
    """
    require_matplotlib()
    mpl = import_module("matplotlib")
    with mpl.rc_context({"font.size": 20.0, "axes.linewidth": 1.6, "savefig.dpi": 150.0}):
        yield


def text_scale() -> float:
    """How much larger the text is than matplotlib's 10 points: 2 inside of `slides`."""
    return float(import_module("matplotlib").rcParams["font.size"]) / 10.0


def enlarge_marks(axes: list[Axes]) -> None:
    """Enlarge lines and marks as much as the text."""
    scale = text_scale()
    if scale == 1.0:
        return
    for ax in axes:
        for line in ax.lines:
            line.set(linewidth=scale * line.get_linewidth())
            line.set(markersize=scale * line.get_markersize())
        for part in ax.collections:
            part.set_linewidth([scale * width for width in np.ravel(part.get_linewidth())])
        legend = ax.get_legend()
        for handle in [] if legend is None else legend.get_lines():
            handle.set(linewidth=scale * handle.get_linewidth())
            handle.set(markersize=scale * handle.get_markersize())


def require_matplotlib() -> None:
    """Raise MissingExtraError if matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise MissingExtraError("A plot", "matplotlib", "plots")


def figure_of(ax: Axes) -> Figure:
    """Return the figure of axes, also if the axes are in a subfigure."""
    parent = ax.get_figure()
    if parent is None:
        raise ValueError("These axes are not on a figure any more: make new ones.")
    return parent.figure


def clean_name(name: object) -> str:
    r"""Shorten a name for a label: one line, printable, at most 24 characters.

    >>> clean_name("mean of\nall errors"), clean_name("a_very_long_name_of_a_feature_12")
    ('mean of all errors', 'a_very_long_nam…ature_12')
    """
    words = " ".join(str(name).split())
    text = "".join(sign if sign.isprintable() else "\ufffd" for sign in words) or "(no name)"
    return text if len(text) <= 24 else f"{text[:15]}…{text[-8:]}"


def format_number(value: float) -> str:
    """Format a number with three digits, and with separators or a power of ten if it is large.

    >>> [format_number(x) for x in (0, 0.5, -12.34, 20000, 0.001044, 3.2e9)]
    ['0', '0.5', '−12.3', '20,000', '1.04 × 10⁻³', '3.2 × 10⁹']
    """
    if not math.isfinite(value):
        return {math.inf: "∞", -math.inf: "−∞"}.get(value, "undefined")
    digits, exponent = f"{value:.2e}".split("e")
    power = int(exponent)
    if value == 0.0:
        return "0"
    if -2 <= power < 6:
        text = f"{value:,.0f}" if power >= 2 else f"{float(f'{value:.3g}'):g}"
    else:
        digits = digits.rstrip("0").rstrip(".")
        ten = f"10{str(power).translate(_SUPERSCRIPTS)}"
        text = f"{digits} × {ten}" if digits not in ("1", "-1") else digits[:-1] + ten
    return text.replace("-", "−")


def format_upper_bound(value: float) -> str:
    """Format a number as `format_number` does, but never below it.

    >>> [format_upper_bound(x) for x in (0.25, 1.7320508, 120.5, 1234567.0)]
    ['0.25', '1.74', '121', '1.24 × 10⁶']
    """
    return format_number(_rounded(value, ROUND_CEILING))


def format_lower_bound(value: float) -> str:
    """Format a number as `format_number` does, but never above it.

    >>> [format_lower_bound(x) for x in (0.25, 1.7390508, 120.5, 1239567.0)]
    ['0.25', '1.73', '120', '1.23 × 10⁶']
    """
    return format_number(_rounded(value, ROUND_FLOOR))


def _rounded(value: float, rounding: str) -> float:
    """Round a number to the digits that `format_number` shows of it."""
    if value == 0.0 or not math.isfinite(value):
        return value
    power = Decimal(value).adjusted()
    digits = power + 1 if 2 <= power < 6 else 3
    return float(Context(prec=digits, rounding=rounding).create_decimal(value))


def whole_bound(ratio: float) -> float:
    """Round R²/γ² down to the whole number that bounds the mistakes, as in reports.

    >>> whole_bound(221.7), whole_bound(51.0 * (1.0 - 2.0**-50))
    (221.0, 51.0)
    """
    return float(np.floor(ratio * (1.0 + 1e-12)))


def thinned(length: int) -> Indices:
    """Indices of the points to draw: all, or evenly spaced points with both ends."""
    return np.unique(np.linspace(0, length - 1, min(length, MAX_VERTICES)).round().astype(np.int64))


def as_plain_text(*texts: Text) -> None:
    """Show ``$`` and ``_`` literally, because a name is not a formula."""
    for text in texts:
        text.set(parse_math=False, usetex=False)


def label_axes(ax: Axes, *, x: str = "", y: str = "", title: str = "") -> None:
    """Name the axes and the picture in plain text; draw no frame above and to the right."""
    lines = "\n".join(fill(line, 78) for line in title.splitlines())
    heading = ax.set_title(lines, loc="left", fontsize=10.5 * text_scale())
    as_plain_text(ax.set_xlabel(x), ax.set_ylabel(y), heading)
    ax.spines[["top", "right"]].set_visible(False)


def format_counts(ax: Axes, *axes: str) -> None:
    """Write ticks of counts as ``20,000`` or ``10⁶``, on the axes "x" and "y"."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

    for name in axes:
        axis = ax.xaxis if name == "x" else ax.yaxis
        if axis.get_scale() == "linear":  # counts are whole
            axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10], integer=True, min_n_ticks=1))
        axis.set_major_formatter(FuncFormatter(lambda value, _: format_number(value)))
        axis.set_minor_formatter(NullFormatter())


def legend_below(ax: Axes, note: str = "", *, columns: int = 2) -> None:
    """Draw a legend below the x axis, where it hides nothing, with a note above its entries."""
    from matplotlib.transforms import ScaledTranslation

    scale = text_scale()
    below = ScaledTranslation(0.0, -38 * scale / 72, ax.figure.dpi_scale_trans)  # ticks, label
    legend = ax.legend(
        loc="upper left",
        bbox_to_anchor=(0.0, 0.0),
        bbox_transform=ax.transAxes + below,
        borderaxespad=0.0,
        ncols=columns,
        fontsize=9 * scale,
        frameon=False,
        alignment="left",
        title=fill(note, 88) or None,
        title_fontsize=8.5 * scale,
    )
    as_plain_text(legend.get_title(), *legend.get_texts())

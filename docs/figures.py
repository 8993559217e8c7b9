"""How the gallery draws: one style, a description for each figure, and a thumbnail without text.

``conf.py`` names the two functions. The style is that of ``nv.plots``. The description is the label
of the figure (``plt.subplots(num="…")``), and becomes its alternative text.
"""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

from novikoff.core.compilation import announce_compilation
from novikoff.report.plots.style import GREY, INK, NEGATIVE, POSITIVE

DPI = 200  # for screens with two pixels for each point
THUMBNAIL_INCHES = 3.2, 2.2
COLOURS = POSITIVE, NEGATIVE, "#3d7f4c", "#8c2d5a", GREY, "#5b8fc4", "#d99a52"


def style(gallery_conf: dict[str, Any], name: str) -> None:
    """Give every script the style of ``nv.plots``; sphinx-gallery calls this before each script.

    The message about the first compilation is printed here, where no page shows it.
    """
    with contextlib.redirect_stderr(io.StringIO()):
        announce_compilation()  # once in a process
    plt.rcdefaults()
    plt.rcParams.update(
        {
            "axes.prop_cycle": plt.cycler(color=COLOURS),
            "axes.edgecolor": INK,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": "medium",
            "legend.frameon": False,
            "legend.fontsize": "medium",
        }
    )


def scrape(block: object, variables: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figures of a block, and the thumbnail of the last one."""
    texts = []
    for number in plt.get_fignums():
        figure, path = plt.figure(number), next(variables["image_path_iterator"])
        figure.savefig(path, dpi=DPI)
        description = figure.get_label()
        if not description:
            raise ValueError(f"{variables['src_file']}: a figure has no description (num=…).")
        texts.append(figure_rst([path], gallery_conf["src_dir"], description))
        # Each script names this file in a comment, `sphinx_gallery_thumbnail_path`.
        thumbnail = Path(gallery_conf["src_dir"], "generated", "thumbnails")
        thumbnail.mkdir(parents=True, exist_ok=True)
        save_thumbnail(figure, thumbnail / f"{Path(variables['src_file']).stem}.png")
    plt.close("all")
    return "".join(texts)


def save_thumbnail(figure: Figure, path: Path) -> None:
    """Reduce a figure to its main axes, small, with neither words nor numbers; save it."""
    axes = main_axes(figure)
    for other in list(figure.axes):
        if other is not axes:
            other.remove()
    for legend in [axes.get_legend(), *figure.legends]:
        if legend is not None:
            legend.remove()
    for text in [*axes.texts, *figure.texts]:
        text.remove()
    for where in ("left", "center", "right"):
        axes.set_title("", loc=where)
    axes.set(xlabel="", ylabel="")
    axes.tick_params(which="both", labelbottom=False, labelleft=False)
    figure.suptitle("")
    for line in axes.lines:
        line.set_linewidth(2.0)
    figure.set_size_inches(THUMBNAIL_INCHES)
    figure.set_layout_engine("none")
    axes.set_position((0.04, 0.05, 0.92, 0.91))  # also the place of the axes that were removed
    figure.savefig(path, dpi=DPI)


def main_axes(figure: Figure) -> Axes:
    """The axes to recognise a figure by: the last that draw a plane, else the first."""
    planes = [axes for axes in figure.axes if axes.get_aspect() == 1.0]
    return planes[-1] if planes else figure.axes[0]

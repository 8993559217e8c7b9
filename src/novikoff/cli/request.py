"""What is asked of ``novikoff fit``, and where its files go."""

from __future__ import annotations

import os
import sys
from collections.abc import Hashable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import click

from novikoff.cli.options import fields, in_blocks

if TYPE_CHECKING:
    from novikoff.data import CachedBlocks, Dataset, FileBlocks
    from novikoff.report.pictures import Picture
    from novikoff.report.steps import Options

_LARGE: Final = 1 << 25  # bytes


@dataclass(frozen=True)
class Targets:
    """Where the files of a fit go; ``page`` is the report, where a terminal cannot show it."""

    model: Path
    certificate: Path
    plot: Path | None
    page: Path | None

    def check(self, force: bool) -> None:
        """Refuse files that are there or cannot be written, before any work is done."""
        from novikoff.report.files import check_folder, check_writable

        folder = self.model.parent
        for path in (self.model, self.certificate, self.page):
            if path is not None and folder.exists():
                check_writable(path, force=force)
        while not folder.exists():  # it will be made
            folder = folder.parent
        check_folder(folder)
        if self.plot is not None:
            check_writable(self.plot, force=force)


@dataclass(frozen=True)
class Request:
    """The options of a fit, in types."""

    data: str
    values: dict[str, object]
    targets: Targets
    form: Literal["text", "json", "html"]
    force: bool
    require: str | None

    @property
    def is_large(self) -> bool:
        """Whether reading takes long enough to do something else beside it."""
        try:
            return os.stat(self.data).st_size > _LARGE
        except (OSError, ValueError):
            return False

    @classmethod
    def of(cls, data: str, values: dict[str, object]) -> Request:
        """The request; options that contradict each other are refused."""
        if values["holdout"] is not None and values["cv"] is not None:
            raise click.UsageError("--holdout and --cv exclude each other.")
        if values["require"] is not None and values["no_verdict"]:
            raise click.UsageError("--require needs a verdict: it excludes --no-verdict.")
        if values["average"] and not values["no_verdict"]:
            raise click.UsageError(
                "--average may err where the verdict says that no rule has to: it needs "
                "--no-verdict."
            )
        plot = None if values["plot"] is None else Path(str(values["plot"]))
        if plot is not None and plot.suffix.lower() not in (".svg", ".png"):
            raise click.BadParameter(f"{plot} is neither .svg nor .png.", param_hint="--plot")
        if values["plane"] is not None and plot is None:
            raise click.UsageError("--plane is about a picture: it needs --plot.")
        if plot is not None and find_spec("matplotlib") is None:
            raise click.UsageError("--plot needs matplotlib: pip install matplotlib.")
        if values["plane"] is not None and len(fields(str(values["plane"]))) != 2:
            raise click.BadParameter("two features are needed.", param_hint="--plane")
        form: Literal["text", "json", "html"] = (
            "html" if values["form"] == "html" else "json" if values["form"] == "json" else "text"
        )
        folder, stem = Path(str(values["out"])), _stem(data)
        page = folder / f"{stem}.html" if form == "html" and sys.stdout.isatty() else None
        targets = Targets(folder / f"{stem}.novikoff", folder / f"{stem}.cert.json", plot, page)
        require = None if values["require"] is None else str(values["require"])
        request = cls(data, values, targets, form, bool(values["force"]), require)
        for option in ("holdout", "cv", "plot"):
            if values[option] is not None and request.in_blocks:
                raise click.UsageError(
                    f"--{option} needs all rows in memory, and these are read in blocks."
                )
        return request

    @property
    def in_blocks(self) -> bool:
        """Whether the data is read in blocks."""
        return in_blocks(self.data, self.values)

    @property
    def picture(self) -> Picture:
        """What is drawn."""
        from novikoff.report.pictures import CAPTIONS, Picture

        plane = None if self.values["plane"] is None else fields(str(self.values["plane"]))
        subject = next(kind for kind in CAPTIONS if kind == self.values["plot_kind"])
        suffix = ".svg" if self.targets.plot is None else self.targets.plot.suffix.lower()
        return Picture(subject, suffix, None if plane is None else (plane[0], plane[1]))

    def options(self, data: Dataset | FileBlocks | CachedBlocks) -> Options:
        """How the study is made."""
        from novikoff.report.steps import Options

        values = self.values
        epochs, seed, budget = values["epochs"], values["seed"], values["budget"]
        return Options(
            fit_intercept=not values["no_intercept"],
            positive=_positive(data, values["positive"]),
            order=str(values["order"]),
            epochs=epochs if isinstance(epochs, int) else None,
            seed=seed if isinstance(seed, int) else 0,
            budget=budget if isinstance(budget, float) else None,
            verdict=not values["no_verdict"],
            average=bool(values["average"]),
        )


def _stem(data: str) -> str:
    """The name of the data without its endings."""
    name = "data" if data == "-" else Path(data).name
    for ending in (".gz", ".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather", ".npy", ".npz",
                   ".svm", ".svmlight", ".libsvm", ".data", ".dat", ".blocks"):  # fmt: skip
        name = name.removesuffix(ending) or name
    return name


def _positive(data: Dataset | FileBlocks | CachedBlocks, text: object) -> Hashable:
    """The label that the text stands for."""
    if text is None:
        return None
    import numpy as np

    from novikoff.data import Dataset
    from novikoff.geometry.table import plain_label

    labels = (np.unique(data.labels) if isinstance(data, Dataset) else data.classes).tolist()
    for label in labels:
        if str(label) == text or (
            isinstance(label, bool) and str(label).lower() == str(text).lower()
        ):
            return plain_label(label)
    shown_labels = ", ".join(map(str, labels[:10])) + (", …" if len(labels) > 10 else "")
    raise click.BadParameter(
        f"no row of {data.source} has the label {text!s}; there are {shown_labels}.",
        param_hint="--positive",
    )

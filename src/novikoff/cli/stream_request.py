"""What is asked of ``novikoff stream``: options that go together, and where it begins."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from novikoff.cli.options import choices
from novikoff.cli.startup import importing

if TYPE_CHECKING:
    from novikoff.data.feeds.feed import Wishes
    from novikoff.report.course import Course, Stop

# What decides how rows are read and learned: it must not change when a stream goes on.
_ASKED = (
    *("label", "features", "drop", "id_", "one_hot", "missing", "header", "delimiter", "decimal"),
    *("source_format", "hash", "names", "text_labels", "average", "margin", "step"),
    *("no_intercept", "multi_class"),
)
_OPTIONS = {"id_": "id", "source_format": "from"}


@dataclass(frozen=True)
class Request:
    """What was asked for."""

    data: str
    wishes: Wishes
    asked: dict[str, object]
    values: dict[str, object]
    model: Path | None
    passes: int
    limit: int | None
    save_every: int | None
    form: str
    quiet: bool

    @classmethod
    def of(cls, data: str, values: dict[str, object]) -> Request:
        """The options as they are used; what does not go together is refused."""
        from novikoff.data.feeds.feed import Wishes

        save, bits = values["save"], values["hash"]
        for name in ("save_every", "save_on_signal", "resume", "force"):
            if values[name] and not save:
                raise click.UsageError(f"--{name.replace('_', '-')} needs --save MODEL.")
        if values["replay"] and not values["resume"]:
            raise click.UsageError("--replay needs --resume.")
        if values["resume"] and values["force"]:
            raise click.UsageError("--resume goes on, --force begins anew: choose one.")
        wishes = Wishes(
            choices(values),
            bits if isinstance(bits, int) else None,
            bool(values["names"]),
            bool(values["text_labels"]),
        )
        every, limit, passes = values["save_every"], values["limit"], values["passes"]
        return cls(
            data=data,
            wishes=wishes,
            asked={_OPTIONS.get(name, name): values[name] for name in _ASKED},
            values=values,
            model=None if save is None else Path(str(save)),
            passes=passes if isinstance(passes, int) else 1,
            limit=limit if isinstance(limit, int) else None,
            save_every=every if isinstance(every, int) else None,
            form=str(values["form"]),
            quiet=bool(values["quiet"]),
        )

    def course(self) -> Course:
        """A new beginning, or where the model stopped."""
        from novikoff.report.files import OutputError, check_writable

        if self.model is not None:
            self._check_apart(self.model)
            if os.path.lexists(self.model) and not (self.values["resume"] or self.values["force"]):
                raise OutputError(
                    f"{self.model} already exists; --resume goes on from it, --force begins anew."
                )
            check_writable(self.model, force=True)
        if self.model is not None and self.values["resume"] and self.model.exists():
            with importing("novikoff.learners.perceptron"):
                from novikoff.report.course import resume

            replay = bool(self.values["replay"])
            return resume(self.model, self.data, self.wishes, self.asked, replay=replay)
        return self._fresh()

    def _check_apart(self, model: Path) -> None:
        """The rows must not be written over, under whatever name."""
        from novikoff.report.files import OutputError

        same = False
        with contextlib.suppress(OSError, ValueError, AttributeError):
            rows = os.fstat(sys.stdin.fileno()) if self.data == "-" else os.stat(self.data)
            same = os.path.samestat(rows, os.stat(model))
        if same:
            raise OutputError(
                f"{model} is the file that the rows come from; choose another name with --save."
            )

    def _fresh(self) -> Course:
        with importing():
            from novikoff.data.feeds.kept import Kept
            from novikoff.data.feeds.opening import open_feed
            from novikoff.data.feeds.pipe import Ahead

        feed = open_feed(self.data, self.wishes)
        kept = Kept(feed) if self.passes > 1 else Kept(feed, most=0)
        begun = Ahead(kept.batches(feed.start))  # rows are read while the rest is imported
        saving = () if self.model is None else ("novikoff.learners.perceptron",)
        with importing(*saving):
            from novikoff.learners.progressive import Progressive
            from novikoff.learners.pupil import Pupil
            from novikoff.report.course import Course

        pupil = Pupil(
            margin=float(str(self.values["margin"])),
            step=float(str(self.values["step"])),
            fit_intercept=not self.values["no_intercept"],
            average=bool(self.values["average"]),
            multi_class=str(self.values["multi_class"]),
        )
        return Course(feed, Progressive(pupil), feed.start, begun=begun, kept=kept)

    def stop(self) -> Stop:
        """Where to stop for breath: for a line, a save, or the end."""
        from novikoff.report.course import doubling, multiples

        stops: list[Stop] = [doubling]
        if self.save_every is not None:
            stops.append(multiples(self.save_every))
        if self.limit is not None:
            stops.append(multiples(self.limit))
        return lambda rows: min(stop(rows) for stop in stops)

"""``novikoff stream``: learn from a stream, one row at a time; save, stop and go on."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

from novikoff.cli.live import as_json, bound, share, viewed
from novikoff.cli.main import Interrupted
from novikoff.cli.options import reading
from novikoff.cli.screen import print_lines, print_text
from novikoff.cli.signals import handling
from novikoff.cli.stream_request import Request

if TYPE_CHECKING:
    from novikoff.cli.live import View
    from novikoff.report.course import Course


@click.command("stream")
@click.argument("data", type=click.Path())
@reading
@click.option(
    "--hash",
    type=click.IntRange(1, 28),
    metavar="BITS",
    help="Hash the names of features, and cells of text, to 2^BITS columns. Without it names "
    "are kept, and each new one gets the next column.",
)
@click.option(
    "--names",
    is_flag=True,
    help="In label feature:value …, take features for names even if they look like numbers.",
)
@click.option("--text-labels", is_flag=True, help="Take labels for text, whatever they look like.")
@click.option("--average", is_flag=True, help="The model predicts with the average of all weights.")
@click.option(
    "--margin",
    type=click.FloatRange(0),
    default=0.0,
    show_default=True,
    help="Learn from rows whose score is not above this.",
)
@click.option(
    "--step",
    type=click.FloatRange(0, min_open=True),
    default=1.0,
    show_default=True,
    help="The size of an update.",
)
@click.option("--no-intercept", is_flag=True, help="Rules through the origin only.")
@click.option(
    "--multi-class",
    type=click.Choice(["ovr", "ovo"]),
    default="ovr",
    show_default=True,
    help="A rule for each class against the rest, or for each pair.",
)
@click.option(
    "--passes",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="How often to go through a file.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Stop after N rows in all.")
@click.option("--save", type=click.Path(), metavar="MODEL", help="Write the model here at the end.")
@click.option("--save-every", type=click.IntRange(1), metavar="N", help="Also after every N rows.")
@click.option("--save-on-signal", is_flag=True, help="Also whenever the signal USR1 comes.")
@click.option(
    "--resume",
    is_flag=True,
    help="Go on from MODEL, exactly, if it is there. A file is read on from where it was left; "
    "what a pipe brings is new, but for a first line that is the header again.",
)
@click.option(
    "--replay",
    is_flag=True,
    help="With --resume: the pipe begins anew, and what was learned of it is skipped.",
)
@click.option("--force", is_flag=True, help="Begin anew although MODEL is there.")
@click.option("--quiet", is_flag=True, help="No progress, only the summary.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Of what is printed: text, or a line of JSON for each record.",
)
def command(data: str, **values: object) -> None:
    """Learn from a stream, one row at a time: predict, then learn.

    DATA is a file or a named pipe, - is standard input, which may never end: CSV or TSV, or lines
    of label feature:value … whose features are numbers (svmlight) or names, all also gzipped;
    Parquet, Arrow, npy and npz as files. Classes and features may appear at any time.

    Each row is predicted before it is learned. Printed are the rows, the mistakes, their share
    among all rows and among the last 1,000, and a bound on the margin: no linear rule separates
    the rows seen so far by more. The prediction that counts is that of the last weights, also
    with --average.

    \b
    tail -n +1 -F clicks.csv | novikoff stream - --save clicks.novikoff --save-every 100000
    novikoff stream clicks.csv --save clicks.novikoff --resume
    """  # noqa: D301 — click takes the backspace for a sign not to wrap what follows
    request = Request.of(data, values)
    course = request.course()
    if not course.feed.regular and request.passes > 1:
        raise ValueError(f"{data} can be read only once: --passes is for files.")
    saver = _Saver(course, request)
    with _noticing_signals(request) as signals:
        try:
            with viewed(request.form, quiet=request.quiet, source=course.feed.source) as view:
                _run(course, request, saver, signals, view)
            _heed(signals, saver, course.record.rows)  # the end may come with the signal
        except ValueError as error:
            raise _with_what_is_saved(error, saver) from None
        except _Stopped:  # the usual end of a stream that has none
            if course.record.rows:
                _sum_up(course, request)
            raise
        saver.save()
    _sum_up(course, request)


class _Stopped(Interrupted):
    """Ctrl-C between two rows: the books are in order."""


class _Saver:
    """Writes the model, unless it was written at this row already."""

    def __init__(self, course: Course, request: Request) -> None:
        self._course, self._request = course, request
        self._saved = (0, 0)

    def save(self) -> None:
        """Write it, where there is something to write."""
        from novikoff.report.files import write_file

        rows = self._course.record.rows
        place = rows, self._course.lap
        if self._request.model is not None and rows and place != self._saved:
            write_file(self._request.model, self._course.dump(self._request.asked))
            self._saved = place

    @property
    def model(self) -> Path | None:
        """The file, if it holds something."""
        return self._request.model if self._course.record.rows else None


def _run(course: Course, request: Request, saver: _Saver, signals: list[int], view: View) -> None:
    from novikoff.report.course import doubling

    record, every = course.record, request.save_every
    begun = shown = record.rows
    steps = course.go(request.stop(), request.passes)
    if request.limit is not None and record.rows >= request.limit:
        return
    with contextlib.closing(steps):
        for _ in steps:
            rows = record.rows
            if rows > shown:
                shown = rows
                if doubling(rows - 1) == rows:
                    view.milestone(record.progress())
                if every is not None and rows % every == 0:
                    saver.save()
            view.glance(record.progress)
            _heed(signals, saver, rows)
            if request.limit is not None and rows >= request.limit:
                break
    if shown > begun and doubling(shown - 1) != shown:
        view.milestone(record.progress())


def _heed(signals: list[int], saver: _Saver, rows: int) -> None:
    """Save or stop, if a signal said so."""
    from novikoff.data.errors import counted

    while signals:
        number = signals.pop(0)
        saver.save()
        if number not in (signal.SIGINT, signal.SIGTERM):
            continue
        kept = f"{saver.model} holds what was learned, and --resume goes on from it."
        if saver.model is None:
            kept = "nothing was written."
        sentence = f"interrupted after {counted(rows, 'row')}; {kept}"
        if number == signal.SIGINT:
            raise _Stopped(sentence)
        click.echo(f"novikoff: {sentence}", err=True)
        sys.exit(128 + number)


def _with_what_is_saved(error: ValueError, saver: _Saver) -> ValueError:
    """A stream that breaks off keeps what was learned before."""
    from novikoff.data.feeds.trail import ChangedError

    if isinstance(error, ChangedError):  # it does not go on, and the model stays what it is
        return error
    saver.save()
    if saver.model is None:
        return error
    return ValueError(f"{error} {saver.model} holds the rows before; --resume goes on from there.")


@contextlib.contextmanager
def _noticing_signals(request: Request) -> Iterator[list[int]]:
    """Signals are only noted: they are heeded between two rows. A second Ctrl-C ends at once."""
    noted: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT and number in noted:
            raise Interrupted("interrupted at once; what was not saved before is lost.")
        noted.append(number)

    numbers = [signal.SIGINT, signal.SIGTERM]
    if request.values["save_on_signal"]:
        numbers.append(signal.SIGUSR1)
    with handling(note, *numbers):
        yield noted


def _sum_up(course: Course, request: Request) -> None:
    from novikoff.data.errors import counted

    progress, feed = course.record.progress(), course.feed
    dropped = course.dropped
    if request.form == "json":
        end = {
            "event": "end",
            **as_json(progress),
            "pass": course.lap,
            "dropped": dropped,
            "notes": feed.notes,
            "model": None if request.model is None else str(request.model),
        }
        print_text(json.dumps(end, ensure_ascii=False, allow_nan=False) + "\n")
        return
    passes = f" in {course.lap} passes" if course.lap > 1 else ""
    rows = counted(progress.rows, "row")
    lines = [("data", f"{feed.source} · {rows}{passes}{_shape(course)}")]
    lines += [("", note) for note in feed.notes]
    if dropped:
        lines.append(("", f"{counted(dropped, 'row')} with missing values left out"))
    recent = min(progress.rows, 1000)
    lines.append(
        (
            "mistakes",
            f"{progress.mistakes:,} of {rows} ({share(progress.error)}); "
            f"{share(progress.recent_error)} of the last {recent:,}",
        )
    )
    if progress.margin_bound is not None:
        lines.append(
            (
                "margin",
                f"γ ≤ {bound(progress)}: no linear rule separates these rows by more "
                f"({counted(progress.updates, 'update')}, ‖w‖ = {progress.norm:.4g})",
            )
        )
    if request.model is not None and progress.rows:
        lines.append(("model", str(request.model)))
    print_lines(lines)


def _shape(course: Course) -> str:
    from novikoff.data.errors import counted

    if not course.record.rows:
        return ""
    pupil = course.record.pupil
    named = ", ".join(map(str, pupil.labels[:5])) + (", …" if len(pupil.labels) > 5 else "")
    features = counted(pupil.rules.n_features, "feature")
    classes = f"{len(pupil.labels):,} {'class' if len(pupil.labels) == 1 else 'classes'}"
    return f" · {features} · {classes}: {named}"

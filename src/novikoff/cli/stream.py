"""``novikoff stream``: learn from a stream, one row at a time; save, stop and resume."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import FrameType
from typing import Any, Literal, NamedTuple

import click

from novikoff.cli.exits import Interrupted
from novikoff.cli.options import (
    Command,
    FileOptions,
    add_options,
    file_options,
    given_options,
    reject,
)
from novikoff.cli.progress import (
    handling,
    print_lines,
    print_text,
    status_line,
)
from novikoff.data import StreamOptions
from novikoff.data.messages import printable_name
from novikoff.errors import BadRowError, ChangedError, DataError, OutputError
from novikoff.formats.files import check_writable
from novikoff.jobs.stream_run import Progress, StreamRun, is_power_of_two
from novikoff.jobs.stream_session import StreamSession
from novikoff.sentences import counted, definition_of_margin, digits_up

_SECONDS_BETWEEN_DRAWINGS = 0.125


_reading_options = add_options("Labels and features", [
    click.option("--hash", type=click.IntRange(1, 28), metavar="BITS", help="Hash the names of "
                 "features to 2^BITS columns. [default: names are kept, and each new name gets the "
                 "next column]"),
    click.option("--names", is_flag=True, help="Read the features of label feature:value … as "
                 "names, even if they look like numbers."),
    click.option("--text-labels", is_flag=True, help="Read labels as text, even if they look like "
                 "numbers."),
])  # fmt: skip
_stream_options = add_options("Learning", [
    click.option("--average", is_flag=True, help="Predict with the average of all weights."),
    click.option("--threshold", type=click.FloatRange(0), default=0.0, show_default=True,
                 metavar="NUMBER", help="Update on every row whose score is at most this."),
    click.option("--step-size", type=click.FloatRange(0, min_open=True), default=1.0,
                 show_default=True, metavar="NUMBER", help="The step size of an update."),
    click.option("--no-intercept", is_flag=True, help="Use hyperplanes through the origin only."),
    click.option("--multi-class", type=click.Choice(["ovr", "ovo"]), default="ovr",
                 show_default=True, help="Learn one rule for each class against the rest, or one "
                 "for each pair of classes."),
    click.option("--passes", type=click.IntRange(1), default=1, show_default=True, metavar="N",
                 help="The number of passes over a file."),
    click.option("--limit", type=click.IntRange(1), metavar="N", help="Stop after N rows in all."),
])  # fmt: skip
_bad_row_options = add_options("Bad rows", [
    click.option("--bad-rows", type=click.Choice(["stop", "skip"]), default="stop",
                 show_default=True, help="Stop at a row of text that cannot be read or learned, or "
                 "skip and count it. After a stop, --resume --bad-rows skip continues behind it."),
    click.option("--skip-bad", is_flag=True, help="Short for --bad-rows skip."),
    click.option("--bad-rows-log", type=click.Path(), metavar="FILE", help="Write line, row and "
                 "reason of each skipped row to FILE, as CSV."),
])  # fmt: skip
_saving_options = add_options("Saving and resuming", [
    click.option("--save", type=click.Path(), metavar="MODEL", help="Write the model to this file "
                 "at the end."),
    click.option("--save-every", type=click.IntRange(1), metavar="N", help="Also write the model "
                 "every N rows."),
    click.option("--resume", is_flag=True, help="Continue exactly from MODEL, if it exists. A file "
                 "is read from where the run stopped. All rows of a pipe are new, except for a "
                 "repeated header."),
    click.option("--force", is_flag=True, help="Start afresh: overwrite MODEL and every FILE that "
                 "exists."),
])  # fmt: skip
_report_options = add_options("Report", [
    click.option("--every", type=click.IntRange(1), metavar="N", help="Also print a line every N "
                 "rows."),
    click.option("--mistakes", type=click.Path(), metavar="FILE", help="Write the mistakes to "
                 "FILE, as CSV: row, predicted, label. The second field is empty if no class could "
                 "be predicted, as for the first row, which also counts as a mistake."),
    click.option("--quiet", is_flag=True, help="Print only the summary, no progress."),
    click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text",
                 show_default=True, help="Output format: text, or one line of JSON for each "
                 "record."),
])  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class LearningOptions(FileOptions):
    """The options for reading and learning rows, which a resumed stream cannot change."""

    hash: int | None
    names: bool
    text_labels: bool
    average: bool
    threshold: float
    step_size: float
    no_intercept: bool
    multi_class: Literal["ovr", "ovo"]

    def lasting(self) -> dict[str, object]:
        """Return the values of these options by name, which the model file keeps."""
        return {
            option.name.rstrip("_"): getattr(self, option.name)
            for option in fields(LearningOptions)
            if option.name != "given"
        }


@dataclass(frozen=True, kw_only=True)
class StreamCommandOptions(LearningOptions):
    """The options of ``novikoff stream``."""

    passes: int
    bad_rows: Literal["stop", "skip"]
    skip_bad: bool
    bad_rows_log: str | None
    mistakes: str | None
    every: int | None
    limit: int | None
    save: str | None
    save_every: int | None
    resume: bool
    force: bool
    quiet: bool
    format_: Literal["text", "json"]

    def __post_init__(self) -> None:
        reject(
            (self.save_every and not self.save, "--save-every needs --save MODEL."),
            (self.resume and not self.save, "--resume needs --save MODEL."),
            (
                self.force and not self.outputs,
                "--force needs a file to write, such as --save MODEL.",
            ),
            (
                self.resume and self.force,
                "--resume and --force cannot be used together: --force starts afresh.",
            ),
            (
                self.bad_rows_log and not self.skips,
                "--bad-rows-log needs --bad-rows skip.",
            ),
        )

    @property
    def skips(self) -> bool:
        """Whether rows that cannot be read or learned are skipped."""
        return self.skip_bad or self.bad_rows == "skip"

    @property
    def outputs(self) -> dict[str, str]:
        """The files to write, by their options."""
        files = {"--save": self.save, "--mistakes": self.mistakes}
        files["--bad-rows-log"] = self.bad_rows_log
        return {option: path for option, path in files.items() if path is not None}

    def stream_options(self) -> StreamOptions:
        """Return these options as the record that a `StreamSession` takes."""
        return StreamOptions(
            self.read_options(), self.hash, self.names, self.text_labels, skip_bad=self.skips
        )


@_report_options
@_saving_options
@_bad_row_options
@_stream_options
@_reading_options
@file_options(one_hot=False)
@click.command("stream", cls=Command)
@click.argument("data", type=click.Path())
def command(data: str, **values: Any) -> None:
    """Learn from a stream, one row at a time: predict each row, then learn it.

    DATA is a file or a named pipe; - is standard input, which may never end. Formats: CSV or TSV;
    lines of label feature:value … whose features are numbers (svmlight) or names; JSON lines such
    as {"label": "cat", "legs": 4, "colour": "red"}; all of these may be gzipped. Parquet, Arrow,
    npy and npz must be files. New classes and features may appear at any time.

    The command prints the number of rows, the mistakes, their share among all rows and among the
    last 1,000 rows, and an upper bound on the margin γ: no weights (w, b) of length 1 have
    y(⟨w, x⟩ + b) above this bound on all rows learned so far. A mistake is a wrong prediction
    of the last weights, also with --average.

    \b
    Examples:
      tail -n +1 -F clicks.csv | novikoff stream - --save clicks.novikoff
      novikoff stream clicks.csv --save clicks.novikoff --resume
    """  # noqa: D301 — \b tells click not to wrap the lines that follow
    asked = StreamCommandOptions(given=given_options(), **values)
    _check_outputs(data, asked)
    run = StreamRun(
        threshold=asked.threshold,
        step_size=asked.step_size,
        fit_intercept=not asked.no_intercept,
        average=asked.average,
        multi_class=asked.multi_class,
    )
    try:
        session = StreamSession(
            data,
            asked.stream_options(),
            run,
            model=asked.save,
            save_every=asked.save_every,
            mistakes=asked.mistakes,
            bad_rows=asked.bad_rows_log,
            resume=asked.resume,
            force=asked.force,
            asked=asked.lasting(),
        )
    except ChangedError as error:
        raise ChangedError(f"{error} --force starts afresh.") from None
    with contextlib.closing(session), _noticing_signals() as signals:
        try:
            _learn(session, asked, signals)
        except DataError as error:
            raise DataError(f"{error}{_way_on(error, session.model)}") from None
        session.save()
    if not signals:
        _sum_up(session, asked)
        return
    outcome = "nothing was written."
    if session.model is not None:
        outcome = f"{session.model} has the model so far; --resume continues it."
    sentence = f"interrupted after {counted(run.n_rows, 'row')}; {outcome}"
    if signals[0] == signal.SIGINT:  # the usual end of a stream that has none
        if run.n_rows:
            _sum_up(session, asked)
        raise Interrupted(sentence)
    click.echo(f"novikoff: {sentence}", err=True)
    sys.exit(128 + signals[0])


def _way_on(error: DataError, model: Path | None) -> str:
    """Return what the user can do after an error in a row."""
    bad_row = isinstance(error, BadRowError)
    if model is None:
        return " --bad-rows skip skips such rows." if bad_row else ""
    advice = f" {model} has learned the rows before; --resume continues from there"
    return f"{advice}{'; add --bad-rows skip to skip the row' if bad_row else ''}."


def _check_outputs(data: str, asked: StreamCommandOptions) -> None:
    """Raise an error if a file to write is the data, is named twice, or cannot be written."""
    outputs = asked.outputs
    places = [os.path.realpath(path) for path in outputs.values()]
    for option, path in outputs.items():
        same = False  # whether the rows would be overwritten, under whatever name
        with contextlib.suppress(OSError, ValueError, AttributeError):
            rows = os.fstat(sys.stdin.fileno()) if data == "-" else os.stat(data)
            same = os.path.samestat(rows, os.stat(path))
        if same:
            raise OutputError(f"{path} contains the rows; choose another file with {option}.")
        if places.count(os.path.realpath(path)) > 1:
            raise OutputError(f"{path} would be written twice; choose another file with {option}.")
    if asked.save is None:
        return
    if os.path.lexists(asked.save) and not (asked.resume or asked.force):
        raise OutputError(
            f"{asked.save} already exists; --resume continues it, --force starts afresh."
        )
    check_writable(Path(asked.save), force=True)


def _learn(session: StreamSession, asked: StreamCommandOptions, signals: list[int]) -> None:
    """Learn until the end or a signal; print a line at 1, 2, 4, 8, … rows and with --every."""
    run = session.run
    begun = printed = run.n_rows
    drawn = 0.0
    every = [] if asked.every is None else [asked.every]
    silent = asked.quiet or asked.format_ == "json" or not sys.stderr.isatty()
    with status_line(silent=silent) as draw:
        for _ in session.learn(passes=asked.passes, limit=asked.limit, every=every):
            now = time.monotonic()
            due = is_power_of_two(run.n_rows) or any(run.n_rows % n == 0 for n in every)
            if due and run.n_rows > printed:
                _print_progress(run.progress(), asked, heading=printed == begun)
                printed = run.n_rows
            if not silent and now - drawn > _SECONDS_BETWEEN_DRAWINGS:
                texts = _in_words(run.progress())
                mistakes = f"{texts.mistakes} mistakes  {texts.error} ({texts.recent})"
                draw(f"{texts.rows} rows  {mistakes}  γ ≤ {texts.bound}")
                drawn = now
            if signals:
                return
        if run.n_rows > printed:
            _print_progress(run.progress(), asked, heading=printed == begun)


def _sum_up(session: StreamSession, asked: StreamCommandOptions) -> None:
    """Print the summary."""
    run, progress, model = session.run, session.run.progress(), session.run.model
    dropped, notes = session.position.dropped, session.notes()
    if asked.format_ == "json":
        counts = {"pass": run.passes, "dropped": dropped, "skipped": run.skipped}
        saved = None if session.model is None else printable_name(str(session.model))
        _print_json("end", progress, **counts, notes=notes, model=saved)
        return
    rows = counted(progress.rows, "row")
    passes = f" in {run.passes} passes" if run.passes > 1 else ""
    parts = [session.reader.source, rows + passes]
    if model is not None and progress.rows:
        labels = model.classes.tolist()
        classes = counted(len(labels), "class")
        named = ", ".join(map(str, labels[:5])) + (", …" if len(labels) > 5 else "")
        parts += [counted(model.n_features, "feature"), f"{classes}: {named}"]
    lines = [("data", " · ".join(parts)), *(("", note) for note in notes)]
    if dropped:
        lines.append(("", f"{counted(dropped, 'row')} with missing values left out"))
    if run.skipped:
        verb = "was" if run.skipped == 1 else "were"
        where = asked.bad_rows_log or "--bad-rows-log FILE lists them"
        rows_left_out = f"{counted(run.skipped, 'row')} that cannot be read {verb} skipped"
        lines.append(("", f"{rows_left_out} ({where})"))
    texts = _in_words(progress)
    last = f"{texts.recent} of the last {min(progress.rows, 1000):,}"
    lines.append(("mistakes", f"{texts.mistakes} of {rows} ({texts.error}); {last}"))
    if asked.mistakes is not None:
        lines.append(("", f"rows predicted wrong are listed in {asked.mistakes}"))
    if progress.margin_bound is not None:
        now = f"{counted(progress.updates, 'update')}, ‖w‖ = {progress.norm:.4g} now"
        what = definition_of_margin(fit_intercept=not asked.no_intercept)
        lines.append(("margin", f"γ ≤ {texts.bound} on the rows learned ({now})"))
        lines.append(("", f"γ is {what}"))
    if session.model is not None:
        lines.append(("model", str(session.model)))
    print_lines(lines)


def _print_progress(progress: Progress, asked: StreamCommandOptions, *, heading: bool) -> None:
    """Print one line of numbers, below a heading if it is the first."""
    if asked.quiet:
        return
    if asked.format_ == "json":
        _print_json("progress", progress)
        return
    titles = [("rows", "mistakes", "error", "recent", "margin ≤")] if heading else []
    for cells in (*titles, _in_words(progress)):
        widths = zip(cells, (15, 13, 10, 10, 14), strict=True)
        print_text("".join(f"{text:>{width}}" for text, width in widths) + "\n")


class _ProgressTexts(NamedTuple):
    """The counts of a run so far, as texts: its rows and mistakes, and a bound on the margin."""

    rows: str
    mistakes: str
    error: str  # the share of the mistakes among all rows
    recent: str  # their share among the last rows
    bound: str


def _in_words(progress: Progress) -> _ProgressTexts:
    """Return the progress of a run as texts."""
    bound = "–" if progress.margin_bound is None else digits_up(progress.margin_bound)
    shares = f"{100 * progress.error:.2f}%", f"{100 * progress.recent_error:.2f}%"
    return _ProgressTexts(f"{progress.rows:,}", f"{progress.mistakes:,}", *shares, bound)


def _print_json(event: str, progress: Progress, **more: object) -> None:
    """Print one record as a line of JSON, which has no infinity."""
    finite = {k: v if math.isfinite(v or 0.0) else None for k, v in asdict(progress).items()}
    record = {"event": event, **finite, **more}
    print_text(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")


@contextlib.contextmanager
def _noticing_signals() -> Iterator[list[int]]:
    """Note signals, which take effect between two rows; a second Ctrl-C stops at once."""
    noted: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT and number in noted:
            raise Interrupted("interrupted at once; rows learned since the last save are lost.")
        noted.append(number)

    with handling(note):
        yield noted

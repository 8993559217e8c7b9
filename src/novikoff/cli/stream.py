"""``novikoff stream``: learn from a stream, one row at a time; save, stop and go on."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import TYPE_CHECKING

import click

from novikoff.cli.main import Interrupted
from novikoff.cli.options import OPTION_NAMES, READING, adding, check, read_options, reading
from novikoff.cli.progress import (
    handling,
    print_lines,
    print_text,
    saying_that_it_compiles,
    status_line,
)
from novikoff.sentences import counted, digits_up

if TYPE_CHECKING:
    from novikoff.data import StreamOptions
    from novikoff.jobs.stream_run import Progress
    from novikoff.jobs.stream_session import StreamSession

# These options decide how rows are read and learned: they must not change when a stream goes on.
_LASTING = (
    *READING,
    *("hash", "names", "text_labels", "average", "margin", "step", "no_intercept", "multi_class"),
)
_SECONDS_BETWEEN_DRAWINGS = 0.125


_OPTIONS = adding([
    click.option("--hash", type=click.IntRange(1, 28), metavar="BITS", help="Hash the names of "
                 "features to 2^BITS columns. Without it names are kept, and each new one gets the "
                 "next column."),
    click.option("--names", is_flag=True, help="In label feature:value …, read features as names "
                 "even if they look like numbers."),
    click.option("--text-labels", is_flag=True, help="Read labels as text, even if they look like "
                 "numbers."),
    click.option("--average", is_flag=True, help="The model predicts with the average of all "
                 "weights."),
    click.option("--margin", type=click.FloatRange(0), default=0.0, show_default=True,
                 help="Learn from rows whose score is not above this."),
    click.option("--step", type=click.FloatRange(0, min_open=True), default=1.0, show_default=True,
                 help="The size of an update."),
    click.option("--no-intercept", is_flag=True, help="Rules through the origin only."),
    click.option("--multi-class", type=click.Choice(["ovr", "ovo"]), default="ovr",
                 show_default=True, help="A rule for each class against the rest, or for each "
                 "pair."),
    click.option("--passes", type=click.IntRange(1), default=1, show_default=True,
                 help="How often to go through a file."),
    click.option("--bad-rows", type=click.Choice(["stop", "skip"]), default="stop",
                 show_default=True, help="What to do with a row of text that cannot be read or "
                 "learned: stop there, or leave it out and count it. After a stop, --resume "
                 "--bad-rows skip goes on behind it."),
    click.option("--skip-bad", is_flag=True, help="The same as --bad-rows skip."),
    click.option("--bad-rows-log", type=click.Path(), metavar="FILE", help="Write line, row and "
                 "reason of each row that is skipped to FILE, as CSV."),
    click.option("--mistakes", type=click.Path(), metavar="FILE", help="Write the rows that were "
                 "predicted wrong before they were learned to FILE, as CSV: row, predicted, "
                 "label. Where no class could be predicted, as for the first row, the second "
                 "field is empty; that counts as a mistake, too."),
    click.option("--every", type=click.IntRange(1), metavar="N", help="Also print a line every N "
                 "rows."),
    click.option("--limit", type=click.IntRange(1), metavar="N", help="Stop after N rows in all."),
    click.option("--save", type=click.Path(), metavar="MODEL", help="Write the model to this file "
                 "at the end."),
    click.option("--save-every", type=click.IntRange(1), metavar="N", help="Also write it after "
                 "every N rows."),
    click.option("--resume", is_flag=True, help="Continue exactly from MODEL, if it exists. A file "
                 "is read from where the run stopped; all rows of a pipe are new, except for a "
                 "repeated header."),
    click.option("--force", is_flag=True, help="Start afresh: overwrite MODEL and every FILE that "
                 "exists."),
    click.option("--quiet", is_flag=True, help="No progress, only the summary."),
    click.option("--format", "form", type=click.Choice(["text", "json"]), default="text",
                 show_default=True, help="Output format: text, or one line of JSON for each "
                 "record."),
])  # fmt: skip


@click.command("stream")
@click.argument("data", type=click.Path())
@reading
@_OPTIONS
def command(data: str, **values: object) -> None:
    """Learn from a stream, one row at a time: predict, then learn.

    DATA is a file or a named pipe, - is standard input, which may never end: CSV or TSV; lines of
    label feature:value … whose features are numbers (svmlight) or names; JSON lines such as
    {"label": "cat", "legs": 4, "colour": "red"}; all also gzipped; Parquet, Arrow, npy and npz as
    files. Classes and features may appear at any time.

    Each row is predicted before it is learned. Printed are the rows, the mistakes, their share
    among all rows and among the last 1,000, and a bound on the margin γ, rounded up: no weights
    (w, b) of length 1 have y(⟨w, x⟩ + b) above it on all rows learned so far. The prediction that
    counts is that of the last weights, also with --average.

    \b
    tail -n +1 -F clicks.csv | novikoff stream - --save clicks.novikoff --save-every 100000
    novikoff stream clicks.csv --save clicks.novikoff --resume
    """  # noqa: D301 — click takes the backspace for a sign not to wrap what follows
    from novikoff.jobs.stream_run import StreamRun
    from novikoff.jobs.stream_session import StreamSession

    asked = SimpleNamespace(**values)
    asked.bad_rows = "skip" if asked.skip_bad else asked.bad_rows
    _check(data, asked)
    run = StreamRun(
        margin=asked.margin,
        step=asked.step,
        fit_intercept=not asked.no_intercept,
        average=asked.average,
        multi_class=asked.multi_class,
        loading=saying_that_it_compiles,
    )
    session = StreamSession(
        data,
        _stream_options(asked),
        run,
        model=asked.save,
        save_every=asked.save_every,
        mistakes=asked.mistakes,
        bad_rows=asked.bad_rows_log,
        resume=asked.resume,
        force=asked.force,
        asked={OPTION_NAMES.get(name, name): getattr(asked, name) for name in _LASTING},
    )
    with contextlib.closing(session), _noticing_signals() as signals:
        _learn(session, asked, signals)
        session.save()
    if not signals:
        _sum_up(session, asked)
        return
    kept = "nothing was written."
    if session.model is not None:
        kept = f"{session.model} holds what was learned, and --resume goes on from it."
    sentence = f"interrupted after {counted(run.rows, 'row')}; {kept}"
    if signals[0] == signal.SIGINT:  # the usual end of a stream that has none
        if run.rows:
            _sum_up(session, asked)
        raise Interrupted(sentence)
    click.echo(f"novikoff: {sentence}", err=True)
    sys.exit(128 + signals[0])


for _option in command.params:
    if isinstance(_option, click.Option) and _option.name == "one_hot":
        _option.hidden = True  # it is refused, with advice


def _check(data: str, asked: SimpleNamespace) -> None:
    """Refuse options that do not go together, and a model that must not be written."""
    from novikoff.errors import OutputError
    from novikoff.formats.files import check_writable

    options = {"--save": "save", "--mistakes": "mistakes", "--bad-rows-log": "bad_rows_log"}
    files = {option: getattr(asked, name) for option, name in options.items()}
    outputs = {option: path for option, path in files.items() if path is not None}
    places = [os.path.realpath(path) for path in outputs.values()]
    check(
        (asked.save_every and not asked.save, "--save-every needs --save MODEL."),
        (asked.resume and not asked.save, "--resume needs --save MODEL."),
        (asked.force and not outputs, "--force needs a file to write, such as --save MODEL."),
        (asked.resume and asked.force, "--resume continues, --force starts afresh: choose one."),
        (
            asked.bad_rows_log and asked.bad_rows != "skip",
            "--bad-rows-log needs --bad-rows skip: where the stream stops, it says why.",
        ),
    )
    for option, path in outputs.items():
        same = False  # the rows must not be written over, under any name
        with contextlib.suppress(OSError, ValueError, AttributeError):
            rows = os.fstat(sys.stdin.fileno()) if data == "-" else os.stat(data)
            same = os.path.samestat(rows, os.stat(path))
        if same:
            raise OutputError(
                f"{path} is the file that the rows come from; choose another name with {option}."
            )
        if places.count(os.path.realpath(path)) > 1:
            raise OutputError(f"{path} would be written twice; choose another name with {option}.")
    if asked.save is None:
        return
    if os.path.lexists(asked.save) and not (asked.resume or asked.force):
        raise OutputError(
            f"{asked.save} already exists; --resume continues it, --force starts afresh."
        )
    check_writable(Path(asked.save), force=True)


def _stream_options(asked: SimpleNamespace) -> StreamOptions:
    from novikoff.data import StreamOptions

    return StreamOptions(
        read_options(asked),
        asked.hash,
        asked.names,
        asked.text_labels,
        skip_bad=asked.bad_rows == "skip",
    )


def _learn(session: StreamSession, asked: SimpleNamespace, signals: list[int]) -> None:
    """Learn; print at 1, 2, 4, 8, … rows and as wished, and stop when a signal says so."""
    from novikoff.jobs.stream_run import is_power_of_two

    run = session.run
    begun = printed = run.rows
    drawn = 0.0
    every = [] if asked.every is None else [asked.every]
    silent = asked.quiet or asked.form == "json" or not sys.stderr.isatty()
    with status_line(silent=silent) as draw:
        for _ in session.learn(passes=asked.passes, limit=asked.limit, every=every):
            now = time.monotonic()
            due = is_power_of_two(run.rows) or any(run.rows % n == 0 for n in every)
            if due and run.rows > printed:
                _print(run.progress(), asked, heading=printed == begun)
                printed = run.rows
            if not silent and now - drawn > _SECONDS_BETWEEN_DRAWINGS:
                rows, mistakes, error, recent, bound = _said(run.progress())
                draw(f"{rows} rows  {mistakes} mistakes  {error} ({recent})  γ ≤ {bound}")
                drawn = now
            if signals:
                return
        if run.rows > printed:
            _print(run.progress(), asked, heading=printed == begun)


def _sum_up(session: StreamSession, asked: SimpleNamespace) -> None:
    """Print what was learned in all."""
    from novikoff.data.messages import printable_name

    run, progress, model = session.run, session.run.progress(), session.run.model
    dropped, notes = session.position.dropped, session.notes()
    if asked.form == "json":
        counts = {"pass": run.passes, "dropped": dropped, "skipped": run.skipped}
        saved = None if session.model is None else printable_name(str(session.model))
        _print_json("end", progress, **counts, notes=notes, model=saved)
        return
    rows = counted(progress.rows, "row")
    passes = f" in {run.passes} passes" if run.passes > 1 else ""
    parts = [session.rows.source, rows + passes]
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
    _, mistakes, error, recent, bound = _said(progress)
    last = f"{recent} of the last {min(progress.rows, 1000):,}"
    lines.append(("mistakes", f"{mistakes} of {rows} ({error}); {last}"))
    if asked.mistakes is not None:
        lines.append(("", f"rows predicted wrong are listed in {asked.mistakes}"))
    if progress.margin_bound is not None:
        now = f"{counted(progress.updates, 'update')}, ‖w‖ = {progress.norm:.4g} now"
        rule = "w" if asked.no_intercept else "(w, b)"
        claim = f"γ ≤ {bound}: no {rule} of length 1 separates the rows learned by more"
        lines.append(("margin", f"{claim} ({now})"))
    if session.model is not None:
        lines.append(("model", str(session.model)))
    print_lines(lines)


def _print(progress: Progress, asked: SimpleNamespace, *, heading: bool) -> None:
    """One line of numbers."""
    if asked.quiet:
        return
    if asked.form == "json":
        _print_json("progress", progress)
        return
    titles = [("rows", "mistakes", "error", "recent", "margin ≤")] if heading else []
    for fields in (*titles, _said(progress)):
        widths = zip(fields, (15, 13, 10, 10, 14), strict=True)
        print_text("".join(f"{text:>{width}}" for text, width in widths) + "\n")


def _said(progress: Progress) -> tuple[str, str, str, str, str]:
    """Rows, mistakes, their shares, and the bound on the margin, as they are printed."""
    bound = "–" if progress.margin_bound is None else digits_up(progress.margin_bound)
    shares = f"{100 * progress.error:.2f}%", f"{100 * progress.recent_error:.2f}%"
    return f"{progress.rows:,}", f"{progress.mistakes:,}", *shares, bound


def _print_json(event: str, progress: Progress, **more: object) -> None:
    """One record as a line; JSON has no infinity."""
    finite = {k: v if math.isfinite(v or 0.0) else None for k, v in asdict(progress).items()}
    record = {"event": event, **finite, **more}
    print_text(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")


@contextlib.contextmanager
def _noticing_signals() -> Iterator[list[int]]:
    """Signals are only noted: they are heeded between two rows. A second Ctrl-C ends at once."""
    noted: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT and number in noted:
            raise Interrupted("interrupted at once; what was not saved before is lost.")
        noted.append(number)

    with handling(note):
        yield noted

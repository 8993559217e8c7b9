"""``novikoff stream``: learn from a stream, one row at a time; save, stop and go on."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, cast

import click

from novikoff.cli.live import as_json, bound, share, viewed
from novikoff.cli.main import Interrupted
from novikoff.cli.options import adding, read_options, reading
from novikoff.cli.progress import handling, print_lines, print_text, saying_that_it_compiles

if TYPE_CHECKING:
    from novikoff.cli.live import View
    from novikoff.report.stream import Stop, StreamReader

# These options decide how rows are read and learned: they must not change when a stream goes on.
_LASTING = (
    *("label", "features", "drop", "id_", "one_hot", "missing", "header", "delimiter", "decimal"),
    *("source_format", "hash", "names", "text_labels", "average", "margin", "step"),
    *("no_intercept", "multi_class"),
)
_OPTION_NAMES = {"id_": "id", "source_format": "from"}


_OPTIONS = adding([
    click.option("--hash", type=click.IntRange(1, 28), metavar="BITS", help="Hash the names of "
                 "features to 2^BITS columns. Without it names are kept, and each new one gets the "
                 "next column."),
    click.option("--names", is_flag=True, help="In label feature:value …, take features for names "
                 "even if they look like numbers."),
    click.option("--text-labels", is_flag=True, help="Take labels for text, whatever they look "
                 "like."),
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
    click.option("--limit", type=click.IntRange(1), metavar="N", help="Stop after N rows in all."),
    click.option("--save", type=click.Path(), metavar="MODEL", help="Write the model here at the "
                 "end."),
    click.option("--save-every", type=click.IntRange(1), metavar="N", help="Also after every N "
                 "rows."),
    click.option("--resume", is_flag=True, help="Go on from MODEL, exactly, if it is there. A file "
                 "is read on from where it was left; what a pipe brings is new, but for a first "
                 "line that is the header again."),
    click.option("--force", is_flag=True, help="Begin anew although MODEL is there."),
    click.option("--quiet", is_flag=True, help="No progress, only the summary."),
    click.option("--format", "form", type=click.Choice(["text", "json"]), default="text",
                 show_default=True, help="Of what is printed: text, or a line of JSON for each "
                 "record."),
])  # fmt: skip


@click.command("stream")
@click.argument("data", type=click.Path())
@reading
@_OPTIONS
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
    with _noticing_signals() as signals:
        reader = request.reader()
        if not reader.rows.repeatable and request.passes > 1:
            raise ValueError(f"{data} can be read only once: --passes is for files.")
        saver = _Saver(reader, request)
        try:
            with viewed(request.form, quiet=request.quiet, source=reader.rows.source) as view:
                _run(reader, request, saver, signals, view)
            _heed(signals, saver)  # the end may come with the signal
        except ValueError as error:
            raise _with_what_is_saved(error, saver) from None
        except _Stopped:  # the usual end of a stream that has none
            if reader.run.rows:
                _sum_up(reader, request)
            raise
        saver.save()
    _sum_up(reader, request)


@dataclass(frozen=True)
class Request:
    """The options of a stream, in types."""

    data: str
    values: dict[str, object]
    asked: dict[str, object]
    model: Path | None
    passes: int
    limit: int | None
    save_every: int | None
    form: str
    quiet: bool

    @classmethod
    def of(cls, data: str, values: dict[str, object]) -> Request:
        """The request; options that do not go together are refused."""
        save = values["save"]
        for name in ("save_every", "resume", "force"):
            if values[name] and not save:
                raise click.UsageError(f"--{name.replace('_', '-')} needs --save MODEL.")
        if values["resume"] and values["force"]:
            raise click.UsageError("--resume goes on, --force begins anew: choose one.")
        return cls(
            data=data,
            values=values,
            asked={_OPTION_NAMES.get(name, name): values[name] for name in _LASTING},
            model=None if save is None else Path(str(save)),
            passes=cast("int", values["passes"]),
            limit=cast("int | None", values["limit"]),
            save_every=cast("int | None", values["save_every"]),
            form=str(values["form"]),
            quiet=bool(values["quiet"]),
        )

    def reader(self) -> StreamReader:
        """A new beginning, or where the model stopped."""
        from novikoff.data import StreamOptions
        from novikoff.report.files import OutputError, check_writable

        values, model = self.values, self.model
        if model is not None:
            self._check_apart(model)
            if os.path.lexists(model) and not (values["resume"] or values["force"]):
                raise OutputError(
                    f"{model} already exists; --resume goes on from it, --force begins anew."
                )
            check_writable(model, force=True)
        options = StreamOptions(
            read_options(values),
            cast("int | None", values["hash"]),
            bool(values["names"]),
            bool(values["text_labels"]),
        )
        from novikoff.report.stream import StreamRun, begin, resume

        run = StreamRun(
            margin=cast("float", values["margin"]),
            step=cast("float", values["step"]),
            fit_intercept=not values["no_intercept"],
            average=bool(values["average"]),
            multi_class=str(values["multi_class"]),
            loading=saying_that_it_compiles,
        )
        if model is not None and values["resume"] and model.exists():
            return resume(model, self.data, options, run, self.asked)
        return begin(self.data, options, run)

    def _check_apart(self, model: Path) -> None:
        """The rows must not be written over, under any name."""
        from novikoff.report.files import OutputError

        same = False
        with contextlib.suppress(OSError, ValueError, AttributeError):
            rows = os.fstat(sys.stdin.fileno()) if self.data == "-" else os.stat(self.data)
            same = os.path.samestat(rows, os.stat(model))
        if same:
            raise OutputError(
                f"{model} is the file that the rows come from; choose another name with --save."
            )

    def stop(self) -> Stop:
        """The next row count with a line, a save, or the end."""
        from novikoff.report.stream import doubling, multiples

        stops: list[Stop] = [doubling]
        if self.save_every is not None:
            stops.append(multiples(self.save_every))
        if self.limit is not None:
            stops.append(multiples(self.limit))
        return lambda rows: min(stop(rows) for stop in stops)


class _Stopped(Interrupted):
    """Ctrl-C between two rows: the counts are in order."""


class _Saver:
    """Writes the model, unless it was written at this row already."""

    def __init__(self, reader: StreamReader, request: Request) -> None:
        self._reader, self._request = reader, request
        self._saved = (0, 0)

    @property
    def rows(self) -> int:
        """The rows learned so far."""
        return self._reader.run.rows

    @property
    def model(self) -> Path | None:
        """The file, if there is something to hold."""
        return self._request.model if self.rows else None

    def save(self) -> None:
        """Write it, where there is something to write."""
        from novikoff.report.files import write_file
        from novikoff.report.model_file import dump

        place = self.rows, self._reader.passes
        if self.model is not None and place != self._saved:
            write_file(self.model, dump(self._reader.record(self._request.asked)))
            self._saved = place


def _run(
    reader: StreamReader, request: Request, saver: _Saver, signals: list[int], view: View
) -> None:
    from novikoff.report.stream import doubling

    run, every = reader.run, request.save_every
    begun = shown = run.rows
    if request.limit is not None and run.rows >= request.limit:
        return
    with contextlib.closing(reader.go(request.stop(), request.passes)) as steps:
        for _ in steps:
            if run.rows > shown:
                shown = run.rows
                if doubling(shown - 1) == shown:
                    view.milestone(run.progress())
                if every is not None and shown % every == 0:
                    saver.save()
            view.refresh(run.progress)
            _heed(signals, saver)
            if request.limit is not None and shown >= request.limit:
                break
    if shown > begun and doubling(shown - 1) != shown:
        view.milestone(run.progress())


def _heed(signals: list[int], saver: _Saver) -> None:
    """Save and stop, if a signal said so."""
    from novikoff.data.errors import counted

    if not signals:
        return
    number = signals[0]
    saver.save()
    kept = f"{saver.model} holds what was learned, and --resume goes on from it."
    if saver.model is None:
        kept = "nothing was written."
    sentence = f"interrupted after {counted(saver.rows, 'row')}; {kept}"
    if number == signal.SIGINT:
        raise _Stopped(sentence)
    click.echo(f"novikoff: {sentence}", err=True)
    sys.exit(128 + number)


def _with_what_is_saved(error: ValueError, saver: _Saver) -> ValueError:
    """A stream that breaks off keeps what was learned before."""
    from novikoff.data import ChangedError

    if isinstance(error, ChangedError):  # it does not go on, and the model stays what it is
        return error
    saver.save()
    if saver.model is None:
        return error
    return ValueError(f"{error} {saver.model} holds the rows before; --resume goes on from there.")


@contextlib.contextmanager
def _noticing_signals() -> Iterator[list[int]]:
    """Signals are only noted: they are heeded between two rows. A second Ctrl-C ends at once."""
    noted: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT and number in noted:
            raise Interrupted("interrupted at once; what was not saved before is lost.")
        noted.append(number)

    with handling(note, signal.SIGINT, signal.SIGTERM):
        yield noted


def _sum_up(reader: StreamReader, request: Request) -> None:
    from novikoff.data.errors import counted

    progress, source, notes = reader.run.progress(), reader.rows.source, reader.rows.notes
    dropped = reader.position.dropped
    if request.form == "json":
        end = {
            "event": "end",
            **as_json(progress),
            "pass": reader.passes,
            "dropped": dropped,
            "notes": list(notes),
            "model": None if request.model is None else str(request.model),
        }
        print_text(json.dumps(end, ensure_ascii=False, allow_nan=False) + "\n")
        return
    passes = f" in {reader.passes} passes" if reader.passes > 1 else ""
    rows = counted(progress.rows, "row")
    lines = [("data", f"{source} · {rows}{passes}{_shape(reader)}")]
    lines += [("", note) for note in notes]
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


def _shape(reader: StreamReader) -> str:
    from novikoff.data.errors import counted

    model = reader.run.model
    if model is None or not reader.run.rows:
        return ""
    labels = model.classes.tolist()
    named = ", ".join(map(str, labels[:5])) + (", …" if len(labels) > 5 else "")
    classes = f"{len(labels):,} {'class' if len(labels) == 1 else 'classes'}"
    return f" · {counted(model.n_features, 'feature')} · {classes}: {named}"

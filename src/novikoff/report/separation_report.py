"""The report of ``novikoff separation``: lines of text, JSON, an HTML page, and a table of rows.

Rows are counted from 1, without the header. ``separation.schema.json`` describes the JSON.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from html import escape

from novikoff import __version__
from novikoff.core.rows import Indices
from novikoff.data.messages import printable_name
from novikoff.formats.file_names import PAGE_MARK
from novikoff.jobs.separation_study import SeparationStudy
from novikoff.report.json_text import to_json_text
from novikoff.sentences import SHOWN, counted, first_few, separation_lines

SEPARATION_REPORT_VERSION = 1
_COUNTING = "counted from 1, without the header"
_SHOWN_IN_HTML = 200


def separation_report_lines(
    study: SeparationStudy, shown: int = SHOWN
) -> Iterator[tuple[str, str]]:
    """Yield the heading and the text of each line; a continued line has an empty heading.

    The first line says whether finite estimates exist. At most ``shown`` rows are named.
    """
    separation, data = study.separation, study.data

    def show(at: Indices) -> str:
        return f"{first_few(_named_rows(study, at[:shown]), len(at), shown)} ({_COUNTING})"

    lines = separation_lines(separation, show)
    for _, heading, text in lines:
        if heading == "model":
            yield "data", _data_text(study)
            for note in data.notes:
                yield "", note
        yield heading, text
    yield from study.files.items()


def separation_json(study: SeparationStudy) -> str:
    """Return the report as JSON."""
    separation, data, asked = study.separation, study.data, study.asked
    at = separation.separated_positions
    responsible = separation.responsible_columns
    body = {
        "schema_version": SEPARATION_REPORT_VERSION,
        "program": f"novikoff {__version__}",
        "data": {
            "source": data.source,
            "rows": data.n_rows,
            "outcome": None if asked.family == "cox" else data.label,
            "formula": asked.formula,
            "columns": _columns_by_role(study),
            "notes": study.notes,
        },
        "model": {
            "family": separation.family,
            "link": separation.link or None,
            "observations": len(separation.rows),
            "coefficients": separation.n_coefficients,
        },
        "kind": separation.kind,
        "exists": separation.exists,
        "coefficients": [
            {"name": str(name), "estimate": estimate}
            for name, estimate in separation.coefficients.items()
        ],
        "separated": {
            "count": len(at),
            "rows": separation.rows[at].tolist(),
            "ids": None if data.ids is None else [_ids(study)[k] for k in at.tolist()],
        },
        "direction": {str(name): value for name, value in separation.direction.items()},
        "responsible_columns": None if responsible is None else [*map(str, responsible)],
        "advice": separation.advice,
        "files": {name: printable_name(path) for name, path in study.files.items()},
        "seconds": study.seconds,
    }
    return to_json_text(body)


def separation_rows(study: SeparationStudy) -> bytes:
    """Return a CSV of the rows: number, id if there are ids, outcome, and whether it is separated.

    ``separated`` is 1 or 0; it is empty for rows that the model leaves out, such as rows of
    weight 0. Rows that were dropped in reading, for missing values, are not in it.
    """
    data, out = study.data, io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    ids = [] if data.ids is None else [data.ids]
    y = data.y
    outcome = [] if y is None else [y.tolist()]
    names = ["row", *(["id"] if ids else []), *([data.label or "outcome"] if outcome else [])]
    writer.writerow([*names, "separated"])
    marks = ("" if mark is None else mark for mark in study.marks)
    writer.writerows(zip(data.rows.tolist(), *ids, *outcome, marks, strict=True))
    return out.getvalue().encode("utf-8", "surrogatepass")


def separation_html(study: SeparationStudy) -> str:
    """Return the report as one self-contained HTML page."""
    from novikoff.report.html import html_page  # loads the modules of the pictures

    separation = study.separation
    lines = [*separation_report_lines(study, _SHOWN_IN_HTML)]
    verdict, parts, heading = lines[0][1], list[tuple[str, str]](), ""
    for title, text in lines[1:]:
        heading = title or heading
        if heading not in ("estimates", "advice"):
            parts.append((title, text))
    listed = "".join(f"<dt>{escape(title)}</dt><dd>{escape(text)}</dd>" for title, text in parts)
    kind, _, rest = verdict.partition(", ")
    style = {None: "undecided", True: "separable", False: "inseparable"}[separation.exists]
    kind, rest = (kind, rest) if rest else verdict.split(": ")
    sentence = f"{rest[0].upper()}{rest[1:]}."
    body = [
        f"<h1>{escape(printable_name(study.data.source))}</h1>",
        f'<p><span class="kind {style}">{escape(kind)}</span> {escape(sentence)}</p>',
        f"<dl>{listed}</dl>",
        f"<h2>Estimates</h2>{separation.coefficients._repr_html_()}",
    ]
    if separation.advice:
        remedies = "".join(f"<li>{escape(remedy)}</li>" for remedy in separation.advice)
        body.append(f"<h2>What can be done</h2><ul>{remedies}</ul>")
    if "certificate" in study.files:
        command = f"novikoff verify {study.files['certificate']} {study.data.source}"
        body.append(f"<h2>Check it</h2><p><code>{escape(command)}</code></p>")
    body.append(f"<footer>novikoff {__version__} · {study.seconds:.2f} s</footer>")
    start = PAGE_MARK.replace(b"novikoff fit", b"novikoff separation")
    return html_page(f"{study.data.source}: {kind}", "\n".join(body), start)


def _data_text(study: SeparationStudy) -> str:
    data, asked = study.data, study.asked
    parts = [data.source, counted(data.n_rows, "row")]
    if asked.formula is not None:
        parts.append(f"{asked.outcome or ''} {asked.formula}".strip())
    elif asked.family not in ("cox", "bradley-terry"):
        parts.append(f"outcome {data.label or 'first field'}")
    parts += [f"{name} {column}" for name, column in _columns_by_role(study).items()]
    return " · ".join(parts)


def _columns_by_role(study: SeparationStudy) -> dict[str, str | None]:
    """The columns that are neither covariates nor the outcome, by the names of their options."""
    given = study.asked.duration
    duration = {} if given is None or study.asked.family != "cox" else {"duration": given}
    return {**duration, **study.asked.columns}


def _ids(study: SeparationStudy) -> list[str]:
    """The id of each observation of the model."""
    names = dict(zip(study.data.rows.tolist(), study.data.ids or (), strict=True))
    return [names[row] for row in study.separation.rows.tolist()]


def _named_rows(study: SeparationStudy, at: Indices) -> list[str]:
    numbers = [str(row) for row in study.separation.rows[at].tolist()]
    if study.data.ids is None:
        return numbers
    ids = _ids(study)
    return [f"{row} ({ids[k]})" for row, k in zip(numbers, at.tolist(), strict=True)]

"""The report as one self-contained HTML page, without scripts, fonts or network access."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from novikoff.errors import MissingExtraError
from novikoff.formats.file_names import PAGE_MARK
from novikoff.report.pictures import CAPTIONS, Subject
from novikoff.report.study_report import Report, report_lines, tally
from novikoff.sentences import hyperplane, kind_in_words, short_number, whole_verdict

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff;
       max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 2.2rem 0 .6rem; }
.kind { display: inline-block; font-weight: 600; border: 1.5px solid; border-radius: .3rem;
        padding: .05rem .5rem; margin: .6rem 0; }
.separable { color: #12692b; } .quasi-separable { color: #7a5800; }
.inseparable { color: #a3201d; } .undecided { color: #5b3a8c; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .15rem 1rem;
     margin: 0; }
dt { color: #666; } dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
dd.table, dd.class { font-family: ui-monospace, monospace; font-size: .8rem; }
dd.table { white-space: pre; overflow-x: auto; padding: .15rem 0; }
dd.class { padding-left: 4ch; text-indent: -4ch; }
figure { margin: 0 0 1.6rem; } figcaption { color: #555; font-size: .9rem; }
table { border-collapse: collapse; } td, th { text-align: left; padding: .05rem 1rem .05rem 0; }
code { background: #f3f3f3; padding: .1rem .3rem; border-radius: .2rem; }
footer { color: #666; font-size: .85rem; margin-top: 3rem; }
@media (max-width: 34rem) {
  dl { grid-template-columns: minmax(0, 1fr); } dt:not(:empty) { margin-top: .5rem; }
}
@media print { body { margin: 0; max-width: none; } figure { break-inside: avoid; } }
"""
_CLASSES_IN_TABLE, _GROUPS_LISTED, _WRONG_SHOWN = 40, 50, 10


def html_report(report: Report, pictures: Mapping[Subject, str] | None) -> str:
    """Return a page with the lines of the text report and with pictures.

    The page begins with the verdict and with the picture of the rule among the rows. ``pictures``
    are SVG elements of `novikoff.report.pictures`, or None if there are too many rows to draw.
    """
    kind = report.kind or "perceptron"
    if len(report.study.cases) > 1:
        kind = report.question
    drawn = dict(pictures or {})
    first: dict[Subject, str] = {}
    if "boundary" in drawn:
        first["boundary"] = drawn.pop("boundary")
    parts = (
        _head(report),
        _figures(first),
        _description_list(report),
        _wrong(report),
        _further_pictures(None if pictures is None else drawn, missing=not pictures),
        _foot(report),
    )
    body = "\n".join(line for part in parts for line in part)
    return html_page(f"{report.data.source}: {kind}", body)


def table_with_heading(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose first row is a heading."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heading)
    lines = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    return f"<table><tr>{'</tr><tr>'.join((head, *lines))}</tr></table>"


def html_page(title: str, body: str, start: bytes = PAGE_MARK) -> str:
    """Return a whole page from the HTML of its body, in the style of all reports.

    The start of a page names the command that made it.
    """
    return (
        f'{start.decode()}<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{escape(title)}</title>\n'
        f"<style>{_STYLE}</style>\n"
        f"</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _head(report: Report) -> Iterator[str]:
    yield f"<h1>{escape(Path(report.data.source).name)}</h1>"
    if report.kind is not None:
        plane = hyperplane(fit_intercept=report.study.options.fit_intercept)
        proved = "undecided" not in report.study.kinds
        if len(report.study.cases) > 1:
            badge = tally(report.study.kinds)
            headline = f"Each class against the rest{', proved' if proved else ''}."
        else:
            badge = kind_in_words(report.kind)
            separated = report.study.cases[0].verdict.n_separated
            stated = whole_verdict(report.kind, plane, report.data.n_rows, separated)
            headline = f"Proved: {stated}." if proved else f"{stated[0].upper()}{stated[1:]}."
        yield f'<p><span class="kind {report.kind}">{badge}</span> {headline}</p>'


def _description_list(report: Report) -> Iterator[str]:
    entries: list[tuple[str, str, str]] = []  # heading, class of the element, text
    current, several = "", len(report.study.cases) > 1
    in_headline = not several and report.kind not in (None, "undecided")
    lines = report_lines(report, classes=_CLASSES_IN_TABLE, groups=_GROUPS_LISTED, verbose=True)
    for heading, text in lines:
        current = heading or current
        if current == "verdict" and in_headline:
            continue
        kind = "table" if current == "confusion" else ""
        if several and current == "verdict" and not heading:
            kind = "class"
        if kind == "table" and not heading:  # keep aligned lines together
            above, _, start = entries.pop()
            heading, text = above, f"{start}\n{text}"
        entries.append((heading, kind, text))
    yield "<dl>"
    for heading, kind, text in entries:
        style = f' class="{kind}"' if kind else ""
        yield f"<dt>{escape(heading)}</dt><dd{style}>{escape(text)}</dd>"
    yield "</dl>"


def _wrong(report: Report) -> Iterator[str]:
    """The rows that the rule misclassifies; rows after the first few are folded."""
    wrong = report.wrong
    if wrong is None or wrong.count == 0:
        return
    yield "<h2>Rows that the rule misclassifies</h2>"
    yield "<p>The rows farthest on the wrong side come first: look for wrong labels there.</p>"
    heading = ["row", *(["id"] if wrong.ids is not None else []), "label", "predicted", "distance"]
    far = ["" if distance is None else short_number(distance) for distance in wrong.distances]
    columns: list[Sequence[object]] = [wrong.rows, wrong.labels, wrong.predicted, far]
    if wrong.ids is not None:
        columns.insert(1, wrong.ids)
    cells = [[str(cell) for cell in line] for line in zip(*columns, strict=True)]
    yield table_with_heading(heading, cells[:_WRONG_SHOWN])
    hidden = cells[_WRONG_SHOWN:]
    if hidden:
        listed = "" if len(cells) >= wrong.count else f" of {wrong.count:,}"
        yield f"<details><summary>{len(hidden):,} more{listed}</summary>"
        yield f"{table_with_heading(heading, hidden)}</details>"


def _further_pictures(pictures: Mapping[Subject, str] | None, *, missing: bool) -> Iterator[str]:
    """The pictures below the text, or what to install to have any."""
    if pictures is None:
        return
    if missing:
        yield "<h2>Pictures</h2>"
        yield f"<p>{escape(str(MissingExtraError('A picture', 'matplotlib', 'plots')))}</p>"
    elif pictures:
        yield "<h2>More pictures</h2>"
        yield from _figures(pictures)


def _figures(pictures: Mapping[Subject, str]) -> Iterator[str]:
    for subject, svg in pictures.items():
        yield f"<figure>{svg}<figcaption>{escape(CAPTIONS[subject])}</figcaption></figure>"


def _foot(report: Report) -> Iterator[str]:
    certificate = report.files.get("certificate")
    if certificate is not None:
        command = f"novikoff verify {certificate} {report.data.source}"
        yield (
            "<h2>Check it</h2><p>The certificate can be checked by anyone who has the data, "
            f"without the solver: <code>{escape(command)}</code></p>"
        )
    yield f"<footer>{escape(report.program)} · {report.seconds:.2f} s</footer>"

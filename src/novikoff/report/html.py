"""The report as one page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

from novikoff.report.pictures import CAPTIONS, Subject
from novikoff.report.study import Case
from novikoff.report.summary import Report
from novikoff.report.text import lines

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff;
       max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 2.2rem 0 .6rem; }
.kind { display: inline-block; font-weight: 600; border: 1.5px solid; border-radius: .3rem;
        padding: .05rem .5rem; margin: .6rem 0; }
.separable { color: #12692b; } .quasi-separable { color: #7a5800; }
.inseparable { color: #a3201d; } .undecided { color: #5b3a8c; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0; }
dt { color: #666; } dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; }
th, td { text-align: right; padding: .2rem .6rem; border-bottom: 1px solid #ddd;
         white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
td.right { background: #eef4ee; } td.wrong { background: #fbeceb; }
figure { margin: 0 0 1.6rem; } figcaption { color: #555; font-size: .9rem; }
code { background: #f3f3f3; padding: .1rem .3rem; border-radius: .2rem; }
footer { color: #666; font-size: .85rem; margin-top: 3rem; }
@media print { body { margin: 0; max-width: none; } figure { break-inside: avoid; } }
"""
_HEADLINES = {
    "separable": "One linear rule gets every row right.",
    "quasi-separable": "A hyperplane has every row on its side or on itself; none is better.",
    "inseparable": "No linear rule gets every row right.",
    "undecided": "Whether a linear rule gets every row right is not decided.",
}
MAX_CLASSES_IN_TABLE, MAX_ROWS_LISTED = 40, 50


def page(report: Report, pictures: Mapping[Subject, str]) -> str:
    """The page; ``pictures`` are SVG elements of `novikoff.report.pictures.draw_all`."""
    parts = [*_head(report), *_facts(report), *_cases(report), *_confusion(report)]
    parts += [*_duplicates(report), *_figures(pictures), *_foot(report)]
    kind = "perceptron" if report.verdict is None else report.verdict.kind
    body, title = "\n".join(parts), escape(f"{report.source.name}: {kind}")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{title}</title>\n<style>{_STYLE}</style>\n'
        f"</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _head(report: Report) -> Iterator[str]:
    yield f"<h1>{escape(Path(report.source.name).name)}</h1>"
    if report.verdict is not None:
        kind, several = report.verdict.kind, len(report.verdict.cases) > 1
        headline = "Each class against the rest; the worst counts." if several else _HEADLINES[kind]
        yield f'<p><span class="kind {kind}">{kind}</span> {headline}</p>'


def _facts(report: Report) -> Iterator[str]:
    """The lines of the text but for those that have a table of their own."""
    yield "<dl>"
    current = ""
    for heading, text in lines(report):
        current = heading or current
        if current in ("confusion", "duplicates") or (current == "verdict" and not heading):
            continue
        yield f"<dt>{escape(heading)}</dt><dd>{escape(text)}</dd>"
    yield "</dl>"


def _cases(report: Report) -> Iterator[str]:
    cases = [] if report.verdict is None else report.verdict.cases
    if len(cases) > 1:
        yield "<h2>Each class against the rest</h2>"
        heads = ("class", "verdict", "margin γ", "at most R²/γ²", "errors", "at least")
        yield _table(heads, [_case_cells(case) for case in cases])


def _case_cells(case: Case) -> str:
    verdict, separable = case.verdict, case.verdict.kind == "separable"
    counts = (
        verdict.mistake_bound if separable else None,
        0 if separable and case.errors is None else case.errors,
        0 if separable else case.least_errors,
    )
    cells = [
        escape(str(case.positive)),
        f'<span class="{verdict.kind}">{verdict.kind}</span>',
        f"{verdict.margin.lo:.6g}" if separable else "",
        *("" if count is None else f"{count:,}" for count in counts),
    ]
    return "".join(f"<td>{cell}</td>" for cell in cells)


def _confusion(report: Report) -> Iterator[str]:
    labels = [escape(str(label)) for label in report.found.classes]
    if report.found.errors == 0 or len(labels) > MAX_CLASSES_IN_TABLE:
        return
    yield "<h2>Labels of the rows (down), and labels that the model gives (across)</h2>"
    rows = [
        f"<td>{label}</td>"
        + "".join(
            f'<td class="{"right" if i == j else "wrong" if count else ""}">{count:,}</td>'
            for j, count in enumerate(counts)
        )
        for i, (label, counts) in enumerate(
            zip(labels, report.found.confusion.tolist(), strict=True)
        )
    ]
    yield _table(("", *labels), rows)


def _table(heads: tuple[str, ...], rows: list[str]) -> str:
    first = "".join(f"<th>{head}</th>" for head in heads)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{first}</tr>{body}</table></div>'


def _duplicates(report: Report) -> Iterator[str]:
    groups = report.found.duplicates
    if groups:
        yield f"<h2>Identical rows with different labels: {len(groups):,}</h2><ul>"
        for part in map(report.rows, groups[:MAX_ROWS_LISTED]):
            more = " …" if part.count > MAX_ROWS_LISTED else ""
            yield f"<li>rows {', '.join(map(str, part.rows[:MAX_ROWS_LISTED]))}{more}</li>"
        yield "</ul>"
    if len(groups) > MAX_ROWS_LISTED:
        yield f"<p>… and {len(groups) - MAX_ROWS_LISTED:,} more.</p>"


def _figures(pictures: Mapping[Subject, str]) -> Iterator[str]:
    yield "<h2>Pictures</h2>"
    if not pictures:
        yield "<p>They need matplotlib: <code>pip install matplotlib</code></p>"
    for subject, svg in pictures.items():
        yield f"<figure>{svg}<figcaption>{escape(CAPTIONS[subject])}</figcaption></figure>"


def _foot(report: Report) -> Iterator[str]:
    if report.files.certificate is not None:
        command = f"novikoff verify {report.files.certificate} {report.source.name}"
        yield (
            "<h2>Check it</h2><p>The certificate can be checked by anyone who has the data, "
            f"without the solver: <code>{escape(command)}</code></p>"
        )
    yield f"<footer>{escape(report.program)} · {report.seconds:.2f} s</footer>"

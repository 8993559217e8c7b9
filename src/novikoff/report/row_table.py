"""The table of all rows that ``novikoff fit --rows`` writes: labels, predictions, distances, λ."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator

from novikoff.jobs.study_records import EachRow
from novikoff.report.study_report import Report

_LINES_AT_ONCE = 1 << 14
# The first line of the table, of rows without ids and of rows with ids.
HEADINGS = (
    ("row", "label", "predicted", "distance", "multiplier"),
    ("row", "id", "label", "predicted", "distance", "multiplier"),
)


def row_table(report: Report, rows: EachRow) -> Iterator[bytes]:
    """Yield the table in pieces of CSV, in the order of the file.

    ``distance`` is y·f(x)/‖w‖, the distance from the hyperplane, which is negative on the wrong
    side. With several rules it is the least distance among the rules that the label has a side of.
    ``multiplier`` is the row's share of the λ that prove the verdict: support vectors of the margin
    and rows of the contradiction have one. A cell without a value is empty.
    """
    data, classes, shares = report.data, report.found.classes, report.found.multipliers
    heading = HEADINGS[data.ids is not None]
    for first in range(0, data.n_rows, _LINES_AT_ONCE):
        last, out = min(first + _LINES_AT_ONCE, data.n_rows), io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        if first == 0:
            writer.writerow(heading)
        part = slice(first, last)
        columns = (rows.codes[part], rows.predicted[part], rows.distances[part])
        places = range(first, last), data.rows[part]
        lines = zip(*places, *(column.tolist() for column in columns), strict=True)
        for i, row, code, predicted, distance in lines:
            named = [row] if data.ids is None else [row, data.ids[i]]
            far = repr(distance) if math.isfinite(distance) else ""
            writer.writerow([*named, classes[code], classes[predicted], far, shares.get(i, "")])
        yield out.getvalue().encode("utf-8", "surrogatepass")

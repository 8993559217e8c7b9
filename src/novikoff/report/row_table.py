"""Every row of a study as a line of CSV, to hunt for bad labels."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator

from novikoff.report.summary import Report

_LINES_AT_ONCE = 1 << 14


def row_table(report: Report) -> Iterator[bytes]:
    """The table of all rows, a piece at a time, in the order of the file.

    ``distance`` is how far a row is on its label's side: y·f(x)/‖w‖, below zero on the wrong side;
    with several rules, the least of those that its label has a side of. ``multiplier`` is the
    row's share of the λ that prove the verdict, for rows that carry the margin or the
    contradiction. Where there is none, a cell is empty.
    """
    found, data, shares = report.found, report.data, report.found.multipliers
    heading = ["row", *(["id"] if data.ids is not None else [])]
    heading += ["label", "predicted", "distance", "multiplier"]
    for first in range(0, data.n_rows, _LINES_AT_ONCE):
        last, out = min(first + _LINES_AT_ONCE, data.n_rows), io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        if first == 0:
            writer.writerow(heading)
        part = slice(first, last)
        columns = (data.rows[part], found.codes[part], found.predicted[part], found.distances[part])
        lines = zip(range(first, last), *(column.tolist() for column in columns), strict=True)
        for i, row, code, predicted, distance in lines:
            named = [row] if data.ids is None else [row, data.ids[i]]
            far = repr(distance) if math.isfinite(distance) else ""
            labels = found.classes[code], found.classes[predicted]
            writer.writerow([*named, *labels, far, shares.get(i, "")])
        yield out.getvalue().encode("utf-8", "surrogatepass")

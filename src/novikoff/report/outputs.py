"""The files of a study: the model, the certificate, and every row as a line of CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from novikoff.data.recipe import NumberedNames
from novikoff.formats import certificate_file, model_file
from novikoff.formats.files import Content
from novikoff.formats.fitted_state import write_pocket, write_run
from novikoff.formats.model_record import ModelRecord
from novikoff.jobs.study_records import REST, EachRow, Study
from novikoff.report.summary import Report

_LINES_AT_ONCE = 1 << 14


def contents(report: Report) -> dict[str, Content]:
    """The model, the certificate if something is proved, and the table if there are rows."""
    found, data = report.found, report.data
    recipe, proofs = data.recipe.to_json(), found.proofs
    origin: dict[str, object] = {
        "source": data.source,
        "rows": data.n_rows,
        "features": len(data.names),
        "sha256": found.sha256,
        "rule": found.rule,
        "seed": found.options.seed,
        "rest": REST if found.options.positive is not None and REST in found.classes else None,
    }
    numbered = isinstance(data.names, NumberedNames)  # very many names that say no more
    record = replace(
        record_of(found, None if numbered else list(data.names)),
        preprocessing=recipe,
        data=origin,
        certificate={"sha256": certificate_file.digest(proofs, origin, recipe)} if proofs else None,
    )
    made: dict[str, Content] = {"model": model_file.dump_record(record)}
    if proofs:
        made["certificate"] = certificate_file.dump_proofs(proofs, origin, recipe).encode()
    if found.each_row is not None:
        made["rows"] = row_table(report, found.each_row)
    return made


def record_of(found: Study, names: list[object] | None = None) -> ModelRecord:
    """The model of a study, for a file: an estimator's name, its parameters and what it found."""
    options, model, run = found.options, found.model, found.run
    parameters: dict[str, object] = {
        "fit_intercept": options.fit_intercept,
        "multi_class": model.multi_class,
    }
    if found.rule == "fewest mistakes":
        fitted, arrays = write_pocket(
            [int(best.errors) for best in found.pocket],
            [best.proof for best in found.pocket],
            [np.array(best.history, dtype=np.float64).reshape(-1, 2) for best in found.pocket],
        )
        parameters["random_state"] = options.seed
        return ModelRecord("Pocket", model, names, parameters, fitted, arrays)
    clean = found.rule == "largest margin" or (run is not None and run.clean and run.returned)
    if run is not None and found.rule != "largest margin":  # the parameters that repeat the run
        parameters |= {
            "random_state": options.seed,
            "order": options.order,
            "average": "averaged" if model.averages else False,
            "scale": "standard" if run.scale == "standard" else None,
            "max_epochs": run.max_epochs,
            "max_updates": run.max_updates,
        }
    fitted = write_run(0 if run is None else run.epochs, converged=clean)
    return ModelRecord("Perceptron", model, names, parameters, fitted)


def row_table(report: Report, rows: EachRow) -> Iterator[bytes]:
    """The table of all rows, a piece at a time, in the order of the file.

    ``distance`` is how far a row is on its label's side: y·f(x)/‖w‖, below zero on the wrong side;
    with several rules, the least of those that its label has a side of. ``multiplier`` is the
    row's share of the λ that prove the verdict, for rows that carry the margin or the
    contradiction. Where there is none, a cell is empty.
    """
    data, classes, shares = report.data, report.found.classes, report.found.multipliers
    heading = ["row", *(["id"] if data.ids is not None else [])]
    heading += ["label", "predicted", "distance", "multiplier"]
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

"""The files of ``novikoff fit``: their contents, and how a later fit recognises them."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import math
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from novikoff.data.recipe import NumberedNames
from novikoff.formats import certificate_file, model_file
from novikoff.formats.file_names import PAGE_MARK, PNG_MARK, SVG_MARK
from novikoff.formats.files import Content
from novikoff.formats.fitted_state import write_pocket, write_run
from novikoff.formats.model_record import ModelRecord
from novikoff.jobs.study_records import EachRow, Study
from novikoff.report.study_report import Report

# The rules of models that ``novikoff fit`` writes; the rule of a stream is "stream".
_RULES = ("perceptron", "average", "largest margin", "fewest mistakes")
_TABLE_ROWS_AT_ONCE = 1 << 14
# The first line of the table, for rows without ids and for rows with ids.
_HEADINGS = (
    ("row", "label", "predicted", "distance", "multiplier"),
    ("row", "id", "label", "predicted", "distance", "multiplier"),
)
_ROW_MARKS = tuple(f"{','.join(heading)}\n".encode() for heading in _HEADINGS)
_LONGEST_MARK = 1024


def file_contents(report: Report, folder: Path) -> dict[str, Content]:
    """Return the model, the certificate if there is a proof, and the table of rows if known.

    ``folder`` is the directory of the files.
    """
    study, data = report.study, report.data
    recipe, proofs = data.recipe.to_json(), study.proofs
    origin: dict[str, object] = {
        "source": data.source,
        "place": place_of(data.source, folder),
        "rows": data.n_rows,
        "features": len(data.names),
        "sha256": study.sha256,
        "rule": study.rule,
        "seed": study.options.seed,
        "rest": study.rest,
    }
    numbered = isinstance(data.names, NumberedNames)  # then the model file need not list the names
    proved = certificate_file.dump_proofs(proofs, origin, recipe) if proofs else None
    record = replace(
        _model_record(study, None if numbered else list(data.names)),
        preprocessing=recipe,
        data=origin,
        certificate=None if proved is None else {"sha256": proved.sha256},
    )
    made: dict[str, Content] = {"model": model_file.dump_record(record)}
    if proved is not None:
        made["certificate"] = proved.text.encode()
    if study.each_row is not None:
        made["rows"] = row_table(report, study.each_row)
    return made


def wrote_file(role: str, path: Path, source: str) -> bool:
    """Whether ``novikoff fit`` wrote this file, so that a new fit of the same data may replace it.

    A model and a certificate know the place of their data, which must be the place of ``source``.
    The table of rows, the picture and the page are recognised by their first bytes. A file that
    cannot be read is not recognised.
    """
    try:
        if role in ("model", "certificate"):
            read = model_file.read_record if role == "model" else certificate_file.read_proofs
            data = read(str(path)).data or {}
            return data.get("rule") in _RULES and data.get("place") == place_of(source, path.parent)
        with path.open("rb") as file:
            start = file.read(_LONGEST_MARK)
    except (OSError, ValueError):
        return False
    if role == "plot":
        return start.startswith(SVG_MARK) or PNG_MARK in start
    return start.startswith(_ROW_MARKS if role == "rows" else PAGE_MARK)


def place_of(source: str, folder: Path) -> str:
    """Return the SHA-256 of the path from a directory to the data, or of "-" for standard input.

    Two files of the same name have different places. A place does not change if a directory that
    holds both the data and the files is moved, and it does not name any directory.

    >>> place_of("data/../iris.csv", Path("out")) == place_of("iris.csv", Path("out"))
    True
    >>> place_of("one/iris.csv", Path("out")) == place_of("two/iris.csv", Path("out"))
    False
    """
    path = source
    if source != "-":
        path = os.path.realpath(source)
        with contextlib.suppress(ValueError):  # on Windows, they may be on different drives
            path = os.path.relpath(path, os.path.realpath(folder))
    return hashlib.sha256(Path(path).as_posix().encode("utf-8", "surrogateescape")).hexdigest()


def _model_record(study: Study, names: list[object] | None) -> ModelRecord:
    """Return the record of a model file: an estimator, its parameters, and its fitted state."""
    options, model, run = study.options, study.model, study.run
    parameters: dict[str, object] = {
        "fit_intercept": options.fit_intercept,
        "multi_class": model.multi_class,
    }
    if study.rule == "fewest mistakes":
        fitted, arrays = write_pocket(
            [int(best.mistakes) for best in study.pocket],
            [best.proof for best in study.pocket],
            [np.array(best.history, dtype=np.float64).reshape(-1, 2) for best in study.pocket],
            [best.wrong for best in study.pocket if best.wrong is not None] or None,
        )
        parameters["random_state"] = options.seed
        return ModelRecord("Pocket", model, names, parameters, fitted, arrays)
    separates = run is not None and run.separates_original
    if run is not None and study.rule != "largest margin":  # these parameters repeat the run
        parameters |= {
            "random_state": options.seed,
            "order": options.order,
            "average": model.averages,
            "scale": "standard" if run.scale == "standard" else None,
            "max_epochs": run.max_epochs,
            "max_updates": run.max_updates,
        }
    epochs = 0 if run is None else run.epochs
    fitted = write_run(epochs, converged=separates or study.rule == "largest margin")
    return ModelRecord("Perceptron", model, names, parameters, fitted)


def row_table(report: Report, rows: EachRow) -> Iterator[bytes]:
    """Yield the table in pieces of CSV, in the order of the file.

    ``distance`` is y·f(x)/‖w‖, the distance from the hyperplane, which is negative on the wrong
    side. With several rules it is the least distance among the rules that the label has a side of.
    ``multiplier`` is the row's share of the λ that prove the verdict: support vectors of the margin
    and rows of the contradiction have one. A cell without a value is empty.
    """
    data, classes, shares = report.data, report.study.classes, report.study.multipliers
    heading = _HEADINGS[data.ids is not None]
    for first in range(0, data.n_rows, _TABLE_ROWS_AT_ONCE):
        last, out = min(first + _TABLE_ROWS_AT_ONCE, data.n_rows), io.StringIO()
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

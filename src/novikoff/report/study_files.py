"""The contents of the files that ``novikoff fit`` writes: the model, the certificate, the rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from novikoff.data.recipe import NumberedNames
from novikoff.formats import certificate_file, model_file
from novikoff.formats.files import Content
from novikoff.formats.fitted_state import write_pocket, write_run
from novikoff.formats.model_record import ModelRecord
from novikoff.jobs.study_records import REST, Study
from novikoff.report.row_table import row_table
from novikoff.report.study_report import Report


def file_contents(report: Report) -> dict[str, Content]:
    """Return the model, the certificate if something is proved, and the table of rows if known."""
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
    numbered = isinstance(data.names, NumberedNames)  # then the model file need not list the names
    record = replace(
        _model_record(found, None if numbered else list(data.names)),
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


def _model_record(found: Study, names: list[object] | None) -> ModelRecord:
    """Return the record of a model file: an estimator, its parameters, and its fitted state."""
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
    if run is not None and found.rule != "largest margin":  # these parameters repeat the run
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

"""Arguments of `detect_separation` from a fitter of lifelines and its frame.

lifelines itself is not imported: the class of the object says which attributes it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from novikoff.models import families, formulas
from novikoff.models.arguments import Arguments

# The columns of each fitter: the argument of `detect_separation`, and the fitter's attribute.
_FITTERS = {
    "CoxPHFitter": {
        "duration": "duration_col", "event": "event_col", "entry": "entry_col",
        "weights": "weights_col",
    },
    "CoxTimeVaryingFitter": {
        "duration": "stop_col", "event": "event_col", "entry": "start_col",
        "weights": "weights_col",
    },
}  # fmt: skip


def fitter_arguments(fitter: Any, data: Any, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that a fitter and its frame stand for.

    A fitter that was not fitted needs the names of its columns, as ``duration`` and ``event``.
    """
    name = type(fitter).__name__
    if name not in _FITTERS:
        raise ValueError(
            f"{name} of lifelines is none of {', '.join(_FITTERS)}: a parametric survival model "
            f"{families.WITH_SCALE}."
        )
    method = getattr(fitter, "baseline_estimation_method", "breslow")
    if method != "breslow":
        raise ValueError(
            f"A {name} with the parametric baseline {method!r} {families.WITH_SCALE}. Ask about "
            "baseline_estimation_method='breslow'."
        )
    options = dict(asked)
    if data is None and hasattr(options.get("y"), "columns"):
        data = options.pop("y")  # nv.detect_separation(fitter, frame)
    if data is None:
        raise ValueError(
            f"A {name} does not keep its data: pass the frame too, as in "
            "nv.detect_separation(fitter, data=frame)."
        )
    for column, attribute in _FITTERS[name].items():
        value = getattr(fitter, attribute, None)
        options[column] = options.get(column) if value is None else value
    if options["duration"] is None:
        raise ValueError(f"This {name} is not fitted: say duration='…' and event='…', its columns.")
    for given in options:
        if given not in (*_FITTERS[name], "strata", "missing"):
            raise ValueError(f"{given} does not apply: {name} is a Cox model.")
    strata = options.pop("strata", None)
    strata = getattr(fitter, "strata", None) if strata is None else strata
    drop = [getattr(fitter, value, None) for value in ("cluster_col", "id_col")]
    if strata is not None:
        columns = [strata] if isinstance(strata, str) else [*strata]
        unknown = [value for value in columns if value not in data.columns]
        if unknown:
            raise ValueError(f"The column {unknown[0]!r} of the strata is not in data.")
        options["strata"] = data.groupby(columns, sort=True, observed=True).ngroup().to_numpy()
        drop += columns
    frame = data.drop(
        columns=[value for value in drop if value is not None and value in data.columns]
    )
    formula = getattr(fitter, "formula", None)
    question = Arguments(family="cox", **options)
    if formula is None:
        taken = formulas.of_columns(frame, question)
    else:
        taken = formulas.of_formula(formula, data, question)
    notes: tuple[str, ...] = taken["notes"]
    if np.any(np.asarray(getattr(fitter, "penalizer", 0.0)) > 0):
        notes = (*notes, "the answer is about the likelihood without the fitter's penalty")
    return {**taken, "notes": notes}

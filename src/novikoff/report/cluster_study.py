"""A study of rows on a cluster: the verdicts, the model, and what is said and written of them.

What `novikoff.report.study` is for rows in memory, in short: each class against the rest, then the
hyperplanes of the verdicts where all are separable, else those with the fewest mistakes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff.core.linear_model import LinearModel
from novikoff.core.rows import Indices
from novikoff.core.schemes import labels_of
from novikoff.core.stops import Limits
from novikoff.core.validation import Label, plain_label
from novikoff.data.errors import counted
from novikoff.geometry import verdict_text
from novikoff.report.model_file import ModelRecord, pocket_state, run_state
from novikoff.report.study import REST, Case, Options, separator
from novikoff.report.summary import SEVERITY

if TYPE_CHECKING:
    from novikoff.cluster import Rows
    from novikoff.cluster.pocket import CountedRule
    from novikoff.geometry.certificate import Certificate
    from novikoff.geometry.error_bound import ErrorBound
    from novikoff.geometry.separability import Verdict
    from novikoff.geometry.verdict_search import IntervalProgress


@dataclass(frozen=True)
class ClusterStudy:
    """All that was found; made by `study_rows`."""

    rows: Rows
    positive: Label | None  # the class against all others, if one was chosen
    verdicts: list[Verdict]  # one for two classes or a chosen one, else one for each
    model: LinearModel
    counted: list[CountedRule]  # the model's rules, where not all classes are separable

    @property
    def kind(self) -> str:
        """The worst kind of all verdicts."""
        return max((verdict.kind for verdict in self.verdicts), key=SEVERITY.index)

    @property
    def proofs(self) -> list[Certificate | ErrorBound]:
        """The certificates of all verdicts, then of all lower bounds above zero."""
        verdicts = [verdict.certificate for verdict in self.verdicts]
        bounds = [rule.proof if rule.bound > 0 else None for rule in self.counted]
        return [proof for proof in (*verdicts, *bounds) if proof is not None]

    def record(self) -> ModelRecord:
        """The model for a file, without what is known of the data."""
        parameters: dict[str, object] = {"fit_intercept": self.model.fit_intercept}
        names, model = list(self.rows.names), self.model
        if not self.counted:
            fitted = run_state(0, converged=True)
            return ModelRecord("Perceptron", model, names, parameters, fitted)
        proofs = []  # by the labels of the model
        for k, rule in enumerate(self.counted):
            positive, negative = labels_of(model.scheme, model.classes, k)
            proofs.append(replace(rule.proof, positive=positive, negative=negative))
        errors = [rule.errors for rule in self.counted]
        history = [np.array(rule.history) for rule in self.counted]
        return ModelRecord(
            "Pocket", model, names, parameters, *pocket_state(errors, proofs, history)
        )

    def lines(self, source: str, files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Heading and text of each line; lines that belong to the one above have no heading."""
        rows = self.rows
        size = f"{counted(rows.n, 'row')} in {counted(rows.n_shards, 'file')}"
        yield "data", f"{source} · {size} · {counted(rows.d, 'feature')} · {self._labels()}"
        for k, verdict in enumerate(self.verdicts):
            if len(self.verdicts) > 1 and verdict.certificate is not None:
                yield "class", f"{verdict.certificate.positive} against the rest"
            yield from verdict_text.lines(verdict, _counted_from_1)
            if self.counted:
                yield "mistakes", _mistakes(self.counted[k], rows.n)
        others = "".join(f"   {name}  {path}" for name, path in files.items() if name != "model")
        yield "model", files.get("model", "not written") + others

    def to_json(self, seconds: float) -> str:
        """The same for another program."""
        body: list[dict[str, Any]] = [
            {
                "kind": verdict.kind,
                "margin": list(verdict.margin),
                "radius": verdict.radius,
                "mistake_bound": verdict.mistake_bound,
                "separated": verdict.n_separated,
                "support": verdict.support.tolist(),
            }
            for verdict in self.verdicts
        ]
        for told, rule in zip(body, self.counted, strict=False):
            told |= {"errors": rule.errors, "errors_lower_bound": int(rule.bound)}
        return json.dumps({"rows": self.rows.n, "verdicts": body, "seconds": seconds}) + "\n"

    def _labels(self) -> str:
        """The column of the labels, and the classes with their signs."""
        recipe, labels = self.rows.source.recipe, self.rows.labels
        said = f"label {recipe.label}" if recipe is not None and recipe.label else "label"
        if len(labels) > 2 and self.positive is None:
            return f"{said}: {len(labels)} classes"
        plus = labels[1] if self.positive is None else self.positive
        others = [str(label) for label in labels if label != plus]
        return f"{said}: {plus} (+)  {others[0] if len(others) == 1 else REST} (−)"


def study_rows(
    rows: Rows, options: Options, progress: IntervalProgress | None = None
) -> ClusterStudy:
    """Decide and learn, by the options that a cluster knows; the budget is for all of it."""
    labels = rows.labels
    positive = None if options.positive is None else plain_label(options.positive)
    if len(labels) < 2:
        raise ValueError(f"All rows have the label {labels[0]!r}: two classes are needed.")
    clock, bias = Limits(seconds=options.budget), options.fit_intercept
    asked = [None] if len(labels) == 2 else labels
    asked = asked if positive is None else [positive]
    verdicts = []
    for k, label in enumerate(asked):
        left = clock.part(0.5 / (len(asked) - k)).seconds
        budget = None if left is None else max(0.01, left)
        verdicts.append(
            rows.separate(positive=label, fit_intercept=bias, budget=budget, progress=progress)
        )
    classes = labels
    if positive is not None and len(labels) > 2:
        classes = [REST, str(positive)]
        if not classes[1] > REST:
            raise ValueError(f"The label {positive!r} cannot be told from {REST!r}: rename it.")
    model, found = LinearModel(np.array(classes), rows.d, bias), list[Any]()
    proofs = [verdict.certificate for verdict in verdicts if verdict.kind == "separable"]
    if len(proofs) == len(verdicts):
        cases = [
            Case(plain_label(proof.positive), proof.negative, verdict)
            for verdict, proof in zip(verdicts, proofs, strict=True)
            if proof is not None
        ]
        model.W[:] = np.column_stack([separator(case, case.verdict) for case in cases])
    else:
        sides = [labels_of(model.scheme, model.classes, rule) for rule in range(model.n_rules)]
        if positive is not None and classes is not labels:
            sides = [(positive, None)]
        found = rows.fewest_mistakes(sides, bias, clock, options.seed)
        model.W[:] = np.column_stack([rule.w for rule in found])
        model.totals[1:] = [rule.updates for rule in found]
    return ClusterStudy(rows, positive, verdicts, model, found)


def _counted_from_1(rows: Indices) -> str:
    first = [str(row + 1) for row in rows[: verdict_text.SHOWN].tolist()]
    return f"{verdict_text.some(first, len(rows))} (counted from 1, one file after the other)"


def _mistakes(rule: CountedRule, n: int) -> str:
    text = f"{rule.errors:,} of {n:,} rows ({rule.errors / n:.1%})"
    if rule.errors and rule.optimal:
        return f"{text}; proved: no hyperplane makes fewer"
    return f"{text}; proved: every hyperplane makes at least {int(rule.bound):,}"

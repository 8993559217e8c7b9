"""The steps of a study whose rows and labels are on a cluster.

The perceptron does not run, and single rows are reported only if they are part of a proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from novikoff.core.class_labels import Sides, side_labels
from novikoff.core.model import LinearModel
from novikoff.core.problem import Rows
from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.jobs.study_records import Case, StudyOptions, StudyProgress
from novikoff.jobs.study_tasks import StudyClasses, StudyTask

if TYPE_CHECKING:
    from novikoff.cluster import ClusterRows
    from novikoff.geometry.margin import Interval
    from novikoff.geometry.verdict import Verdict
    from novikoff.jobs.study_records import FoundRule


@dataclass(frozen=True)
class ClusterTask(StudyTask):
    """A study of rows on a cluster."""

    rows: ClusterRows

    @classmethod
    def of(
        cls,
        rows: ClusterRows,
        options: StudyOptions,
        clock: Limits,
        announce: StudyProgress,
    ) -> ClusterTask:
        """Take the labels from the rows."""
        classes = StudyClasses.of(np.asarray(rows.labels), options.positive)
        return cls(classes, options, clock, announce, rows=rows)

    def decide(self, sides: Sides, limits: Limits, progress: Callable[[Interval], None]) -> Verdict:
        """Decide one comparison."""
        from novikoff.cluster.shards import Setting

        setting = Setting(*sides, self.options.fit_intercept)
        return self.rows.decide(setting, "margin", 1e-8, limits, progress)

    def separated_by(self, W: Vector) -> bool:
        """Whether every rule, proved, has each row strictly on its correct side."""
        return self.rows.separated_by(W, self.classes.rules, self.options.fit_intercept)

    def fewest_mistakes(self, cases: list[Case]) -> tuple[LinearModel, list[FoundRule], list[Case]]:
        """Find the model with the fewest mistakes; return it, its rules, and cases with bounds."""
        options, classes = self.options, self.classes
        self.announce("fewest mistakes")
        verdicts = [case.verdict for case in cases]
        rules = self.rows.fewest_mistakes(
            classes.rules, options.fit_intercept, self.clock, options.seed, verdicts
        )
        cases = [
            replace(case, mistakes=rule.mistakes, bound=rule.proof)
            for case, rule in zip(cases, rules, strict=True)
        ]
        named: list[FoundRule] = []  # rules whose proofs name the labels of the model
        for k, rule in enumerate(rules):
            positive, negative = side_labels(classes.scheme, classes.labels, k)
            proof = replace(rule.proof, positive=positive, negative=negative)
            named.append(replace(rule, proof=proof))
        model = self.model(np.column_stack([rule.w for rule in rules]))
        model.totals[1:] = [rule.updates for rule in rules]
        return model, named, cases

    def count(
        self, model: LinearModel, rows_of_run: Rows | None, *, duplicates: bool
    ) -> tuple[Indices, list[float], None]:
        """Return the confusion matrix and the margin of each rule."""
        evaluation = self.rows.judge(model, self.classes.codes)
        return evaluation.confusion, evaluation.margins.tolist(), None

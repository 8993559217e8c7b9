"""Visits of the shards of a cluster: the margins of a model, digests, and checks of proofs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novikoff.cluster.shards import Setting, Shard
from novikoff.cluster.tasks import ShardVisit
from novikoff.core.class_labels import Label
from novikoff.core.model import LinearModel, evaluate
from novikoff.core.rows import Indices, Vector
from novikoff.proofs.certificate import Certificate, CertificateCheck
from novikoff.proofs.digest import HashTree
from novikoff.proofs.error_bound import BoundCheck, ErrorBound


@dataclass
class ModelMargins(ShardVisit):
    """A visit that finds the confusion matrix of a model, and the smallest margin of each rule.

    The rows of the confusion matrix are the true classes.
    """

    model: LinearModel
    labels: tuple[Label, ...]
    codes: Indices  # the class of the model for each label
    confusion: Indices = field(init=False)
    margins: Vector = field(init=False)

    def __post_init__(self) -> None:
        n_classes = len(self.model.classes)
        self.confusion = np.zeros((n_classes, n_classes), dtype=np.int64)
        self.margins = np.full(self.model.n_rules, np.inf)

    def look_at_shard(self, shard: Shard) -> None:
        """Predict the class of each row."""
        evaluation = evaluate(self.model, shard.X, self.codes[shard.classes(self.labels)])
        self.confusion = self.confusion + evaluation.confusion
        self.margins = np.minimum(self.margins, evaluation.margins)

    def merge(self, other: ModelMargins) -> None:
        """Add the counts and keep the smaller margins."""
        self.confusion = self.confusion + other.confusion
        self.margins = np.minimum(self.margins, other.margins)


@dataclass
class Digests(ShardVisit):
    """A visit that computes the hash trees of the rows and of their signs."""

    d: int
    settings: tuple[Setting, ...]
    rows: HashTree = field(init=False)
    signs: list[HashTree] = field(init=False)

    def __post_init__(self) -> None:
        self.rows, self.signs = HashTree(self.d), [HashTree(0) for _ in self.settings]

    def look_at_shard(self, shard: Shard) -> None:
        """Hash the rows of a shard."""
        self.rows.add(shard.first, shard.X)
        for setting, tree in zip(self.settings, self.signs, strict=True):
            tree.add(shard.first, shard.part(setting).signs)

    def merge(self, other: Digests) -> None:
        """Join the trees of both."""
        self.rows.merge(other.rows)
        for tree_here, tree in zip(self.signs, other.signs, strict=True):
            tree_here.merge(tree)


@dataclass
class Check(ShardVisit):
    """A visit that checks a certificate on the rows of the shards."""

    certificate: Certificate | ErrorBound
    checking: Any = field(init=False)

    def __post_init__(self) -> None:
        proof = self.certificate
        self.checking = (
            BoundCheck(proof) if isinstance(proof, ErrorBound) else CertificateCheck(proof)
        )

    def look_at_shard(self, shard: Shard) -> None:
        """Let the checker read a shard."""
        part = slice(shard.first, shard.first + len(shard.codes))
        self.checking.read(shard.X, shard.given_labels(), part)

    def merge(self, other: Check) -> None:
        """Join the results of both checks."""
        self.checking.merge(other.checking)

"""Training on rows that come in blocks: a pass is an epoch, block after block.

The weights go from block to block as they would from row to row, and the rows of a block are
looked at in the plan's order. In cyclic order a pass is an epoch over all rows, mistake for
mistake.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets

from novikoff.core.blocks import Blocks, Coded, CodedBlocks, ahead
from novikoff.core.orders import Chaotic, Cyclic, MaxDistance, MaxResidual
from novikoff.core.problem import measured, pose_again
from novikoff.core.rows import Indices
from novikoff.core.stops import Limits, Stop
from novikoff.learners.inputs import Labels, MatrixLike, check_rows_and_labels, code_labels
from novikoff.learners.online import Rules
from novikoff.learners.schemes import Scheme
from novikoff.learners.training import Plan, train


def classes_of(blocks: Blocks) -> Labels:
    """The different labels, sorted; found in a pass of their own where the blocks do not say."""
    if isinstance(blocks, CodedBlocks):
        return blocks.classes
    found = [np.unique(np.asarray(y)) for _, y in ahead(_filled(blocks))]
    if not found:
        raise ValueError("There are no blocks, and so no rows, to learn from.")
    return np.unique(np.concatenate(found))


def refuse_beside_blocks(**given: object) -> None:
    """Raise ValueError if something is given that blocks bring along, or cannot be used with."""
    for name, value in given.items():
        if value is not None and value is not False:
            raise ValueError(f"{name} cannot be given along with blocks.")


def meet(blocks: Blocks, estimator: BaseEstimator) -> int:
    """The number of columns; the estimator expects as many from now on."""
    if isinstance(blocks, CodedBlocks):
        estimator.__dict__.pop("_feature_names", None)
        estimator.n_features_in_ = blocks.n_features
        return blocks.n_features
    for given in _filled(blocks):
        X, _ = check_rows_and_labels(estimator, *given, reset=True)
        return int(X.shape[1])
    raise ValueError("There are no blocks, and so no rows, to learn from.")


def coded(
    blocks: Blocks, estimator: BaseEstimator, classes: Labels, threads: int = 1
) -> Iterator[Coded]:
    """Blocks with codes in place of labels, each checked as a matrix of its own would be."""
    if isinstance(blocks, CodedBlocks):
        recode = _translation(blocks.classes, classes)
        if blocks.n_features != estimator.n_features_in_:
            raise ValueError(
                f"The blocks have {blocks.n_features} features, but "
                f"{estimator.n_features_in_} are expected."
            )
        for block in blocks.coded():
            yield block if recode is None else block._replace(codes=recode[block.codes])
        return
    first = 0
    for given in _filled(blocks):
        X, y = check_rows_and_labels(estimator, *given, reset=False)
        check_classification_targets(y)
        yield measured(X, code_labels(y, classes).astype(np.int32), threads, first)
        first += len(y)


class Passes:
    """Passes over blocks by the rules of a scheme, all of them from the same weights on."""

    def __init__(
        self, blocks: Blocks, estimator: BaseEstimator, classes: Labels, scheme: Scheme, plan: Plan
    ) -> None:
        if isinstance(plan.order, Chaotic | MaxDistance | MaxResidual):
            raise ValueError(
                f"The order {type(plan.order).__name__} needs all rows at once: with blocks, "
                "choose 'cyclic', 'fixed', 'permuted', 'blocks' or 'random'."
            )
        self.blocks, self.estimator, self.classes = blocks, estimator, classes
        self.scheme, self.plan, self.begun = scheme, plan, 0
        self._deck: Indices = np.arange(0)

    def make(self, rules: Rules) -> Stop | None:
        """Go through all rows once; the limit that ended it early, if one did."""
        limits, base = self.plan.limits, self.plan
        self.begun += 1
        intercept = rules.bias > 0.0
        source = coded(self.blocks, self.estimator, self.classes, base.threads)
        try:
            for number, block in enumerate(ahead(source)):
                stop = limits.reached() or _spent(limits, rules)
                if stop is not None:
                    return stop
                signs = np.ones(len(block.codes), dtype=np.int8)
                problem = pose_again(block, signs, intercept)
                plan = replace(base, seed=self._seed(number), limits=_share(limits, rules))
                deck = self._numbers(problem.n) if type(plan.order) is Cyclic else None
                training = train(problem, block.codes, self.scheme, plan, start=rules.W, deck=deck)
                rules.adopt(training.W, training.lazy, training.tally)
                limits.interrupted |= plan.limits.interrupted
        except KeyboardInterrupt:
            limits.interrupted = True
        return limits.reached() or _spent(limits, rules)

    def _numbers(self, n: int) -> Indices:
        """0, 1, …, n − 1, kept from block to block: memory that is fresh is slow.

        For the cyclic order, which deals them as they are: another might deal them out of place.
        """
        if len(self._deck) < n:
            self._deck = np.arange(n)
        return self._deck[:n]

    def _seed(self, number: int) -> int:
        """Another one for each block of each pass."""
        return int(np.random.default_rng([self.plan.seed, self.begun, number]).integers(2**31))


def _filled(blocks: Blocks) -> Iterator[tuple[MatrixLike, npt.ArrayLike]]:
    """The blocks that have rows."""
    for given in blocks:
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise ValueError("Blocks are pairs (X, y) of rows and labels.")
        X, y = given
        if (X.shape[0] if hasattr(X, "shape") else len(X)) > 0:
            yield X, y


def _share(limits: Limits, rules: Rules) -> Limits:
    """What is left for one block."""
    updates = None if limits.updates is None else limits.updates - int(rules.tally[1].max())
    return Limits(epochs=1, updates=updates, seconds=limits.left())


def _spent(limits: Limits, rules: Rules) -> Stop | None:
    spent = limits.updates is not None and int(rules.tally[1].max()) >= limits.updates
    return Stop.UPDATES if spent else None


def _translation(own: Labels, classes: Labels) -> npt.NDArray[np.int32] | None:
    """From the codes of some classes to those of others, which must have them all."""
    if np.array_equal(own, classes):
        return None
    return code_labels(own, classes).astype(np.int32)

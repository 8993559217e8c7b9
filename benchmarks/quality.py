"""Whether two sides came to the same quality: without it a ratio of times does not count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.data import Matrix, Split
from benchmarks.peers import Linear

# A difference in test error that is never held against ours.
_NEGLIGIBLE = 0.001


@dataclass(frozen=True)
class Quality:
    """Whether both sides are equally good, and in what sense."""

    same: bool
    note: str
    numbers: dict[str, list[float]] = field(default_factory=dict)


NOT_ASKED = Quality(True, "")


def same_weights(ours: Sequence[Linear], peer: Sequence[Linear]) -> Quality:
    """The very same updates leave the very same weights."""
    gap = max(_gap(a, b) for a, b in zip(ours, peer, strict=True))
    note = "identical weights" if gap == 0.0 else f"weights within {gap:.0e}"
    return judged(gap < 1e-9, note, {"weight_gap": [gap]})


def same_test_error(
    ours: Sequence[Linear], peer: Sequence[Linear], split: Split[Matrix]
) -> Quality:
    """Ours errs no more than the peer on unseen rows, but for noise.

    The last weights of a perceptron jump about on noisy data, so errors are compared as
    means over several fits: ours may exceed the peer's by two standard errors of the
    difference, or by a tenth of a percent.
    """
    mine, theirs = _errors(ours, split), _errors(peer, split)
    excess = mine - theirs
    noise = float(excess.std(ddof=1) / np.sqrt(len(excess))) if len(excess) > 1 else 0.0
    return judged(
        bool(excess.mean() <= max(2.0 * noise, _NEGLIGIBLE)),
        f"test error {mine.mean():.2%} / {theirs.mean():.2%} ± {noise:.2%}",
        {"test_error_ours": mine.tolist(), "test_error_peer": theirs.tolist()},
    )


def same_mistakes(ours: int, peer: int) -> Quality:
    """The same number of mistakes on the same stream."""
    return judged(
        ours == peer,
        f"{ours} / {peer} mistakes",
        {"mistakes_ours": [ours], "mistakes_peer": [peer]},
    )


def judged(same: bool, note: str, numbers: dict[str, list[float]] | None = None) -> Quality:
    """A judgement that says so where it is bad."""
    return Quality(same, note if same else f"quality differs: {note}", numbers or {})


def _gap(a: Linear, b: Linear) -> float:
    """The largest difference of two weights, relative to the largest weight."""
    v = np.append(a.coef_, a.intercept_).astype(np.float64)
    w = np.append(b.coef_, b.intercept_).astype(np.float64)
    return float(np.abs(v - w).max() / max(np.abs(w).max(), np.finfo(np.float64).tiny))


def _errors(
    models: Sequence[Linear], split: Split[Matrix]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([np.mean(model.predict(split.X_test) != split.y_test) for model in models])

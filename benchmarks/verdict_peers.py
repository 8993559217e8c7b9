"""Who else answers the questions of the verdict: HiGHS whether, LIBSVM how widely.

A peer's answer comes without a proof. What it says is put in `Answer`, to be held against
ours by the functions below: a ratio of times counts only where both say the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

import numpy as np
from scipy.optimize import linprog

from benchmarks.data import Labels, Matrix
from benchmarks.peers import Vector
from benchmarks.quality import Quality, judged
from novikoff.geometry.separability import Verdict


class _Classifier(Protocol):
    coef_: Vector
    intercept_: Vector

    def fit(self, X: Vector, y: Labels) -> _Classifier: ...


# Imported by name, as there are no types for it.
_svc: Callable[..., _Classifier] = import_module("sklearn.svm").SVC
# The tolerance of LIBSVM: how far a support vector may be from the level 1, or −1.
_LIBSVM = 1e-3


@dataclass(frozen=True)
class Answer:
    """What a peer says; ``separable`` is None if it came to no end."""

    separable: bool | None
    w: Vector | None = None  # the bias last


def highs(X: Vector, y: Labels, seconds: float) -> Callable[[], Answer]:
    """Is there a w with ⟨a_i, w⟩ ≥ 1 for all rows? A linear program without objective."""
    A = -y[:, None] * np.hstack([X, np.ones((len(X), 1))])
    least = np.full(len(X), -1.0)

    def solve() -> Answer:
        found = linprog(
            np.zeros(A.shape[1]),
            A_ub=A,
            b_ub=least,
            bounds=(None, None),
            method="highs",
            options={"time_limit": seconds},
        )
        if found.status == 0:
            return Answer(True, np.asarray(found.x, dtype=np.float64))
        return Answer(False if found.status == 2 else None)

    return solve


def libsvm(X: Vector, y: Labels) -> Callable[[], Answer]:
    """The hyperplane of the largest margin, by a penalty that allows no row inside it."""

    def fit() -> Answer:
        model = _svc(kernel="linear", C=1e10, tol=_LIBSVM).fit(X, y)
        w = np.append(model.coef_, model.intercept_).astype(np.float64)
        return Answer(True, w)

    return fit


def same_kind(verdict: Verdict, peer: Answer, X: Matrix, y: Labels, tol: float) -> Quality:
    """Ours is proved, and the peer does not contradict it.

    The certificate is verified, the margin is known to the tolerance, and a w of the peer
    separates, by no more than our margin.
    """
    ours = proved(verdict, X, y)
    if peer.separable is None:
        return judged(ours.same, f"{ours.note}; the peer ran out of time: a lower bound")
    agree = peer.separable == (verdict.kind == "separable")
    if peer.w is not None and isinstance(X, np.ndarray):
        reached = float((y * (X @ peer.w[:-1] + peer.w[-1])).min() / np.linalg.norm(peer.w))
        agree = agree and 0.0 < reached <= verdict.margin.hi * (1.0 + 1e-9)
    known = verdict.kind != "separable" or verdict.margin.relative_width <= tol
    says = "separable" if peer.separable else "infeasible"
    return judged(ours.same and agree and known, f"{ours.note}; the peer: {says}")


def same_gap(verdict: Verdict, peer: Answer, X: Vector, y: Labels, tol: float) -> Quality:
    """Ours is known to the tolerance; the peer's margin agrees to its own, and is not wider."""
    ours = verdict.geometric_margin
    if peer.w is None:
        return judged(False, "the peer has no hyperplane")
    w, b = peer.w[:-1], peer.w[-1]
    length = float(np.linalg.norm(w))
    reached = float((y * (X @ w + b)).min()) / length
    claimed = 1.0 / length
    gap = abs(claimed / ours.hi - 1.0)
    return judged(
        proved(verdict, X, y).same
        and ours.relative_width <= tol
        and reached <= ours.hi * (1.0 + 1e-9)
        and gap <= 2.0 * _LIBSVM,
        f"margin {ours.lo:.9g}, the peer's {claimed:.6g}, reached {reached:.6g}",
        {"margin_ours": list(ours), "margin_peer": [claimed, reached]},
    )


def proved(verdict: Verdict, X: Matrix, y: Labels, kind: str | None = None) -> Quality:
    """The verdict has a kind, that asked for if any, and its certificate holds."""
    if verdict.certificate is None or verdict.kind == "undecided":
        return judged(False, "undecided")
    verdict.certificate.verify(X, y)  # or an error
    return judged(kind is None or kind == verdict.kind, f"{verdict.kind}, verified")

"""Learners of the family as loops in NumPy: what a user would write."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def kernel_perceptron(X: Array, y: Array, gamma: float, epochs: int) -> int:
    """The kernel perceptron with K + 1, K of "rbf", in cyclic order: its mistakes."""
    squares, coef, support, mistakes = (X * X).sum(axis=1), np.zeros(len(X)), [0], 0
    for _ in range(epochs):
        before = mistakes
        for i in range(len(X)):
            at = np.array(support)
            kernel = np.exp(-gamma * (squares[at] + squares[i] - 2.0 * (X[at] @ X[i]))) + 1.0
            if y[i] * (coef[at] @ kernel) <= 0.0:
                if coef[i] == 0.0 and i > 0:
                    support.append(i)
                coef[i] += y[i]
                mistakes += 1
        if mistakes == before:
            break
    return mistakes


def forgetron(X: Array, y: Array, gamma: float, budget: int) -> int:
    """The self-tuned Forgetron on a stream: its mistakes."""
    points, squares, beta = np.empty((0, X.shape[1])), np.empty(0), np.empty(0)
    mistakes, damage = 0, 0.0
    for x, sign in zip(X, y, strict=True):
        square = x @ x
        if sign * (beta @ np.exp(-gamma * (squares + square - 2.0 * (points @ x)))) > 0.0:
            continue
        mistakes += 1
        points, squares = np.vstack([points, x]), np.append(squares, square)
        beta = np.append(beta, sign)
        if len(beta) > budget:
            kernel = np.exp(-gamma * (squares + squares[0] - 2.0 * (points @ points[0])))
            sigma, mu = abs(beta[0]), np.sign(beta[0]) * (beta @ kernel)
            a, b = sigma * sigma - 2.0 * sigma * mu, 2.0 * sigma
            c = damage - 15.0 / 32.0 * mistakes
            phi = 1.0 if a + b + c <= 0.0 else -2.0 * c / (b + np.sqrt(b * b - 4.0 * a * c))
            damage += a * phi * phi + b * phi
            points, squares, beta = points[1:], squares[1:], phi * beta[1:]
    return mistakes


def second_order(X: Array, y: Array) -> int:
    """The second-order perceptron with a = 1, by numpy.outer: its mistakes."""
    inverse, w, mistakes = np.eye(X.shape[1]), np.zeros(X.shape[1]), 0
    for x, sign in zip(X, y, strict=True):
        score = w @ x
        if sign * score <= 0.0:
            g = inverse @ x
            s = x @ g
            w += g * (sign - score) / (1.0 + s)
            inverse -= np.outer(g, g) / (1.0 + s)
            mistakes += 1
    return mistakes

"""
A second proof: one curve that falls to zero
============================================

Mistakes do not always bring w closer to w*, neither in distance nor in angle. But every mistake
brings w closer to one far point on the ray of w*: with v = (R²/γ)·w*, it lowers ‖w − v‖² by at
least R² (B1). At first ‖w − v‖² is R⁴/γ², and it is never negative. So there are at most R²/γ²
mistakes.
"""

import matplotlib.pyplot as plt
import numpy as np

import novikoff as nv

corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([-1, -1, -1, 1])
triangle = np.array([[0, 1.42], [-1.23, -0.71], [1.217, -0.703]]), np.array([1, 1, -1])

figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
figure.set_label(
    "Two falling curves below a straight line from 1 to 0. For three points in a triangle the "
    "curve lies on the line; for AND it ends above 0, after 18 of at most 51 mistakes"
)
cases = {"three points": triangle, "AND": corners}
for ax, (name, (X, y)) in zip(axes, cases.items(), strict=True):
    verdict = nv.separate(X, y)
    w_star = np.append(verdict.coef, verdict.intercept)
    w_star /= np.linalg.norm(w_star)
    A = y[:, None] * np.column_stack([X, np.ones(len(X))])
    R, gamma = np.linalg.norm(A, axis=1).max(), (A @ w_star).min()
    run = nv.Perceptron(order="cyclic", trace=True).fit(X, y)
    path, t = run.trace_.weights(), np.arange(run.n_mistakes_ + 1)
    distance = ((path - R**2 / gamma * w_star) ** 2).sum(axis=1)
    start = R**4 / gamma**2
    assert (np.diff(distance) <= -(R**2) + 1e-9 * start).all()
    ends = np.array([0, (R / gamma) ** 2])
    ax.plot(ends, 1 - ends / ends[1], "k:", label="falls by R² at each mistake")
    ax.plot(t, distance / start, "o-", ms=4, label="‖w − v‖² · γ²/R⁴")
    made, most = run.n_mistakes_, verdict.mistake_bound
    ax.set(xlabel="mistakes t, up to R²/γ²", title=f"{name}: {made} of at most {most}")
axes[0].set_ylabel("share of the start")
legend = axes[0].legend()

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_second_proof.png"

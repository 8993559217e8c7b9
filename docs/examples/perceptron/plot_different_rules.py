"""
Another order, another classifier
=================================

The bound holds for every order of the rows, but the order decides which of the many separating
lines the run finds. On the left are the final lines of twelve random orders of the same rows; the
thick line has the largest margin. On the right is the share of the largest margin that each line
has, against the number of mistakes of its run.
"""

import matplotlib.pyplot as plt
import numpy as np

import novikoff as nv

rng = np.random.default_rng(3)
X = np.vstack([rng.normal([0, 1.4], 0.6, (18, 2)), rng.normal([1, -1.2], 0.6, (18, 2))])
y = np.repeat([1, -1], 18)
w_star = nv.separate(X, y)
best = np.append(w_star.coef, w_star.intercept)
A = y[:, None] * np.column_stack([X, np.ones(len(X))])

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
figure.set_label(
    "Left: two clouds with twelve different separating lines, and the line of the largest margin. "
    "Right: the mistakes and the margin of each line, which differ from order to order"
)
nv.plots.BoundaryDisplay.from_estimator(nv.MaxMargin().fit(X, y), X, y, ax=left)
left.set_title("the final lines of twelve orders", loc="right")
across, counts, shares = np.array(left.get_xlim()), [], []
for seed in range(12):
    order = np.random.default_rng(seed).permutation(len(X)).tolist()
    run = nv.Perceptron(order=order).fit(X, y)
    w = np.append(run.coef_, run.intercept_)
    assert (A @ w > 0).all()
    left.plot(across, -(w[0] * across + w[2]) / w[1], "k-", lw=0.8, alpha=0.6)
    counts.append(run.n_mistakes_)
    shares.append((A @ w).min() / np.linalg.norm(w) / w_star.margin.lo)
left.set_ylim(X[:, 1].min() - 0.5, X[:, 1].max() + 0.5)
assert len(set(counts)) > 4
assert max(shares) <= 1
right.plot(counts, shares, "o")
right.set(xlabel="mistakes of the run", ylabel="margin / largest margin", ylim=(0, 1))
title = right.set_title(f"the theorem allows {w_star.mistake_bound} mistakes", loc="right")

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_different_rules.png"

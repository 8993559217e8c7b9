"""
A skewed spectrum: the second-order perceptron
==============================================

Nineteen features are large and carry no information; the smallest feature decides the label. The
perceptron makes many mistakes on such data. The second-order perceptron rescales the features by
the rows that it has seen, and its bound, computed during the run from ln det A, holds (A9).
"""

import matplotlib.pyplot as plt
import numpy as np

import novikoff as nv

rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 20)) * np.append(np.full(19, 5.0), 1.0)
X = X[np.abs(X[:, -1]) > 0.2]
y = X[:, -1] > 0
u, margin = np.append(np.zeros(19), 1.0), 0.2
first, second = nv.Perceptron(fit_intercept=False), nv.SecondOrderPerceptron(fit_intercept=False)
for learner in (first, second):
    learner.partial_fit(X[:2], y[:2], classes=[False, True])
seen, numbers = np.arange(52, len(X), 50), []
quadratic = 1.0 + ((X[:2] @ u) ** 2).sum()  # uᵀAu; the first two rows may be mistakes
for end in seen:
    for x, label in zip(X[end - 50 : end], y[end - 50 : end], strict=True):
        before = second.n_mistakes_
        first.learn_one(x, label)
        second.learn_one(x, label)
        quadratic += (x @ u) ** 2 * (second.n_mistakes_ > before)
    bound = nv.bounds.second_order_bound(margin, 0.0, quadratic, second.log_det_[0])
    numbers.append((first.n_mistakes_, second.n_mistakes_, bound))
one, two, bound = np.array(numbers).T

figure, ax = plt.subplots(figsize=(8, 4.6), layout="constrained")
figure.set_label("Many mistakes of the perceptron; few of the second-order perceptron")
ax.plot(seen, one, label="the perceptron")
ax.plot(seen, two, label="the second-order perceptron")
ax.plot(seen, bound, "--", color="C1", label="its bound, at run time")
ax.set(xlabel="rows seen", ylabel="mistakes", yscale="log")
legend = ax.legend()
assert (two <= bound).all()
assert two[-1] < one[-1] / 5

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_second_order.png"

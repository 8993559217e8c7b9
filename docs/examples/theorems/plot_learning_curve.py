"""
Training error, test error and the Bayes rule
=============================================

Two Gaussian classes in 20 dimensions are known, so the error of every linear rule on new rows is a
formula. Few rows are separable: then the training error is 0, and the test error is not. With more
rows the test errors fall towards the error of the Bayes rule, below which no rule comes, and the
training error rises to meet them.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning

import novikoff as nv

warnings.simplefilter("ignore", ConvergenceWarning)
d, m = 20, np.full(20, 1.5 / np.sqrt(20))
rng = np.random.default_rng(0)
y = rng.choice([-1, 1], 4000)
X = y[:, None] * m + rng.normal(size=(4000, d))


def error(rule):
    w, b = rule.coef_[0], rule.intercept_[0]
    return norm.cdf((np.array([-1, 1]) * b - w @ m) / np.linalg.norm(w)).mean()


sizes = np.unique(np.logspace(1.1, np.log10(4000), 12).astype(int))
tested = {"last weights": [], "average": [], "largest margin": []}
training = []
for n in sizes:
    last = nv.Perceptron(max_epochs=20, random_state=0).fit(X[:n], y[:n])
    mean = nv.Perceptron(max_epochs=20, average=True, random_state=0).fit(X[:n], y[:n])
    tested["last weights"].append(error(last))
    tested["average"].append(error(mean))
    training.append((mean.predict(X[:n]) != y[:n]).mean())
    if nv.separate(X[:n], y[:n], goal="kind").kind == "separable":
        tested["largest margin"].append(error(nv.MaxMargin().fit(X[:n], y[:n])))
bayes = norm.cdf(-1.5)
assert all(error >= bayes for errors in tested.values() for error in errors)
assert training[0] == 0 < training[-1]

figure, ax = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
figure.set_label(
    "Test errors of three rules fall from about a quarter towards the Bayes error of 0.067 as the "
    "number of training rows grows; the training error rises from 0 towards the same line"
)
for (name, errors), dashes in zip(tested.items(), ["-", "--", "-."], strict=True):
    ax.plot(sizes[: len(errors)], errors, dashes, marker="o", ms=4, label=f"test error, {name}")
ax.plot(sizes, training, ":", marker="s", ms=4, label="training error, average")
ax.axhline(bayes, color="black", lw=1)
ax.annotate("Bayes error", (sizes[0], bayes), va="bottom")
ax.set(xlabel="training rows n", ylabel="error", xscale="log", ylim=(-0.01, None))
legend = ax.legend()

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_learning_curve.png"

"""
Herding: a perceptron that samples
==================================

Which few points have nearly the mean of all points? Herding chooses them one by one (D7). It is the
perceptron on the rows φ̄ − φ_s, and because its weights stay bounded, the error falls like 1/T. The
error of points drawn at random falls like 1/√T. On the right, with a kernel, the chosen points
approximate the whole distribution, not only the mean.
"""

import matplotlib.pyplot as plt
import numpy as np

import novikoff as nv

rng = np.random.default_rng(0)
points = rng.normal(size=(400, 2))
T = np.arange(1, 1001)
herded = nv.herd(points, n_samples=1000)
draws = points[rng.integers(400, size=(50, 1000))]
means = np.cumsum(draws, axis=1) / T[:, None]
random = np.linalg.norm(means - points.mean(axis=0), axis=2).mean(axis=0)

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
figure.set_label("The error of herding falls faster than that of random draws; 40 of 400 points")
left.plot(T, random, "-", color="gray", label="drawn at random (mean of 50)")
left.plot(T, herded.errors, "-", lw=1, label="herding")
left.plot(T, herded.bound, "k--", lw=1, label="E/√T")
left.plot(T, herded.fast_bound, "k:", lw=1, label="max(E, E²/2ρ)/T")
left.set(xlabel="points T", ylabel="distance to the mean", xscale="log", yscale="log")
assert (herded.errors <= np.minimum(herded.bound, herded.fast_bound) * (1 + 1e-9)).all()
left.legend()


def rbf(X, Y):
    return np.exp(-0.5 * ((X[:, None] - Y[None]) ** 2).sum(axis=2))


few = nv.herd(points, n_samples=40, kernel=rbf)
right.plot(*points.T, ".", color="lightgray", label="400 points")
right.plot(*points[few.indices].T, "o", ms=5, label="40 by kernel herding")
right.set(aspect="equal", xticks=[], yticks=[])
legend = right.legend()

# %%
# If the target is not a mean of points, a hyperplane separates it from them, with a certificate.

nv.herd(points, target=[9.0, 0.0]).verdict

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_herding.png"

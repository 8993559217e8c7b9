"""
A budget, and what forgetting costs
===================================

The Forgetron keeps at most B = 100 points of an endless, noisy stream (A9). The cost Q of the
points that it removes is at most 15/32 of the mistakes M. The proof of M ≤ 2‖g‖² + 4·Σℓ needs
nothing else. A kernel perceptron keeps every row on which it makes a mistake.
"""

import matplotlib.pyplot as plt
import numpy as np

import novikoff as nv

rng = np.random.default_rng(0)
X = rng.normal(size=(8_000, 2))
y = ((X**2).sum(axis=1) > 1.4) ^ (rng.random(len(X)) < 0.1)  # one label in ten is wrong
budget, full = nv.Forgetron(100, gamma=0.5), nv.KernelPerceptron(gamma=0.5, fit_intercept=False)
seen = np.arange(500, len(X) + 1, 500)
numbers = []
for end in seen:
    for learner in (budget, full):
        learner.partial_fit(X[end - 500 : end], y[end - 500 : end], classes=[False, True])
    kept = budget.n_support_[0], full.n_support_
    numbers.append((budget.n_mistakes_, budget.damage_[0], full.n_mistakes_, *kept))
M, Q, theirs, points, their_points = np.array(numbers).T

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
figure.set_label("Mistakes and the cost of forgetting; and the number of points kept")
left.plot(seen, M, label="mistakes M of the Forgetron")
left.plot(seen, theirs, label="mistakes of the kernel perceptron")
left.plot(seen, 15 / 32 * M, "--", color="black", label="15/32·M")
left.plot(seen, Q, label="Q, the cost of forgetting")
right.plot(seen, points, label="Forgetron")
right.plot(seen, their_points, label="kernel perceptron")
right.set(title="points kept", xlabel="rows seen", yscale="log")
left.set(xlabel="rows seen")
left.legend()
legend = right.legend()
assert (Q <= 15 / 32 * M + 1e-9).all()

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_forgetron.png"

"""
One neuron cannot, a network can
================================

No line separates XOR, so no threshold neuron computes it: the four rows, with equal weights, add up
to nothing, which is the proof (A12). Two layers do, and a tower of units that each see the answer
of the unit before learns any training rows without contradictions.
"""

import matplotlib.pyplot as plt
import numpy as np

import novikoff as nv

table, xor = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
verdict = nv.separate(table, xor)
print(verdict.kind, verdict.certificate.multipliers)

network = nv.neurons.Network.xor()
print(network.forward(table).ravel())
ax = network.draw()

# %%
# Two spirals, 194 points: each unit gets at least one more right than the unit before, by proof.

k = np.arange(97)
radius, angle = 6.5 * (104 - k) / 104, k * np.pi / 16
arm = np.column_stack([radius * np.sin(angle), radius * np.cos(angle)])
X, y = np.vstack([arm, -arm]), np.repeat([1, 0], 97)
tower = nv.TowerClassifier(random_state=0).fit(X, y)
assert tower.n_errors_ == 0

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
left.step(np.arange(1, tower.n_units_ + 1), tower.unit_errors_[0], where="mid")
left.set(xlabel="units", ylabel="rows wrong", ylim=(0, None))
grid = np.linspace(-7, 7, 200)
plane = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
right.pcolormesh(grid, grid, tower.predict(plane).reshape(200, 200), cmap="Blues", vmax=3)
right.plot(*X[y == 1].T, "ko", ms=3)
right.plot(*X[y == 0].T, "k^", ms=4, mfc="white")
right.set(aspect="equal", xticks=[], yticks=[], title=f"{tower.n_units_} units")
figure

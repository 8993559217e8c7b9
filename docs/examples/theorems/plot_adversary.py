"""
No learner beats the adversary
==============================

On data in the unit ball with margin γ, the perceptron makes at most 1/γ² mistakes (B5). No learner
can guarantee fewer (B7): the adversary shows the unit vectors and labels each of them against the
learner's answer, and still a rule of margin γ classifies all of them correctly. Here three learners
play, each against its own adversary.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB

import novikoff as nv

margins = [0.5, 0.3, 0.2, 0.15, 0.1]
learners = {
    "novikoff.Perceptron": nv.Perceptron,
    "SGDClassifier": lambda: SGDClassifier(random_state=0),
    "BernoulliNB": BernoulliNB,
}

figure, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
figure.set_label("The mistakes that an adversary forces on three learners lie on the curve 1/γ²")
for marker, (name, new) in zip("os^", learners.items(), strict=True):
    games = [nv.theory.force_mistakes(new(), gamma, d=60) for gamma in margins]
    for game in games:
        game.verdict.certificate.verify(game.X, game.y)
    ax.plot(margins, [game.mistakes for game in games], marker, ms=8, mfc="none", label=name)
ax.plot(margins, [1 / gamma**2 for gamma in margins], "k--", lw=1, label="1/γ²")
ax.axhline(60, color="gray", lw=1, ls=":", label="d = 60")
ax.set(xlabel="margin γ", ylabel="mistakes forced", yscale="log")
legend = ax.legend()

# %%
# A learner without randomness makes the same mistakes on this sequence again, so the sequence is a
# hard data set for it.

game = nv.theory.force_mistakes(nv.Perceptron(), margin=0.1, d=100)
again = nv.Perceptron(order="cyclic", max_epochs=1, fit_intercept=False)
again.partial_fit(game.X, game.y, classes=[0, 1]).n_mistakes_, game.verdict.mistake_bound

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_adversary.png"

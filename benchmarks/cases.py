"""The rows of the table: one function for each case, ``case(scale, turns)``.

The scale `FULL` is that of the aims; `TINY` only shows that everything runs. Both sides get the
same data; certificates are verified, and answers compared, outside of the timing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.metrics.pairwise import rbf_kernel
from tests.real_data import DATA

import novikoff as nv
from benchmarks import data, loops, peers
from benchmarks.cluster import cluster_rows
from benchmarks.first_touch import first_touch
from benchmarks.measure import Row, Turns, compare, compare_epochs, timed
from benchmarks.separation import separation_rows
from benchmarks.systems import first_solve, sparse_systems, system_files, tall_systems
from novikoff.sentences import counted

Case: TypeAlias = "Callable[[Scale, int], list[Row]]"
NEGLIGIBLE = 0.001  # differences in test error up to this number are ignored
# One pass of the perceptron in the order of the rows, as the peers do it.
ONE_PASS = ("--no-verdict", "--order", "cyclic", "--scale", "none", "--epochs", "1")


@dataclass(frozen=True)
class Scale:
    """Sizes of the data, and seconds that a solver gets."""

    dense: tuple[int, int] = (1_000_000, 100)
    sparse: tuple[int, int, int] = (200_000, 50_000, 72)  # rows, columns, nonzeros per row
    n_classes: int = 20
    epochs: int = 6
    stream: int = 10_000
    long: tuple[int, int] = (100_000, 20)
    long_flips: tuple[int, ...] = (0, 1, 1_000)  # labels flipped, one question each
    wide: tuple[int, int] = (20_000, 100)
    wide_flips: tuple[int, ...] = (0, 10)
    max_margin: tuple[int, int] = (20_000, 20)
    growth: tuple[int, ...] = (10_000, 31_623, 100_000, 316_228, 1_000_000)
    patience: float = 120.0
    real_sets: tuple[str, ...] = (
        *("spam.csv.gz", "satellite.csv.gz", "ionosphere.csv"),
        *("breast_cancer", "digits", "wine"),
    )
    embedded: tuple[int, int, int] = (100_000, 768, 10)  # rows, columns, classes
    tall: tuple[int, int] = (2_000_000, 20)
    csv: tuple[int, int] = (1_000_000, 100)
    pipe: tuple[int, int] = (1_000_000, 50)
    short_pipe: int = 50_000  # rows for river
    large: int = 4_000_000  # rows of 100 features that are not to be in memory
    first_files: int = 4
    herd: tuple[int, int, int] = (4_096, 10, 2)  # points, features, halvings
    system: tuple[int, int] = (100_000, 50)
    system_files: int = 200
    sparse_system: int = 10_000
    kernel: tuple[int, int] = (5_000, 50)
    budgeted: tuple[int, int] = (20_000, 50)  # rows and columns of a stream
    second_order: tuple[int, int] = (2_000, 500)
    cluster: tuple[int, int] = (2_000_000, 50)
    factor: tuple[int, int] = (20_000, 300)  # rows and columns of a binary model
    multinomial: tuple[int, int, int] = (990, 10, 11)  # rows, columns, classes
    lifetimes: tuple[int, int] = (100_000, 10)
    countries: int = 200
    joint_sets: tuple[str, ...] = ("satellite.csv.gz",)


FULL = Scale()
TINY = Scale(
    dense=(2_000, 10),
    sparse=(2_000, 300, 12),
    n_classes=4,
    epochs=3,
    stream=200,
    long=(600, 4),
    long_flips=(0, 20),
    wide=(400, 8),
    wide_flips=(40,),
    max_margin=(300, 4),
    growth=(300, 600, 1_200),
    patience=5.0,
    real_sets=("wine",),
    embedded=(400, 8, 3),
    tall=(2_000, 3),
    csv=(2_000, 10),
    pipe=(1_000, 5),
    short_pipe=200,
    large=500,
    first_files=1,
    herd=(256, 3, 2),
    system=(500, 5),
    system_files=3,
    sparse_system=600,
    kernel=(200, 20),
    budgeted=(400, 5),
    second_order=(100, 10),
    cluster=(2_000, 5),
    factor=(400, 20),
    multinomial=(90, 2, 3),
    lifetimes=(300, 3),
    countries=10,
    joint_sets=("wine",),
)


def first_fit(scale: Scale, turns: int) -> list[Row]:
    """``novikoff fit`` with empty caches, whole processes, in units of ``import numba``."""
    return first_touch(scale.first_files)


def warm_fit(scale: Scale, turns: int) -> list[Row]:
    """``novikoff fit`` on a small file with filled caches, in imports of scikit-learn."""
    with data.folder() as folder:
        path = DATA / "sonar.csv"
        ours = partial(peers.novikoff, "fit", path, "--out", folder, "--force")
        theirs = partial(peers.python, "-c", "import sklearn.linear_model")
        times, _, _ = compare(ours, theirs, turns)
    shares = [a / b for a, b in zip(times.ours, times.theirs, strict=True)]
    title = f"`novikoff fit {path.name}`, as a multiple of `import sklearn.linear_model`"
    return [Row(title, "", shares, 0.8)]


def dense(scale: Scale, turns: int) -> list[Row]:
    """Dense rows in three orders."""
    split, size = data.dense(*scale.dense), "{:,} × {}".format(*scale.dense)
    return [
        _epochs(f"one epoch, dense {size}, cyclic", split, "cyclic", False, 2.7, scale, turns),
        _epochs(f"one epoch, dense {size}, permuted", split, "permuted", True, 2.4, scale, turns),
        _epochs(f"one epoch, dense {size}, blocks", split, "blocks", True, 6.0, scale, turns),
    ]


def sparse(scale: Scale, turns: int) -> list[Row]:
    """Sparse rows in both precisions, and of many classes, each against the rest."""
    size = "{:,} × {:,} × {}".format(*scale.sparse)
    rows = []
    for name, aim, classes, dtype in (
        ("float64", 1.4, 2, "float64"),
        ("float32", 1.8, 2, "float32"),
        (f"{scale.n_classes} classes", 4.0, scale.n_classes, "float64"),
    ):
        split = data.sparse(*scale.sparse, classes, dtype)
        rows.append(
            _epochs(f"one epoch, CSR {size}, {name}", split, "cyclic", False, aim, scale, turns)
        )
    return rows


def one_by_one(scale: Scale, turns: int) -> list[Row]:
    """predict_one and learn_one: ours on vectors, river on its dicts."""
    split = data.dense(scale.stream, 50)
    labels, vectors = (split.y == 1).tolist(), list(split.X)
    dicts = [dict(enumerate(x.tolist())) for x in vectors]
    times, mine, their = compare(
        lambda: peers.one_by_one(nv.Perceptron(), vectors, labels),
        lambda: peers.one_by_one(peers.river_perceptron(), dicts, labels),
        turns,
    )
    verdict = mine == their, f"{mine} and {their} mistakes"
    return [
        times.row(
            "`predict_one` and `learn_one`, 50 features", "river", 8.0, verdict, per=len(labels)
        )
    ]


def verdicts(scale: Scale, turns: int) -> list[Row]:
    """Kind, and margin to 1e-8, with proof; HiGHS says only whether it is feasible."""
    rows = []
    for (n, p), flips, aims in (
        (scale.long, scale.long_flips, {}),
        (scale.wide, scale.wide_flips, {0: 10.0, 10: 100.0}),
    ):
        for k in flips:
            X, y = data.unit_rows(n, p, 1e-3)
            y = data.flipped(y, k)
            ours = partial(nv.separate, X, y, tol=1e-8)
            times, mine, their = compare(
                ours, partial(peers.highs, X, y, scale.patience), turns, scale.patience
            )
            assert mine.certificate is not None
            nv.verify(mine.certificate, X, y)  # or an error
            agree = their in (mine.kind, "out of time"), f"{mine.kind}, verified; HiGHS: {their}"
            name = f"verdict {n:,} × {p}, margin 1e-3" + (
                f", {counted(k, 'flipped label')}" if k else ""
            )
            rows.append(times.row(name, "HiGHS", aims.get(k, 40.0), agree))
    return rows


def max_margin(scale: Scale, turns: int) -> list[Row]:
    """The hyperplane of the largest margin, the bias free, to 1e-6; LIBSVM's to 1e-3."""
    n, p = scale.max_margin
    X, y = data.unit_rows(n, p, 1e-2)
    times, mine, their = compare(
        lambda: nv.MaxMargin(tol=1e-6).fit(X, y),
        partial(peers.libsvm, X, y),
        turns,
        scale.patience,
    )
    margin: Any = mine.margin_
    verdict = abs(their / margin.hi - 1.0) <= 2e-3, f"margins {margin.lo:.7g} and {their:.5g}"
    return [times.row(f"max margin {n:,} × {p}", "LIBSVM", 40.0, verdict)]


def growth(scale: Scale, turns: int) -> list[Row]:
    """Time of the verdict against the number of rows: the slope of the logarithms."""
    rows = []
    for name, margin, share in (("margin 1e-3", 1e-3, 0.0), ("1 % flipped", 1e-3, 0.01)):
        seconds = []
        for n in scale.growth:
            X, y = data.unit_rows(n, scale.long[1], margin)
            ask = partial(nv.separate, X, data.flipped(y, round(share * n)))
            ask()
            seconds.append([timed(ask)[0] for _ in range(turns)])
        slopes = [
            float(np.polyfit(np.log(scale.growth), np.log(turn), 1)[0])
            for turn in zip(*seconds, strict=True)
        ]
        sizes = f"{scale.growth[0]:,} → {scale.growth[-1]:,} rows"
        rows.append(Row(f"growth of the verdict, {sizes}, {name} (slope)", "", slopes, 1.1))
    return rows


def pocket(scale: Scale, turns: int) -> list[Row]:
    """Sets on which the pocket makes more mistakes than the best of scikit-learn's models.

    Ours may take as long as the slowest of them.
    """
    notes, worse = [], 0
    for name, X, y in data.real_sets(scale.real_sets):
        nv.Pocket(random_state=0).fit(X, y)  # caches
        errors, seconds = peers.linear_models(X, y)
        model = nv.Pocket(random_state=0, max_seconds=0.7 * max(seconds))
        took, _ = timed(partial(model.fit, X, y))
        mine = int((model.predict(X) != y).sum())
        late = took > 1.1 * max(seconds)
        worse += mine > min(errors) or late
        notes.append(f"{name}: {mine} / {min(errors)}{' late' if late else ''}")
    title = f"pocket: sets of {len(notes)} with more mistakes than scikit-learn's best"
    return [Row(title, "", [float(worse)], 0.0, note="; ".join(notes))]


def pocket_at_size(scale: Scale, turns: int) -> list[Row]:
    """Mistakes of the pocket over those of logistic regression, in at most three times its time.

    The budget is kept if the fit ends within a tenth of it, or a second.
    """
    n, d, k = scale.embedded
    rows = []
    for name, (X, y) in (
        (f"{n:,} × {d} in {k} classes, 3% flipped", data.embedded(n, d, k)),
        ("{:,} × {}, 10% flipped".format(*scale.tall), data.tall(*scale.tall)),
    ):
        their_seconds, theirs = timed(partial(peers.logistic_regression, X, y))
        budget = 3.0 * their_seconds
        seconds, model = timed(partial(nv.Pocket(random_state=0, max_seconds=budget).fit, X, y))
        mine, their = (int((fitted.predict(X) != y).sum()) for fitted in (model, theirs))
        kept = seconds <= max(1.1 * budget, budget + 1.0)
        bounds = np.atleast_1d(np.asarray(model.errors_lower_bound_)).astype(int).tolist()
        note = f"{mine:,} and {their:,} mistakes; {seconds:.1f} s of {budget:.1f}; proved {bounds}"
        title = f"`Pocket`, {name}: mistakes, as a multiple of those of logistic regression"
        rows.append(Row(title, "", [mine / max(their, 1)], 1.02, 0, 0, kept, note))
    return rows


def csv_file(scale: Scale, turns: int) -> list[Row]:
    """A CSV file to a model in one pass, whole processes."""
    n, d = scale.csv
    with data.folder() as folder:
        path = data.csv_file(folder / f"{n}-{d}.csv", n, d)
        theirs = partial(peers.pandas_and_scikit_learn, path)
        times, _, _ = compare(partial(peers.fit_file, path, *ONE_PASS), theirs, turns)
        size = path.stat().st_size / 1e9
    name = f"CSV of {size:.2g} GB, {n} × {d}, to a model, one pass"
    return [times.row(name, "pandas + scikit-learn", 3.0)]


def svmlight(scale: Scale, turns: int) -> list[Row]:
    """An svmlight file to a CSR matrix, and to a model in one pass."""
    split, name = data.sparse(*scale.sparse), "-".join(map(str, scale.sparse))
    with data.folder() as folder:
        path = data.svmlight_file(folder / f"{name}.svm", split.X, split.y)
        times, mine, their = compare(
            partial(nv.data.read, path),
            partial(load_svmlight_file, str(path)),
            min(turns, 3),
            scale.patience,
        )
        same = np.array_equal(mine.X.data, their[0].data), "the same numbers"
        title = f"svmlight of {path.stat().st_size / 1e6:.3g} MB to a matrix"
        rows = [times.row(title, "scikit-learn", 10.0, same)]
        test = data.svmlight_file(folder / f"{name}-test.svm", split.X_test, split.y_test)
        model = folder / f"{name}.vw-model"
        theirs = data.vowpal_wabbit_file(folder / f"{name}.vw", path)
        ours = partial(peers.fit_file, path, *ONE_PASS, "--average")
        times, _, _ = compare(ours, partial(peers.vowpal_wabbit, theirs, model), turns)
        verdict = _no_worse(path.with_suffix(".novikoff"), model, split.X_test, split.y_test, test)
        rows.append(times.row("the same to a model, one pass", "Vowpal Wabbit", 0.8, verdict))
    return rows


def stream(scale: Scale, turns: int) -> list[Row]:
    """``novikoff stream -`` from a pipe, time per row."""
    (n, d), short = scale.pipe, scale.short_pipe
    with data.folder() as folder:
        path = data.csv_file(folder / f"{n}-{d}.csv", n, d)
        brief = data.first_lines(folder / f"{short}-{d}.csv", path, short + 1)
        theirs = data.vowpal_wabbit_file(folder / f"{n}-{d}.vw", path)
        X, y = data.unseen(10_000, d)
        test = data.svmlight_file(folder / f"{d}-unseen.svm", X, y)
        model, their_model = folder / "stream.novikoff", folder / "stream.vw-model"
        learn = partial(peers.stream_pipe, path, "--average", "--save", model, "--force")
        mine, river = peers.stream_pipe(brief), 0
        times, others = Turns([], []), Turns([], [])
        for _ in range(min(turns, 5)):
            times.ours.append(timed(learn)[0] / n)
            seconds, river = timed(partial(peers.river_pipe, brief))
            times.theirs.append(seconds / short)
            others.theirs.append(
                timed(partial(peers.vowpal_wabbit, theirs, their_model, piped=True))[0] / n
            )
        others.ours = times.ours
        # Before both classes have appeared, predictions of different libraries may differ.
        same = abs(mine - river) <= 2, f"{mine} and {river} mistakes"
        verdict = _no_worse(model, their_model, X, y, test, labels=y)
    name = f"`novikoff stream -` of CSV, {d} features, per row"
    return [
        times.row(name, "river", 15.0, same),
        others.row(name, "Vowpal Wabbit", 1.0, verdict),
    ]


def memory(scale: Scale, turns: int) -> list[Row]:
    """Resident anonymous memory of a fit of a file larger than its limit; the same mistakes."""
    with data.folder() as folder:
        path = data.csv_file(folder / f"{scale.large}-100.csv", scale.large, 100)
        job = ("--no-verdict", "--order", "cyclic", "--epochs", "2")
        size = path.stat().st_size / 1e9
        here = peers.fit_file(path, *job)["perceptron"]["mistakes"]
        limited = ("fit", path, *job, "--max-memory", "1GB", "--out", folder, "--force")
        peak = peers.peak_anonymous_megabytes(*limited)
        there = peers.fit_file(path, *job, "--max-memory", "1GB")["perceptron"]["mistakes"]
    name = f"memory of `fit --max-memory 1GB`, CSV of {size:.2g} GB (MB)"
    return [Row(name, "", [peak], 1000.0, 0, 0, here == there, f"{here} and {there} mistakes")]


def herding(scale: Scale, turns: int) -> list[Row]:
    """Kernel herding beside goodpoints, where that could be compiled; the same points."""
    try:
        from goodpoints.herding import herding as their_herding
    except ImportError:
        return []
    n, d, halvings = scale.herd
    X = np.random.default_rng(0).normal(size=(n, d))
    times, mine, their = compare(
        lambda: nv.herd(X, n_samples=n >> halvings, kernel=rbf_kernel).indices.tolist(),
        lambda: their_herding(X, halvings, lambda y, Z: rbf_kernel(y, Z)[0]).tolist(),
        turns,
    )
    case = f"kernel herding, {n >> halvings} of {n} × {d}"
    return [times.row(case, "goodpoints", 2.0, (mine == their, f"{len(mine)} points"))]


def systems(scale: Scale, turns: int) -> list[Row]:
    """Systems of inequalities: tall ones, those of others, and the first solve."""
    return [
        *first_solve(),
        *tall_systems(scale.system, turns, scale.patience),
        *sparse_systems(scale.sparse_system, turns),
        *system_files(scale.system_files, turns),
    ]


def cluster(scale: Scale, turns: int) -> list[Row]:
    """The verdict and the perceptron on two Dask workers of this machine."""
    return cluster_rows(scale.cluster, turns)


def separation(scale: Scale, turns: int) -> list[Row]:
    """Every coefficient of several models decided; HiGHS says only the kind of separation."""
    return separation_rows(
        scale.factor,
        scale.multinomial,
        scale.lifetimes,
        scale.countries,
        scale.joint_sets,
        turns,
        scale.patience,
    )


def kernels(scale: Scale, turns: int) -> list[Row]:
    """The kernel perceptron to ten epochs, and the Forgetron on a stream with 10 % noise."""
    (n, d), rows = scale.kernel, []
    X, y = data.quadratic(n, d, 0.0)
    ours = partial(peers.quiet, nv.KernelPerceptron, X, y, order="cyclic", gamma=2.0, max_epochs=10)
    for peer, theirs, aim in (
        ("a NumPy loop", partial(loops.kernel_perceptron, X, y, 2.0, 10), 10.0),
        ("scikit-learn SVC", partial(peers.machine, X, y, 2.0), 1.0),
    ):
        times, mine, their = compare(ours, theirs, min(turns, 3), scale.patience)
        errors = int((mine.predict(X) != y).sum())
        verdict = mine.n_mistakes_ == their, f"{mine.n_mistakes_} and {their} mistakes"
        if aim == 1.0:
            verdict = errors <= max(their, n // 50), f"{errors} and {their} rows wrong in the end"
        rows.append(times.row(f"KernelPerceptron {n} × {d}, rbf, ten epochs", peer, aim, verdict))
    n, d = scale.budgeted
    X, y = data.quadratic(n, d, 0.1)
    times, mine, their = compare(
        lambda: nv.Forgetron(100, gamma=2.0).partial_fit(X, y, classes=[-1, 1]).n_mistakes_,
        partial(loops.forgetron, X, y, 2.0, 100),
        turns,
        scale.patience,
    )
    # Rounding grows tenfold in some 1,500 rows: in the end the two are different runs.
    verdict = abs(mine - their) <= 0.02 * their, f"{mine} and {their} mistakes"
    name = f"Forgetron, budget 100, {d} features, per example"
    return [*rows, times.row(name, "a NumPy loop", 20.0, verdict, per=n)]


def second_order(scale: Scale, turns: int) -> list[Row]:
    """The second-order perceptron with a full matrix, on a skewed spectrum."""
    n, d = scale.second_order
    rng = np.random.default_rng(data.SEED)
    X = rng.standard_normal((n, d)) * np.geomspace(10.0, 0.1, d)
    y = np.where(X @ rng.standard_normal(d) > 0.0, 1.0, -1.0)
    model = partial(nv.SecondOrderPerceptron, fit_intercept=False)
    times, mine, their = compare(
        lambda: model().partial_fit(X, y, classes=[-1, 1]).n_mistakes_,
        partial(loops.second_order, X, y),
        turns,
    )
    verdict = mine == their, f"{mine} and {their} mistakes"
    name = f"SecondOrderPerceptron, full, {d} features, per example"
    return [times.row(name, "NumPy (numpy.outer)", 3.0, verdict, per=n)]


def passive_aggressive(scale: Scale, turns: int) -> list[Row]:
    """One epoch of PA-I, dense and sparse."""
    rows = []
    for name, split, aim in (
        ("dense {} × {}".format(*scale.dense), data.dense(*scale.dense), 2.7),
        ("CSR {} × {} × {}".format(*scale.sparse), data.sparse(*scale.sparse), 1.4),
    ):
        ours = peers.our_perceptron(split.X, split.y, "cyclic", nv.PassiveAggressive)
        theirs = peers.their_passive_aggressive(split.X, split.y)
        times, mine, their = compare_epochs(ours, theirs, scale.epochs, turns)
        a, b = _test_errors(mine, split).mean(), _test_errors(their, split).mean()
        # With an intercept scikit-learn leaves its 1 out of ‖a‖².
        verdict = bool(a <= b + 10 * NEGLIGIBLE), f"test error {a:.2%} and {b:.2%}"
        rows.append(times.row(f"PassiveAggressive, {name}", "scikit-learn", aim, verdict))
    return rows


def first_fits(scale: Scale, turns: int) -> list[Row]:
    """Seconds of compilation of the first fit of each learner with empty caches."""
    names = ["Forgetron", "PNormPerceptron", "PassiveAggressive", "SecondOrderPerceptron"]
    names = [*names, "KernelPerceptron"][: 5 * scale.first_files // 4]
    return [
        Row(f"first {name}.fit, empty caches (s)", "", [peers.first_fit(name)], 3.0)
        for name in names
    ]


CASES: dict[str, Case] = {
    "first-fit": first_fit,
    "warm-fit": warm_fit,
    "dense": dense,
    "sparse": sparse,
    "one-by-one": one_by_one,
    "verdicts": verdicts,
    "max-margin": max_margin,
    "growth": growth,
    "pocket": pocket,
    "pocket-at-size": pocket_at_size,
    "csv": csv_file,
    "svmlight": svmlight,
    "stream": stream,
    "memory": memory,
    "herding": herding,
    "systems": systems,
    "cluster": cluster,
    "separation": separation,
    "kernels": kernels,
    "second-order": second_order,
    "passive-aggressive": passive_aggressive,
    "first-fits": first_fits,
}


def _epochs(
    name: str, split: data.Split, order: str, shuffle: bool, aim: float, scale: Scale, turns: int
) -> Row:
    """One epoch of ours against one of scikit-learn's, with models of the same quality."""
    times, mine, theirs = compare_epochs(
        peers.our_perceptron(split.X, split.y, order),
        peers.their_perceptron(split.X, split.y, shuffle),
        scale.epochs,
        turns,
    )
    a, b = _test_errors(mine, split), _test_errors(theirs, split)
    noise = float((a - b).std() / np.sqrt(len(a)))
    verdict = (
        bool((a - b).mean() <= max(2.0 * noise, NEGLIGIBLE)),
        f"test error {a.mean():.2%} and {b.mean():.2%}",
    )
    if not shuffle and split.X.dtype == np.float64:  # the very same updates
        gap = max(_gap(m.coef_, t.coef_) for m, t in zip(mine, theirs, strict=True))
        verdict = gap < 1e-9, f"weights within {gap:.0e}"
    return times.row(name, "scikit-learn", aim, verdict)


def _test_errors(models: Sequence[Any], split: data.Split) -> Any:
    return np.array([np.mean(model.predict(split.X_test) != split.y_test) for model in models])


def _gap(v: Any, w: Any) -> float:
    """The largest difference of two weights, relative to the largest weight."""
    return float(np.abs(v - w).max() / np.abs(w).max())


def _no_worse(
    model: Path, theirs: Path, X: data.Matrix, y: Any, test: Path, labels: Any = None
) -> tuple[bool, str]:
    """Check that our saved model misclassifies no more unseen rows than the peer's."""
    mine = peers.our_error(model, X, 2 * y - 1 if labels is None else labels)
    file = data.vowpal_wabbit_file(test.with_suffix(".vw"), test)
    peer = peers.vowpal_wabbit_error(theirs, file, 2 * y - 1)
    return mine <= peer + NEGLIGIBLE, f"test error {mine:.2%} and {peer:.2%}"

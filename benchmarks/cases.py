"""What is measured: one function per line of the table of targets.

Every case takes a `Scale` and a number of repeats, and returns rows. The scale `FULL` is
what the targets speak of; `TINY` only shows that everything runs. The cases of the verdict
are in `verdict_cases`, those of files and streams in `job_cases` and `flow_cases`.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Hashable
from dataclasses import asdict

import numpy as np
import river.linear_model
from threadpoolctl import threadpool_limits

import novikoff
from benchmarks import data, peers
from benchmarks.flow_cases import FLOW_CASES
from benchmarks.fresh import in_new_process
from benchmarks.job_cases import JOB_CASES
from benchmarks.measure import Epochs, Mine, Paired, Theirs, compare_calls, compare_epochs
from benchmarks.pocket_cases import POCKET_CASES
from benchmarks.quality import NOT_ASKED, Quality, same_mistakes, same_test_error, same_weights
from benchmarks.scale import Scale
from benchmarks.table import Row, figure
from benchmarks.verdict_cases import VERDICT_CASES


def dense_cyclic(scale: Scale, repeats: int) -> list[Row]:
    """Dense rows as they stand, against scikit-learn: the very same updates."""
    split = data.dense(*scale.dense)
    fits = compare_epochs(
        peers.ours(split.X, split.y, "cyclic"),
        peers.scikit_learn(split.X, split.y, shuffle=False),
        scale.epochs,
        repeats,
    )
    quality = same_weights(fits.ours, fits.peer)
    return [_per_epoch("dense cyclic", "scikit-learn", fits, 4.0, quality)]


def dense_bandwidth(scale: Scale, repeats: int) -> list[Row]:
    """The same against one product ``X @ w`` on both cores: the share of its bandwidth."""
    split = data.dense(*scale.dense)
    with threadpool_limits(peers.CORES, user_api="blas"):
        fits = compare_epochs(
            peers.ours(split.X, split.y, "cyclic"),
            peers.read_once(split.X),
            scale.epochs,
            repeats,
        )
    return [_per_epoch("dense cyclic", "X @ w", fits, 0.8, NOT_ASKED)]


def dense_permuted(scale: Scale, repeats: int) -> list[Row]:
    """Dense rows in a new random order each epoch, on both sides."""
    return _shuffled(
        "dense permuted", "permuted", data.dense(*scale.dense), scale.epochs, repeats, 2.5
    )


def dense_blocks(scale: Scale, repeats: int) -> list[Row]:
    """Dense rows in shuffled blocks, against scikit-learn's full shuffle."""
    return _shuffled("dense blocks", "blocks", data.dense(*scale.dense), scale.epochs, repeats, 8.0)


def dense_float32(scale: Scale, repeats: int) -> list[Row]:
    """The same numbers in float32 and in float64, both ours: the very same updates."""
    narrow, wide = data.dense(*scale.dense, "float32"), data.dense(*scale.dense)
    fits = compare_epochs(
        peers.ours(narrow.X, narrow.y, "cyclic"),
        peers.ours(wide.X, wide.y, "cyclic"),
        scale.epochs,
        repeats,
    )
    quality = same_weights(fits.ours, fits.peer)
    return [_per_epoch("dense float32", "our float64", fits, 1.8, quality)]


def sparse_cyclic(scale: Scale, repeats: int) -> list[Row]:
    """Sparse rows as they stand, against scikit-learn: the very same updates."""
    split = data.sparse(*scale.sparse)
    fits = compare_epochs(
        peers.ours(split.X, split.y, "cyclic"),
        peers.scikit_learn(split.X, split.y, shuffle=False),
        scale.sparse_epochs,
        repeats,
    )
    quality = same_weights(fits.ours, fits.peer)
    return [_per_epoch("sparse cyclic", "scikit-learn", fits, 1.4, quality)]


def sparse_float32(scale: Scale, repeats: int) -> list[Row]:
    """The same in float32, where scikit-learn's weights are float32 too and drift apart.

    Both are deterministic, so the test errors compared are those after 1, 2, … epochs.
    """
    split = data.sparse(*scale.sparse, dtype="float32")
    ours = peers.ours(split.X, split.y, "cyclic")
    peer = peers.scikit_learn(split.X, split.y, shuffle=False)
    fits = compare_epochs(ours, peer, scale.sparse_epochs, repeats)
    lengths = range(1, scale.sparse_epochs + 1)
    quality = same_test_error([ours(k, 0) for k in lengths], [peer(k, 0) for k in lengths], split)
    return [_per_epoch("sparse cyclic float32", "scikit-learn", fits, 2.0, quality)]


def sparse_blocks(scale: Scale, repeats: int) -> list[Row]:
    """Sparse rows in shuffled blocks, against scikit-learn's full shuffle."""
    return _shuffled(
        "sparse blocks", "blocks", data.sparse(*scale.sparse), scale.sparse_epochs, repeats, 3.5
    )


def sparse_classes(scale: Scale, repeats: int) -> list[Row]:
    """Many classes, one against the rest; scikit-learn on one core and on both."""
    split = data.sparse(*scale.sparse, scale.n_classes)
    rows = []
    for peer, n_jobs in (("scikit-learn", 1), ("scikit-learn, n_jobs=2", peers.CORES)):
        fits = compare_epochs(
            peers.ours(split.X, split.y, "cyclic"),
            peers.scikit_learn(split.X, split.y, shuffle=False, n_jobs=n_jobs),
            scale.class_epochs,
            repeats,
        )
        quality = same_weights(fits.ours, fits.peer)
        name = f"sparse {scale.n_classes} classes"
        rows.append(_per_epoch(name, peer, fits, 8.0, quality))
    return rows


def stream_river(scale: Scale, repeats: int) -> list[Row]:
    """predict_one and learn_one against river: ours on vectors, and on river's dicts."""
    split = data.dense(scale.stream, 50)
    labels = (split.y == 1).tolist()
    vectors = list(np.asarray(split.X, dtype=np.float64))
    dicts: list[dict[Hashable, float]] = [dict(enumerate(x.tolist())) for x in vectors]
    river_s = peers.stream(river.linear_model.Perceptron, dicts, labels)
    on_vectors = compare_calls(peers.stream(novikoff.Perceptron, vectors, labels), river_s, repeats)
    on_dicts = compare_calls(peers.stream(novikoff.Perceptron, dicts, labels), river_s, repeats)
    return [
        _per_example("one by one", "river (dicts)", *on_vectors, len(labels) - peers.LEAD, 10.0),
        _per_example(
            "one by one, dicts", "river (dicts)", *on_dicts, len(labels) - peers.LEAD, None
        ),
    ]


def stream_scikit_learn(scale: Scale, repeats: int) -> list[Row]:
    """predict_one and learn_one against scikit-learn's predict and partial_fit."""
    split = data.dense(scale.stream, 50)
    vectors = list(np.asarray(split.X, dtype=np.float64)[: scale.short_stream])
    labels = (split.y[: scale.short_stream] == 1).tolist()
    times = compare_calls(
        peers.stream(novikoff.Perceptron, vectors, labels),
        peers.stream(peers.OneRow, [x[None, :] for x in vectors], labels),
        repeats,
    )
    return [_per_example("one by one", "scikit-learn", *times, len(labels) - peers.LEAD, 300.0)]


def memory(scale: Scale, repeats: int) -> list[Row]:
    """Peak memory of a fit beyond the data, as a share of it."""
    share = in_new_process("memory", *map(str, scale.dense))
    return [figure("memory beyond the data", share, 0.05)]


def first_fit(scale: Scale, repeats: int) -> list[Row]:
    """The first fit in a new process, after the imports: with an empty cache, then a warm one."""
    rows = []
    for kind in scale.first_fit_kinds:
        empty: list[float] = []
        warm: list[float] = []
        for _ in range(min(repeats, scale.fresh_repeats)):
            with tempfile.TemporaryDirectory() as cache:
                task = ("first-fit", kind, *map(str, scale.first_fit))
                empty.extend(in_new_process(*task, cache=cache))
                warm.extend(in_new_process(*task, cache=cache))
        rows.append(figure(f"first fit, {kind}, empty cache (s)", empty, 6.0))
        rows.append(figure(f"first fit, {kind}, warm cache (s)", warm, 1.0))
    return rows


CASES: dict[str, Callable[[Scale, int], list[Row]]] = {
    "dense-cyclic": dense_cyclic,
    "dense-bandwidth": dense_bandwidth,
    "dense-permuted": dense_permuted,
    "dense-blocks": dense_blocks,
    "dense-float32": dense_float32,
    "sparse-cyclic": sparse_cyclic,
    "sparse-blocks": sparse_blocks,
    "sparse-float32": sparse_float32,
    "sparse-classes": sparse_classes,
    "stream-river": stream_river,
    "stream-scikit-learn": stream_scikit_learn,
    "memory": memory,
    "first-fit": first_fit,
    **VERDICT_CASES,
    **POCKET_CASES,
    **JOB_CASES,
    **FLOW_CASES,
}


def _shuffled(
    name: str, order: str, split: data.Split[data.Matrix], epochs: int, repeats: int, target: float
) -> list[Row]:
    fits = compare_epochs(
        peers.ours(split.X, split.y, order),
        peers.scikit_learn(split.X, split.y, shuffle=True),
        epochs,
        repeats,
    )
    quality = same_test_error(fits.ours, fits.peer, split)
    return [_per_epoch(name, "scikit-learn, shuffled", fits, target, quality)]


def _per_epoch(
    name: str, peer: str, fits: Epochs[Mine, Theirs], target: float, quality: Quality
) -> Row:
    low, ratio, high = fits.marginal.quartiles()
    if not fits.marginal.sound:
        quality = Quality(False, "too noisy: epochs of no or negative length", quality.numbers)
    return Row(
        name,
        peer,
        statistics.median(fits.marginal.ours),
        statistics.median(fits.marginal.peer),
        low,
        ratio,
        high,
        target,
        quality,
        {
            "epoch": asdict(fits.marginal),
            "whole_fit": asdict(fits.whole),
            "whole_fit_ratio": fits.whole.quartiles(),
            "compilation": fits.compilation,
        },
    )


def _per_example(
    name: str, peer: str, times: Paired, ours: int, theirs: int, n: int, target: float | None
) -> Row:
    low, ratio, high = times.quartiles()
    return Row(
        name,
        peer,
        statistics.median(times.ours) / n,
        statistics.median(times.peer) / n,
        low,
        ratio,
        high,
        target,
        same_mistakes(ours, theirs),
        {"stream": asdict(times), "examples": n},
    )

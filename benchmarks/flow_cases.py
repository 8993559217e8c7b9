"""What is measured of large files and streams: from the disk or a pipe to a model."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import novikoff as nv
from benchmarks import flow_data, flow_peers
from benchmarks.data import Labels, Matrix, sparse
from benchmarks.flow_memory import flow_memory
from benchmarks.measure import Paired, compare_answers, timed
from benchmarks.peers import CORES
from benchmarks.quality import Quality, judged, same_mistakes
from benchmarks.scale import Scale
from benchmarks.table import Row, figure
from novikoff.data import CachedBlocks, FileBlocks, blocks, read_svmlight

# Our programs from a file to a model; the average of all weights predicts better than the last.
_FIT = ("fit", "--no-verdict", "--average", "--order", "cyclic", "--epochs")
_STREAM = ("stream", "--quiet", "--average", "--passes")
_UNSEEN = 10_000
# A difference in test error that is never held against ours.
_NEGLIGIBLE = 0.001


def flow_svmlight(scale: Scale, repeats: int) -> list[Row]:
    """An svmlight file to a matrix, against scikit-learn; to a model, against Vowpal Wabbit."""
    split, name = sparse(*scale.sparse), "-".join(map(str, scale.sparse))
    with flow_data.folder() as folder:
        path = flow_data.svmlight(folder / f"{name}.svm", split.X, split.y)
        test = flow_data.svmlight(folder / f"{name}-test.svm", split.X_test, split.y_test)
        rows = [_matrix(path, scale, repeats)]
        theirs = flow_data.vowpal_wabbit(folder / f"{name}.vw", path)
        their_test = flow_data.vowpal_wabbit(folder / f"{name}-test.vw", test)
        model, their_model = folder / f"{name}.novikoff", folder / f"{name}.model"
        for job, passes in scale.flow_jobs:
            found = compare_answers(
                partial(_learn, job, path, model, passes),
                partial(flow_peers.vowpal_wabbit, theirs, their_model, passes),
                min(repeats, scale.flow_repeats),
                scale.patience,
            )
            y = 2 * split.y_test - 1
            quality = _no_worse(model, their_model, split.X_test, y, their_test)
            title = f"svmlight to a model, {_times(passes)}, {job}"
            aim = 1.5 if passes == 1 else 2.0
            rows.append(_row(title, "Vowpal Wabbit", found.times, aim, quality))
        return rows


def flow_parquet(scale: Scale, repeats: int) -> list[Row]:
    """One pass over a Parquet file, in readings of the same columns by pyarrow."""
    n, d = scale.parquet
    read_table = import_module("pyarrow.parquet").read_table
    with flow_data.folder() as folder:
        path = flow_data.parquet(folder / f"{n}-{d}.parquet", n, d, "float32")
        ours, theirs = partial(_learn_file, path), partial(read_table, path)
        ours(), theirs()  # caches
        quotients = [timed(ours)[0] / timed(theirs)[0] for _ in range(repeats)]
        table = theirs()
        y = table.column("label").to_numpy()
        X = np.column_stack([table.column(f"x{j}").to_numpy() for j in range(d)])
        quality = same_mistakes(ours(), _learn_rows(X, y))
    name = f"Parquet, {n} × {d} float32, to a model, in read_table"
    return [figure(name, quotients, 1.5, quality)]


def flow_cache(scale: Scale, repeats: int) -> list[Row]:
    """A pass over a block cache in the page cache: the share of the bandwidth of ``X @ w``."""
    n, d = scale.cached
    with flow_data.folder() as folder, threadpool_limits(CORES, user_api="blas"):
        path = flow_data.parquet(folder / f"{n}-{d}-wide.parquet", n, d, "float64")
        found = blocks(path, cache=folder / "cache")
        parts, codes = zip(*found, strict=True)
        X, y = np.concatenate(parts), np.concatenate(codes)
        del parts
        w = np.ones(d)
        times = compare_answers(partial(_learn_blocks, found), lambda: X @ w, repeats, np.inf)
        quality = same_mistakes(times.ours, _learn_rows(X, y))
    return [_row(f"a pass over a block cache, {n} × {d}", "X @ w", times.times, 0.6, quality)]


def flow_stream(scale: Scale, repeats: int) -> list[Row]:
    """``novikoff stream -`` from a pipe, against river and Vowpal Wabbit, time per row."""
    (n, d), short = scale.pipe, scale.short_pipe
    with flow_data.folder() as folder:
        path = flow_data.csv(folder / f"{n}-{d}.csv", n, d)
        brief = flow_data.first_lines(folder / f"{short}-{d}.csv", path, short + 1)
        piped = flow_data.vowpal_wabbit(folder / f"{n}-{d}.vw", path)
        X, y = flow_data.unseen(_UNSEEN, d)
        test = flow_data.svmlight(folder / f"{d}-unseen.svm", X, y)
        test = flow_data.vowpal_wabbit(folder / f"{d}-unseen.vw", test)
        model, their_model = folder / "stream.novikoff", folder / "stream.model"
        learn = partial(flow_peers.our_mistakes, "--average", "--save", model, "--force")
        theirs = partial(flow_peers.vowpal_wabbit, piped, their_model, piped=True)
        mine = learn(pipe=brief)  # and caches
        ours, river, vowpal_wabbit = list[float](), list[float](), list[float]()
        for _ in range(min(repeats, scale.flow_repeats)):
            ours.append(timed(partial(learn, pipe=path))[0] / n)
            seconds, mistakes = timed(partial(flow_peers.river_mistakes, brief))
            river.append(seconds / short)
            vowpal_wabbit.append(timed(theirs)[0] / n)
        # Before both classes came up, a guess is a matter of taste.
        same = judged(abs(mine - mistakes) <= 2, f"{mine} / {mistakes} mistakes")
        quality = _no_worse(model, their_model, X, y, test, signs=2 * y - 1)
    name = f"novikoff stream - of CSV, {d} features, per row"
    return [
        _row(name, "river", Paired(ours, river), 15.0, same),
        _row(name, "Vowpal Wabbit", Paired(ours, vowpal_wabbit), 1.0, quality),
    ]


def _matrix(path: Path, scale: Scale, repeats: int) -> Row:
    load = import_module("sklearn.datasets").load_svmlight_file
    found = compare_answers(
        partial(read_svmlight, path),
        partial(load, str(path), zero_based=True),
        min(repeats, scale.flow_repeats),
        scale.patience,
    )
    (X, y, _), (their_X, their_y) = found.ours, found.peer
    same = (
        X.data.tobytes() == their_X.data.tobytes()
        and np.array_equal(X.indices, their_X.indices)
        and np.array_equal(X.indptr, their_X.indptr)
        and np.array_equal(y, their_y)
    )
    name = f"svmlight of {path.stat().st_size / 1e6:.3g} MB to a matrix"
    quality = judged(same, "the same matrix, bit for bit" if same else "another matrix")
    return _row(name, "scikit-learn", found.times, 15.0, quality)


def _learn(job: str, path: Path, model: Path, passes: int) -> None:
    if job == "fit":
        flow_peers.novikoff(*_FIT, str(passes), path, "--out", model.parent, "--force")
    else:
        flow_peers.novikoff(*_STREAM, str(passes), path, "--save", model, "--force")


def _learn_file(path: Path) -> int:
    return _learn_blocks(blocks(path))


def _learn_blocks(found: FileBlocks | CachedBlocks) -> int:
    """The mistakes of one pass."""
    return nv.Perceptron(n_jobs=CORES).partial_fit(found).n_mistakes_


def _learn_rows(X: Matrix, y: Labels) -> int:
    """The same, of rows in memory."""
    return nv.Perceptron(n_jobs=CORES).partial_fit(X, y, classes=np.unique(y)).n_mistakes_


def _no_worse(
    model: Path, theirs: Path, X: Matrix, y: Labels, test: Path, signs: Labels | None = None
) -> Quality:
    """Our model in a file errs no more on unseen rows than theirs."""
    mine = flow_peers.our_error(model, X, y)
    peer = flow_peers.vowpal_wabbit_error(theirs, test, y if signs is None else signs)
    numbers = {"test_error_ours": [mine], "test_error_peer": [peer]}
    return judged(mine <= peer + _NEGLIGIBLE, f"test error {mine:.2%} / {peer:.2%}", numbers)


def _row(name: str, peer: str, times: Paired, aim: float, quality: Quality) -> Row:
    low, ratio, high = times.quartiles()
    ours, theirs = statistics.median(times.ours), statistics.median(times.peer)
    details: dict[str, object] = {"times": asdict(times)}
    return Row(name, peer, ours, theirs, low, ratio, high, aim, quality, details)


def _times(passes: int) -> str:
    return "one pass" if passes == 1 else f"{passes} passes"


FLOW_CASES: dict[str, Callable[[Scale, int], list[Row]]] = {
    "flow-svmlight": flow_svmlight,
    "flow-parquet": flow_parquet,
    "flow-cache": flow_cache,
    "flow-stream": flow_stream,
    "flow-memory": flow_memory,
}

"""How large the data of the benchmarks is: as the targets speak of it, or tiny."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """How large the data is, and how many epochs a fit takes."""

    dense: tuple[int, int]
    sparse: tuple[int, int, int]  # rows, columns, nonzeros per row
    n_classes: int
    epochs: int
    sparse_epochs: int
    class_epochs: int
    stream: int  # examples for river
    short_stream: int  # examples for scikit-learn
    first_fit: tuple[int, int]
    first_fit_kinds: tuple[str, ...]
    fresh_repeats: int
    # For the verdict:
    long: tuple[int, int]
    long_flips: tuple[int, ...]  # labels flipped, one question each
    wide: tuple[int, int]
    wide_flips: tuple[int, ...]
    widest_gap: tuple[int, int]
    kind_only: tuple[int, int]
    images: tuple[int, int]
    growth: tuple[int, ...]  # numbers of rows
    patience: float  # seconds that a peer gets for one question
    # For the pocket: rows, columns, margin, (labels flipped,) order, epochs
    hard: tuple[tuple[int, int, float, str, int], ...]
    easy: tuple[tuple[int, int, float, int, str, int], ...]
    pocket: tuple[int, int]
    pocket_updates: int
    real_sets: tuple[str, ...]
    csv: tuple[int, int]  # for the command line
    # For files and streams:
    flow_jobs: tuple[tuple[str, int], ...]  # our command, and how many passes
    flow_repeats: int
    parquet: tuple[int, int]
    cached: tuple[int, int]
    pipe: tuple[int, int]
    short_pipe: int  # rows for river
    large: int  # rows of a file that is not to be in memory
    large_jobs: tuple[str, ...]


FULL = Scale(
    dense=(1_000_000, 100),
    sparse=(200_000, 50_000, 72),
    n_classes=20,
    epochs=6,
    sparse_epochs=11,
    class_epochs=4,
    stream=10_000,
    short_stream=500,
    first_fit=(25_000, 100),
    first_fit_kinds=("dense", "csr"),
    fresh_repeats=3,
    long=(100_000, 20),
    long_flips=(0, 1, 1_000),
    wide=(20_000, 100),
    wide_flips=(0, 10),
    widest_gap=(20_000, 20),
    kind_only=(1_000_000, 50),
    images=(60_000, 784),
    growth=(10_000, 31_623, 100_000, 316_228, 1_000_000),
    patience=120.0,
    hard=(
        (100_000, 10, 1e-4, "cyclic", 3000),
        (100_000, 20, 1e-4, "cyclic", 2000),
        (200_000, 10, 1e-4, "cyclic", 2000),
        (100_000, 10, 1e-4, "blocks", 600),
    ),
    easy=(
        (100_000, 20, 0.1, 0, "cyclic", 200),
        (100_000, 20, 0.1, 0, "permuted", 200),
        (20_000, 20, 1e-2, 0, "cyclic", 200),
        (20_000, 100, 1e-2, 0, "cyclic", 200),
        (20_000, 100, 1e-2, 0, "blocks", 200),
        (200_000, 50, 0.05, 0, "cyclic", 200),
        (5_000, 200, 1e-2, 0, "cyclic", 200),
        (20_000, 20, 1e-3, 2_000, "cyclic", 100),
        (100_000, 20, 1e-3, 20_000, "cyclic", 60),
        (20_000, 100, 1e-3, 2_000, "permuted", 60),
    ),
    pocket=(20_000, 20),
    pocket_updates=20_000,
    real_sets=("spam", "satellite", "ionosphere", "breast cancer", "digits", "wine"),
    csv=(1_000_000, 100),
    flow_jobs=(("fit", 1), ("stream", 1), ("fit", 10), ("stream", 10)),
    flow_repeats=5,
    parquet=(10_000_000, 20),
    cached=(1_000_000, 100),
    pipe=(1_000_000, 50),
    short_pipe=50_000,
    large=4_000_000,
    large_jobs=("blocks", "cache", "verdict, cache"),
)
TINY = Scale(
    dense=(2_000, 10),
    sparse=(2_000, 300, 12),
    n_classes=4,
    epochs=3,
    sparse_epochs=3,
    class_epochs=2,
    stream=200,
    short_stream=30,
    first_fit=(500, 20),
    first_fit_kinds=("csr",),
    fresh_repeats=1,
    long=(600, 4),
    long_flips=(0, 20),
    wide=(400, 8),
    wide_flips=(40,),
    widest_gap=(300, 4),
    kind_only=(2_000, 5),
    images=(600, 40),
    growth=(300, 600, 1_200),
    patience=5.0,
    hard=((2_000, 4, 1e-3, "cyclic", 60),),
    easy=((500, 4, 0.1, 0, "permuted", 20), (500, 4, 1e-2, 50, "cyclic", 20)),
    pocket=(300, 4),
    pocket_updates=200,
    real_sets=("wine",),
    csv=(2_000, 10),
    flow_jobs=(("stream", 2),),
    flow_repeats=1,
    parquet=(2_000, 5),
    cached=(2_000, 10),
    pipe=(1_000, 5),
    short_pipe=200,
    large=500,
    large_jobs=("cache",),
)

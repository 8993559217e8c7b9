"""Rows on a cluster (a folder of files, Dask arrays or data frames), passed instead of X and y."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from novikoff.cluster.mixing import Epoch, Mix, MixedRun, mixed_run
from novikoff.cluster.passes import DaskPasses, Survey
from novikoff.cluster.pocket import CountedRule, find_counted_rules
from novikoff.cluster.shards import (
    Setting,
    ShardSource,
    array_source,
    folder_source,
    frame_source,
    versions,
)
from novikoff.cluster.tasks import (
    Cluster,
    TaskProgress,
    look_at_shards,
    readable_dask_errors,
)
from novikoff.cluster.visits import Check, Digests, ModelMargins
from novikoff.core.class_labels import Label, Sides, distinct_labels
from novikoff.core.model import LinearModel
from novikoff.core.rows import Indices, Vector
from novikoff.core.runs import Plan
from novikoff.core.schemes import Scheme
from novikoff.core.stops import Limits
from novikoff.data.options import ReadOptions
from novikoff.data.recipe import Recipe
from novikoff.errors import CertificateError, ClusterError, DataError, MissingExtraError
from novikoff.geometry.separability import choose_sides
from novikoff.geometry.verdict import Verdict, make_verdict
from novikoff.geometry.verdict_search import IntervalProgress, search_verdict
from novikoff.geometry.visits import ExactSigns, in_row_order
from novikoff.proofs import exact
from novikoff.proofs.certificate import Certificate
from novikoff.proofs.digest import MatrixDigest
from novikoff.proofs.error_bound import ErrorBound
from novikoff.proofs.remote import RemoteRows


def rows(
    X: Any,
    y: Any = None,
    *,
    label: str | int | None = None,
    client: Any = None,
    one_hot: Sequence[str] = (),
    drop: Sequence[str] = (),
    mix: Mix = "mistakes",
    recipe: Recipe | None = None,
    progress: TaskProgress | None = None,
) -> ClusterRows:
    """Open rows on the workers of a Dask cluster, to be passed instead of X and y.

    Parameters
    ----------
    X : path, dask array or dask data frame
        A folder of Parquet files that every worker can read at the same path; each file is one
        shard. Or a Dask array in chunks of rows; each chunk is one shard, and may be a SciPy CSR
        matrix. Or a Dask data frame that includes the column of labels; each partition is one
        shard.
    y : dask array, optional
        The labels, if X is an array.
    label : str or int, optional
        The column of labels, as in `novikoff.data.ReadOptions`; for a data frame its name.
    client : distributed.Client, optional
        The client of the cluster. Default: Dask's current client.
    one_hot, drop : sequence of str
        Text columns to encode as one column for each category, and columns to leave out, as in
        ``ReadOptions``; for files only.
    mix : "mistakes" or "uniform"
        How a `Perceptron` averages the weights of the shards after an epoch: see
        `ClusterRows.fit`.
    recipe : Recipe, optional
        How the columns of the files become features, if a model or a certificate determines this.
    progress : callable, optional
        Called with the number of tasks of a pass, and the number of tasks that are done.

    Returns
    -------
    ClusterRows
        The rows. If all shards take less than 40 % of the workers' memory, they stay in memory as
        long as this object exists; otherwise each pass reads them again.

    Examples
    --------
    >>> import dask.array as da, novikoff as nv
    >>> from distributed import Client
    >>> X, y = da.array([[0.0], [1.0], [2.0], [3.0]]), da.array([0, 0, 1, 1])
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
    ...     rows = nv.cluster.rows(X.rechunk(2), y, client=client)
    ...     nv.separate(rows).kind
    'separable'
    """
    options = ReadOptions(label=label, one_hot=tuple(one_hot), drop=tuple(drop))
    return open_rows(X, options, client, y=y, mix=mix, recipe=recipe, progress=progress)


def open_rows(
    X: Any,
    options: ReadOptions,
    client: Any,
    *,
    y: Any = None,
    mix: Mix = "mistakes",
    recipe: Recipe | None = None,
    progress: TaskProgress | None = None,
) -> ClusterRows:
    """Open rows as `rows` does; the options say how a folder of files is read."""
    client = _client(client)
    with readable_dask_errors():
        if isinstance(X, str | os.PathLike):
            source = folder_source(client, os.fspath(X), options, recipe)
        elif hasattr(X, "divisions"):
            source = frame_source(client, X, options.label)
        elif hasattr(X, "chunks"):
            source = array_source(client, X, y)
        else:
            raise TypeError(
                "Rows on a cluster must be a folder of Parquet files, Dask arrays X and y, or a "
                f"Dask data frame, not {type(X).__name__}."
            )
    if sum(source.counts) == 0:
        raise DataError("The data has no rows.")
    return ClusterRows(client, source, mix, progress or (lambda tasks, done: None))


class ClusterRows(RemoteRows):
    """Labelled rows on a cluster, which `rows` opens.

    Attributes
    ----------
    n, d : int
        The numbers of rows and columns.
    labels : list
        The distinct labels, sorted.
    n_shards : int
        The number of shards.
    """

    def __init__(self, client: Any, source: ShardSource, mix: Mix, progress: TaskProgress) -> None:
        self.mix, self.source, self.n = mix, source, int(sum(source.counts))
        self.n_shards = len(source.counts)
        if mix not in ("mistakes", "uniform"):
            raise ValueError(f"mix must be 'mistakes' or 'uniform', not {mix!r}.")
        self.cluster = Cluster(client, source, progress)
        self._surveys: dict[bool, Survey] = {}
        known = self.survey()
        if source.recipe is not None and len({isinstance(x, str) for x in known.labels}) > 1:
            # The labels are whole numbers in some files only: read all of them as decimals.
            self.source = source.with_decimals(source.recipe)
            self.cluster = Cluster(client, self.source, progress)
            self._surveys.clear()
            known = self.survey()
        self.d, self.labels = known.d, distinct_labels(np.array([*known.labels], dtype=object))
        texts = {str(label): label for label in self.labels}
        for label in self.labels:
            if texts[str(label)] is not label:
                raise DataError(
                    f"The label {label} is a number in some shards and text in others: use one "
                    "type in all shards."
                )
        self.named = source.names is not None
        self.names: Sequence[Hashable] = source.names or range(self.d)

    def __repr__(self) -> str:
        size = f"{self.n:,} × {self.d} in {self.n_shards} shards"
        return f"<ClusterRows: {size}, labels {', '.join(map(repr, self.labels[:12]))}>"

    def survey(self, fit_intercept: bool = True) -> Survey:
        """The shape, the radius and the labels of all rows, found in one pass."""
        if fit_intercept not in self._surveys:
            visit = Survey(fit_intercept, self.source.names)
            self._surveys[fit_intercept] = self.cluster.over(visit, Limits())
        return self._surveys[fit_intercept]

    def passes(self, setting: Setting, limits: Limits) -> DaskPasses:
        """The passes over the rows with the signs of a setting."""
        return DaskPasses(self.cluster, setting, self.survey(setting.fit_intercept), limits)

    def separate(
        self,
        *,
        positive: Hashable = None,
        fit_intercept: bool = True,
        tol: float = 1e-8,
        goal: Literal["margin", "kind"] = "margin",
        budget: float | None = None,
        progress: IntervalProgress | None = None,
    ) -> Verdict:
        """Decide separability as `novikoff.separate` does; ``verdict.data`` is None.

        Examples
        --------
        See `rows`.
        """
        setting = Setting(*choose_sides(self.labels, positive), bool(fit_intercept))
        return self.decide(setting, goal, tol, Limits(seconds=budget), progress)

    def decide(
        self,
        setting: Setting,
        goal: Literal["margin", "kind"],
        tol: float,
        limits: Limits,
        progress: IntervalProgress | None,
    ) -> Verdict:
        """Decide one setting; at the same time, the rows are hashed for the certificate."""
        passes = self.passes(setting, limits)
        hashing = self.cluster.begin(Digests(passes.d, (setting,)), priority=-1)
        result = None
        try:
            result = search_verdict(passes, goal, tol, limits, progress)
        finally:
            if result is None or result.kind is None:  # then there is no certificate
                self.cluster.cancel(hashing)
        sha256 = "" if result.kind is None else self.digests((setting,), hashing)[0]
        sides = setting.positive, setting.negative
        return make_verdict(passes, sha256, result, sides, limits)

    def digests(self, settings: tuple[Setting, ...], hashing: list[Any] | None = None) -> list[str]:
        """The digest of the rows with the signs of each setting.

        ``hashing`` has the futures of a pass of `Digests` that has already begun.
        """
        begun = hashing or self.cluster.begin(Digests(self.d, settings))
        trees = self.cluster.result(begun, Limits())
        digest = MatrixDigest.of_tree(trees.rows, self.n)
        return [digest.signed(signs) for signs in trees.signs]

    def verify(self, certificate: Certificate | ErrorBound) -> None:
        """Check every claim of a certificate on the workers."""
        if (self.n, self.d) != (certificate.n, certificate.d):
            raise CertificateError(
                f"The certificate is for {certificate.n} × {certificate.d} numbers, the data "
                f"has {self.n} × {self.d}."
            )
        check = self.cluster.over(Check(certificate), Limits()).checking
        check.finish()

    def separated(self, certificate: Certificate) -> Any:
        """The mask of the rows that the w of a certificate separates strictly: a lazy array."""
        import dask
        import dask.array as da

        masks = []
        for g, group in enumerate(self.cluster.groups):
            size = sum(self.source.counts[k] for k in group)
            mask = dask.delayed(_strictly)(dask.delayed(self.cluster.shards(g)), certificate)
            masks.append(da.from_delayed(mask, (size,), dtype=np.bool_))
        return da.concatenate(masks)

    def fit(
        self, plan: Plan, scheme: Scheme, labels: Sequence[Label], fit_intercept: bool
    ) -> MixedRun:
        """Run the perceptron by iterative parameter mixing.

        In each epoch, every shard i starts from the mixed w, makes k_i updates and ends at w_i.
        Then w ← Σ μ_i w_i. With ``mix="mistakes"``, μ_i = k_i/Σk, and at most R²/γ² epochs have a
        mistake. With ``mix="uniform"``, μ_i = 1/S for S shards. In both cases ΣΣ μ_i k_i ≤ R²/γ².
        """
        unlimited = replace(plan, limits=Limits())  # the tasks have no time limit
        W = np.zeros((self.d + 1, scheme.sides.shape[1]))
        first = Epoch(unlimited, scheme, tuple(labels), fit_intercept, self.mix, W)
        return mixed_run(self.cluster, first, plan.limits)

    def fewest_mistakes(
        self,
        sides: Sequence[Sides],
        fit_intercept: bool,
        limits: Limits,
        seed: int,
        verdicts: Sequence[Verdict] = (),
        **options: Any,
    ) -> list[CountedRule]:
        """Find a rule with few mistakes for each pair of sides, with a proved lower bound.

        The rows of each shard are searched as `novikoff.Pocket` does, with the same options, and
        this process searches a sample of all rows. Then the mistakes of all rules are counted on
        all rows. The first label of a pair is positive. Several pairs stand for the classes, each
        against the rest. Verdicts that are not given are computed.
        """
        settings = tuple(Setting(*pair, fit_intercept) for pair in sides)
        return find_counted_rules(self, settings, limits, seed, options, verdicts)

    def separated_by(self, W: Vector, sides: Sequence[Sides], fit_intercept: bool) -> bool:
        """Whether each column of W separates all rows strictly; proved where True."""
        for pair, w in zip(sides, W.T, strict=True):
            if not self.passes(Setting(*pair, fit_intercept), Limits()).separates(w):
                return False
        return True

    def judge(self, model: LinearModel, codes: Indices) -> ModelMargins:
        """The confusion matrix and the margins of a model on all rows.

        ``codes`` are the classes of the model, one for each label.
        """
        return self.cluster.over(ModelMargins(model, tuple(self.labels), codes), Limits())


def _strictly(shards: Any, certificate: Certificate) -> Any:
    """A mask of the rows of the shards that w separates strictly."""
    setting = Setting(certificate.positive, certificate.negative, certificate.fit_intercept)
    w = certificate.w or (Fraction(0),) * (certificate.d + int(certificate.fit_intercept))
    visit = look_at_shards(setting, ExactSigns(exact.numbers(w), doubt=np.inf), shards)
    return in_row_order(visit.signs) > 0


def _client(client: Any) -> Any:
    """The given client, or the current one, after a check that its workers have this package."""
    try:
        from distributed import get_client
    except ImportError:
        raise MissingExtraError("A cluster", "Dask", "dask") from None
    try:
        client = client or get_client()
    except ValueError:
        raise ClusterError(
            "There is no Dask client: make one, for instance with "
            "distributed.Client('tcp://host:8786')."
        ) from None
    for worker, reply in client.run(versions, on_error="return").items():
        # Dask itself would wait for other workers. An OSError means that the worker has ended.
        if isinstance(reply, Exception) and not isinstance(reply, OSError):
            raise ClusterError(f"Worker {worker} cannot import novikoff ({reply}): install it.")
    return client

"""What a run of the perceptron leaves behind: counts, traces and votes, as tensors and back."""

from __future__ import annotations

from typing import cast

import numpy as np
import scipy.sparse as sp

from novikoff.core.rows import Floats, SparseMatrix
from novikoff.core.trace import Trace
from novikoff.learners.online import Rules
from novikoff.learners.perceptron import Perceptron
from novikoff.learners.voting import Votes
from novikoff.report.model_tensors import Array, Tensors, TensorShelf
from novikoff.report.model_values import MOST, Fields, Flaw, as_list, as_one

_TRACE_INDICES = ("step", "index")
_TRACE_NUMBERS = ("margin", "tau", "squared_norm")
_TRACE_ANGLES = ("inner", "cosine")


def write_run(model: Perceptron, tensors: Tensors) -> dict[str, object]:
    """The counts for the header; arrays go to ``tensors``."""
    counts = model.__dict__.get("update_counts_")
    return {
        "n_iter": int(model.n_iter_),
        "n_updates": model.n_updates_,
        "n_mistakes": model.n_mistakes_,
        "converged": bool(model.converged_),
        "grows": model._multi_class if model._open else None,
        "counted_rows": None if counts is None else _write_counts(counts, tensors),
        "trace": _write_traces(model, tensors),
        "votes": _write_votes(model._votes, tensors),
    }


def read_run(model: Perceptron, fitted: Fields, shelf: TensorShelf) -> None:
    """Give a perceptron, whose rules are known, the rest of its run."""
    rules = model._rules
    model.n_iter_ = fitted.count("n_iter")
    model.converged_ = fitted.flag("converged")
    check_tally(rules, fitted.count("n_updates"), fitted.count("n_mistakes"))
    grows = fitted.take("grows")
    if grows is not None and grows not in ("ovr", "ovo"):
        raise Flaw("'grows' in its run is none of ovr, ovo and null")
    model._open = grows is not None
    if model._open:
        model._multi_class = cast(str, grows)
    elif rules.scheme.n_classes < 2:
        raise Flaw("it has one class only, which a stream alone may have")
    rows = fitted.optional_count("counted_rows")
    model._vouched = rows is not None or model.converged_
    if rows is not None:
        _read_counts(model, rows, shelf)
    _read_traces(model, fitted.mapping("trace"), rows, shelf)
    votes = fitted.take("votes")
    if votes is not None:
        if votes not in ("dense", "sparse") or rows is None or rules.averages:
            raise Flaw("its votes do not belong to a run that is voted")
        model._votes = _read_votes(rules, votes == "sparse", rows, shelf)
        rules.plain = False


def check_tally(rules: Rules, n_updates: int, n_mistakes: int) -> None:
    """Refuse counts that differ from the sums over the rules."""
    _, updates, mistakes = rules.tally.tolist()
    if sum(updates) != n_updates or sum(mistakes) != n_mistakes:
        raise Flaw("its counts of updates and mistakes are not the sums of its tally")


def _write_counts(counts: object, tensors: Tensors) -> int:
    if isinstance(counts, np.ndarray):
        tensors["update_counts"] = counts
        return len(counts)
    matrix = cast(sp.csr_array, counts)
    _write_sparse("update_counts", matrix, tensors)
    return int(matrix.shape[1])


def _read_counts(model: Perceptron, rows: int, shelf: TensorShelf) -> None:
    n_rules = model._rules.shape[0]
    if n_rules == 1:
        model.update_counts_ = shelf.counts("update_counts", rows)
        return
    data = shelf.counts("update_counts.data", None)
    model.update_counts_ = _read_sparse("update_counts", data, n_rules, rows, shelf)


def _write_traces(model: Perceptron, tensors: Tensors) -> dict[str, object] | None:
    found: Trace | list[Trace] | None = model.__dict__.get("trace_")
    if found is None:
        return None
    traces = as_list(found)
    angles = all(trace.inner is not None for trace in traces)
    for rule, trace in enumerate(traces):
        for name in (*_TRACE_INDICES, *_TRACE_NUMBERS, *(_TRACE_ANGLES if angles else ())):
            tensors[f"trace.{rule}.{name}"] = getattr(trace, name)
    return {"angles": angles}


def _read_traces(
    model: Perceptron, body: dict[str, object] | None, rows: int | None, shelf: TensorShelf
) -> None:
    if body is None:
        return
    fields = Fields(body, "'trace' in its run")
    angles = fields.flag("angles")
    fields.end()
    if rows is None:
        raise Flaw("it has a trace, but has not counted any rows")
    traces = []
    for rule in range(model._rules.shape[0]):
        at = f"trace.{rule}"
        index = shelf.integers(f"{at}.index", None, below=rows)
        step = shelf.integers(f"{at}.step", len(index))
        # Norms and inner products may be beyond float64 where the weights are not.
        margin, tau, squared_norm, *rest = (
            shelf.floats(f"{at}.{name}", len(index), finite=name in ("margin", "tau"))
            for name in (*_TRACE_NUMBERS, *(_TRACE_ANGLES if angles else ()))
        )
        traces.append(Trace(step, index, margin, tau, squared_norm, *rest))
    model.trace_ = as_one(traces)


def _write_votes(votes: list[Votes], tensors: Tensors) -> str | None:
    if not votes:
        return None
    tensors["votes.start"] = np.column_stack([rule.start for rule in votes])
    for rule, vote in enumerate(votes):
        at = f"votes.{rule}"
        if isinstance(vote.rows, np.ndarray):
            tensors[f"{at}.rows"] = vote.rows
        else:
            _write_sparse(f"{at}.rows", vote.rows, tensors)
        tensors[f"{at}.which"] = vote.which
        tensors[f"{at}.tau"] = vote.tau
        tensors[f"{at}.survived"] = vote.survived
    return "dense" if isinstance(votes[0].rows, np.ndarray) else "sparse"


def _read_votes(rules: Rules, sparse: bool, n: int, shelf: TensorShelf) -> list[Votes]:
    """The votes of every rule; starts are columns of one matrix, as in a fit."""
    n_rules, d = rules.shape
    starts = shelf.floats("votes.start", d + 1, n_rules)
    votes = []
    for rule in range(n_rules):
        at = f"votes.{rule}"
        rows: Floats | SparseMatrix
        if sparse:
            data = shelf.floats(f"{at}.rows.data", None)
            rows = _read_sparse(f"{at}.rows", data, None, d, shelf)
        else:
            rows = shelf.floats(f"{at}.rows", None, d)
        which = shelf.integers(f"{at}.which", None, below=min(n, rows.shape[0]))
        tau = shelf.floats(f"{at}.tau", len(which))
        survived = shelf.integers(f"{at}.survived", len(which) + 1)
        if survived.sum(dtype=np.float64) > MOST:
            raise Flaw("its votes are more than can be counted")
        votes.append(Votes(starts[:, rule], rows, which, tau, survived, rules.bias))
    return votes


def _write_sparse(name: str, matrix: SparseMatrix, tensors: Tensors) -> None:
    tensors[f"{name}.data"] = matrix.data
    tensors[f"{name}.indices"] = matrix.indices
    tensors[f"{name}.indptr"] = matrix.indptr


def _read_sparse(
    name: str, data: Array, n_rows: int | None, n_columns: int, shelf: TensorShelf
) -> sp.csr_array:
    pointers = shelf.pointers(f"{name}.indptr", None if n_rows is None else n_rows + 1, MOST)
    columns = shelf.pointers(f"{name}.indices", len(data), n_columns)
    ends = (0, len(data)) == (*pointers[:1].tolist(), *pointers[-1:].tolist())
    if not ends or (np.diff(pointers) < 0).any():
        raise Flaw(f"the tensor {name + '.indptr'!r} does not part the entries into rows")
    return sp.csr_array((data, columns, pointers), shape=(len(pointers) - 1, n_columns))

"""Which rows a likelihood compares with each other: risk sets, and rows of groups.

At the time t of an event, all subjects of the stratum with entry < t ≤ duration are at risk, and
the event is compared with the others at risk. The comparisons are transitive, which makes most of
them redundant. Suppose that a subject with a later event at t' was already at risk at t. The
subjects who are at risk at t and leave at t' or later are compared at t'. So the event at t is
compared only with the first such later event, and with the subjects who leave before t'. Without
entry times these are at most n comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from novikoff.core.rows import Indices, Mask, Vector


class Comparisons(NamedTuple):
    """Pairs of rows that a likelihood compares.

    Along a direction in which the likelihood does not decrease, each row ``better`` has at least
    the score of the row ``worse`` beside it, and each row ``tied`` has the score of its ``other``.
    """

    better: Indices
    worse: Indices
    tied: Indices
    other: Indices


@dataclass(frozen=True, eq=False)
class Survival:
    """The times of a survival model: duration, event, entry and stratum of each subject."""

    duration: Vector
    event: Mask
    entry: Vector | None
    strata: Indices
    exact: bool  # the ties

    def comparisons(self) -> Comparisons:
        """Return the comparisons of the partial likelihood."""
        if self.entry is None and not self.exact:
            return self._nested_comparisons()
        better: list[Indices] = []
        worse: list[Indices] = []
        tied: list[Indices] = []
        for subjects in self._subjects_of_strata():
            for events, others in self._risk_sets(subjects):
                if not self.exact:
                    tied.append(np.stack([np.full(len(events) - 1, events[0]), events[1:]]))
                    events = events[:1]
                better.append(events)
                worse.append(others)
        none = np.zeros((2, 0), dtype=np.int64)
        return Comparisons(*all_pairs(better, worse), *np.concatenate([none, *tied], axis=1))

    def _nested_comparisons(self) -> Comparisons:
        """The comparisons without entry times, for Breslow's and Efron's ties.

        Each subject is compared with the last event that is not later than its end, and each event
        with the event before.
        """
        order = np.lexsort(
            (~self.event, self.duration, self.strata)
        )  # events before other subjects
        ends, stratum, happened = self.duration[order], self.strata[order], self.event[order]
        is_new = np.ones(len(order), dtype=np.bool_)
        is_new[1:] = (ends[1:] != ends[:-1]) | (stratum[1:] != stratum[:-1])
        leads = is_new & happened  # the first of the events at a time
        positions = np.arange(len(order))
        last = np.maximum.accumulate(np.where(leads, positions, -1))  # at this time or before
        before = np.append(-1, last[:-1])
        event = np.where(leads, before, last)
        is_known = (event >= 0) & (stratum[np.maximum(event, 0)] == stratum)
        tied = happened & ~leads
        compared = np.flatnonzero(is_known & ~tied)
        return Comparisons(order[event[compared]], order[compared], order[last[tied]], order[tied])

    def _subjects_of_strata(self) -> Iterator[Indices]:
        """The subjects of each stratum, sorted by duration."""
        for stratum in np.unique(self.strata).tolist():
            yield self.subjects_of(stratum)

    def subjects_of(self, stratum: int) -> Indices:
        """Return the subjects of a stratum, sorted by duration."""
        subjects = np.flatnonzero(self.strata == stratum)
        return subjects[np.argsort(self.duration[subjects], kind="stable")]

    def _risk_sets(self, subjects: Indices) -> Iterator[tuple[Indices, Indices]]:
        """For each time of an event: the events, and the subjects they are compared with.

        ``subjects`` are those of a stratum, sorted by duration.
        """
        entry = np.full(len(self.duration), -np.inf) if self.entry is None else self.entry
        ends, happened = self.duration[subjects], self.event[subjects]
        times = np.unique(ends[happened])
        starts = np.searchsorted(ends, times, side="left")
        stops = np.searchsorted(ends, times, side="right")
        events = [subjects[a:b][happened[a:b]] for a, b in zip(starts, stops, strict=True)]
        for k, t in enumerate(times.tolist()):
            j, later = k + 1, subjects[:0]
            while j < len(times) and len(later) == 0:
                later = events[j][entry[events[j]] < t]
                j += 1
            stop = starts[j - 1] if len(later) > 0 else len(subjects)
            segment = slice(starts[k], stop)
            others = subjects[segment]
            has_event_now = happened[segment] & (ends[segment] == t)
            others = others[~has_event_now & (entry[others] < t)]
            if len(later) > 0:
                others = np.append(others, later if self.exact else later[:1])
            yield events[k], others

    def events_above_the_least(self, stratum: int, scores: Any) -> list[int]:
        """Return the events with a larger score than a subject at risk without a tied event."""
        entry = np.full(len(self.duration), -np.inf) if self.entry is None else self.entry
        subjects = self.subjects_of(stratum)
        found: list[int] = []
        ends = self.duration[subjects]
        at_risk: list[tuple[int, float, int]] = []  # a heap: score, entry, number
        stop = len(subjects)
        while stop > 0:  # backwards through the times
            t = ends[stop - 1]
            start = int(np.searchsorted(ends, t, side="left"))
            now, stop = subjects[start:stop], start
            happened = self.event[now]
            for i in now[~happened].tolist():
                heappush(at_risk, (scores[i], entry[i], i))
            while happened.any() and at_risk and at_risk[0][1] >= t:
                heappop(at_risk)
            if at_risk:
                found += [i for i in now[happened].tolist() if scores[i] > at_risk[0][0]]
            for i in now[happened].tolist():
                heappush(at_risk, (scores[i], entry[i], i))
        return found


def all_pairs(better: list[Indices], worse: list[Indices]) -> tuple[Indices, Indices]:
    """Return all pairs of rows of two lists with the same number.

    Examples
    --------
    >>> all_pairs([np.array([0, 1]), np.array([5])], [np.array([2, 3]), np.array([4])])
    (array([0, 0, 1, 1, 5]), array([2, 3, 2, 3, 4]))
    """
    a = np.array([len(part) for part in better], dtype=np.int64)
    b = np.array([len(part) for part in worse], dtype=np.int64)
    number = np.repeat(np.arange(len(a)), a * b)
    within = np.arange(len(number)) - np.repeat(np.cumsum(a * b) - a * b, a * b)
    width = np.maximum(b[number], 1)
    first = _joined(better)[(np.cumsum(a) - a)[number] + within // width]
    second = _joined(worse)[(np.cumsum(b) - b)[number] + within % width]
    return first, second


def _joined(parts: list[Indices]) -> Indices:
    return np.concatenate(parts) if parts else np.arange(0)

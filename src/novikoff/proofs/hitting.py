"""Lower bounds on the cost of a set that has an element of each of several sets, and their check.

A *hitting set* of some sets has at least one element of each of them. Every element i has a cost
c_i ≥ 0. The misclassified rows of a hyperplane are a hitting set of all contradictions among the
rows, and the rows that a user gives up are a hitting set of all conflicts of a system.

* *Shares* (`add_up`): let v_S ≥ 0 be a number for each set S, such that the numbers of the sets
  that contain an element i add up to at most c_i. Then every hitting set H costs
  Σ_{i∈H} c_i ≥ Σ_{i∈H} Σ_{S∋i} v_S ≥ Σ_S v_S. If all costs are integers, the sum is rounded up.
* *Branching* (`branching_bound`): an element is in a hitting set, or it is not. A tree of such
  decisions divides all hitting sets into cases, one for each leaf. At a leaf some elements have
  been paid for, and others are known not to be in the hitting set. Shares of the sets that are not
  hit yet, without the excluded elements, prove a bound there. The least bound of all leaves holds
  for every hitting set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from novikoff.errors import CertificateError
from novikoff.proofs.exact import rounded_down

# The largest number of nodes of a tree of cases: a check takes time in proportion to its square.
MOST_BRANCHES = 10_000


@dataclass(frozen=True)
class Branch:
    """A node of a tree of decisions.

    The nodes of a tree are listed depth first: a node that decides about an element is followed by
    all nodes of the case in which the element is in the hitting set, and then by all nodes of the
    case in which it is not.

    Attributes
    ----------
    element : int or None
        The element that the node decides about; None at a leaf.
    sets : tuple of int
        At a leaf: the places of the sets that have a share, in the list of all sets.
    shares : tuple of Fraction
        At a leaf: the share of each of ``sets``. If a set has no element left, because all of them
        are excluded, the case is impossible. A leaf shows this by listing that set alone.
    """

    element: int | None = None
    sets: tuple[int, ...] = ()
    shares: tuple[Fraction, ...] = ()

    @property
    def decides(self) -> bool:
        """Whether the node decides about an element; otherwise it is a leaf."""
        return self.element is not None


def add_up(
    sets: Sequence[Sequence[int]],
    shares: Sequence[Fraction],
    costs: Sequence[Fraction] | Mapping[int, Fraction],
) -> Fraction:
    """Return Σ v, rounded up if all costs are integers.

    CertificateError if the shares of the sets with one element exceed the cost of that element.

    >>> add_up([(0, 1), (1, 2), (0, 2)], [Fraction(1, 2)] * 3, [Fraction(1)] * 3)
    Fraction(2, 1)
    """
    if len(shares) != len(sets) or min(shares, default=Fraction(0)) < 0:
        raise CertificateError("The shares are not a number ≥ 0 for each set.")
    loads: dict[int, Fraction] = {}
    for elements, share in zip(sets, shares, strict=True):
        for i in elements:
            loads[i] = loads[i] + share if i in loads else share
    for i, load in loads.items():
        if load > costs[i]:
            raise CertificateError(
                f"Element {i} is in sets with shares of more than {short(costs[i])}, its cost."
            )
    whole = all(costs[i].denominator == 1 for i in loads)
    return Fraction(ceil(sum(shares))) if whole else sum(shares, Fraction(0))


def branching_bound(
    sets: Sequence[Sequence[int]],
    branches: Sequence[Branch],
    costs: Sequence[Fraction] | Mapping[int, Fraction],
) -> Fraction | None:
    """Return the least bound of all leaves; None if every leaf is impossible.

    CertificateError if the nodes are no tree, or if the shares of a leaf are not valid.

    Examples
    --------
    The six pairs of four elements have shares of at most 2 in all, but a hitting set of them has
    three elements.

    >>> pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    >>> half, one = (Fraction(1, 2),) * 3, (Fraction(1),) * 3
    >>> tree = [Branch(0), Branch(None, (3, 4, 5), half), Branch(None, (0, 1, 2), one)]
    >>> branching_bound(pairs, tree, [Fraction(1)] * 4)
    Fraction(3, 1)
    """
    if len(branches) > MOST_BRANCHES:
        raise CertificateError(f"The tree has more than {MOST_BRANCHES:,} branches.")
    elements = {i for part in sets for i in part}
    if any(branch.element not in elements for branch in branches if branch.decides):
        raise CertificateError("A branch decides about a row that is in no conflict.")
    least: Fraction | None = None
    waiting: list[tuple[frozenset[int], frozenset[int]]] = [(frozenset(), frozenset())]
    for branch in branches:
        if not waiting:
            raise CertificateError("The branches are not one tree.")
        taken, excluded = waiting.pop()
        i = branch.element
        if i is not None:
            if branch.sets or branch.shares or i in taken or i in excluded:
                raise CertificateError("A branch decides twice about an element, or has shares.")
            waiting += [(taken, excluded | {i}), (taken | {i}, excluded)]
            continue
        bound = _leaf_bound(sets, branch, taken, excluded, costs)
        if bound is not None:
            least = bound if least is None else min(least, bound)
    if waiting:
        raise CertificateError("The branches are not one tree.")
    return least


def _leaf_bound(
    sets: Sequence[Sequence[int]],
    leaf: Branch,
    taken: frozenset[int],
    excluded: frozenset[int],
    costs: Sequence[Fraction] | Mapping[int, Fraction],
) -> Fraction | None:
    """Return the bound that the shares of a leaf prove; None if the leaf is impossible."""
    if len({*leaf.sets}) != len(leaf.sets) or not all(0 <= k < len(sets) for k in leaf.sets):
        raise CertificateError("A branch names a set that does not exist, or one twice.")
    parts = [[i for i in sets[k] if i not in excluded] for k in leaf.sets]
    if any(i in taken for part in parts for i in part):
        raise CertificateError("A branch counts a set with an element that is already chosen.")
    if len(parts) == 1 and not parts[0]:
        return None
    if not all(parts):
        raise CertificateError("A branch counts a set without elements.")
    paid = sum((costs[i] for i in taken), Fraction(0))
    return paid + add_up(parts, leaf.shares, costs)


def short(number: Fraction) -> str:
    """An integer as it is; other numbers rounded down, so that the printed bound is proved."""
    whole = number.denominator == 1 and number < 1 << 53
    return f"{number.numerator:,}" if whole else f"{rounded_down(number)!r}"

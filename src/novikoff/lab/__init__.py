"""The lab: the convergence proof in your hands, as a page (E1, B3).

``novikoff lab`` serves it; ``nv.lab(X, y)`` shows it in a notebook. So this package can be called.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Lab(ModuleType):
    def __call__(self, X: object = None, y: Any = None, **options: Any) -> Any:
        """Show two features and two classes in a notebook; see `novikoff.lab.widget.lab`."""
        from novikoff.lab.widget import lab

        return lab(X, y, **options)


sys.modules[__name__].__class__ = _Lab

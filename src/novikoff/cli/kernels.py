"""Compiled kernels from disk, without what only compiling needs.

Before Numba loads its first kernel, cached or not, it imports all that it knows of Python, NumPy
and SciPy, and takes it into its registries: 0.3-0.4 s. Machine code that was compiled before needs
the runtime alone. Where a kernel is not in the cache, Numba's compiler itself sees to the rest.
"""

from __future__ import annotations

from typing import Any


def load_lightly() -> None:
    """Let this process load kernels without preparing to compile any.

    This replaces a method of Numba's, so it is for the commands, whose process is their own. A
    Numba that is built otherwise stays as it is.
    """
    try:
        from numba.core import caching, entrypoints
        from numba.core.runtime.nrt import rtsys
    except ImportError:
        return
    # Nor does it look through all installed packages for extensions: no kernel of ours needs one.
    if hasattr(entrypoints, "_already_initialized"):
        vars(entrypoints)["_already_initialized"] = True
    cache: Any = caching.Cache
    if all(hasattr(cache, name) for name in ("load_overload", "_load_overload")):

        def load_overload(self: Any, sig: Any, target_context: Any) -> Any:
            rtsys.initialize(target_context)
            try:
                return self._load_overload(sig, target_context)
            except Exception:  # whatever is wrong with a file of the cache: compile it anew
                return None

        cache.load_overload = load_overload
    index: Any = getattr(caching, "IndexDataCacheFile", None)
    if hasattr(index, "_load_index"):
        load_index = index._load_index

        def load_sound_index(self: Any) -> Any:
            try:
                return load_index(self)
            except Exception:  # what is compiled anew is kept, with a new index
                return {}

        index._load_index = load_sound_index

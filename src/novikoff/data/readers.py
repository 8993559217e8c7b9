"""Read a file of labelled rows, whatever its format."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import BinaryIO

from novikoff.data.choices import Choices, Dataset
from novikoff.data.errors import DataError
from novikoff.data.foreign import refuse_foreign
from novikoff.data.labels import check_classes
from novikoff.data.recipe import Recipe
from novikoff.data.source import Source, open_source, shown

_DEFAULT = Choices()
# From this many bytes on, a file of plain numbers is worth a kernel.
LARGE = 1 << 22


def read(
    path: str | os.PathLike[str] | BinaryIO,
    choices: Choices = _DEFAULT,
    *,
    recipe: Recipe | None = None,
    labelled: bool = True,
    progress: Callable[[str], None] | None = None,
) -> Dataset:
    r"""Read a file into features and labels; what cannot be used is refused in a sentence.

    Parameters
    ----------
    path : path, "-" or binary file
        Where the data is; "-" is the standard input. Gzip is unpacked, whatever the name.
    choices : Choices
        What is asked for; the rest is found out and noted.
    recipe : Recipe, optional
        That of an earlier dataset: columns are matched with it by name, or by number in
        svmlight and npz files, and missing values are replaced by its means if it has them.
    labelled : bool
        Whether there must be labels.
    progress : callable, optional
        Told in a few words what begins.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        If the file cannot be read, or is not what it should be.

    Examples
    --------
    >>> import io
    >>> data = read(io.BytesIO(b"age,height,class\n31,1.7,a\n25,1.8,b\n"))
    >>> data.X, data.y, data.names
    (array([[31. ,  1.7],
           [25. ,  1.8]]), array(['a', 'b'], dtype='<U1'), ['age', 'height'])
    >>> data.notes
    ['the label is the column "class"']
    """
    tell = progress or _silent
    name = shown(path) if isinstance(path, str) else "the data"
    try:
        source = open_source(path, choices.format)
        name = source.name
        tell(f"reading {name}")
        refuse_foreign(source)
        _check_family(source, recipe)
        data = _dispatch(source, choices, recipe, labelled, tell)
        if recipe is None and data.y is not None:
            _check_label(data)
        return data
    except MemoryError:
        raise DataError(f"{name} does not fit into memory.") from None


def _dispatch(
    source: Source,
    choices: Choices,
    recipe: Recipe | None,
    labelled: bool,
    tell: Callable[[str], None],
) -> Dataset:
    if source.format == "svmlight":
        from novikoff.data.svmlight import read_rows

        return read_rows(source, choices, recipe, labelled=labelled)
    if source.format in ("npy", "npz"):
        from novikoff.data.matrices import read_npy, read_npz

        read_matrix = read_npy if source.format == "npy" else read_npz
        return read_matrix(source, choices, recipe, labelled=labelled)
    if source.format in ("csv", "tsv") and len(source.view) >= LARGE:
        from novikoff.data.large import read_large

        found = read_large(source, choices, recipe, labelled=labelled)
        if found is not None:
            return found
    from novikoff.data.delimited import read_delimited
    from novikoff.data.table import assemble
    from novikoff.data.typed import read_arrow, read_parquet

    read_table = {"parquet": read_parquet, "arrow": read_arrow}.get(source.format, read_delimited)
    frame = read_table(source, choices, recipe, labelled=labelled)
    tell(f"arranging {frame.n_rows:,} rows")
    return assemble(frame, choices, recipe, labelled=labelled)


def _check_family(source: Source, recipe: Recipe | None) -> None:
    if recipe is None:
        return
    family = "matrix" if source.format in ("svmlight", "npz") else "table"
    if family != recipe.family:
        known = {"table": "a table of named columns", "matrix": "a matrix of numbered columns"}
        raise DataError(
            f"{source.name} is {known[family]}, but the model was trained on "
            f"{known[recipe.family]}."
        )


def _check_label(data: Dataset) -> None:
    advice = "; choose the label with --label" if data.recipe.family == "table" else ""
    check_classes(data.labels, data.source, data.label or "label", advice)


def _silent(_: str) -> None:
    pass

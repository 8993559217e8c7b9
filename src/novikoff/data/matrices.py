"""NumPy's own files: npy, a matrix with its labels in a column; npz, with an array of them."""

from __future__ import annotations

import io
import zipfile
from typing import cast

import numpy as np
import numpy.typing as npt

from novikoff.data.choices import Choices, Dataset, Floats, Labels
from novikoff.data.choose import match_columns, plan_columns
from novikoff.data.errors import DataError, listed, place, quoted
from novikoff.data.exact import check_matrix
from novikoff.data.labels import number_labels
from novikoff.data.look import numbered
from novikoff.data.recipe import Column, Recipe
from novikoff.data.settle import Columns, settle
from novikoff.data.source import Source

Array = npt.NDArray[np.generic]


def read_npy(source: Source, choices: Choices, recipe: Recipe | None, *, labelled: bool) -> Dataset:
    """Read a matrix whose columns are called x1, x2, …; the last is the label by default.

    Raises
    ------
    DataError
        If it is no matrix of numbers, or a number is missing or infinite.
    """
    array = _parse(source.view, source.name)
    _check_matrix(array, source.name)
    if choices.one_hot:
        raise DataError(f"{source.name} is a matrix of numbers: --one-hot has nothing to do.")
    names = numbered(array.shape[1], recipe)
    if recipe is None:
        plan = plan_columns(source.name, names, choices, labelled=labelled, row_names=False)
    else:
        if any(column.levels is not None for column in recipe.columns):
            raise DataError(
                f"{source.name} is a matrix of numbers, but the model has text columns."
            )
        plan = match_columns(source.name, names, recipe, choices, labelled=labelled)
    y, unlabelled = None, None
    label = None if plan.label is None else names[plan.label]
    if plan.label is not None and label is not None:
        y, unlabelled = _labels(array[:, plan.label], source.name, label)
    owners = [names[j] for j in plan.features]
    means = None
    if recipe is not None and any(column.mean is not None for column in recipe.columns):
        means = np.array([np.nan if c.mean is None else c.mean for c in recipe.columns])
    check_matrix(array, plan.features, source.name, owners)
    settled = settle(
        _floats(array, plan.features),
        Columns(owners, np.zeros(len(owners), np.bool_)),
        source.name,
        choices.missing,
        means=means,
        unlabelled=unlabelled,
        label=label or "",
        trained=recipe is not None,
    )
    keep = np.ones(len(array), np.bool_) if settled.keep is None else settled.keep
    ids = None
    if plan.id is not None:
        ids = [str(value) for value in array[keep, plan.id].tolist()]
    if recipe is None:
        found = [None] * len(owners) if settled.means is None else settled.means.tolist()
        recipe = Recipe(
            family="table",
            columns=tuple(Column(name, mean) for name, mean in zip(owners, found, strict=True)),
            label=label,
            id=None if plan.id is None else names[plan.id],
            missing=choices.missing,
            width=array.shape[1],
        )
    return Dataset(
        settled.X,
        None if y is None else y[keep],
        recipe.names,
        recipe,
        source.name,
        label,
        plan.notes + settled.notes,
        ids,
        np.flatnonzero(keep).astype(np.int64) + 1,
        imputed=settled.imputed,
    )


def read_npz(source: Source, choices: Choices, recipe: Recipe | None, *, labelled: bool) -> Dataset:
    """Read arrays X and y, or a matrix and a vector whatever their names.

    Raises
    ------
    DataError
        If they are not there, do not fit, or a number is missing or infinite.
    """
    refuse_columns(source.name, choices, "an npz file")
    arrays = _arrays(source)
    x_name, y_name = _pick(arrays, source.name, labelled=labelled)
    array = arrays[x_name]
    _check_matrix(array, f"{source.name}, array {quoted(x_name)},")
    y, unlabelled = None, None
    if y_name is not None:
        if arrays[y_name].shape != (len(array),):
            raise DataError(
                f"{source.name} has {len(array):,} rows in {quoted(x_name)}, but "
                f"{quoted(y_name)} is of shape {arrays[y_name].shape}."
            )
        y, unlabelled = _labels(arrays[y_name], source.name, y_name)
    width = array.shape[1]
    if recipe is not None and width != recipe.width:
        raise DataError(f"{source.name} has {width:,} features; the model has {recipe.width:,}.")
    names = [f"x{number}" for number in range(1, width + 1)] if recipe is None else recipe.names
    if choices.missing == "mean":
        raise DataError(f"{source.name}: --missing mean is for tables, not for an npz file.")
    check_matrix(array, list(range(width)), source.name, names)
    settled = settle(
        _floats(array, list(range(width))),
        Columns(names, np.zeros(width, np.bool_)),
        source.name,
        choices.missing,
        unlabelled=unlabelled,
        label=y_name or "",
        trained=True,
    )
    keep = np.ones(len(array), np.bool_) if settled.keep is None else settled.keep
    rows = np.flatnonzero(keep).astype(np.int64) + 1
    y = None if y is None else y[keep]
    if recipe is None:
        recipe = Recipe("matrix", label=y_name, missing=choices.missing, width=width)
    return Dataset(settled.X, y, names, recipe, source.name, y_name, settled.notes, None, rows)


def refuse_columns(source: str, choices: Choices, what: str) -> None:
    """Raise DataError if columns are chosen where they have no names."""
    chosen = {
        "--label": choices.label is not None,
        "--features": bool(choices.features),
        "--drop": bool(choices.drop),
        "--id": choices.id is not None,
        "--one-hot": bool(choices.one_hot),
    }
    for option, given in chosen.items():
        if given:
            raise DataError(f"{source} is {what}, where {option} has nothing to choose from.")


def _parse(view: memoryview, name: str) -> Array:
    """The array of an npy file, in place; never a pickle."""
    stream = io.BytesIO(view[: 1 << 16])
    try:
        version = np.lib.format.read_magic(stream)
        header = (
            np.lib.format.read_array_header_1_0(stream)
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0(stream)
        )
        shape, fortran, dtype = header
    except Exception:  # the header is parsed as Python: any error may come of arbitrary bytes
        raise DataError(f"{name} is not a sound npy file: its header cannot be read.") from None
    if dtype.hasobject or dtype.kind not in "biufU":
        raise DataError(f"{name} holds {dtype}, not numbers; Python objects are never loaded.")
    body = view[stream.tell() :]
    count = 1
    for extent in shape:
        count *= extent
    if count * dtype.itemsize > len(body) or min(shape, default=0) < 0:
        raise DataError(f"{name} is cut off: it is too short for an array of shape {shape}.")
    if not count:
        raise DataError(f"{name} is empty: its array has the shape {shape}.")
    array = np.frombuffer(body, dtype, count)
    return array.reshape(shape, order="F" if fortran else "C")


def _arrays(source: Source) -> dict[str, Array]:
    contents: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(source.view)) as archive:
            for info in archive.infolist():
                contents[info.filename.removesuffix(".npy")] = archive.read(info)
    except MemoryError:
        raise
    except Exception:  # whatever zipfile and its decoders make of arbitrary bytes
        raise DataError(f"{source.name} is not a sound npz file: it cannot be unpacked.") from None
    return {
        name: _parse(memoryview(content), f"{source.name}, array {quoted(name)},")
        for name, content in contents.items()
    }


def _pick(arrays: dict[str, Array], source: str, *, labelled: bool) -> tuple[str, str | None]:
    matrices = [name for name, array in arrays.items() if array.ndim == 2]
    vectors = [name for name, array in arrays.items() if array.ndim == 1]
    x_name = "X" if "X" in arrays else matrices[0] if len(matrices) == 1 else None
    y_name = "y" if "y" in arrays else vectors[0] if len(vectors) == 1 else None
    if x_name is None or (y_name is None and labelled):
        raise DataError(
            f"{source} needs arrays X and y, or one matrix and one vector; it has "
            f"{listed(list(arrays)) or 'none'}."
        )
    return x_name, y_name


def _check_matrix(array: Array, name: str) -> None:
    if array.ndim != 2:
        raise DataError(f"{name} has an array of shape {array.shape}, not a matrix.")
    if array.dtype.kind not in "biuf":
        raise DataError(f"{name} holds {array.dtype}, not numbers.")


def _floats(array: Array, columns: list[int]) -> Floats:
    single = array.dtype.kind == "f" and array.dtype.itemsize <= 4
    first, last = columns[0], columns[-1]
    if columns == list(range(first, last + 1)):
        part = array[:, first : last + 1]  # a view: only the result is new
    else:
        part = array[:, columns]
    kind = np.dtype(np.float32 if single else np.float64)
    with np.errstate(over="ignore"):  # of long doubles: infinity is refused afterwards
        floats = np.require(part.astype(kind, copy=False), requirements=["C", "A"])
    return cast(Floats, floats)


def _labels(values: Array, source: str, name: str) -> tuple[Labels, npt.NDArray[np.bool_]]:
    none = np.zeros(len(values), np.bool_)
    if values.dtype.kind == "b":
        return values.astype(np.bool_), none
    if values.dtype.kind == "U":
        try:
            return np.array(values.tolist(), np.str_), none
        except (UnicodeError, ValueError):
            raise DataError(f"{source}: {quoted(name)} holds text that is not Unicode.") from None
    if values.dtype.kind in "iu":
        if values.dtype.kind == "u" and int(values.max().item()) >= 2**63:
            return values.astype(np.str_), none
        return values.astype(np.int64), none
    numbers = cast(npt.NDArray[np.floating], values)
    if np.isinf(numbers).any():
        row = int(np.argmax(np.isinf(numbers))) + 1
        raise DataError(f"{place(source, row, name)}: the label is infinite.")
    return number_labels(numbers), np.isnan(numbers)

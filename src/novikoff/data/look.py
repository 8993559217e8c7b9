"""A first look at delimited text: its delimiter, its header, and what its columns seem to be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise

from novikoff.data.choices import Choices
from novikoff.data.errors import DataError, quoted
from novikoff.data.recipe import Recipe
from novikoff.data.source import Source
from novikoff.data.text import OpenQuoteError, Record, line_at, records
from novikoff.data.values import is_missing, is_number, is_truth

LABEL_NAMES = ("label", "target", "y", "class")
ROW_NAME = "row name"

_NO_HEADER = "no header: columns are named x1, x2, …"
_UNSURE = "the first line is taken for the header (--no-header if it is a row)"
SAMPLE = 100
_DELIMITERS = ("\t", ";", "|", ",")  # the comma last: it may be a decimal point


@dataclass(frozen=True)
class Look:
    """What the beginning of a file tells.

    Attributes
    ----------
    delimiter, decimal : str
        As chosen or found out.
    names : list of str
        The columns' names; x1, x2, … without a header.
    header : bool
        Whether the file names its columns.
    body : int
        Where the rows begin, in bytes.
    line : int
        The line at that offset.
    longest : int
        The length of the longest record seen, in bytes.
    sample : list of list of str
        The first rows.
    row_names : bool
        Whether the first column has no name, as when R or pandas write row names.
    notes : list of str
        What was decided.
    """

    delimiter: str
    decimal: str
    names: list[str]
    header: bool
    body: int
    line: int
    longest: int
    sample: list[list[str]]
    row_names: bool
    notes: list[str] = field(default_factory=list)


def look_at(source: Source, start: int, choices: Choices, recipe: Recipe | None) -> Look:
    """Find out delimiter, header and names from the first records.

    Raises
    ------
    DataError
        If there are no rows, or two columns have one name, or a column has none.
    """
    notes: list[str] = []
    decimal = choices.decimal
    delimiter, header = choices.delimiter, choices.header
    if recipe is not None:
        decimal = recipe.decimal if decimal == "." and recipe.decimal else decimal
        delimiter = delimiter or recipe.delimiter
        header = recipe.header if header is None else header
    if delimiter is None:
        delimiter = "\t" if source.format == "tsv" else _find_delimiter(source, start, decimal)
        if delimiter not in ",\t":
            notes.append(f"fields are separated by {quoted(delimiter)}")
    sample = _sample(source, start, delimiter)
    if not sample:
        raise DataError(f"{source.name} is empty: it has no rows.")
    rows = [[text.decode() for text in record.fields] for record in sample]
    if header is None:
        found = {name.strip() for name in rows[0]}
        header = recipe is not None and _names_of(recipe) <= found
        if not header:
            header, note = _has_header(rows, decimal)
            notes += [note] if note else []
    if header and len(rows) == 1:
        raise DataError(f"{source.name} has a header but no rows.")
    names, row_names = (
        _header_names(source.name, rows[0]) if header else (numbered(len(rows[0]), recipe), False)
    )
    ends = [start, *(record.end for record in sample)]
    return Look(
        delimiter,
        decimal,
        names,
        header,
        body=sample[0].end if header else start,
        line=line_at(source.view, sample[0].end) if header else 1,
        longest=max(b - a for a, b in pairwise(ends)),
        sample=rows[1:] if header else rows,
        row_names=row_names,
        notes=notes,
    )


def _sample(source: Source, start: int, delimiter: str, size: int = SAMPLE) -> list[Record]:
    found: list[Record] = []
    try:
        found.extend(islice(records(source.view, start, delimiter), size))
    except OpenQuoteError as quote:
        raise DataError(
            f"{source.name}, line {quote.line} opens a quote that is never closed."
        ) from None
    return found


def _find_delimiter(source: Source, start: int, decimal: str) -> str:
    """The first delimiter that splits all of the first records alike, else the most frequent."""
    widths = {}
    for delimiter in _DELIMITERS:
        if delimiter != decimal:
            try:
                sample = _sample(source, start, delimiter, 20)
            except DataError:  # a quote that this delimiter leaves open
                continue
            widths[delimiter] = Counter(len(record.fields) for record in sample)
    for delimiter, counts in widths.items():
        if len(counts) == 1 and min(counts) > 1:
            return delimiter
    frequent = {delimiter: counts.most_common(1) for delimiter, counts in widths.items()}
    best = max(
        frequent,
        key=lambda d: (frequent[d][0][0] > 1, frequent[d][0][1]) if frequent[d] else (),
        default=",",
    )
    return best if frequent.get(best) and frequent[best][0][0] > 1 else ","


def _has_header(rows: Sequence[Sequence[str]], decimal: str) -> tuple[bool, str | None]:
    """Whether the first line names the columns, and what to note of the decision.

    Text over a column of numbers is evidence. Without it, a line that has a missing value is
    a row, and so is one whose fields appear again below.
    """
    first, *others = rows
    values = [is_number(text, decimal) or is_truth(text) for text in first]
    gaps = [is_missing(text) for text in first]
    named = [j for j, text in enumerate(first) if not (values[j] or gaps[j])]
    if any(_values_below(others, j, decimal) for j in named):
        return True, None
    # Only the first name may be left out, as R and pandas do above the names of the rows.
    header = bool(named) and not any(gaps[1:]) and not (gaps[0] and first[0].strip())
    if header and any(values):
        header = any(text.strip().lower() in LABEL_NAMES for text in first)
    elif header:
        names = {(j, first[j].strip()) for j in named}
        header = not any((j, text.strip()) in names for row in others for j, text in enumerate(row))
    return header, _UNSURE if header else _NO_HEADER


def _values_below(rows: Sequence[Sequence[str]], column: int, decimal: str) -> bool:
    """Whether all values of a column are numbers, or all are true or false."""
    texts = [row[column] for row in rows if column < len(row) and not is_missing(row[column])]
    numbers = all(is_number(text, decimal) for text in texts)
    return bool(texts) and (numbers or all(is_truth(text) for text in texts))


def _header_names(source: str, fields: Sequence[str]) -> tuple[list[str], bool]:
    names = [name.strip() for name in fields]
    row_names = len(names) > 1 and not names[0] and ROW_NAME not in names
    if row_names:
        names[0] = ROW_NAME
    if "" in names:
        number = names.index("") + 1
        raise DataError(
            f"{source} has no name for column {number} in its header, line 1; give it one, or "
            "say --no-header if the first line is a row."
        )
    check_unique(source, names)
    return names, row_names


def check_unique(source: str, names: Sequence[str]) -> None:
    """Raise DataError if two columns have one name."""
    seen: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if name in seen:
            raise DataError(
                f"{source} has two columns named {quoted(name)}, the columns {seen[name]} and "
                f"{number}; rename one of them."
            )
        seen[name] = number


def numbered(width: int, recipe: Recipe | None) -> list[str]:
    """Names x1, x2 and so on for columns that have none.

    If the model's label is such a column and the file has just one column less, that is the
    one that is not there.
    """
    names = [f"x{number}" for number in range(1, width + 1)]
    if recipe is not None and recipe.label is not None and width == recipe.width - 1:
        longer = [*names, f"x{width + 1}"]
        if recipe.label in longer:
            longer.remove(recipe.label)
            return longer
    return names


def _names_of(recipe: Recipe) -> set[str]:
    return {column.name for column in recipe.columns}

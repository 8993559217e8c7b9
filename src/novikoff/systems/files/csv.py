"""The CSV format of inequalities: a header, then one row of the system in each line.

    name,tea,bread,relation,right
    money,3,1.10,<=,20
    breakfast,1,,>=,2

One column contains the signs <=, >=, =, < or >; the rows with < or > are strict. The columns before
the signs are the coefficients of the variables that the header names, and the column after the
signs is the right side. The first column names the rows if its heading is one of `NAME_COLUMNS`, or
if none of its cells is a number. An empty coefficient is 0. Variables may have any sign.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Final

from novikoff.data.messages import quoted
from novikoff.data.values import is_missing_text
from novikoff.errors import DataError
from novikoff.proofs.system_statement import Relation
from novikoff.systems.files.builder import (
    FileLine,
    ModelBuilder,
    each_line,
    exact_number,
)
from novikoff.systems.system_model import SystemModel

NAME_COLUMNS: Final = ("", "name", "row", "constraint", "rule", "wish", "id")
CSV_RELATIONS: Final[dict[str, Relation]] = {
    "<=": "<=", "=<": "<=", "≤": "<=", "<": "<", "=": "=", "==": "=",
    ">=": ">=", "=>": ">=", "≥": ">=", ">": ">",
}  # fmt: skip


def csv_system(text: str, source: str) -> SystemModel:
    """Read the system of a CSV file; fields are separated by commas, semicolons or tabs."""
    (_, header), *table = _csv_rows(text, source)
    at = _relation_column(header, table, source)
    named = at > 0 and _are_names(header[0], [cells[0] for _, cells in table])
    builder = ModelBuilder(source, default_lower=None)
    for j in range(int(named), at):
        if not header[j]:
            raise DataError(f"{source}, line 1: column {j + 1} has no name.")
        if builder.variable(header[j]) != j - int(named):
            raise DataError(f"{source}, line 1: two columns are called {quoted(header[j])}.")
    if not builder.variables:
        raise DataError(f"{source}, line 1: no column before the column of signs names a variable.")
    for line, cells in table:
        place = FileLine(source, line)
        name = builder.name_row(cells[0] if named else "", place)
        coefficients = cells[int(named) : at]
        terms = {
            j: exact_number(cell, f"the coefficient of {quoted(header[j + int(named)])}", place)
            for j, cell in enumerate(coefficients)
            if cell
        }
        if cells[at] not in CSV_RELATIONS:
            raise place.error(
                f"column {quoted(header[at])} has {quoted(cells[at])}, not one of <=, >=, =, <, >."
            )
        what = f"the right side, column {quoted(header[at + 1])},"
        builder.add(name, terms, CSV_RELATIONS[cells[at]], exact_number(cells[at + 1], what, place))
    return builder.build("csv")


def _csv_rows(text: str, source: str) -> list[tuple[int, list[str]]]:
    """The lines that are not blank, as stripped cells, all with the same number of cells.

    Reading stops at the first row that has no sign in the column of signs. This row is an error in
    any case, and a file of millions of lines that is not a system need not be read to its end.
    """
    first = next((line for line in each_line(text) if line.strip()), "")
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(each_line(text), delimiter=delimiter, strict=True)
    records: list[tuple[int, list[str]]] = []
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                records.append((reader.line_num, [cell.strip() for cell in cells]))
                if len(cells) != len(records[0][1]):
                    raise FileLine(source, reader.line_num).error(
                        f"there are {len(cells)} fields, {len(records[0][1])} in the header."
                    )
                row = records[-1][1]
                if len(records) > 1 and (len(row) < 3 or row[-2] not in CSV_RELATIONS):
                    break
    except csv.Error as error:
        raise FileLine(source, reader.line_num).error(f"this is not valid CSV: {error}.") from None
    if len(records) < 2:
        raise DataError(f"{source} has a header, but no row below it.")
    return records


def _relation_column(
    header: Sequence[str], table: Sequence[tuple[int, list[str]]], source: str
) -> int:
    """The only column with signs, which must be the last but one."""
    columns = [
        j for j in range(len(header)) if any(cells[j] in CSV_RELATIONS for _, cells in table)
    ]
    if len(columns) != 1:
        which = " and ".join(quoted(header[j]) for j in columns[:2])
        what = (
            f"two columns have them, {which}"
            if columns
            else f"no column has any in line {table[0][0]:,}"
        )
        raise DataError(f"{source}: one column is needed with the signs <=, >=, =, < or >; {what}.")
    at = columns[0]
    if at != len(header) - 2:
        raise DataError(
            f"{source}, line 1: one column with the right sides must follow the signs in column "
            f"{quoted(header[at])}; there are {len(header) - at - 1}."
        )
    return at


def _are_names(heading: str, cells: Sequence[str]) -> bool:
    """Whether the first column names the rows; 1O and NaN count as wrong numbers, not as names."""
    if heading.lower() in NAME_COLUMNS:
        return True
    return not any(cell[:1] in "+-.0123456789" or is_missing_text(cell) for cell in cells)

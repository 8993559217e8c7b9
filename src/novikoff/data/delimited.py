"""CSV and its relatives: Arrow reads them on all cores; a careful scan finds what is wrong.

Arrow guesses a column's type from its first block. Here a look at the first rows declares
every feature a float64 or a truth value; if Arrow then stumbles, everything is read again as
text, and each column is judged by all of its values.
"""

from __future__ import annotations

from novikoff.data.arrow import Table, Type, arrow
from novikoff.data.choices import Choices
from novikoff.data.choose import Plan, match_columns, plan_columns
from novikoff.data.errors import DataError, counted
from novikoff.data.features import Frame
from novikoff.data.look import Look, look_at
from novikoff.data.recipe import Recipe
from novikoff.data.source import Source
from novikoff.data.text import Facts, OpenQuoteError, check_text, records
from novikoff.data.values import BLANKS, FALSE, MISSING, TRUE, is_missing, is_number, is_truth

_BLOCK = 1 << 20
_LARGEST_BLOCK = 2**31 - 1


def read_delimited(
    source: Source, choices: Choices, recipe: Recipe | None, *, labelled: bool
) -> Frame:
    """Read the columns that matter of delimited text.

    Raises
    ------
    DataError
        If it is not UTF-8, has no rows, or rows of different lengths.
    """
    facts = check_text(source)
    look, plan = plan_text(source, facts, choices, recipe, labelled=labelled)
    table = _load(source, facts, look, plan)
    return Frame(
        source=source.name,
        names=look.names,
        plan=plan,
        columns={j: table.column(str(j)) for j in plan.used},
        n_rows=table.num_rows,
        raw=True,
        decimal=look.decimal,
        notes=[*look.notes, *plan.notes],
    )


def plan_text(
    source: Source, facts: Facts, choices: Choices, recipe: Recipe | None, *, labelled: bool
) -> tuple[Look, Plan]:
    """What a look at the first rows tells, and which columns are to be read."""
    look = look_at(source, facts.start, choices, recipe)
    if recipe is not None:
        return look, match_columns(source.name, look.names, recipe, choices, labelled=labelled)
    hint = _hint(look) if choices.delimiter is None else ""
    return look, plan_columns(
        source.name,
        look.names,
        choices,
        labelled=labelled,
        row_names=look.row_names,
        hint=hint,
    )


def plan_bit_by_bit(source: Source, facts: Facts, choices: Choices) -> tuple[Look, Plan, int]:
    """The same, and the column of the label, for rows that are never all there at once.

    Raises
    ------
    DataError
        Also if the first column has no name: whether it numbers the rows, all of them tell.
    """
    look, plan = plan_text(source, facts, choices, None, labelled=True)
    if plan.row_names is not None:
        raise DataError(
            f"{source.name} has no name for column 1 in its header; give it one, or leave it out "
            "with --drop 1."
        )
    if plan.label is None:
        raise DataError(f"{source.name} has no label column.")
    return look, plan, plan.label


def _hint(look: Look) -> str:
    """What to say of a file that seems to have one column only."""
    lines = [row[0].strip(BLANKS) for row in look.sample if len(row) == 1]
    if len(look.names) > 1 or not lines:
        return ""
    if any(len(line.split()) < 2 for line in lines):
        return "; say --delimiter if fields are separated by something else"
    if any("  " in line for line in lines):
        return (
            "; the fields seem to be separated by several blanks: make them single ones with "
            "tr -s ' ', then say --delimiter ' '"
        )
    return "; the fields seem to be separated by blanks: --delimiter ' '"


def _load(source: Source, facts: Facts, look: Look, plan: Plan) -> Table:
    pa = arrow()
    if facts.quotes % 2:  # Arrow takes what follows an open quote for one long field
        _check_records(source, look)
    text = pa.string()
    types = {j: text if j in plan.texts else _guess(look, j) for j in plan.used}
    try:
        return _parse(source, look, types, quotes=facts.quotes > 0)
    except pa.ArrowInvalid:
        _check_records(source, look)
    try:
        return _parse(source, look, dict.fromkeys(types, text), quotes=facts.quotes > 0)
    except pa.ArrowInvalid as error:
        reason = str(error).splitlines()[0].rstrip(".")[:200]
        raise DataError(f"{source.name} cannot be read as a table: {reason}.") from None


def _guess(look: Look, column: int) -> Type:
    """The type that the first rows suggest for a feature."""
    pa = arrow()
    texts = {row[column] for row in look.sample if column < len(row)}
    values = [text for text in texts if not is_missing(text)]
    kind: Type = pa.string()
    if all(is_number(text, look.decimal) for text in values):
        kind = pa.float64()
    elif all(is_truth(text) for text in values):
        kind = pa.bool_()
    return kind


def _parse(source: Source, look: Look, types: dict[int, Type], *, quotes: bool) -> Table:
    pa, csv = arrow(), arrow("pyarrow.csv")
    body = pa.py_buffer(source.view[look.body : _end(source, look)])
    block = min(max(_BLOCK, 4 * look.longest), _LARGEST_BLOCK)
    names = [str(j) for j in range(len(look.names))]
    convert = csv.ConvertOptions(
        column_types={str(j): kind for j, kind in types.items()},
        include_columns=[str(j) for j in types],
        null_values=MISSING,
        true_values=TRUE,
        false_values=FALSE,
        decimal_point=look.decimal,
    )
    parse = csv.ParseOptions(
        delimiter=look.delimiter,
        newlines_in_values=quotes,
        ignore_empty_lines=len(names) > 1,
    )
    while True:
        try:
            table: Table = csv.read_csv(
                pa.BufferReader(body),
                read_options=csv.ReadOptions(column_names=names, block_size=block),
                parse_options=parse,
                convert_options=convert,
            )
            return table
        except pa.ArrowInvalid as error:  # a row may be longer than a block
            if "straddl" not in str(error) or block > min(len(source.view), _LARGEST_BLOCK - 1):
                raise
            block = min(8 * block, _LARGEST_BLOCK)


def _end(source: Source, look: Look) -> int:
    """Where the rows end: with a single column, a blank line is a row, but not at the end."""
    end = len(source.view)
    if len(look.names) == 1:
        while end > look.body and source.view[end - 1] in b"\r\n":
            end -= 1
    return end


def _check_records(source: Source, look: Look) -> None:
    """Find the line that breaks the table, if there is one."""
    width = len(look.names)
    try:
        for record in records(source.view, look.body, look.delimiter, line=look.line):
            if len(record.fields) != width:
                raise DataError(
                    f"{source.name}, line {record.line} has {counted(len(record.fields), 'field')} "
                    f"where {width} {'is' if width == 1 else 'are'} expected."
                )
    except OpenQuoteError as quote:
        raise DataError(
            f"{source.name}, line {quote.line} opens a quote that is never closed."
        ) from None

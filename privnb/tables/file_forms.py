"""The forms of a release's file: how distinct rows, and columns record by record, become Parquet or CSV."""

import contextlib

import numpy as np

from privnb.microdata.schema import text
from privnb.tables import spreadsheets


class Parquet:
    """A Parquet file: its distinct `columns`, coded, and the types of `more` columns."""

    formulas = spreadsheets.Formulas()  # no spreadsheet opens it

    def __init__(self, columns, more, spreadsheet_safe):
        import pyarrow as pa

        self.columns = []
        for codes, values in columns.values():
            found = arrow(values).drop_null()  # a missing value stands last, and in no dictionary
            codes = pa.array(codes.astype(np.int32), mask=codes == len(found))
            self.columns.append(pa.DictionaryArray.from_arrays(codes, found))
        types = (column.type for column in self.columns)
        self.schema = pa.schema([*zip(columns, types, strict=True), *more.items()])
        self.more = [*more]

    def opened(self, path):
        from pyarrow.parquet import ParquetWriter

        # Without the schema of Arrow, by which a reader would take every column for categories. The ends of labels help
        # no reader, and take a third of the time.
        return ParquetWriter(path, self.schema, store_schema=False, write_statistics=self.more)

    def add(self, file, place, cells):
        import pyarrow as pa

        rows = pa.array(place)
        own = [column.take(rows) for column in self.columns]
        file.write_batch(pa.record_batch([*own, *cells], schema=self.schema))


class Csv:
    """A CSV file, in which formulas of spreadsheets are found, and escaped if it is `spreadsheet_safe`."""

    def __init__(self, columns, more, spreadsheet_safe):
        import pyarrow as pa

        self.more, self.found, self.is_escaped = [*more], {}, spreadsheet_safe
        cells = [self._cells(name, arrow(values)).take(pa.array(codes)) for name, (codes, values) in columns.items()]
        self.lines = [_joined(cells, ",")] if columns else []
        heads = [self._cells(name, pa.array([name])) for name in (*columns, *more)]
        self.head = ",".join(cell.to_pylist()[0] for cell in heads) + "\n"

    @property
    def formulas(self):
        return spreadsheets.Formulas(tuple(name for name, held in self.found.items() if held), self.is_escaped)

    @contextlib.contextmanager
    def opened(self, path):
        with path.open("wb") as file:
            file.write(self.head.encode())
            yield file

    def add(self, file, place, cells):
        import pyarrow as pa

        own = [lines.take(pa.array(place)) for lines in self.lines]
        lines = _joined([*own, *map(self._cells, self.more, cells)], ",")
        _, _, content = _joined([lines, _text("")], "\n").buffers()
        file.write(content)

    def _cells(self, name, values):
        """The cells of a column as CSV has them."""
        self.found[name] = self.found.get(name) or spreadsheets.holds_formula(values)
        return _quoted(spreadsheets.escaped(values) if self.is_escaped else values)


def arrow(values):
    """Distinct values as Arrow's: numbers, or texts; null for what is missing."""
    import pyarrow as pa

    numbers = values.dtype != object  # the numbers among labels are texts
    return pa.array(
        [None if value is None or value != value else value if numbers else text(value) for value in values.tolist()]
    )


def _quoted(column):
    """The cells of a column as CSV has them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pc.fill_null(column.cast(pa.large_string()), "")
    quoted = _joined([_text(""), pc.replace_substring(column, '"', '""'), _text("")], '"')
    return pc.if_else(pc.match_substring_regex(column, '[",\r\n]'), quoted, column)


def _text(value):
    import pyarrow as pa

    return pa.scalar(value, pa.large_string())  # of pieces of more than 2 GB


def _joined(columns, between):
    """Texts of some columns side by side, with `between` them."""
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(*columns, _text(between))

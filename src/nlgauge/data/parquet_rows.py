"""Reader of rows from Parquet files, starting at any row group."""

import sys
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import Any

from nlgauge.core.errors import FileError
from nlgauge.data.columns import check_distinct
from nlgauge.data.cursors import Cursor
from nlgauge.data.files import Cells, NumberedRows, not_utf8, require_pyarrow
from nlgauge.data.urls import Url


def parquet_rows(path: str, cursor: Cursor) -> NumberedRows:
    """Yield the rows of a Parquet file from the cursor on; the cursor counts rows."""
    pa = require_pyarrow("a Parquet file")
    if Path(path).exists() and not Path(path).is_file():
        raise FileError(f"{path!r} is not a file, which Parquet needs")
    try:
        with open_parquet(path) as table:
            check_distinct(path, table.schema_arrow.names)
            groups = _groups_after(table, cursor)
            batches = map(_parquet_cells, table.iter_batches(1024, row_groups=list(groups)))
            skipped = cursor.offset - min(groups.values(), default=0)
            for cells in islice(chain.from_iterable(batches), skipped, None):
                if cursor.at_end:
                    return
                cursor.offset = cursor.line = cursor.offset + 1
                yield cursor.line, cells
    except FileNotFoundError:
        raise FileError(f"there is no file {path!r}") from None
    except pa.ArrowMemoryError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise FileError(f"file {path!r} cannot be read after row {cursor.line}: {error}") from error


def open_parquet(path: str) -> Any:
    """Open a Parquet file, a remote one if the path is a Url."""
    from pyarrow import parquet

    return parquet.ParquetFile(path.open() if isinstance(path, Url) else path)


def row_groups(table: Any) -> list[tuple[int, int, int]]:
    """Return the first row, the number of rows and the size in bytes of every row group."""
    groups = [table.metadata.row_group(i) for i in range(table.metadata.num_row_groups)]
    firsts = accumulate((group.num_rows for group in groups), initial=0)
    pairs = zip(firsts, groups, strict=False)
    return [(first, group.num_rows, group.total_byte_size) for first, group in pairs]


def _groups_after(table: Any, cursor: Cursor) -> dict[int, int]:
    """Return the row groups with rows between the cursor and its stop, and the first row."""
    groups = enumerate(row_groups(table))
    ends = sys.maxsize if cursor.stop is None else cursor.stop
    return {i: row for i, (row, n, _) in groups if row + n > cursor.offset and row < ends}


def _parquet_cells(batch: Any) -> list[Cells]:
    """Return the rows of a batch, converted one by one if a cell cannot be converted."""
    try:
        return list(batch.to_pylist())
    except (ValueError, OverflowError) as error:
        if batch.num_rows > 1:
            rows = (batch.slice(i, 1) for i in range(batch.num_rows))
            return [cells for row in rows for cells in _parquet_cells(row)]
        if isinstance(error, UnicodeDecodeError):
            return [not_utf8(error.object[error.start])]
        return [f"a cell cannot be read: {error}"]

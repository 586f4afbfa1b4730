"""Rows as Parquet, exact, and the way back."""

import json
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

from . import arrow
from .errors import CandledError
from .files import complete
from .tables import Table

__all__ = ["Parquet", "load"]

_MADE_OF = b"candled"
_COMPRESSION_LEVEL = 9
# A reader that wants few instruments skips the other groups.
_ROW_GROUP_ROWS = 1 << 18
# They go in equal steps: differences take less room than a dictionary.
_DELTA = ["opened_at", "closed_at"]


class Parquet:
    """What a file was made of is in its metadata."""

    suffix = "parquet"
    # Files of version 1 had as many decimals as their day.
    version = 2

    def write(self, path: Path, table: Table, made_of: dict[str, Any]) -> None:
        content = arrow.table(table._columns, table.zone, scale=arrow.FILE_SCALE)
        content = content.replace_schema_metadata({_MADE_OF: json.dumps(made_of).encode()})
        with complete(path) as file:
            parquet.write_table(
                content, file, compression="zstd", compression_level=_COMPRESSION_LEVEL,
                row_group_size=_ROW_GROUP_ROWS,
                # Numbers of 16 bytes, mostly zeros, take less room as they are.
                use_dictionary=[
                    field.name for field in content.schema
                    if field.name not in _DELTA and not pyarrow.types.is_decimal(field.type)],
                column_encoding={name: "DELTA_BINARY_PACKED" for name in _DELTA},
                sorting_columns=parquet.SortingColumn.from_ordering(
                    content.schema, [("symbol", "ascending"), ("opened_at", "ascending")]))

    def made_of(self, path: Path) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(
                (parquet.read_schema(path).metadata or {})[_MADE_OF])
        except (KeyError, ValueError, pyarrow.ArrowException) as error:
            raise CandledError(f"{path} is not a file of this export: move it away") from error
        return found


def load(path: str | Path) -> Table:
    """The rows of an exported Parquet file, their numbers with the digits that the database has."""
    found = parquet.read_table(path, partitioning=None)
    zone = found.schema.field("opened_at").type.tz
    return Table(arrow.columns(found), zone=zone)

"""Rows as lines of text, every number with the digits that the database has."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from .columns import Column, Kind
from .errors import CandledError
from .files import complete
from .tables import Table

__all__ = ["CSV", "JSONLines"]

# The memory that lines take does not grow with the day.
_ROWS_AT_ONCE = 1 << 16
_SHA256 = "sha256"


class _Text(ABC):
    """What a file was made of is in a hidden file beside it, with the SHA-256 of the content.

    The hidden file is written first: after a kill between the two, the content is not the one that
    it describes, and the next export writes both again."""

    suffix: str
    version = 1
    _begin = _end = ""

    def write(self, path: Path, table: Table, made_of: dict[str, Any]) -> None:
        with complete(path) as file:
            for block in self._blocks(table):
                file.write(block.encode())
            file.flush()
            made_of = made_of | {_SHA256: _digest(Path(file.name))}
            with complete(_beside(path)) as record:
                record.write(json.dumps(made_of).encode())

    def made_of(self, path: Path) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(_beside(path).read_bytes())
            digest = found.pop(_SHA256)
        except (FileNotFoundError, KeyError, ValueError) as error:
            raise CandledError(f"{path} is not a file of this export: move it away") from error
        # No version is 0, so the file is written again.
        return found if digest == _digest(path) else found | {"version": 0}

    def _blocks(self, table: Table) -> Iterator[str]:
        yield self._header(table)
        zone = ZoneInfo(table.zone)
        for first in range(0, len(table), _ROWS_AT_ONCE):
            rows = slice(first, first + _ROWS_AT_ONCE)
            cells = [
                self._cells(name, column.taken(rows), zone)
                for name, column in table._columns.items()]
            yield "".join(
                f"{self._begin}{','.join(row)}{self._end}\n" for row in zip(*cells, strict=True))

    def _cells(self, name: str, column: Column, zone: ZoneInfo) -> list[str]:
        values = _values(column)
        made = {
            value: self._cell(
                name, column.kind, None if value is None else _text(column.kind, value, zone))
            for value in set(values)}
        return [made[value] for value in values]

    @abstractmethod
    def _header(self, table: Table) -> str: ...

    @abstractmethod
    def _cell(self, name: str, kind: Kind, text: str | None) -> str: ...


class CSV(_Text):
    """RFC 4180 with a header and line feeds; null is an empty field, an empty text is `""`."""

    suffix = "csv"

    def _header(self, table: Table) -> str:
        return ",".join(table.names) + "\n"

    def _cell(self, name: str, kind: Kind, text: str | None) -> str:
        if text is None:
            return ""
        if text and not any(each in text for each in ',"\r\n'):
            return text
        return '"' + text.replace('"', '""') + '"'


class JSONLines(_Text):
    """An object a line, in UTF-8; prices, volumes and averages are strings, counts are numbers."""

    suffix = "jsonl"
    _begin, _end = "{", "}"

    def _header(self, table: Table) -> str:
        return ""

    def _cell(self, name: str, kind: Kind, text: str | None) -> str:
        if text is None:
            value = "null"
        elif kind in ("bool", "integer"):
            value = text
        else:
            value = json.dumps(text, ensure_ascii=False)
        return f"{json.dumps(name)}:{value}"


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.json")


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, _SHA256).hexdigest()


def _values(column: Column) -> list[Any]:
    """Of decimals the whole number and the count of decimals; None where null."""
    if column.kind == "text":
        words = [*column.words, None]
        codes = column.values
        if column.valid is not None:
            codes = np.where(column.valid, codes, len(column.words))
        return [words[code] for code in codes.tolist()]
    if column.kind == "decimal":
        assert column.decimals is not None
        found = list(zip(column.values.tolist(), column.decimals.tolist(), strict=True))
    elif column.kind == "date":
        found = column.values.astype("datetime64[D]").tolist()
    else:
        found = column.values.tolist()
    if column.valid is None:
        return found
    return [
        value if is_valid else None
        for value, is_valid in zip(found, column.valid.tolist(), strict=True)]


def _text(kind: Kind, value: Any, zone: ZoneInfo) -> str:
    if kind == "decimal":
        number, decimals = value
        digits = str(abs(number)).zfill(decimals + 1)
        point = len(digits) - decimals
        sign = "-" if number < 0 else ""
        return sign + digits[:point] + ("." + digits[point:] if decimals else "")
    if kind == "time":
        return str(value.replace(tzinfo=UTC).astimezone(zone).isoformat())
    if kind == "bool":
        return "true" if value else "false"
    return str(value)

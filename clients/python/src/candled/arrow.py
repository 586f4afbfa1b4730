"""Columns as Arrow's arrays, and back, without a loss of digits."""

from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray

from .columns import Column
from .errors import ProtocolError

__all__ = ["DECIMALS", "columns", "table"]

DECIMALS = b"candled.decimals"
# The most that Parquet keeps in 64 bits.
_DIGITS_SHORT = 18
_DIGITS_MAX = 38


def table(given: dict[str, Column], zone: str) -> pyarrow.Table:
    arrays, fields = [], []
    for name, column in given.items():
        metadata = None
        if column.kind == "decimal":
            array = _decimals(column)
            metadata = {DECIMALS: _runs(column)}
        else:
            array = _array(column, zone)
        arrays.append(array)
        fields.append(pyarrow.field(name, array.type, metadata=metadata))
    return pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields))


def columns(given: pyarrow.Table) -> dict[str, Column]:
    """The columns that `table` was made of. Texts are dictionaries."""
    return {
        field.name: _column(given.column(field.name).combine_chunks(), field)
        for field in given.schema}


def _array(column: Column, zone: str) -> pyarrow.Array:
    mask = None if column.valid is None else ~column.valid
    if column.kind == "text":
        codes = pyarrow.array(column.values.astype(np.int32), mask=mask)
        return pyarrow.DictionaryArray.from_arrays(
            codes, pyarrow.array(list(column.words), type=pyarrow.string()))
    if column.kind == "time":
        return pyarrow.array(column.values, type=pyarrow.timestamp("us", tz=zone), mask=mask)
    if column.kind == "date":
        days = column.values.astype("datetime64[D]")
        return pyarrow.array(days, type=pyarrow.date32(), mask=mask)
    if column.kind == "float":
        return pyarrow.array(column.values, from_pandas=True)
    return pyarrow.array(column.values, mask=mask)


def _decimals(column: Column) -> pyarrow.Array:
    decimals = _of_decimals(column)
    scale = int(decimals.max(initial=0))
    numbers = column.values
    if numbers.dtype == object or _exceeds(numbers, scale - decimals):
        return pyarrow.array(column.exact(), type=pyarrow.decimal128(_DIGITS_MAX, scale))
    numbers = numbers * (10 ** (scale - decimals.astype(np.int64)))
    words = np.empty((len(numbers), 2), dtype=np.int64)
    words[:, 0] = numbers
    words[:, 1] = numbers >> 63
    validity = None
    if column.valid is not None:
        validity = pyarrow.py_buffer(np.packbits(column.valid, bitorder="little"))
    return pyarrow.Array.from_buffers(
        pyarrow.decimal128(_DIGITS_SHORT, scale), len(numbers),
        [validity, pyarrow.py_buffer(words)])


def _of_decimals(column: Column) -> NDArray[np.uint8]:
    assert column.decimals is not None
    decimals = column.decimals
    return decimals if column.valid is None else np.where(column.valid, decimals, 0)


def _exceeds(numbers: NDArray[Any], powers: NDArray[Any]) -> bool:
    """Whether more digits are needed than the short form has."""
    sizes = np.abs(numbers.astype(np.float64)) * 10.0 ** powers.astype(np.float64)
    return bool(sizes.max(initial=0) >= 10.0**_DIGITS_SHORT * (1 - 1e-9))


def _runs(column: Column) -> bytes:
    """The decimals of the rows in order: "3" if all have the same, else "3*240,2*480"."""
    decimals = _of_decimals(column)
    heads = np.flatnonzero(np.concatenate(([True], decimals[1:] != decimals[:-1])))
    counts = np.diff(np.append(heads, len(decimals)))
    if len(decimals) == 0 or len(heads) == 1:
        return str(int(decimals[0]) if len(decimals) else 0).encode()
    pairs = zip(decimals[heads].tolist(), counts.tolist(), strict=True)
    return ",".join(f"{each}*{count}" for each, count in pairs).encode()


def _column(array: Any, field: pyarrow.Field) -> Column:
    valid = None
    if array.null_count:
        valid = array.is_valid().to_numpy(zero_copy_only=False)
    kind = field.type
    if pyarrow.types.is_decimal(kind):
        return _exact(array, field, valid)
    if pyarrow.types.is_dictionary(kind):
        codes = array.indices.fill_null(0).to_numpy(zero_copy_only=False)
        return Column("text", codes, valid, words=tuple(array.dictionary.to_pylist()))
    values = array.to_numpy(zero_copy_only=False)
    if pyarrow.types.is_timestamp(kind):
        return Column("time", values.astype("datetime64[us]"))
    if pyarrow.types.is_date(kind):
        return Column("date", values.astype("datetime64[s]"))
    if pyarrow.types.is_boolean(kind):
        return Column("bool", array.fill_null(False).to_numpy(zero_copy_only=False), valid)
    if pyarrow.types.is_integer(kind):
        return Column("integer", array.fill_null(0).to_numpy(zero_copy_only=False), valid)
    return Column("float", values)


def _exact(array: Any, field: pyarrow.Field, valid: NDArray[np.bool_] | None) -> Column:
    if DECIMALS not in (field.metadata or {}):
        raise ProtocolError(f"the column {field.name} does not say how many decimals it has")
    decimals = _unrolled(field.metadata[DECIMALS], len(array))
    scale = array.type.scale
    words = np.frombuffer(array.buffers()[1], dtype=np.int64).reshape(-1, 2)
    low = words[array.offset:array.offset + len(array), 0]
    high = words[array.offset:array.offset + len(array), 1]
    numbers = low if valid is None else np.where(valid, low, 0)
    if not ((high == low >> 63) | (np.zeros(1, bool) if valid is None else ~valid)).all():
        numbers = np.array(
            [0 if each is None else int(each.scaleb(scale)) for each in array.to_pylist()],
            dtype=object)
    tens = 10 ** (scale - decimals.astype(np.int64))
    return Column("decimal", numbers // tens, valid, decimals)


def _unrolled(runs: bytes, rows: int) -> NDArray[np.uint8]:
    if b"*" not in runs:
        return np.full(rows, int(runs), dtype=np.uint8)
    pairs = [run.split(b"*") for run in runs.split(b",")]
    each = np.array([int(decimals) for decimals, _ in pairs], dtype=np.uint8)
    return np.repeat(each, [int(count) for _, count in pairs])

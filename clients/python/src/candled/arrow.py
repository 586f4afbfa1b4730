"""Columns as Arrow's arrays, and back, without a loss of digits."""

from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray

from .columns import Column
from .errors import CandledError, ProtocolError

__all__ = ["DECIMALS", "FILE_SCALE", "columns", "table"]

DECIMALS = b"candled.decimals"
# The most that Arrow's decimal128 has.
_DIGITS_MAX = 38
# Of every number in every file for all time: readers of many files take the first one's type.
# Stocks have up to 6 decimals, coins up to 10; 28 digits are left before the point.
FILE_SCALE = 10


def table(given: dict[str, Column], zone: str, scale: int | None = None) -> pyarrow.Table:
    """`scale`: the decimals of each column of exact numbers; None: the most that its rows have."""
    arrays, fields = [], []
    for name, column in given.items():
        metadata = None
        if column.kind == "decimal":
            array = _decimals(name, column, scale)
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


def _decimals(name: str, column: Column, scale: int | None) -> pyarrow.Array:
    decimals = _of_decimals(column)
    most = int(decimals.max(initial=0))
    if scale is None:
        scale = most
    elif most > scale:
        raise CandledError(f"{name} has a number of {most} decimals, and a file keeps {scale}")
    kind = pyarrow.decimal128(_DIGITS_MAX, scale)
    numbers = column.values
    powers = scale - decimals.astype(np.int64)
    if numbers.dtype == object or _exceeds(numbers, powers):
        try:
            return pyarrow.array(column.exact(), type=kind)
        except pyarrow.ArrowInvalid as error:
            raise CandledError(
                f"{name} has a number of more than {_DIGITS_MAX - scale} digits before the point"
            ) from error
    words = np.empty((len(numbers), 2), dtype=np.uint64)
    words[:, 0], words[:, 1] = _times_tens(numbers, powers)
    validity = None
    if column.valid is not None:
        validity = pyarrow.py_buffer(np.packbits(column.valid, bitorder="little"))
    return pyarrow.Array.from_buffers(
        kind, len(numbers), [validity, pyarrow.py_buffer(words)])


def _exceeds(numbers: NDArray[np.int64], powers: NDArray[np.int64]) -> bool:
    """Whether more digits are needed than there are."""
    sizes = np.abs(numbers.astype(np.float64)) * 10.0 ** powers.astype(np.float64)
    return bool(sizes.max(initial=0) >= 10.0**_DIGITS_MAX * (1 - 1e-9))


_LOW = np.uint64(0xFFFF_FFFF)
_HALF = np.uint64(32)
# 10 to that power times 32 bits is less than 64 bits.
_POWER_MAX = 9


def _times_tens(
    numbers: NDArray[np.int64], powers: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The numbers times 10 to these powers, in two words of 64 bits, the lower one first."""
    low = np.abs(numbers).astype(np.uint64)
    high = np.zeros(len(numbers), dtype=np.uint64)
    while powers.any():
        step = np.minimum(powers, _POWER_MAX)
        powers = powers - step
        tens = (10**step).astype(np.uint64)
        first = (low & _LOW) * tens
        second = (low >> _HALF) * tens + (first >> _HALF)
        high = high * tens + (second >> _HALF)
        low = (second << _HALF) | (first & _LOW)
    is_negative = numbers < 0
    low = np.where(is_negative, ~low + np.uint64(1), low)
    high = np.where(is_negative, ~high + (low == 0).astype(np.uint64), high)
    return low, high


def _by_tens(
    low: NDArray[np.uint64], high: NDArray[np.uint64], powers: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """What `_times_tens` was given; None where a number has more than 64 bits. A division without
    remainder: the twos are shifted out, and the fives are multiplied with their inverse."""
    twos = powers.astype(np.uint64)
    above = np.where(powers == 0, 0, high << ((np.uint64(64) - twos) & np.uint64(63)))
    inverses = np.array(
        [pow(5, -power, 1 << 64) for power in range(int(powers.max(initial=0)) + 1)],
        dtype=np.uint64)
    numbers = ((((low >> twos) | above.astype(np.uint64)) * inverses[powers])).view(np.int64)
    again = _times_tens(numbers, powers)
    if (again[0] == low).all() and (again[1] == high).all():
        return numbers
    return None


def _of_decimals(column: Column) -> NDArray[np.uint8]:
    assert column.decimals is not None
    decimals = column.decimals
    return decimals if column.valid is None else np.where(column.valid, decimals, 0)


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
    words = np.frombuffer(array.buffers()[1], dtype=np.uint64).reshape(-1, 2)
    low = words[array.offset:array.offset + len(array), 0]
    high = words[array.offset:array.offset + len(array), 1]
    if valid is not None:
        low, high = np.where(valid, low, 0), np.where(valid, high, 0)
    powers = scale - decimals.astype(np.int64)
    numbers: NDArray[Any] | None = _by_tens(low, high, powers)
    if numbers is None:
        wide = [
            (above << 64) + below
            for above, below in zip(high.view(np.int64).tolist(), low.tolist(), strict=True)]
        numbers = np.array(wide, dtype=object) // 10 ** powers.astype(object)
    return Column("decimal", numbers, valid, decimals)


def _unrolled(runs: bytes, rows: int) -> NDArray[np.uint8]:
    if b"*" not in runs:
        return np.full(rows, int(runs), dtype=np.uint8)
    pairs = [run.split(b"*") for run in runs.split(b",")]
    each = np.array([int(decimals) for decimals, _ in pairs], dtype=np.uint8)
    return np.repeat(each, [int(count) for _, count in pairs])

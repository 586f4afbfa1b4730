"""Binary COPY into numpy columns. No object is made for a row or a value: a batch of rows is one
array of bytes, and each field is gathered from all its rows at once.

Numbers of PostgreSQL's `numeric` come as a whole number and a count of decimals (136.390 is 136390
and 3), so both a float64 and the digits as they are stored can be made of them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .errors import ProtocolError

__all__ = ["Column", "Decoder"]

Array = NDArray[Any]
Kind = Literal["bool", "integer", "float", "decimal", "text", "time", "date"]

# By the type's OID in PostgreSQL's catalogue: what it becomes, and how it is sent.
_TYPES: dict[int, tuple[Kind, str]] = {
    16: ("bool", "?"), 20: ("integer", ">i8"), 21: ("integer", ">i2"), 23: ("integer", ">i4"),
    25: ("text", ""), 701: ("float", ">f8"), 1082: ("date", ">i4"), 1184: ("time", ">i8"),
    1700: ("decimal", ""),
}
_SIGNATURE = b"PGCOPY\n\xff\r\n\0"
_HEADER_BYTES = len(_SIGNATURE) + 8
_TRAILER = b"\xff\xff"
# A gather reads whole words, also of a null at the end of a batch.
_PADDING = bytes(64)
_DAYS_TO_2000 = 10_957
_MICROSECONDS_TO_2000 = _DAYS_TO_2000 * 86_400_000_000
_INFINITIES = (np.iinfo(np.int64).max, np.iinfo(np.int64).min)
_DAY_INFINITIES = (np.iinfo(np.int32).max, np.iinfo(np.int32).min)
# Below it every whole number has a float64 of its own.
_FLOAT_INTEGER_MAX = 1 << 53
# 10^22 is the last power of ten that a float64 holds: up to it one division rounds correctly.
_FLOAT_DECIMALS_MAX = 22
_INT64_SAFE_MAX = 9.0e18
_NUMERIC_BASE = 10_000
_POSITIVE, _NEGATIVE = 0, 0x4000
_TENS_FLOAT = np.array([10.0**power for power in range(_FLOAT_DECIMALS_MAX + 1)])
_TENS = np.array([10**power for power in range(19)], dtype=np.int64)


@dataclass(slots=True)
class Column:
    """One column of a result.

    `values` has what `kind` says: of text the places in `words`, of decimals whole numbers (int64,
    or Python's where one is larger) that `decimals` puts the point into, of dates and times
    datetime64. `valid` is None where nothing is null.
    """

    kind: Kind
    values: Array
    valid: NDArray[np.bool_] | None = None
    decimals: NDArray[np.uint8] | None = None
    words: tuple[str, ...] = ()

    def taken(self, rows: Array) -> "Column":
        valid = None if self.valid is None else self.valid[rows]
        decimals = None if self.decimals is None else self.decimals[rows]
        return Column(self.kind, self.values[rows], valid, decimals, self.words)

    def exact(self) -> Array:
        """Of decimals: `Decimal` with the digits of the database, None where null. Equal ones are
        the same object."""
        assert self.decimals is not None
        keys = np.rec.fromarrays([self.values, self.decimals], names=["number", "decimals"])
        if self.values.dtype == object:
            found = np.array([_decimal(*key) for key in keys.tolist()], dtype=object)
        else:
            distinct, places = np.unique(keys, return_inverse=True)
            made = np.empty(len(distinct), dtype=object)
            made[:] = [_decimal(*key) for key in distinct.tolist()]
            found = made[places.reshape(-1)]
        if self.valid is not None:
            found[~self.valid] = None
        return found


def _decimal(number: int, decimals: int) -> Decimal:
    digits = tuple(map(int, str(abs(number))))
    return Decimal((int(number < 0), digits, -decimals))


@dataclass(slots=True)
class _Pieces:
    """A column as its batches come in."""

    kind: Kind
    values: list[Array] = field(default_factory=list)
    valid: list[NDArray[np.bool_] | None] = field(default_factory=list)
    decimals: list[Array] = field(default_factory=list)
    words: dict[bytes, int] = field(default_factory=dict)

    def joined(self) -> Column:
        """Gives its pieces away, so that no more than one column is held twice."""
        valid = None
        if any(each is not None for each in self.valid):
            valid = np.concatenate([
                np.ones(len(values), dtype=bool) if each is None else each
                for values, each in zip(self.values, self.valid, strict=True)])
        values = _concatenated(self.values)
        decimals = _concatenated(self.decimals) if self.kind == "decimal" and self.decimals else None
        words = tuple(word.decode() for word in self.words)
        return Column(self.kind, values, valid, decimals, words)


def _concatenated(pieces: list[Array]) -> Array:
    whole = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    pieces.clear()
    return whole


class Decoder:
    """Takes the messages of one COPY, each a row, and makes columns of them."""

    def __init__(self, types: dict[str, int], *, exact: bool) -> None:
        """`types` are the columns' OIDs; `exact` keeps decimals instead of making floats."""
        for name, oid in types.items():
            if oid not in _TYPES:
                raise ProtocolError(f"the column {name} has a type unknown here (OID {oid})")
        self._types = [_TYPES[oid] for oid in types.values()]
        self._names = list(types)
        self._exact = exact
        self._pieces = [
            _Pieces("float" if kind == "decimal" and not exact else kind)
            for kind, _ in self._types]
        self._is_begun = False

    def take(self, messages: list[Any]) -> None:
        """The next messages. The first of all begins with the header."""
        if not self._is_begun and messages:
            messages[0] = self._without_header(bytes(messages[0]))
            self._is_begun = True
        if messages and len(messages[-1]) == len(_TRAILER):
            messages.pop()
        if messages:
            sizes = np.fromiter(map(len, messages), dtype=np.int64, count=len(messages))
            self._decode(b"".join([*messages, _PADDING]), sizes)

    def columns(self) -> dict[str, Column]:
        """What was taken. The decoder is empty after it."""
        if self._pieces and not self._pieces[0].values:
            self._decode_nothing()
        return {
            name: pieces.joined() for name, pieces in zip(self._names, self._pieces, strict=True)}

    @staticmethod
    def _without_header(message: bytes) -> bytes:
        if not message.startswith(_SIGNATURE):
            raise ProtocolError("the answer is no binary COPY")
        more = int.from_bytes(message[_HEADER_BYTES - 4:_HEADER_BYTES], "big")
        return message[_HEADER_BYTES + more:]

    def _decode_nothing(self) -> None:
        empty = {
            "bool": np.bool_, "time": "datetime64[us]", "date": "datetime64[s]",
            "float": np.float64, "text": np.int32}
        for pieces in self._pieces:
            pieces.values.append(np.empty(0, dtype=empty.get(pieces.kind, np.int64)))
            pieces.valid.append(None)
            if pieces.kind == "decimal":
                pieces.decimals.append(np.empty(0, dtype=np.uint8))

    def _decode(self, data: bytes, sizes: NDArray[np.int64]) -> None:
        batch = _Batch(data)
        ends = np.cumsum(sizes)
        places = ends - sizes
        if (batch.gather(">i2", places) != len(self._types)).any():
            raise ProtocolError(f"a row has not the {len(self._types)} fields that it should have")
        places += 2
        for (kind, wire), pieces in zip(self._types, self._pieces, strict=True):
            lengths = batch.gather(">i4", places).astype(np.int64)
            is_null = lengths < 0
            valid = ~is_null if is_null.any() else None
            lengths[is_null] = 0
            places += 4
            self._decode_field(batch, kind, wire, places, lengths, valid, pieces)
            pieces.valid.append(valid if pieces.kind in _WITH_VALID else None)
            places += lengths
        if (places != ends).any():
            raise ProtocolError("a message of the COPY is not one row")

    def _decode_field(
        self, batch: "_Batch", kind: Kind, wire: str, places: Array, lengths: Array,
        valid: Array | None, pieces: _Pieces,
    ) -> None:
        if kind == "decimal":
            numbers, decimals, isnan = batch.decimals(places, valid)
            if self._exact:
                if isnan is not None:
                    raise ProtocolError("a number is NaN or infinite, which no Decimal column holds")
                pieces.values.append(numbers)
                pieces.decimals.append(decimals)
            else:
                pieces.values.append(_floats(numbers, decimals, valid, isnan))
            return
        if kind == "text":
            pieces.values.append(batch.words(places, lengths, pieces.words))
            return
        found = batch.gather(wire, places)
        if kind == "time":
            found = _moments(found, _INFINITIES, _MICROSECONDS_TO_2000, "datetime64[us]")
        elif kind == "date":
            found = _moments(found, _DAY_INFINITIES, _DAYS_TO_2000, "datetime64[D]")
            found = found.astype("datetime64[s]")
        else:
            found = found.astype(found.dtype.newbyteorder("="))
        if valid is not None:
            found[~valid] = _NOTHING[kind]
        pieces.values.append(found)


# Where the value itself cannot say that it is null.
_WITH_VALID = {"bool", "integer", "decimal", "text"}
_NOTHING: dict[str, Any] = {
    "bool": False, "integer": 0, "float": np.nan, "time": np.datetime64("NaT"),
    "date": np.datetime64("NaT")}


class _Batch:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._bytes = np.frombuffer(data, dtype=np.uint8)

    def gather(self, wire: str, places: Array) -> Array:
        """The words of that type that begin at `places`, as they are sent."""
        kind = np.dtype(wire)
        words: Array = np.ndarray(
            (len(self._data) - kind.itemsize + 1,), dtype=kind, buffer=self._data, strides=(1,))
        return words[places]

    def words(self, places: Array, lengths: Array, known: dict[bytes, int]) -> Array:
        """Texts as places in `known`, which learns the new ones."""
        width = int(lengths.max())
        if width == 0:
            code = known.setdefault(b"", len(known))
            return np.full(len(places), code, dtype=np.int32)
        spelled = self._bytes[
            np.minimum(places[:, None] + np.arange(width), len(self._data) - 1)]
        spelled[np.arange(width) >= lengths[:, None]] = 0
        texts = np.ascontiguousarray(spelled).view(f"S{width}").reshape(-1)
        # Neighbours are mostly the same.
        heads = np.flatnonzero(np.concatenate(([True], texts[1:] != texts[:-1])))
        distinct, inverse = np.unique(texts[heads], return_inverse=True)
        codes = np.array(
            [known.setdefault(word, len(known)) for word in distinct.tolist()], dtype=np.int32)
        runs = np.diff(np.append(heads, len(texts)))
        return np.repeat(codes[inverse.reshape(-1)], runs)

    def decimals(
        self, places: Array, valid: Array | None
    ) -> tuple[Array, NDArray[np.uint8], Array | None]:
        """Whole numbers, their counts of decimals, and which are no numbers, if any."""
        head = self.gather(">i8", places).astype(np.int64)
        if valid is not None:
            head[~valid] = 0
        # Count of digits (base 10,000), the first one's power, the sign, the decimals.
        count, power = head >> 48, (head << 16) >> 48
        sign, scale = (head >> 16) & 0xFFFF, head & 0xFFFF
        numbers = np.zeros(len(places), dtype=np.int64)
        digits_max = int(count.max(initial=0))
        for place in range(min(digits_max, 5)):
            digit = self.gather(">i2", places + 8 + 2 * place)
            numbers = np.where(place < count, numbers * _NUMERIC_BASE + digit, numbers)
        shift = 4 * (power - count + 1) + scale
        shift[count == 0] = 0
        first = self.gather(">i2", places + 8)
        is_large = (count > 5) | ((count == 5) & (first >= 900)) | (np.abs(shift) > 18)
        is_large |= (sign != _POSITIVE) & (sign != _NEGATIVE)
        tens = _TENS[np.where(is_large, 0, np.abs(shift))]
        is_large |= (shift > 0) & (numbers * tens.astype(np.float64) >= _INT64_SAFE_MAX)
        tens[is_large] = 1
        numbers = np.where(shift >= 0, numbers * tens, numbers // tens)
        numbers = np.where(sign == _NEGATIVE, -numbers, numbers)
        isnan = None
        if is_large.any():
            numbers, isnan = self._large(numbers, np.flatnonzero(is_large), places)
        return numbers, scale.astype(np.uint8), isnan

    def _large(
        self, numbers: Array, rows: Array, places: Array
    ) -> tuple[Array, Array | None]:
        """Those that may not fit in 64 bits, one by one."""
        numbers, isnan = numbers.astype(object), np.zeros(len(numbers), dtype=bool)
        for row in rows.tolist():
            place = int(places[row])
            count, power, sign, scale = (
                int.from_bytes(self._data[at:at + 2], "big", signed=at == place + 2)
                for at in range(place, place + 8, 2))
            if sign not in (_POSITIVE, _NEGATIVE):
                isnan[row], numbers[row] = True, 0
                continue
            number = 0
            for at in range(place + 8, place + 8 + 2 * count, 2):
                number = number * _NUMERIC_BASE + int.from_bytes(self._data[at:at + 2], "big")
            shift = 4 * (power - count + 1) + scale
            number = number * 10**shift if shift >= 0 else number // 10**-shift
            numbers[row] = -number if sign == _NEGATIVE else number
        return numbers, isnan if isnan.any() else None


def _moments(found: Array, infinities: Iterable[int], offset: int, kind: str) -> Array:
    numbers = found.astype(np.int64)
    is_endless = np.isin(numbers, list(infinities))
    moments = (numbers + offset).view(kind)
    if is_endless.any():
        moments[is_endless] = np.datetime64("NaT")
    return moments


def _floats(
    numbers: Array, decimals: Array, valid: Array | None, isnan: Array | None
) -> NDArray[np.float64]:
    """The float64 nearest to each."""
    scales = np.minimum(decimals, _FLOAT_DECIMALS_MAX)
    floats: NDArray[np.float64] = numbers.astype(np.float64) / _TENS_FLOAT[scales]
    is_rough = (np.abs(numbers) > _FLOAT_INTEGER_MAX) | (decimals > _FLOAT_DECIMALS_MAX)
    for row in np.flatnonzero(is_rough).tolist():
        # Python's division of whole numbers rounds correctly whatever their size.
        floats[row] = int(numbers[row]) / _ten(int(decimals[row]))
    if valid is not None:
        floats[~valid] = np.nan
    if isnan is not None:
        floats[isnan] = np.nan
    return floats


@cache
def _ten(power: int) -> int:
    return int(10**power)

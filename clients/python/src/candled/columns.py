"""Binary COPY into numpy columns. No object is made for a row or a value: a batch of rows is one
array of bytes, and each field is gathered from all its rows at once.

Numbers of PostgreSQL's `numeric` come as a whole number and a count of decimals (136.390 is 136390
and 3), so both a float64 and the digits as they are stored can be made of them."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .errors import ProtocolError

__all__ = ["BATCH_ROWS", "PADDING", "Column", "Decoder", "Kind", "Places", "gather"]

Array = NDArray[Any]
Places = NDArray[np.int64]
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
# Arrays of so many fit in the processor's cache.
BATCH_ROWS = 8192
# Behind the rows: a gather reads whole words, also of a null at the end of a batch.
PADDING = bytes(64)
_DAYS_TO_2000 = 10_957
_MICROSECONDS_TO_2000 = _DAYS_TO_2000 * 86_400_000_000
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

    def taken(self, rows: Array | slice) -> "Column":
        valid = None if self.valid is None else self.valid[rows]
        decimals = None if self.decimals is None else self.decimals[rows]
        return Column(self.kind, self.values[rows], valid, decimals, self.words)

    def exact(self) -> Array:
        """Of decimals: `Decimal` with the digits of the database, None where null. Equal ones are
        the same object."""
        assert self.decimals is not None
        keys: Array = np.rec.fromarrays(  # type: ignore[call-overload]
            [self.values, self.decimals], names=["number", "decimals"])
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


class _Growing:
    """An array that grows in place: no more of it is ever held than a quarter too much."""

    def __init__(self, kind: Any) -> None:
        self._room: Array = np.empty(0, dtype=kind)
        self._size = 0

    def append(self, values: Array) -> None:
        end = self._size + len(values)
        if values.dtype == object and self._room.dtype != object:
            self._room = self._room[:self._size].astype(object)
        if end > len(self._room):
            self._room.resize(max(end, self._size * 5 // 4), refcheck=False)
        self._room[self._size:end] = values
        self._size = end

    def whole(self) -> Array:
        self._room.resize(self._size, refcheck=False)
        return self._room


class _Field:
    """A column as its batches come in."""

    def __init__(self, kind: Kind, wire: str, *, exact: bool) -> None:
        self.sent, self.wire = kind, wire
        self.kind: Kind = "float" if kind == "decimal" and not exact else kind
        self.values = _Growing(_HELD.get(self.kind, np.dtype(wire or np.int64).newbyteorder("=")))
        self.decimals = _Growing(np.uint8)
        self.words = _Words()
        self._valid: _Growing | None = None
        self._rows = 0

    def count(self, rows: int, valid: Array | None) -> None:
        """So many rows more."""
        if self.kind in _WITH_VALID and (self._valid is not None or valid is not None):
            if self._valid is None:
                self._valid = _Growing(np.bool_)
                self._valid.append(np.ones(self._rows, dtype=bool))
            self._valid.append(np.ones(rows, dtype=bool) if valid is None else valid)
        self._rows += rows

    def column(self) -> Column:
        return Column(
            self.kind, self.values.whole(), None if self._valid is None else self._valid.whole(),
            self.decimals.whole() if self.kind == "decimal" else None,
            tuple(word.decode() for word in self.words.known))


class Decoder:
    """Takes the messages of one COPY, each a row, and makes columns of them."""

    def __init__(self, types: dict[str, int], *, exact: bool) -> None:
        """`types` are the columns' OIDs; `exact` keeps decimals instead of making floats."""
        for name, oid in types.items():
            if oid not in _TYPES:
                raise ProtocolError(f"the column {name} has a type unknown here (OID {oid})")
        self._fields = {name: _Field(*_TYPES[oid], exact=exact) for name, oid in types.items()}
        self._is_begun = False

    def take_messages(self, messages: list[Any]) -> None:
        """The next messages, each by itself. The first of all begins with the header."""
        sizes = np.fromiter(map(len, messages), dtype=np.int64, count=len(messages))
        ends = np.cumsum(sizes)
        self.take(b"".join([*messages, PADDING]), ends - sizes, ends)

    def take(
        self, data: Any, begins: Places, ends: Places,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        """The next messages, which lie in `data` from `begins` to `ends`. What is to be done often
        `meanwhile` may write behind them."""
        if not self._is_begun and len(begins) > 0:
            begins[0] += self._header_bytes(bytes(data[begins[0]:ends[0]]))
            self._is_begun = True
            if begins[0] == ends[0]:
                begins, ends = begins[1:], ends[1:]
        if len(ends) > 0 and ends[-1] - begins[-1] == len(_TRAILER):
            begins, ends = begins[:-1], ends[:-1]
        if len(begins) > 0:
            self._decode(data, begins, ends, meanwhile)

    def columns(self) -> dict[str, Column]:
        """What was taken, once."""
        return {name: field.column() for name, field in self._fields.items()}

    @staticmethod
    def _header_bytes(message: bytes) -> int:
        if not message.startswith(_SIGNATURE):
            raise ProtocolError("the answer is no binary COPY")
        return _HEADER_BYTES + int.from_bytes(message[_HEADER_BYTES - 4:_HEADER_BYTES], "big")

    def _decode(
        self, data: Any, begins: Places, ends: Places, meanwhile: Callable[[], None]
    ) -> None:
        batch = _Batch(data)
        if (batch.gather(">i2", begins) != len(self._fields)).any():
            raise ProtocolError(f"a row has not the {len(self._fields)} fields that it should have")
        places = begins + 2
        for field in self._fields.values():
            lengths = batch.gather(">i4", places).astype(np.int64)
            valid = None
            if lengths.min() < 0:
                valid = lengths >= 0
                lengths[~valid] = 0
            places += 4
            _decode_field(batch, field, places, lengths, valid)
            field.count(len(places), valid)
            places += lengths
            meanwhile()
        if (places != ends).any():
            raise ProtocolError("a message of the COPY is not one row")


def _decode_field(
    batch: "_Batch", field: _Field, places: Array, lengths: Array, valid: Array | None
) -> None:
    if field.kind == "float" and field.sent == "decimal":
        floats = batch.short_floats(places, valid)
        if floats is not None:
            field.values.append(floats)
            return
    if field.sent == "decimal":
        numbers, decimals, isnan = batch.decimals(places, valid)
        if field.kind == "float":
            field.values.append(_floats(numbers, decimals, valid, isnan))
        elif isnan is not None:
            raise ProtocolError("a number is NaN or infinite, which no Decimal can be")
        else:
            field.values.append(numbers)
            field.decimals.append(decimals)
        return
    if field.kind == "text":
        field.values.append(batch.words(places, lengths, field.words))
        return
    found = batch.gather(field.wire, places)
    if field.kind == "time":
        found = _moments(found, np.int64, _MICROSECONDS_TO_2000, "datetime64[us]")
    elif field.kind == "date":
        found = _moments(found, np.int32, _DAYS_TO_2000, "datetime64[D]")
        found = found.astype(_HELD["date"])
    if valid is not None:
        found[~valid] = _NOTHING[field.kind]
    field.values.append(found)


# How values are held, where not as they are sent.
_HELD: dict[str, Any] = {
    "float": np.float64, "text": np.int32, "time": "datetime64[us]", "date": "datetime64[s]"}
# Where the value itself cannot say that it is null.
_WITH_VALID = {"bool", "integer", "decimal", "text"}
_NOTHING: dict[str, Any] = {
    "bool": False, "integer": 0, "float": np.nan, "time": np.datetime64("NaT"),
    "date": np.datetime64("NaT")}


def gather(data: Any, wire: str, places: Array) -> Array:
    """The words of that type that begin at `places`, as they are sent."""
    kind = np.dtype(wire)
    count = len(data) - kind.itemsize + 1
    words: Array = np.ndarray((count,), dtype=kind, buffer=data, strides=(1,))
    found: Array = words[places]
    return found


class _Words:
    """Texts by number, in the order in which they came first."""

    def __init__(self) -> None:
        self.known: dict[bytes, int] = {}
        # Of those with at most eight bytes: as numbers in order, and which words they are.
        self._short: Array = np.empty(0, dtype=np.uint64)
        self._codes: Array = np.empty(0, dtype=np.int32)

    def codes(self, texts: Array) -> Array:
        if texts.dtype != np.uint64:
            distinct, inverse = np.unique(texts, return_inverse=True)
            learned: Array = self._learned(distinct.tolist())[inverse.reshape(-1)]
            return learned
        places = self._places(texts)
        if places is None:
            fresh = np.setdiff1d(texts, self._short)
            words = [word.to_bytes(8, "big").lstrip(b"\0") for word in fresh.tolist()]
            short = np.concatenate((self._short, fresh))
            codes = np.concatenate((self._codes, self._learned(words)))
            order = np.argsort(short)
            self._short, self._codes = short[order], codes[order]
            places = np.searchsorted(self._short, texts)
        found: Array = self._codes[places]
        return found

    def _places(self, texts: Array) -> Array | None:
        """None if one is not known."""
        if len(self._short) == 0:
            return None
        places = np.minimum(np.searchsorted(self._short, texts), len(self._short) - 1)
        return places if (self._short[places] == texts).all() else None

    def _learned(self, words: list[bytes]) -> Array:
        known = self.known
        return np.array([known.setdefault(word, len(known)) for word in words], dtype=np.int32)


class _Batch:
    def __init__(self, data: Any) -> None:
        self._data = data
        self._bytes = np.frombuffer(data, dtype=np.uint8)

    def gather(self, wire: str, places: Array) -> Array:
        return gather(self._data, wire, places)

    def words(self, places: Array, lengths: Array, known: _Words) -> Array:
        """Texts as places in `known`, which learns the new ones."""
        width = int(lengths.max())
        texts: Array
        if width <= 8:
            # No text has a zero in it: of two numbers that are equal the texts are.
            texts = self.gather(">u8", places).astype(np.uint64)
            texts >>= np.minimum(64 - 8 * lengths, 63).astype(np.uint64)
            texts[lengths == 0] = 0
        else:
            spelled = self._bytes[
                np.minimum(places[:, None] + np.arange(width), len(self._data) - 1)]
            spelled[np.arange(width) >= lengths[:, None]] = 0
            texts = np.ascontiguousarray(spelled).view(f"S{width}").reshape(-1)
        # Neighbours are mostly the same.
        heads = np.flatnonzero(np.concatenate(([True], texts[1:] != texts[:-1])))
        codes = known.codes(texts[heads])
        if len(heads) == len(texts):
            return codes
        repeated: Array = np.repeat(codes, np.diff(np.append(heads, len(texts))))
        return repeated

    def short_floats(self, places: Array, valid: Array | None) -> NDArray[np.float64] | None:
        """The float64 nearest to each decimal, if all have so few digits that one division or one
        product of whole numbers is exact."""
        head = self.gather(">i8", places).astype(np.int64)
        if valid is not None:
            head[~valid] = 0
        count = head >> 48
        digits_max = int(count.max())
        if digits_max > 4 or (head & 0x8000_0000).any():
            return None
        # As many digits as one word takes, the last one rightmost.
        size = 32 if digits_max <= 2 else 64
        words = self.gather(f">u{size // 8}", places + 8).astype(np.uint64)
        words >>= np.minimum(size - 16 * count, 63).astype(np.uint64)
        words[count == 0] = 0
        digits = words.view(np.int64)
        numbers = (digits & 0xFFFF) + (digits >> 16 & 0xFFFF) * _NUMERIC_BASE
        if size == 64:
            numbers += ((digits >> 32 & 0xFFFF) + (digits >> 48 & 0xFFFF) * _NUMERIC_BASE) * (
                _NUMERIC_BASE**2)
        power = 4 * (((head << 16) >> 48) - count + 1)
        power[count == 0] = 0
        low, high = int(power.min()), int(power.max())
        largest = int(numbers.max()) * 10 ** max(high, 0)
        if low < -_FLOAT_DECIMALS_MAX or largest > _FLOAT_INTEGER_MAX:
            return None
        floats: NDArray[np.float64] = numbers.astype(np.float64)
        if high > 0:
            floats *= _TENS_FLOAT[np.maximum(power, 0)]
        if low < 0:
            floats /= _TENS_FLOAT[np.maximum(-power, 0)]
        is_negative = (head & (_NEGATIVE << 16)) != 0
        if is_negative.any():
            floats[is_negative] *= -1
        if valid is not None:
            floats[~valid] = np.nan
        return floats

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


def _moments(found: Array, sent: type[np.signedinteger[Any]], offset: int, kind: str) -> Array:
    """The infinities, the least and the largest number that can be sent, are none."""
    numbers = found.astype(np.int64)
    limits = np.iinfo(sent)
    is_endless = None
    if numbers.min() == limits.min or numbers.max() == limits.max:
        is_endless = (numbers == limits.min) | (numbers == limits.max)
    numbers += offset
    moments = numbers.view(kind)
    if is_endless is not None:
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

"""What a stream delivers. Prices, volumes and money are `Decimal`, with the digits that the
database has; times are aware `datetime`s with the exchange's offset."""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from types import NoneType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from .errors import ProtocolError

__all__ = ["Candle", "Candles", "Forming", "Level", "Message", "Prices", "Records", "Resync"]
__all__ += ["Slow", "Stale", "Stock", "Subscribed"]


@dataclass(frozen=True, slots=True)
class Level:
    """One price of the order book and the volume offered at it."""

    price: Decimal
    volume: Decimal


@dataclass(frozen=True, slots=True)
class Forming:
    """The minute that is not over yet. It changes until it is a `Candle`."""

    opened_at: datetime
    open: Decimal
    high: Decimal
    low: Decimal
    close: Decimal
    volume: Decimal


@dataclass(frozen=True, slots=True)
class Stock:
    """The newest quote of one instrument; before its first trade of the day the prices are None."""

    symbol: str
    source: str
    currency: str
    previous_close: Decimal
    volume: Decimal
    turnover: Decimal
    bid_price: Decimal
    ask_price: Decimal
    bids: tuple[Level, ...]
    asks: tuple[Level, ...]
    trading: str
    quoted_at: datetime
    received_at: datetime
    trading_day: date
    stale: bool
    seq: int
    name: str | None = None
    exchange: str | None = None
    kind: str | None = None
    board: str | None = None
    current_price: Decimal | None = None
    change: Decimal | None = None
    change_percent: Decimal | None = None
    open_price: Decimal | None = None
    high_price: Decimal | None = None
    low_price: Decimal | None = None
    limit_up: Decimal | None = None
    limit_down: Decimal | None = None
    forming: Forming | None = None


@dataclass(frozen=True, slots=True)
class Candle:
    """A final candle. `state` is "final", or "revised" where it replaces an earlier one."""

    symbol: str
    interval: str
    opened_at: datetime
    closed_at: datetime
    trading_day: date
    open: Decimal
    high: Decimal
    low: Decimal
    close: Decimal
    volume: Decimal
    state: str
    revision: int
    flags: tuple[str, ...]
    turnover: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Subscribed:
    """A subscription is in force. `unknown` are the symbols that the gateway does not have;
    `recovered` says, after a reconnection, whether everything missed follows."""

    channels: tuple[str, ...]
    unknown: tuple[str, ...]
    recovered: bool | None


@dataclass(frozen=True, slots=True)
class Prices:
    """The newest quotes: of all subscribed instruments (`is_snapshot`), then of those that
    changed."""

    stocks: tuple[Stock, ...]
    is_snapshot: bool


@dataclass(frozen=True, slots=True)
class Candles:
    """Candles that became final or were revised."""

    candles: tuple[Candle, ...]


@dataclass(frozen=True, slots=True)
class Records:
    """Rows of the other channels as they came. `kind` is "gap", "gap-closed", "certificate",
    "minute-complete" or "event"."""

    kind: str
    rows: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Slow:
    """This program reads too slowly: it gets the newest price of each symbol, not every one."""

    conflated: int


@dataclass(frozen=True, slots=True)
class Resync:
    """Not everything that was missed can be sent. All prices follow; for candles read
    /v1/stocks/{symbol}/history. `reason` is "past_horizon" or "another_database"."""

    reason: str


@dataclass(frozen=True, slots=True)
class Stale:
    """Whether what was delivered may be out of date now, and why."""

    is_stale: bool
    reason: str


Message = Subscribed | Prices | Candles | Records | Slow | Resync | Stale

Row = TypeVar("Row")


def read(kind: type[Row], row: dict[str, Any]) -> Row:
    """A JSON object as one of the types above. Members that it does not have are ignored."""
    values, hashable = {}, cast(Any, kind)
    try:
        for name, key, convert, is_required in _members(hashable):
            value = row[key] if is_required else row.get(key)
            values[name] = None if value is None and not is_required else convert(value)
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise ProtocolError(f"{kind.__name__} with an unexpected {key}: {error!r}") from error
    return kind(**values)


def rows(kind: type[Row], data: list[dict[str, Any]]) -> tuple[Row, ...]:
    return tuple(read(kind, row) for row in data)


@cache
def _members(kind: Any) -> list[tuple[str, str, Callable[[Any], Any], bool]]:
    hints = get_type_hints(kind)
    return [
        (field.name, _camel(field.name), _converter(hints[field.name]), field.default is MISSING)
        for field in fields(kind)
    ]


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def _converter(hint: Any) -> Callable[[Any], Any]:
    if get_origin(hint) is tuple:
        each = _converter(get_args(hint)[0])
        return lambda values: tuple(map(each, values))
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not NoneType]
    kind: Any = kinds[0]
    if hasattr(kind, "__dataclass_fields__"):
        return lambda row: read(kind, row)
    convert: Callable[[Any], Any] = kind.fromisoformat if kind in (datetime, date) else kind
    return convert

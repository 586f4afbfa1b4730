"""Questions to the database of candled, answered in columns."""

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal, Self

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from .columns import Decoder
from .errors import BadArgument, ConnectionFailed, QueryFailed
from .following import Followed, follow, with_transport
from .receiving import is_plain, receive, receive_plain
from .tables import Table

__all__ = ["Database", "open_database"]

Moment = str | date | datetime
_Text = sql.SQL | sql.Composed
Adjust = Literal["raw", "qfq", "total", "hfq", "split"] | str

_BOOK_LEVELS = 5
_SCHEMA_VERSION_MIN = 10
# Timeframes that the change feed has: the others follow from them.
_STORED = {1, 90, 240}
# PostgreSQL's code for an argument that candled's functions refuse.
_REFUSED = "22023"


def open_database(target: str, *, zone: str = "Asia/Shanghai") -> "Database":
    """Connects to a database by its URL, "postgresql://alice@db.example/candled", or to that of a
    demo by its folder, which `candled-demo --keep FOLDER` or `--open FOLDER` serves.

    `zone` is where times without an offset are meant, and how results show theirs.
    """
    return Database(target, zone=zone)


class Database:
    """A connection to a candled database, for one thread. It only reads.

    A lost connection is replaced at the next question.
    """

    def __init__(self, target: str, *, zone: str) -> None:
        self._address = _address(target)
        self.zone = zone
        self._connection: psycopg.Connection[Any] | None = None
        self._is_plain = False
        self._connected()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # Questions

    def candles(
        self, symbols: str | Iterable[str], timeframe: str = "1m", start: Moment | None = None,
        end: Moment | None = None, *, adjust: Adjust = "raw", as_of: Moment | None = None,
        fill: Literal["none", "flat"] = "none", source: str | None = None,
        newest: int | None = None, columns: Iterable[str] | None = None, exact: bool = False,
    ) -> Table:
        """Final candles that opened in [start, end), in the order of the symbols and of time.

        `symbols` in any usual spelling: "600519.SH", "sh600519", "AAPL". `timeframe`: 1m, 5m, 15m,
        30m, 60m, after_hours, 1d, 1w or 1mo. `adjust`: raw, qfq (or total), "qfq:2026-06-30", hfq,
        or split. `as_of`: the values known then. `newest`: only so many of the newest. `columns`: only these. `exact`:
        Decimal instead of float64.
        """
        asked = sql.SQL(
            "candled.candles({}::text[], {}, coalesce({}::timestamptz, '-infinity'), "
            "coalesce({}::timestamptz, 'infinity'), {}, {}, {}::timestamptz, {}, {}::integer)"
        ).format(*_literals(
            _listed(symbols), timeframe, start, end, fill, adjust, as_of, source, newest))
        return self._candles(asked, columns, exact)

    def market(
        self, day: Moment, timeframe: str = "1m", *, market: str | None = None,
        adjust: Adjust = "raw", as_of: Moment | None = None,
        columns: Iterable[str] | None = None, exact: bool = False,
    ) -> Table:
        """Final candles of every instrument on one day of its market, by symbol and time. `market`:
        cn, us, …; all of them if None."""
        self._check_market(market)
        asked = sql.SQL(
            "candled.market m cross join lateral candled.market_candles(m.name, {}, "
            "{}::date::timestamp at time zone m.zone, "
            "({}::date + 1)::timestamp at time zone m.zone, {}, {}::timestamptz) c "
            "where {}::text is null or m.name = {}"
        ).format(*_literals(timeframe, day, day, adjust, as_of, market, market))
        return self._candles(asked, columns, exact, prefix="c.").sorted_by("symbol", "opened_at")

    def latest(self, symbols: str | Iterable[str] | None = None, *, exact: bool = False) -> Table:
        """The newest quote of each instrument, its book as bid_price_1 … ask_volume_5. With an
        `ex_day`, what high_52w and low_52w have of days before it is adjusted."""
        book = sql.SQL(", ").join(
            sql.SQL("{}[{}] as {}").format(
                sql.Identifier(f"{side}_{what}s"), sql.Literal(level),
                sql.Identifier(f"{side}_{what}_{level}"))
            for side in ("bid", "ask") for what in ("price", "volume")
            for level in range(1, _BOOK_LEVELS + 1))
        plain = sql.SQL(
            "symbol, name, trading, quoted_at, last, change, percent_change, open, high, low, "
            "previous_close, volume, turnover, trading_day, received_at, high_52w, low_52w, ex_day")
        return self._of_symbols(
            sql.SQL("select {}, {} from candled.latest").format(plain, book), symbols,
            sql.SQL("order by symbol"), exact)

    def gaps(
        self, symbols: str | Iterable[str] | None = None, start: Moment | None = None,
        end: Moment | None = None, *, exact: bool = False,
    ) -> Table:
        """Trading that candled did not see, of days in [start, end], with its cause and state."""
        asked = sql.SQL(
            "select symbol, trading_day, from_at, to_at, volume, turnover, cause, state, "
            "closed_by, known_from, known_to from candled.gaps "
            "where trading_day between coalesce({}::date, '-infinity') "
            "and coalesce({}::date, 'infinity')").format(*_literals(start, end))
        order = sql.SQL("order by symbol, from_at, known_from")
        return self._of_symbols(asked, symbols, order, exact)

    def why(
        self, symbol: str, at: Moment, timeframe: str = "1m", *, source: str | None = None
    ) -> Table:
        """Where the candle that contains `at` comes from, a fact a row."""
        return self._table(sql.SQL(
            "select what, at, detail from candled.why({}, {}::timestamptz, {}, {})"
        ).format(*_literals(symbol, at, timeframe, source)), exact=False)

    def follow(
        self, symbols: str | Iterable[str] | None = None,
        timeframes: Iterable[Literal["1m", "after_hours", "1d"]] = ("1m",), *,
        after: int | None = None,
    ) -> AsyncIterator[Followed]:
        """Candles as they become final or are revised, in an `async for`: each is delivered, also
        after a lost connection. Of every instrument if `symbols` is None; from now on, or behind
        the change `after` of the feed. For prices see `connect`."""
        spelled = None if symbols is None else self._spelled(_listed(symbols))
        lengths = self._rows(sql.SQL(
            "select candled.timeframe_code(t.name), t.name from unnest({}::text[]) t (name)"
        ).format(sql.Literal(list(timeframes))))
        for code, name in lengths:
            if code not in _STORED:
                raise BadArgument(f"timeframes: expected 1m, after_hours or 1d, found {name!r}")
        codes = [code for code, _ in lengths]
        return follow(self._address, self.zone, spelled, codes, after)

    def instruments(self) -> Table:
        """Every series, with its name, exchange, kind and board."""
        return self.query("select * from candled.instruments order by symbol")

    def query(self, statement: str, *values: Any, exact: bool = False) -> Table:
        """A query of your own over the views; `{}` in it stands for the next of `values`. Types
        that are no column here, such as arrays, have to be cast."""
        return self._table(sql.SQL(statement).format(*_literals(*values)), exact=exact)

    # How they are asked

    def _candles(
        self, asked: _Text, columns: Iterable[str] | None, exact: bool, prefix: str = ""
    ) -> Table:
        names: _Text = sql.SQL(prefix + "*")
        if columns is not None:
            wanted = dict.fromkeys(["symbol", "opened_at", *columns])
            names = sql.SQL(", ").join(sql.SQL(prefix) + sql.Identifier(name) for name in wanted)
        return self._table(sql.SQL("select {} from {}").format(names, asked), exact=exact)

    def _of_symbols(
        self, asked: _Text, symbols: str | Iterable[str] | None, order: sql.SQL,
        exact: bool,
    ) -> Table:
        if symbols is not None:
            asked = sql.SQL("select * from ({}) q where symbol = any ({})").format(
                asked, sql.Literal(self._spelled(_listed(symbols))))
        return self._table(sql.SQL("{} {}").format(asked, order), exact=exact)

    def _spelled(self, symbols: list[str]) -> list[str]:
        """As they are stored."""
        rows = self._rows(sql.SQL(
            "select s.symbol, i.symbol from unnest({}::text[]) s (symbol) "
            "left join candled.instruments i on i.id = candled.instrument_id(s.symbol)"
        ).format(sql.Literal(symbols)))
        for given, stored in rows:
            if stored is None:
                self._rows(sql.SQL("select candled.symbol_error({})").format(sql.Literal(given)))
        return [stored for _, stored in rows]

    def markets(self) -> dict[str, str]:
        """The markets, each with the zone of its clock."""
        return dict(self._rows(sql.SQL("select name, zone from candled.market order by code")))

    def _check_market(self, market: str | None) -> None:
        if market is not None and market not in (known := self.markets()):
            raise BadArgument(f"market: expected one of {', '.join(known)}, found {market!r}")

    def _rows(self, statement: _Text) -> list[Any]:
        with self._asking() as connection:
            found: list[Any] = connection.execute(statement).fetchall()
            return found

    def _table(self, statement: _Text, *, exact: bool) -> Table:
        with self._asking() as connection:
            described = connection.execute(
                sql.SQL("select * from ({}) q limit 0").format(statement)).description
            assert described is not None
            decoder = Decoder({each.name: each.type_code for each in described}, exact=exact)
            text = sql.SQL("copy ({}) to stdout (format binary)").format(statement)
            received = receive_plain if self._is_plain else receive
            received(connection, text.as_bytes(connection), decoder)
            return Table(decoder.columns(), zone=self.zone)

    @contextmanager
    def _asking(self) -> Iterator[psycopg.Connection[Any]]:
        """Errors as those of this package. What ends in the middle leaves no connection behind."""
        connection = self._connected()
        try:
            yield connection
        except psycopg.Error as error:
            is_lost = connection.closed
            if connection.pgconn.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                self.close()
            primary = error.diag.message_primary or str(error).strip()
            if error.sqlstate == _REFUSED:
                raise BadArgument(primary) from None
            raise (ConnectionFailed if is_lost else QueryFailed)(primary) from error
        except BaseException:
            self.close()
            raise

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is not None and not self._connection.broken:
            return self._connection
        try:
            connection = psycopg.connect(with_transport(self._address), autocommit=True)
        except psycopg.Error as error:
            raise ConnectionFailed(str(error).strip()) from error
        try:
            connection.execute(sql.SQL("set timezone to {}").format(sql.Literal(self.zone)))
            connection.execute("set default_transaction_read_only to on")
            found = connection.execute("select max(version) from candled.schema_version").fetchone()
        except psycopg.Error as error:
            connection.close()
            raise ConnectionFailed(f"no database of candled: {str(error).strip()}") from error
        version = found[0] if found else 0
        if version < _SCHEMA_VERSION_MIN:
            connection.close()
            raise ConnectionFailed(
                f"the database has schema version {version}, older than {_SCHEMA_VERSION_MIN}: "
                "run candled schema apply")
        self._is_plain = is_plain(connection)
        self._connection = connection
        return connection


def _address(target: str) -> str:
    if "://" in target or ("=" in target and not target.startswith(("/", "."))):
        return target
    folder = Path(target) / "postgres" / "socket"
    if not any(folder.glob(".s.PGSQL.*[0-9]")):
        raise ConnectionFailed(
            f"nothing serves {target}: expected postgresql://… or the folder of a demo that "
            f"runs, see candled-demo --open {target}")
    return make_conninfo(
        host=str(folder.resolve()), port=5432, dbname="candled", user="candled_reader")


def _listed(symbols: str | Iterable[str]) -> list[str]:
    return [symbols] if isinstance(symbols, str) else list(symbols)


def _literals(*values: Any) -> list[sql.Literal]:
    return [sql.Literal(_plain(value)) for value in values]


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value

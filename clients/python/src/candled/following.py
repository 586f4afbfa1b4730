"""Candles of a database as they become final or change: its change feed."""

import asyncio
import os
import random
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from itertools import groupby
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import dict_row

from .errors import AccessRefused
from .messages import Candle, Candles, Resync, Stale

__all__ = ["Followed", "follow", "with_transport"]

Followed = Candles | Resync | Stale

_CHANGES_MAX = 1000
# NOTIFY is a hint that may be lost; a standby sends none.
_POLL_SECONDS, _STANDBY_POLL_SECONDS = 5.0, 0.25
_RETRY_SECONDS_MIN, _RETRY_SECONDS_MAX = 0.5, 30.0
# A question that is not answered for so long: the way there is cut, or what is on it stands still.
_ANSWER_SECONDS = 20.0
# What the kernel does about a way that was cut while nothing is asked. The address may have others.
_TRANSPORT = {
    "connect_timeout": "10", "keepalives": "1", "keepalives_idle": "10", "keepalives_interval": "5",
    "keepalives_count": "3", "tcp_user_timeout": "20000",
}
# Of PostgreSQL: LISTEN during recovery.
_READ_ONLY = "25006"

# The values are those of now: a candle that changed again comes again.
_CANDLES = """
select
  t.seq, i.symbol, candled.timeframe_name(c.timeframe) as interval, c.opened_at, c.closed_at,
  c.trading_day, c.open, c.high, c.low, c.close, c.volume,
  case when t.revised then 'revised' else 'final' end as state, c.revision,
  candled.flag_names(c.flags) as flags, c.turnover
from candled.changes({after}, {max}) f
cross join lateral (
  select f.seq, false as revised, u.*
  from unnest(f.candle_instrument_ids, f.candle_timeframes, f.candle_opened_ats) u
  union all
  select f.seq, true, u.*
  from unnest(f.revision_instrument_ids, f.revision_timeframes, f.revision_opened_ats) u
) t (seq, revised, instrument_id, timeframe, opened_at)
join candled.instruments i on i.id = t.instrument_id
join candled.feed_candles c
  on c.instrument_id = t.instrument_id
  and c.timeframe = t.timeframe
  and c.opened_at = t.opened_at
where f.kind = 'change'
  and t.timeframe = any ({lengths})
  and ({symbols}::text[] is null or i.symbol = any ({symbols}))
order by t.seq, t.revised, i.symbol, c.opened_at
"""


async def follow(
    address: str, zone: str, symbols: list[str] | None, lengths: list[int], after: int | None
) -> AsyncIterator[Followed]:
    """Outlives lost connections: `Stale` says when one is lost and when there is another."""
    feed = _Feed(zone, symbols, lengths, after)
    address = with_transport(address)
    attempts = 0
    while True:
        try:
            async with await psycopg.AsyncConnection.connect(
                address, autocommit=True, row_factory=dict_row
            ) as connection:
                if (resync := await feed.begin(connection)) is not None:
                    yield resync
                if attempts:
                    attempts = 0
                    yield Stale(False, "")
                while True:
                    async for message in feed.read(connection):
                        yield message
                    await feed.wait(connection)
        except psycopg.errors.InsufficientPrivilege as error:
            raise AccessRefused(str(error).strip()) from error
        except psycopg.OperationalError as error:
            attempts += 1
            feed.lost()
            if attempts == 1:
                yield Stale(True, str(error).strip())
            limit = min(_RETRY_SECONDS_MIN * 2 ** (attempts - 1), _RETRY_SECONDS_MAX)
            await asyncio.sleep(random.uniform(0, limit))


def with_transport(address: str) -> str:
    """The address with the kernel's limits, where it has none of its own."""
    given: dict[str, Any] = conninfo_to_dict(address)
    return make_conninfo(**{**_TRANSPORT, **given})


class _Feed:
    def __init__(
        self, zone: str, symbols: list[str] | None, lengths: list[int], after: int | None
    ) -> None:
        self._zone, self._symbols, self._lengths = zone, symbols, lengths
        self._after = after
        self._epoch: int | None = None
        self._poll_seconds = _POLL_SECONDS
        self._changes_max = _CHANGES_MAX

    def lost(self) -> None:
        """What was too much to be answered in time is asked in smaller parts."""
        self._changes_max = max(self._changes_max // 4, 1)

    async def begin(self, connection: Any) -> Resync | None:
        """Where to go on. Says if this is another database than before."""
        zone = sql.SQL("select set_config('timezone', {}, false)").format(sql.Literal(self._zone))
        await _answered(connection, zone)
        try:
            await _answered(connection, sql.SQL("listen candled"))
            self._poll_seconds = _POLL_SECONDS
        except psycopg.Error as error:
            if error.sqlstate != _READ_ONLY:
                raise
            self._poll_seconds = _STANDBY_POLL_SECONDS
        positions = await _answered(
            connection, sql.SQL("select epoch, last_seq from candled.feed_position()"))
        if not positions:
            raise psycopg.OperationalError("a logical replica is being filled")
        position = positions[0]
        is_other = self._epoch not in (None, position["epoch"])
        self._epoch = position["epoch"]
        if self._after is None or is_other:
            self._after = position["last_seq"]
        return Resync("another_database") if is_other else None

    async def read(self, connection: Any) -> AsyncIterator[Followed]:
        """What changed since. The cursor moves when it has been taken."""
        while True:
            changes = await _answered(connection, sql.SQL(
                "select kind, seq from candled.changes({}, {}) order by seq"
            ).format(sql.Literal(self._after), sql.Literal(self._changes_max)))
            if not changes:
                return
            if changes[0]["kind"] == "skipped":
                yield Resync("past_horizon")
            rows = await _answered(connection, sql.SQL(_CANDLES).format(
                after=sql.Literal(self._after), max=sql.Literal(self._changes_max),
                lengths=sql.Literal(self._lengths), symbols=sql.Literal(self._symbols)))
            for seq, group in groupby(rows, key=lambda row: row.pop("seq")):
                # A change that came in between is read with the next ones.
                if seq <= changes[-1]["seq"]:
                    candles = [Candle(**row | {"flags": tuple(row["flags"])}) for row in group]
                    self._after = seq
                    yield Candles(tuple(candles))
            self._after = changes[-1]["seq"]
            self._changes_max = min(2 * self._changes_max, _CHANGES_MAX)

    async def wait(self, connection: Any) -> None:
        async for _ in connection.notifies(timeout=self._poll_seconds, stop_after=1):
            pass


async def _answered(connection: Any, statement: sql.SQL | sql.Composed) -> list[Any]:
    """The rows of the answer. A statement that was only cancelled would be waited for as well: the
    socket is shut, and the wait ends as that of any lost connection does."""
    is_silent = False

    def shut() -> None:
        nonlocal is_silent
        is_silent = True
        with suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as own:
            own.shutdown(socket.SHUT_RDWR)

    timer = asyncio.get_running_loop().call_later(_ANSWER_SECONDS, shut)
    try:
        cursor = await connection.execute(statement)
        return list(await cursor.fetchall()) if cursor.description else []
    except psycopg.OperationalError as error:
        if is_silent:
            raise psycopg.OperationalError(
                f"the database does not answer within {_ANSWER_SECONDS:g} s") from error
        raise
    finally:
        timer.cancel()

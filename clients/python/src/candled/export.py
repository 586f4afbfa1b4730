"""Days of a market as files, exact: Parquet, CSV or JSON lines.

A file is complete or not there. What it was made of is kept with it, so that a second run writes
only what lacks or has changed."""

import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from . import text_files
from .database import Database
from .errors import BadArgument, ConnectionFailed, MissingPackage
from .files import Format, alone
from .tables import Table

__all__ = ["Export", "Written"]

# Later corrections are rare; exporting the day again finds them.
_CORRECTED = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Written:
    """A file of an export. `is_new` is false where it already had what the database has."""

    path: Path
    rows: int
    bytes: int
    is_new: bool


class Export:
    """Writes FOLDER/candles-TIMEFRAME/market=NAME/YYYY-MM-DD.FORMAT, one file a market and day.
    The formats are parquet, csv and jsonl."""

    def __init__(
        self, database: Database, folder: str | Path, *, timeframe: str = "1m",
        market: str | None = None, symbols: Iterable[str] | None = None, format: str = "parquet",
    ) -> None:
        self._format = _format(format)
        database._check_market(market)
        self._database = database
        self._folder = Path(folder) / f"candles-{timeframe}"
        self._timeframe = timeframe
        self._markets = [market] if market else list(database.markets())
        self._symbols = None if symbols is None else sorted(set(database._spelled(list(symbols))))

    def day(self, day: date) -> list[Written]:
        """The files of a day, one for each market that has candles of it."""
        found = [self.write(day, market) for market in self._markets]
        return [written for written in found if written is not None]

    def closed(self, since: date) -> list[tuple[date, str]]:
        """The days from `since` on whose market has closed, each with its market: they have
        certificates or, of a market that has bars alone, they have ended on its clock."""
        rows = self._database.query(
            "select m.name, d.day from candled.market m cross join lateral ("
            "select c.trading_day from candled.coverage c "
            "join candled.source s on s.name = c.source "
            "where s.market = m.code and c.certified and c.trading_day >= {}::date "
            "union select g::date from generate_series({}::date::timestamp, "
            "(now() at time zone m.zone)::date - interval '1 day', '1 day') g "
            "where not exists (select from candled.source s "
            "where s.market = m.code and s.kind = 'quotes')"
            ") d (day) where m.name = any ({}) order by d.day, m.name",
            since, since, self._markets)
        days = [day.astype("datetime64[D]").item() for day in rows["day"]]
        return list(zip(days, rows["name"].tolist(), strict=True))

    def write(self, day: date, market: str) -> Written | None:
        """The file of a market's day; None if there are no candles."""
        folder = self._folder / f"market={market}"
        path = folder / f"{day.isoformat()}.{self._format.suffix}"
        made_of = self._made_of(day, market)
        if made_of["rows"] == 0:
            return None
        folder.mkdir(parents=True, exist_ok=True)
        with alone(folder):
            if path.exists() and self._has(path, made_of):
                return Written(path, made_of["rows"], path.stat().st_size, is_new=False)
            table = self._table(day, market)
            self._format.write(path, table, made_of | {"rows": len(table)})
            return Written(path, len(table), path.stat().st_size, is_new=True)

    def _question(self, what: str, day: date, market: str) -> tuple[str, list[Any]]:
        return (
            f"select {what} from candled.market_candles({{}}, {{}}, "
            "{}::date::timestamp at time zone (select zone from candled.market where name = {}), "
            "({}::date + 1)::timestamp at time zone "
            "(select zone from candled.market where name = {})) c "
            "where {}::text[] is null or c.symbol = any ({})",
            [market, self._timeframe, day, market, day, market, self._symbols, self._symbols])

    def _made_of(self, day: date, market: str) -> dict[str, Any]:
        """What the file would be made of now: a correction moves `revisions` and `known`."""
        text, values = self._question(
            "count(*) as rows, sum(revision)::bigint as revisions, max(known_from)::text as known",
            day, market)
        found = self._database.query(text, *values)
        rows = int(found["rows"][0])
        return {
            "version": self._format.version, "market": market, "day": day.isoformat(),
            "timeframe": self._timeframe, "symbols": self._symbols, "rows": rows,
            "revisions": int(found["revisions"][0]) if rows else 0, "known": found["known"][0],
        }

    def _table(self, day: date, market: str) -> Table:
        text, values = self._question("*", day, market)
        return self._database.query(text, *values, exact=True).sorted_by("symbol", "opened_at")

    def _has(self, path: Path, made_of: dict[str, Any]) -> bool:
        found = self._format.made_of(path)
        if found["symbols"] != made_of["symbols"]:
            raise BadArgument(
                f"symbols: expected those that {path} has, or another folder, found others")
        return found == made_of


def _format(name: str) -> Format:
    if name == "csv":
        return text_files.CSV()
    if name == "jsonl":
        return text_files.JSONLines()
    if name != "parquet":
        raise BadArgument(f"format: expected parquet, csv or jsonl, found {name!r}")
    try:
        from .parquet_files import Parquet
    except ImportError as error:
        raise MissingPackage(f"{error}: pip install 'candled[parquet]'") from error
    return Parquet()


def follow(export: Export, since: date, every_seconds: float) -> Iterator[Written]:
    """Files of days as their markets close, and again where a correction changed one of the last
    days. Never ends; a database that does not answer is tried again."""
    is_lost = False
    while True:
        try:
            closed = export.closed(since)
            for day, market in closed:
                written = export.write(day, market)
                if written is not None and written.is_new:
                    yield written
            if closed:
                since = max(since, closed[-1][0] - _CORRECTED)
            is_lost = False
        except ConnectionFailed as error:
            if not is_lost:
                print(f"candled: {error}; trying again", file=sys.stderr, flush=True)
            is_lost = True
        time.sleep(every_seconds)

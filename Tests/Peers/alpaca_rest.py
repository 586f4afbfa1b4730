"""Reads the gateway at PORT with unmodified alpaca-py: every bar, quote, day and asset of a fixture."""

import json
import os
import sys
from datetime import date, datetime, timezone

from alpaca.common.exceptions import APIError
from alpaca.data.enums import Adjustment, DataFeed
from alpaca.data.historical import StockHistoricalDataClient
from alpaca.data.requests import (
    StockBarsRequest,
    StockLatestBarRequest,
    StockLatestQuoteRequest,
    StockLatestTradeRequest,
    StockSnapshotRequest,
)
from alpaca.data.timeframe import TimeFrame, TimeFrameUnit
from alpaca.trading.client import TradingClient
from alpaca.trading.enums import AssetClass, AssetStatus
from alpaca.trading.requests import GetAssetsRequest, GetCalendarRequest

base = f"http://127.0.0.1:{sys.argv[1]}"
secret = os.environ["SECRET"]
expected = json.loads(os.environ["EXPECTED"])
symbols = list(expected)
start, end = datetime(2026, 7, 6, tzinfo=timezone.utc), datetime(2026, 7, 7, tzinfo=timezone.utc)


def check(bars, rows):
    found = [[b.timestamp, b.open, b.high, b.low, b.close, b.volume, b.vwap] for b in bars]
    wanted = [
        [datetime.fromisoformat(row[0].replace("Z", "+00:00"))]
        + [None if text is None else float(text) for text in row[1:]]
        for row in rows
    ]
    assert found == wanted, (found[:2], wanted[:2])


def refused(call, status, code):
    try:
        call()
    except APIError as error:
        assert (error.status_code, error.code) == (status, code), (error.status_code, str(error))
        return
    raise AssertionError(f"expected {status}")


data = StockHistoricalDataClient("any", secret, url_override=base)
minutes = dict(timeframe=TimeFrame.Minute, start=start, end=end, feed=DataFeed.IEX)
request = StockBarsRequest(symbol_or_symbols=symbols, **minutes)
bars = data.get_stock_bars(request)
for symbol, rows in expected.items():
    check(bars[symbol], rows)
assert len(bars.df) == sum(map(len, expected.values()))
paged = data._get_marketdata("/stocks/bars", request.to_request_fields(), page_size=7)
assert {symbol: len(rows) for symbol, rows in paged.items()} == {
    symbol: len(rows) for symbol, rows in expected.items()
}
limited = data.get_stock_bars(StockBarsRequest(symbol_or_symbols=symbols[0], limit=5, **minutes))
check(limited[symbols[0]], expected[symbols[0]][:5])
quarters = data.get_stock_bars(
    StockBarsRequest(
        symbol_or_symbols=symbols[0],
        timeframe=TimeFrame(15, TimeFrameUnit.Minute),
        start=start,
        end=end,
        adjustment=Adjustment.RAW,
    )
)
assert len(quarters[symbols[0]]) == 2
for amount, unit, named, count in [
    (7, "Min", symbols, 5), (4, "Hour", symbols, 1), (23, "Hour", symbols, 1),
    (1, "Week", ["AAPL"], 2), (3, "Month", ["AAPL"], 1), (12, "Month", ["AAPL"], 1),
]:
    longer = data.get_stock_bars(
        StockBarsRequest(
            symbol_or_symbols=named,
            timeframe=TimeFrame(amount, TimeFrameUnit(unit)),
            start=datetime(2026, 1, 1),
            end=end,
        )
    )
    assert {symbol: len(longer[symbol]) for symbol in named} == dict.fromkeys(named, count), longer
days = data.get_stock_bars(
    StockBarsRequest(symbol_or_symbols="AAPL", timeframe=TimeFrame.Day, start=datetime(2026, 7, 1))
)
assert [bar.timestamp.isoformat() for bar in days["AAPL"]] == [
    "2026-07-05T04:00:00+00:00",
    "2026-07-06T04:00:00+00:00",
]

latest = data.get_stock_latest_bar(StockLatestBarRequest(symbol_or_symbols=symbols))
for symbol, rows in expected.items():
    check([latest[symbol]], rows[-1:])
quotes = data.get_stock_latest_quote(StockLatestQuoteRequest(symbol_or_symbols=symbols))
assert set(quotes) <= {symbol for symbol in symbols if symbol != "AAPL"} and quotes
assert all(quote.bid_price > 0 and quote.ask_price >= 0 for quote in quotes.values())
snapshots = data.get_stock_snapshot(StockSnapshotRequest(symbol_or_symbols=symbols))
for symbol, rows in expected.items():
    snapshot = snapshots[symbol]
    assert snapshot.latest_trade is None
    check([snapshot.minute_bar], rows[-1:])
assert snapshots["AAPL"].latest_quote is None
assert snapshots["AAPL"].daily_bar.timestamp > snapshots["AAPL"].previous_daily_bar.timestamp
refused(
    lambda: data.get_stock_latest_trade(StockLatestTradeRequest(symbol_or_symbols="AAPL")),
    404,
    40410000,
)

trading = TradingClient("any", secret, url_override=base)
clock = trading.get_clock()
assert clock.next_open > clock.timestamp and clock.next_close > clock.timestamp
week = trading.get_calendar(GetCalendarRequest(start=date(2026, 7, 4), end=date(2026, 7, 8)))
assert [str(day.date) for day in week] == ["2026-07-06", "2026-07-07", "2026-07-08"]
assert str(week[0].open) == "2026-07-06 09:30:00" and str(week[0].close) == "2026-07-06 15:00:00"
assets = trading.get_all_assets(
    GetAssetsRequest(status=AssetStatus.ACTIVE, asset_class=AssetClass.US_EQUITY)
)
assert sorted(asset.symbol for asset in assets) == ["AAPL", "sh600000", "sh600001", "sh600002"]
assert {asset.symbol: asset.tradable for asset in assets} == {
    "AAPL": False, "sh600000": True, "sh600001": True, "sh600002": True}
for asset in assets:
    assert trading.get_asset(asset.symbol).id == asset.id
    assert trading.get_asset(asset.id).symbol == asset.symbol
refused(lambda: trading.get_asset("NOTHING"), 404, 40410000)
refused(trading.get_account, 403, 40310000)
wrong = TradingClient("any", "cndl_wrong", url_override=base)
refused(wrong.get_clock, 401, 40110000)
print("all calls answered")

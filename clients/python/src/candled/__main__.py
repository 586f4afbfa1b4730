"""python3 -m candled export: days of candles as files."""

import argparse
import os
import sys
from collections.abc import Iterator
from datetime import date, timedelta
from typing import TYPE_CHECKING

from .errors import BadArgument, CandledError, ConnectionFailed, MissingPackage

if TYPE_CHECKING:
    from .export import Written

# Of sysexits.h.
_USAGE, _NO_INPUT, _UNAVAILABLE, _FAILED, _INTERRUPTED = 64, 66, 69, 70, 130


def main() -> int:
    options = _parser().parse_args()
    try:
        return _export(options)
    except BadArgument as error:
        return _complain(error, _USAGE)
    except (ConnectionFailed, MissingPackage) as error:
        return _complain(error, _UNAVAILABLE)
    except (CandledError, OSError) as error:
        return _complain(error, _FAILED)
    except KeyboardInterrupt:
        return _INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m candled", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    export = commands.add_parser(
        "export", help="write days of candles as files", description=(
            "Writes DIR/candles-TIMEFRAME/market=NAME/DAY.FORMAT, one file a market and day. A "
            "file that already has what the database has is left alone, so an export that was "
            "interrupted goes on where it was; after a correction its day is written again."))
    export.add_argument(
        "--day", required=True, metavar="DAY[..DAY]",
        help="a trading day, or the first and the last")
    export.add_argument("--to", required=True, metavar="DIR", help="where the files go")
    export.add_argument(
        "--from", dest="database", metavar="DATABASE", default=os.environ.get("CANDLED_URL"),
        help="postgresql://… or the folder of a demo (default: $CANDLED_URL)")
    export.add_argument(
        "--format", default="parquet", help="parquet, csv or jsonl (default: parquet)")
    export.add_argument("--timeframe", default="1m", help="1m, 5m, …, 1d (default: 1m)")
    export.add_argument("--market", help="cn, us, … (default: every market)")
    export.add_argument("--symbols", help="only these, with commas between them")
    export.add_argument(
        "--follow", action="store_true", help="go on with each day that closes")
    export.add_argument(
        "--every", type=float, default=60.0, metavar="SECONDS",
        help="how often --follow looks (default: 60)")
    return parser


def _export(options: argparse.Namespace) -> int:
    days = list(_days(options.day))
    if not options.database:
        raise BadArgument(
            "--from: expected postgresql://… or the folder of a demo, found nothing")
    if options.every <= 0:
        raise BadArgument(f"--every: expected seconds, found {options.every:g}")
    try:
        from . import export
        from .database import open_database
    except ImportError as error:
        raise MissingPackage(f"{error}: pip install candled") from error
    symbols = options.symbols.split(",") if options.symbols else None
    with open_database(options.database) as database:
        job = export.Export(
            database, options.to, timeframe=options.timeframe, market=options.market,
            symbols=symbols, format=options.format)
        written = False
        for day in days:
            for each in job.day(day):
                written = True
                _report(each)
        if options.follow:
            for each in export.follow(job, days[-1], options.every):
                _report(each)
        if not written:
            return _complain(f"there are no candles of {options.day}", _NO_INPUT)
    return 0


def _report(written: "Written") -> None:
    state = "" if written.is_new else ", as it was"
    print(f"{written.path}: {written.rows:,} rows, {written.bytes:,} bytes{state}", flush=True)


def _days(text: str) -> Iterator[date]:
    first, _, last = text.partition("..")
    try:
        begin, end = date.fromisoformat(first), date.fromisoformat(last or first)
    except ValueError:
        raise BadArgument(
            f"--day: expected 2026-07-06 or 2026-07-01..2026-07-06, found {text}") from None
    if end < begin:
        raise BadArgument(f"--day: expected the earlier day first, found {text}")
    for place in range((end - begin).days + 1):
        yield begin + timedelta(days=place)


def _complain(error: object, status: int) -> int:
    print(f"candled: {error}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())

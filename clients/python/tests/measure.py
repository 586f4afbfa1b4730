"""Measures a question of many rows, into pandas by this package and by others, against a bare binary
COPY of the same query into /dev/null, in turn; then the memory that the package needed, and a day as
Parquet.

    measure.py ADDRESS DAY [--rounds N] [--all] [--real-time]

DAY is one that the database has of the market cn. `--all` compares with psycopg, SQLAlchemy,
connectorx and a CSV COPY as well, once each. `--real-time` gives this and the server, which is to be
on this machine, priority over other programs where that is permitted.
"""

import argparse
import contextlib
import io
import os
import resource
import subprocess
import tempfile
import time
from datetime import date
from pathlib import Path
from urllib.parse import quote

import pandas
import psycopg
from psycopg.conninfo import conninfo_to_dict

import candled
from candled import database
from candled.export import Export

QUERY = "select * from candled.market_candles('cn', '1m')"
TIMES = ["opened_at", "closed_at", "known_from"]
RATIO_MAX, MEMORY_RATIO_MAX, PARQUET_BYTES_MAX = 1.3, 2.0, 25.0


def by_copy(address):
    text = f"copy ({QUERY}) to stdout (format binary)"
    with open("/dev/null", "wb") as nowhere:
        subprocess.run(["psql", address, "-qc", text], stdout=nowhere, check=True)


def by_psycopg(address):
    with psycopg.connect(address) as connection:
        cursor = connection.execute(QUERY)
        names = [each.name for each in cursor.description]
        return pandas.DataFrame(cursor.fetchall(), columns=names)


def by_csv(address):
    with psycopg.connect(address) as connection:
        with connection.cursor().copy(f"copy ({QUERY}) to stdout (format csv, header)") as copy:
            text = b"".join(copy)
    return pandas.read_csv(io.BytesIO(text), parse_dates=TIMES)


def by_sqlalchemy(address):
    import sqlalchemy

    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(address))
    with engine.connect() as connection:
        return pandas.read_sql(sqlalchemy.text(QUERY), connection)


def by_connectorx(address):
    import connectorx

    parts = conninfo_to_dict(address)
    host, port = quote(parts.get("host", "localhost"), safe=""), parts.get("port", "5432")
    return connectorx.read_sql(
        f"postgresql://{parts['user']}@{host}:{port}/{parts['dbname']}", QUERY)


def prefer(connection):
    """Gives this process, and the server's later ones, priority over what is not as urgent."""
    pid = connection.execute("select pg_backend_pid()").fetchone()[0]
    server = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    with contextlib.suppress(PermissionError):
        for process in (server, 0):
            os.sched_setscheduler(process, os.SCHED_RR, os.sched_param(1))
        return True
    return False


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def seconds_of(way):
    began = time.monotonic()
    way()
    return time.monotonic() - began


def check(what, figure, limit, unit):
    print(f"{'PASS' if figure <= limit else 'MISS'}: {what} {figure:.2f} {unit}, at most {limit}")


def measured(db):
    """What a process needs beyond what a small question needed, and the frame's own size."""
    db.query(f"{QUERY} limit 1").to_pandas()
    before = peak()
    frame = db.query(QUERY).to_pandas()
    return peak() - before, int(frame.memory_usage(deep=True).sum()), frame.shape


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("address")
    parser.add_argument("day", type=date.fromisoformat)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--real-time", action="store_true")
    options = parser.parse_args()
    address = database._address(options.address)
    urgent = False
    if options.real_time:
        with psycopg.connect(address) as connection:
            urgent = prefer(connection)
    db = candled.open(options.address)
    used, held, (rows, columns) = measured(db)
    ways = {
        "bare binary COPY": lambda: by_copy(address),
        "candled": lambda: db.query(QUERY).to_pandas(),
    }
    seconds = dict.fromkeys(ways, float("inf"))
    for _ in range(options.rounds):
        for name, way in ways.items():
            seconds[name] = min(seconds[name], seconds_of(way))
    if options.all:
        for name, way in {
            "CSV COPY, read_csv": by_csv, "connectorx": by_connectorx,
            "psycopg": by_psycopg, "SQLAlchemy, read_sql": by_sqlalchemy,
        }.items():
            seconds[name] = seconds_of(lambda: way(address))
    load = " ".join(f"{each:.0f}" for each in os.getloadavg())
    print(f"{rows:,} rows of {columns + 1} columns into pandas, best of {options.rounds}, others "
          f"once; load {load}{', at real-time priority' if urgent else ''}")
    bare = seconds["bare binary COPY"]
    for name, each in seconds.items():
        print(f"{name:<22}{each:7.2f} s {each / bare:6.2f} × the bare COPY "
              f"{each / seconds['candled']:6.2f} × candled")
    check("candled", seconds["candled"] / bare, RATIO_MAX, "× the bare COPY")
    check(f"peak memory {used / 1e6:.0f} MB,", used / held, MEMORY_RATIO_MAX,
          f"× the frame's {held / 1e6:.0f} MB")
    with tempfile.TemporaryDirectory() as folder:
        written, = Export(db, folder, market="cn").day(options.day)
    check(f"Parquet, {written.rows:,} candles of a day,", written.bytes / written.rows,
          PARQUET_BYTES_MAX, "bytes a row")


main()

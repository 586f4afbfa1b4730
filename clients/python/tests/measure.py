"""Measures a question of many rows: into pandas by this package, against a bare binary COPY of the
same query into /dev/null, a CSV COPY that pandas reads, and psycopg's rows: the best of some rounds in
turn. Then the memory that the package needed.

    measure.py ADDRESS [ROUNDS [all]]

Without `all` it compares with the bare COPY only.
"""

import io
import resource
import subprocess
import sys
import time

import pandas
import psycopg

import candled
from candled import database

QUERY = "select * from candled.market_candles(null, '1m')"


def by_package(db):
    return db.query(QUERY).to_pandas()


def by_copy(address):
    text = f"copy ({QUERY}) to stdout (format binary)"
    with open("/dev/null", "wb") as nowhere:
        subprocess.run(["psql", address, "-c", text], stdout=nowhere, check=True)


def by_rows(connection):
    cursor = connection.execute(QUERY)
    return pandas.DataFrame(cursor.fetchall(), columns=[each.name for each in cursor.description])


def by_csv(connection):
    with connection.cursor().copy(f"copy ({QUERY}) to stdout (format csv, header)") as copy:
        text = b"".join(copy)
    return pandas.read_csv(io.BytesIO(text), parse_dates=["opened_at", "closed_at", "known_from"])


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main():
    address = database._address(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    db = candled.open(sys.argv[1])
    connection = psycopg.connect(address, autocommit=True)
    db.candles(db.instruments()["symbol"][0], newest=1).to_pandas()
    before = peak()
    frame = by_package(db)
    used, held = peak() - before, int(frame.memory_usage(deep=True).sum())
    ways = {"bare binary COPY": lambda: by_copy(address), "candled": lambda: by_package(db)}
    if "all" in sys.argv:
        ways |= {"CSV COPY": lambda: by_csv(connection), "psycopg": lambda: by_rows(connection)}
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, way in ways.items():
            began = time.monotonic()
            way()
            best[name] = min(best[name], time.monotonic() - began)
    bare = best["bare binary COPY"]
    print(f"{len(frame):,} rows, {len(frame.columns) + 1} columns, best of {rounds}")
    for name, seconds in best.items():
        print(f"{name:<18}{seconds:7.2f} s {seconds / bare:6.2f} ×")
    print(f"peak memory {used / 1e6:.0f} MB, {used / held:.2f} × the frame's {held / 1e6:.0f} MB")


main()

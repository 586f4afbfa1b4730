"""Sums exported minutes by Spark, whose driver and two executors are processes of their own on this
machine ("local-cluster"), and by DuckDB, and compares them digit by digit. For script/spark.

    spark.py FOLDER
"""

import os
import sys
import time
from pathlib import Path

import duckdb
import pyspark
from pyspark.sql import SparkSession

EXECUTORS, CORES, MEGABYTES = 2, 1, 1024
# Of each series and market: counts are small, sums are exact decimals.
QUESTION = """
    select market, cast(symbol as {text}) as symbol, count(*) as minutes, sum(volume) as volume,
        sum(turnover) as turnover, max(high) as high, min(low) as low
    from {source}
    group by market, symbol
    order by market, symbol"""


def by_spark(folder):
    # Its executors start from there.
    os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    session = (
        SparkSession.builder.master(f"local-cluster[{EXECUTORS},{CORES},{MEGABYTES}]")
        .appName("candled")
        .config("spark.executor.memory", f"{MEGABYTES}m")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.log.level", "ERROR")
        .getOrCreate())
    minutes = session.read.option("basePath", f"{folder}/candles-1m").parquet(
        f"{folder}/candles-1m/market=*")
    minutes.createOrReplaceTempView("minutes")
    asked = QUESTION.format(text="string", source="minutes")
    seconds = []
    for _ in range(2):
        began = time.monotonic()
        rows = [tuple(row) for row in session.sql(asked).collect()]
        seconds.append(time.monotonic() - began)
    count = len(session.sparkContext._jsc.sc().statusTracker().getExecutorInfos()) - 1
    session.stop()
    return rows, seconds, count


def by_duckdb(folder):
    files = f"{folder}/candles-1m/*/*.parquet"
    source = f"read_parquet('{files}', hive_partitioning = true)"
    asked = QUESTION.format(text="varchar", source=source)
    began = time.monotonic()
    rows = duckdb.sql(asked).fetchall()
    return rows, time.monotonic() - began


def main():
    folder = Path(sys.argv[1]).resolve()
    expected, duckdb_seconds = by_duckdb(folder)
    found, seconds, executors = by_spark(folder)
    minutes = sum(row[2] for row in expected)
    load = " ".join(f"{each:.0f}" for each in os.getloadavg())
    print(f"{minutes:,} minutes of {len(expected):,} series by {executors} executors, load {load}")
    print(f"Spark {pyspark.__version__}: {seconds[0]:.1f} s, again {seconds[1]:.1f} s")
    print(f"DuckDB {duckdb.__version__}: {duckdb_seconds:.1f} s")
    differing = [pair for pair in zip(found, expected, strict=False) if pair[0] != pair[1]]
    if len(found) != len(expected) or differing:
        print(f"DIFFERENT: {len(found)} and {len(expected)} series, such as {differing[:1]}")
        return 1
    print("equal: counts, sums of volume and turnover, highs and lows of each series")
    return 0


sys.exit(main())

"""The database of the tests in this folder: a simulated day and some days behind it, of few
instruments, that tests only read. Its address is in CANDLED_URL."""

import os

import psycopg

import candled
from candled.database import _address

DAY = "2026-07-06"
ADDRESS = os.environ["CANDLED_URL"]


def opened(**options):
    return candled.open(ADDRESS, **options)


def rows(statement, *values):
    """By psycopg, a row a tuple: what the package is compared with."""
    with psycopg.connect(_address(ADDRESS), autocommit=True) as connection:
        connection.execute("set timezone to 'Asia/Shanghai'")
        return connection.execute(statement, values).fetchall()

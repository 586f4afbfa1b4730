"""The rows of a binary COPY as they come from the server.

libpq hands out one row a call, which takes longer than to decode it. A connection that is not
encrypted is therefore read here, message by message of PostgreSQL's protocol, for as long as the
COPY lasts: many rows are decoded where they were received. libpq sees nothing of it."""

import os
import select
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import psycopg
from psycopg.pq import ExecStatus

from .columns import BATCH_ROWS, PADDING, Decoder, Places, gather
from .errors import ProtocolError

__all__ = ["is_plain", "receive", "receive_plain"]

# More than the server sends while a batch is decoded, little beside the columns.
_ROOM_BYTES = 8 << 20
# A message's type and length, which counts itself.
_HEAD_BYTES, _LENGTH_BYTES = 5, 4
_ROW, _ERROR, _READY = b"dEZ"
# What stands around the rows, and what a server may send at any time.
_PASSED_OVER = frozenset(b"HcCNSA")
_IDLE = ord("I")
_LENGTH = struct.Struct(">I")


def is_plain(connection: psycopg.Connection[Any]) -> bool:
    """Whether nothing on the way to the server is encrypted, as far as either end knows."""
    if connection.pgconn.ssl_in_use:
        return False
    found = connection.execute(
        "select s.ssl or g.encrypted from pg_stat_ssl s join pg_stat_gssapi g using (pid) "
        "where s.pid = pg_backend_pid()").fetchone()
    return found == (False,)


def receive(connection: psycopg.Connection[Any], statement: bytes, decoder: Decoder) -> None:
    """By libpq. Each message is a row; the loop is short because it runs for each."""
    link = connection.pgconn
    answer = link.exec_(statement)
    _check(connection, answer, ExecStatus.COPY_OUT)
    take, messages = link.get_copy_data, list[Any]()
    while True:
        size, message = take(1)
        if size > 0:
            messages.append(message)
            if len(messages) == BATCH_ROWS:
                decoder.take_messages(messages)
                messages.clear()
        elif size == 0:
            select.select([link.socket], [], [])
            link.consume_input()
        else:
            break
    while (end := link.get_result()) is not None:
        _check(connection, end, ExecStatus.COMMAND_OK)
    decoder.take_messages(messages)


def _check(connection: psycopg.Connection[Any], answer: Any, wanted: ExecStatus) -> None:
    if answer.status != wanted:
        raise psycopg.errors.error_from_result(answer, encoding=connection.info.encoding)


def receive_plain(
    connection: psycopg.Connection[Any], statement: bytes, decoder: Decoder
) -> None:
    """Past libpq, whose connection must be idle and plain. Whatever ends it early closes that."""
    encoding = connection.info.encoding
    is_whole = False
    try:
        with _shared_socket(connection) as link:
            _send(link, statement)
            incoming = _Incoming(link)
            error = incoming.read(decoder)
            is_whole = incoming.is_ready
    finally:
        if not is_whole:
            connection.close()
    if error is not None:
        raise _error(error, encoding)
    if not is_whole:
        raise psycopg.OperationalError("the server closed the connection")


@contextmanager
def _shared_socket(connection: psycopg.Connection[Any]) -> Iterator[socket.socket]:
    with socket.socket(fileno=os.dup(connection.fileno())) as link:
        # As libpq has it: both descriptors share that.
        link.setblocking(False)
        yield link


def _send(link: socket.socket, statement: bytes) -> None:
    text = statement + b"\0"
    rest = memoryview(b"Q" + struct.pack(">I", _LENGTH_BYTES + len(text)) + text)
    while rest:
        select.select([], [link], [])
        rest = rest[link.send(rest):]


def _error(fields: bytes, encoding: str) -> psycopg.Error:
    """Of an ErrorResponse: fields that begin with a letter and end with a zero."""
    found = {field[:1]: field[1:].decode(encoding, "replace") for field in fields.split(b"\0")}
    try:
        kind = psycopg.errors.lookup(found[b"C"])
    except KeyError:
        kind = psycopg.DatabaseError
    return kind(found.get(b"M", "the server gave no reason"))


class _Incoming:
    """Messages as they arrive. `_room` has those from `_begin` on, whole ones to `_walked`; what
    begins in `_heads` is not decoded yet."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._room = bytearray(_ROOM_BYTES)
        self._view = memoryview(self._room)
        self._walked = self._end = 0
        self._heads: list[int] = []
        self._is_closed = False
        # For the next statement.
        self.is_ready = False

    def read(self, decoder: Decoder) -> bytes | None:
        """All of them, or all before the connection was lost. Returns the fields of an error that
        the server sent."""
        error: bytes | None = None
        while not self.is_ready:
            self._walk()
            if not self._is_enough():
                if self._is_closed:
                    break
                self._wait()
                continue
            heads = np.array(self._heads, dtype=np.int64)
            self._heads.clear()
            kinds = np.frombuffer(self._room, dtype=np.uint8)[heads]
            for place in heads[kinds != _ROW].tolist():
                kind = self._room[place]
                if kind == _ERROR:
                    error = bytes(self._message(place))
                elif kind == _READY:
                    self.is_ready = True
                    if self._message(place)[0] != _IDLE:
                        raise ProtocolError("the server is in a transaction after the COPY")
                elif kind not in _PASSED_OVER:
                    raise ProtocolError(f"the server sent a message of the type {kind}")
            self._decode(decoder, heads[kinds == _ROW])
        return error

    def _is_enough(self) -> bool:
        """A batch of rows, or something else, or all that there is room for."""
        return bool(self._heads) and (
            len(self._heads) >= BATCH_ROWS or self._room[self._heads[-1]] != _ROW
            or not self._has_space() or self._is_closed)

    def _message(self, head: int) -> memoryview:
        length = int.from_bytes(self._view[head + 1:head + _HEAD_BYTES], "big")
        return self._view[head + _HEAD_BYTES:head + 1 + length]

    def _has_space(self) -> bool:
        return self._end < len(self._room) - len(PADDING)

    def _wait(self) -> None:
        """Until more has arrived."""
        if not self._heads:
            self._move()
        before = self._end
        self.drain()
        if self._end == before and not self._is_closed:
            select.select([self._link], [], [])
            self.drain()

    def _move(self) -> None:
        """The begun message to the beginning of the room, or of a larger one if it fills that."""
        rest = bytes(self._view[self._walked:self._end])
        if not self._has_space() and self._walked == 0:
            self._room = bytearray(2 * len(self._room))
            self._view = memoryview(self._room)
        self._view[:len(rest)] = rest
        self._walked, self._end = 0, len(rest)

    def drain(self) -> None:
        """Takes what has arrived, so that the server can go on."""
        limit = len(self._room) - len(PADDING)
        try:
            while self._end < limit and not self._is_closed:
                size = self._link.recv_into(self._view[self._end:limit])
                if size == 0:
                    self._is_closed = True
                self._end += size
        except BlockingIOError:
            pass

    def _walk(self) -> None:
        """Finds where messages begin. Runs for each row."""
        at, room, found = self._walked, self._room, self._heads.append
        length, last = _LENGTH.unpack_from, self._end - _HEAD_BYTES
        before = at
        while at <= last:
            found(at)
            before = at
            at += 1 + length(room, at + 1)[0]
        if at > self._end:
            self._heads.pop()
            at = before
        self._walked = at

    def _decode(self, decoder: Decoder, heads: Places) -> None:
        lengths = gather(self._room, ">u4", heads + 1)
        ends = heads + 1 + lengths
        heads += _HEAD_BYTES
        for first in range(0, len(heads), BATCH_ROWS):
            rows = slice(first, first + BATCH_ROWS)
            decoder.take(self._room, heads[rows], ends[rows], meanwhile=self.drain)

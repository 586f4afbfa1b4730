"""Files that are complete or not there."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from .tables import Table

__all__ = ["Format", "alone", "complete"]

_TEMPORARY = ".part"


class Format(Protocol):
    """How rows stand in a file, and beside them what the file was made of."""

    suffix: str
    # A file of another version is written again.
    version: int

    def write(self, path: Path, table: Table, made_of: dict[str, Any]) -> None: ...

    def made_of(self, path: Path) -> dict[str, Any]:
        """Raises CandledError where the file is not one that `write` made."""


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One export at a time in a folder; what a killed one left is removed."""
    with open(folder / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for left in folder.glob(f".*{_TEMPORARY}"):
            left.unlink()
        yield


@contextmanager
def complete(path: Path) -> Iterator[BinaryIO]:
    """A file that is written beside its place, made durable and, after the block, renamed."""
    temporary = path.with_name(f".{path.name}{_TEMPORARY}")
    with open(temporary, "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

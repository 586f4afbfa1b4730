"""Candles of a candled database as columns (see `open`), and prices and candles of a candled
gateway followed as they change (see `connect`)."""

from typing import TYPE_CHECKING, Any

from . import errors, messages
from .errors import *  # noqa: F403
from .messages import *  # noqa: F403

if TYPE_CHECKING:
    from .database import Database
    from .database import open_database as open
    from .parquet_files import load
    from .stream import Stream, connect
    from .tables import Table

# Imported when they are first used: who follows a gateway needs no numpy, who analyses no
# websockets.
_PLACES = {
    "Database": ("database", "Database"),
    "Stream": ("stream", "Stream"),
    "Table": ("tables", "Table"),
    "connect": ("stream", "connect"),
    "load": ("parquet_files", "load"),
    "open": ("database", "open_database"),
}

__all__ = [*errors.__all__, *messages.__all__, "Database", "Stream", "Table", "connect", "load"]
__all__ += ["open"]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    module, found = _PLACES[name]
    return getattr(importlib.import_module(f"{__name__}.{module}"), found)

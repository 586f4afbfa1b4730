"""Prices and candles of a candled gateway, followed as they change. See `connect`."""

from . import errors, messages
from .errors import *  # noqa: F403
from .messages import *  # noqa: F403
from .stream import Stream, connect

__all__ = [*errors.__all__, *messages.__all__, "Stream", "connect"]

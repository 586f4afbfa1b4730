"""What can go wrong. A connection that is lost later is no error: the stream reconnects."""

__all__ = ["AccessRefused", "BadArgument", "CandledError", "ConnectionFailed", "MissingPackage"]
__all__ += ["ProtocolError", "QueryFailed", "RequestRefused"]


class CandledError(Exception):
    """The base of all errors of this package."""


class ConnectionFailed(CandledError):
    """The gateway could not be reached when the stream was opened, or the database, or its
    connection was lost during a query."""


class BadArgument(CandledError, ValueError):
    """An argument that the database does not accept, with what it expects: of a symbol that it does
    not know, the nearest ones."""


class QueryFailed(CandledError):
    """The database refused a query."""


class MissingPackage(CandledError, ImportError):
    """What was asked for needs a Python package that is not installed; the text says which extra of
    candled brings it."""


class AccessRefused(CandledError):
    """The gateway does not accept the token, or it has too many streams open. Trying again does
    not help."""


class RequestRefused(CandledError):
    """A subscription that the gateway does not accept. The stream goes on without it.

    `code` is for programs and never changes; `title` is for people.
    """

    def __init__(self, code: str, title: str) -> None:
        super().__init__(f"{title} ({code})")
        self.code = code
        self.title = title


class ProtocolError(CandledError):
    """A message that this version does not understand."""

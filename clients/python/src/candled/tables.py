"""The answer to a question: columns, and the ways out of them."""

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .columns import Column
from .errors import BadArgument, MissingPackage

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["Table"]

_INDEX = "opened_at"
# Few words in many rows.
_CATEGORIES = {"symbol", "source"}


class Table:
    """Rows of the database as columns of numpy.

    `table["close"]` is an array: float64, or `Decimal` where the question was `exact`; times are
    datetime64 in UTC, dates datetime64, texts strings. `len(table)` counts the rows.
    """

    def __init__(self, columns: dict[str, Column], *, zone: str) -> None:
        self._columns = columns
        self.zone = zone

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._columns)

    def __len__(self) -> int:
        return next((len(column.values) for column in self._columns.values()), 0)

    def __repr__(self) -> str:
        return f"<candled.Table: {len(self):,} rows of {', '.join(self._columns)}>"

    def __getitem__(self, name: str) -> NDArray[Any]:
        column = self._column(name)
        if column.kind == "decimal":
            return column.exact()
        if column.kind == "text":
            words = np.array([*column.words, None], dtype=object)
            found: NDArray[Any] = words[_with_nulls(column, len(column.words))]
            return found
        if column.kind == "integer" and column.valid is not None:
            return np.where(column.valid, column.values, np.nan)
        return column.values

    def _column(self, name: str) -> Column:
        try:
            return self._columns[name]
        except KeyError:
            raise BadArgument(
                f"column: expected one of {', '.join(self._columns)}, found {name!r}") from None

    def to_pandas(self) -> "pandas.DataFrame":
        """A DataFrame. Candles are indexed by `opened_at` on the clock of the table's zone, and
        `symbol` is a category. It shares the table's memory."""
        module = _imported("pandas")
        series = {name: self._series(module, name) for name in self._columns}
        index = series.pop(_INDEX, None)
        if index is not None:
            index = module.DatetimeIndex(index, name=_INDEX)
        frame: pandas.DataFrame = module.DataFrame(series, index=index, copy=False)
        return frame

    def _series(self, pandas: Any, name: str) -> Any:
        column = self._columns[name]
        if name in _CATEGORIES:
            codes = _with_nulls(column, -1)
            return pandas.Categorical.from_codes(codes, categories=list(column.words))
        if column.kind == "time":
            return pandas.DatetimeIndex(column.values, tz="UTC", copy=False).tz_convert(self.zone)
        return self[name]

    def to_arrow(self) -> "pyarrow.Table":
        """A table of Arrow. Exact numbers are decimal128; how many decimals the database has of
        each is in the metadata `candled.decimals` of the field."""
        _imported("pyarrow")
        from . import arrow

        return arrow.table(self._columns, self.zone)

    def to_polars(self) -> "polars.DataFrame":
        """A DataFrame of polars."""
        module = _imported("polars")
        frame: polars.DataFrame = module.from_arrow(self.to_arrow())
        return frame

    def plot(self, column: str = "close", axes: Any = None) -> Any:
        """Draws a column over time, a line for each symbol, and returns matplotlib's axes."""
        values = self[column].astype(np.float64)
        times = self._column(_INDEX).values
        symbols = self["symbol"]
        if axes is None:
            _, axes = _imported("matplotlib.pyplot", "plot").subplots()
        for symbol in dict.fromkeys(symbols):
            rows = symbols == symbol
            axes.plot(times[rows], values[rows], label=symbol)
        axes.xaxis.axis_date(self.zone)
        axes.set_ylabel(column)
        axes.legend()
        return axes

    def sorted_by(self, *names: str) -> "Table":
        """The same rows in the order of these columns; texts in the order of their letters."""
        keys = []
        for name in reversed(names):
            column = self._column(name)
            key = column.values
            if column.kind == "text":
                ranks = np.argsort(np.argsort(np.array(column.words, dtype=str)))
                key = ranks[key] if len(ranks) else key
            keys.append(key)
        order = np.lexsort(keys)
        if (order[1:] > order[:-1]).all():
            return self
        columns = {}
        for name in list(self._columns):
            columns[name] = self._columns.pop(name).taken(order)
        self._columns = columns
        return self


def _with_nulls(column: Column, null: int) -> NDArray[Any]:
    return column.values if column.valid is None else np.where(column.valid, column.values, null)


def _imported(module: str, extra: str | None = None) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise MissingPackage(
            f"this needs {package}: pip install 'candled[{extra or package}]'") from error

/// A ready-made bar as `candled decode` prints it, whatever its source.

import Market

extension Candle {
  /// One object, alone on its line.
  /// - Parameter moment: writes a moment as the source's own clock shows it.
  func json(at moment: (Timestamp) -> String) -> String {
    var line = JSONLine()
    line.add("symbol", value: symbol.description)
    line.add("timeframe", value: timeframe.name)
    line.add("opened_at", value: moment(openedAt))
    line.add("closed_at", value: moment(closedAt))
    line.add("open", value: open)
    line.add("high", value: high)
    line.add("low", value: low)
    line.add("close", value: close)
    line.add("volume", value: volume)
    line.add("turnover", value: turnover?.description)
    line.add("trades", count: trades)
    line.add("vwap", value: vwap?.description)
    return line.finished
  }
}

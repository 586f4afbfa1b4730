/// A ready-made bar as `candled decode` prints it, whatever its source.

import Market

extension Candle {
  /// One object, alone on its line.
  /// - Parameter moment: writes a moment as the source's own clock shows it.
  func json(at moment: (Timestamp) -> String) -> String {
    var line = JSONLine()
    line.add("symbol", symbol.description)
    line.add("timeframe", timeframe.name)
    line.add("opened_at", moment(openedAt))
    line.add("closed_at", moment(closedAt))
    line.add("open", open)
    line.add("high", high)
    line.add("low", low)
    line.add("close", close)
    line.add("volume", volume)
    line.add("turnover", turnover?.description)
    line.add("trades", count: trades)
    line.add("vwap", vwap?.description)
    return line.finished
  }
}

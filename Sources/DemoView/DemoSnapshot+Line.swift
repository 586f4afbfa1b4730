/// The view where there is no terminal to draw on: a log, a pipe, CI.

import Market
import TerminalView

extension DemoSnapshot {
  /// One plain line, without a line feed; meant to be printed once a simulated minute.
  package func line() -> String {
    var parts = [
      "\(at.shanghaiDay) \(ClockText.minute(at.shanghaiSecondOfDay))",
      phase.rawValue,
      "sweeps \(polling.sweeps) (\(Figures.rate(polling.sweepsPerMinute)))",
      "missed \(polling.requestsFailed)",
      "lag " + (storing.lagMicroseconds.map(Figures.milliseconds(ofMicroseconds:)) ?? "-"),
      "candles \(results.candles)",
      "gaps \(results.gaps)",
      "rejected \(results.rejected)",
      "seq \(storing.sequence)",
    ]
    if polling.source.health != .good { parts.append("source \(polling.source.word)") }
    if storing.store.health != .good { parts.append("store \(storing.store.word)") }
    if let quote = quotes.first {
      parts.append("\(quote.symbol) \(quote.lastText) \(quote.changeText)")
    }
    if let conservation {
      parts.append("balanced \(conservation.balanced)/\(conservation.certificates)")
    }
    return parts.joined(separator: "  ").withoutControls
  }
}

/// The view where there is no terminal to draw on: a log, a pipe, CI.

import Market

extension DemoSnapshot {
  /// One plain line, without a line feed; meant to be printed once a simulated minute.
  package func line() -> String {
    var parts = [
      "\(at.shanghaiDay) \(Figures.minute(at.shanghaiSecondOfDay))",
      phase.rawValue,
      "sweeps \(sweeps) (\(Figures.rate(sweepsPerMinute)))",
      "missed \(requestsFailed)",
      "lag " + (lagMicroseconds.map(Figures.milliseconds(ofMicroseconds:)) ?? "-"),
      "candles \(candles)",
      "gaps \(gaps)",
      "rejected \(rejected)",
      "seq \(sequence)",
    ]
    if source.health != .good { parts.append("source \(source.word)") }
    if store.health != .good { parts.append("store \(store.word)") }
    if let quote = quotes.first {
      parts.append("\(quote.symbol) \(quote.lastText) \(quote.changeText)")
    }
    if let conservation {
      parts.append("balanced \(conservation.balanced)/\(conservation.certificates)")
    }
    return parts.joined(separator: "  ").withoutControls
  }
}

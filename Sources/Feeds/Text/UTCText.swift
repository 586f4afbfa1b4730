/// Moments as RFC 3339 writes them, `2026-09-03T13:30:00Z`: what Alpaca sends and is asked with.

import Market

extension Timestamp {
  /// The moment in UTC, with as many fraction digits as needed.
  var utcText: String {
    // Shanghai's clock eight hours earlier shows what UTC's shows now.
    String(adding(seconds: -Shanghai.offsetSeconds).description.dropLast(6)) + "Z"
  }
}

/// Moments as RFC 3339 writes them, `2026-09-03T13:30:00Z`: what Alpaca sends and is asked with.

import Market

extension Timestamp {
  /// The moment in UTC, with as many fraction digits as needed.
  var utcText: String {
    // Shanghai's clock showed eight hours ago what UTC's shows now.
    let ahead = Int64(LocalClock.mainlandChina.offsetSeconds)
    return String(adding(seconds: -ahead).description.dropLast(6)) + "Z"
  }
}

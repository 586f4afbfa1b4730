/// Alpaca's words for timeframes, and how long its bars are (docs/sources/alpaca.md#parameters).

import Market

extension Timeframe {
  /// The timeframe as Alpaca spells it; nil where it makes no such bars.
  var alpacaName: String? {
    switch self {
    case .minute1: "1Min"
    case .minute5: "5Min"
    case .minute15: "15Min"
    case .minute30: "30Min"
    case .hour1: "1Hour"
    case .afterHours: nil
    case .day1: "1Day"
    case .week1: "1Week"
    case .month1: "1Month"
    }
  }

  /// The length of a bar that has one, in seconds; nil for days and longer, which end at a New York
  /// midnight.
  var alpacaBarSeconds: Int64? {
    switch self {
    case .minute1, .minute5, .minute15, .minute30, .hour1: Int64(rawValue) * 60
    case .afterHours, .day1, .week1, .month1: nil
    }
  }
}

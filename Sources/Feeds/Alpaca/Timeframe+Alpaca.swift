/// Alpaca's words for timeframes (docs/sources/alpaca.md#parameters).

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
}

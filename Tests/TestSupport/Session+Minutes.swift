import Market

/// The mainland's trading minutes, as tests name them.
extension Session {
  package static func minute(of secondOfDay: Int) -> Int {
    TradingHours.mainlandChina.minute(of: secondOfDay)
  }

  package static func opening(ofMinute minute: Int) -> Int {
    TradingHours.mainlandChina.opening(ofMinute: minute)
  }

  package static func closing(ofMinute minute: Int) -> Int { opening(ofMinute: minute) + 60 }

  package static func tradingSeconds(before secondOfDay: Int) -> Int {
    TradingHours.mainlandChina.tradingSeconds(before: secondOfDay)
  }
}

/// The A-share trading day on a Shanghai wall clock, and the minutes it is cut into.
///
/// Minutes are numbered 0…239: 0 is 09:30–09:31, 119 is 11:29–11:30, 120 is 13:00–13:01 and 239 is
/// 14:59–15:00. The auction before the open belongs to minute 0, prints that straggle in after a
/// close belong to the last minute of their half (docs/candle-rules.md, rule 3).
public enum Session {
  public static let dayReset = 9 * 3600
  public static let auctionOpen = 9 * 3600 + 15 * 60
  public static let auctionMatch = 9 * 3600 + 25 * 60
  public static let morningOpen = 9 * 3600 + 30 * 60
  public static let morningClose = 11 * 3600 + 30 * 60
  public static let afternoonOpen = 13 * 3600
  public static let closingAuction = 14 * 3600 + 57 * 60
  public static let afternoonClose = 15 * 3600
  public static let afterHoursOpen = 15 * 3600 + 5 * 60
  public static let afterHoursClose = 15 * 3600 + 30 * 60

  public static let minutesPerDay = 240
  /// Seconds of continuous trading and closing auction in a day.
  public static let secondsPerDay = 14_400
}

import Feeds
import Market

/// New York in the ten years: one share with thirty bars a session, as Alpaca gives them, and a
/// calendar that ends with 2029 until it is made longer.
struct DecadeAmerica: Sendable {
  static let symbol = DecadeMarket.symbol("AAPL")
  /// Sessions that were declared and did not take place, and how many days ahead that was known.
  static let withdrawn = [TradingDay.of(2018, 12, 5): 4, .of(2025, 1, 9): 10]
  static let halfDays: Set = [TradingDay.of(2021, 11, 26), .of(2024, 7, 3)]
  static let halts: Set = [
    TradingDay.of(2020, 3, 9), .of(2020, 3, 12), .of(2020, 3, 16), .of(2020, 3, 18),
  ]
  static let tableEnds = TradingDay.of(2029, 12, 31)

  private static let opens = 9 * 3600 + 1800
  private static let barSeconds = 13 * 60
  /// Fifteen minutes, soon after the open, as on the days of March 2020.
  private static let halt = opens + 300..<opens + 1_200

  func trades(_ day: TradingDay) -> Bool {
    let (_, month, date) = day.civil
    let isHoliday =
      [(1, 1), (7, 4), (12, 25)].contains { $0 == (month, date) }
      || month == 11 && day.weekday == 4 && (22...28).contains(date)
    return !day.isWeekend && !isHoliday && Self.withdrawn[day] == nil
  }

  private func isDeclared(_ day: TradingDay, on today: TradingDay) -> Bool {
    if let ahead = Self.withdrawn[day] { return today.distance(to: day) > ahead }
    return trades(day) && (day <= Self.tableEnds || today > Self.tableEnds.advanced(by: 3))
  }

  func closes(_ day: TradingDay) -> Int { Self.halfDays.contains(day) ? 13 * 3600 : 16 * 3600 }

  func calendar(from: TradingDay, to: TradingDay, on today: TradingDay) -> String {
    guard from <= to else { return "[]" }
    let rows = (from...to).filter { isDeclared($0, on: today) }.map { day in
      "{\"date\":\"\(day)\",\"open\":\"09:30\",\"close\":\"\(ClockText.minute(closes(day)))\"}"
    }
    return "[" + rows.joined(separator: ",") + "]"
  }

  /// When the bars of a day begin, in seconds of New York's day.
  func starts(on day: TradingDay) -> [Int] {
    guard trades(day) else { return [] }
    return stride(from: Self.opens, to: closes(day), by: Self.barSeconds).filter {
      !Self.halts.contains(day) || !Self.halt.contains($0)
    }
  }

  func bars(_ query: BarsQuery, at now: Timestamp) -> String {
    var rows: [String] = []
    if query.symbols.contains(Self.symbol), query.timeframe == .minute1 {
      for day in query.start.newYorkDay...max(query.end.newYorkDay, query.start.newYorkDay) {
        for second in starts(on: day) {
          let start = Timestamp(day: day, newYorkSecondOfDay: second)
          guard query.start <= start, start < query.end, start.adding(seconds: 60) <= now else {
            continue
          }
          rows.append(row(start, second))
        }
      }
    }
    return "{\"bars\":{\"\(Self.symbol)\":[\(rows.joined(separator: ","))]},"
      + "\"next_page_token\":null}"
  }

  private func row(_ start: Timestamp, _ second: Int) -> String {
    let day = TradingDay(daysSince1970: Int32(start.seconds / 86_400))
    let clock = ClockText.second(Int(start.seconds % 86_400))
    // Half-pennies are prices, too.
    let price = DecadeMarket.decimal(100_000 + Int64(second / 60) * 5, places: 3)
    return "{\"t\":\"\(day)T\(clock)Z\",\"o\":\(price),\"h\":\(price),\"l\":\(price),"
      + "\"c\":\(price),\"v\":100,\"n\":1,\"vw\":\(price)}"
  }
}

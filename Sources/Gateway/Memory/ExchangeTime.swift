/// Moments as an exchange's clock shows them: RFC 3339 with its offset.

import Market
import Platform

extension MarketZone {
  /// The date and the second of the day there.
  func wallClock(at moment: Timestamp) -> (day: TradingDay, second: Int) {
    switch self {
    case .shanghai: (moment.shanghaiDay, moment.shanghaiSecondOfDay)
    case .newYork: (moment.newYorkDay, moment.newYorkSecondOfDay)
    case .utc:
      (day(at: moment), Int(moment.seconds - Int64(day(at: moment).daysSince1970) * 86_400))
    }
  }

  /// `2026-07-06T09:31:00+08:00`, with as many places of a second as needed.
  package func text(of moment: Timestamp) -> String {
    let (day, second) = wallClock(at: moment)
    let local = Int64(day.daysSince1970) * 86_400 + Int64(second)
    let offsetMinutes = (local - moment.seconds) / 60
    let clock = [second / 3600, second / 60 % 60, second % 60].map(twoDigits)
    let microseconds = moment.microseconds - moment.seconds * 1_000_000
    var fraction = microseconds == 0 ? "" : "." + String(microseconds + 1_000_000).dropFirst()
    while fraction.last == "0" { fraction.removeLast() }
    let sign = offsetMinutes < 0 ? "-" : "+"
    let offset = [offsetMinutes.magnitude / 60, offsetMinutes.magnitude % 60].map {
      twoDigits(Int($0))
    }
    return "\(day)T\(clock.joined(separator: ":"))\(fraction)\(sign)\(offset[0]):\(offset[1])"
  }
}

private func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }

extension Timestamp {
  /// By this machine's clock.
  static var now: Timestamp { Timestamp(microseconds: SystemClock.realMicroseconds()) }

  /// Reads RFC 3339 with an offset, or a date alone, which begins in `zone`; nil for anything else.
  init?(rfc3339 text: String, zone: MarketZone) {
    guard text.utf8.count <= 40 else { return nil }
    if let day = TradingDay(text) {
      self = zone.moment(on: day, secondOfDay: 0)
      return
    }
    // A plus sign that was not encoded in a query arrives as a space.
    let pattern =
      #/(\d{4}-\d\d-\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6})\d*)?(Z|z|[+\- ]\d\d:\d\d)/#
    guard let found = try? pattern.wholeMatch(in: text)?.output, let day = TradingDay(found.1),
      let hour = Int64(found.2), let minute = Int64(found.3), let second = Int64(found.4),
      hour < 24, minute < 60, second < 60
    else { return nil }
    var offset: Int64 = 0
    if found.6.count == 6 {
      let parts = found.6.dropFirst().split(separator: ":").compactMap { Int64($0) }
      guard parts.count == 2, parts[0] < 24, parts[1] < 60 else { return nil }
      offset = (parts[0] * 3600 + parts[1] * 60) * (found.6.first == "-" ? -1 : 1)
    }
    let digits = (found.5.map(String.init) ?? "") + "000000"
    let seconds = Int64(day.daysSince1970) * 86_400 + hour * 3600 + minute * 60 + second - offset
    self.init(microseconds: seconds * 1_000_000 + (Int64(digits.prefix(6)) ?? 0))
  }
}

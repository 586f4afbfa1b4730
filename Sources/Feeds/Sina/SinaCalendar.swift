/// Sina's trading calendar, `klc_td_sh.txt`: a line of script that holds packed bits.
///
///     var datelist="LC/AAA…";var KLC_TD_SH=datelist;
///
/// The bits are form 139 of the packer in Sina's pages (function `k` of `hk_js_decode` in akshare's
/// `stock/cons.py`, akfamily/akshare@5935a84): twelve bits 139, six bits of version, the first and
/// the last day as days since 1990-12-19, and then runs of trading weekdays, each but the first
/// behind one weekday without trading. A run is a bit that shows whether the width of its
/// length changes, that change, and the length in three bits a width.
///
/// The days are given as they are sent: 1992-05-04 is missing there (`TradingCalendar` says why
/// that is wrong), and nothing is added. What is packed carries no checksum, so a file that strays
/// from the days already known is refused whole.

import Market

enum SinaCalendar {
  static let endpoint = Endpoint(
    route: "/realstock/company/klc_td_sh.txt", path: "/realstock/company/klc_td_sh.txt",
    headers: SinaHistory.headers)

  /// Weekdays on which the file and the table may differ. A day is closed or opened by notice now
  /// and then; one flipped bit moves every closure behind it.
  static let disagreementsMax = 10

  /// The trading days the file names, ascending.
  static func decode(
    _ body: UnsafeRawBufferPointer, status: Int
  ) throws(FeedRefusal) -> [TradingDay] {
    if let refusal = SinaRefusal.classify(body, status: status) { throw refusal }
    let days = try unpack(packed(in: body.trimmed))
    let count = disagreements(of: days, with: .shanghai)
    guard count <= disagreementsMax else {
      throw FeedRefusal(.implausible, "\(count) days differ from the known calendar")
    }
    return days
  }

  /// What stands between the first two quotes.
  private static func packed(
    in text: UnsafeRawBufferPointer
  ) throws(FeedRefusal) -> UnsafeRawBufferPointer {
    guard text.starts(with: declaration), let opening = text.offset(of: quote),
      let closing = text.offset(of: quote, from: opening + 1)
    else { throw FeedRefusal(.malformed, "`var …=\"…\"` expected") }
    return text.slice(opening + 1, to: closing)
  }

  private static func unpack(
    _ text: UnsafeRawBufferPointer
  ) throws(FeedRefusal) -> [TradingDay] {
    var bits = SinaSextets(text)
    guard try bits.number(bits: 12) == form, try bits.number(bits: 6) ^ 63 <= versionMax else {
      throw FeedRefusal(.malformed, "the packed bits are not a calendar")
    }
    let first = TradingDay(daysSince1970: epoch).advanced(by: try bits.number(bits: 18))
    let last = TradingDay(daysSince1970: epoch).advanced(by: try bits.number(bits: 18))
    guard first <= last else {
      throw FeedRefusal(.malformed, "the calendar ends before it begins")
    }
    let days = try runs(of: &bits, from: first, through: last)
    guard bits.bitsLeft < SinaSextets.bitsPerCharacter else {
      throw FeedRefusal(.malformed, "\(bits.bitsLeft) bits follow the last day")
    }
    return days
  }

  private static func runs(
    of bits: inout SinaSextets, from first: TradingDay, through last: TradingDay
  ) throws(FeedRefusal) -> [TradingDay] {
    var days: [TradingDay] = []
    var width = 0
    var left = try runLength(&bits, width: &width)
    guard left > 0 else { throw FeedRefusal(.malformed, "the first day is not a trading day") }
    for day in first...last where !day.isWeekend {
      if left > 0 {
        days.append(day)
        left -= 1
      } else {
        left = try runLength(&bits, width: &width)
      }
    }
    return days
  }

  private static func runLength(
    _ bits: inout SinaSextets, width: inout Int
  ) throws(FeedRefusal) -> Int {
    if try bits.bit() { width += try bits.change() }
    guard (0...widthMax).contains(width) else {
      throw FeedRefusal(.malformed, "a run has an impossible width")
    }
    return try bits.number(bits: bitsPerWidth * width)
  }

  private static func disagreements(
    of days: [TradingDay], with calendar: TradingCalendar
  ) -> Int {
    guard let first = days.first, let last = days.last else { return .max }
    let known = Set(days)
    let span = min(first, calendar.firstDay)...min(max(last, calendar.firstDay), calendar.lastDay)
    return span.count { day in
      calendar.isTradingDay(day).map { $0 != known.contains(day) } ?? known.contains(day)
    }
  }

  private static let declaration = Array("var ".utf8)
  private static let quote = UInt8(ascii: "\"")
  /// 1990-12-19, the first day of the exchange.
  private static let epoch: Int32 = 7657
  private static let form = 139
  private static let versionMax = 1
  private static let bitsPerWidth = 3
  /// Sina's script reads up to 30 bits at once.
  private static let widthMax = 10
}

import Market
import Testing

@testable import Feeds

/// A change of a service, and the check that must find it.
struct BrokenCheck: Sendable, CustomTestStringConvertible {
  let change: String
  let source: String
  let finding: String
  var moment = CheckedWorld.Moment.session
  let rewrite: @Sendable (inout CheckedWorld.Response) -> Void

  var testDescription: String { change }

  static let all = quoteChanges + otherQuoteChanges + barChanges + recordChanges + keyChanges

  // MARK: - Live quotes

  private static let quoteChanges = [
    quotes("a field is added", finding: "quotes.fields") { $0.append("1") },
    quotes("the last field is removed", finding: "quotes.fields") { $0.removeLast() },
    quotes("a field is added behind the open", finding: "quotes.rows") {
      $0.insert("1", at: 2)
    },
    quotes("volumes are 100 times as large", finding: "quotes.units") { $0[8] += "00" },
    quotes("turnover is in ten thousands", finding: "quotes.units") {
      $0[9] = $0[9].split(separator: ".").first.map { $0.dropLast(4) + ".0000" } ?? "0"
    },
    quotes("stamps are an hour ahead", finding: "quotes.clock") {
      $0[31] = "11" + $0[31].dropFirst(2)
    },
    quotes("stamps are an hour behind", finding: "quotes.clock") {
      $0[31] = "09" + $0[31].dropFirst(2)
    },
    quotes("dates are those of the day before", finding: "quotes.date") { $0[30] = "2026-07-09" },
    quotes("the evening has the day before", finding: "quotes.date", at: .evening) {
      $0[30] = "2026-07-09"
    },
    BrokenCheck(change: "half of the batch is missing", source: "sina", finding: "quotes.batch") {
      if case .quotes = $0.query { $0.text = $0.lines.prefix($0.lines.count / 2).joined() }
    },
    BrokenCheck(
      change: "unknown symbols have no line", source: "sina", finding: "quotes.unknown"
    ) {
      if case .quotes = $0.query {
        $0.text = $0.lines.filter { !$0.hasSuffix("=\"\";\n") }.joined()
      }
    },
    BrokenCheck(
      change: "unknown symbols have an index's fields", source: "sina", finding: "quotes.unknown"
    ) {
      guard case .quotes = $0.query, let line = $0.lines.first else { return }
      $0.text += line.replacing("sh000001", with: "sh999999")
    },
    BrokenCheck(change: "stamps stand still", source: "sina", finding: "quotes.step") {
      guard case .quotes(let query) = $0.query, query.symbols.count == 1 else { return }
      $0.rewriteFields { $0[31] = "10:37:10" }
    },
    BrokenCheck(change: "the address is banned", source: "sina", finding: "quotes.rows") {
      ($0.status, $0.text) = (456, "<html>Client Error</html>")
    },
    BrokenCheck(change: "the Referer is refused", source: "sina", finding: "quotes.rows") {
      if case .quotes = $0.query { ($0.status, $0.text) = (403, "Kinsoku jikou desu!") }
    },
    BrokenCheck(change: "separators are others", source: "sina", finding: "quotes.rows") {
      if case .quotes = $0.query { $0.text = $0.text.replacing(",", with: "~") }
    },
  ]

  /// Of the second live source.
  private static let otherQuoteChanges = [
    others("the second source adds a field", finding: "quotes.fields") { $0 += ["1", "1"] },
    others("its prices are words", finding: "quotes.rows") { $0[3] = "high" },
    others("its volumes are 100 times as large", finding: "quotes.units") { $0[6] += "00" },
    others("its stamps are an hour ahead", finding: "quotes.clock") {
      $0[30] = $0[30].prefix(8) + "11" + $0[30].dropFirst(10)
    },
    BrokenCheck(
      change: "its dates are those of the day before", source: "tencent", finding: "quotes.date"
    ) {
      if case .quotes = $0.query { $0.text = $0.text.replacing("~20260710", with: "~20260709") }
    },
    BrokenCheck(
      change: "half of its batch is missing", source: "tencent", finding: "quotes.batch"
    ) {
      if case .quotes = $0.query { $0.text = $0.lines.prefix($0.lines.count / 2).joined() }
    },
    BrokenCheck(
      change: "its unknown symbols have a line", source: "tencent", finding: "quotes.unknown"
    ) {
      guard case .quotes = $0.query, let line = $0.lines.first(where: { $0.contains("sh60") })
      else { return }
      let symbol = line.dropFirst(2).prefix(8)
      $0.text += line.replacing(symbol, with: "sh605999")
        .replacing("~\(symbol.dropFirst(2))~", with: "~605999~")
    },
    BrokenCheck(change: "its stamps stand still", source: "tencent", finding: "quotes.step") {
      guard case .quotes(let query) = $0.query, query.symbols.count == 1 else { return }
      $0.rewriteFields(separatedBy: "~") { $0[30] = $0[30].prefix(8) + "103710" }
    },
  ]

  private static func others(
    _ change: String, finding: String, _ edit: @escaping @Sendable (inout [String]) -> Void
  ) -> BrokenCheck {
    BrokenCheck(change: change, source: "tencent", finding: finding) {
      if case .quotes = $0.query { $0.rewriteFields(separatedBy: "~", edit) }
    }
  }

  private static func quotes(
    _ change: String, finding: String, at moment: CheckedWorld.Moment = .session,
    _ edit: @escaping @Sendable (inout [String]) -> Void
  ) -> BrokenCheck {
    BrokenCheck(change: change, source: "sina", finding: finding, moment: moment) {
      if case .quotes = $0.query { $0.rewriteFields(edit) }
    }
  }

  // MARK: - Bars

  private static let barChanges = [
    bars("bars are stamped with their beginning", finding: "bars.ends", of: .minute15) {
      $0.replacing(#/ (\d\d):(\d\d):00"/#) { stamp in
        let minutes = (Int(stamp.1) ?? 0) * 60 + (Int(stamp.2) ?? 0) - 15
        return " \(minutes / 600)\(minutes / 60 % 10):\(minutes % 60 / 10)\(minutes % 10):00\""
      }
    },
    bars("the newest bars are missing", finding: "bars.ends", of: .minute15, at: .evening) {
      $0.replacing("2026-07-10", with: "2026-07-09")
    },
    bars("days lag by one", finding: "bars.ends", of: .day1, at: .saturday) {
      $0.replacing("2026-07-10", with: "2026-07-01")
    },
    bars("bars have volumes in lots", finding: "bars.units", of: .minute1) {
      $0.replacing(#/"volume":"(\d+)\d\d"/#) { "\"volume\":\"\($0.1)\"" }
    },
    bars("bars have no numbers", finding: "bars.rows", of: .minute1) {
      $0.replacing(#/"close":"[^"]*"/#, with: "\"close\":\"NaN\"")
    },
    bars("bars are null", finding: "bars.rows", of: .day1) { _ in "=(null);" },
    BrokenCheck(change: "an average price is in cents", source: "alpaca", finding: "bars.units") {
      guard case .bars = $0.query else { return }
      $0.text = $0.text.replacing(#/"vw":([0-9.]+)/#) { "\"vw\":9\($0.1)" }
    },
    BrokenCheck(change: "bars are of another month", source: "alpaca", finding: "bars.window") {
      if case .bars = $0.query {
        $0.text = $0.text.replacing("\"t\":\"2026-07", with: "\"t\":\"2026-05")
      }
    },
    BrokenCheck(change: "a page is HTML", source: "alpaca", finding: "bars.rows") {
      if case .bars = $0.query { $0.text = "<html></html>" }
    },
  ]

  private static func bars(
    _ change: String, finding: String, of timeframe: Timeframe,
    at moment: CheckedWorld.Moment = .session, _ edit: @escaping @Sendable (String) -> String
  ) -> BrokenCheck {
    BrokenCheck(change: change, source: "sina", finding: finding, moment: moment) {
      guard case .newestBars(_, timeframe, _) = $0.query else { return }
      $0.text = edit($0.text)
    }
  }

  // MARK: - Factors, lists, calendars

  private static let recordChanges = [
    BrokenCheck(change: "a factor is negative", source: "sina", finding: "factors") {
      if case .factors = $0.query { $0.text = $0.text.replacing("\"f\":\"", with: "\"f\":\"-") }
    },
    BrokenCheck(change: "the newest factor is not 1", source: "sina", finding: "factors") {
      guard case .factors(_, .qfq) = $0.query else { return }
      $0.text = $0.text.replacing("\"f\":\"1.0", with: "\"f\":\"2.0")
    },
    BrokenCheck(change: "factors are gone", source: "sina", finding: "factors") {
      if case .factors = $0.query { ($0.status, $0.text) = (404, "Not Found") }
    },
    BrokenCheck(change: "the calendar has ended", source: "sina", finding: "calendar") {
      guard $0.query == .tradingDays else { return }
      $0.text = CalendarFile.file(CalendarFile.days.filter { $0.civil.year < 2026 })
    },
    BrokenCheck(change: "a day is missing", source: "sina", finding: "calendar") {
      guard $0.query == .tradingDays else { return }
      $0.text = CalendarFile.file(CalendarFile.days.filter { $0.description != "2026-07-08" })
    },
    BrokenCheck(change: "a list is short", source: "sina", finding: "node/hs_a") {
      if case .listCount = $0.query { $0.text = "\"1200\"" }
    },
    BrokenCheck(change: "a page has half its rows", source: "sina", finding: "node/hs_bjs") {
      guard case .listPage = $0.query else { return }
      $0.text = $0.text.split(separator: "},").prefix(40).joined(separator: "},") + "}]"
    },
    BrokenCheck(change: "a page is throttled", source: "sina", finding: "node/hs_a") {
      if case .listPage = $0.query { $0.text = "null" }
    },
    BrokenCheck(change: "a list is cut", source: "mairui", finding: "list.hslt") {
      $0.text = $0.text.split(separator: "},").prefix(1000).joined(separator: "},") + "}]"
    },
    BrokenCheck(change: "the list of one exchange is cut", source: "mairui", finding: "list.bj") {
      guard case .list(let part) = $0.query, part.name == "bj" else { return }
      $0.text = $0.text.split(separator: "},").prefix(100).joined(separator: "},") + "}]"
    },
    BrokenCheck(change: "known members are missing", source: "mairui", finding: "list.hslt") {
      $0.text = $0.text.replacing("\"dm\":\"60", with: "\"dm\":\"69")
    },
    BrokenCheck(change: "a calendar is empty", source: "alpaca", finding: "calendar") {
      if case .sessions = $0.query { $0.text = "[]" }
    },
    BrokenCheck(change: "a session is on a weekend", source: "alpaca", finding: "calendar") {
      guard case .sessions = $0.query else { return }
      $0.text = $0.text.replacing("\"date\":\"2026-07-10\"", with: "\"date\":\"2026-07-11\"")
    },
  ]

  // MARK: - Keys

  private static let keyChanges = [
    BrokenCheck(change: "a licence is refused", source: "mairui", finding: "credentials") {
      $0.text = "{\"code\":102}"
    },
    BrokenCheck(change: "a quota is used up", source: "mairui", finding: "credentials") {
      $0.text = "101"
    },
    BrokenCheck(change: "a licence is the sample", source: "mairui", finding: "credentials") {
      $0.text = #"[{"dm":"000001.SZ","mc":"P","jys":"SZ"}]"#
    },
    BrokenCheck(change: "a key is refused", source: "alpaca", finding: "credentials") {
      ($0.status, $0.text) = (403, #"{"message":"forbidden."}"#)
    },
  ]
}

extension CheckedWorld.Response {
  /// With their line feeds.
  fileprivate var lines: [String] {
    text.split(separator: "\n").map { $0 + "\n" }
  }

  /// Of each line that has any.
  mutating func rewriteFields(
    separatedBy separator: String = ",", _ edit: (inout [String]) -> Void
  ) {
    text = lines.map { line in
      guard let start = line.firstRange(of: "=\""), let end = line.firstRange(of: "\";") else {
        return line
      }
      var fields = line[start.upperBound..<end.lowerBound]
        .split(separator: separator, omittingEmptySubsequences: false).map(String.init)
      if fields.count < 10 { return line }
      edit(&fields)
      let joined = fields.joined(separator: separator)
      return line[..<start.upperBound] + joined + line[end.lowerBound...]
    }.joined()
  }
}

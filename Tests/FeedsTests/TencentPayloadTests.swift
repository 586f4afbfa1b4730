import Market
import Testing

@testable import Feeds

/// The payloads collected of Tencent, where they are at hand: what their index says of each line is
/// what is decoded.
@Suite(.enabled(if: Files.exists(Files.tencent + "/INDEX.md"), "no collected payloads here"))
struct TencentPayloadTests {
  /// Of the index: a file and what it says of its lines.
  private static func rows() throws -> [(file: String, lines: String)] {
    let index = try #require(Files.read(Files.tencent + "/INDEX.md"))
    return String(decoding: index, as: UTF8.self).split(separator: "\n").compactMap { row in
      guard row.hasPrefix("| "), let name = row.split(separator: " ").dropFirst().first,
        name.contains(".")
      else { return nil }
      return (String(name), String(row))
    }
  }

  /// An opening quotation mark that a line lost in its source, put back.
  private func mended(_ body: [UInt8]) -> [UInt8] {
    var mended: [UInt8] = []
    for (place, byte) in body.enumerated() {
      mended.append(byte)
      let next = place + 1 < body.count ? body[place + 1] : 0
      if byte == UInt8(ascii: "="), (48...57).contains(next) { mended.append(UInt8(ascii: "\"")) }
    }
    return mended
  }

  @Test func `every line is what the index says`() throws {
    var lines = 0
    for (file, text) in try Self.rows() {
      let body = mended(try #require(Files.read("\(Files.tencent)/\(file)"), "\(file)"))
      let recorder = decodeTencent(body).recorder
      let wanted = try IndexedLine.all(in: text)
      #expect(recorder.quotes.count == wanted.count, "\(file)")
      for (quote, line) in zip(recorder.quotes, wanted) {
        #expect(IndexedLine(quote, like: line) == line, "\(file)")
      }
      if !wanted.isEmpty { #expect(recorder.records.count == wanted.count, "\(file)") }
      lines += wanted.count
    }
    #expect(lines >= 34)
  }

  @Test func `lines that were damaged in their source are refused as they are`() throws {
    for (file, quotes, refused) in [
      ("unlisted_U_sz002720_2018-06-01.DAMAGED-QUOTE.gb18030.txt", 0, 1),
      ("history_field_counts_2015_2024.gb18030.txt", 6, 1),
    ] {
      let body = try #require(Files.read("\(Files.tencent)/\(file)"))
      let records = decodeTencent(body).recorder.records
      #expect(records.count { $0.isQuote } == quotes && records.count == quotes + refused)
    }
  }

  @Test func `nothing known is no answer, and other kinds of lines are no quotes`() throws {
    let none = try #require(Files.read("\(Files.tencent)/unknown_none_match.txt"))
    #expect(decodeTencent(none).outcome == .notFound)
    for file in ["short_s_prefix_2026.gb18030.txt", "fundflow_ff_and_pk_old.gb18030.txt"] {
      let body = try #require(Files.read("\(Files.tencent)/\(file)"))
      let records = decodeTencent(body).recorder.records
      #expect(!records.isEmpty && !records.contains { $0.isQuote })
    }
  }

  @Test func `two sources at one moment differ by what is rounded and by nothing else`() throws {
    let name = "stock_sh600519_close_2026-09-11.PAIR-WITH-SINA.gb18030.txt"
    let body = try #require(Files.read("\(Files.tencent)/\(name)"))
    let other = try #require(
      Files.read(Files.payloads + "/ashare_sh600519_afterhours_series_2026-07..09.gb18030.txt"))
    let coarse = try #require(decodeTencent(body).recorder.quotes.first)
    let exact = try #require(
      decode(other).recorder.quotes.first { $0.tradingDay == coarse.tradingDay })
    #expect(
      [coarse.open, coarse.high, coarse.low, coarse.last, coarse.previousClose]
        == [exact.open, exact.high, exact.low, exact.last, exact.previousClose])
    #expect(coarse.turnover == exact.turnover && coarse.afterHours == exact.afterHours)
    let difference = try coarse.volume - exact.volume
    #expect(abs(difference.units) <= Int64(coarse.rounding.volume) && difference.scale == 0)
    #expect(exact.rounding == .exact)
  }
}

/// What the index says of a line, as text.
private struct IndexedLine: Equatable {
  var symbol: Substring
  var stamp: Substring
  var prices: [ExactDecimal]
  var volume: ExactDecimal
  var turnover: ExactDecimal
  var state: Substring
  var limits: StatedLimits
  var afterHours: AfterHours?
  var book: [ExactDecimal]

  static func all(in text: String) throws -> [IndexedLine] {
    let pattern =
      #/(?<symbol>(?:sh|sz|bj)\d{6}): n=\d+ t (?<stamp>\d+) price (?<last>\S+) prev (?<prev>\S+) /#
    let tail =
      #/open (?<open>\S+) high (?<high>\S+) low (?<low>\S+) vol (?<vol>\d+) (?<unit>\w+) amount /#
    return try text.matches(of: pattern).map { head in
      let rest = text[head.range.upperBound...]
      let middle = try #require(rest.prefixMatch(of: tail))
      let words = rest[middle.range.upperBound...].split(separator: "<").first ?? ""
      return try IndexedLine(
        symbol: head.symbol, stamp: head.stamp,
        prices: [middle.open, head.prev, head.last, middle.high, middle.low].map(decimal),
        lots: decimal(middle.vol), isLots: middle.unit == "lots",
        rest: words.split(separator: " "))
    }
  }

  private static func decimal(_ text: Substring) throws -> ExactDecimal {
    try ExactDecimal(String(text))
  }

  /// `4430841445 [state S] limits 1413.64/1156.62 [after-hours 191.2740 wan/15] bid1 1275.16x9 …`
  private init(
    symbol: Substring, stamp: Substring, prices: [ExactDecimal], lots: ExactDecimal, isLots: Bool,
    rest words: [Substring]
  ) throws {
    func word(behind key: Substring, plus offset: Int = 1) -> Substring? {
      words.firstIndex(of: key).map { words[$0 + offset] }
    }
    let unit = ExactDecimal(isLots ? 100 : 1)
    self.symbol = symbol
    self.stamp = stamp
    self.prices = prices
    volume = try lots * unit
    turnover = try Self.decimal(try #require(words.first))
    state = word(behind: "state") ?? ""
    let pair = try #require(word(behind: "limits")).split(separator: "/").map(Self.decimal)
    limits =
      pair.allSatisfy(\.isPositive) ? .band(PriceBand(lower: pair[1], upper: pair[0])) : .none
    if let money = word(behind: "after-hours"), let count = word(behind: "after-hours", plus: 2) {
      afterHours = AfterHours(
        volume: try Self.decimal(count.dropFirst("wan/".count)) * unit,
        turnover: try Self.decimal(money) * ExactDecimal(10_000))
    }
    book = try (["bid1", "ask1"] as [Substring]).flatMap { key in
      let level = try #require(word(behind: key)).split(separator: "x").map(Self.decimal)
      return [level[0], try level[1] * ExactDecimal(100)]
    }
    let hasTraded = !volume.isZero || !self.prices[0].isZero
    if !hasTraded { self.prices[2] = .zero }
  }

  /// - Parameter line: has what the quote does not show as it was sent.
  init(_ quote: Quote, like line: IndexedLine) {
    symbol = Substring(quote.symbol.description)
    stamp = Substring(quote.at.description.filter(\.isNumber).prefix(14))
    prices = [quote.open, quote.previousClose, quote.last, quote.high, quote.low]
    volume = quote.volume
    turnover = quote.turnover
    state =
      switch quote.status {
      case .halted, .haltedTemporarily: "S"
      case .delisted: "D"
      case .notListed: "U"
      default: ""
      }
    limits = quote.limits == .unstated && line.limits == .none ? .none : quote.limits
    afterHours = quote.afterHours
    book = [quote.bid, quote.bids[0].volume, quote.ask, quote.asks[0].volume]
  }
}

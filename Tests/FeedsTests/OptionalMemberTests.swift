import Market
import TestSupport
import Testing

@testable import Feeds

/// An odd member that no candle rests on costs itself and not its row (docs/sources.md).
@Suite struct OptionalMemberTests {
  private static let garbage = [
    "", " ", "--", "abc", "-5", "1.2.3", "null", "99999999999999999999999", "0x1F", "1/2", "?",
  ]

  /// What must not differ, whatever stands beside it.
  private func core(_ quote: Quote) -> Quote {
    var core = quote
    for level in 1..<5 { (core.bids[level], core.asks[level]) = (.empty, .empty) }
    (core.afterHours, core.limits, core.status) = (nil, .unstated, .normal)
    return core
  }

  private func joined(_ fields: [[UInt8]], with separator: UInt8) -> [UInt8] {
    Array(fields.joined(separator: [separator]))
  }

  // MARK: Sina

  private static let sinaRow: Set<Int> = Set(1...11).union([20, 21, 30, 31])

  private func sinaFields(_ line: [UInt8]) -> [[UInt8]] {
    line.dropLast(3).split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
      .map { Array($0) }
  }

  private func sinaLine(_ fields: [[UInt8]]) -> [UInt8] {
    joined(fields, with: UInt8(ascii: ",")) + Array("\";\n".utf8)
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `a Sina line stands whatever one of its other fields holds`(_ seed: UInt64) throws {
    var sweep = SinaSweep(seed: seed)
    for index in 0..<40 {
      var row = sweep.row(index: index)
      if index % 2 == 0 { row.afterHours = (100, 12_345_000) }
      let fields = sinaFields(SinaSweep.line(row))
      let whole = try #require(decode(sinaLine(fields)).recorder.quotes.first)
      for place in fields.indices where place > 0 && !Self.sinaRow.contains(place) {
        for text in Self.garbage {
          var odd = fields
          odd[place] = Array(text.utf8)
          let found = decode(sinaLine(odd)).recorder.quotes.first
          #expect(found.map(core) == core(whole), "seed \(seed), field \(place): `\(text)`")
        }
      }
    }
  }

  @Test func `a Sina line without one of its own fields is refused`() throws {
    var sweep = SinaSweep(seed: 4)
    let fields = sinaFields(SinaSweep.line(sweep.row(index: 0)))
    for place in Self.sinaRow {
      var odd = fields
      odd[place] = Array("abc".utf8)
      #expect(decode(sinaLine(odd)).recorder.quotes.isEmpty, "field \(place)")
    }
  }

  @Test func `the depth of a book ends before an odd level, and it is counted`() throws {
    var sweep = SinaSweep(seed: 5)
    var fields = sinaFields(SinaSweep.line(sweep.row(index: 0)))
    let whole = try #require(decode(sinaLine(fields)).recorder.quotes.first)
    fields[14] = Array("12.5".utf8)
    let recorder = decode(sinaLine(fields)).recorder
    let quote = try #require(recorder.quotes.first)
    #expect(quote.bids[1] == whole.bids[1] && quote.bids[2] == .empty && quote.bids[3] == .empty)
    #expect(quote.asks[4] == whole.asks[4])
    #expect(
      recorder.dropped == [
        DroppedMember(
          symbol: quote.symbol, member: .bookDepth,
          detail: "bid volume 3: a whole number expected, found `12.5`")
      ])
  }

  @Test(arguments: ["D|", "D|x|1.0", "D|100|", "D|-1|5", "D|100"])
  func `an odd trailer of the fixed-price session is left out`(_ trailer: String) throws {
    var sweep = SinaSweep(seed: 6)
    var row = sweep.row(index: 0)
    row.afterHours = (100, 12_345_000)
    var fields = sinaFields(SinaSweep.line(row))
    fields[33] = Array(trailer.utf8)
    let recorder = decode(sinaLine(fields)).recorder
    #expect(recorder.quotes.count == 1 && recorder.quotes.first?.afterHours == nil)
    #expect(recorder.dropped.map(\.member) == [.afterHours])
  }

  // MARK: Tencent

  private static let tencentRow: Set<Int> = [2, 3, 4, 5, 6, 9, 10, 19, 20, 30, 33, 34, 35]

  private func tencentFields(_ line: [UInt8]) throws -> (head: [UInt8], fields: [[UInt8]]) {
    let start = try #require(line.firstIndex(of: UInt8(ascii: "\""))) + 1
    let content = Array(line[start...].dropLast(3))
    var fields = TencentFields()
    return content.withUnsafeBytes { bytes in
      fields.split(bytes, charset: .gb18030)
      return (Array(line[..<start]), (0..<fields.count).map { Array(fields[$0]) })
    }
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `a Tencent line stands whatever one of its other fields holds`(_ seed: UInt64) throws {
    var sweep = TencentSweep(seed: seed)
    for number in 0..<27 {
      let row = sweep.row(number)
      let (head, fields) = try tencentFields(row.line)
      for place in fields.indices where place > 1 && !Self.tencentRow.contains(place) {
        for text in Self.garbage {
          var odd = fields
          odd[place] = Array(text.utf8)
          let line = head + joined(odd, with: UInt8(ascii: "~")) + Array("\";\n".utf8)
          let found = decodeTencent(line).recorder.quotes.first
          #expect(found.map(core) == core(row.quote), "seed \(seed), field \(place): `\(text)`")
        }
      }
    }
  }

  @Test(arguments: ["x", "9.00~12.00", "-3~5", "~7"])
  func `odd limit prices are left out and counted, the row stands`(_ limits: String) throws {
    let rest = limits.contains("~") ? limits : "\(limits)~8.00"
    let line =
      "v_sh600000=\"1~A~600000~10.00~10.00~10.00~100" + String(repeating: "~0", count: 23)
      + "~20260706103106~~~10.00~10.00~10.00/100/100000~100~" + String(repeating: "~", count: 10)
      + rest + "~\";\n"
    let recorder = decodeTencent(Array(line.utf8)).recorder
    #expect(recorder.quotes.map(\.limits) == [.unstated])
    #expect(recorder.dropped.map(\.member) == [.limitPrices])
  }

  @Test func `a repeated total that says another number refuses the line`() {
    let line =
      "v_sh600000=\"1~A~600000~10.00~10.00~10.00~100" + String(repeating: "~0", count: 23)
      + "~20260706103106~~~10.00~10.00~10.00/100/100000~101~\";\n"
    #expect(decodeTencent(Array(line.utf8)).recorder.quotes.isEmpty)
  }

  // MARK: Bars and lists

  private func response(_ request: FeedRequest, _ body: String) -> FeedResponse {
    Array(body.utf8).withUnsafeBytes { FeedResponse.decode(request, status: 200, body: $0) }
  }

  @Test(arguments: ["\"abc\"", "-1", "[1]", "{}", "true", "99999999999999999999999", "\"\""])
  func `a bar stands whatever its trades, average or amount hold`(_ value: String) throws {
    let symbol = try #require(Symbol("AAPL"))
    let start = Timestamp(seconds: 1_788_442_200)
    let query = BarsQuery(
      symbols: [symbol], timeframe: .minute1, start: start, end: start.adding(seconds: 86_400))
    let alpaca = response(
      .alpacaBars(query, from: .alpacaSIP),
      #"{"bars":{"AAPL":[{"t":"2026-09-03T13:30:00Z","o":2,"h":3,"l":1,"c":2,"v":5,"n":\#(value),"#
        + #""vw":\#(value)}]},"next_page_token":null}"#)
    guard case .candles(let page) = alpaca else { throw MissingFile(path: "\(alpaca)") }
    #expect(page.candles.map(\.trades) == [nil] && page.candles.map(\.vwap) == [nil])
    #expect(page.dropped.map(\.member) == [.trades, .vwap] && page.refused.isEmpty)

    let body =
      Array(
        #"[{"day":"2026-02-25 14:57:00","open":"4.210","high":"4.220","low":"4.210","#.utf8)
      + Array(#""close":"4.220","volume":"100","amount":\#(value)}]"#.utf8)
    let kline = try body.withUnsafeBytes {
      try SinaKline.decode(
        $0, status: 200, symbol: try #require(Symbol("sh600751")), timeframe: .minute1)
    }
    #expect(kline.candles.map(\.turnover) == [nil] && kline.dropped.map(\.member) == [.turnover])
  }

  @Test(arguments: ["7", "null", "{}", "[\"a\"]", "true"])
  func `a listed instrument stands whatever its name holds`(_ name: String) throws {
    func list(_ body: String, _ decode: (UnsafeRawBufferPointer) throws -> InstrumentList) throws
      -> InstrumentList
    {
      try Array(body.utf8).withUnsafeBytes { try decode($0) }
    }
    let lists = [
      try list(#"[{"dm":"000001.SZ","mc":\#(name),"jys":\#(name)}]"#) {
        try MairuiList.decode($0, status: 200)
      },
      try list(#"[{"symbol":"sz000001","name":\#(name)}]"#) {
        try SinaNodes.decodePage($0, status: 200)
      },
      try list(#"[{"symbol":"ABC","name":\#(name),"class":"us_equity","tradable":true}]"#) {
        try AlpacaAssets.decode($0, status: 200)
      },
    ]
    for list in lists {
      #expect(list.rows.map(\.name) == [""] && list.refused.isEmpty)
      #expect(list.dropped.map(\.member).contains(.name))
    }
  }

  @Test func `a name that a list lacks stays as it was known`() throws {
    let symbol = try #require(Symbol("sz000001"))
    var limits = UniverseLimits()
    limits.mainRowsMin = 1
    var universe = Universe(limits: limits)
    let part = ListPart(name: "node/hs_a")
    let now = Timestamp(seconds: 1_788_442_200)
    for name in ["A", ""] {
      let row = ListedInstrument(symbol: symbol, name: name, exchange: .shenzhen)
      guard case .accepted(let change) = universe.offer([row], rejectedRows: 0, part: part, at: now)
      else { throw MissingFile(path: "a list") }
      #expect(change.renamed.isEmpty)
    }
    #expect(universe.member(symbol)?.instrument.name == "A")
  }
}

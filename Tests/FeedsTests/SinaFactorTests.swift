import Market
import TestSupport
import Testing

@testable import Feeds

@Suite struct SinaFactorTests {
  private let file = #"""
    var sh600000qfq={"total":3,"data":[{"d":"2026-07-16","f":"1.0000000000000000"},
    {"d":"2025-07-16", "f":"1.0472440944882000"},{"d":"1900-01-01","f":"1.2000000000000000"}]}
    /* opaque */
    """#

  private func decode(
    _ text: String, _ symbol: String = "sh600000", _ kind: AdjustmentFactor.Kind = .qfq
  ) throws -> [AdjustmentFactor] {
    let symbol = try #require(Symbol(symbol))
    let found = try Array(text.utf8).withUnsafeBytes {
      try SinaFactors.decode($0, status: 200, symbol: symbol, kind: kind)
    }
    return try #require(found)
  }

  private func isUnknown(_ rows: [String]) throws -> Bool {
    let text =
      #"var sz159939hfq={"total":\#(rows.count),"data":[\#(rows.joined(separator: ","))]}"#
    return try Array(text.utf8).withUnsafeBytes {
      try SinaFactors.decode(
        $0, status: 200, symbol: try #require(Symbol("sz159939")), kind: .hfq)
    } == nil
  }

  private func fund(_ day: String, f: String = "1.0000", s: String, u: String) -> String {
    #"{"d":"\#(day)","f":"\#(f)","s":\#(s),"u":\#(u)}"#
  }

  @Test(arguments: [
    (#""2.0000""#, #""0.0000""#), (#""1.0000""#, #""0.7970""#), (#""0.4997""#, #""0.0000""#),
    (#""1.0000""#, #""?""#), ("null", #""0""#), (#""1""#, "0.055"),
  ])
  func `a fund that paid or was split has no factors that are known`(_ s: String, _ u: String)
    throws
  {
    let first = fund("1900-01-01", s: #""1.0000""#, u: #""0.0000""#)
    #expect(try isUnknown([fund("2023-02-16", s: s, u: u), first]))
    // Cumulative numbers start again lower: any row counts.
    #expect(
      try isUnknown([
        fund("2024-02-16", s: #""1.0000""#, u: #""0.0000""#), fund("2023-02-16", s: s, u: u), first,
      ]))
    // Two rows of a day, one of them neutral.
    #expect(try isUnknown([fund("1900-01-01", s: s, u: u), first]))
  }

  @Test func `a fund that never paid nor was split has the factor 1`() throws {
    #expect(
      try !isUnknown([
        fund("2023-02-16", s: "1", u: "0"), fund("1900-01-01", s: #""1.0000""#, u: #""0.0000""#),
      ]))
  }

  @Test func `factors other than 1 count, whatever stands beside them`() throws {
    #expect(try !isUnknown([fund("2023-02-16", f: "1.5", s: "2", u: "0")]))
  }

  @Test func `an answer of a fund with events says that its factors are unknown`() throws {
    let request = FeedRequest(
      .factors(try #require(Symbol("sz159939")), .hfq), to: Sina.source)
    let body =
      #"var sz159939hfq={"total":1,"data":[\#(fund("2023-02-16", s: "2", u: "0"))]}"#
    let response = Array(body.utf8).withUnsafeBytes {
      FeedResponse.decode(request, status: 200, body: $0)
    }
    #expect(response == .unknownFactors)
  }

  private func rows(_ factors: [AdjustmentFactor]) -> [String] {
    factors.map { "\($0.symbol) \($0.kind.name) \($0.from) \($0.factor)" }
  }

  @Test func `factors come by ascending day with every digit`() throws {
    let found = try rows(decode(file))
    #expect(
      found == [
        "sh600000 qfq 1900-01-01 1.2000000000000000",
        "sh600000 qfq 2025-07-16 1.0472440944882000",
        "sh600000 qfq 2026-07-16 1.0000000000000000",
      ])
  }

  @Test(arguments: [
    #"var sz300592hfq={"total":1,"data":[{"d":"2026-07-09","f":"1.25"}]};"#,
    #"var sz300592hfq={"total":1,"data":[{"d":"2026-07-09","f":"1.25"}]}"#,
    #"var sz300592hfq = {"data":[{"f":1.25,"d":"2026-07-09"}],"total":"1"};; /* a */ /* b */"#,
    #"/* a */ var sz300592hfq={"x":[1],"total":1,"data":[{"d":"2026-07-09","f":"1.25","y":0}]} ;"#,
  ])
  func `comments, semicolons and the order of keys do not matter`(_ text: String) throws {
    let found = try rows(decode(text, "sz300592", .hfq))
    #expect(found == ["sz300592 hfq 2026-07-09 1.25"])
  }

  @Test func `a factor of a thousand keeps its digits without the zeros behind`() throws {
    let found = try decode(
      #"var sh600000hfq={"total":1,"data":[{"d":"1990-12-19","f":"4123.4676568061000000"}]}"#,
      "sh600000", .hfq)
    #expect(found.map(\.factor.description) == ["4123.4676568061"])
  }

  @Test func `a file without factors is an answer`() throws {
    #expect(try decode(#"var sh600000qfq={"total":0,"data":[]}"#).isEmpty)
  }

  @Test(arguments: [
    (
      #"{"d":"2026-07-16","f":"0.0000"}"#,
      FeedRefusal(.implausible, "row 0: the factor is not positive")
    ),
    (
      #"{"d":"2026-07-16","f":"-1.5"}"#,
      FeedRefusal(.implausible, "row 0: the factor is not positive")
    ),
    (#"{"d":"2026-02-30","f":"1.5"}"#, FeedRefusal(.malformed, "row 0: a date expected")),
    (#"{"d":20260716,"f":"1.5"}"#, FeedRefusal(.malformed, "row 0: a date expected")),
    (#"{"d":"2026-07-16","f":"1.5e0"}"#, FeedRefusal(.malformed, "row 0: a factor expected")),
    (#"{"d":"2026-07-16","f":""}"#, FeedRefusal(.malformed, "row 0: a factor expected")),
    (#"{"d":"2026-07-16"}"#, FeedRefusal(.malformed, "row 0: a factor expected")),
    (
      #"{"d":"2026-07-16","f":"99999999999999999999"}"#,
      FeedRefusal(.malformed, "row 0: a factor expected")
    ),
  ])
  func `one row that is no factor refuses the file`(_ row: String, _ refusal: FeedRefusal) {
    #expect(throws: refusal) { try decode(#"var sh600000qfq={"total":1,"data":[\#(row)]}"#) }
  }

  @Test func `two factors for one day refuse the file unless they are the same`() throws {
    let row = #"{"d":"2026-07-16","f":"1.5"}"#
    let same = try decode(#"var sh600000qfq={"total":2,"data":[\#(row),\#(row)]}"#)
    #expect(same.count == 1)
    let other = #"{"d":"2026-07-16","f":"1.6"}"#
    #expect(throws: FeedRefusal(.implausible, "row 1: a second, different factor for the same day"))
    {
      try decode(#"var sh600000qfq={"total":2,"data":[\#(row),\#(other)]}"#)
    }
  }

  @Test(arguments: [("sh600001", AdjustmentFactor.Kind.qfq), ("sh600000", .hfq)])
  func `a file for another instrument or kind is refused`(
    _ symbol: String, _ kind: AdjustmentFactor.Kind
  ) {
    #expect(throws: FeedRefusal.self) { try decode(file, symbol, kind) }
  }

  @Test func `rows that went missing are noticed by their count`() {
    #expect(throws: FeedRefusal(.malformed, "the number of rows differs from `total`")) {
      try decode(#"var sh600000qfq={"total":2,"data":[{"d":"2026-07-16","f":"1.5"}]}"#)
    }
  }

  @Test func `no prefix that lacks a part of the object is an answer`() throws {
    let bytes = Array(file.utf8)
    let end = try #require(bytes.lastIndex(of: UInt8(ascii: "}")))
    for cut in 0...end {
      #expect(throws: FeedRefusal.self, "cut at \(cut)") {
        try decode(String(decoding: bytes.prefix(cut), as: UTF8.self))
      }
    }
  }

  @Test func `whatever bit is flipped, each factor is positive and days ascend`() throws {
    let symbol = try #require(Symbol("sh600000"))
    let bytes = Array(file.utf8)
    var refusals = 0
    for bit in 0..<bytes.count * 8 {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << (bit % 8)
      do {
        let found = try damaged.withUnsafeBytes {
          try SinaFactors.decode($0, status: 200, symbol: symbol, kind: .qfq)
        }
        let factors = try #require(found)
        #expect(factors.allSatisfy { $0.factor.isPositive }, "bit \(bit)")
        #expect(zip(factors, factors.dropFirst()).allSatisfy { $0.from < $1.from }, "bit \(bit)")
      } catch {
        refusals += 1
      }
    }
    #expect(refusals > 0)
  }
}

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
    return try Array(text.utf8).withUnsafeBytes {
      try SinaFactors.decode($0, status: 200, symbol: symbol, kind: kind)
    }
  }

  private func fund(_ rows: [(day: String, members: String)]) throws -> [String] {
    let rows = rows.map { #"{"d":"\#($0.day)","f":"1","\#($0.members)}"# }
    let text =
      #"var sh510050hfq={"total":\#(rows.count),"data":[\#(rows.joined(separator: ","))]}"#
    return try decode(text, "sh510050", .hfq).map { row in
      let numbers = [row.fund?.cash, row.fund?.split].map { $0?.normalized.description ?? "-" }
      return "\(row.from) \(numbers.joined(separator: " "))"
    }
  }

  @Test func `a fund's row has the cash and the splits so far`() throws {
    let found = try fund([
      ("2025-12-17", #"s":"1.0000000000000000","u":"0.7970000000000000""#),
      ("2024-12-02", #"s":"1.0000000000000000","u":"0.7170000000000000""#),
      ("1900-01-01", #"s":1,"u":0"#),
    ])
    #expect(found == ["1900-01-01 0 1", "2024-12-02 0.717 1", "2025-12-17 0.797 1"])
  }

  @Test(arguments: [#"s":"?","u":"0.1""#, #"s":null,"u":"0.1""#, #"s":"","u":0.1"#])
  func `a member of a fund that cannot be read is not known`(_ members: String) throws {
    #expect(try fund([("2024-12-02", members)]) == ["2024-12-02 0.1 -"])
  }

  @Test func `of two different rows of a fund's day neither is read`() throws {
    let rows = [#"s":"2","u":"0.1""#, #"s":"1","u":"0.1""#].map { ("2024-12-02", $0) }
    #expect(try fund(rows) == ["2024-12-02 - -"])
    #expect(try fund([rows[0], rows[0]]) == ["2024-12-02 0.1 2"])
  }

  @Test func `shares have neither`() throws {
    #expect(try decode(file).allSatisfy { $0.fund == nil })
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
        let factors = try damaged.withUnsafeBytes {
          try SinaFactors.decode($0, status: 200, symbol: symbol, kind: .qfq)
        }
        #expect(factors.allSatisfy { $0.factor.isPositive }, "bit \(bit)")
        #expect(zip(factors, factors.dropFirst()).allSatisfy { $0.from < $1.from }, "bit \(bit)")
      } catch {
        refusals += 1
      }
    }
    #expect(refusals > 0)
  }
}

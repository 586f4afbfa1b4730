import Market
import Testing

@testable import Gateway

@Suite struct MomentTextTests {
  @Test(
    "a moment is written as the clock there shows it",
    arguments: [
      (MarketZone.shanghai, 1_783_301_460_000_000, "2026-07-06T09:31:00+08:00"),
      (.shanghai, 1_783_301_460_250_000, "2026-07-06T09:31:00.25+08:00"),
      (.utc, 1_783_301_460_000_001, "2026-07-06T01:31:00.000001+00:00"),
      (.newYork, 1_783_344_600_000_000, "2026-07-06T09:30:00-04:00"),
      (.newYork, 1_767_623_400_000_000, "2026-01-05T09:30:00-05:00"),
      (.utc, -62_135_596_800_000_000, "0001-01-01T00:00:00+00:00"),
    ])
  func texts(zone: MarketZone, microseconds: Int64, text: String) {
    #expect(zone.text(of: Timestamp(microseconds: microseconds)) == text)
  }

  @Test("the ends of what there is fit")
  func ends() {
    for microseconds in [Int64.min + 999_999, .max] {
      let text = MarketZone.utc.text(of: Timestamp(microseconds: microseconds))
      #expect(text.utf8.count <= MarketZone.momentBytesMax && text.hasSuffix("+00:00"))
    }
  }

  @Test("a moment in JSON stands in quotes")
  func inJSON() {
    var text = JSONWriter()
    text.array { list in
      list.moment(Timestamp(seconds: 0), in: .utc)
      list.moment(Timestamp(seconds: 60), in: .utc)
    }
    #expect(
      String(decoding: text.bytes, as: UTF8.self)
        == "[\"1970-01-01T00:00:00+00:00\",\"1970-01-01T00:01:00+00:00\"]")
  }
}

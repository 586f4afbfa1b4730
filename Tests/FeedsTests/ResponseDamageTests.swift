import Hostile
import Market
import TestSupport
import Testing

@testable import Feeds

/// Answers cut and bits flipped: nothing traps, and no part of an answer is taken for a whole one.
@Suite struct ResponseDamageTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let fixture: String
    let request: FeedRequest
    var testDescription: String { "\(fixture) as \(request.text)" }
  }

  private static func cases() -> [Case] {
    let day = TradingDay(daysSince1970: 20_699)
    let bars = ["alpaca-multi", "alpaca-days", "alpaca-faults"]
    let query = FeedRequest(
      ofAnySource: "bars iex 1m 2026-09-03T13:30:00Z 2026-09-04T13:30:00Z OAKX,PINE.B")
    return ["mairui-bare", "mairui-suffixed", "mairui-faults"].map {
      Case(fixture: "\($0).json", request: .mairuiList(.hslt))
    }
      + bars.compactMap { name in query.map { Case(fixture: "\(name).json", request: $0) } } + [
        Case(
          fixture: "alpaca-calendar.json",
          request: .alpacaCalendar(from: day, to: day.advanced(by: 99))),
        Case(fixture: "alpaca-assets.json", request: .alpacaAssets),
      ]
  }

  private func decode(_ body: [UInt8], _ request: FeedRequest) -> FeedResponse {
    body.withUnsafeBytes { FeedResponse.decode(request, status: 200, body: $0) }
  }

  @Test(arguments: cases())
  func `no prefix of an answer is an answer`(_ damage: Case) throws {
    let body = try Files.fixture(damage.fixture)
    let end = (body.lastIndex { !" \n".utf8.contains($0) } ?? 0) + 1
    for cut in 0..<end {
      guard case .refused = decode(Array(body.prefix(cut)), damage.request) else {
        Issue.record("cut at \(cut)")
        return
      }
    }
    if case .refused(let refusal) = decode(Array(body.prefix(end)), damage.request) {
      Issue.record("\(refusal)")
    }
  }

  @Test(arguments: cases(), [31, 32] as [UInt64])
  func `no flipped bit traps, and a candle is always one`(_ damage: Case, _ seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let whole = try Files.fixture(damage.fixture)
    for round in 0..<1_500 {
      var body = whole
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let place = Int.random(in: 0..<body.count, using: &random)
        body[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
      }
      guard case .candles(let page) = decode(body, damage.request) else { continue }
      let isSound = page.candles.allSatisfy { candle in
        candle.low.isPositive && candle.low <= candle.high && candle.openedAt < candle.closedAt
          && !candle.volume.isNegative
      }
      #expect(isSound, "seed \(seed), round \(round)")
    }
  }
}

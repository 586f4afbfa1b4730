import Market
import TestSupport
import Testing

@testable import Feeds

@Suite struct AlpacaReferenceTests {
  private func decode(_ request: FeedRequest, _ body: [UInt8], _ status: Int = 200) -> FeedResponse
  {
    body.withUnsafeBytes { FeedResponse.decode(request, status: status, body: $0) }
  }

  private func sessions(_ body: [UInt8]) -> FeedResponse {
    let day = TradingDay(daysSince1970: 20_699)
    return decode(.alpacaCalendar(from: day, to: day.advanced(by: 365)), body)
  }

  private func utc(_ text: String) throws -> Timestamp {
    try #require(Array(text.utf8).withUnsafeBytes { Timestamp(rfc3339: $0) })
  }

  @Test func `sessions are New York's, early closes and summer time included`() throws {
    let response = sessions(try Files.fixture("alpaca-calendar.json"))
    let wanted = try [
      ("2026-07-02", "2026-07-02T13:30:00Z", "2026-07-02T20:00:00Z"),
      ("2026-11-25", "2026-11-25T14:30:00Z", "2026-11-25T21:00:00Z"),
      ("2026-11-27", "2026-11-27T14:30:00Z", "2026-11-27T18:00:00Z"),
    ].map { day, opens, closes in
      MarketSession(
        exchange: .unitedStates, day: try #require(TradingDay(day)), opens: try utc(opens),
        closes: try utc(closes))
    }
    #expect(response == .sessions(wanted))
  }

  @Test func `a range without sessions is an answer`() {
    #expect(sessions(Array("[]".utf8)) == .sessions([]))
  }

  @Test(arguments: [
    (#"[{"date":"2026-07-02","open":"09:30"}]"#, FeedRefusal.Kind.malformed),
    (#"[{"date":"2026-02-30","open":"09:30","close":"16:00"}]"#, .malformed),
    (#"[{"date":"2026-07-02","open":"0930","close":"1600"}]"#, .malformed),
    (#"[{"date":"2026-07-02","open":"09:30","close":"24:00"}]"#, .malformed),
    (#"[{"date":"2026-07-02","open":"16:00","close":"09:30"}]"#, .implausible),
    (#"["2026-07-02"]"#, .malformed), (#"{"date":"2026-07-02"}"#, .malformed),
    (#"[{"date":"2026-07-02","open":"09:30","close":"16:00"}"#, .malformed),
    (#"{"message":"forbidden."}"#, .unauthorised),
  ])
  func `a calendar with a row that cannot be read is refused whole`(
    _ body: String, _ kind: FeedRefusal.Kind
  ) throws {
    guard case .refused(let refusal) = sessions(Array(body.utf8)) else {
      throw MissingFile(path: body)
    }
    #expect(refusal.kind == kind)
  }

  @Test func `assets that can have bars are listed and the others left out`() throws {
    let response = decode(.alpacaAssets, try Files.fixture("alpaca-assets.json"))
    guard case .list(let list) = response else { throw MissingFile(path: "\(response)") }
    #expect(list.rows.map(\.symbol.description) == ["OAKX", "PINE.B"])
    #expect(list.rows.map(\.name) == ["Oak Exact Inc. Common Stock", "Pine Class B"])
    #expect(list.rows.allSatisfy { $0.exchange == .unitedStates })
    #expect(list.refused.map(\.index) == [7])
  }

  @Test(arguments: [
    ("[]", 200, FeedRefusal.Kind.noData), ("[1,2]", 200, .malformed), ("{}", 200, .malformed),
    ("<html>", 401, .unauthorised), (#"{"message":"forbidden."}"#, 403, .unauthorised),
    ("<html>", 504, .transient),
  ])
  func `what is no list of assets is refused whole`(
    _ body: String, _ status: Int, _ kind: FeedRefusal.Kind
  ) throws {
    guard case .refused(let refusal) = decode(.alpacaAssets, Array(body.utf8), status) else {
      throw MissingFile(path: body)
    }
    #expect(refusal.kind == kind)
  }

  @Test(arguments: [
    ("2026-09-03T13:30:00Z", 1_788_442_200_000_000), ("1970-01-01T00:00:00z", 0),
    ("2022-04-28T14:07:04.451420928-04:00", 1_651_169_224_451_420),
    ("2022-04-28t18:07:04.4Z", 1_651_169_224_400_000),
    ("2026-09-03T21:30:00+08:00", 1_788_442_200_000_000),
  ])
  func `a moment is read to the microsecond, whatever its zone`(
    _ text: String, _ microseconds: Int64
  ) throws {
    #expect(try utc(text).microseconds == microseconds)
  }

  @Test(arguments: [
    "", "2026-09-03", "2026-09-03T13:30:00", "2026-09-03 13:30:00Z", "2026-09-03T13:30Z",
    "2026-13-03T13:30:00Z", "2026-09-31T13:30:00Z", "2026-09-03T24:00:00Z",
    "2026-09-03T13:60:00Z", "2026-09-03T13:30:60Z", "2026-09-03T13:30:00.Z",
    "2026-09-03T13:30:00.1234567890Z", "2026-09-03T13:30:00.1", "2026-09-03T13:30:00+0800",
    "2026-09-03T13:30:00+08:00Z", "2026-09-03T13:30:00+24:00", "2026-09-03T13:3a:00Z",
    "26-09-03T13:30:00.0Z00", "2026-09-03T13:30:00Z ",
  ])
  func `what is no moment is none`(_ text: String) {
    let moment = Array(text.utf8).withUnsafeBytes { Timestamp(rfc3339: $0) }
    #expect(moment == nil)
  }

  @Test func `a moment is written as it is read`() throws {
    for text in ["2026-09-03T13:30:00Z", "2026-09-04T13:29:59.999Z", "1969-12-31T23:59:59Z"] {
      #expect(try utc(text).utcText == text)
    }
  }
}

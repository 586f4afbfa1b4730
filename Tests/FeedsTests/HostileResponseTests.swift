import Feeds
import Hostile
import Market
import TestSupport
import Testing

/// Everything upstreams have sent in place of an answer, by its class.
@Suite struct HostileResponseTests {
  @Test func `every response has its class`() throws {
    for response in try HostileResponse.all() {
      let probe = try #require(Probe(response.requestText), "\(response.description)")
      let verdict = probe.classify(response.body, status: response.status)
      #expect(verdict.word == response.word, "\(response.description)")
      #expect(verdict.complaints == [], "\(response.description)")
      guard verdict.word == "ok" else { continue }
      #expect(verdict.rows == response.rows, "\(response.description)")
      #expect(verdict.refusedRows == response.refusedRows, "\(response.description)")
    }
  }

  @Test func `every class, every source and every kind of question occurs`() throws {
    let responses = try HostileResponse.all()
    #expect(responses.count >= 40)
    #expect(Set(responses.map(\.name)).count == responses.count)
    let outcomes: [QuoteOutcome] = [
      .ok(lines: 0), .throttled, .banned, .unauthorised, .poisoned, .empty, .malformed,
      .transient, .notFound,
    ]
    let refusals: [FeedRefusal.Kind] = [
      .quotaExhausted, .unauthorised, .throttled(retryAfterSeconds: nil), .banned, .notFound,
      .noData, .entitlement, .invalidSymbol(nil), .programmingError, .malformed, .transient,
      .implausible,
    ]
    let words = Set(outcomes.map(\.name)).union(refusals.map(\.name))
    #expect(Set(responses.map(\.word)) == words)
    let quoted = responses.filter { $0.requestText == "quotes" }.map(\.word)
    #expect(Set(quoted) == Set(outcomes.map(\.name)))
    let feedRequests = responses.compactMap { FeedRequest(ofAnySource: $0.requestText) }
    #expect(Set(feedRequests.map(\.source)) == [.sina, .mairui, .alpacaIEX])
    let series = Set(feedRequests.map { $0.journalKey.split(separator: "/")[0] })
    #expect(
      series == ["list", "bars", "calendar", "assets", "kline", "factors", "node", "node-count"])
  }
}

import Foundation
import HTTPTypes
import Hummingbird
import Market
import Reader
import TestSupport
import TestTraits
import Testing

@testable import Gateway
@testable import Postgres

/// What a review of the gateway did to its requests.
@Suite(.ownThread) struct RequestAttackTests {
  @Test("a cursor that was made up is refused, whatever it holds")
  func forgedCursor() async throws {
    let fixture = try await ServedFixture()
    let directory = fixture.gateway.memory.state.directory
    let place = try #require(directory.place(spelling: "sh600000"))
    let arguments = Arguments(["symbol": "sh600000", "interval": "1m"], body: [])
    let route = "history \(directory[place].symbol) \(directory[place].sourceName)"
    let fingerprint = arguments.fingerprint(of: route)
    for value in [Int64.min, -62_135_596_800_000_001, 253_402_300_800_000_000, .max] {
      let cursor = Cursor.text(value, of: fingerprint)
      let reply = try await fixture.get(
        "/v1/stocks/sh600000/history?interval=1m&cursor=\(cursor)")
      #expect(reply.status == 404 && reply.body.contains("cursor"), "\(value) \(reply.body)")
    }
    let early = Cursor.text(0, of: fingerprint)
    let reply = try await fixture.get("/v1/stocks/sh600000/history?interval=1m&cursor=\(early)")
    #expect(reply.status == 200, "\(reply.body)")
  }

  @Test("an adjustment to the newest prices is never called immutable")
  func caching() async throws {
    let fixture = try await ServedFixture()
    let path = "/v1/stocks/sh600000/history?interval=1d&to=2020-01-01"
    let raw = try await fixture.get(path)
    #expect(raw.headers[.cacheControl] == "private, max-age=86400, immutable")
    let adjusted = try await fixture.get(path + "&adjust=qfq")
    #expect(adjusted.status != 200 || adjusted.headers[.cacheControl] == "private, max-age=5")
  }

  @Test("times beyond PostgreSQL's are infinite to it, and stop nothing")
  func extremeTimes() {
    var parameters = WireParameters()
    parameters.add { $0.timestamp(Timestamp(microseconds: .min)) }
    parameters.add { $0.timestamp(Timestamp(microseconds: .max)) }
  }
}

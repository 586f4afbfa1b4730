import Foundation
import HTTPTypes
import Market
import NIOCore
import NIOEmbedded
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

  @Test("no history is called immutable, and one that is empty is asked for each time")
  func caching() async throws {
    let fixture = try await ServedFixture()
    let path = "/v1/stocks/sh600000/history?interval=1m"
    let candles = try await fixture.get("\(path)&to=2026-07-07")
    #expect(candles.headers[.cacheControl] == "private, max-age=5")
    let empty = try await fixture.get("\(path)&to=2020-01-01")
    #expect(empty.headers[.cacheControl] == "private, no-cache")
    // A backfill that comes between is in the next answer, for the tag is another.
    let tag = try #require(empty.headers[.eTag])
    let again = try await fixture.get("\(path)&to=2020-01-01", headers: [.ifNoneMatch: tag])
    #expect(again.status == 304)
    #expect(candles.headers[.eTag] != tag)
  }

  @Test("a page of coverage goes on at a gateway that numbers its series otherwise")
  func coverageCursor() async throws {
    let fixture = try await ServedFixture()
    let path = "/v1/coverage?day=2026-07-06&limit=1"
    let other = Gateway(fixture.gateway.options, log: quietLog)
    var state = fixture.gateway.memory.state
    state.directory = InstrumentDirectory().updated(with: state.directory.series.reversed())
    other.memory.publish(state)
    let table = other.table(Gateway.Parts())
    var cursor = ""
    var symbols: [String] = []
    repeat {
      let asked = AskedRequest(path: path + cursor)
      let isFirst = symbols.count % 2 == 0
      let answer = try await asked.answer(from: isFirst ? fixture.gateway.table(.init()) : table)
        .json
      let rows = answer["coverage"] as? [[String: Any]] ?? []
      symbols += rows.compactMap { $0["symbol"] as? String }
      cursor = (answer["nextCursor"] as? String).map { "&cursor=\($0)" } ?? ""
    } while !cursor.isEmpty && symbols.count < 10
    #expect(symbols == ["sh600000", "sh600001", "sh600002"])
  }

  @Test("a body that breaks off is no body that is too large")
  func brokenBody() async throws {
    struct Lost: Error {}
    let route = Route(
      "/body", method: .put, summary: "Takes one.", scope: nil, answer: .string, body: .string
    ) { _ in Answer(json: []) }
    let table = RouteTable([route], access: nil, counters: RequestCounters())
    let request = Request(
      head: HTTPRequest(method: .put, scheme: "http", authority: "test", path: "/body"),
      body: { throw Lost() })
    let answer = await table.respond(
      to: request, context: GatewayContext(of: EmbeddedChannel(), log: quietLog))
    #expect(answer.status == .badRequest)
  }

  @Test("times beyond PostgreSQL's are infinite to it, and stop nothing")
  func extremeTimes() {
    var parameters = WireParameters()
    parameters.add { $0.timestamp(Timestamp(microseconds: .min)) }
    parameters.add { $0.timestamp(Timestamp(microseconds: .max)) }
  }
}

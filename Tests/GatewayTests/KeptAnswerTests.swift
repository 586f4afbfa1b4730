import Commits
import HTTPTypes
import Market
import NIOCore
import NIOEmbedded
import Page
import Store
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// What many are answered with alike is encoded, and compressed, for the first of them.
@Suite(.ownThread) struct KeptAnswerTests {
  private struct Asked {
    let plain: Answer
    let compressed: Answer

    init(_ path: String, of table: RouteTable) async throws {
      func ask(_ headers: HTTPFields) async -> Answer {
        let head = HTTPRequest(
          method: .get, scheme: "http", authority: "test", path: path, headerFields: headers)
        return await table.respond(
          to: Request(head: head, body: { ByteBuffer() }),
          context: GatewayContext(of: EmbeddedChannel(), log: quietLog))
      }
      plain = await ask([:])
      compressed = await ask([.acceptEncoding: "gzip"])
      try #require(plain.status == .ok && compressed.headers[.contentEncoding] == "gzip", "\(path)")
      #expect(compressed.body.readableBytes < plain.body.readableBytes)
    }

    /// Whether both are the very same bytes in memory.
    func shares(with other: Asked) -> [Bool] {
      [(plain, other.plain), (compressed, other.compressed)].map { one, other in
        one.body.withUnsafeReadableBytes { bytes in
          other.body.withUnsafeReadableBytes { $0.baseAddress == bytes.baseAddress }
        }
      }
    }
  }

  @Test("what never changes is kept: the page, its files, the document")
  func constants() async throws {
    let routes = PageRoutes.all
    let table = RouteTable(
      routes + [ServiceRoutes.describing(routes)], access: nil, counters: RequestCounters())
    for path in ["\(Page.folder)page.js", "\(Page.folder)page.css", "/v1/openapi.json"] {
      let first = try await Asked(path, of: table)
      #expect(first.shares(with: try await Asked(path, of: table)) == [true, true], "\(path)")
    }
  }

  @Test("the list of assets is kept until another instrument is listed, or one is no longer")
  func assets() async throws {
    let fixture = try await GatewayFixture()
    let routes = AlpacaRoutes(market: MarketRoutes(memory: fixture.memory, pool: fixture.pool)).all
    let table = RouteTable(routes, access: nil, counters: RequestCounters())
    var samples = StoreSamples(seed: 5)
    func list(_ position: Int, instruments: Int, delisted: Int? = nil) async throws -> Asked {
      var commit = samples.sweep(
        position: Int64(position), instruments: instruments,
        second: Session.morningOpen + position * 3)
      if let delisted { commit.quotes[delisted].quote.status = .delisted }
      _ = try await fixture.writer.commit(commit)
      _ = try await fixture.state(through: Int64(position))
      return try await Asked("/v2/assets", of: table)
    }
    func tradable(_ asked: Asked) -> Int {
      String(buffer: asked.plain.body).matches(of: #/"tradable":true/#).count
    }
    let first = try await list(1, instruments: 4)
    let second = try await list(2, instruments: 4)
    #expect(second.shares(with: first) == [true, true] && tradable(second) == 4)
    let third = try await list(3, instruments: 4, delisted: 1)
    #expect(third.shares(with: second) == [false, false] && tradable(third) == 3)
    #expect(tradable(try await list(4, instruments: 5)) == 5)
  }
}

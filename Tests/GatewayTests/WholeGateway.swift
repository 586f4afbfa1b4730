import AppStore
import Commits
import Foundation
import HTTPTypes
import Market
import NIOCore
import NIOPosix
import Platform
import Postgres
import Store
import TestSupport
import Testing

@testable import Gateway

/// A gateway with all that it serves, access control without limits, and a token for everything.
struct WholeGateway {
  let served: ServedFixture
  let parts: Gateway.Parts
  let secret: TokenSecret
  let table: RouteTable

  init() async throws {
    served = try await ServedFixture(commandMilliseconds: 20, fill: Self.fill)
    try Self.addLedger(to: served.database)
    let tokens = TokenTable(try AppConnection(url: served.database.url, application: "test"))
    var generator = SystemRandomNumberGenerator()
    secret = TokenSecret(using: &generator)
    _ = try tokens.create(secret, user: "alice", name: "test", scopes: [.market, .account, .trade])
    let control = AccessControl(.init(), directory: TokenDirectory())
    control.directory.replace(with: try tokens.inForce())
    parts =
      served.gateway.parts(control: control, loops: MultiThreadedEventLoopGroup.singleton).parts
    table = served.gateway.table(parts)
  }

  func ask(
    _ path: String, method: HTTPRequest.Method = .get, body: String? = nil,
    headers: HTTPFields = [:], bearer: String? = nil
  ) async throws -> Reply {
    var headers = headers
    headers[.authorization] = "Bearer \(bearer ?? secret.reveal())"
    return try await AskedRequest(
      path: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) }
    ).answer(from: table)
  }

  func listen<Result: Sendable>(
    body: @escaping @Sendable (_ port: Int) async throws -> Result
  ) async throws -> Result {
    try await LiveServer.run(served.gateway, parts, body: body)
  }

  /// As `ServedFixture.twoHours`, and minutes of an American share, some before the open, and half
  /// an hour of another share.
  private static func fill(_ writer: StoreWriter) async throws -> Int64 {
    let last = try await ServedFixture.twoHours(writer)
    var samples = StoreSamples(seed: 15)
    var commit = samples.sweep(position: last + 1, instruments: 0)
    commit.knownAt = StoreSamples.start.adding(seconds: 119 * 60)
    commit.candles = try (0..<90).map { minute in
      var candle = samples.candle(0, minute: minute)
      candle.symbol = try #require(Symbol("AAPL"))
      candle.openedAt = Timestamp(
        day: StoreSamples.day.advanced(by: -3), newYorkSecondOfDay: 9 * 3_600 + minute * 60)
      candle.closedAt = candle.openedAt.adding(seconds: 60)
      candle.tradingDay = StoreSamples.day.advanced(by: -3)
      // The registry's first source of American bars.
      candle.source = Source(rawValue: 3)
      return candle
    }
    // sh600519, the symbol of the document's examples.
    commit.candles += (0..<30).map { samples.candle(519, minute: $0) }
    commit.quotes = [samples.quote(519, second: Session.closing(ofMinute: 29))]
    commit.quotes[0].forming = nil
    _ = try await writer.commit(commit)
    return last + 1
  }

  /// Ten gaps and disagreements more.
  private static func addLedger(to database: StoreDatabase) throws {
    try database.execute(
      """
      insert into candled.gap
        (instrument_id, trading_day, from_at, to_at, volume, turnover, cause, known_from)
      select i.id, '2026-07-06', t, t + interval '1 minute', 1.50, 3.250, 2, '2026-07-06 12:00+08'
      from candled.instrument i
      cross join generate_series(
        timestamptz '2026-07-06 10:00+08', '2026-07-06 10:09+08', interval '1 minute') t
      where i.symbol = 'sh600000';
      insert into candled.disagreement
        (instrument_id, timeframe, opened_at, trading_day, field, ours, theirs, our_source,
          their_source, known_from)
      select i.id, 1, t, '2026-07-06', 'close', 1.50, 1.500001, i.source, i.source,
        '2026-07-06 12:00+08'
      from candled.instrument i
      cross join generate_series(
        timestamptz '2026-07-06 10:00+08', '2026-07-06 10:09+08', interval '1 minute') t
      where i.symbol = 'sh600001';
      """)
  }
}

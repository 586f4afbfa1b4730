import AppStore
import Foundation
import HTTPTypes
import Logging
import Market
import NIOCore
import NIOPosix
import Operations
import Platform
import Postgres
import Reader
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// The user's own things through the table of routes, with a real database behind it.
@Suite struct AccessRoutesTests {
  private let database: StoreDatabase
  private let table: RouteTable
  private let log: Logger
  private let secret: TokenSecret
  private let lines = Locked<[String]>([])

  init() throws {
    database = try StoreDatabase.withApps()
    let url = database.url(role: DatabaseRole.app)
    var generator = SystemRandomNumberGenerator()
    secret = TokenSecret(using: &generator)
    let tokens = TokenTable(try AppConnection(url: url, application: "test"))
    _ = try tokens.create(secret, user: "alice", name: "test", scopes: [.account])
    log = Logger(label: "test") { [lines] _ in RecordingLog(lines: lines) }
    let control = AccessControl(
      .init(try ConfigurationFile.load(nil, overrides: [])), directory: TokenDirectory())
    control.directory.replace(with: try tokens.inForce())
    let gateway = Gateway(
      GatewayOptions(listen: .ipv4(host: "127.0.0.1", port: 0), databaseURL: url), log: log)
    let records = try [("sh600519", "CNY"), ("sz000001", "CNY"), ("AAPL", "USD")].enumerated()
      .map { index, listed in
        SeriesRecord(
          id: Int32(index + 1), symbol: try #require(Symbol(anySpelling: listed.0)),
          source: Source(rawValue: 1), sourceName: "one", priority: 1, name: nil, exchange: nil,
          kind: nil,
          board: nil, currency: listed.1, zone: .shanghai)
      }
    var state = MarketState()
    state.directory = InstrumentDirectory().updated(with: records)
    gateway.memory.publish(state)
    table = gateway.table(
      gateway.parts(control: control, loops: MultiThreadedEventLoopGroup.singleton).parts)
  }

  private func ask(
    _ method: HTTPRequest.Method, _ path: String, body: String? = nil, bearer: String? = nil
  ) async throws -> Reply {
    let headers: HTTPFields = [.authorization: "Bearer \(bearer ?? secret.reveal())"]
    let asked = AskedRequest(
      path: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
    return try await asked.answer(from: table, log: log)
  }

  @Test func `a watchlist is made, filled, reordered, renamed and deleted`() async throws {
    let made = try await ask(.post, "/v1/watchlists", body: #"{"name":"自选"}"#)
    #expect(made.status == 201)
    let list = try #require(made.headers[.location])
    #expect(made.body == #"{"id":"1","name":"自选","symbols":[]}"#)
    let put = try await ask(
      .put, list + "/symbols/600519.SH", body: #"{"low":"1769.040"}"#)
    #expect(put.status == 204)
    #expect(try await ask(.put, list + "/symbols/sz000001").status == 204)
    let order = try await ask(
      .put, list + "/symbols",
      body: #"{"symbols":["sz000001",{"symbol":"AAPL","high":"200.10"},"sh600519"]}"#)
    #expect(
      order.body == #"{"id":"1","name":"自选","symbols":[{"symbol":"sz000001"},"#
        + #"{"symbol":"AAPL","high":"200.10"},{"symbol":"sh600519","low":"1769.040"}]}"#)
    #expect(try await ask(.delete, list + "/symbols/AAPL").status == 204)
    #expect(try await ask(.delete, list + "/symbols/AAPL").status == 204)
    #expect(try await ask(.put, list, body: #"{"name":"b"}"#).status == 204)
    #expect(
      try await ask(.get, "/v1/watchlists").body
        == #"{"watchlists":[{"id":"1","name":"b","symbols":[{"symbol":"sz000001"},"#
        + #"{"symbol":"sh600519","low":"1769.040"}]}]}"#)
    #expect(try await ask(.delete, list).status == 204)
    #expect(try await ask(.delete, list).status == 204)
    #expect(try await ask(.get, "/v1/watchlists").body == #"{"watchlists":[]}"#)
  }

  @Test(arguments: [
    ("POST", "/v1/watchlists", "{", 400, "invalid_argument"),
    ("POST", "/v1/watchlists", #"{"name":1}"#, 400, "invalid_argument"),
    ("POST", "/v1/watchlists", #"{"name":""}"#, 422, "invalid_argument"),
    ("POST", "/v1/watchlists", #"{"name":"taken"}"#, 409, "name_taken"),
    ("PUT", "/v1/watchlists/99", #"{"name":"b"}"#, 404, "unknown_watchlist"),
    ("PUT", "/v1/watchlists/x", #"{"name":"b"}"#, 404, "not_found"),
    ("PUT", "/v1/watchlists/1?id=2", #"{"name":"b"}"#, 400, "invalid_argument"),
    ("PUT", "/v1/watchlists/1/symbols/nonsense!", "", 404, "unknown_symbol"),
    ("PUT", "/v1/watchlists/1/symbols/AAPL", #"{"low":"1e400"}"#, 422, "invalid_argument"),
    ("PUT", "/v1/watchlists/1/symbols/AAPL", #"{"low":1}"#, 400, "invalid_argument"),
    ("PUT", "/v1/watchlists/1/symbols/AAPL", #"{"low":"-1"}"#, 422, "invalid_argument"),
    ("PUT", "/v1/watchlists/1/symbols", #"{"symbols":["AAPL","AAPL"]}"#, 422, "symbol_twice"),
    ("PUT", "/v1/watchlists/1/symbols", #"{"symbols":["nonsense!"]}"#, 409, "unknown_symbol"),
    ("PUT", "/v1/watchlists/1/symbols/AAPL", #"{"low":"2","high":"1"}"#, 422, "triggers_cross"),
    ("PUT", "/v1/watchlists/1/symbols", #"{"symbols":[null]}"#, 400, "invalid_argument"),
    ("PUT", "/v1/preferences", "[]", 422, "invalid_argument"),
  ])
  func `bad input has its status and code`(
    _ method: String, _ path: String, _ body: String, _ status: Int, _ code: String
  ) async throws {
    _ = try await ask(.post, "/v1/watchlists", body: #"{"name":"taken"}"#)
    let method = try #require(HTTPRequest.Method(method))
    let answer = try await ask(method, path, body: body)
    #expect(answer.status == status && answer.body.contains("\"code\":\"\(code)\""), "\(answer)")
    #expect(answer.headers[.contentType] == "application/problem+json")
  }

  @Test func `a list with a symbol that is not listed any more is ordered and thinned`()
    async throws
  {
    _ = try await ask(.post, "/v1/watchlists", body: #"{"name":"a"}"#)
    try database.execute(
      """
      insert into candled_app.watchlist_item (watchlist_id, position, symbol)
      values (1, 0, 'sh600001'), (1, 1, 'sz000001')
      """)
    let path = "/v1/watchlists/1/symbols"
    let ordered = try await ask(.put, path, body: #"{"symbols":["sz000001","sh600001"]}"#)
    #expect(ordered.status == 200, "\(ordered)")
    let other = try await ask(.put, path, body: #"{"symbols":["sh600001","sh600002"]}"#)
    #expect(other.status == 409 && other.body.contains(#""found":"sh600002""#), "\(other)")
    #expect(try await ask(.put, path, body: #"{"symbols":["sh600001"]}"#).status == 200)
    #expect(try await ask(.put, path, body: #"{"symbols":[]}"#).status == 200)
    #expect(try await ask(.put, path, body: #"{"symbols":["sh600001"]}"#).status == 409)
  }

  @Test func `an app changes its own preferences and leaves those of others`() async throws {
    let path = "/v1/preferences"
    #expect(try await ask(.put, path, body: #"{"mine": 1, "page": {"a": 1}}"#).status == 204)
    #expect(try await ask(.patch, path, body: #"{"page": {"b": 2}}"#).status == 204)
    #expect(try await ask(.get, path).body == #"{"mine": 1, "page": {"b": 2}}"#)
    #expect(try await ask(.patch, path, body: "[]").status == 422)
    #expect(try await ask(.put, path, body: "{}").status == 204)
    #expect(try await ask(.patch, path, body: #"{"page": {}}"#).status == 204)
    #expect(try await ask(.get, path).body == #"{"page": {}}"#)
  }

  @Test func `preferences come back, and a body has a bound`() async throws {
    let first = try await ask(.get, "/v1/preferences")
    #expect(first.body == "{}")
    let sent = #"{"every": "2s"}"#
    let written = try await ask(.put, "/v1/preferences", body: sent)
    #expect(written.status == 204)
    let second = try await ask(.get, "/v1/preferences")
    #expect(second.body == sent)
    let large = String(repeating: "x", count: RouteTable.bodyBytesMax + 1)
    let refused = try await ask(.put, "/v1/preferences", body: large)
    #expect(refused.status == 413)
    // What the table takes is less.
    let stored = "{\"a\":\"\(String(repeating: "x", count: PreferenceTable.bytesMax))\"}"
    let unstored = try await ask(.put, "/v1/preferences", body: stored)
    #expect(unstored.status == 413 && unstored.body.contains("body_too_large"))
  }

  @Test func `a body of another type than JSON is refused, whatever is in it`() async throws {
    func put(_ type: String?, _ body: String) async throws -> Int {
      var headers: HTTPFields = [.authorization: "Bearer \(secret.reveal())"]
      headers[.contentType] = type
      // What a client accepts changes nothing.
      headers[.accept] = "text/html"
      let request = AskedRequest(
        path: "/v1/preferences", method: .put, headers: headers, body: ByteBuffer(string: body))
      return try await request.answer(from: table, log: log).status
    }
    for type in [
      nil, "application/json", "Application/JSON;charset=utf-8", "application/json ;x=y",
    ] {
      #expect(try await put(type, "{}") == 204, "\(type ?? "none")")
    }
    for type in ["", "text/plain", "application/x-www-form-urlencoded", "application/jsonp"] {
      #expect(try await put(type, "{}") == 415, "\(type)")
      // Nothing is no JSON, of whatever type.
      #expect(try await put(type, "") == 422, "\(type)")
    }
  }

  @Test func `a ticket is given to a token`() async throws {
    let answer = try await ask(.post, "/v1/tickets")
    #expect(answer.status == 201 && answer.body.contains("\"expiresInSeconds\":30"))
    let wrong = try await ask(.post, "/v1/tickets", bearer: "x")
    #expect(wrong.status == 401)
    #expect(wrong.headers[.wwwAuthenticate] == "Bearer realm=\"candled\"")
    #expect(wrong.headers[.init("RateLimit")!] != nil)  // Safe: a constant that is a field name
  }

  @Test func `without the database tokens are known and lists are 503`() async throws {
    try database.execute("alter schema candled_app rename to elsewhere")
    let answer = try await ask(.get, "/v1/watchlists")
    #expect(answer.status == 503 && answer.body.contains("store_away"))
    #expect(answer.headers[.retryAfter] == "2")
    #expect(try await ask(.post, "/v1/tickets").status == 201)
  }

  @Test func `no token reaches a log or the database`() async throws {
    let digits = String(secret.reveal().dropFirst(TokenSecret.prefix.count))
    for path in ["/v1/watchlists", "/v1/none", "/v1/preferences?token=\(secret.reveal())"] {
      let answer = try await ask(.get, path)
      #expect(!answer.body.contains(digits) && !"\(answer.headers)".contains(digits))
    }
    #expect(lines.withLock { $0 }.allSatisfy { !$0.contains(digits) })
    let statements = try database.execute("select query from pg_stat_activity")
    #expect(!"\(statements)".contains(digits))
  }
}

struct RecordingLog: LogHandler {
  let lines: Locked<[String]>
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    lines.withLock { $0.append("\(event.message) \(event.metadata ?? [:]) \(metadata)") }
  }
}

import AppStore
import Foundation
import Logging
import Market
import Operations
import Platform
import Postgres
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// Tokens and tickets, in force and made up, in every place where a client can put one, with the
/// log at trace: none is found in the log, the metrics, an answer, or the database.
@Suite(.ownThread) struct AccessCanaryTests {
  private let database: StoreDatabase
  private let secret: TokenSecret
  /// Looks like one.
  private let forged = TokenSecret.prefix + String(repeating: "CANARY7", count: 6) + "x"
  private let control: AccessControl
  private let tokens: TokenTable
  private let lines = Locked<[String]>([])

  init() throws {
    database = try StoreDatabase.withApps()
    var generator = SystemRandomNumberGenerator()
    secret = TokenSecret(using: &generator)
    tokens = TokenTable(
      try AppConnection(url: database.url(role: DatabaseRole.app), application: "test"))
    _ = try tokens.create(
      secret, user: "alice", name: "test", scopes: Set(TokenScope.allCases))
    control = AccessControl(.init(anonymous: true), directory: TokenDirectory())
  }

  @Test("no token or ticket leaves the request that carries it")
  func secrets() async throws {
    let log = traceLog
    var options = GatewayOptions(
      listen: .ipv4(host: "127.0.0.1", port: 0), databaseURL: database.url(role: DatabaseRole.app))
    options.queryConnections = 1
    let follower = try control.directory.follow(url: options.databaseURL, log: log)
    defer { follower.stop() }
    while !control.directory.isLoaded { try await Task.sleep(for: .milliseconds(5)) }
    let (answers, tickets) = try await HostileServer.run(
      Gateway(options, log: log), control: control
    ) { port in
      let tickets = try Self.tickets(port: port, secret: secret)
      var answers: [String] = []
      for token in [secret.reveal(), forged] {
        answers += try Self.requests(with: token).map { try Self.answer(to: $0, port: port) }
        answers += try Self.messages(with: token, port: port)
      }
      for ticket in tickets {
        let client = try StreamsClient(port: port)
        answers.append(try client.upgrade("/ws?ticket=\(ticket)"))
      }
      answers.append(try Self.answer(to: Self.request("GET", "/metrics"), port: port))
      return (answers, tickets)
    }
    #expect(tickets.count == 2 && answers.contains { $0.contains("candled_gateway_") })
    #expect(answers.contains { $0.hasPrefix("HTTP/1.1 201") })
    var places = ["log": lines.withLock { $0.joined(separator: "\n") }]
    places["answers"] = answers.joined(separator: "\n")
    places["database"] = try everything()
    for (place, text) in places {
      #expect(!text.isEmpty || place == "log")
      for canary in [secret.reveal(), forged] + tickets {
        for form in Self.forms(of: canary) {
          #expect(!text.contains(form), "\(place) has \(form.prefix(6))…")
        }
      }
    }
  }

  private var traceLog: Logger {
    var log = Logger(label: "gateway") { [lines] _ in RecordingLog(lines: lines) }
    log.logLevel = .trace
    return log
  }

  // MARK: What is sent

  private static func tickets(port: Int, secret: TokenSecret) throws -> [String] {
    try (0..<2).map { _ in
      let client = try StreamsClient(port: port)
      let bearer = ["Authorization: Bearer \(secret.reveal())", "Content-Length: 0"]
      client.write(Array(request("POST", "/v1/tickets", headers: bearer).utf8))
      let text = try client.text(through: "}")
      let found = text.firstMatch(of: #/"ticket":"([^"]+)"/#)
      return String(try #require(found).output.1)
    }
  }

  private static func request(
    _ method: String, _ path: String, headers: [String] = [], body: String = ""
  ) -> String {
    (["\(method) \(path) HTTP/1.1", "Host: test", "Connection: close"] + headers + ["", body])
      .joined(separator: "\r\n")
  }

  private static func requests(with token: String) -> [String] {
    let bearer = "Authorization: Bearer \(token)"
    var requests = [
      bearer, "Authorization: \(token)", "Authorization: Basic \(token)",
      "Authorization: Bearer \(token) \(token)", "APCA-API-SECRET-KEY: \(token)",
      "APCA-API-KEY-ID: \(token)", "Cookie: token=\(token)", "Referer: http://x/?\(token)",
      "User-Agent: \(token)", "X-Forwarded-For: \(token)", "Origin: http://\(token)",
      "Last-Event-ID: \(token)", "If-None-Match: \"\(token)\"", "Idempotency-Key: \(token)",
    ].flatMap { header in
      ["/v1/market", "/v1/watchlists", "/v2/stocks/bars?symbols=AAPL"].map {
        request("GET", $0, headers: [header])
      }
    }
    for path in [
      "/\(token)", "/v1/stocks/\(token)", "/v1/market?token=\(token)", "/ws?token=\(token)",
      "/v1/market?\(token)", "/v1/stream?symbols=sh600519&ticket=\(token)",
      "/v1/market?x=%63ndl_\(token.dropFirst(5))",
    ] {
      requests += [request("GET", path), request("GET", path, headers: [bearer])]
    }
    let name = #"{"name":"mine"}"#
    requests.append(
      request(
        "POST", "/v1/watchlists", headers: [bearer, "Content-Length: \(name.utf8.count)"],
        body: name))
    for body in [token, "{\"token\":\"\(token)\"}", "{\"symbols\":[\"\(token)\"]}"] {
      let headers = [bearer, "Content-Length: \(body.utf8.count)"]
      requests.append(request("POST", "/v1/watchlists", headers: headers, body: body))
      requests.append(request("PUT", "/v1/watchlists/1/symbols", headers: headers, body: body))
    }
    return requests
  }

  private static func answer(to request: String, port: Int) throws -> String {
    let client = try StreamsClient(port: port)
    client.write(Array(request.utf8))
    return request.hasPrefix("GET /v1/stream")
      ? try client.text(through: "\r\n") : String(decoding: client.rest(), as: UTF8.self)
  }

  private static func messages(with token: String, port: Int) throws -> [String] {
    var answers: [String] = []
    for message in [
      #"{"action":"auth","token":"\#(token)"}"#, #"{"action":"auth","token":["\#(token)"]}"#,
      #"{"token":"\#(token)"}"#, #"{"action":"subscribe","token":"\#(token)"}"#, token,
    ] {
      let client = try StreamsClient(port: port)
      answers.append(try client.upgrade())
      client.send(message)
      // Every message is answered: beside the greeting one more comes, or the end.
      for _ in 0..<2 { if case .text(let text) = try client.frame() { answers.append(text) } }
    }
    return answers
  }

  // MARK: Where it is looked for

  private func everything() throws -> String {
    let tables = try database.execute(
      """
      select format('%I.%I', schemaname, tablename)
      from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema')
        and schemaname not like 'pg_temp%'
      """)
    var text = ""
    for table in tables.compactMap({ $0.first ?? nil }) {
      let rows = try database.execute("select t::text from \(table) t")
      text += rows.map { ($0.first ?? nil) ?? "" }.joined(separator: "\n")
    }
    return text + "\(try database.execute("select a::text from pg_stat_activity a"))"
  }

  private static func forms(of canary: String) -> [String] {
    let part = String(canary.dropFirst(canary.hasPrefix(TokenSecret.prefix) ? 5 : 0))
    let hex = part.utf8.map { String($0, radix: 16) }.joined()
    return [
      part, hex, hex.uppercased(), Data(part.utf8).base64EncodedString().trimmingSuffix("="),
      Data(canary.utf8).base64EncodedString().trimmingSuffix("="),
    ]
  }
}

extension String {
  fileprivate func trimmingSuffix(_ character: Character) -> String {
    String(reversed().drop { $0 == character }.reversed())
  }
}

import EmbeddedPostgres
import Foundation
import Glibc
import Platform
import Postgres
import TestSupport

/// A built gateway at trace level beside the daemon of a trial. A token in force and one that is
/// not are shown to it wherever a client can put one: in headers, bodies, addresses and messages,
/// by REST, SSE and WebSocket. What it answers is searched with all the rest.
struct CanaryGateway {
  private let world: TrialDay
  private let process: DaemonProcess
  private let port: UInt16

  private static let startSecondsMax = 120
  private static let stopSecondsMax = 20
  /// Streams do not end: so long after their last byte they are left.
  private static let streamSeconds = 1
  private static let answerSecondsMax = 10

  init(_ world: TrialDay, beside binary: String) throws {
    guard let cluster = world.cluster, let url = world.storeURL(as: DatabaseRole.app) else {
      throw TrialFailure("no cluster")
    }
    self.world = world
    port = try LoopbackListener.freePort()
    var settings = DaemonSettings()
    settings["gateway.listen"] = "\"127.0.0.1:\(port)\""
    settings["gateway.store_url"] = "\"\(url)\""
    settings["gateway.address_requests_per_second"] = "0"
    settings["gateway.address_bytes_per_second"] = "0"
    settings["log.level"] = "\"trace\""
    let program = URL(fileURLWithPath: binary).deletingLastPathComponent()
      .appendingPathComponent("candled-gateway").path
    process = try world.daemon(settings, binary: program, named: "gateway")
    let owner = cluster.server.url(database: EmbeddedServer.databaseName, role: "postgres")
    let apply =
      "\(program) schema apply --config \(process.configuration) "
      + "--set 'gateway.store_url=\(owner)' 2>&1"
    guard Shell.output(of: apply) != nil else {
      throw TrialFailure("the gateway's schema cannot be applied")
    }
    // Backwards, or the server would keep what nobody may find.
    try SQLProbe.run(
      """
      insert into candled_app.app_user (name) values ('canary');
      insert into candled_app.token (user_id, name, scopes, hash)
      select u.id, 'canary', array['market', 'account'],
        sha256(reverse('\(String(("cndl_" + Canaries.token).reversed()))')::bytea)
      from candled_app.app_user u
      """, url: world.url)
  }

  /// - Throws: `TrialFailure` unless it has quotes in time.
  func start() throws {
    try process.start()
    let deadline = MonotonicClock.milliseconds() + Int64(Self.startSecondsMax) * 1_000
    while AdminScraper.get("/readyz", port: port)?.starts(with: "HTTP/1.1 200".utf8) != true {
      guard process.isRunning, MonotonicClock.milliseconds() < deadline else {
        throw TrialFailure("the gateway does not serve: \(process.logTail)")
      }
      usleep(50_000)
    }
  }

  /// Shows it both tokens everywhere.
  /// - Returns: what was not answered as it should be.
  func ask() -> [String] {
    var complaints: [String] = []
    for (digits, expected) in [(Canaries.token, 200), (Canaries.refusedToken, 401)] {
      let token = "cndl_" + digits
      let status = ask(Self.get("/v1/market", ["Authorization: Bearer \(token)"]))
      if status != expected { complaints.append("a token has \(status), not \(expected)") }
      for request in Self.requests(with: token) { _ = ask(request) }
      for request in Self.streams(with: token) {
        let status = ask(request, secondsMax: Self.streamSeconds)
        if status == 0 { complaints.append("a stream was not answered") }
      }
    }
    let metrics = ask(Self.get("/metrics", []))
    if metrics != 200 { complaints.append("\(metrics) for the metrics") }
    return complaints
  }

  func stop() -> [String] {
    process.signal(SIGTERM)
    let status = process.end(secondsMax: Self.stopSecondsMax)
    return status == 0 ? [] : ["the gateway did not stop in order: \(process.logTail)"]
  }

  /// - Returns: the answer's status; 0 for none.
  private func ask(_ request: [UInt8], secondsMax: Int = answerSecondsMax) -> Int {
    guard let answer = AdminScraper.answer(to: request, port: port, secondsMax: secondsMax) else {
      return 0
    }
    world.answers.append(answer)
    return Int(String(decoding: answer.dropFirst(9).prefix(3), as: UTF8.self)) ?? 0
  }

  // MARK: What is sent

  private static func head(_ line: String, _ headers: [String]) -> [UInt8] {
    Array(
      ([line + " HTTP/1.1", "Host: localhost"] + headers + ["", ""])
        .joined(separator: "\r\n").utf8)
  }

  private static func get(_ path: String, _ headers: [String]) -> [UInt8] {
    head("GET \(path)", headers + ["Connection: close"])
  }

  private static func requests(with token: String) -> [[UInt8]] {
    let bearer = "Authorization: Bearer \(token)"
    let headers = [
      bearer, "Authorization: \(token)", "Authorization: Basic \(token)",
      "APCA-API-SECRET-KEY: \(token)", "APCA-API-KEY-ID: \(token)", "Cookie: t=\(token)",
      "Referer: http://x/?\(token)", "User-Agent: \(token)", "X-Forwarded-For: \(token)",
      "Origin: http://\(token)", "If-None-Match: \"\(token)\"", "Last-Event-ID: \(token)",
    ]
    let paths = [
      "/v1/stocks/AAPL", "/v1/watchlists", "/v2/stocks/bars?symbols=AAPL&timeframe=1Min",
    ]
    var requests = headers.flatMap { header in paths.map { get($0, [header]) } }
    for path in ["/\(token)", "/v1/stocks/\(token)", "/v1/market?token=\(token)", "/v1/x?\(token)"]
    {
      requests += [get(path, []), get(path, [bearer])]
    }
    for body in [token, "{\"name\":[\"\(token)\"]}", "{\"symbols\":[\"\(token)\"]}"] {
      for line in ["POST /v1/watchlists", "PUT /v1/watchlists/1/symbols"] {
        let fields = [bearer, "Content-Length: \(body.utf8.count)", "Connection: close"]
        requests.append(head(line, fields) + Array(body.utf8))
      }
    }
    return requests
  }

  private static func streams(with token: String) -> [[UInt8]] {
    let bearer = "Authorization: Bearer \(token)"
    let upgrade = [
      "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]
    let events = ["/v1/stream?symbols=AAPL", "/v1/stream?symbols=AAPL&token=\(token)"]
    let messages = [
      #"{"action":"auth","token":"\#(token)"}"#, #"{"action":"auth","token":["\#(token)"]}"#,
      #"{"action":"subscribe","token":"\#(token)","id":"x"}"#, token,
    ]
    let doors = [
      #"{"action":"auth","key":"x","secret":"\#(token)"}"#,
      #"{"action":"auth","key":"\#(token)","secret":"x"}"#,
    ]
    return events.map { head("GET \($0)", [bearer]) } + [head("GET /ws", upgrade + [bearer])]
      + messages.map { head("GET /ws", upgrade) + message($0) }
      + doors.map { head("GET /v2/iex", upgrade) + message($0) }
      + [head("GET /ws?ticket=\(token)", upgrade), head("GET /ws?token=\(token)", upgrade)]
  }

  /// A text frame, masked with zeros.
  private static func message(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    let length: [UInt8] =
      bytes.count < 126 ? [0x80 | UInt8(bytes.count)] : [0xFE, 0, UInt8(bytes.count)]
    return [0x81] + length + [0, 0, 0, 0] + bytes
  }
}

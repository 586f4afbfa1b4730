import Foundation
import Glibc
import Market
import TestSupport
import TestTraits
import Testing

/// Clients in other languages, as their README shows them, against the built gateway.
@Suite(.ownThread) struct ClientTests {
  /// The repository's folder `clients`.
  private static let folder =
    #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined() + "/clients"
  private static let symbols = GatewayStand.symbols
  private static let python = folder + "/python"

  /// Debian's Python, and that of `script/bootstrap`, which has a newer `websockets`.
  private static let interpreters = [
    PythonProcess.interpreter, folder.dropLast("clients".count) + ".build/python/bin/python",
  ]

  // MARK: Python

  @Test(arguments: interpreters)
  func `the tests of the Python package pass`(interpreter: String) throws {
    let tests = try PythonProcess.start(
      ["-W", "error::DeprecationWarning", "-m", "unittest", "discover", "-s", "tests"],
      in: Self.python, interpreter: interpreter)
    #expect(try tests.ended() == 0, "\(tests.captured)")
    #expect(tests.captured.contains("\nOK"))
  }

  @Test func `the lines of the Python README print prices`() async throws {
    let stand = try await GatewayStand()
    try await stand.commitMinute()
    let gateway = try stand.start()
    let readme = try String(contentsOfFile: Self.python + "/README.md", encoding: .utf8)
    let block = try #require(readme.firstMatch(of: /(?s)```python\n(.*?)```/)?.output.1)
    let script = String(block)
      .replacing("ws://127.0.0.1:8466", with: gateway.socketURL)
      .replacing("cndl_…", with: try stand.token().secret)
      .replacing("sh600519", with: Self.symbols[0])
    #expect(block.split(separator: "\n").count <= 10)
    let client = try PythonProcess.start(["-u", "-c", script], in: Self.python)
    for _ in 0..<2 {
      let line = "\(Self.symbols[0]) \(try stand.price(of: Self.symbols[0])) 2026-07-06 "
      #expect(client.logContains(line), "\(client.captured)")
      try await stand.commitMinute()
    }
  }

  @Test(arguments: interpreters)
  func `the Python client gets each candle once, whatever is cut`(
    interpreter: String
  ) async throws {
    let stand = try await GatewayStand()
    try await stand.commitMinute()
    let port = try LoopbackListener.freePort()
    let (tokenID, token) = try stand.token()
    let gateway = try stand.start(port: port)
    let client = try PythonProcess.start(
      ["tests/follow.py", gateway.socketURL, token] + Self.symbols, in: Self.python,
      interpreter: interpreter)
    try expect(client, prints: #""is_snapshot": true"#)
    var candles: [Candle] = []
    for _ in 0..<10 {
      client.signal(SIGUSR1)
      for _ in 0..<3 { candles += try await stand.commitMinute() }
      for symbol in Self.symbols {
        try expect(client, prints: "\"current_price\": \"\(try stand.price(of: symbol))\"")
      }
    }
    let last = try #require(candles.last)
    try expect(client, prints: "\"close\": \"\(last.close)\"")
    let printed = try Parsed.lines(client.wholeLines)
    #expect(Self.keys(printed) == candles.map(Self.key).sorted())
    #expect(!printed.contains { $0["type"] as? String == "Resync" })
    let states = printed.compactMap { $0["is_stale"] as? Bool }
    #expect(states.count >= 10 && zip(states, states.dropFirst()).allSatisfy { $0 != $1 })

    // Another process reads the minutes before it from the database.
    _ = try gateway.stop(SIGKILL)
    candles += try await stand.commitMinute()
    let successor = try stand.start(port: port)
    let missed = try #require(candles.last)
    try expect(client, prints: "\"close\": \"\(missed.close)\"")
    for symbol in Self.symbols {
      try expect(client, prints: "\"current_price\": \"\(try stand.price(of: symbol))\"")
    }
    let all = try Parsed.lines(client.wholeLines)
    #expect(Self.keys(all) == candles.map(Self.key).sorted())
    #expect(!all.contains { $0["type"] as? String == "Resync" })
    #expect(try stand.run("token", "revoke", tokenID).status == 0)
    try expect(client, prints: "AccessRefused")
    #expect(try client.ended() == 1 && !client.captured.contains(token))
    #expect(try successor.stop() == 0)
  }

  private static func key(_ candle: Candle) -> String {
    "\(candle.symbol) \(candle.openedAt.microseconds / 1_000_000) \(candle.close)"
  }

  /// Of all candles that were printed.
  private static func keys(_ messages: [[String: Any]]) -> [String] {
    messages.flatMap { $0["candles"] as? [[String: Any]] ?? [] }.map { candle in
      let opened = (candle["opened_at"] as? String ?? "").replacing(" ", with: "T")
      let date = try? Date(opened, strategy: .iso8601)
      let second = Int(date?.timeIntervalSince1970 ?? 0)
      return "\(candle["symbol"] ?? "") \(second) \(candle["close"] ?? "")"
    }.sorted()
  }

  // MARK: JavaScript

  @Test func `the page shows prices, when they are stale, and what changed meanwhile`()
    async throws
  {
    let stand = try await GatewayStand()
    try await stand.commitMinute()
    let port = try LoopbackListener.freePort()
    let (tokenID, token) = try stand.token()
    let page = try PythonProcess.start(
      ["test/browser.py", "ws://127.0.0.1:\(port)/ws", token] + Self.symbols,
      in: Self.folder + "/javascript")
    // Chromium ends with it.
    defer {
      page.signal(SIGTERM)
      _ = try? page.ended()
    }
    try expect(page, prints: "\n")
    let origin = try #require(try Parsed.lines(page.wholeLines).first?["origin"] as? String)
    let gateway = try stand.start(port: port, "gateway.origins=\(origin)")
    try await expectPage(page, of: stand, isStale: false)
    for _ in 0..<3 {
      try await stand.commitMinute()
      try await expectPage(page, of: stand, isStale: false)
    }
    _ = try gateway.stop(SIGKILL)
    try await expectPage(page, of: stand, isStale: true)
    try await stand.commitMinute()
    let successor = try stand.start(port: port, "gateway.origins=\(origin)")
    try await expectPage(page, of: stand, isStale: false)
    #expect(try stand.run("token", "revoke", tokenID).status == 0)
    try expect(page, prints: "refused: ")
    _ = try successor.stop()
  }

  /// Its newest state, once it shows the database's prices.
  private func expectPage(
    _ page: RunningBinary, of stand: GatewayStand, isStale: Bool
  ) async throws {
    let wanted = try Self.symbols.map { [$0, try stand.price(of: $0)] }
    let isShown = page.listens {
      guard let shown = try? Parsed.lines(page.wholeLines).last,
        let rows = shown["rows"] as? [[String]], shown["isStale"] as? Bool == isStale
      else { return false }
      return rows.map { [$0[0], $0[2]] } == wanted
    }
    try #require(isShown, "\(wanted) \(page.captured)")
  }

  // MARK: Swift

  @Test func `the Swift example follows prices through a restart of the gateway`() async throws {
    let program = try Self.builtExample.get()
    let stand = try await GatewayStand()
    try await stand.commitMinute()
    let port = try LoopbackListener.freePort()
    let (tokenID, token) = try stand.token()
    let gateway = try stand.start(port: port)
    let client = try RunningBinary(
      ["http://127.0.0.1:\(port)"] + Self.symbols, environment: ["CANDLED_TOKEN=\(token)"],
      program: program)
    func expectPrices() throws {
      for symbol in Self.symbols {
        try expect(client, prints: "\(symbol) \(try stand.price(of: symbol)) ")
      }
    }
    for _ in 0..<3 {
      try expectPrices()
      try await stand.commitMinute()
    }
    _ = try gateway.stop(SIGKILL)
    try expect(client, prints: "stale: ")
    try await stand.commitMinute()
    let successor = try stand.start(port: port)
    try expect(client, prints: "live\n")
    try expectPrices()
    #expect(try stand.run("token", "revoke", tokenID).status == 0)
    try expect(client, prints: "refused: HTTP 401")
    #expect(try client.ended() == 77)
    _ = try successor.stop()
  }

  /// Beside the tests, so that the next run finds it built.
  private static let builtExample = Result {
    let process = Process()
    let folder = BuiltBinary.folder + "/swift-example"
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "swift", "build", "--package-path", Self.folder + "/swift", "--scratch-path", folder,
    ]
    process.standardOutput = FileHandle.standardError
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "swift build \(process.terminationStatus)")
    return folder + "/debug/follow"
  }

  private func expect(
    _ client: RunningBinary, prints text: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try #require(client.logContains(text), "\(client.captured)", sourceLocation: sourceLocation)
  }
}

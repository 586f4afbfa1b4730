import ExchangeSimulator
import Foundation
import Glibc
import Journal
import Ledgers
import Market
import TestExchange
import TestSupport
import TestTraits
import Testing

/// Keys that must not be found anywhere but in their files and on the wire.
@Suite(.ownThread) struct `A key` {
  private static let licence = "CANARY+licence=7f3a99"
  private static let id = "PKCANARYID0123456789"
  private static let secret = "CANARYsecret+abc/def0123456789"

  /// Each canary as it is, as it goes into a path, in Base64 and as PostgreSQL shows bytes.
  private static let forms: [String] = [licence, id, secret].flatMap { canary in
    [
      canary, canary.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? canary,
      // The last group depends on what follows.
      String(Data(canary.utf8).base64EncodedString().prefix(canary.utf8.count * 4 / 3 - 4)),
      canary.utf8.map { String($0, radix: 16) }.joined(),
    ]
  }

  private static func finds(in text: String) -> [String] { forms.filter(text.contains) }

  private static func file(_ text: String) throws -> String {
    let path = try PrivateCluster.freshDirectory() + "/keys"
    let file = open(path, O_WRONLY | O_CREAT, 0o600)
    defer { close(file) }
    #expect(write(file, text, text.utf8.count) == text.utf8.count)
    return path
  }

  private static func options(
    _ exchange: ExchangeServer, _ echo: EchoServer, _ folder: String
  ) throws -> [String] {
    let keys = [
      "mairui.licence_file": try file(licence + "\n"),
      "alpaca.key_file": try file("\(id) \(secret)\n"), "alpaca.symbols": "AAPL,MSFT",
      "mairui.bases": echo.url, "alpaca.base": echo.url, "alpaca.trading_base": echo.url,
      "sina.history_base": exchange.url, "sina.reference_base": exchange.url,
      "sina.list_base": exchange.url, "log.level": "trace", "universe.follow": "true",
    ]
    return SimulatedMorning.options(
      exchange, [try #require(Symbol("sh000001"))], stateDirectory: folder)
      + keys.flatMap { ["--set", "\($0.key)=\($0.value)"] }
  }

  @Test func `is on the wire and nowhere else, whatever the server repeats`() throws {
    let day = try #require(TradingDay("2026-07-06"))
    let exchange = try ExchangeServer(
      market: SimulatedMarket(seed: 5, day: day, instruments: 12))
    let echo = try EchoServer()
    defer {
      exchange.stop()
      echo.stop()
    }
    let database = try StoreDatabase()
    let folder = try PrivateCluster.freshDirectory()
    let options = try Self.options(exchange, echo, folder)
    let daemon = try RunningBinary(
      ["run"] + options + [
        "--set", "clock.mode=scaled", "--set", "clock.speed=60",
        "--set", "clock.start=2026-07-06T21:31:00+08:00",
      ], input: SimulatedMorning.configuration(database))
    let heads = echo.heads(12).joined()
    #expect(Self.finds(in: heads).count >= 3)
    for file in ["cmdline", "environ"] {
      let printed = String(decoding: try daemon.output(of: file), as: UTF8.self)
      #expect(Self.finds(in: printed) == [] && !printed.isEmpty)
    }
    daemon.signal(SIGTERM)
    #expect(try daemon.ended() == 0)
    #expect(Self.finds(in: daemon.captured) == [] && daemon.captured.contains("endpoint"))
    try expectCleanJournal(folder + "/journal")
    try expectCleanTables(database)
    try expectCleanCommands(options, database)
  }

  private func expectCleanJournal(_ path: String) throws {
    let reader = try JournalReader(directory: path)
    var echoes = 0
    while let (_, entry) = try reader.next() {
      for text in [entry.key, String(decoding: entry.request + entry.body, as: UTF8.self)] {
        #expect(Self.finds(in: text) == [], "\(entry.key)")
        if text.contains("HTTP/1.1") { echoes += 1 }
      }
    }
    #expect(echoes > 3)
  }

  private func expectCleanTables(_ database: StoreDatabase) throws {
    let tables = try database.execute(
      "select format('%I.%I', schemaname, tablename) from pg_tables "
        + "where schemaname not in ('pg_catalog', 'information_schema')")
    var rows = 0
    for table in tables.compactMap({ $0.first ?? nil }) {
      for row in try database.execute("select t::text from \(table) t") {
        #expect(Self.finds(in: (row.first ?? nil) ?? "") == [], "\(table)")
        rows += 1
      }
    }
    #expect(rows > 3)
    #expect(try database.value("select count(*) from api_key_usage") == "1")
  }

  private func expectCleanCommands(_ options: [String], _ database: StoreDatabase) throws {
    for command in [["config", "print"], ["check", "--json"]] {
      let run = try BuiltBinary.run(
        command + options, input: SimulatedMorning.configuration(database))
      #expect(run.status == 0 && !run.output.isEmpty, "\(run.errors)")
      #expect(Self.finds(in: run.output + run.errors) == [])
    }
  }
}

/// A quarter of an hour of a simulated market, run once through the built binary into a database of
/// its own: what the tests of the commands ask about.

import ExchangeSimulator
import Foundation
import Ledgers
import Market
import TestExchange
import TestSupport
import Testing

struct SimulatedMorning: Sendable {
  let run: BuiltBinary.Run
  let database: StoreDatabase
  let journal: String
  let symbols: [Symbol]

  static let instruments = 20
  private static let shared = Result { try SimulatedMorning() }

  static func get() throws -> SimulatedMorning { try shared.get() }

  private init() throws {
    let day = try #require(TradingDay("2026-07-06"))
    let market = SimulatedMarket(seed: 7, day: day, instruments: Self.instruments)
    let exchange = try ExchangeServer(market: market)
    defer { exchange.stop() }
    symbols = market.symbols
    database = try StoreDatabase()
    let folder = try PrivateCluster.freshDirectory()
    journal = folder + "/journal"
    run = try BuiltBinary.run(
      ["run"] + Self.options(exchange, symbols, stateDirectory: folder) + [
        "--set", "clock.mode=stepped", "--set", "clock.start=2026-07-06T09:24:00+08:00",
        "--set", "clock.stop=2026-07-06T09:40:00+08:00",
      ],
      input: Self.configuration(database))
  }

  static func options(
    _ exchange: ExchangeServer, _ symbols: [Symbol], stateDirectory: String
  ) -> [String] {
    [
      "--config", "/dev/stdin", "--set", "state_directory=\(stateDirectory)",
      "--set", "sina.base=\(exchange.url)", "--set", "tencent.base=\(exchange.url)",
      "--set", "quotes.overview=",
      "--set", "sina.history_base=\(exchange.url)", "--set", "sina.list_base=\(exchange.url)",
      "--set", "sina.reference_base=\(exchange.url)",
      "--set", "quotes.symbols=\(symbols.map(\.description).joined(separator: ","))",
    ]
  }

  /// A configuration file for the database, which is reached by a socket.
  static func configuration(
    _ database: StoreDatabase, role: String = StoreDatabase.daemonRole
  ) throws -> [UInt8] {
    let url = try database.daemonURL(role: role)
    return Array("[store]\nurl = \"\(url)\"\n[admin]\nlisten = \"\"\n".utf8)
  }

  /// Runs a command against the morning's database.
  func ask(_ arguments: String...) throws -> BuiltBinary.Run {
    try Self.ask(database, arguments)
  }

  static func ask(
    _ database: StoreDatabase, _ arguments: [String], role: String = StoreDatabase.daemonRole
  ) throws -> BuiltBinary.Run {
    try BuiltBinary.run(
      arguments + ["--config", "/dev/stdin"], input: configuration(database, role: role))
  }
}

/// JSON as the tests look at it.
enum Parsed {
  static func object(_ text: some StringProtocol) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  static func objects(_ text: some StringProtocol) throws -> [[String: Any]] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
  }

  static func lines(_ text: String) throws -> [[String: Any]] {
    try text.split(separator: "\n").map { try object($0) }
  }
}

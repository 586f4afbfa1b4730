/// A whole market on loopback and a durable database, and the settings that join a daemon to both.

import Commits
import EmbeddedPostgres
import ExchangeSimulator
import Glibc
import Ingest
import Ledgers
import Market
import Operations
import Store
import TestExchange
import TestSupport

struct SimulatedDay {
  static let day = TradingDay(daysSince1970: 20_640)  // 2026-07-06

  let database: StoreDatabase
  let exchange: ExchangeServer
  let instruments: Int
  /// Twenty of them, from all over the market.
  let followedSymbols: [String]
  private let folder: String

  /// - Parameter server: settings of PostgreSQL's own.
  init(server: [String: String] = [:]) throws {
    let market = SimulatedMarket(seed: 11, day: Self.day)
    instruments = market.symbols.count
    followedSymbols = stride(from: 0, to: instruments, by: instruments / 20).prefix(20).map {
      "\(market.symbols[$0])"
    }
    exchange = try ExchangeServer(market: market)
    database = try StoreDatabase.alone(isDurable: true, more: server)
    var template = Array("/tmp/candled-bench-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw BenchFailure(description: "cannot create a folder in /tmp")
    }
    folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    guard let file = fopen(symbolsFile, "w") else {
      throw BenchFailure(description: "the folder takes no files")
    }
    defer { fclose(file) }
    for symbol in market.symbols { fputs("\(symbol)\n", file) }
  }

  private var symbolsFile: String { folder + "/symbols" }

  /// The keywords of libpq as a URL, which is what the setting takes.
  var storeURL: String {
    let words = database.url.split(separator: " ")
    return "postgresql:///?" + words.joined(separator: "&")
  }

  /// Settings as `--set` takes them, for the seconds of the day given.
  func overrides(from start: Int, to stop: Int) -> [String] {
    [
      "state_directory=\(folder)", "store.url=\(storeURL)", "sina.base=\(exchange.url)",
      "quotes.sources=sina",
      "sina.history_base=\(exchange.url)", "sina.reference_base=\(exchange.url)",
      "repair.requests_per_night=0",
      "quotes.symbols=", "quotes.symbols_file=\(symbolsFile)", "quotes.overview=",
      "sina.requests_per_minute=600", "clock.mode=stepped",
      "clock.start=\(Timestamp(day: Self.day, secondOfDay: start))",
      "clock.stop=\(Timestamp(day: Self.day, secondOfDay: stop))", "log.level=warning",
    ]
  }

  func settings(from start: Int, to stop: Int) throws -> Settings {
    try ConfigurationFile.load(nil, overrides: overrides(from: start, to: stop), table: .candled)
  }

  /// Bytes under the daemon's folder.
  func journalBytes() -> Int64 { Self.bytes(in: folder + "/journal") }

  /// Stops everything and removes what it left.
  func end() {
    exchange.stop()
    try? database.server.stopImmediately()
    Self.remove(folder)
  }

  private static func names(in folder: String) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  private static func bytes(in folder: String) -> Int64 {
    names(in: folder).reduce(0) { sum, name in
      var status = stat()
      return lstat("\(folder)/\(name)", &status) == 0 ? sum + Int64(status.st_size) : sum
    }
  }

  private static func remove(_ path: String) {
    for name in names(in: path) { remove("\(path)/\(name)") }
    if rmdir(path) != 0 { unlink(path) }
  }
}

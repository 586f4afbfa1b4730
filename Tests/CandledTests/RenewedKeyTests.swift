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

/// Keys that change while the daemon runs: what it asks with, and what its log and its journal tell
/// of them when the server repeats all it hears.
@Suite(.ownThread) struct `A reload that brings other keys` {
  enum Place: String, CaseIterable {
    case file, credential
  }

  private struct Keys {
    var licence: String
    var id: String
    var secret: String

    var all: [String] { [licence, id, secret] }
  }

  private static let old = Keys(
    licence: "OLDCANARY-1+a=7f3a", id: "PKOLDCANARY0123456789", secret: "OLDCANARYs+c/ret=01234")
  private static let new = Keys(
    licence: "NEWCANARY-2+b=9c1d", id: "PKNEWCANARY9876543210", secret: "NEWCANARYs+c/ret=98765")
  /// Nobody listens there: port 1 is reserved (tcpmux).
  private static let elsewhere = "http://127.0.0.1:1"

  private let folder: String
  private let echo: EchoServer
  private let exchange: ExchangeServer
  private let database: StoreDatabase

  init() throws {
    folder = try PrivateCluster.freshDirectory()
    echo = try EchoServer()
    let day = try #require(TradingDay("2026-07-06"))
    exchange = try ExchangeServer(market: SimulatedMarket(seed: 5, day: day, instruments: 12))
    database = try StoreDatabase()
  }

  @Test(arguments: Place.allCases)
  func `asks with the new keys from then on, at the same hosts, and prints neither`(
    place: Place
  ) throws {
    defer {
      exchange.stop()
      echo.stop()
    }
    try write(Self.old)
    try configure(place, mairui: echo.url, alpaca: echo.url)
    let daemon = try RunningBinary(
      ["run", "--config", folder + "/candled.toml"],
      environment: place == .credential ? ["CREDENTIALS_DIRECTORY=\(folder)"] : [])
    #expect(daemon.listens { isAsked(with: Self.old) }, "\(daemon.captured)")

    try write(Self.new)
    try configure(place, mairui: Self.elsewhere, alpaca: Self.elsewhere)
    daemon.signal(SIGHUP)
    #expect(
      daemon.logContains("changed=\"mairui.licence_file, alpaca.key_file\""), "\(daemon.captured)")
    #expect(daemon.logContains("settings need a restart"), "\(daemon.captured)")
    #expect(daemon.logContains("settings=\"mairui.bases, alpaca.base\""), "\(daemon.captured)")
    #expect(daemon.listens { isAsked(with: Self.new) }, "\(daemon.captured)")
    expectNoReturn()

    let canaries = (Self.old.all + Self.new.all).flatMap(Self.spellings)
    let symbol = canaries.joined(separator: " ")
    try configure(place, mairui: echo.url, alpaca: echo.url, symbol: symbol)
    daemon.signal(SIGHUP)
    #expect(daemon.logContains("reload refused"), "\(daemon.captured)")
    daemon.signal(SIGTERM)
    #expect(try daemon.ended() == 0)
    // The file is quoted in the refusal: so the log did get every canary, and took it out.
    let refusal = daemon.captured.split(separator: "\n").first { $0.contains("reload refused") }
    let masks = (refusal ?? "").components(separatedBy: "***").count - 1
    #expect(masks == canaries.count, "\(masks) of \(canaries.count)")
    expectSilence(of: daemon.captured, "log")
    try expectSilenceOfJournal()
  }
}

// MARK: - The world

extension `A reload that brings other keys` {
  private func write(_ text: String, to name: String) {
    #expect(
      FileManager.default.createFile(
        atPath: "\(folder)/\(name)", contents: Data(text.utf8),
        attributes: [.posixPermissions: 0o600]))
  }

  private func write(_ keys: Keys) throws {
    write(keys.licence + "\n", to: "candled.mairui")
    write("\(keys.id) \(keys.secret)\n", to: "candled.alpaca")
  }

  private func configure(
    _ place: Place, mairui: String, alpaca: String, symbol: String = "sh000001"
  ) throws {
    let prefix = place == .credential ? "credential:" : folder + "/"
    write(
      """
      state_directory = "\(folder)"
      store.url = "\(try database.daemonURL())"
      admin.listen = ""
      log.level = "trace"
      quotes.symbols = ["\(symbol)"]
      quotes.overview = []
      sina.base = "\(exchange.url)"
      tencent.base = "\(exchange.url)"
      sina.history_base = "\(exchange.url)"
      sina.list_base = "\(exchange.url)"
      sina.reference_base = "\(exchange.url)"
      mairui.bases = ["\(mairui)"]
      mairui.licence_file = "\(prefix)candled.mairui"
      alpaca.base = "\(alpaca)"
      alpaca.trading_base = "\(echo.url)"
      alpaca.key_file = "\(prefix)candled.alpaca"
      alpaca.symbols = ["AAPL"]
      clock.mode = "scaled"
      clock.speed = 120
      clock.start = "2026-07-06T21:31:00+08:00"

      """, to: "candled.toml")
  }

  private func isAsked(with keys: Keys) -> Bool {
    let heads = echo.heads()
    return heads.contains { $0.contains(Self.percentEncoded(keys.licence)) }
      && heads.contains { $0.contains(keys.id) && $0.contains(keys.secret) }
  }

  /// Who asks with the new key once does not go back.
  private func expectNoReturn() {
    for (old, new) in zip(Self.old.all, Self.new.all) {
      let (old, new) = (Self.percentEncoded(old), Self.percentEncoded(new))
      let heads = echo.heads().map { $0.replacing("+", with: "%2B").replacing("=", with: "%3D") }
        .map { $0.replacing("c/ret", with: "c%2Fret") }
      let since = heads.drop { !$0.contains(new) }
      #expect(!since.isEmpty && !since.contains { $0.contains(old) }, "\(new)")
    }
  }
}

// MARK: - Spellings of a secret

extension `A reload that brings other keys` {
  private static func percentEncoded(_ text: String) -> String {
    let plain = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
    return text.addingPercentEncoding(withAllowedCharacters: plain) ?? text
  }

  private static func base64(_ text: String, after count: Int) -> String {
    Data([UInt8](repeating: 0x20, count: count) + Array(text.utf8)).base64EncodedString()
  }

  /// As somebody may repeat it.
  private static func spellings(_ secret: String) -> [String] {
    [secret, percentEncoded(secret)] + (0..<3).map { base64(secret, after: $0) }
  }

  /// What gives it away: of Base64, the characters that no neighbour of the secret has a part in.
  private static func traces(_ secret: String) -> [String] {
    [secret, percentEncoded(secret)]
      + (0..<3).map { count in
        let first = (count * 8 + 5) / 6
        let end = (count + secret.utf8.count) * 8 / 6
        return String(base64(secret, after: count).prefix(end).dropFirst(first))
      }
  }

  private func expectSilence(of text: String, _ place: String) {
    let traces = (Self.old.all + Self.new.all).flatMap(Self.traces)
    #expect(!text.isEmpty && traces.filter(text.contains) == [], "\(place)")
  }

  private func expectSilenceOfJournal() throws {
    let reader = try JournalReader(directory: folder + "/journal")
    var echoes = 0
    while let (_, entry) = try reader.next() {
      let text = entry.key + String(decoding: entry.request + entry.body, as: UTF8.self)
      expectSilence(of: text, entry.key)
      if text.contains("HTTP/1.1") { echoes += 1 }
    }
    // Of a list, of bars and of a calendar.
    #expect(echoes >= 3)
  }
}

import ExchangeSimulator
import Feeds
import Market
import TestExchange

/// What a trial's daemon is configured with: settings by their names, each value as TOML has it.
package struct DaemonSettings: Sendable {
  private var values: [String: String] = [:]

  /// With nothing but the defaults.
  init() {}

  /// A daemon that asks nobody but the exchange, with a stepped clock.
  /// - Parameter store: a libpq URL; nil for a private PostgreSQL of its own.
  package init(
    folder: String, store: String?, exchange: ExchangeServer, symbols: [Symbol],
    start: Timestamp, stop: Timestamp
  ) {
    self["state_directory"] = "\"\(folder)\""
    if let store { self["store.url"] = "\"\(store)\"" }
    let bases = SourceRegistry.all.compactMap { $0.quotes?.base.key }
    for key in bases + ["sina.history_base", "sina.list_base", "sina.reference_base"] {
      self[key] = "\"\(exchange.url)\""
    }
    // One trial has all of them.
    self["quotes.sources"] = "[\"sina\"]"
    self["mairui.bases"] = "[\"\(exchange.url)\"]"
    self["alpaca.base"] = "\"\(exchange.url)\""
    self["alpaca.trading_base"] = "\"\(exchange.url)\""
    // Time stands still while an answer is on its way, however busy the machine: a deadline that
    // passes meanwhile would be trouble that the exchange did not make.
    self["quotes.deadline"] = "\"60s\""
    self["sina.requests_per_minute"] = "600"
    self["quotes.symbols"] = "[\(symbols.map { "\"\($0)\"" }.joined(separator: ", "))]"
    self["repair.requests_per_night"] = "0"
    self["clock.mode"] = "\"stepped\""
    self["clock.start"] = "\"\(start)\""
    self["clock.stop"] = "\"\(stop)\""
    self["admin.listen"] = "\"\""
    self["log.level"] = "\"warning\""
  }

  package subscript(_ name: String) -> String? {
    get { values[name] }
    set { values[name] = newValue }
  }

  /// A clock that runs so much faster than the real one.
  package mutating func scale(by speed: Int) {
    self["clock.mode"] = "\"scaled\""
    self["clock.speed"] = "\(speed)"
    self["quotes.deadline"] = "\"2500ms\""
    // Real milliseconds of a busy machine are minutes here: they must not be told as silence.
    self["candles.grace"] = "\"20s\""
    self["candles.source_timeout"] = "\"5m\""
  }

  package var text: String {
    values.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)\n" }.joined()
  }
}

/// The section `alpaca` of the configuration.

import Market

/// The two feeds Alpaca's bars are made from. They are different series of the same stock and are
/// never mixed: IEX sees some two percent of the volume (docs/sources/alpaca.md#limits).
enum AlpacaFeed: String, Sendable, Hashable, CaseIterable {
  case iex
  case sip
}

enum AlpacaSettings {
  static let base = Setting.origin(
    "alpaca.base", default: "https://data.alpaca.markets", help: "Host for bars.")
  static let tradingBase = Setting.origin(
    "alpaca.trading_base", default: "https://paper-api.alpaca.markets",
    help: "Host for New York's calendar.")
  static let keyFile = Setting.optionalString(
    "alpaca.key_file", unset: "no US instruments",
    help: "File with one line: key id, space, secret; or credential:NAME (renewed by a restart)."
  ).live
  static let symbols = Setting.symbols(
    "alpaca.symbols", help: "US instruments whose bars are recorded."
  ).live.needing("alpaca.key_file")
  static let feed = Setting.choice(
    "alpaca.feed", default: AlpacaFeed.iex,
    help: "The series: iex is one exchange, sip the whole market.")
  static let delay = Setting.duration(
    "alpaca.delay", default: .seconds(0), in: .zero ... .seconds(3_600),
    help: "Delay of the newest bar. The basic plan needs 16m for sip."
  ).live
  static let requestsPerMinute = Setting.integer(
    "alpaca.requests_per_minute", default: 180, in: 1...10_000,
    help: "Rate limit. A basic account has 200."
  ).live

  static let section = SettingSection(
    "alpaca", base, tradingBase, keyFile, symbols, feed, delay, requestsPerMinute)
}

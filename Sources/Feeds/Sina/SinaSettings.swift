/// The section `sina` of the configuration.

import Market

enum SinaSettings {
  static let base = Setting.origin(
    "sina.base", default: "https://hq.sinajs.cn", help: "Host for quotes.")
  static let batchSymbols = Setting.integer(
    "sina.batch_symbols", default: 800, in: 2...800,
    help: "Symbols per request, sh000001 included."
  ).live
  static let requestsPerMinute = Setting.integer(
    "sina.requests_per_minute", default: 160, in: 1...600,
    help: "Rate limit for quotes. A whole market every 3 s needs 140."
  ).live
  static let historyBase = Setting.origin(
    "sina.history_base", default: "https://quotes.sina.cn", help: "Host for K-lines.")
  static let listBase = Setting.origin(
    "sina.list_base", default: "https://vip.stock.finance.sina.com.cn",
    help: "Host for lists of instruments.")
  static let referenceBase = Setting.origin(
    "sina.reference_base", default: "https://finance.sina.com.cn",
    help: "Host for adjustment factors.")
  static let historyRequestsPerMinute = Setting.integer(
    "sina.history_requests_per_minute", default: 20, in: 1...60_000,
    help: "Rate limit for K-lines, lists and factors. Sina bans an address over 30.")

  static let section = SettingSection(
    "sina", base, batchSymbols, requestsPerMinute, historyBase, listBase, referenceBase,
    historyRequestsPerMinute)
}

/// The section `tencent` of the configuration.

import Market

enum TencentSettings {
  static let base = Setting.origin(
    "tencent.base", default: "https://qt.gtimg.cn", help: "Host for quotes.")
  static let batchSymbols = Setting.integer(
    "tencent.batch_symbols", default: 800, in: 2...800,
    help: "Symbols per request, sh000001 included."
  ).live
  static let requestsPerMinute = Setting.integer(
    "tencent.requests_per_minute", default: 160, in: 1...600,
    help: "Rate limit for quotes. A whole market every 3 s needs 140."
  ).live

  static let section = SettingSection("tencent", base, batchSymbols, requestsPerMinute)
}

/// The settings of sources that do not declare their own yet.

import Market

package struct SinaSettings: Sendable {
  package let sinaBase = Setting.origin(
    "sina.base", default: "https://hq.sinajs.cn",
    help: "Where quotes are asked for.")
  package let sinaBatchSymbols = Setting.integer(
    "sina.batch_symbols", default: 800, in: 2...800,
    help: "Symbols in one request, sh000001 included."
  ).live
  package let sinaRequestsPerMinute = Setting.integer(
    "sina.requests_per_minute", default: 160, in: 1...600,
    help: "Budget for the host. A whole market every 3 s takes 140."
  ).live
  package let sinaHistoryBase = Setting.origin(
    "sina.history_base", default: "https://quotes.sina.cn",
    help: "Where K-lines are asked for.")
  package let sinaListBase = Setting.origin(
    "sina.list_base", default: "https://vip.stock.finance.sina.com.cn",
    help: "Where lists of instruments are asked for.")
  package let sinaReferenceBase = Setting.origin(
    "sina.reference_base", default: "https://finance.sina.com.cn",
    help: "Where adjustment factors are asked for.")
  package let sinaHistoryRequestsPerMinute = Setting.integer(
    "sina.history_requests_per_minute", default: 20, in: 1...60_000,
    help: "The daemon's for K-lines, lists, factors. Over 30 an address gets banned.")
}

package struct MairuiSettings: Sendable {
  package let mairuiBases = Setting.origins(
    "mairui.bases",
    default: ["https://a.mairuiapi.com", "https://api.mairuiapi.com", "https://api.mairui.club"],
    help: "Where lists are asked for, in this order.")
  package let mairuiLicenceFile = Setting.optionalString(
    "mairui.licence_file", unset: "lists come from Sina, if universe.follow",
    help: "File with licences, one a line; or credential:NAME (renewed by a restart)."
  ).live
  package let mairuiRequestsPerDay = Setting.integer(
    "mairui.requests_per_day", default: 50, in: 1...1_000_000,
    help: "Quota of each licence, a Shanghai day."
  ).live
}

package struct AlpacaSettings: Sendable {
  package let alpacaBase = Setting.origin(
    "alpaca.base", default: "https://data.alpaca.markets",
    help: "Where bars are asked for.")
  package let alpacaTradingBase = Setting.origin(
    "alpaca.trading_base", default: "https://paper-api.alpaca.markets",
    help: "Where New York's calendar is requested.")
  package let alpacaKeyFile = Setting.optionalString(
    "alpaca.key_file", unset: "no US instruments",
    help: "File with one line: key id, space, secret; or credential:NAME (renewed by a restart)."
  ).live
  package let alpacaSymbols = Setting.symbols(
    "alpaca.symbols",
    help: "US instruments whose bars are recorded."
  ).live
  package let alpacaFeed = Setting.choice(
    "alpaca.feed", default: AlpacaFeed.iex,
    help: "Which series: one exchange, or the whole market.")
  package let alpacaDelay = Setting.duration(
    "alpaca.delay", default: .seconds(0), in: .zero ... .seconds(3_600),
    help: "How far behind to stay. The basic plan needs 16m for sip."
  ).live
  package let alpacaRequestsPerMinute = Setting.integer(
    "alpaca.requests_per_minute", default: 180, in: 1...10_000,
    help: "The daemon's. A basic account has 200."
  ).live
}

/// Every setting of candled, each declared once, here. The order is that of the sample and of the
/// reference. To add one, add a line: validation, sample, reference, `--set` and typed access
/// (`settings.quotesCadence`) follow from it. `.live` says that a reload changes it; then somebody
/// must take it up (`Daemon.update`). Settings that a rule joins are all live or none.

import Logging
import Market

package enum ClockMode: String, Sendable, CaseIterable {
  /// The system's clock.
  case real
  /// The system's pace times `clock.speed`, from `clock.start`.
  case scaled
  /// No pace: time jumps to the next due moment once nothing is in flight.
  case stepped
}

package struct SettingTable: Sendable {
  package let stateDirectory = Setting.string(
    "state_directory", "/var/lib/candled", "Where the journal and the embedded database live.")

  package let storeURL = Setting.connectionURL(
    "store.url", unset: "embedded PostgreSQL",
    "A PostgreSQL 15 or later: postgres://user:password@host/database.")
  package let storePasswordFile = Setting.optionalString(
    "store.password_file", unset: "as libpq does, ~/.pgpass",
    "File with one line: the password of store.url's user.")

  package let storeLease = Setting.duration(
    "store.lease", .seconds(10), in: .seconds(3) ... .seconds(60),
    "Silence of the leading daemon after which another on the same database takes over.")

  package let quotesSymbols = Setting.symbols(
    "quotes.symbols", example: ExampleSymbols.market, "Instruments candles are built for."
  ).live
  package let quotesSymbolsFile = Setting.optionalString(
    "quotes.symbols_file", unset: "none", "File with more symbols, one a line, # for comments."
  ).live
  package let quotesOverview = Setting.symbols(
    "quotes.overview", example: ExampleSymbols.overview,
    "Foreign indexes shown beside the market; no candles."
  ).live
  package let quotesCadence = Setting.duration(
    "quotes.cadence", .seconds(3), in: .seconds(1) ... .seconds(60),
    "Time between sweeps. The exchanges publish every 3 s."
  ).live
  package let quotesPhase = Setting.duration(
    "quotes.phase", .milliseconds(400), in: .zero ... .seconds(60),
    "Least time from a grid moment to its sweep. Up to 0.3 s by chance, and up to 1 s "
      + "learnt from late rows, are added."
  ).live
  package let quotesDeadline = Setting.duration(
    "quotes.deadline", .milliseconds(2500), in: .milliseconds(100) ... .seconds(60),
    "An answer later than this is given up."
  ).live

  package let sinaBase = Setting.origin(
    "sina.base", "https://hq.sinajs.cn", "Where quotes are asked for.")
  package let sinaBatchSymbols = Setting.integer(
    "sina.batch_symbols", 800, in: 2...800, "Symbols in one request, sh000001 included."
  ).live
  package let sinaRequestsPerMinute = Setting.integer(
    "sina.requests_per_minute", 160, in: 1...600,
    "Budget for the host. A whole market every 3 s takes 140."
  ).live
  package let sinaHistoryBase = Setting.origin(
    "sina.history_base", "https://quotes.sina.cn", "Where K-lines are asked for.")
  package let sinaListBase = Setting.origin(
    "sina.list_base", "https://vip.stock.finance.sina.com.cn",
    "Where lists of instruments are asked for.")
  package let sinaReferenceBase = Setting.origin(
    "sina.reference_base", "https://finance.sina.com.cn", "Where adjustment factors are asked for.")
  package let sinaHistoryRequestsPerMinute = Setting.integer(
    "sina.history_requests_per_minute", 20, in: 1...60_000,
    "The daemon's for K-lines, lists, factors. Over 30 an address gets banned.")

  package let universeFollow = Setting.boolean(
    "universe.follow", false, "Build candles for every listed A share, beside quotes.symbols.")
  package let universeRefreshDays = Setting.integer(
    "universe.refresh_days", 10, in: 1...90, "Days from one list of the instruments to the next.")
  package let universeRowsMin = Setting.integer(
    "universe.rows_min", 4_500, in: 1...100_000, "A list with fewer rows is not believed.")

  package let mairuiBases = Setting.origins(
    "mairui.bases",
    ["https://a.mairuiapi.com", "https://api.mairuiapi.com", "https://api.mairui.club"],
    "Where lists are asked for, in this order.")
  package let mairuiLicenceFile = Setting.optionalString(
    "mairui.licence_file", unset: "lists come from Sina, if universe.follow",
    "File with licences, one a line; or credential:NAME (renewed by a restart)."
  ).live
  package let mairuiRequestsPerDay = Setting.integer(
    "mairui.requests_per_day", 50, in: 1...1_000_000, "Quota of each licence, a Shanghai day."
  ).live

  package let repairRequestsPerNight = Setting.integer(
    "repair.requests_per_night", 6_000, in: 0...20_000,
    "K-lines that may be asked after a close to confirm or revise the day. 0: none.")
  package let repairConfirmAfter = Setting.duration(
    "repair.confirm_after", .seconds(43_200), in: .seconds(43_200) ... .seconds(604_800),
    "Time between the two sightings after which a hole is permanent.")

  package let alpacaBase = Setting.origin(
    "alpaca.base", "https://data.alpaca.markets", "Where bars are asked for.")
  package let alpacaTradingBase = Setting.origin(
    "alpaca.trading_base", "https://paper-api.alpaca.markets",
    "Where New York's calendar is requested.")
  package let alpacaKeyFile = Setting.optionalString(
    "alpaca.key_file", unset: "no US instruments",
    "File with one line: key id, space, secret; or credential:NAME (renewed by a restart)."
  ).live
  package let alpacaSymbols = Setting.symbols(
    "alpaca.symbols", "US instruments whose bars are recorded."
  ).live
  package let alpacaFeed = Setting.choice(
    "alpaca.feed", AlpacaFeed.iex, "Which series: one exchange, or the whole market.")
  package let alpacaDelay = Setting.duration(
    "alpaca.delay", .seconds(0), in: .zero ... .seconds(3_600),
    "How far behind to stay. The basic plan needs 16m for sip."
  ).live
  package let alpacaRequestsPerMinute = Setting.integer(
    "alpaca.requests_per_minute", 180, in: 1...10_000, "The daemon's. A basic account has 200."
  ).live

  package let journalDirectory = Setting.optionalString(
    "journal.directory", unset: "journal in state_directory", "Where the journal lives.")
  package let journalSegmentBytes = Setting.bytes(
    "journal.segment_bytes", 64 << 20, in: 1 << 20...1 << 30, "Size at which a file is full.")
  package let journalRetainDays = Setting.integer(
    "journal.retain_days", 30, in: 1...3650, "Calendar days the journal goes back."
  ).live
  package let journalRetainBytes = Setting.bytes(
    "journal.retain_bytes", 20 << 30, in: 64 << 20...1 << 44,
    "Size the journal may reach. What the store has not committed is kept beyond it."
  ).live

  package let candlesMaxSilence = Setting.duration(
    "candles.max_silence", .seconds(15), in: .seconds(3) ... .seconds(60),
    "Longest silence whose volume may still go to a minute; a longer one is a gap.")
  package let candlesGrace = Setting.duration(
    "candles.grace", .seconds(6), in: .zero ... .seconds(60),
    "How long after its end a minute waits for late prints before it is final.")
  package let candlesSourceTimeout = Setting.duration(
    "candles.source_timeout", .seconds(30), in: .seconds(5) ... .seconds(600),
    "How long after its end a minute waits for a source that is silent.")

  package let adminListen = Setting.listenAddress(
    "admin.listen", .ipv4(host: "127.0.0.1", port: 9466),
    "Where /livez, /readyz, /metrics and /status are served.")

  package let logLevel = Setting.choice("log.level", Logger.Level.info, "Least severity logged.")
    .live
  package let logFormat = Setting.choice("log.format", LogFormat.text, "Form of a log line.").live

  package let clockMode = Setting.choice("clock.mode", ClockMode.real, "Where time comes from.")
  package let clockSpeed = Setting.integer(
    "clock.speed", 60, in: 1...10_000, "With mode scaled: seconds that pass in one.")
  package let clockStart = Setting.moment(
    "clock.start", unset: "now", "With mode scaled or stepped: the moment it starts at.")
  package let clockStop = Setting.moment(
    "clock.stop", unset: "never", "After this moment the daemon drains and exits 0.")

  /// The whole table, in order. Made by reflection so that a declaration is one line and cannot be
  /// forgotten in a list.
  static let all: [any AnySetting] = Mirror(reflecting: shared).children.compactMap {
    $0.value as? any AnySetting
  }

  static let shared = SettingTable()

  /// Names of before 0.1.0, which are refused, and what each is now.
  package static let renamed = [
    "sina.symbols": "quotes.symbols", "sina.symbols_file": "quotes.symbols_file",
    "sina.overview": "quotes.overview", "sina.cadence": "quotes.cadence",
    "sina.phase": "quotes.phase", "sina.deadline": "quotes.deadline",
    "repair.sighting": "repair.confirm_after", "candles.straddle": "candles.max_silence",
    "candles.give_up": "candles.source_timeout",
  ]

  /// What holds between settings, with the setting to blame.
  static let rules: [Rule] = [
    Rule("candles.max_silence", "must be shorter than candles.source_timeout") {
      $0.candlesMaxSilence < $0.candlesSourceTimeout
    },
    Rule("candles.grace", "must be shorter than candles.source_timeout") {
      $0.candlesGrace < $0.candlesSourceTimeout
    },
    Rule("quotes.cadence", "must be a whole number of seconds") {
      $0.quotesCadence.wholeMilliseconds % 1_000 == 0
    },
    Rule("quotes.phase", "must be shorter than quotes.cadence") {
      $0.quotesPhase < $0.quotesCadence
    },
    Rule("store.password_file", "needs store.url") {
      $0.storePasswordFile == nil || $0.storeURL != nil
    },
    Rule("store.password_file", "store.url holds a password too; keep one of them") {
      $0.storePasswordFile == nil
        || ConnectionURL($0.storeURL?.reveal() ?? "")?.passwords.isEmpty != false
    },
    Rule("alpaca.symbols", "needs alpaca.key_file") {
      $0.alpacaSymbols.isEmpty || $0.alpacaKeyFile != nil
    },
    Rule("clock.stop", "must be later than clock.start") { settings in
      guard let start = settings.clockStart, let stop = settings.clockStop else { return true }
      return start < stop
    },
  ]

  struct Rule: Sendable {
    let key: String
    let sentence: String
    let holds: @Sendable (Settings) -> Bool

    init(_ key: String, _ sentence: String, holds: @escaping @Sendable (Settings) -> Bool) {
      self.key = key
      self.sentence = sentence
      self.holds = holds
    }
  }
}

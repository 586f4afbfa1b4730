/// The settings that are no source's, each declared once. To add one, add a declaration and name it
/// in its section: validation, sample, reference, `--set` and typed access
/// (`settings[QuotesSettings.cadence]`) follow from it. `.live` says that a reload changes it; then
/// the engine must apply it (`Engine.update`). Settings that a rule joins are all live or none.

import Logging
import Market

/// Where all is kept that has no place of its own.
package enum StateSettings {
  package static let directory = Setting.string(
    "state_directory", default: "/var/lib/candled",
    help: "Folder of the journal and of the embedded PostgreSQL.")

  static let section = SettingSection("state_directory", directory)
}

/// The database.
package enum StoreSettings {
  package static let url = Setting.connectionURL(
    "store.url", unset: "embedded PostgreSQL",
    help: "PostgreSQL 15 or later: postgres://user:password@host/database.")
  package static let passwordFile = Setting.optionalString(
    "store.password_file", unset: "~/.pgpass, as in libpq",
    help: "File with one line: the password of store.url's user.")
  package static let lease = Setting.duration(
    "store.lease", default: .seconds(10), in: .seconds(3) ... .seconds(60),
    help: "Time without a renewal after which another daemon on the database may lead.")
  package static let dataDirectory = Setting.optionalString(
    "store.data_directory", unset: "as the server names it, if it is on this machine",
    help: "A folder on the database's disk: closed months are re-clustered while it has room.")
  package static let readersSocket = Setting.optionalString(
    "store.readers_socket", unset: "root alone reads the embedded PostgreSQL",
    help: "Folder of a socket at which the embedded PostgreSQL is read: by all who may enter it.")
  package static let backupDirectory = Setting.optionalString(
    "store.backup_directory", unset: "no copies are made",
    help: "Folder, on another disk, of the copies of the embedded PostgreSQL and of its log.")
  package static let backupsKept = Setting.integer(
    "store.backups_kept", default: 2, in: 1...120,
    help: "Base copies to keep, with all of the log behind the oldest.")

  static let section = SettingSection(
    "store", url, passwordFile, lease, dataDirectory, readersSocket, backupDirectory, backupsKept)
}

/// The journal: where it is, and how much of it is kept.
package enum JournalSettings {
  package static let directory = Setting.optionalString(
    "journal.directory", unset: "journal in state_directory",
    help: "Folder of the journal.")
  package static let segmentBytes = Setting.bytes(
    "journal.segment_bytes", default: 64 << 20, in: 1 << 20...1 << 30,
    help: "Size of a segment.")
  package static let retainDays = Setting.integer(
    "journal.retain_days", default: 30, in: 1...3650,
    help: "Calendar days to keep in the journal."
  ).live
  package static let retainBytes = Setting.bytes(
    "journal.retain_bytes", default: 20 << 30, in: 64 << 20...1 << 44,
    help: "Size limit of the journal. Entries not yet in the database are kept beyond it."
  ).live

  static let section = SettingSection("journal", directory, segmentBytes, retainDays, retainBytes)
}

/// Live quotes: of what, of which sources, and when.
package enum QuotesSettings {
  package static let symbols = Setting.symbols(
    "quotes.symbols", example: ExampleSymbols.market,
    help: "Instruments to build candles for."
  ).live
  package static let symbolsFile = Setting.optionalString(
    "quotes.symbols_file", unset: "none",
    help: "File with more symbols, one per line, # for comments."
  ).live
  package static let overview = Setting.symbols(
    "quotes.overview", example: ExampleSymbols.overview,
    help: "Foreign indexes to show beside the market, without candles."
  ).live
  package static let cadence = Setting.duration(
    "quotes.cadence", default: .seconds(3), in: .seconds(1) ... .seconds(60),
    help: "Time between sweeps. The exchanges publish every 3 s."
  ).live
  package static let phase = Setting.duration(
    "quotes.phase", default: .milliseconds(400), in: .zero ... .seconds(60),
    help: "Shortest delay of a sweep after its grid time. Up to 0.3 s at random and up to 1 s "
      + "learnt from late rows are added."
  ).live
  package static let deadline = Setting.duration(
    "quotes.deadline", default: .milliseconds(2500), in: .milliseconds(100) ... .seconds(60),
    help: "Timeout of a request for quotes."
  ).live
  package static let sources = Setting.names(
    "quotes.sources", unset: "all there are",
    help: "Sources of the mainland's live quotes, in order of preference. The first serves; the "
      + "others stand by."
  ).live
  package static let failover = Setting.duration(
    "quotes.failover", default: .seconds(12), in: .seconds(3) ... .seconds(14),
    help: "Time without a usable response, or with unchanged rows where another source has newer "
      + "ones, after which the next of quotes.sources serves. After a ban it serves at once."
  ).live

  static let section = SettingSection(
    "quotes", symbols, symbolsFile, overview, cadence, phase, deadline, sources, failover)
}

/// The list of instruments, and whether all of it is recorded.
package enum UniverseSettings {
  package static let follow = Setting.boolean(
    "universe.follow", default: false,
    help: "Build candles for all listed A shares, in addition to quotes.symbols.")
  package static let refreshDays = Setting.integer(
    "universe.refresh_days", default: 10, in: 1...90,
    help: "Days between two requests for the list of instruments.")
  package static let rowsMin = Setting.integer(
    "universe.rows_min", default: 4_500, in: 1...100_000,
    help: "A list with fewer rows is not used.")
  package static let linksFile = Setting.optionalString(
    "universe.links_file", unset: "none",
    help: "File with changes of codes and mergers, one per line, # for comments."
  ).live

  static let section = SettingSection("universe", follow, refreshDays, rowsMin, linksFile)
}

/// Days that the exchange's calendar does not have, or has otherwise.
package enum CalendarSettings {
  package static let file = Setting.optionalString(
    "calendar.file", unset: "none",
    help: "File with days against the calendar, one per line, # for comments."
  ).live

  static let section = SettingSection("calendar", file)
}

/// Rules of exchanges and sources that are not among those that ship, or are others.
package enum RuleSettings {
  package static let file = Setting.optionalString(
    "rules.file", unset: "none",
    help: "File with rules over those that ship, one per line, # for comments."
  ).live

  static let section = SettingSection("rules", file)
}

/// When a minute is final.
package enum CandlesSettings {
  package static let maxSilence = Setting.duration(
    "candles.max_silence", default: .seconds(15), in: .seconds(3) ... .seconds(60),
    help: "Longest silence whose volume still goes to a minute. After a longer one it is a gap.")
  package static let grace = Setting.duration(
    "candles.grace", default: .seconds(6), in: .zero ... .seconds(60),
    help: "Time after the end of a minute before it is final, for late prints.")
  package static let sourceTimeout = Setting.duration(
    "candles.source_timeout", default: .seconds(30), in: .seconds(5) ... .seconds(600),
    help: "Time after the end of a minute before it is final if the source is silent.")

  static let section = SettingSection("candles", maxSilence, grace, sourceTimeout)
}

/// What is requested again after a close.
package enum RepairSettings {
  package static let requestsPerNight = Setting.integer(
    "repair.requests_per_night", default: 6_000, in: 0...20_000,
    help: "K-line requests after a close to confirm or revise the day. 0: none.")
  package static let confirmAfter = Setting.duration(
    "repair.confirm_after", default: .seconds(43_200), in: .seconds(43_200) ... .seconds(604_800),
    help: "A gap is permanent if it is found twice, at least this long apart.")

  static let section = SettingSection("repair", requestsPerNight, confirmAfter)
}

/// Where the daemon is watched.
package enum AdminSettings {
  package static let listen = Setting.listenAddress(
    "admin.listen", default: .ipv4(host: "127.0.0.1", port: 9466),
    help: "Address of /livez, /readyz, /metrics and /status.")

  static let section = SettingSection("admin", listen)
}

/// What is logged, and how.
package enum LogSettings {
  package static let level = Setting.choice(
    "log.level", default: Logger.Level.info,
    help: "Lowest level to log."
  ).live
  package static let format = Setting.choice(
    "log.format", default: LogFormat.text,
    help: "Format of a log line."
  ).live

  static let section = SettingSection("log", level, format)
}

/// What the time of the daemon is.
package enum ClockSettings {
  package static let mode = Setting.choice(
    "clock.mode", default: ClockMode.real,
    help: "Source of the time.")
  package static let speed = Setting.integer(
    "clock.speed", default: 60, in: 1...10_000,
    help: "With mode scaled: simulated seconds per real second.")
  package static let start = Setting.moment(
    "clock.start", unset: "now",
    help: "With mode scaled or stepped: the start time.")
  package static let stop = Setting.moment(
    "clock.stop", unset: "never",
    help: "The daemon drains and exits 0 after this time.")

  static let section = SettingSection("clock", mode, speed, start, stop)
}

/// Where apps connect, and what one of them may ask for.
package enum GatewaySettings {
  package static let listen = Setting.listenAddress(
    "gateway.listen", default: .ipv4(host: "127.0.0.1", port: 8466), isRequired: true,
    help: "Address of candled-gateway: REST, WebSocket and SSE, without TLS. A proxy adds that.")
  package static let storeURL = Setting.connectionURL(
    "gateway.store_url", unset: "the database of the daemon",
    help: "Database of the gateway. Its user must be a member of candled_app.")
  package static let storePasswordFile = Setting.optionalString(
    "gateway.store_password_file", unset: "~/.pgpass, as in libpq",
    help: "File with one line: the password of gateway.store_url's user.")
  package static let anonymous = Setting.boolean(
    "gateway.anonymous", default: false,
    help: "Serve market data to requests without a token.")
  package static let broker = Setting.boolean(
    "gateway.broker", default: true,
    help: "Execute paper orders, if no other gateway of the database does.")
  package static let brokerClock = Setting.boolean(
    "gateway.broker_follows_daemon", default: false,
    help: "Take the daemon's clock for the exchange's: of a simulated market.")
  package static let commissionRate = Setting.decimal(
    "gateway.commission_rate", default: ExactDecimal(units: 25, scale: 5), places: 6,
    max: ExactDecimal(units: 1, scale: 2),
    help: "Commission of paper orders accepted from then on, a part of the money: 0.025 %.")
  package static let commissionMin = Setting.decimal(
    "gateway.commission_min", default: ExactDecimal(units: 500, scale: 2), places: 2,
    max: ExactDecimal(1_000),
    help: "The least commission of a paper order and day. What is accepted keeps its own.")
  package static let sameDayFunds = Setting.symbols(
    "gateway.same_day_funds",
    help: "Funds sold on the day of their purchase, whatever the list that candled ships says.")
  package static let webhookPrivateNetworks = Setting.boolean(
    "gateway.webhook_private_networks", default: false,
    help: "Call webhooks in private networks, too, and at loopback without TLS.")
  package static let connectionsMax = Setting.integer(
    "gateway.connections_max", default: 12_000, in: 1...60_000,
    help: "Connections at a time. A further one takes the place of the oldest idle one.")
  package static let userRequests = Setting.integer(
    "gateway.user_requests_per_second", default: 50, in: 0...100_000,
    help: "Requests per second of one user; four seconds' worth at once. 0: no limit.")
  package static let addressRequests = Setting.integer(
    "gateway.address_requests_per_second", default: 20, in: 0...100_000,
    help: "The same of one address, of its requests without a token. 0: no limit.")
  package static let addressBytes = Setting.integer(
    "gateway.address_bytes_per_second", default: 8 << 20, in: 0...1_000_000_000,
    help: "Bytes per second that an address is sent without a token. 0: no limit.")
  package static let trustedProxies = Setting.addressRanges(
    "gateway.trusted_proxies", unset: "none",
    help: "Proxies whose X-Forwarded-For is used.")
  package static let origins = Setting.origins(
    "gateway.origins", default: [],
    help: "Pages of other origins that may use the gateway in a browser. Its own page always may.")
  package static let hosts = Setting.hostNames(
    "gateway.hosts", unset: "any, and no page under a name is the gateway's own",
    help: "Names by which the gateway is called. Numeric addresses and localhost need no entry.")

  static let section = SettingSection(
    "gateway", listen, storeURL, storePasswordFile, anonymous, broker, brokerClock, commissionRate,
    commissionMin, sameDayFunds, webhookPrivateNetworks, connectionsMax, userRequests,
    addressRequests, addressBytes, trustedProxies, origins, hosts)
}

package enum ClockMode: String, Sendable, CaseIterable {
  /// The system's clock.
  case real
  /// The system's pace times `clock.speed`, from `clock.start`.
  case scaled
  /// No pace: time jumps to the next due moment once nothing is in flight.
  case stepped
}

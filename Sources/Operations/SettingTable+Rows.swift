/// The settings that are no source's, each declared once. To add one, add a line: validation,
/// sample, reference, `--set` and typed access (`settings.quotesCadence`) follow from it. `.live`
/// says that a reload changes it; then the engine must apply it (`Engine.update`). Settings that a
/// rule joins are all live or none.

import Logging
import Market

/// Where the rows and the journal are kept.
package struct StorageSettings: Sendable {
  package let stateDirectory = Setting.string(
    "state_directory", default: "/var/lib/candled",
    help: "Folder of the journal and of the embedded PostgreSQL.")
  package let storeURL = Setting.connectionURL(
    "store.url", unset: "embedded PostgreSQL",
    help: "PostgreSQL 15 or later: postgres://user:password@host/database.")
  package let storePasswordFile = Setting.optionalString(
    "store.password_file", unset: "~/.pgpass, as in libpq",
    help: "File with one line: the password of store.url's user.")
  package let storeLease = Setting.duration(
    "store.lease", default: .seconds(10), in: .seconds(3) ... .seconds(60),
    help: "Time without a renewal after which another daemon on the database may lead.")
  package let storeDataDirectory = Setting.optionalString(
    "store.data_directory", unset: "as the server names it, if it is on this machine",
    help: "A folder on the database's disk: closed months are re-clustered while it has room.")
  package let storeReadersSocket = Setting.optionalString(
    "store.readers_socket", unset: "root alone reads the embedded PostgreSQL",
    help: "Folder of a socket at which the embedded PostgreSQL is read: by all who may enter it.")
  package let journalDirectory = Setting.optionalString(
    "journal.directory", unset: "journal in state_directory",
    help: "Folder of the journal.")
  package let journalSegmentBytes = Setting.bytes(
    "journal.segment_bytes", default: 64 << 20, in: 1 << 20...1 << 30,
    help: "Size of a segment.")
  package let journalRetainDays = Setting.integer(
    "journal.retain_days", default: 30, in: 1...3650,
    help: "Calendar days to keep in the journal."
  ).live
  package let journalRetainBytes = Setting.bytes(
    "journal.retain_bytes", default: 20 << 30, in: 64 << 20...1 << 44,
    help: "Size limit of the journal. Entries not yet in the database are kept beyond it."
  ).live
}

/// Live quotes: of what, of which sources, and when.
package struct QuotesSettings: Sendable {
  package let quotesSymbols = Setting.symbols(
    "quotes.symbols", example: ExampleSymbols.market,
    help: "Instruments to build candles for."
  ).live
  package let quotesSymbolsFile = Setting.optionalString(
    "quotes.symbols_file", unset: "none",
    help: "File with more symbols, one per line, # for comments."
  ).live
  package let quotesOverview = Setting.symbols(
    "quotes.overview", example: ExampleSymbols.overview,
    help: "Foreign indexes to show beside the market, without candles."
  ).live
  package let quotesCadence = Setting.duration(
    "quotes.cadence", default: .seconds(3), in: .seconds(1) ... .seconds(60),
    help: "Time between sweeps. The exchanges publish every 3 s."
  ).live
  package let quotesPhase = Setting.duration(
    "quotes.phase", default: .milliseconds(400), in: .zero ... .seconds(60),
    help: "Shortest delay of a sweep after its grid time. Up to 0.3 s at random and up to 1 s "
      + "learnt from late rows are added."
  ).live
  package let quotesDeadline = Setting.duration(
    "quotes.deadline", default: .milliseconds(2500), in: .milliseconds(100) ... .seconds(60),
    help: "Timeout of a request for quotes."
  ).live
  package let quotesSources = Setting.names(
    "quotes.sources", unset: "all there are",
    help: "Sources of the mainland's live quotes, in order of preference. The first serves; the "
      + "others stand by."
  ).live
  package let quotesFailover = Setting.duration(
    "quotes.failover", default: .seconds(12), in: .seconds(3) ... .seconds(14),
    help: "Time without a usable response, or with unchanged rows, after which the next of "
      + "quotes.sources serves. After a ban it serves at once."
  ).live
}

/// What is recorded beside, and how.
package struct RecordingSettings: Sendable {
  package let universeFollow = Setting.boolean(
    "universe.follow", default: false,
    help: "Build candles for all listed A shares, in addition to quotes.symbols.")
  package let universeRefreshDays = Setting.integer(
    "universe.refresh_days", default: 10, in: 1...90,
    help: "Days between two requests for the list of instruments.")
  package let universeRowsMin = Setting.integer(
    "universe.rows_min", default: 4_500, in: 1...100_000,
    help: "A list with fewer rows is not used.")
  package let candlesMaxSilence = Setting.duration(
    "candles.max_silence", default: .seconds(15), in: .seconds(3) ... .seconds(60),
    help: "Longest silence whose volume still goes to a minute. After a longer one it is a gap.")
  package let candlesGrace = Setting.duration(
    "candles.grace", default: .seconds(6), in: .zero ... .seconds(60),
    help: "Time after the end of a minute before it is final, for late prints.")
  package let candlesSourceTimeout = Setting.duration(
    "candles.source_timeout", default: .seconds(30), in: .seconds(5) ... .seconds(600),
    help: "Time after the end of a minute before it is final if the source is silent.")
  package let repairRequestsPerNight = Setting.integer(
    "repair.requests_per_night", default: 6_000, in: 0...20_000,
    help: "K-line requests after a close to confirm or revise the day. 0: none.")
  package let repairConfirmAfter = Setting.duration(
    "repair.confirm_after", default: .seconds(43_200), in: .seconds(43_200) ... .seconds(604_800),
    help: "A gap is permanent if it is found twice, at least this long apart.")
}

/// How the daemon is watched, and what its time is.
package struct OperatingSettings: Sendable {
  package let adminListen = Setting.listenAddress(
    "admin.listen", default: .ipv4(host: "127.0.0.1", port: 9466),
    help: "Address of /livez, /readyz, /metrics and /status.")
  package let logLevel = Setting.choice(
    "log.level", default: Logger.Level.info,
    help: "Lowest level to log."
  ).live
  package let logFormat = Setting.choice(
    "log.format", default: LogFormat.text,
    help: "Format of a log line."
  ).live
  package let clockMode = Setting.choice(
    "clock.mode", default: ClockMode.real,
    help: "Source of the time.")
  package let clockSpeed = Setting.integer(
    "clock.speed", default: 60, in: 1...10_000,
    help: "With mode scaled: simulated seconds per real second.")
  package let clockStart = Setting.moment(
    "clock.start", unset: "now",
    help: "With mode scaled or stepped: the start time.")
  package let clockStop = Setting.moment(
    "clock.stop", unset: "never",
    help: "The daemon drains and exits 0 after this time.")
}

/// Where apps connect, and what one of them may ask for.
package struct GatewaySettings: Sendable {
  package let gatewayListen = Setting.listenAddress(
    "gateway.listen", default: .ipv4(host: "127.0.0.1", port: 8466), isRequired: true,
    help: "Address of candled-gateway: REST, WebSocket and SSE, without TLS. A proxy adds that.")
  package let gatewayStoreURL = Setting.connectionURL(
    "gateway.store_url", unset: "the database of the daemon",
    help: "Database of the gateway. Its user must be a member of candled_app.")
  package let gatewayStorePasswordFile = Setting.optionalString(
    "gateway.store_password_file", unset: "~/.pgpass, as in libpq",
    help: "File with one line: the password of gateway.store_url's user.")
  package let gatewayAnonymous = Setting.boolean(
    "gateway.anonymous", default: false,
    help: "Serve market data to requests without a token.")
  package let gatewayBroker = Setting.boolean(
    "gateway.broker", default: true,
    help: "Execute paper orders, if no other gateway of the database does.")
  package let gatewayBrokerClock = Setting.boolean(
    "gateway.broker_follows_daemon", default: false,
    help: "Take the daemon's clock for the exchange's: of a simulated market.")
  package let gatewayCommissionRate = Setting.decimal(
    "gateway.commission_rate", default: ExactDecimal(units: 25, scale: 5), places: 6,
    max: ExactDecimal(units: 1, scale: 2),
    help: "Commission of paper orders accepted from then on, a part of the money: 0.025 %.")
  package let gatewayCommissionMin = Setting.decimal(
    "gateway.commission_min", default: ExactDecimal(units: 500, scale: 2), places: 2,
    max: ExactDecimal(1_000),
    help: "The least commission of a paper order and day. What is accepted keeps its own.")
  package let gatewayWebhookPrivateNetworks = Setting.boolean(
    "gateway.webhook_private_networks", default: false,
    help: "Call webhooks in private networks, too, and at loopback without TLS.")
  package let gatewayConnectionsMax = Setting.integer(
    "gateway.connections_max", default: 12_000, in: 1...60_000,
    help: "Connections at a time. A further one takes the place of the oldest idle one.")
  package let gatewayTokenRequests = Setting.integer(
    "gateway.token_requests_per_second", default: 50, in: 0...100_000,
    help: "Requests per second of one token; four seconds' worth at once. 0: no limit.")
  package let gatewayAddressRequests = Setting.integer(
    "gateway.address_requests_per_second", default: 20, in: 0...100_000,
    help: "The same of one address, of its requests without a token. 0: no limit.")
  package let gatewayTrustedProxies = Setting.addressRanges(
    "gateway.trusted_proxies", unset: "none",
    help: "Proxies whose X-Forwarded-For is used.")
  package let gatewayOrigins = Setting.origins(
    "gateway.origins", default: [],
    help: "Pages of other origins that may use the gateway in a browser. Its own page always may.")
  package let gatewayHosts = Setting.hostNames(
    "gateway.hosts", unset: "any, and no page under a name is the gateway's own",
    help: "Names by which the gateway is called. Numeric addresses and localhost need no entry.")
}

package enum ClockMode: String, Sendable, CaseIterable {
  /// The system's clock.
  case real
  /// The system's pace times `clock.speed`, from `clock.start`.
  case scaled
  /// No pace: time jumps to the next due moment once nothing is in flight.
  case stepped
}

import CLinux
import ExchangeSimulator
import Feeds
import Glibc
import Ingest
import Ledgers
import Market
import Operations
import Platform
import Polling
import TestExchange
import TestSupport
import Transport

/// Four upstreams asked side by side the way the daemon asks them, through its own transport, one
/// of them in trouble: whether the others notice. Real sockets and real time.
package struct IsolationTrial: Sendable {
  /// Who is asked, how often, and by how many requests at once: the daemon's own bounds.
  package enum Station: String, Sendable, CaseIterable {
    case quotes, history, mairui, alpaca

    var workers: Int {
      switch self {
      case .quotes: 8
      case .history, .mairui: 1
      case .alpaca: 4
      }
    }

    var upstream: Fault.Upstream {
      switch self {
      case .quotes: .sinaQuotes
      case .history: .sinaHistory
      case .mairui: .mairui
      case .alpaca: .alpaca
      }
    }
  }

  /// What became of one station's requests.
  package struct Lateness: Sendable {
    package internal(set) var answered = 0
    package internal(set) var failed = 0
    /// Moments at which a request was due and the one before still out.
    package internal(set) var missed = 0
    /// From the moment a request was due to its answer, ascending.
    var microseconds: [Int64] = []
    var workersDone = 0

    package init() {}

    package func percentile(_ percent: Int) -> Int64 {
      microseconds.isEmpty ? 0 : microseconds[(microseconds.count - 1) * percent / 100]
    }

    mutating func join(_ other: Lateness) {
      answered += other.answered
      failed += other.failed
      missed += other.missed
      workersDone += other.workersDone
      microseconds = (microseconds + other.microseconds).sorted()
    }
  }

  package static let troubles: [(name: String, kind: Fault.Kind)] = [
    ("a byte a second", .wire(.slowLoris)), ("no response", .neverResponds),
    ("resets in the body", .wire(.resetInBody)), ("an endless body", .wire(.endlessChunks)),
    ("an endless head", .wire(.endlessHead)), ("a gzip bomb", .wire(.bomb(gzip: bomb))),
    ("a ban page", .banPage),
  ]

  /// 64 MiB of zeros in 65 kB; empty where there is no gzip.
  private static let bomb = Shell.output(of: "head -c 67108864 /dev/zero | gzip -9c") ?? []

  /// A request is due so often, more often than the daemon asks any of them; an answer that takes
  /// longer misses the next.
  private static let cadenceMilliseconds: Int64 = 1_000

  private let servers: [Station: ExchangeServer]
  private let folder: String
  private let client: HTTPClient
  private let upstream: HTTPUpstream
  private let licence: String
  private let key: String
  private let symbols: [Symbol]
  private let now: Timestamp

  package init() throws {
    guard !Self.bomb.isEmpty else { throw TrialFailure("there is no gzip to make a bomb") }
    let day = TradingDay(daysSince1970: 20_640)
    now = Timestamp(day: day, secondOfDay: 10 * 3600)
    let history = SimulatedHistory(seed: 3, instruments: 400, days: [day])
    symbols = Array(history.symbols.prefix(200))
    let now = now
    var alpaca = AlpacaOptions(keys: ["PKTEST": "secret"])
    alpaca.requestsPerMinuteMax = .max
    var servers: [Station: ExchangeServer] = [:]
    for station in Station.allCases {
      servers[station] = try ExchangeServer(
        history: history, clock: .function { now },
        mairui: MairuiOptions(licences: ["AF98235C-1": .valid(requestsPerDay: 1_000_000)]),
        alpaca: alpaca)
    }
    self.servers = servers
    folder = IsolationTrial.temporaryFolder()
    let settings = try IsolationTrial.settings(servers, folder)
    let credentials = try SourceCredentials(settings)
    licence = credentials.keys(of: SourceRegistry.definition(of: .mairui)).first?.label ?? ""
    key = credentials.keys(of: SourceRegistry.definition(of: .alpacaIEX)).first?.label ?? ""
    client = try HTTPClient()
    upstream = HTTPUpstream(
      client: client, hosts: try HTTPUpstream.hosts(settings), credentials: credentials)
  }

  /// Asks all of them for so long, `trouble` striking one.
  package func run(
    _ trouble: Fault.Kind? = nil, at suffering: Station = .quotes, seconds: Int64
  ) async -> [Station: Lateness] {
    if let trouble, let server = servers[suffering] {
      server.order(Fault(trouble, on: suffering.upstream))
    }
    let start = MonotonicClock.microseconds()
    let found = await withTaskGroup(of: (Station, Lateness).self) { group in
      for station in Station.allCases {
        for _ in 0..<station.workers {
          group.addTask { (station, await ask(station, from: start, seconds: seconds)) }
        }
      }
      var found: [Station: Lateness] = [:]
      for await (station, lateness) in group {
        found[station, default: Lateness()].join(lateness)
        // Those that suffer may be long: nobody waits for them.
        let isDone = Station.allCases.allSatisfy {
          ($0 == suffering && trouble != nil) || found[$0]?.workersDone == $0.workers
        }
        if isDone { group.cancelAll() }
      }
      return found
    }
    servers[suffering]?.cancelFaults()
    return found
  }

  private func ask(_ station: Station, from start: Int64, seconds: Int64) async -> Lateness {
    var lateness = Lateness()
    lateness.workersDone = 1
    let cadence = Self.cadenceMilliseconds * 1_000
    var due = start
    while due < start + seconds * 1_000_000, !Task.isCancelled {
      let pause = due - MonotonicClock.microseconds()
      if pause > 0 { try? await Task.sleep(nanoseconds: UInt64(pause) * 1_000) }
      if await isServing(station) {
        lateness.answered += 1
        lateness.microseconds.append(MonotonicClock.microseconds() - due)
      } else {
        lateness.failed += 1
      }
      let late = MonotonicClock.microseconds() - due
      lateness.missed += Int(late / cadence)
      due += (late / cadence + 1) * cadence
    }
    return lateness
  }

  /// Whether one question was answered well.
  private func isServing(_ station: Station) async -> Bool {
    switch station {
    case .quotes:
      let query = FeedRequest(.quotes(QuotesQuery(symbols: symbols, askedAt: now)), to: .sina)
      guard
        case .response(200, let body, _, _) = await upstream.response(to: query, key: nil, host: 0)
      else { return false }
      return body.count > 200 * symbols.count
    case .history: return await isGood(.sinaKline(symbols[0], .day1, bars: 10), nil)
    case .mairui: return await isGood(.mairuiList(.bj), licence)
    case .alpaca: return await isGood(.alpacaAssets, key)
    }
  }

  private func isGood(_ feedRequest: FeedRequest, _ key: String?) async -> Bool {
    guard
      case .response(let status, let body, _, _) = await upstream.response(
        to: feedRequest, key: key, host: 0)
    else { return false }
    let response = body.withUnsafeBytes {
      FeedResponse.decode(feedRequest, status: Int(status), body: $0)
    }
    switch response {
    case .refused(let refusal): return refusal.kind == .noData
    default: return true
    }
  }

  /// Ends the servers and removes what was written.
  package func close() {
    client.shutdown()
    for server in servers.values { server.stop() }
    for name in ["licences", "key"] { unlink(folder + "/" + name) }
    rmdir(folder)
  }
}

extension IsolationTrial {
  /// Peak and present memory of this process, in MiB.
  package static func memory() -> (peak: Int, present: Int) {
    let probe = ProcessProbe(getpid())
    return ((probe?.peakKibibytes ?? 0) / 1024, (probe?.residentKibibytes ?? 0) / 1024)
  }

  private static func settings(
    _ servers: [Station: ExchangeServer], _ folder: String
  ) throws -> Settings {
    write("AF98235C-1\n", to: folder + "/licences")
    write("PKTEST secret\n", to: folder + "/key")
    func url(_ station: Station) -> String { servers[station]?.url ?? "" }
    return try ConfigurationFile.load(
      nil,
      overrides: [
        "quotes.sources=sina", "sina.base=\(url(.quotes))", "sina.history_base=\(url(.history))",
        "sina.list_base=\(url(.history))", "sina.reference_base=\(url(.history))",
        "mairui.bases=\(url(.mairui))", "alpaca.base=\(url(.alpaca))",
        "alpaca.trading_base=\(url(.alpaca))", "mairui.licence_file=\(folder)/licences",
        "alpaca.key_file=\(folder)/key",
      ], table: .candled)
  }

  private static func write(_ text: String, to path: String) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    _ = Glibc.write(file, text, text.utf8.count)
    Glibc.close(file)
  }

  private static func temporaryFolder() -> String {
    var template = Array("/tmp/candled-isolation-XXXXXX".utf8CString)
    return mkdtemp(&template).map { String(cString: $0) } ?? "/tmp"
  }
}

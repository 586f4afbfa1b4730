/// Sends the requests of checks over the network: those of each source in their order and
/// within its rate limit, the sources in turn.

import Feeds
import History
import Ingest
import Journal
import Market
import Operations
import Transport

final class DoctorRun {
  private(set) var checks: [SourceCheck]
  private(set) var requestsSent = 0
  private let upstream: HTTPUpstream
  private let hosts: HTTPUpstream.Hosts
  private let client: HTTPClient
  private let clock: EngineClock
  private let quotesMilliseconds: Int
  /// By source: which key it is asked with, how far apart, and not before when.
  private var sources: [Place]
  /// Settings whose hosts did not answer, and why.
  private var unreachable: [String: String] = [:]

  private struct Place {
    let key: String?
    let gap: Duration
    var readyAt: ContinuousClock.Instant
  }

  init(
    _ sources: [any SourceDefinition], configuration: ValidatedConfiguration,
    credentials: SourceCredentials
  ) throws {
    let settings = configuration.settings
    let clock = EngineClock.scaled(from: EngineClock(settings).now, speed: 1)
    self.clock = clock
    // A first connection may take longer than the daemon's next requests.
    quotesMilliseconds = max(5_000, Int(settings[QuotesSettings.deadline].wholeMilliseconds))
    client = try HTTPClient()
    hosts = try HTTPUpstream.hosts(settings)
    upstream = HTTPUpstream(client: client, hosts: hosts, credentials: credentials)
    checks = sources.map { source in
      SourceCheck(
        source, series: source.bars?.recording?.series(settings) ?? source.mainSeries,
        now: clock.now, symbols: configuration.symbols,
        batchSymbols: source.quotes.map { settings[$0.batchSymbols] } ?? 0)
    }
    let isDaemonRunning = JournalIdentity.isHeld(in: settings.journalPath)
    self.sources = sources.map { source in
      let budget = CommandBudget(
        of: source.mainSeries, settings: settings, besideDaemon: isDaemonRunning)
      return Place(
        key: credentials.keys(of: source).first?.label,
        gap: .milliseconds(60_000 / max(budget.requestsPerMinute, 1)), readyAt: .now)
    }
  }

  deinit { client.shutdown() }

  /// - Parameter record: gets each request with what came back.
  func run(record: (DoctorRecord) throws -> Void) async throws {
    let rounds = checks.map(\.requests.count).max() ?? 0
    for round in 0..<rounds {
      for place in checks.indices
      where round < checks[place].requests.count && !checks[place].isEnded {
        try await send(round, place: place, record: record)
      }
    }
  }

  /// - Parameter round: the place of the request in its check.
  private func send(
    _ round: Int, place: Int, record: (DoctorRecord) throws -> Void
  ) async throws {
    let unsent = FeedRequest(checks[place].requests[round], to: checks[place].series)
    let setting = unsent.hosts.key
    if let reason = unreachable[setting] { return checks[place].fail(round, because: reason) }
    try await Task.sleep(until: sources[place].readyAt, clock: .continuous)
    for host in 0..<(hosts[setting]?.count ?? 1) {
      let request = unsent.sent(at: clock.now, deadlineMilliseconds: quotesMilliseconds)
      let name = upstream.hostName(of: request, host: host) ?? setting
      let answer = await upstream.response(to: request, key: sources[place].key, host: host)
      requestsSent += 1
      sources[place].readyAt = .now + sources[place].gap
      try record(DoctorRecord(request: request, host: name, at: clock.now, answer: answer))
      switch answer {
      case .response(let status, let body, _, _):
        unreachable[setting] = nil
        return checks[place].receive(
          round, request: request, status: Int(status), body: body, receivedAt: clock.now)
      case .failure(let error):
        unreachable[setting] = "\(name): \(error.sentence) (setting \(setting))"
      }
    }
    checks[place].fail(round, because: unreachable[setting] ?? "no host")
  }
}

/// A request and what came back.
struct DoctorRecord {
  let request: FeedRequest
  let host: String
  let at: Timestamp
  let answer: UpstreamResponse
}

/// Sends the requests of checks over the network: those of each source in their order and
/// within its rate limit, the sources in turn, so that two of live quotes are asked within seconds.

import Feeds
import History
import Ingest
import Journal
import Market
import Operations
import Transport

final class DoctorRun {
  private(set) var checkRuns: [CheckRun]
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
    checkRuns = sources.map { source in
      CheckRun(
        CheckContext(
          source, series: source.bars?.recording?.series(settings) ?? source.mainSeries,
          now: clock.now, symbols: configuration.symbols,
          batchSymbols: source.quotes.map { settings[$0.batchSymbols] } ?? 0))
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
    let rounds = checkRuns.map(\.requests.count).max() ?? 0
    for round in 0..<rounds {
      for place in checkRuns.indices where round < checkRuns[place].requests.count {
        guard checkRuns[place].endedBecause == nil else { continue }
        try await send(checkRuns[place].requests[round], place: place, record: record)
      }
    }
  }

  private func send(
    _ request: CheckRequest, place: Int, record: (DoctorRecord) throws -> Void
  ) async throws {
    let context = checkRuns[place].context
    let unsent = FeedRequest(request.query, to: context.series)
    let setting = unsent.hosts.key
    if let reason = unreachable[setting] {
      return checkRuns[place].fail(request, because: reason)
    }
    let waits = Duration.seconds(request.waitSeconds)
    try await Task.sleep(until: max(sources[place].readyAt, .now + waits), clock: .continuous)
    for host in 0..<(hosts[setting]?.count ?? 1) {
      let feedRequest = unsent.sent(at: clock.now, deadlineMilliseconds: quotesMilliseconds)
      let name = upstream.hostName(of: feedRequest, host: host) ?? setting
      let answer = await upstream.response(to: feedRequest, key: sources[place].key, host: host)
      requestsSent += 1
      sources[place].readyAt = .now + sources[place].gap
      try record(DoctorRecord(request: feedRequest, host: name, at: clock.now, answer: answer))
      switch answer {
      case .response(let status, let body, _, _):
        unreachable[setting] = nil
        return checkRuns[place].receive(
          CheckResponse(
            feedRequest, status: Int(status), body: body, receivedAt: clock.now,
            calendar: context.decodingCalendar), of: request)
      case .failure(let error):
        unreachable[setting] = "\(name): \(error.sentence) (setting \(setting))"
      }
    }
    checkRuns[place].fail(request, because: unreachable[setting] ?? "no host")
  }
}

/// A request and what came back.
struct DoctorRecord {
  let request: FeedRequest
  let host: String
  let at: Timestamp
  let answer: UpstreamResponse
}

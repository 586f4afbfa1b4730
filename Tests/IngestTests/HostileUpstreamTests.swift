import Commits
import ExchangeSimulator
import Feeds
import Ingest
import Ledgers
import Logging
import Market
import Polling
import Store
import TestExchange
import TestSupport
import Testing

@testable import Journal
@testable import Transport

extension WireScript: CustomTestStringConvertible {
  /// Not its bytes, of which there may be 100,000.
  public var testDescription: String { "\(steps.count) steps" }
}

/// The daemon's engine and transport against an exchange on a socket, without a clock: what each
/// trouble does to the next requests, and that the rest of the day does not notice.
@Suite struct HostileUpstreamTests {
  private static let day = TradingDay(daysSince1970: 20_640)

  private static func moment(_ hour: Int, _ minute: Int, _ second: Int = 0) -> Timestamp {
    Timestamp(day: day, secondOfDay: hour * 3_600 + minute * 60 + second)
  }

  /// What was asked, and when, on its way to the exchange.
  private actor RecordingUpstream: Upstream {
    private let upstream: HTTPUpstream
    private(set) var asked: [(at: Timestamp, symbols: Int)] = []
    private(set) var answeredAt: [Timestamp] = []

    init(_ upstream: HTTPUpstream) { self.upstream = upstream }

    func response(
      to request: FeedRequest, key: String?, host: Int
    ) async -> UpstreamResponse {
      guard case .quotes(let query) = request.query else { preconditionFailure("only quotes") }
      asked.append((query.askedAt, query.symbols.count))
      let response = await upstream.response(to: request, key: key, host: host)
      if case .response(200, _, _, _) = response { answeredAt.append(query.askedAt) }
      return response
    }
  }

  /// One run, and what came of it.
  private struct Run {
    let witness: RecordingUpstream
    let status: EngineStatus
    let tables: Tables

    init(
      _ fault: Fault, from start: Timestamp, to end: Timestamp, deadlineMilliseconds: Int = 30_000
    ) async throws {
      let market = SimulatedMarket(seed: 5, day: day, instruments: 24)
      let server = try ExchangeServer(market: market, faults: FaultPlan([fault]))
      let folder = try JournalFolder()
      witness = RecordingUpstream(
        HTTPUpstream(
          client: try HTTPClient(),
          hosts: [
            SourceRegistry.quotes(of: .sina).base.key: [
              try BaseAddress(parsing: server.url)
            ]
          ]))
      let sink = MemorySink()
      var configuration = PollerConfiguration(referenceSymbol: market.symbols[0], seed: 1)
      configuration.deadlineMilliseconds = deadlineMilliseconds
      let quotes = QuotesConfiguration(
        source: .sina, poller: configuration, schedule: PollSchedule(seed: 1) { _ in true },
        symbols: market.symbols)
      let parts = EngineParts(
        clock: .stepped(start: start), workers: SourceWorkers(quotes, upstream: witness),
        store: sink,
        journal: try JournalWriter(directory: folder.path), journalDirectory: folder.path,
        log: Logger(label: "engine", factory: { _ in SwiftLogNoOpLogHandler() }))
      var limits = EngineLimits()
      limits.stopAt = end
      let engine = Engine(parts: parts, pipeline: Pipeline(), limits: limits)
      #expect(try await engine.run().isNone)
      status = await engine.status
      tables = await sink.tables
      server.stop()
    }

    /// Seconds between the first request at or after `moment` and the next one.
    func pause(at moment: Timestamp) async throws -> Int64 {
      let asked = await witness.asked.map(\.at)
      let place = try #require(asked.firstIndex { $0 >= moment })
      try #require(place + 1 < asked.count, "nothing was asked again")
      return asked[place + 1].microseconds(since: asked[place]) / 1_000_000
    }
  }

  @Test(arguments: [
    (Fault.Kind.banPage, SourceState.Condition.banned), (.throttled, .banned),
    (.forbidden, .unauthorised),
  ])
  func `a banned daemon asks once a cool-down, for one symbol, and comes back`(
    _ kind: Fault.Kind, _ condition: SourceState.Condition
  ) async throws {
    let (start, over) = (Self.moment(9, 40), Self.moment(10, 45))
    let run = try await Run(
      Fault(kind, from: start, to: over), from: Self.moment(9, 39), to: Self.moment(10, 54))
    let banned = await run.witness.asked.filter { $0.at >= start && $0.at < over }
    #expect(banned.map(\.symbols) == [24, 1, 1])
    let pauses = zip(banned, banned.dropFirst()).map {
      $1.at.microseconds(since: $0.at) / 1_000_000
    }
    #expect(zip(pauses, [60, 600]).allSatisfy { $0 >= $1 && $0 < $1 + 10 }, "\(pauses)")
    let after = await run.witness.asked.filter { $0.at >= over }
    #expect(after.first?.symbols == nil || after.first?.symbols == 1)
  }

  /// `at` is when the answer is received, 09:42:0x.
  @Test(
    arguments: [429, 503, 403],
    [
      ("120", 120), ("0", 0), ("-120", 0), ("1e3", 0), ("soon", 0), ("", 0),
      ("99999999999999", 3600),
      ("Mon, 06 Jul 2026 01:46:00 GMT", 235), ("Monday, 06-Jul-26 01:46:00 GMT", 235),
      ("Mon Jul  6 01:46:00 2026", 235), ("Mon, 06 Jul 2026 01:30:00 GMT", 0),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 3600),
    ])
  func `Retry-After is read in every form, and nonsense is ignored`(
    _ status: Int, _ wish: (text: String, seconds: Int64)
  ) async throws {
    let canned = CannedResponse(
      status: status, body: "", contentType: "text/plain", headers: ["Retry-After: \(wish.text)"])
    let struck = Self.moment(9, 42)
    let run = try await Run(
      Fault(.response(canned), from: struck, responsesMax: 1), from: Self.moment(9, 41, 50),
      to: struck.adding(seconds: max(wish.seconds, 60) + 15))
    let pause = try await run.pause(at: struck)
    let least = max(wish.seconds, status == 403 ? 60 : 0)
    #expect(pause >= least && pause <= least + 10, "\(pause) s")
  }

  @Test func `a wish beside a good answer is none`() async throws {
    let script = WireScript([
      .send(Array("HTTP/1.1 200 OK\r\nRetry-After: 600\r\nConnection: close\r\n\r\n".utf8)),
      .sendBody,
    ])
    let struck = Self.moment(9, 42)
    let run = try await Run(
      Fault(.wire(script), from: struck, responsesMax: 1), from: Self.moment(9, 41),
      to: Self.moment(9, 44))
    #expect(try await run.pause(at: struck) <= 4)
    #expect(run.status.quotes.transportFaults.isEmpty)
  }

  @Test(arguments: [
    (WireScript.oldProtocol, nil as TransportError.Code?), (.duplicateHeaders, nil),
    (.lengthTooShort, nil),
    (.resetInBody, .reset), (.lengthTooLong, .truncated), (.twoLengths, .truncated),
    (.lengthThatIsNone, .other), (.notHTTP, .other),
    (.endlessHead, .bodyTooLarge), (.endlessChunks, .bodyTooLarge),
    (.slowLoris, .timeout), (.slowHead, .timeout), (.heldBody, .timeout),
  ])
  func `an answer that lies, breaks off or never ends costs itself alone`(
    _ script: WireScript, _ code: TransportError.Code?
  ) async throws {
    let struck = Self.moment(9, 42)
    let run = try await Run(
      Fault(.wire(script), from: struck, responsesMax: 1), from: Self.moment(9, 41),
      to: Self.moment(9, 44), deadlineMilliseconds: code == .timeout ? 1_500 : 30_000)
    // Of a busy machine other answers may be too late for a deadline as short as that.
    let lateMax = code == .timeout ? 3 : 0
    let faults = run.status.quotes.transportFaults
    #expect(Set(faults.keys) == Set([code].compactMap { $0 }))
    #expect(code.map { (1...1 + lateMax).contains(faults[$0] ?? 0) } != false, "\(faults)")
    #expect(try await run.pause(at: struck) <= 3)
    // Three minutes of 20 slots, each with its answer; the one that was struck was asked again.
    let slots = Set(await run.witness.answeredAt.map { $0.seconds / 3 })
    #expect(slots.count >= 58 - lateMax, "\(slots.count) slots")
    #expect(!run.tables.candles.isEmpty)
  }
}

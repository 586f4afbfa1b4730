import Commits
import ExchangeSimulator
import Feeds
import Journal
import Market
import Polling
import Store
import TestExchange
import TestSupport
import Testing

@testable import Ingest

/// Two live sources of one market through an engine, and another engine after it: which is
/// requested when.
struct FailoverRun {
  var market: SimulatedMarket
  var start = 9 * 3_600 + 58 * 60
  var end = 10 * 3_600 + 20 * 60
  /// The reference symbol included.
  var batchSymbols = 13
  var sources = [Source.live, Second.source]
  var host = "quotes.test"
  let folder: JournalFolder
  let lines = LogLines()
  let world: TwoSources

  static let ten = 10 * 3_600

  /// - Parameter seconds: from ten o'clock.
  static func outage(
    _ source: Source, _ seconds: Range<Int>, _ fault: TwoSources.Fault
  ) -> TwoSources.Outage {
    TwoSources.Outage(
      source: source, seconds: (ten + seconds.lowerBound)..<(ten + seconds.upperBound),
      fault: fault)
  }

  init(_ outages: [TwoSources.Outage], instruments: Int = 24) throws {
    market = SimulatedMarket(
      seed: 5, day: TradingDay(daysSince1970: 20_640), instruments: instruments)
    folder = try JournalFolder()
    world = TwoSources(market, outages)
  }

  func moment(_ second: Int) -> Timestamp { Timestamp(day: market.day, secondOfDay: second) }

  func quotes(_ source: Source) -> QuotesConfiguration {
    var configuration = PollerConfiguration(referenceSymbol: market.symbols[0], seed: 1)
    configuration.batchSymbolsMax = batchSymbols
    let isRequestable = SourceRegistry.quotes(of: source).isRequestable
    return QuotesConfiguration(
      source: source, poller: configuration, schedule: PollSchedule(seed: 1) { _ in true },
      symbols: market.symbols.filter(isRequestable))
  }

  func configuration(_ sources: [Source]) -> WorkerConfiguration {
    var configuration = WorkerConfiguration()
    configuration.quotes = sources.map(quotes)
    return configuration
  }

  /// - Parameter stored: what the database has; nil for one that is empty.
  func engine(_ sink: MemorySink = MemorySink(), stored: StoredState? = nil) throws -> Engine {
    let journal = try JournalWriter(
      directory: folder.path, committed: stored?.position ?? .start)
    let parts = EngineParts(
      clock: .stepped(start: moment(start)),
      workers: SourceWorkers(
        configuration(sources), upstream: NamedHost(world: world, name: host)),
      store: sink, journal: journal, journalDirectory: folder.path, log: lines.logger)
    var limits = EngineLimits()
    limits.stopAt = moment(end)
    let pipeline = try stored.map { try Pipeline(stored: $0) } ?? Pipeline()
    return Engine(parts: parts, pipeline: pipeline, limits: limits)
  }

  /// A process ends at its `end`, and the next begins so much later, for so long. What the first
  /// one knew and did not journal is gone.
  mutating func restart(after seconds: Int, for duration: Int) {
    start = end + seconds
    end = start + duration
  }
}

// MARK: - What must hold of all requests, of several processes, too

extension FailoverRun {
  /// Sweeps of both at once would be twice the load. Who is swept changes from one to the other as
  /// expected, a source that has not refused has its whole turn, and whoever is not swept gets one
  /// request in 30 s at most.
  func expectOneAtATime(_ requests: [TwoSources.Request], turns expected: [Source]) {
    var turns: [[TwoSources.Request]] = []
    for request in requests where !request.isProbe {
      if turns.last?.first?.source == request.source {
        turns[turns.count - 1].append(request)
      } else {
        turns.append([request])
      }
    }
    #expect(turns.compactMap(\.first?.source.name) == expected.map(\.name))
    for turn in turns.dropFirst().dropLast() {
      guard let first = turn.first, let last = turn.last, !last.isRefused else { continue }
      #expect(last.at >= first.at.adding(seconds: 9), "\(first.source.name) from \(first.at)")
    }
    expectProbesApart(requests)
  }

  /// A probe comes 30 s after whatever its source was asked for before.
  func expectProbesApart(_ requests: [TwoSources.Request]) {
    var last: [Source: Timestamp] = [:]
    for request in requests {
      if request.isProbe, let last = last[request.source] {
        #expect(
          request.at >= last.adding(seconds: 30), "\(request.source.name) at \(request.at)")
      }
      last[request.source] = request.at
    }
  }

  /// From a refusal on nothing for 1, 10 or 60 minutes, and then one symbol.
  func expectCoolDowns(_ requests: [TwoSources.Request], _ note: String = "") {
    let seconds: [Int64] = [60, 600, 3_600]
    for source in [Source.live, Second.source] {
      var (level, refusedAt, closedAt) = (0, Timestamp?.none, Timestamp?.none)
      for request in requests where request.source == source {
        // Those of a sweep leave together.
        if refusedAt == request.at { continue }
        if let refusedAt {
          let until = refusedAt.adding(seconds: seconds[level])
          #expect(
            request.at >= until && request.symbols.count == 1,
            "\(source.name) at \(request.at), left alone until \(until) \(note)")
        }
        if request.isRefused {
          let isRelapse = closedAt.map { request.at < $0.adding(seconds: 3_600) } ?? false
          level = refusedAt != nil || isRelapse ? min(level + 1, 2) : 0
          refusedAt = request.at
        } else if refusedAt != nil {
          (refusedAt, closedAt) = (nil, request.at)
        }
      }
    }
  }
}

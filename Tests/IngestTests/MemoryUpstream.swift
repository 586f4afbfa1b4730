import Commits
import ExchangeSimulator
import Feeds
import Ingest
import Journal
import Market
import Polling
import Synchronization
import TestExchange
import TestSupport

@testable import Postgres
@testable import Store
@testable import Transport

/// A simulated exchange that answers without a socket.
actor MemoryUpstream: QuotesUpstream {
  private var market: SimulatedMarket
  private let outages: [Range<Int>]
  /// Answers as of one moment, whatever the time.
  private let frozenAt: Timestamp?
  private let asked: @Sendable (Int) -> Void
  private(set) var responses = 0

  /// - Parameter asked: called with every request's number, from 1.
  init(
    _ market: SimulatedMarket, outages: [Range<Int>] = [], frozenAt: Timestamp? = nil,
    asked: @escaping @Sendable (Int) -> Void = { _ in }
  ) {
    self.market = market
    self.asked = asked
    self.outages = outages
    self.frozenAt = frozenAt
  }

  nonisolated func hostName(of feedRequest: FeedRequest, host: Int) -> String? { "exchange.test" }

  func response(to request: QuotesQuery, at now: Timestamp) -> UpstreamResponse {
    responses += 1
    asked(responses)
    market.advance(to: frozenAt ?? now)
    if outages.contains(where: { $0.contains(now.shanghaiSecondOfDay) }) {
      return .failure(TransportError(.timeout, route: "sina-quotes"))
    }
    return .response(status: 200, body: market.body(for: request.symbols), retryAfter: nil)
  }
}

/// A store that keeps `Tables` and fails on order.
actor MemorySink: CommitSink {
  enum Fate: Sendable {
    case taken
    /// Everything in it is there already: the position moves only where that is asked for.
    case withoutRows
    case refused(StoreError.Code)
    /// Carried out, and the answer lost.
    case committedWithoutResponse(StoreError.Code)
  }

  private(set) var tables: Tables
  private(set) var commits = 0
  private(set) var loads = 0
  private let fate: @Sendable (Int) -> Fate
  private let inspect: @Sendable (Commit) -> Void
  private let loadsRefused: Int
  /// An attempt that takes seconds, real ones.
  private let slowAttempt: Int?
  private var attempts = 0
  private var engine: Engine?
  private var putBackTo: Tables?
  private var loadsWanted = 0
  private var commitsWanted = 0
  private var stopsAtLoad: Int?

  /// `fate` is asked with the number of the attempt, from 1.
  init(
    startingWith tables: Tables = Tables(), loadsRefused: Int = 0, slowAttempt: Int? = nil,
    inspect: @escaping @Sendable (Commit) -> Void = { _ in },
    fate: @escaping @Sendable (Int) -> Fate = { _ in .taken }
  ) {
    self.tables = tables
    self.loadsRefused = loadsRefused
    self.slowAttempt = slowAttempt
    self.inspect = inspect
    self.fate = fate
  }

  func commit(_ commit: Commit) async throws(StoreError) -> CommitReceipt {
    attempts += 1
    if attempts == slowAttempt { try? await Task.sleep(for: .seconds(5)) }
    inspect(commit)
    switch fate(attempts) {
    case .taken: break
    case .withoutRows where commit.storesPosition: break
    case .withoutRows: return CommitReceipt()
    case .refused(let code): throw error(code)
    case .committedWithoutResponse(let code):
      take(commit)
      throw error(code)
    }
    take(commit)
    return CommitReceipt(seq: Int64(commits))
  }

  /// Stops `engine` once it has loaded and then committed so often.
  func stop(_ engine: Engine?, afterLoads loads: Int, andCommits commits: Int) {
    self.engine = engine
    loadsWanted = loads
    commitsWanted = commits
  }

  /// Stops `engine` when it asks for the so manieth time what is stored.
  func stop(_ engine: Engine?, atLoad load: Int) {
    self.engine = engine
    stopsAtLoad = load
  }

  func load() throws(StoreError) -> StoredState {
    loads += 1
    if loads == stopsAtLoad { engine?.stop() }
    if loads <= loadsRefused { throw error(.connectionLost) }
    return (putBackTo ?? tables).stored
  }

  /// From here on it says that this is all it holds.
  func putBack(to tables: Tables) { putBackTo = tables }

  /// Nothing is missing in memory.
  func repairCandidates(from day: TradingDay) -> [RepairCandidate] { [] }

  private func take(_ commit: Commit) {
    commits += 1
    tables.take(commit)
    if loads >= loadsWanted { commitsWanted -= 1 }
    if commitsWanted == 0 { engine?.stop() }
  }

  private func error(_ code: StoreError.Code) -> StoreError {
    StoreError(code, message: "on order", context: "commit")
  }
}

import Commits
import ExchangeSimulator
import Feeds
import Foundation
import Ingest
import Ledgers
import Market
import Polling
import Postgres
import Store
import TestExchange
import TestSupport

/// A simulated exchange that lives in true time, whatever the daemon beside it believes, and dates
/// its answers as a server does.
actor ClockWorld: QuotesUpstream {
  private var market: SimulatedMarket
  private let recorder: DayRecorder
  private var engine: Engine?
  /// Until an answer agreed with a clock, the first that contradicts it is not taken.
  private var isNextTaken = true
  /// By the minute of true time since 1970.
  private var requests: [Int64: Int] = [:]

  init(seed: UInt64, day: TradingDay, instruments: Int) {
    market = SimulatedMarket(seed: seed, day: day, instruments: instruments)
    recorder = DayRecorder(market)
  }

  var symbols: [Symbol] { market.symbols }

  func follow(_ engine: Engine?) { self.engine = engine }

  /// The next answer is one that its reader will not take.
  func refuseNext() { isNextTaken = false }

  func response(to request: QuotesQuery, at now: Timestamp) async -> UpstreamResponse {
    let truth = await engine?.steady ?? now
    requests[truth.seconds / 60, default: 0] += 1
    market.advance(to: truth, watchedBy: recorder)
    if isNextTaken { recorder.observed(request.symbols, of: market) }
    isNextTaken = true
    return .response(
      status: 200, body: market.body(for: request.symbols), retryAfter: nil,
      date: Self.header(truth))
  }

  /// `Sun, 06 Nov 1994 08:49:37 GMT`
  static func header(_ moment: Timestamp) -> String {
    var seconds = time_t(moment.seconds)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    var text = [UInt8](repeating: 0, count: 64)
    let count = text.withUnsafeMutableBytes { buffer in
      strftime(buffer.baseAddress, buffer.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
    }
    return String(decoding: text[..<count], as: UTF8.self)
  }

  /// Ends the day, and what it must have left in the tables.
  func differences(_ rows: DayRows, end: Timestamp) -> [String] {
    market.advance(to: end, watchedBy: recorder)
    return recorder.observableLedger().differences(
      candles: Array(rows.candles.values), gaps: rows.gaps,
      certificates: Array(rows.certificates.values))
  }

  var requestsInOneMinuteMax: Int { requests.values.max() ?? 0 }
}

/// A store that keeps a day's rows.
actor RowSink: CommitSink {
  private(set) var rows = DayRows()
  private var count: Int64 = 0

  func commit(_ commit: Commit) throws(StoreError) -> CommitReceipt {
    count += 1
    rows.take(commit)
    return CommitReceipt(seq: count)
  }

  /// The one writer, none of whose answers is lost, never needs to ask.
  func load() throws(StoreError) -> StoredState { preconditionFailure("nobody loads") }

  func repairCandidates(from day: TradingDay) -> [RepairCandidate] { [] }
}

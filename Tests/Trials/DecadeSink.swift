import Commits
import Ingest
import Market
import Store

/// A store that measures its commits.
actor TimedSink: CommitSink {
  private let writer: StoreWriter
  private(set) var microseconds: [Int] = []

  init(_ writer: StoreWriter) { self.writer = writer }

  func commit(_ commit: Commit) async throws(StoreError) -> CommitReceipt {
    let start = EngineClock.steadyNow()
    let receipt = try await writer.commit(commit)
    if !commit.candles.isEmpty {
      microseconds.append(Int(EngineClock.steadyNow().microseconds(since: start)))
    }
    return receipt
  }

  func load() async throws(StoreError) -> StoredState { try await writer.load() }

  func repairCandidates(from day: TradingDay) async throws(StoreError) -> [RepairCandidate] {
    try await writer.repairCandidates(from: day)
  }

  func prune(on day: TradingDay) async throws(StoreError) -> Int64 {
    try await writer.prune(on: day)
  }
}

import Commits
import Ingest
import Market

/// Counts what is asked of it.
actor PrunedSink: CommitSink {
  private(set) var days: Set<TradingDay> = []
  private(set) var certificates = 0
  private(set) var prunes = 0
  private let sink = MemorySink()

  func commit(_ commit: Commit) async throws(StoreError) -> CommitReceipt {
    days.insert(commit.knownAt.shanghaiDay)
    for case .dayComplete in commit.events { certificates += 1 }
    return try await sink.commit(commit)
  }

  func load() async throws(StoreError) -> StoredState { try await sink.load() }
  func repairCandidates(from day: TradingDay) async throws(StoreError) -> [RepairCandidate] { [] }

  /// Twice a day there is something.
  func prune(on day: TradingDay) async throws(StoreError) -> Int64 {
    prunes += 1
    return prunes % 3 == 0 ? 0 : 7
  }
}

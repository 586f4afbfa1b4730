import Commits
import Ingest
import Logging
import Market
import Operations
import Platform
import Store

/// The lines a day's daemon logs, notices and above.
final class DecadeLog: Sendable {
  private let all = Locked<[String]>([])

  var lines: [String] { all.withLock { $0 } }

  var logger: Logger {
    Logger(label: "decade") { label in
      LineLogHandler(
        label: label, control: LogControl(level: .notice, format: .text), mask: SecretMask(),
        isJournal: false,
        write: { line in
          self.all.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
        })
    }
  }
}

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

import Commits
import Foundation
import Postgres
import Store
import TestSupport

/// The change feed, read with plain SQL.
struct StoredFeed {
  let url: String

  /// When the first commit since `moment` was made, both in microseconds of the real clock.
  func firstCommit(after moment: Int64) throws -> Int64? {
    let row = try SQLProbe.run(
      """
      select (extract(epoch from min(committed_at)) * 1000000)::bigint from candled.change
      where committed_at >
        timestamptz 'epoch' + interval '\(moment / 1_000_000) s \(moment % 1_000_000) us'
      """, url: url)[0]
    return row[0].flatMap { Int64($0) }
  }

  /// Returns once anything was committed.
  func waitForCommit(secondsMax: Int) throws {
    let deadline = Date().addingTimeInterval(TimeInterval(secondsMax))
    while try firstCommit(after: 0) == nil {
      guard Date() < deadline else { throw TrialFailure("no commit within \(secondsMax) s") }
      usleep(20_000)
    }
  }
}

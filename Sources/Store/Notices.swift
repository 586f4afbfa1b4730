import Commits
import Market
import Platform

/// Whether commits come with a NOTIFY. It is a hint (the tables are the truth), and no commit fails
/// for it: one whose NOTIFY fails is made again without, and for a while none is tried. Followers
/// find the rows by their timers.
struct Notices {
  /// Trying each time would write every commit twice while the server's queue is full.
  static let pauseSeconds: Int64 = 10

  private var mutedUntil: Int64 = 0
  private var fault: StoreError?

  var isMuted: Bool { MonotonicClock.seconds() < mutedUntil }

  /// What a commit found out, and, in its receipt, why it went without a hint.
  mutating func recorded(in receipt: CommitReceipt, by strategy: CommitStrategy) -> CommitReceipt {
    if let found = strategy.notifyFault {
      fault = found
      mutedUntil = MonotonicClock.seconds() + Self.pauseSeconds
    } else if strategy.notifies, receipt.seq != nil {
      fault = nil
    }
    var receipt = receipt
    if !strategy.notifies, receipt.seq != nil { receipt.notifyFault = fault }
    return receipt
  }
}

extension StoreError {
  /// A missing right to call it, or a full queue (54000); not what says that the row is bad or the
  /// connection gone.
  var mayBeNotifys: Bool {
    sqlState == "54000" || code == .operatorNeeded || code == .refused
  }
}

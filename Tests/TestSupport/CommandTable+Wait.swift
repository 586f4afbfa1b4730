import AppStore
import Postgres

extension CommandTable {
  /// Blocks until all of these have an outcome, or time is up. Whoever waits listens first.
  /// - Returns: those that have one.
  package func wait(
    for ids: [Int64], milliseconds: Int32
  ) throws(AppStoreError) -> [Int64: CommandOutcome] {
    let wanted = Set(ids)
    let end = ContinuousClock.now + .milliseconds(milliseconds)
    while true {
      let found = try outcomes(of: ids)
      let left = (end - ContinuousClock.now) / .milliseconds(1)
      if found.count == wanted.count || left <= 0 { return found }
      _ = try connection.wait(
        milliseconds: Int32(clamping: Int64(left.rounded(.up))), interrupt: -1)
    }
  }
}

extension DayLimits {
  /// Of one user who sends what many do.
  package static var none: DayLimits {
    var limits = DayLimits.standard
    (limits.commands, limits.payments, limits.alerts, limits.accounts) = (.max, .max, .max, .max)
    return limits
  }
}

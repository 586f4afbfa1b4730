/// A day of an instrument that ready-made bars may make better.
public struct RepairCandidate: Sendable, Hashable {
  public enum Want: Int, Sendable, Comparable, CaseIterable {
    /// Nothing is known to be wrong.
    case confirmation
    /// Minutes seen in part, or with an ambiguous extreme; totals that their source rounds.
    case flagged
    /// The certificate does not balance, or has no end of day.
    case unbalanced
    case gap

    public static func < (left: Want, right: Want) -> Bool { left.rawValue < right.rawValue }
  }

  public var symbol: Symbol
  public var day: TradingDay
  public var want: Want
  /// When its minutes were last looked for in vain.
  public var lastCheckedAt: Timestamp?

  public init(
    symbol: Symbol, day: TradingDay, want: Want, lastCheckedAt: Timestamp? = nil
  ) {
    self.symbol = symbol
    self.day = day
    self.want = want
    self.lastCheckedAt = lastCheckedAt
  }
}

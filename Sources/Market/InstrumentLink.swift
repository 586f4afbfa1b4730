/// What became of an instrument: a change of its code, or what its shares were exchanged for
/// (docs/identity.md).
public struct InstrumentLink: Sendable, Hashable {
  /// The raw value is what is stored.
  public enum Kind: String, Sendable, CaseIterable {
    /// The same security under another code: one series.
    case rename
    case merger
    /// Into a security in another currency.
    case conversion
    case relisting
    case splitOff = "split_off"
  }

  /// By how well it is known. The raw value is what is stored.
  public enum Verdict: String, Sendable, CaseIterable {
    case suspected
    /// By rows: the previous close of one is the close of the other, and so are their names.
    case proven
    /// By the operator, or by the file that candled comes with.
    case declared
  }

  public var from: Symbol
  public var to: Symbol
  /// The first day of the new code, or of the exchange of shares.
  public var day: TradingDay
  public var kind: Kind
  public var verdict: Verdict
  /// New shares for one old one; nil where it says nothing.
  public var ratio: ExactDecimal?
  /// Money for one old share beside them.
  public var cash: ExactDecimal?
  /// Who says so, for people.
  public var source: String

  public init(
    from: Symbol, to: Symbol, day: TradingDay, kind: Kind = .rename, verdict: Verdict,
    ratio: ExactDecimal? = nil, cash: ExactDecimal? = nil, source: String
  ) {
    self.from = from
    self.to = to
    self.day = day
    self.kind = kind
    self.verdict = verdict
    self.ratio = ratio
    self.cash = cash
    self.source = source
  }

  /// Whether it says the same, whoever says so.
  public func isSame(as other: InstrumentLink) -> Bool {
    var other = other
    other.source = source
    return self == other
  }

  /// Whether both codes are one security.
  public var joins: Bool { kind == .rename && verdict != .suspected }
}

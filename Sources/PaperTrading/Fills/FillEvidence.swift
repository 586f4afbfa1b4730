import Market

/// Everything that a fill follows from: `FillRules.derive` gives quantity and price again. Written
/// as one line of text, so that a database can keep it and people can read it.
package struct FillEvidence: Sendable, Hashable {
  package var version: Int16
  package var basis: FillBasis
  package var side: Side
  /// nil where the fill follows from one book alone.
  package var before: SnapshotStamp?
  package var after: SnapshotStamp
  /// In the order of `names`; what a basis does not need is absent.
  package private(set) var numbers: [Name: ExactDecimal]

  package enum Name: String, Sendable, CaseIterable {
    /// The order's limit, the instrument's tick, how much the order had left when it entered, and
    /// how much of that was filled before.
    case limit, tick, own, filled
    /// What earlier orders of its account have left in the same queue.
    case ownSharesAhead = "yields"
    /// The volume before the order in its queue, and what was counted for it since it entered.
    case front, counted
    /// The day's totals at both ends of the interval, the extremes at its end, and the slack of
    /// each difference.
    case volumeBefore = "volume_before"
    case volumeAfter = "volume_after"
    case turnoverBefore = "turnover_before"
    case turnoverAfter = "turnover_after"
    case high, low
    case volumeSlack = "volume_slack"
    case turnoverSlack = "turnover_slack"
    /// The price and the volume of a level or an auction, and what was taken of it before.
    case price, offered, taken
  }

  package init(
    version: Int16 = FillModel.version, basis: FillBasis, side: Side,
    before: SnapshotStamp? = nil, after: SnapshotStamp, numbers: [Name: ExactDecimal]
  ) {
    self.version = version
    self.basis = basis
    self.side = side
    self.before = before
    self.after = after
    self.numbers = numbers
  }

  package subscript(_ name: Name) -> ExactDecimal { numbers[name] ?? .zero }
}

// MARK: - Text

extension FillEvidence {
  /// `model=certain/1 basis=passive side=buy …`.
  package var text: String {
    var words = [
      "model=\(FillModel.name)/\(version)", "basis=\(basis.name)", "side=\(side.name)",
    ]
    if let before { words.append("before=\(before.text)") }
    words.append("after=\(after.text)")
    words += Name.allCases.compactMap { name in numbers[name].map { "\(name.rawValue)=\($0)" } }
    return words.joined(separator: " ")
  }

  /// nil for what is no evidence, whole.
  package init?(text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard let values = WordValues(words), let model = values["model"]?.split(separator: "/"),
      model.count == 2, model[0] == FillModel.name, let version = Int16(model[1]),
      let basis = values.named("basis", by: \FillBasis.name),
      let side = values.named("side", by: \Side.name),
      let after = values["after"].flatMap({ SnapshotStamp(text: $0) })
    else { return nil }
    let before = values["before"].flatMap { SnapshotStamp(text: $0) }
    var numbers: [Name: ExactDecimal] = [:]
    for name in Name.allCases { numbers[name] = values.decimal(Substring(name.rawValue)) }
    // Words that are malformed, or of no name, were not read.
    guard values.count == numbers.count + (before == nil ? 4 : 5) else { return nil }
    self.init(
      version: version, basis: basis, side: side, before: before, after: after, numbers: numbers)
  }
}

extension SnapshotStamp {
  /// `2026-07-06/34203/118`.
  var text: String { "\(day)/\(secondOfDay)/\(sequence)" }

  init?(text: Substring) {
    let parts = text.split(separator: "/")
    guard parts.count == 3, let day = TradingDay(parts[0]), let second = Int32(parts[1]),
      let sequence = Int64(parts[2])
    else { return nil }
    self.init(day: day, secondOfDay: second, sequence: sequence)
  }
}

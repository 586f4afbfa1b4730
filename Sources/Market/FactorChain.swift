/// The adjustment factors of one instrument as they are served: those of its files, where every
/// step that the exchange contradicts is replaced and every one that they lack put in. Before a
/// step that is not known there are none.
///
/// Where a file holds, its own digits are served.
package struct FactorChain: Sendable {
  private let isFund: Bool
  private let tick: ExactDecimal
  private let evidence: [TradingDay: FactorStep.Evidence]

  /// - Parameters:
  ///   - tick: what the exchange rounds a previous close to.
  ///   - evidence: of the days that a file names, and of those whose previous close was not the
  ///     close before.
  package init(
    ofFund isFund: Bool, tick: ExactDecimal, evidence: [TradingDay: FactorStep.Evidence]
  ) {
    self.isFund = isFund
    self.tick = tick
    self.evidence = evidence
  }

  /// - Parameter files: of each kind all factors there are, by ascending day.
  package func served(
    _ files: [AdjustmentFactor.Kind: [AdjustmentFactor]]
  ) -> [ServedFactor] {
    let kinds = AdjustmentFactor.Kind.allCases.filter { files[$0]?.isEmpty == false }
    var chains = kinds.map { ($0, links(files[$0] ?? [])) }
    // Prices of two days are compared by hfq, and days that no file explains yet are kept in it for
    // the one that will.
    if !kinds.contains(.hfq) {
      chains.append((.hfq, chains.first?.1.map(\.unfiled) ?? links([])))
    }
    return chains.flatMap { totals($0, of: $1) } + splits(chains[0].1)
  }

  /// A day of the chain.
  private struct Link {
    var day: TradingDay
    var filed: AdjustmentFactor?
    /// The file's in force.
    var factor: ExactDecimal?
    /// What that steps by.
    var filedStep = ExactDecimal(1)
    /// nil before the first change, and where nothing changed.
    var step: FactorStep?

    /// What the file's factors are out by from here on; nil where that is not known.
    var correction: ExactDecimal? {
      guard let step else { return ExactDecimal(1) }
      guard step.total != filedStep else { return ExactDecimal(1) }
      return try? step.total?.divided(by: filedStep, scale: FactorStep.places)
    }

    /// For the kind that has no file: what the steps alone make of 1.
    var unfiled: Link { Link(day: day, factor: ExactDecimal(1), step: step) }
  }

  private func links(_ file: [AdjustmentFactor]) -> [Link] {
    let filed = Dictionary(file.map { ($0.from, $0) }, uniquingKeysWith: { $1 })
    let days = Set(filed.keys).union(evidence.keys.filter { $0 >= file.first?.from ?? $0 })
    var last: AdjustmentFactor?
    return days.sorted().compactMap { day in
      var link = Link(day: day, filed: filed[day], factor: (filed[day] ?? last)?.standing)
      let isFirst = link.filed != nil && last == nil
      let step = last.flatMap { link.filed?.step(since: $0) }
      if case .shares(let total)? = step { link.filedStep = total }
      last = link.filed ?? last
      if !isFirst {
        link.step = FactorStep.judged(
          step, by: evidence[day] ?? FactorStep.Evidence(), ofFund: isFund, tick: tick)
      }
      return link.filed == nil && link.step == nil ? nil : link
    }
  }

  private func totals(_ kind: AdjustmentFactor.Kind, of links: [Link]) -> [ServedFactor] {
    let first = links.lastIndex { $0.correction == nil } ?? 0
    var factors = [ExactDecimal?](repeating: nil, count: links.count)
    var correction: ExactDecimal? = ExactDecimal(1)
    for place in kind == .hfq ? Array(first..<links.count) : (first..<links.count).reversed() {
      if kind == .hfq, place > first { correction.multiply(by: links[place].correction) }
      factors[place] = links[place].factor
      if correction != ExactDecimal(1) { factors[place].multiply(by: correction) }
      if kind == .qfq { correction.multiply(by: links[place].correction) }
    }
    return zip(links, factors).map { link, factor in
      ServedFactor(
        series: kind == .qfq ? .qfq : .hfq, from: link.day, factor: factor, filed: link.filed,
        step: link.step)
    }
  }

  private func splits(_ links: [Link]) -> [ServedFactor] {
    // What was before the first day that no file explains is not known either.
    guard links.first?.filed != nil else { return [] }
    let first = links.lastIndex { $0.step.map { $0.split == nil } ?? false } ?? 0
    var factor: ExactDecimal? = ExactDecimal(1)
    return links[first...].indices.compactMap { place in
      let split = links[place].step?.split ?? ExactDecimal(1)
      if place > first {
        if split == ExactDecimal(1) { return nil }
        factor.multiply(by: split)
      }
      return ServedFactor(
        series: .split, from: links[place].day, factor: factor, step: links[place].step)
    }
  }
}

/// A row of `adjustment_factor`.
package struct ServedFactor: Sendable, Hashable {
  package enum Series: Int16, Sendable, CaseIterable {
    case qfq = 1
    case hfq = 2
    /// Shares, or units, that one of the first day has become.
    case split = 3
  }

  package var series: Series
  package var from: TradingDay
  /// nil: not known until the next one's day.
  package var factor: ExactDecimal?
  /// As the file has it; nil where it has nothing of the day.
  package var filed: AdjustmentFactor?
  /// nil before the first change, and where nothing changed.
  package var step: FactorStep?
}

extension AdjustmentFactor {
  /// That of a fund is 1 whatever happened.
  fileprivate var standing: ExactDecimal { fund == nil ? factor : ExactDecimal(1) }

  /// What happened on its day; nil for nothing.
  fileprivate func step(since last: AdjustmentFactor) -> FactorStep.Filed? {
    let (older, newer) = kind == .hfq ? (last, self) : (self, last)
    guard let fund else {
      let total = try? newer.factor.divided(by: older.factor, scale: FactorStep.places)
      return total.flatMap { $0 == ExactDecimal(1) ? nil : .shares($0) }
    }
    // Both are cumulative, and begin again at times.
    let cash = difference(of: fund.cash, to: last.fund?.cash)
    let split = quotient(of: fund.split, by: last.fund?.split)
    if cash == .zero, split == ExactDecimal(1) { return nil }
    return .fund(cash: cash, split: split)
  }

  private func difference(of new: ExactDecimal?, to old: ExactDecimal?) -> ExactDecimal? {
    guard let new, let old, let difference = try? new - old, !difference.isNegative else {
      return nil
    }
    return difference.normalized
  }

  private func quotient(of new: ExactDecimal?, by old: ExactDecimal?) -> ExactDecimal? {
    guard let new, let old, new.isPositive, old.isPositive else { return nil }
    return try? new.divided(by: old, scale: FactorStep.places).normalized
  }
}

extension ExactDecimal? {
  fileprivate mutating func multiply(by factor: ExactDecimal?) {
    guard let known = self, let factor else {
      self = nil
      return
    }
    self = try? known.multiplied(by: factor, scale: FactorStep.places)
  }
}

import Market

/// Where the day as a whole does not add up: gap by gap, and what to say about the rest. Also when
/// bars may stand for an exchange's total that nobody saw.
extension Reconciliation {
  /// Gaps that share a minute can only be healed together.
  private struct Cluster {
    var span: ClosedRange<Int>
    var gaps: [OpenGap]
  }

  func mended(_ known: Totals?) throws(ExactDecimalError) -> Outcome {
    var outcome = Outcome()
    var minutes = stored
    var open: [Gap] = []
    for cluster in clusters {
      let gap = cluster.gaps.map(\.gap)
      if let filling = try filling(of: cluster) {
        apply(filling, to: &minutes, outcome: &outcome)
        outcome.closedGaps += cluster.gaps.map(\.id)
        if filling.turnoverLeft.isPositive {
          outcome.remainders.append(remainder(of: cluster, turnover: filling.turnoverLeft))
        }
      } else {
        open += gap
        let isReached = bars.reach(cluster.span)
        outcome.gapChecks += cluster.gaps.map {
          GapCheck(gap: $0.id, reason: isReached ? .barsDiffer : .notInBars)
        }
        if isReached { outcome.disagreements += try disagreements(about: cluster) }
      }
    }
    if !outcome.closedGaps.isEmpty {
      outcome.certificate = try makeCertificate(
        minutes, openGaps: open + outcome.remainders, totals: known,
        isCoarse: certificate?.isCoarse == true)
    }
    outcome.disagreements += try dayDisagreements(known)
    outcome.isDayVerified = bars.isComplete
    return outcome
  }

  private func filling(of cluster: Cluster) throws(ExactDecimalError) -> Filling? {
    // How much passed unseen is not known: only a whole day shows it.
    if cluster.gaps.contains(where: { $0.gap.cause == .unseenClose }) { return nil }
    guard bars.reach(cluster.span) else { return nil }
    return try filling(of: cluster.span, target: try account(of: cluster))
  }

  private func account(of cluster: Cluster) throws(ExactDecimalError) -> Totals {
    var totals = try Totals.of(stored[cluster.span])
    try totals.add(cluster.gaps.map(\.gap))
    return totals
  }

  private func remainder(of cluster: Cluster, turnover: ExactDecimal) -> Gap {
    Gap(
      symbol: symbol, tradingDay: day,
      from: cluster.gaps.map(\.gap.from).min() ?? opening(of: cluster.span.lowerBound),
      to: cluster.gaps.map(\.gap.to).max() ?? opening(of: cluster.span.upperBound),
      volume: .zero, turnover: turnover, cause: cluster.gaps.first?.gap.cause ?? .outage)
  }

  private var clusters: [Cluster] {
    var clusters: [Cluster] = []
    for gap in gaps.sorted(by: { span(of: $0.gap).lowerBound < span(of: $1.gap).lowerBound }) {
      let span = span(of: gap.gap)
      guard let last = clusters.last, last.span.overlaps(span) else {
        clusters.append(Cluster(span: span, gaps: [gap]))
        continue
      }
      clusters[clusters.count - 1] = Cluster(
        span: last.span.lowerBound...max(last.span.upperBound, span.upperBound),
        gaps: last.gaps + [gap])
    }
    return clusters
  }

  /// The minutes a gap touches, edges included, as far as one bar covers them.
  private func span(of gap: Gap) -> ClosedRange<Int> {
    let seconds = hours.tradingSeconds(of: gap)
    var last = min(max((seconds.upperBound + 59) / 60 - 1, 0), hours.minutesPerDay - 1)
    var first = min(seconds.lowerBound / 60, last)
    let auction = bars.auctionMinutes
    if bars.minutes[auction].allSatisfy({ $0 == nil }) {
      if last >= auction.lowerBound { last = hours.minutesPerDay - 1 }
      if first > auction.lowerBound { first = auction.lowerBound }
    }
    return first...last
  }
}

// MARK: - Differences

extension Reconciliation {
  private func disagreements(
    about cluster: Cluster
  ) throws(ExactDecimalError) -> [Disagreement] {
    if cluster.gaps.contains(where: { $0.gap.cause == .unseenClose }) { return [] }
    let ours = try account(of: cluster)
    let theirs = try Totals.of(bars.minutes[cluster.span])
    let openedAt = opening(of: cluster.span.lowerBound)
    return differences(
      .minute1, openedAt: openedAt, ours: ours, theirs: theirs,
      hasTurnover: bars.hasTurnover(in: cluster.span))
  }

  private func dayDisagreements(_ known: Totals?) throws(ExactDecimalError) -> [Disagreement] {
    guard bars.isComplete else { return [] }
    let theirs = try Totals.of(bars.minutes)
    // Where nobody saw the exchange's totals, what was seen stands for them.
    let ours: Totals
    if let known { ours = known } else { ours = try seenTotals() }
    return differences(
      .day1, openedAt: opening(of: 0), ours: ours, theirs: theirs,
      hasTurnover: bars.hasTurnover(in: bars.wholeDay))
  }

  private func differences(
    _ timeframe: Timeframe, openedAt: Timestamp, ours: Totals, theirs: Totals,
    hasTurnover: Bool
  ) -> [Disagreement] {
    let pairs: [(Disagreement.Field, ExactDecimal, ExactDecimal)] = [
      (.volume, ours.volume, theirs.volume), (.turnover, ours.turnover, theirs.turnover),
    ]
    let isExplained = isWithinRounding(ours, theirs, hasTurnover: hasTurnover)
    return pairs.filter {
      $0.1 != $0.2 && ($0.0 == .volume || hasTurnover) && !isExplained
    }.map { pair in
      Disagreement(
        symbol: symbol, timeframe: timeframe, openedAt: openedAt, tradingDay: day, field: pair.0,
        ours: pair.1, theirs: pair.2, ourSource: source, theirSource: source)
    }
  }
}

// MARK: - Days whose end nobody saw

extension Reconciliation {
  /// Prints may be stamped this much after they were made
  /// (docs/sources/sina.md#the-course-of-a-day).
  private static let stampSecondsMax = 6

  /// The exchange's totals as the bars give them, where nobody saw the exchange's own: the bars
  /// are whole, and they pass through what we did see.
  func totalsOfBars() throws(ExactDecimalError) -> Totals? {
    guard bars.isComplete, bars.hasTurnover(in: bars.wholeDay), arePriced else { return nil }
    let totals = try Totals.of(bars.minutes)
    guard let second = seenThroughSecond else { return totals }
    let seen = try seenTotals()
    let passed = bars.wholeDay.filter {
      hours.closing(ofMinute: $0) <= second - Self.stampSecondsMax
    }
    let begun = bars.wholeDay.filter { hours.opening(ofMinute: $0) < second }
    let least = try Totals.of(passed.map { bars.minutes[$0] })
    let most = try Totals.of(begun.map { bars.minutes[$0] })
    // What was seen of rounded totals is the least that they may be.
    let rounding = isRounded ? Self.roundingSpan : Totals()
    guard try least.volume <= seen.volume + rounding.volume, seen.volume <= most.volume else {
      return nil
    }
    let under = try least.turnover - seen.turnover - rounding.turnover
    let over = try seen.turnover - most.turnover
    for excess in [under, over] where excess.isPositive {
      guard try isNoise(excess, in: totals.turnover) else { return nil }
    }
    return totals
  }

  private static let priceRatioMax: Int64 = 2

  /// Where nothing else proves them, a stock's bars must at least agree with themselves: money per
  /// share that is no price of the minute means a volume in another unit.
  private var arePriced: Bool {
    guard Instrument.classify(symbol)?.kind == .stock else { return true }
    return bars.minutes.allSatisfy { bar in
      guard let bar, bar.volume.isPositive, let turnover = bar.turnover else { return true }
      return WideProduct(turnover, times: ExactDecimal(1))
        .isWithin(Self.priceRatioMax, times: WideProduct(bar.volume, times: bar.close))
    }
  }

  /// The second up to which our own totals reach; nil if we have none.
  private var seenThroughSecond: Int? {
    if let close = gaps.first(where: { $0.gap.cause == .unseenClose }) {
      // Whoever looked on after the close may still have missed its print.
      return min(hours.clock.second(of: close.gap.from, on: day), hours.closes)
    }
    return stored.lastIndex { $0 != nil }.map(hours.closing)
  }

  private func seenTotals() throws(ExactDecimalError) -> Totals {
    var totals = try Totals.of(stored)
    try totals.add(gaps.map(\.gap))
    return totals
  }
}

/// Two live sources of one market side by side: what both say of the same instruments at about the
/// same time must agree, whatever each one's format is.

import Market

package enum CheckComparison {
  /// What comparing each two live sources of a market finds.
  package static func findings(_ checkRuns: [CheckRun]) -> [CheckFinding] {
    let live = checkRuns.filter { $0.context.source.quotes != nil }
    return live.indices.flatMap { first in
      live[(first + 1)...].flatMap { other in
        live[first].context.source.market == other.context.source.market
          ? findings(live[first], other) : []
      }
    }
  }

  private static func findings(_ one: CheckRun, _ other: CheckRun) -> [CheckFinding] {
    let pairs = Pair.all(one.batch, other.batch)
    let isOver = [one, other].allSatisfy { checkRun in
      let moment = checkRun.batch?.receivedAt ?? checkRun.context.now
      return !checkRun.context.isInSession(moment)
        && checkRun.context.lastClose(at: moment) != nil
    }
    return subjects.map { subject in
      let compared = pairs.filter(subject.isComparable)
      let verdict: CheckVerdict =
        compared.count < pairsMin
        ? .untried("too few instruments have quotes of both")
        : .nearlyAll(compared, noun: "instrument", perMilleMin: 980) { pair in
          subject.fault(pair, isOver).map { "\(pair.one.symbol): \($0)" }
        }
      return CheckFinding(
        source: "\(one.context.source.name), \(other.context.source.name)",
        name: "agree.\(subject.name)", sentence: "\(subject.sentence) agree",
        remedy:
          "One of the two is wrong: compare with the exchange's site. \(SourceCheck.reportIt)",
        verdict: verdict)
    }
  }

  private static let pairsMin = 5

  /// One instrument as both quote it.
  struct Pair {
    let one: Quote
    let other: Quote

    /// Stocks and funds: the units of other kinds differ between sources.
    fileprivate static func all(_ one: CheckResponse?, _ other: CheckResponse?) -> [Pair] {
      guard let one, let other else { return [] }
      let quotes = other.batch.quotes.map { ($0.quote.symbol, $0.quote) }
      let others = Dictionary(quotes, uniquingKeysWith: { first, _ in first })
      return one.batch.quotes.compactMap { row in
        let kind = Instrument.classify(row.quote.symbol)?.kind
        guard kind == nil || kind == .stock || kind == .fund else { return nil }
        return others[row.quote.symbol].flatMap { other in
          other.tradingDay == row.quote.tradingDay ? Pair(one: row.quote, other: other) : nil
        }
      }
    }
  }

  private struct Subject: Sendable {
    let name: String
    let sentence: String
    let isComparable: @Sendable (Pair) -> Bool
    let fault: @Sendable (Pair, _ isOver: Bool) -> String?
  }

  private static let subjects = [
    Subject(
      name: "previous_close", sentence: "previous closes",
      isComparable: { !$0.one.previousClose.isZero && !$0.other.previousClose.isZero },
      fault: { pair, _ in unequal(pair.one.previousClose, pair.other.previousClose) }),
    Subject(
      name: "open", sentence: "opens",
      isComparable: { !$0.one.open.isZero && !$0.other.open.isZero },
      fault: { pair, _ in unequal(pair.one.open, pair.other.open) }),
    Subject(
      name: "price", sentence: "last prices, within 2 % in a session,", isComparable: hasTraded,
      fault: { pair, isOver in
        far(pair.one.last, pair.other.last, perMille: isOver ? 0 : 20, more: 0)
      }),
    Subject(
      name: "volume", sentence: "volumes, within 2 % and 1,000 lots in a session,",
      isComparable: hasTraded,
      fault: { pair, isOver in
        let rounding = Int64(pair.one.rounding.volume) + Int64(pair.other.rounding.volume)
        return isOver
          ? far(pair.one.volume, pair.other.volume, perMille: 0, more: rounding)
          : far(pair.one.volume, pair.other.volume, perMille: 20, more: rounding + 100_000)
      }),
  ]

  @Sendable private static func hasTraded(_ pair: Pair) -> Bool {
    pair.one.volume.isPositive && pair.other.volume.isPositive
  }

  private static func unequal(_ one: ExactDecimal, _ other: ExactDecimal) -> String? {
    one == other ? nil : "\(one) and \(other)"
  }

  /// Whether they are further apart than a share of the larger one and `more`.
  private static func far(
    _ one: ExactDecimal, _ other: ExactDecimal, perMille: Int64, more: Int64
  ) -> String? {
    let larger = max(one, other)
    guard let apart = try? (larger - min(one, other) - ExactDecimal(more)) * ExactDecimal(1000),
      let allowed = try? larger * ExactDecimal(perMille)
    else { return nil }
    return apart <= allowed ? nil : "\(one) and \(other)"
  }
}

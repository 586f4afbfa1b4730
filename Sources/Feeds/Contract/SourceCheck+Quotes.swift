/// What can be checked of live quotes, whoever sends them.

import Market

/// How a source's live quotes look; all that their checks need to know.
package struct QuoteChecks: Sendable {
  package enum Unknown: Sendable {
    /// A symbol that the source does not know has a line without fields.
    case emptyLine
    /// It has no line.
    case absent
  }

  /// The byte between the fields of a line.
  let separator: UInt8
  /// How many fields a line has, by the beginning of its symbol; the first that fits counts.
  let fields: [(prefix: String, count: ClosedRange<Int>)]
  /// Well-formed, and no instrument.
  let unknownSymbol: Symbol
  let unknown: Unknown
  /// Instruments that are there for sure, where none is configured.
  let known: [Symbol]
  /// Others to fill a batch with, by number, listed or not.
  let filler: @Sendable (Int) -> Symbol?
  /// How old the newest stamp of a batch may be in a session.
  let lagSecondsMax: Int64
  /// The time within which the reference symbol has a newer stamp in a session.
  let stepSecondsMax: Int

  package init(
    separator: Character, fields: [(prefix: String, count: ClosedRange<Int>)],
    unknownSymbol: String, unknown: Unknown, known: [String],
    filler: @escaping @Sendable (Int) -> Symbol?, lagSecondsMax: Int64 = 20,
    stepSecondsMax: Int = 6
  ) {
    guard let unknownSymbol = Symbol(unknownSymbol), let separator = separator.asciiValue else {
      preconditionFailure("a symbol and an ASCII separator are required")
    }
    self.separator = separator
    self.fields = fields
    self.unknownSymbol = unknownSymbol
    self.unknown = unknown
    self.known = known.compactMap { Symbol($0) }
    self.filler = filler
    self.lagSecondsMax = lagSecondsMax
    self.stepSecondsMax = stepSecondsMax
  }

  /// Stocks of Shanghai, most of which are listed.
  package static func shanghaiStock(_ number: Int) -> Symbol? { Symbol("sh\(600_000 + number)") }

  fileprivate func instruments(_ context: CheckContext) -> [Symbol] {
    let wanted = context.symbols.isEmpty ? known : context.symbols
    guard let quotes = context.source.quotes else { return wanted }
    let usable = wanted.filter {
      quotes.isRequestable($0) && $0 != quotes.referenceSymbol && $0 != unknownSymbol
    }
    return Array(usable.prefix(max(context.batchSymbols - 2, 0)))
  }

  /// As many symbols as one request may have; those that must be answered stand at its end, where
  /// a batch that is too large is cut.
  fileprivate func batch(_ context: CheckContext) -> [CheckRequest] {
    guard let quotes = context.source.quotes else { return [] }
    let instruments = instruments(context)
    let taken = Set(instruments)
    let room = context.batchSymbols - 2 - instruments.count
    let others = (0..<2 * max(context.batchSymbols, 1)).lazy.compactMap(filler)
      .filter { !taken.contains($0) && quotes.isRequestable($0) }.prefix(max(room, 0))
    let symbols = [quotes.referenceSymbol, unknownSymbol] + Array(others) + instruments
    return [CheckRequest(.quotes(QuotesQuery(symbols: symbols, askedAt: context.now)))]
  }

  /// The batch, and the reference symbol once more.
  fileprivate func twoLooks(_ context: CheckContext) -> [CheckRequest] {
    guard let quotes = context.source.quotes else { return [] }
    let query = QuotesQuery(symbols: [quotes.referenceSymbol], askedAt: context.now)
    return batch(context) + [CheckRequest(.quotes(query), waitSeconds: stepSecondsMax + 1)]
  }
}

extension SourceCheck {
  /// What holds of any live quotes that look like `form`.
  package static func quotes(_ form: QuoteChecks) -> [SourceCheck] {
    [
      quoteRows(form), quoteFields(form), quoteBatch(form), unknownSymbol(form), quoteUnits(form),
      quoteDate(form), quoteClock(form), quoteStep(form),
    ]
  }

  private static func quoteRows(_ form: QuoteChecks) -> SourceCheck {
    SourceCheck(
      "quotes.rows", sentence: "quotes are decoded, with at most 1 % of the lines refused",
      remedy: "The format may have changed, or this address is blocked. \(reportIt)",
      judgesRefusals: true, requests: form.batch
    ) { responses, _ in
      let batch = responses[0].batch
      let good = [String?](repeating: nil, count: batch.quotes.count + batch.unknown.count)
      return .nearlyAll(good + batch.refused.map(\.fault), noun: "line", fault: { $0 })
    }
  }

  private static func quoteFields(_ form: QuoteChecks) -> SourceCheck {
    let counts = form.fields
      .map { ($0.prefix.isEmpty ? "" : $0.prefix + " ") + $0.count.text }.joined(separator: ", ")
    return SourceCheck(
      "quotes.fields", sentence: "the lines have the known number of fields (\(counts))",
      remedy: "A field was added or removed: prices may be read from the wrong one. \(reportIt)",
      requests: form.batch
    ) { responses, _ in
      let (batch, body) = (responses[0].batch, responses[0].body)
      // A byte of a name may be the separator's.
      let lines =
        batch.quotes.map { row in
          let behind = row.name.upperBound..<row.line.upperBound
          return (row.quote.symbol, [row.line.lowerBound..<row.name.lowerBound, behind])
        } + batch.refused.compactMap { row in row.symbol.map { ($0, [row.line]) } }
      return .nearlyAll(lines, noun: "line") { symbol, parts in
        let name = symbol.description
        guard let expected = form.fields.first(where: { name.hasPrefix($0.prefix) }) else {
          return nil
        }
        let count = parts.reduce(1) { $0 + body[$1].count { $0 == form.separator } }
        return expected.count.contains(count)
          ? nil : "\(name) has \(count), expected \(expected.count.text)"
      }
    }
  }

  private static func quoteBatch(_ form: QuoteChecks) -> SourceCheck {
    SourceCheck(
      "quotes.batch", sentence: "the largest batch is answered in full",
      remedy: "Set a smaller batch_symbols for this source. \(reportIt)", requests: form.batch
    ) { responses, context in
      guard case .quotes(let query) = responses[0].query else { return .holds }
      let batch = responses[0].batch
      let answered = Set(
        batch.quotes.map(\.quote.symbol) + batch.unknown + batch.refused.compactMap(\.symbol))
      let due =
        switch form.unknown {
        case .emptyLine: query.symbols
        case .absent: form.instruments(context)
        }
      return .nearlyAll(due, noun: "symbol") { answered.contains($0) ? nil : "\($0) has no line" }
    }
  }

  private static func unknownSymbol(_ form: QuoteChecks) -> SourceCheck {
    let name = form.unknownSymbol
    let expected =
      switch form.unknown {
      case .emptyLine: "an empty line"
      case .absent: "no line"
      }
    return SourceCheck(
      "quotes.unknown", sentence: "a symbol that does not exist (\(name)) gets \(expected)",
      remedy: "Delisted instruments may be recorded with wrong data. \(reportIt)",
      requests: form.batch
    ) { responses, _ in
      let batch = responses[0].batch
      let isListed = batch.quotes.contains { $0.quote.symbol == name }
      if isListed || batch.refused.contains(where: { $0.symbol == name }) {
        return .broken("\(name) has a line with fields")
      }
      switch form.unknown {
      case .emptyLine: return batch.unknown.contains(name) ? .holds : .broken("no line")
      case .absent: return batch.unknown.contains(name) ? .broken("an empty line") : .holds
      }
    }
  }

  private static func quoteUnits(_ form: QuoteChecks) -> SourceCheck {
    SourceCheck(
      "quotes.units",
      sentence: "turnover ÷ volume is a price between the day's low and high",
      remedy: "Volume or turnover has another unit. Stop the recording from it. \(reportIt)",
      requests: form.batch
    ) { responses, _ in
      let batch = responses[0].batch
      let traded: [String?] = batch.quotes.map(\.quote).compactMap { quote in
        let kind = Instrument.classify(quote.symbol)?.kind
        guard quote.volume.isPositive, kind == nil || kind == .stock || kind == .fund else {
          return nil
        }
        return .some(PriceTotals(quote).fault.map { "\(quote.symbol): \($0)" })
      }
      // Where the decoder refused a line for that, it has no quote.
      let refused = batch.refused.filter { $0.reason == .inconsistent }.map(\.fault)
      return .nearlyAll(traded + refused, noun: "traded line", fault: { $0 })
    }
  }

  private static func quoteDate(_ form: QuoteChecks) -> SourceCheck {
    SourceCheck(
      "quotes.date", sentence: "quotes are stamped with the last day of trading",
      remedy: "The service lags, or the exchange was closed at short notice. Compare the days.",
      requests: form.batch
    ) { responses, context in
      guard let expected = context.dataDay(at: responses[0].receivedAt) else {
        return .untried("the date changes before the open, or the calendar ends")
      }
      guard let newest = responses[0].newestStamp else { return .untried("no quotes") }
      let day = context.source.market.day(at: newest)
      return day == expected ? .holds : .broken("\(day), expected \(expected)")
    }
  }

  private static func quoteClock(_ form: QuoteChecks) -> SourceCheck {
    SourceCheck(
      "quotes.clock",
      sentence: "stamps are at most \(form.lagSecondsMax) s behind our clock, and never ahead",
      remedy: "Check this machine's clock first (timedatectl), then whether the source lags.",
      requests: form.batch
    ) { responses, context in
      let receivedAt = responses[0].receivedAt
      guard let newest = responses[0].newestStamp else { return .untried("no quotes") }
      let lag = receivedAt.seconds - newest.seconds
      if lag < -clockSecondsMax { return .broken("\(-lag) s ahead") }
      guard context.isInSession(receivedAt) else { return .untried(closedNow) }
      return lag <= form.lagSecondsMax ? .holds : .broken("\(lag) s behind")
    }
  }

  private static func quoteStep(_ form: QuoteChecks) -> SourceCheck {
    SourceCheck(
      "quotes.step", sentence: "a newer stamp comes within \(form.stepSecondsMax) s",
      remedy: "The source stands still or is cached on the way. Try again; then report it.",
      requests: form.twoLooks
    ) { responses, context in
      guard responses.allSatisfy({ context.isInSession($0.receivedAt) }) else {
        return .untried(closedNow)
      }
      let symbol = context.source.quotes?.referenceSymbol
      let stamps = responses.map { response in
        response.batch.quotes.first { $0.quote.symbol == symbol }?.quote.at
      }
      guard let first = stamps[0], let second = stamps[1] else {
        return .broken("the reference symbol has no quote")
      }
      return second > first ? .holds : .broken("none in \(form.stepSecondsMax + 1) s")
    }
  }

  /// The difference of two clocks that are kept by NTP, at most.
  private static let clockSecondsMax: Int64 = 5
  static let closedNow = "the market is not in a session"
  static let reportIt = "Send a report with --bundle."
}

extension BatchRefusal {
  fileprivate var fault: String? { "\(symbol?.description ?? "a line"): \(detail)" }
}

extension CheckResponse {
  fileprivate var newestStamp: Timestamp? { batch.quotes.map(\.quote.at).max() }
}

extension ClosedRange<Int> {
  /// `33`, `33 or 34`, `30 to 39`
  fileprivate var text: String {
    switch upperBound - lowerBound {
    case 0: "\(lowerBound)"
    case 1: "\(lowerBound) or \(upperBound)"
    default: "\(lowerBound) to \(upperBound)"
    }
  }
}

/// Volume and turnover beside the prices that they were made at.
struct PriceTotals {
  var low: ExactDecimal
  var high: ExactDecimal
  var volume: ExactDecimal
  var turnover: ExactDecimal
  var rounding = Rounding.exact
  /// How far outside the money may lie, in thousandths.
  var slackPerMille: Int64 = 0

  init(_ quote: Quote) {
    (low, high) = (quote.low, quote.high)
    (volume, turnover, rounding) = (quote.volume, quote.turnover, quote.rounding)
  }

  /// nil for a bar with neither turnover nor average price. The extremes of a bar are those of the
  /// snapshots in it, its totals are of all trades.
  init?(_ candle: Candle) {
    let priced = candle.vwap.flatMap { try? $0 * candle.volume }
    guard candle.volume.isPositive, let turnover = candle.turnover ?? priced else { return nil }
    (volume, self.turnover) = (candle.volume, turnover)
    (low, high, slackPerMille) = (candle.low, candle.high, 20)
  }

  /// What is wrong with them; nil if nothing is, or if they are too large to multiply.
  var fault: String? {
    // One unit of currency more: some exchanges round turnover to it.
    let money = ExactDecimal(Int64(rounding.turnover) + 1)
    let shares = ExactDecimal(Int64(rounding.volume))
    let thousand = ExactDecimal(1000)
    guard
      let least = try? low * (volume - shares) * ExactDecimal(1000 - slackPerMille),
      let most = try? high * (volume + shares) * ExactDecimal(1000 + slackPerMille),
      let below = try? (turnover + money) * thousand,
      let above = try? (turnover - money) * thousand
    else { return nil }
    if below >= least, above <= most { return nil }
    let average = (try? turnover.divided(by: volume, scale: 3))?.description ?? "no price"
    return "\(average) is not in \(low) to \(high)"
  }
}

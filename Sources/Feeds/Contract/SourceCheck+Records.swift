/// What can be checked of bars, lists, factors and calendars, whoever sends them.

import Market

extension SourceCheck {
  /// Whose newest bars are asked.
  package enum Subject: Sendable {
    /// It trades all day: its newest bar is the market's.
    case reference
    case stock
  }

  private static let barsCount = 60

  // MARK: - Bars

  /// The checks of the newest bars of an instrument.
  package static func newestBars(
    of subjects: [(subject: Subject, timeframe: Timeframe)], known: [String]
  ) -> [SourceCheck] {
    let requests: @Sendable (CheckContext) -> [CheckRequest] = { context in
      subjects.compactMap { subject, timeframe in
        let symbol =
          switch subject {
          case .reference: context.source.quotes?.referenceSymbol
          case .stock: context.stocks(orElse: known.compactMap { Symbol($0) }).first
          }
        return symbol.map { CheckRequest(.newestBars($0, timeframe, count: barsCount)) }
      }
    }
    let ends = SourceCheck(
      "bars.ends", sentence: "a bar is stamped with its end, and the newest is of now",
      remedy: "Bars would be stored in the wrong interval. \(reportIt)",
      requests: { context in
        zip(subjects, requests(context)).filter { $0.0.subject == .reference }.map(\.1)
      }, validate: { responses, context in .worst(responses.map { newestEnd(in: $0, context) }) })
    return [barRows("bars", requests: requests), barUnits("bars", requests: requests), ends]
  }

  /// The checks of a page of bars of a stretch of time.
  package static func pages(_ query: @escaping @Sendable (CheckContext) -> BarsQuery)
    -> [SourceCheck]
  {
    let requests: @Sendable (CheckContext) -> [CheckRequest] = {
      [CheckRequest(.bars(query($0)))]
    }
    let window = SourceCheck(
      "bars.window", sentence: "a page has the bars of the requested time, each of its interval",
      remedy: "Bars would be stored in the wrong interval. \(reportIt)", requests: requests
    ) { responses, _ in
      guard case .bars(let query) = responses[0].query else { return .holds }
      let seconds = Int64(query.timeframe.rawValue) * 60
      return .nearlyAll(responses[0].candles, noun: "bar") { bar in
        let isOnGrid = bar.openedAt.seconds % seconds == 0
        let isInside = query.start <= bar.openedAt && bar.openedAt < query.end
        return isOnGrid && isInside ? nil : "\(bar.symbol) opens at \(bar.openedAt)"
      }
    }
    return [barRows("bars", requests: requests), barUnits("bars", requests: requests), window]
  }

  private static func barRows(
    _ endpoint: String, requests: @escaping @Sendable (CheckContext) -> [CheckRequest]
  ) -> SourceCheck {
    SourceCheck(
      "\(endpoint).rows", sentence: "bars are decoded, with at most 1 % of the rows refused",
      remedy: "The format may have changed. Backfills would store wrong bars. \(reportIt)",
      judgesRefusals: true, requests: requests
    ) { responses, _ in
      .worst(
        responses.map { response in
          guard case .candles(let page) = response.decoded else { return .broken("no bars") }
          let good = [String?](repeating: nil, count: page.candles.count)
          return .nearlyAll(good + page.refused.map(\.detail), noun: "bar", fault: { $0 })
        })
    }
  }

  private static func barUnits(
    _ endpoint: String, requests: @escaping @Sendable (CheckContext) -> [CheckRequest]
  ) -> SourceCheck {
    SourceCheck(
      "\(endpoint).units", sentence: "the average price of a bar is between its low and high",
      remedy: "Volume or turnover has another unit. Stop backfills from it. \(reportIt)",
      requests: requests
    ) { responses, _ in
      // An index has no price per share.
      let bars = responses.flatMap(\.candles).filter {
        let kind = Instrument.classify($0.symbol)?.kind
        return kind == nil || kind == .stock || kind == .fund
      }
      let totals = bars.compactMap { bar in PriceTotals(bar).map { (bar, $0) } }
      return .nearlyAll(totals, noun: "traded bar", perMilleMin: 950) { bar, totals in
        totals.fault.map { "\(bar.symbol) at \(bar.closedAt): \($0)" }
      }
    }
  }

  /// How much of its interval may be over while a bar is still missing.
  private static let barLateSecondsMax: Int64 = 90

  private static func newestEnd(
    in response: CheckResponse, _ context: CheckContext
  ) -> CheckVerdict {
    guard let newest = response.candles.max(by: { $0.closedAt < $1.closedAt }) else {
      return .untried("no bars")
    }
    let (end, moment) = (newest.closedAt, response.receivedAt)
    if context.isInSession(moment) {
      let isOfNow = end.adding(seconds: barLateSecondsMax) >= moment && newest.openedAt <= moment
      return isOfNow ? .holds : .broken("the newest \(newest.timeframe.name) bar ends \(end)")
    }
    guard let close = context.lastClose(at: moment) else { return .untried("the session changes") }
    // A bar of a day ends with its last session, over lunch too.
    let isOfDay = newest.timeframe == .day1 && newest.tradingDay == context.dataDay(at: moment)
    return isOfDay || end == close
      ? .holds
      : .broken("the newest \(newest.timeframe.name) bar ends \(end), expected \(close)")
  }

  // MARK: - Factors

  package static func factors(known: [String]) -> SourceCheck {
    SourceCheck(
      "factors", sentence: "adjustment factors are positive and ascend by day; qfq ends with 1",
      remedy: "Adjusted prices would be wrong; raw prices are not affected. \(reportIt)",
      judgesRefusals: true,
      requests: { context in
        let symbol = context.stocks(orElse: known.compactMap { Symbol($0) }).first
        return symbol.map { symbol in
          AdjustmentFactor.Kind.allCases.map { CheckRequest(.factors(symbol, $0)) }
        } ?? []
      },
      validate: { responses, _ in
        .worst(
          responses.map { response in
            guard case .factors(let factors) = response.decoded, let last = factors.last else {
              return .broken("no factors")
            }
            if let bad = factors.first(where: { !$0.factor.isPositive }) {
              return .broken("\(bad.symbol) has \(bad.factor) from \(bad.from)")
            }
            if zip(factors, factors.dropFirst()).contains(where: { $0.from >= $1.from }) {
              return .broken("\(last.symbol) has two factors of one day")
            }
            return last.kind == .hfq || last.factor == ExactDecimal(1)
              ? .holds : .broken("the newest qfq factor of \(last.symbol) is \(last.factor)")
          })
      })
  }

  // MARK: - Lists

  /// The check of a list that comes in pages: its size, and a first page that is full.
  package static func pagedList(_ part: ListPart, sizes: ClosedRange<Int>, pageRows: Int)
    -> SourceCheck
  {
    SourceCheck(
      part.name, sentence: "the list has \(sizes.lowerBound) to \(sizes.upperBound) rows",
      remedy: "Instruments would be missed. Do not trust the list. \(reportIt)",
      judgesRefusals: true,
      requests: { _ in
        [CheckRequest(.listCount(part)), CheckRequest(.listPage(part, page: 1))]
      },
      validate: { responses, _ in
        guard case .listCount(let count) = responses[0].decoded,
          case .list(let page) = responses[1].decoded
        else { return .broken("no list") }
        if !sizes.contains(count) { return .broken(counted(count, "row")) }
        let rows = page.rows.count
        return rows == min(count, pageRows)
          ? .holds : .broken("the first page has \(rows) rows, expected \(pageRows)")
      })
  }

  /// The checks of a list in one response.
  package static func list(_ part: ListPart, sizes: ClosedRange<Int>, known: [String])
    -> SourceCheck
  {
    SourceCheck(
      "list.\(part.name)",
      sentence: "the list has \(sizes.lowerBound) to \(sizes.upperBound) rows and known members",
      remedy: "Instruments would be missed. Do not trust the list. \(reportIt)",
      judgesRefusals: true, requests: { _ in [CheckRequest(.list(part))] },
      validate: { responses, context in
        guard case .list(let list) = responses[0].decoded else { return .broken("no list") }
        if !sizes.contains(list.rows.count) {
          return .broken(counted(list.rows.count, "row"))
        }
        let listed = Set(list.rows.map(\.symbol))
        let due = context.stocks(orElse: known.compactMap { Symbol($0) }).filter {
          Instrument.classify($0).map { part.exchanges.contains($0.exchange) } ?? false
        }
        if due.isEmpty { return .holds }
        return .nearlyAll(due, noun: "known member", perMilleMin: 900) {
          listed.contains($0) ? nil : "\($0) is missing"
        }
      })
  }

  // MARK: - Calendars

  package static func tradingDays(aheadDaysMin: Int) -> SourceCheck {
    SourceCheck(
      "calendar",
      sentence: "the trading days agree with ours and reach \(aheadDaysMin) days ahead",
      remedy: "Compare the days with the exchange's notice of closures. \(reportIt)",
      judgesRefusals: true, requests: { _ in [CheckRequest(.tradingDays)] },
      validate: { responses, context in
        guard case .calendar(let days) = responses[0].decoded, let last = days.last else {
          return .broken("no days")
        }
        let today = context.source.market.day(at: responses[0].receivedAt)
        if last < today.advanced(by: aheadDaysMin) { return .broken("it ends on \(last)") }
        let listed = Set(days)
        let disputed = (today.advanced(by: -30)...today).first { day in
          context.isTradingDay(day).map { $0 != listed.contains(day) } ?? false
        }
        return disputed.map { day in
          .broken("\(day) is \(listed.contains(day) ? "listed" : "missing")")
        } ?? .holds
      })
  }

  /// Today in their middle.
  package static func fourWeeks(_ context: CheckContext) -> FeedQuery {
    let today = context.source.market.day(at: context.now)
    return .sessions(from: today.advanced(by: -13), to: today.advanced(by: 14))
  }

  /// The check of the sessions of four weeks: there are 20 weekdays in them.
  package static func sessions(daysMin: Int) -> SourceCheck {
    SourceCheck(
      "calendar", sentence: "four weeks have \(daysMin) to 20 sessions, all on weekdays",
      remedy: "Lateness would be counted on the wrong days. \(reportIt)", judgesRefusals: true,
      requests: { [CheckRequest(fourWeeks($0))] },
      validate: { responses, _ in
        guard case .sessions(let sessions) = responses[0].decoded else {
          return .broken("no sessions")
        }
        if let weekend = sessions.first(where: \.day.isWeekend) {
          return .broken("a session on \(weekend.day), a weekend")
        }
        return (daysMin...20).contains(sessions.count)
          ? .holds : .broken(counted(sessions.count, "session"))
      })
  }

  // MARK: - Keys

  /// The key is accepted for the cheapest request there is.
  package static func credentials(
    _ request: @escaping @Sendable (CheckContext) -> FeedQuery
  ) -> SourceCheck {
    SourceCheck(
      "credentials", sentence: "the key is accepted, with requests left for today",
      remedy: "Renew the key with the vendor, or wait until its quota begins anew.",
      judgesKey: true, requests: { [CheckRequest(request($0))] },
      validate: { responses, context in
        if case .list(let list) = responses[0].decoded, let lists = context.source.lists,
          !lists.sampleRows.isEmpty, list.rows.map(\.symbol) == lists.sampleRows
        {
          return .broken("the key is a sample: it gets the same rows for any request")
        }
        return .holds
      })
  }
}

extension CheckVerdict {
  /// The first that is broken; else the first that holds; else the first.
  static func worst(_ verdicts: [CheckVerdict]) -> CheckVerdict {
    verdicts.first { if case .broken = $0 { true } else { false } }
      ?? verdicts.first { $0 == .holds } ?? verdicts.first ?? .untried("nothing to request")
  }
}

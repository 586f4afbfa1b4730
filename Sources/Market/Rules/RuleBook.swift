import CEmbeddedFiles
import Synchronization

/// The rules that are in force, each with its days, and what they make of a market, an instrument
/// or an order on a day. History is read with the rules of its own day.
///
/// One value, never changed: who needs a rule for each row asks once a day and keeps the answer.
public final class RuleBook: Sendable {
  /// In the order they count.
  public let rules: [Rule]
  /// Whose rules count where no day is named.
  package let undatedDay: TradingDay
  let mainland: RuleTables
  private let america: RuleTables
  let mainlandChina: MarketDefinition
  let unitedStates: MarketDefinition
  let mainlandHours: TradingHours
  /// The mainland's hours, with the first day of each, the newest first.
  private let hoursByDay: [(from: TradingDay, hours: TradingHours)]
  private let plans: [String: [CodePlan]]

  private struct CodePlan: Sendable {
    let days: ClosedRange<TradingDay>
    let rows: [CodePlanRow]
  }

  /// - Parameters:
  ///   - operators: rules over the shipped ones.
  ///   - day: today; nil: later than all of them.
  package init(shipped: [Rule] = shippedRules, operators: [Rule] = [], on day: TradingDay? = nil) {
    rules = Self.ordered(operators + shipped)
    undatedDay = day ?? Rule.lastDay
    (mainland, america) = (Self.tables(of: "cn", rules), Self.tables(of: "us", rules))
    mainlandChina = Self.mainlandChina(mainland, on: undatedDay)
    unitedStates = Self.unitedStates(america, on: undatedDay)
    let tables = mainland
    let mainlandHours = { (day: TradingDay) in
      guard let hours = TradingHours(Self.mainlandChina(tables, on: day)) else {
        preconditionFailure("the mainland has one or two sessions a day and no daylight saving")
      }
      return hours
    }
    self.mainlandHours = mainlandHours(undatedDay)
    hoursByDay = Self.changes(of: Self.hoursKeys, in: rules).reversed().map {
      ($0, mainlandHours($0))
    }
    plans = Self.plans(mainland, rules)
  }

  private static let hoursKeys = [
    "hours", "opening_auction", "closing_auction", "after_hours", "zone",
  ]

  /// The days on which what rules of some keys say may change, in order.
  private static func changes(of keys: [String], in rules: [Rule]) -> [TradingDay] {
    let dated = rules.filter { rule in keys.contains { rule.key.hasPrefix($0) } }
    return Set(
      [Rule.firstDay] + dated.compactMap(\.fromDay) + dated.compactMap { $0.toDay?.advanced(by: 1) }
    ).sorted()
  }

  private static func plans(_ tables: RuleTables, _ rules: [Rule]) -> [String: [CodePlan]] {
    let changes = changes(of: ["codes", "volume_unit."], in: rules)
    return tables.volumeUnits.mapValues { units in
      changes.enumerated().map { place, from in
        let isLast = place == changes.count - 1
        return CodePlan(
          days: from...(isLast ? Rule.lastDay : changes[place + 1].advanced(by: -1)),
          rows: tables.codes.instruments(on: from).map { instrument in
            CodePlanRow(
              kind: instrument?.kind,
              countsLots: instrument.map { units.value(of: $0, on: from) == 100 } ?? false)
          })
      }
    }
  }

  /// The narrowest scope first, the operator's before the shipped one, the newest before the older.
  private static func ordered(_ rules: [Rule]) -> [Rule] {
    func rank(_ rule: Rule) -> (Int, Int, Int32) {
      let scope = RuleScope(board: rule.board, kind: rule.kind)
      return (scope?.width ?? 0, rule.isOperators ? 0 : 1, -(rule.fromDay?.daysSince1970 ?? -.max))
    }
    return rules.map { (rank($0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
  }

  private static func tables(of market: String, _ rules: [Rule]) -> RuleTables {
    var tables = RuleTables()
    for rule in rules where rule.market == market {
      guard let scope = RuleScope(board: rule.board, kind: rule.kind),
        let key = RuleKey.named(rule.key), key.add(rule, scope, &tables)
      else { preconditionFailure("a rule that its file's reader did not refuse: \(rule)") }
    }
    return tables
  }
}

// MARK: - Those in force

extension RuleBook {
  /// config/rules.csv, as this program carries it.
  package static let shippedText = String(cString: embedded_rules().text)

  package static let shippedRules: [Rule] = {
    let (rules, problems) = RuleFile.parse(shippedText)
    guard problems.isEmpty else {
      preconditionFailure("config/rules.csv:\(problems[0].line): \(problems[0].sentence)")
    }
    return rules
  }()

  /// Replaced when the operator's file changes. A book that was replaced is kept for ever: who
  /// reads it holds no lock, and reloads are few.
  private static let inForce = Atomic(Unmanaged.passRetained(RuleBook()))

  public static var current: RuleBook {
    inForce.load(ordering: .acquiring).takeUnretainedValue()
  }

  /// A day may begin while a reload is under way, elsewhere in the process.
  private static let replacing = Mutex(())

  /// Lets an operator's rules, and those that ship, hold for the whole process.
  /// - Parameter day: today; nil: later than all of them.
  package static func use(operators: [Rule], on day: TradingDay? = nil) {
    replacing.withLock { _ in
      let book = current
      let isOfDay = day.map { !book.changes(between: $0, book.undatedDay) } ?? true
      if isOfDay, book.has(operators) { return }
      use(RuleBook(operators: operators, on: day))
    }
  }

  /// As a day begins: a rule that begins with it holds where no day is named.
  package static func begin(_ day: TradingDay) {
    replacing.withLock { _ in
      let book = current
      guard book.undatedDay < day, book.changes(between: book.undatedDay, day) else { return }
      use(RuleBook(operators: book.rules.filter(\.isOperators), on: day))
    }
  }

  /// Whether an operator's rules are these, in whatever order they count.
  package func has(_ operators: [Rule]) -> Bool {
    Set(operators) == Set(rules.filter(\.isOperators))
  }

  /// Whether a rule begins or ends behind the one day and by the other.
  private func changes(between one: TradingDay, _ other: TradingDay) -> Bool {
    let (first, last) = (min(one, other), max(one, other))
    return rules.contains { rule in
      [rule.fromDay, rule.toDay?.advanced(by: 1)].contains {
        $0.map { first < $0 && $0 <= last } ?? false
      }
    }
  }

  private static func use(_ book: RuleBook) {
    inForce.store(Unmanaged.passRetained(book), ordering: .releasing)
  }
}

// MARK: - Markets

extension TradingHours {
  /// Those of Shanghai, Shenzhen and Beijing on a day.
  package static func mainlandChina(on day: TradingDay) -> TradingHours {
    RuleBook.current.hours(on: day)
  }
}

extension RuleBook {
  fileprivate func hours(on day: TradingDay) -> TradingHours {
    hoursByDay.first { $0.from <= day }?.hours ?? mainlandHours
  }

  package func mainlandChina(on day: TradingDay) -> MarketDefinition {
    Self.mainlandChina(mainland, on: day)
  }

  package func unitedStates(on day: TradingDay) -> MarketDefinition {
    Self.unitedStates(america, on: day)
  }

  private static func mainlandChina(_ tables: RuleTables, on day: TradingDay) -> MarketDefinition {
    let hours = tables.hours
    let sessions = hours.sessions.value(on: day) ?? []
    let auction = hours.openingAuction.value(on: day)
    let closing = hours.closingAuction.value(on: day) ?? nil
    return MarketDefinition(
      code: 1, name: MarketDefinition.names[0], zone: hours.zone.value(on: day) ?? .shanghai,
      currency: tables.currency.value(on: day) ?? "CNY", sessions: sessions,
      auction: auction.map { SessionHours(opens: $0.opens, closes: $0.matches) },
      afterHours: hours.afterHours.value(on: day) ?? nil, tradingDays: .listed,
      calendar: .shanghai, dayOpens: sessions.first?.opens ?? 0, hasEveryMinute: true,
      // The price is made in the last one.
      silentMinutes: closing.map { Array(stride(from: $0.opens, to: $0.closes - 60, by: 60)) }
        ?? [])
  }

  private static func unitedStates(_ tables: RuleTables, on day: TradingDay) -> MarketDefinition {
    MarketDefinition(
      code: 2, name: MarketDefinition.names[1],
      zone: tables.hours.zone.value(on: day) ?? .newYork,
      currency: tables.currency.value(on: day) ?? "USD", exchange: .unitedStates,
      sessions: tables.hours.sessions.value(on: day) ?? [], tradingDays: .listed,
      calendar: .unitedStates)
  }

  /// The phases of a day in which orders of an instrument come together, in order.
  package func phases(of instrument: Instrument, on day: TradingDay?) -> DayPhases {
    let (hours, day) = (mainland.hours, day ?? undatedDay)
    return DayPhases(
      openingAuction: hours.openingAuction.value(of: instrument, on: day),
      sessions: hours.sessions.value(of: instrument, on: day) ?? [],
      closingAuction: hours.closingAuction.value(of: instrument, on: day) ?? nil,
      afterHours: hours.afterHours.value(of: instrument, on: day) ?? nil,
      takesOrdersAtNoon: hours.noonOrders.value(of: instrument, on: day) ?? false)
  }
}

/// What the first three digits of a code say to the decoder of a source's quotes.
package struct CodePlanRow: Sendable, Hashable {
  /// nil: of no kind.
  package let kind: InstrumentKind?
  /// The source gives volumes in lots of a hundred.
  package let countsLots: Bool
}

/// When an exchange does what with an instrument's orders, in seconds since midnight.
package struct DayPhases: Sendable, Hashable {
  package let openingAuction: OpeningAuction?
  package let sessions: [SessionHours]
  package let closingAuction: SessionHours?
  package let afterHours: SessionHours?
  package let takesOrdersAtNoon: Bool
}

// MARK: - Instruments

extension RuleBook {
  func tick(of instrument: Instrument, on day: TradingDay) -> ExactDecimal {
    mainland.orders.tick.value(of: instrument, on: day) ?? ExactDecimal(units: 1, scale: 3)
  }

  /// The tick of a symbol of a market, whether its code shows a kind or not.
  package func tick(of symbol: Symbol, on day: TradingDay? = nil) -> ExactDecimal {
    let day = day ?? undatedDay
    if let instrument = mainland.codes.instrument(symbol, on: day) {
      return tick(of: instrument, on: day)
    }
    return america.orders.tick.value(of: symbol, on: day) ?? ExactDecimal(units: 1, scale: 2)
  }

  package func orderMost(of instrument: Instrument, on day: TradingDay) -> OrderMost? {
    mainland.orders.most.value(of: instrument, on: day)
  }

  package func cage(of instrument: Instrument, on day: TradingDay) -> CageRule? {
    mainland.orders.cage.value(of: instrument, on: day)
  }

  /// Whether what is bought may be sold on the same day.
  package func sellsSameDay(_ instrument: Instrument, on day: TradingDay) -> Bool {
    mainland.orders.sameDaySale.value(of: instrument, on: day) ?? false
  }

  /// What a sale pays, as a share of its money.
  package func stampDuty(of instrument: Instrument, on day: TradingDay) -> ExactDecimal {
    mainland.orders.stampDuty.value(of: instrument, on: day) ?? .zero
  }

  package func transferFee(of instrument: Instrument, on day: TradingDay) -> ExactDecimal {
    mainland.orders.transferFee.value(of: instrument, on: day) ?? .zero
  }

  /// What a decoder of a source's quotes asks for every line, ready for a day: of `sh`, `sz` and
  /// `bj`, each 000 to 999, the kind of such codes and whether the source counts their lots.
  package func codePlan(of source: String, on day: TradingDay? = nil) -> [CodePlanRow] {
    let day = day ?? undatedDay
    return plans[source]?.first { $0.days.contains(day) }?.rows ?? []
  }
}

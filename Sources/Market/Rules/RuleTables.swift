/// What the rules of a market say, by key: each value as the code that applies it needs it.
struct RuleTables: Sendable {
  var hours = HoursRules()
  var orders = OrderRuleTables()
  var limits = LimitRules()
  var codes = CodeTable()
  var currency = DatedRules<String>()
  /// How many shares or units a unit of volume is, by the name of the source.
  var volumeUnits: [String: DatedRules<Int64>] = [:]
}

/// When a market trades.
struct HoursRules: Sendable {
  var zone = DatedRules<MarketZone>()
  var sessions = DatedRules<[SessionHours]>()
  var openingAuction = DatedRules<OpeningAuction>()
  /// nil: none.
  var closingAuction = DatedRules<SessionHours?>()
  var afterHours = DatedRules<SessionHours?>()
  /// Whether orders are taken between two sessions.
  var noonOrders = DatedRules<Bool>()
}

/// Takes orders from `opens`, cancellations until `freezes`, and makes a price at `matches`.
package struct OpeningAuction: Sendable, Hashable {
  package let opens: Int
  package let freezes: Int
  package let matches: Int
}

/// What an order must be like, and what it costs.
struct OrderRuleTables: Sendable {
  var tick = DatedRules<ExactDecimal>()
  var lot = DatedRules<OrderLot>()
  var most = DatedRules<OrderMost>()
  var cage = DatedRules<CageRule>()
  var sameDaySale = DatedRules<Bool>()
  var stampDuty = DatedRules<ExactDecimal>()
  var transferFee = DatedRules<ExactDecimal>()
}

/// The most shares or units that one order may have.
package struct OrderMost: Sendable, Hashable {
  package let limit: Int64
  package let market: Int64
}

/// How far a limit order may reach beyond the book.
package struct CageRule: Sendable, Hashable {
  package let permille: Int64
  /// At least this many ticks; 0: the share alone counts.
  package let ticks: Int64
  /// Measured from the last price, and not from the book.
  package let isOfLast: Bool
}

/// How far a price may move from the previous close.
struct LimitRules: Sendable {
  var usual = DatedRules<LimitRule>()
  /// Of who carries ST in the name.
  var special = DatedRules<LimitRule>()
  var firstDays = DatedRules<FirstDays>()
}

/// So many days after a listing, the day itself included, another limit holds.
struct FirstDays: Sendable, Hashable {
  let count: Int
  let limit: LimitRule
}

/// A key of a rule: what its value must be, and where it is put.
struct RuleKey: Sendable {
  let name: String
  let expected: String
  /// False if the value is none.
  let add: @Sendable (Rule, RuleScope, inout RuleTables) -> Bool

  private init<Value: Sendable>(
    _ name: String, _ table: any (WritableKeyPath<RuleTables, DatedRules<Value>> & Sendable),
    _ expected: String, _ read: @escaping @Sendable (_ words: [Substring]) -> Value?
  ) {
    self.init(name, expected) { rule, scope, tables in
      guard let value = read(rule.value.split(separator: " ")) else { return false }
      tables[keyPath: table].append(value, scope: scope, days: rule.days)
      return true
    }
  }

  private init(
    _ name: String, _ expected: String,
    add: @escaping @Sendable (Rule, RuleScope, inout RuleTables) -> Bool
  ) {
    (self.name, self.expected, self.add) = (name, expected, add)
  }

  /// That of a name; `volume_unit.` has the name of a source behind it.
  static func named(_ name: String) -> RuleKey? {
    let stem = name.prefix { $0 != "." } + (name.contains(".") ? ".SOURCE" : "")
    return all.first { $0.name == stem }
  }

  static let all = [
    RuleKey("zone", "Asia/Shanghai or UTC, of us America/New_York, too") { rule, scope, tables in
      // The mainland's minutes are cut on a clock that is never put forward.
      guard let zone = MarketZone(rawValue: rule.value), rule.market == "us" || zone.clock != nil
      else { return false }
      tables.hours.zone.append(zone, scope: scope, days: rule.days)
      return true
    },
    RuleKey("currency", \.currency, "a code such as CNY") {
      $0.count == 1 && $0[0].utf8.count == 3 ? String($0[0]) : nil
    },
    RuleKey("hours", \.hours.sessions, "one or two sessions such as 09:30-11:30 13:00-15:00") {
      words in
      let sessions = words.compactMap(\.session)
      let isInOrder = zip(sessions, sessions.dropFirst()).allSatisfy { $0.closes < $1.opens }
      return (1...2).contains(sessions.count) && sessions.count == words.count && isInOrder
        ? sessions : nil
    },
    RuleKey(
      "opening_auction", \.hours.openingAuction,
      "when it opens, takes the last cancellation and matches, such as 09:15 09:20 09:25"
    ) { words in
      let times = words.compactMap(\.time)
      guard times.count == 3, words.count == 3, times[0] < times[1], times[1] <= times[2] else {
        return nil
      }
      return OpeningAuction(opens: times[0], freezes: times[1], matches: times[2])
    },
    RuleKey("closing_auction", \.hours.closingAuction, "14:57-15:00, or none", stretch),
    RuleKey("after_hours", \.hours.afterHours, "15:05-15:30, or none", stretch),
    RuleKey("noon_orders", \.hours.noonOrders, "yes or no", flag),
    RuleKey("codes", "first digits of codes, up to three each, of an exchange or its board") {
      rule, scope, tables in
      tables.codes.add(rule, scope)
    },
    RuleKey("tick", \.orders.tick, "a positive price such as 0.01") { rate($0, above: .zero) },
    RuleKey("lot", \.orders.lot, "the smallest order and the step above it, such as 100 100") {
      $0.positives(2).map { OrderLot(minimum: Int($0[0]), increment: Int($0[1])) }
    },
    RuleKey("order_max", \.orders.most, "the most of a limit and of a market order") {
      $0.positives(2).map { OrderMost(limit: $0[0], market: $0[1]) }
    },
    RuleKey("cage", \.orders.cage, "share, ticks and book or last, such as 2% 10 book") { words in
      guard words.count == 3, let permille = words[0].permille, let ticks = Int64(words[1]),
        ticks >= 0, ["book", "last"].contains(words[2])
      else { return nil }
      return CageRule(permille: permille, ticks: ticks, isOfLast: words[2] == "last")
    },
    RuleKey("limit", \.limits.usual, "10%, +44% -36%, unknown 30% or none", LimitRule.init),
    RuleKey("limit_st", \.limits.special, "5%, +44% -36% or none", LimitRule.init),
    RuleKey("first_days", \.limits.firstDays, "days and their limit, such as 5 none") { words in
      guard let first = words.first, let count = Int(first), count > 0,
        let limit = LimitRule(Array(words.dropFirst()))
      else { return nil }
      return FirstDays(count: count, limit: limit)
    },
    RuleKey("stamp_duty", \.orders.stampDuty, "a share such as 0.0005") { rate($0) },
    RuleKey("transfer_fee", \.orders.transferFee, "a share such as 0.00001") { rate($0) },
    RuleKey("same_day_sale", \.orders.sameDaySale, "yes or no", flag),
    RuleKey("volume_unit.SOURCE", "1 or 100, not of one symbol") { rule, scope, tables in
      // A decoder knows a line by the first digits of its code.
      guard scope.symbol == nil, let unit = Int64(rule.value), [1, 100].contains(unit) else {
        return false
      }
      let source = String(rule.key.drop { $0 != "." }.dropFirst())
      tables.volumeUnits[source, default: DatedRules()].append(
        unit, scope: scope, days: rule.days)
      return true
    },
  ]

  @Sendable private static func flag(_ words: [Substring]) -> Bool? {
    ["yes": true, "no": false][words.joined(separator: " ")]
  }

  @Sendable private static func stretch(_ words: [Substring]) -> SessionHours?? {
    if words == ["none"] { return .some(nil) }
    return words.count == 1 ? words[0].session.map { .some($0) } ?? nil : nil
  }

  private static func rate(
    _ words: [Substring], above least: ExactDecimal = ExactDecimal(-1)
  ) -> ExactDecimal? {
    guard words.count == 1, let rate = try? ExactDecimal(String(words[0])) else { return nil }
    return rate > least && (least.isZero || !(rate < .zero)) ? rate : nil
  }
}

// MARK: - Values

extension LimitRule {
  /// `10%`, `+44% -36%`, `unknown 30%`, `none`.
  fileprivate init?(_ words: [Substring]) {
    if words == ["none"] {
      self = .unlimited
    } else if words.count == 1, let move = words[0].permille {
      self = .move(up: move, down: move)
    } else if words.count == 2, words[0] == "unknown", let most = words[1].permille {
      self = .unknown(most: most)
    } else if words.count == 2, words[0].first == "+", words[1].first == "-",
      let up = words[0].dropFirst().permille, let down = words[1].dropFirst().permille
    {
      self = .move(up: up, down: down)
    } else {
      return nil
    }
  }
}

extension [Substring] {
  /// Of exactly `count` whole positive numbers.
  fileprivate func positives(_ count: Int) -> [Int64]? {
    let numbers = compactMap { Int64($0) }.filter { $0 > 0 }
    return numbers.count == count && self.count == count ? numbers : nil
  }
}

extension Substring {
  /// `57.3%` in tenths of a percent, below a hundred percent.
  fileprivate var permille: Int64? {
    guard last == "%", let percent = try? ExactDecimal(String(dropLast())),
      let tenths = try? (percent * ExactDecimal(10)).rounded(places: 1).normalized,
      tenths.scale == 0, (1...999).contains(tenths.units)
    else { return nil }
    return tenths.units
  }

  /// `09:30` in seconds since midnight, up to 24:00.
  fileprivate var time: Int? {
    let parts = split(separator: ":")
    guard utf8.count == 5, parts.count == 2, let hour = Int(parts[0]), let minute = Int(parts[1]),
      hour >= 0, (0..<60).contains(minute), hour * 60 + minute <= 1_440
    else { return nil }
    return hour * 3_600 + minute * 60
  }

  /// `09:30-11:30`.
  fileprivate var session: SessionHours? {
    let ends = split(separator: "-", omittingEmptySubsequences: false).map(\.time)
    guard ends.count == 2, let opens = ends[0], let closes = ends[1], opens < closes else {
      return nil
    }
    return SessionHours(opens: opens, closes: closes)
  }
}

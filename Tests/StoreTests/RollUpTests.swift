import Commits
import Market
import Reader
import Store
import TestSupport
import Testing

/// Minutes and days put together by the plainest rule, to hold the database's against.
private struct Bucket {
  var opened: Timestamp
  var closed: Timestamp
  var members: [Candle] = []
  var isWhole: Bool

  func rolled(_ timeframe: Timeframe) throws -> AskedCandle {
    let sorted = members.sorted { $0.openedAt < $1.openedAt }
    let traded = sorted.filter { !$0.flags.contains(.noTrade) }
    let counted = traded.isEmpty ? sorted : traded
    var candle = AskedCandle(sorted[0])
    candle.openedAt = opened
    candle.closedAt = closed
    candle.tradingDay = sorted[sorted.count - 1].tradingDay
    candle.prices = [
      counted[0].open, counted.map(\.high).max(), counted.map(\.low).min(),
      counted[counted.count - 1].close,
    ]
    candle.volume = try sum(sorted.map(\.volume))
    let turnovers = sorted.compactMap(\.turnover)
    candle.turnover = turnovers.count == sorted.count ? try sum(turnovers) : nil
    let trades = sorted.compactMap(\.trades)
    candle.trades = trades.count == sorted.count ? trades.reduce(0, +) : nil
    candle.vwap =
      candle.volume.isZero ? nil : try candle.turnover?.divided(by: candle.volume, scale: 4)
    candle.flags = sorted[0].flags.intersection(.extremeAmbiguous)
    if traded.isEmpty { candle.flags.insert(.noTrade) }
    if !isWhole || sorted.contains(where: { $0.flags.contains(.partial) }) {
      candle.flags.insert(.partial)
    }
    return candle
  }

  private func sum(_ values: [ExactDecimal]) throws -> ExactDecimal {
    try values.reduce(.zero) { try $0 + $1 }
  }
}

@Suite struct RollUpTests {
  static let intraday: [Timeframe] = [.minute5, .minute15, .minute30, .hour1]
  private static let china = StoreSamples.symbol(1)
  private static let knownAt = Timestamp(
    day: StoreSamples.day.advanced(by: 3), secondOfDay: Session.afternoonClose)

  @Test func `A-share buckets are the naive ones, over lunch and after corrections`() async throws {
    let seed = UInt64.random(in: .min ... .max)
    var samples = StoreSamples(seed: seed)
    var store = try await AskedStore()
    var minutes: [Candle] = []
    for day in [StoreSamples.day, StoreSamples.day.advanced(by: 1)] {
      for minute in 0..<Session.minutesPerDay where !samples.oneIn(40) {
        let opened = Timestamp(day: day, secondOfDay: Session.opening(ofMinute: minute))
        minutes.append(samples.minute(Self.china, day: day, opened: opened))
      }
    }
    try await store.commit(at: Self.knownAt, candles: minutes)
    let before = minutes
    let revised = (0..<40).map { _ in Int.random(in: minutes.indices, using: &samples.random) }
    for place in Set(revised) {
      let old = minutes[place]
      minutes[place] = samples.minute(Self.china, day: old.tradingDay, opened: old.openedAt)
    }
    try await store.commit(
      at: Self.knownAt.adding(seconds: 60), revisions: Set(revised).map { minutes[$0] })
    for timeframe in Self.intraday {
      let now = try Self.chinese(minutes, timeframe)
      #expect(try store.ask(Self.china, timeframe) == now, "seed \(seed)")
      #expect(
        try store.ask(Self.china, timeframe) { $0.newest = 7 } == now.suffix(7), "seed \(seed)")
      #expect(
        try store.ask(Self.china, timeframe) { $0.asOf = Self.knownAt }
          == Self.chinese(before, timeframe), "seed \(seed)")
      let from = Timestamp(day: StoreSamples.day, secondOfDay: 10 * 3600 + 7 * 60)
      let to = Timestamp(day: StoreSamples.day, secondOfDay: Session.afternoonOpen + 1)
      #expect(
        try store.ask(Self.china, timeframe) { ($0.from, $0.to) = (from, to) }
          == now.filter { $0.openedAt >= from && $0.openedAt < to }, "seed \(seed)")
    }
  }

  /// Whole where every minute is there but those in which the closing auction is collected.
  private static func chinese(
    _ minutes: [Candle], _ timeframe: Timeframe
  ) throws -> [AskedCandle] {
    let length = Int(timeframe.rawValue)
    let days = Dictionary(grouping: minutes, by: \.tradingDay).sorted { $0.key < $1.key }
    return try days.flatMap { day, minutes in
      let numbered = Dictionary(
        grouping: minutes, by: { Session.minute(of: $0.closedAt.shanghaiSecondOfDay) })
      return try stride(from: 0, to: Session.minutesPerDay, by: length).compactMap {
        first -> AskedCandle? in
        let numbers = first..<first + length
        let members = numbers.flatMap { numbered[$0] ?? [] }
        if members.isEmpty { return nil }
        let isWhole = numbers.allSatisfy { numbered[$0] != nil || $0 == 237 || $0 == 238 }
        return try Bucket(
          opened: Timestamp(day: day, secondOfDay: Session.opening(ofMinute: first)),
          closed: Timestamp(day: day, secondOfDay: Session.closing(ofMinute: first + length - 1)),
          members: members, isWhole: isWhole
        ).rolled(timeframe)
      }
    }
  }

  @Test func `US buckets are the naive ones, on half days and beyond hours`() async throws {
    let seed = UInt64.random(in: .min ... .max)
    var samples = StoreSamples(seed: seed)
    var store = try await AskedStore()
    let symbol = try #require(Symbol("AAPL"))
    let halfDay = try #require(TradingDay("2026-11-27"))
    let closes = [halfDay.advanced(by: -2): 16 * 3600, halfDay: 13 * 3600]
    try store.database.execute(
      """
      insert into candled.market_session
      values (5, '2026-11-27', '2026-11-27 09:30-05', '2026-11-27 13:00-05')
      """)
    var minutes: [Candle] = []
    for day in closes.keys.sorted() {
      for minute in 4 * 60..<20 * 60 where samples.oneIn(3) {
        minutes.append(
          samples.minute(
            symbol, day: day, opened: Timestamp(day: day, newYorkSecondOfDay: minute * 60),
            source: .alpacaSIP))
      }
    }
    try await store.commit(
      at: Timestamp(day: halfDay.advanced(by: 1), secondOfDay: 0), candles: minutes)
    for timeframe in Self.intraday {
      #expect(
        try store.ask(symbol, timeframe) == Self.usEquity(minutes, timeframe, closes),
        "seed \(seed)")
    }
  }

  /// Whole where a later minute is known: no minute is delivered in which nothing traded.
  private static func usEquity(
    _ minutes: [Candle], _ timeframe: Timeframe, _ closes: [TradingDay: Int]
  ) throws -> [AskedCandle] {
    let length = Int(timeframe.rawValue) * 60
    let open = 9 * 3600 + 1800
    let last = minutes.map(\.closedAt).max()
    var buckets: [Timestamp: Bucket] = [:]
    for minute in minutes {
      let second = minute.openedAt.newYorkSecondOfDay
      let close = try #require(closes[minute.tradingDay])
      let isRegular = (open..<close).contains(second)
      let first = isRegular ? open + (second - open) / length * length : second / length * length
      let bound = second < open ? open : isRegular ? close : 86_400
      let opened = Timestamp(day: minute.tradingDay, newYorkSecondOfDay: first)
      let closed = Timestamp(
        day: minute.tradingDay, newYorkSecondOfDay: min(first + length, bound))
      buckets[
        opened,
        default: Bucket(opened: opened, closed: closed, isWhole: last.map { closed <= $0 } ?? false)
      ].members.append(minute)
    }
    return try buckets.values.sorted { $0.opened < $1.opened }.map { try $0.rolled(timeframe) }
  }

  @Test func `A-share hours end 10:30, 11:30, 14:00 and 15:00`() async throws {
    var samples = StoreSamples(seed: 31)
    var store = try await AskedStore()
    let minutes = (0..<240).map { samples.candle(1, minute: $0) }
    try await store.commit(at: Self.knownAt, candles: minutes)
    let ends = try store.ask(Self.china, .hour1).map { $0.closedAt.shanghaiSecondOfDay / 60 }
    #expect(ends == [10 * 60 + 30, 11 * 60 + 30, 14 * 60, 15 * 60])
  }

  @Test func `a US day has seven hours from 09:30, the last one short`() async throws {
    var samples = StoreSamples(seed: 32)
    var store = try await AskedStore()
    let symbol = try #require(Symbol("AAPL"))
    let day = StoreSamples.day
    let minutes = (570..<960).map { minute in
      samples.minute(
        symbol, day: day, opened: Timestamp(day: day, newYorkSecondOfDay: minute * 60),
        source: .alpacaIEX)
    }
    try await store.commit(at: Self.knownAt, candles: minutes)
    let hours = try store.ask(symbol, .hour1)
    #expect(
      hours.map { $0.openedAt.newYorkSecondOfDay / 60 } == [570, 630, 690, 750, 810, 870, 930])
    #expect(hours.last.map { $0.closedAt.newYorkSecondOfDay } == 16 * 3600)
  }

  @Test func `a bar the source delivered stands in where minutes are missing`() async throws {
    var samples = StoreSamples(seed: 33)
    var store = try await AskedStore()
    let minutes = (0..<60).filter { $0 != 7 }.map { samples.candle(1, minute: $0) }
    var bars = [0, 5, 30, 120].map { samples.candle(1, minute: $0) }
    for place in bars.indices {
      bars[place].timeframe = .minute5
      bars[place].closedAt = bars[place].openedAt.adding(seconds: 300)
    }
    try await store.commit(at: Self.knownAt, candles: minutes + bars)
    let found = try store.ask(Self.china, .minute5)
    #expect(found.count == 13)
    #expect(found[1] == AskedCandle(bars[1]))
    #expect(found[12] == AskedCandle(bars[3]))
    #expect(found[0] != AskedCandle(bars[0]))
    #expect(found[6] != AskedCandle(bars[2]))
    #expect(try store.ask(Self.china, .minute15).map { $0.flags.contains(.partial) }.first == true)
  }
}

@Suite struct PeriodTests {
  private static let symbol = StoreSamples.symbol(1)

  /// Day candles of these days, each in its own samples' prices.
  static func days(_ texts: [String], _ samples: inout StoreSamples) throws -> [Candle] {
    try texts.map { text in
      let day = try #require(TradingDay(text))
      var candle = samples.candle(1, minute: 0)
      candle.timeframe = .day1
      candle.tradingDay = day
      candle.openedAt = Timestamp(day: day, secondOfDay: Session.morningOpen)
      candle.closedAt = Timestamp(day: day, secondOfDay: Session.afternoonClose)
      candle.flags = []
      return candle
    }
  }

  private static let september = [
    "2026-09-21", "2026-09-22", "2026-09-23", "2026-09-24", "2026-09-28", "2026-09-29",
    "2026-09-30",
  ]

  @Test func `weeks open on Monday and months on the first, and close with their last day`()
    async throws
  {
    var samples = StoreSamples(seed: 41)
    var store = try await AskedStore()
    let days = try Self.days(Self.september + ["2026-10-08"], &samples)
    try await store.commit(at: days[7].closedAt, candles: days)
    let weeks = try store.ask(Self.symbol, .week1)
    #expect(
      weeks.map { "\($0.openedAt) \($0.closedAt)" } == [
        "2026-09-21T09:30:00+08:00 2026-09-24T15:00:00+08:00",
        "2026-09-28T09:30:00+08:00 2026-09-30T15:00:00+08:00",
        "2026-10-05T09:30:00+08:00 2026-10-08T15:00:00+08:00",
      ])
    #expect(weeks[0].prices.first == days[0].open)
    #expect(weeks[0].prices.last == days[3].close)
    let months = try store.ask(Self.symbol, .month1)
    #expect(months.map(\.openedAt.description.prefix10) == ["2026-09-01", "2026-10-01"])
    #expect(try store.ask(Self.symbol, .week1) { $0.newest = 2 } == weeks.suffix(2))
  }

  @Test func `a week is whole when the calendar's days are there`() async throws {
    var samples = StoreSamples(seed: 42)
    var store = try await AskedStore()
    let days = try Self.days(Self.september, &samples)
    try await store.commit(at: days[6].closedAt, candles: days)
    func partial() throws -> [Bool] {
      try store.ask(Self.symbol, .week1).map { $0.flags.contains(.partial) }
    }
    // Without a calendar a week is over once its Friday, or a later day, is known.
    #expect(try partial() == [false, true])
    // Nor does it wait for days that were observed to be closed.
    for day in ["2026-10-01", "2026-10-02"] {
      try store.database.execute(
        """
        insert into candled.market_session
        values (1, '\(day)', '\(day) 09:30+08', '\(day) 09:30+08', 2)
        """)
    }
    #expect(try partial() == [false, false])
    // With one: 09-25 and 10-01 to 10-07 are holidays, so both are all there.
    let sessions = try Self.days(["2026-09-18"] + Self.september + ["2026-10-08"], &samples)
    for day in sessions.map(\.tradingDay) {
      try store.database.execute(
        """
        insert into candled.market_session
        values (1, '\(day)', '\(day) 09:30+08', '\(day) 15:00+08')
        """)
    }
    #expect(try partial() == [false, false])
    try store.database.execute("delete from candled.candle where trading_day = '2026-09-22'")
    #expect(try partial() == [true, false])
  }
}

extension String {
  fileprivate var prefix10: String { String(prefix(10)) }
}

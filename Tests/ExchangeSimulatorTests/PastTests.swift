import Market
import Testing

@testable import ExchangeSimulator
@testable import TestExchange

/// The days before the simulated ones: linked, with events in them, and minutes in the last.
@Suite struct `The days before the first simulated day` {
  private static let seeds: [UInt64] = [1, 2, 3]
  private static let minuteDays = 5

  private static func history(
    _ seed: UInt64, days: Int = 250, instruments: Int = 300
  ) throws -> SimulatedHistory {
    let day = try #require(TradingDay("2026-07-06"))
    let earlier = SimulatedHistory.tradingDays(days, through: day.advanced(by: -1))
    return SimulatedHistory(
      seed: seed, instruments: instruments, days: [day], earlierDays: earlier,
      earlierMinuteDays: minuteDays)
  }

  private static func morning(_ history: SimulatedHistory) -> Timestamp {
    Timestamp(day: history.days[0], secondOfDay: 7 * 3600)
  }

  @Test(arguments: seeds)
  func `begin each with the close of the one before, unless they are ex`(seed: UInt64) throws {
    var history = try Self.history(seed)
    let traits = history.morning(0).traits
    for place in traits.indices {
      let earlier = history.earlier(place)
      let exDays = Dictionary(uniqueKeysWithValues: earlier.exDays.map { ($0.day, $0) })
      var close: Int64?
      for (index, bar) in earlier.bars.enumerated() where earlier.references[index] > 0 {
        let reference = earlier.references[index]
        let exDay = exDays[earlier.days[index]]
        #expect(close == nil || reference == exDay?.reference ?? close, "seed \(seed)")
        if let exDay, let close { #expect(exDay.close == close, "seed \(seed)") }
        let end = bar.volume > 0 ? bar.close : reference
        let reach = end * EarlierDays.movePerMilleMax / 1000 + 20 * traits[place].tick
        #expect(abs(end - reference) <= reach, "seed \(seed)")
        close = end
      }
      let isThere = earlier.references.contains { $0 > 0 }
      let isNew = [.newListing, .notListed].contains(traits[place].behaviour)
      #expect(isThere == !isNew, "seed \(seed)")
      if isThere { #expect(close == traits[place].previousClose, "seed \(seed)") }
    }
  }

  @Test(arguments: seeds)
  func `have a dividend, a split, a suspension, a listing and a delisting`(seed: UInt64) throws {
    for (days, instruments) in [(10, 40), (30, 300)] {
      var history = try Self.history(seed, days: days, instruments: instruments)
      let traits = history.morning(0).traits
      let all = traits.indices.map { history.earlier($0) }
      let traded = all.map { earlier in earlier.bars.map { $0.volume > 0 } }
      let exDays = all.flatMap(\.exDays)
      #expect(exDays.contains { $0.sharesPerTen == 10 } && exDays.contains { $0.sharesPerTen > 10 })
      let isSuspended = zip(all, traded).contains { earlier, traded in
        earlier.references[days - 1] > 0 && traded.contains(true)
          && zip(earlier.references, traded).contains { $0 > 0 && !$1 }
      }
      let isListed = traded.contains { $0.first == false && $0.last == true }
      let delisted = try #require(traits.firstIndex { $0.behaviour == .delisted })
      #expect(isSuspended && isListed, "seed \(seed)")
      #expect(all[delisted].references.last == 0 && traded[delisted].contains(true))
    }
  }

  @Test(arguments: seeds)
  func `are the same for the same seed, and longer ones repeat shorter ones`(seed: UInt64) throws {
    var (one, two) = (try Self.history(seed), try Self.history(seed))
    var (short, other) = (try Self.history(seed, days: 30), try Self.history(seed + 10))
    let moment = Self.morning(one)
    var differing = 0
    for place in one.symbols.indices {
      for timeframe in [Timeframe.minute1, .minute15, .day1] {
        let bars = one.bars(of: place, timeframe: timeframe, at: moment, count: .max)
        #expect(bars == two.bars(of: place, timeframe: timeframe, at: moment, count: .max))
        let newest = bars.filter { $0.day >= short.earlierDays[0] }
        #expect(newest == short.bars(of: place, timeframe: timeframe, at: moment, count: .max))
        let others = other.bars(of: place, timeframe: timeframe, at: moment, count: .max)
        differing += bars == others ? 0 : 1
      }
      for kind in AdjustmentFactor.Kind.allCases {
        let symbol = one.symbols[place]
        #expect(
          one.factors(of: symbol, kind: kind, at: moment)
            == two.factors(of: symbol, kind: kind, at: moment))
      }
    }
    #expect(differing > 800, "seed \(seed)")
  }

  @Test(arguments: seeds)
  func `have minutes that add up to their bars`(seed: UInt64) throws {
    var history = try Self.history(seed, days: 8)
    let moment = Self.morning(history)
    let traits = history.morning(0).traits
    for place in traits.indices {
      let days = history.bars(of: place, timeframe: .day1, at: moment, count: .max)
      for timeframe in [Timeframe.minute1, .minute5, .minute15, .minute30, .hour1] {
        let bars = history.bars(of: place, timeframe: timeframe, at: moment, count: .max)
        let byDay = Dictionary(grouping: bars, by: \.day)
        // A day without trading has none.
        let minuteDays = history.earlierDays.suffix(Self.minuteDays)
        #expect(byDay.keys.sorted() == days.map(\.day).filter(minuteDays.contains))
        for day in days where byDay[day.day] != nil {
          var sum = TrueLedger.Minute()
          for bar in byDay[day.day] ?? [] { sum.append(bar.sums) }
          #expect(sum == day.sums, "seed \(seed), \(history.symbols[place]), \(day.day)")
        }
        for sums in bars.map(\.sums) {
          #expect(sums.low <= min(sums.open, sums.close) && sums.high >= max(sums.open, sums.close))
          #expect(sums.low % traits[place].tick == 0 && sums.high % traits[place].tick == 0)
          if !traits[place].isIndex {
            #expect(sums.volume * sums.low <= sums.turnover)
            #expect(sums.turnover <= sums.volume * sums.high)
          }
        }
      }
    }
  }

  @Test(arguments: seeds)
  func `have no jump where a split is adjusted for`(seed: UInt64) throws {
    var history = try Self.history(seed)
    let moment = Self.morning(history)
    var splits = 0
    for (place, symbol) in history.symbols.enumerated() {
      let known = history.factors(of: symbol, kind: .qfq, at: moment)
      let factors = try #require(known)
      let days = history.bars(of: place, timeframe: .day1, at: moment, count: .max)
      let adjusted = try days.map { day in
        let factor = try #require(factors.first { $0.from <= day.day })
        return try ExactDecimal(day.sums.close).divided(by: factor.factor, scale: 2)
      }
      splits += history.earlier(place).exDays.count { $0.sharesPerTen > 10 }
      for (close, next) in zip(adjusted, adjusted.dropFirst()) {
        // 3 % a day, a tick of a cheap one, and some for days without trading in between.
        #expect(try next * ExactDecimal(10) < close * ExactDecimal(12), "seed \(seed), \(symbol)")
        #expect(try next * ExactDecimal(12) > close * ExactDecimal(10), "seed \(seed), \(symbol)")
      }
    }
    #expect(splits > 5, "seed \(seed)")
  }
}

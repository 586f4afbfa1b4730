import Ingest
import Market

/// Something that happened between 2016 and 2026, or will: what the world does on its days, what
/// must be true after them, and how that is brought about.
///
/// The table is printed at the end of the trial. An event that the program cannot handle stays in
/// it, is printed as such, and makes the trial fail.
struct DecadeEvent: Sendable {
  typealias Check = @Sendable (DecadeFacts) throws -> [String]

  let number: Int
  /// As they were, or as they are said to come.
  let dates: [String]
  let world: String
  let how: String
  /// Whether it is a part of the short trial, too.
  var isShort = false
  /// Nothing runs on its days.
  var isMachineOff = false
  /// Its days are moved to where the exchange trades.
  var needsTrading = true
  /// What it does to the calendar, before the first day.
  var calendar: @Sendable (inout DecadeCalendar, _ shift: Int) -> Void = { _, _ in }
  var prepare: @Sendable (inout DecadePlan) -> Void = { _ in }
  var check: Check = { _ in [] }

  static let all: [DecadeEvent] = calendars + americas + factors + identities + rules + machines

  /// - Parameter isShort: the first alone.
  func days(shiftedBy shift: Int, _ calendar: DecadeCalendar, isShort: Bool) -> [TradingDay] {
    let dates = dates.prefix(isShort ? 1 : dates.count)
    return dates.compactMap { Self.day($0, shiftedBy: shift) }.map { day in
      guard needsTrading else { return day }
      return (0..<15).lazy.map { day.advanced(by: $0) }.first(where: calendar.trades) ?? day
    }
  }

  static func day(_ text: String, shiftedBy shift: Int) -> TradingDay? {
    guard let (year, month, date) = TradingDay(text)?.civil else { return nil }
    return TradingDay(year: year + shift, month: month, day: date)
      ?? TradingDay(year: year + shift, month: 3, day: 1)
  }

  /// - Parameter isTrue: what must hold; the sentence says what is so instead.
  static func expect(_ isTrue: Bool, _ sentence: @autoclosure () -> String) -> [String] {
    isTrue ? [] : [sentence()]
  }

  /// No source was left, and no minute is missing.
  static func isUndisturbed(_ facts: DecadeFacts) throws -> [String] {
    let changes = try facts.count(
      "select count(*) from serving where since >= '\(facts.day) 09:10+08' and "
        + "since < '\(facts.day) 24:00+08'")
    let missing = try facts.count(
      "select coalesce(sum(minutes_missing), 0) from day_audit where trading_day = '\(facts.day)'")
    return expect(changes == 0, "\(changes) changes of source")
      + expect(missing == 0, "\(missing) minutes are missing")
  }

  /// Minutes of the market's first minute that have trades.
  static func firstMinute(_ facts: DecadeFacts) throws -> [String] {
    let found = try facts.count(
      "select count(*) from candle where opened_at = '\(facts.day) 09:30+08' and timeframe = 1 "
        + "and volume > 0")
    let expected = facts.minutes.values.count { $0[34_200] != nil }
    return expect(found >= expected && expected > 8, "first minutes: \(found) of \(expected)")
  }
}

// MARK: - Calendars

extension DecadeEvent {
  private static let lateDays = [0, 1, 5, 30]

  /// The first trading days, and when the file has their year.
  private static let turns = [
    "2017-01-03", "2018-01-02", "2019-01-02", "2020-01-02", "2021-01-04", "2022-01-04",
    "2023-01-03", "2024-01-02", "2025-01-02", "2026-01-05",
  ]

  private static let calendars = [
    DecadeEvent(
      number: 1, dates: ["2016-01-04"],
      world: "a breaker halts the exchange at 13:13 and shuts it at 13:34",
      how: "the exchange stands still, by both sources: the minutes are untraded", isShort: true,
      prepare: { plan in
        plan.watchClosely()
        plan.spans = [34_200..<41_400, 46_800..<47_580, 48_480..<48_840]
        plan.hasClose = false
        plan.restartAt = 36_000
      }, check: isUndisturbed),
    DecadeEvent(
      number: 1, dates: ["2016-01-07"],
      world: "a breaker shuts the exchange at 9:59, and the daemon restarts behind it",
      how: "as above",
      prepare: { plan in
        plan.watchClosely()
        plan.spans = [34_200..<34_920, 35_820..<35_940]
        plan.hasClose = false
        plan.restartAt = 39_000
      }, check: isUndisturbed),
    DecadeEvent(
      number: 2, dates: turns,
      world: "the calendar's file has the new year on its first day, or 1, 5 or 30 days later",
      how: "a supposed day is recorded like a trading day; the file is asked for until it is there",
      isShort: true,
      calendar: { calendar, shift in
        for (place, text) in turns.enumerated() {
          guard let first = day(text, shiftedBy: shift) else { continue }
          calendar.published[first.civil.year] = first.advanced(by: lateDays[place % 4])
        }
      }, prepare: { $0.watchClosely() }, check: firstMinute),
    DecadeEvent(
      number: 3, dates: ["2022-01-05", "2022-06-15"],
      world: "the file has half a year until June", how: "a file counts as far as it goes",
      calendar: { calendar, shift in
        calendar.halves[2022 + shift] = .of(2022 + shift, 6, 13)
      },
      check: { facts in
        let (year, month, _) = facts.day.civil
        let ends: TradingDay = month == 1 ? .of(year, 6, 30) : .of(year, 12, 31)
        let found = facts.day.advanced(by: facts.report.calendar.daysLeft)
        return expect(found == ends, "the calendar ends on \(found)")
      }),
    DecadeEvent(
      number: 4, dates: ["2019-12-16", "2019-12-24"],
      world: "the file withdraws 24 December eight days before", how: "both readings are kept",
      isShort: true, needsTrading: false,
      calendar: { calendar, shift in
        let day = TradingDay.of(2019 + shift, 12, 24)
        calendar.changes[day] = .init(
          day: day, trades: false, filedFrom: .of(2019 + shift, 12, 16))
      },
      check: { facts in
        let day = TradingDay.of(facts.day.civil.year, 12, 24)
        if facts.day < day {
          return expect(
            facts.logged("withdrew \(day)") == 1 || facts.day.isWeekend, "nothing was reported")
        }
        let closed = try facts.count(
          "select count(*) from market_session where day = '\(day)' and known_to is null "
            + "and opens = closes and exchange = 1")
        return expect(closed == 1, "the day is not known to be closed")
      }),
    DecadeEvent(
      number: 5, dates: ["2020-01-31"],
      world: "a closure that no calendar knew", how: "every source keeps an earlier date: closed",
      isShort: true, needsTrading: false,
      calendar: { calendar, shift in
        let day = TradingDay.of(2020 + shift, 1, 31)
        calendar.changes[day] = .init(day: day, trades: false, filedFrom: day.advanced(by: 3))
      },
      prepare: { plan in
        plan.watchClosely()
      },
      check: { facts in
        let rows = try facts.count(
          "select (select count(*) from gap where trading_day = '\(facts.day)') "
            + "+ (select count(*) from day_audit where trading_day = '\(facts.day)')")
        return expect(rows == 0, "\(rows) gaps and certificates")
          + expect(facts.logged("the exchanges were closed on \(facts.day)") == 1, "no notice")
      }),
    DecadeEvent(
      number: 6, dates: ["2018-04-05"],
      world: "a day that was declared closed trades", how: "one batch a minute sees it open",
      isShort: true, needsTrading: false,
      calendar: { calendar, shift in
        let day = TradingDay.of(2018 + shift, 4, 5)
        calendar.changes[day] = .init(day: day, trades: true, filedFrom: nil)
      },
      prepare: { plan in plan.watchClosely() },
      check: { facts in
        try firstMinute(facts)
          + expect(facts.logged("the exchanges trade on \(facts.day)") == 1, "no notice")
      }),
    DecadeEvent(
      number: 7, dates: ["2019-02-02", "2020-01-19", "2021-02-07", "2024-02-04", "2026-02-14"],
      world: "a weekend on which people work",
      how: "nothing is requested but the sweep with which the daemon starts", needsTrading: false,
      prepare: { plan in
        plan.trades = false
        plan.restartAt = nil
      },
      check: { facts in
        guard facts.day.isWeekend else { return [] }
        let quotes = facts.requests.filter { $0.key.contains("quotes") }
        return expect(quotes.values.allSatisfy { $0 <= 1 }, "requests: \(quotes)")
      }),
    DecadeEvent(
      number: 8, dates: ["2024-09-27"],
      world: "Shanghai stands still from 10:10 to 11:13 of a trading day",
      how: "two sources without a newer row: untraded, no change of source", isShort: true,
      prepare: { plan in
        plan.watchClosely()
        plan.still = 36_600..<40_380
        plan.restartAt = 36_000
      }, check: isUndisturbed),
  ]
}

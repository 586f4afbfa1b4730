/// Days that `candled backfill` and `candled gaps` can still ask Sina's minutes of. Both take today
/// from the machine's clock, so what a test lets them ask for lies just behind that, whatever day
/// it shows: a Saturday, a Monday, one behind the end of the built-in trading calendar.

import Commits
import Market
import Postgres
import Store

package struct RecentSessions: Sendable {
  /// Days whose every minute can be had, ascending: the last sessions before today.
  package let minuteDays: [TradingDay]
  /// The sessions before those, ascending.
  package let earlierDays: [TradingDay]
  /// Those of the years behind the built-in table that a daemon must have learnt; empty where the
  /// table tells of tomorrow.
  package let learnt: [TradingDay]
  /// The table's, with what was learnt.
  package let calendar: TradingCalendar

  /// 1,970 of the newest bars (docs/sources/sina.md#k-lines), 240 a session.
  package static let reachDays = 8

  /// - Parameter today: Shanghai's, as the machine's clock has it. That may be past midnight
  ///   before the command looks: nothing is asked for that is out of reach tomorrow.
  package init(
    before today: TradingDay, minuteDaysMax: Int = RecentSessions.reachDays, earlierDays: Int
  ) {
    let tomorrow = today.advanced(by: 1)
    learnt = RecentSessions.invented(through: tomorrow)
    calendar = RecentSessions.calendar(with: learnt)
    // A session that is not over, or has not begun, is of the newest all the same.
    let taken = [today, tomorrow].count { [calendar] in calendar.isTradingDay($0) == true }
    let reached = min(minuteDaysMax, RecentSessions.reachDays - taken)
    var sessions: [TradingDay] = []
    var day = today
    while sessions.count < reached + earlierDays, let previous = calendar.previous(before: day) {
      sessions.append(previous)
      day = previous
    }
    sessions.reverse()
    minuteDays = Array(sessions.suffix(reached))
    self.earlierDays = Array(sessions.dropLast(reached))
  }

  /// As the daemon stores what it learns of Shanghai.
  /// - Parameter url: of the database, as superuser.
  package func learn(into url: String) throws {
    guard !learnt.isEmpty else { return }
    try SQLProbe.run(RecentSessions.insertion(of: learnt), url: url)
  }

  /// Sessions of the years behind the built-in table, up to the end of the year of `day`: nobody
  /// has told them yet, so they are made up, as many in a year as there are. Empty where the table
  /// tells of `day`.
  package static func invented(through day: TradingDay) -> [TradingDay] {
    let table = TradingCalendar.shanghai
    guard day > table.lastDay else { return [] }
    let end = TradingDay.first(of: day.civil.year + 1)
    // Every other Thursday is a holiday.
    return (table.lastDay.advanced(by: 1)..<end).filter {
      !$0.isWeekend && $0.daysSince1970 % 14 != 0
    }
  }

  /// SQL that stores sessions of Shanghai.
  package static func insertion(of days: [TradingDay]) -> String {
    let rows = days.map { "(1, '\($0)', '\($0) 09:30+8', '\($0) 15:00+8')" }
    return "insert into candled.market_session values \(rows.joined(separator: ", ")) "
      + "on conflict do nothing"
  }

  private static func calendar(with learnt: [TradingDay]) -> TradingCalendar {
    var calendar = TradingCalendar.shanghai
    _ = calendar.declare(learnt, on: calendar.lastDay)
    return calendar
  }
}

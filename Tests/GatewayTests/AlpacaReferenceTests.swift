import Commits
import Foundation
import HTTPTypes
import Market
import Store
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// Alpaca's clock, calendar and assets are those of the market that the gateway follows.
@Suite(.ownThread) struct AlpacaReferenceTests {
  /// Of 2027, which is behind the table of the program: without a week of October.
  private static func learnt() throws -> [TradingDay] {
    let first = TradingDay.first(of: 2027)
    let holidays = try ["2027-10-01", "2027-10-08"].map { try #require(TradingDay($0)) }
    return (first.advanced(by: 1)..<TradingDay.first(of: 2028)).filter {
      !$0.isWeekend && !(holidays[0]...holidays[1]).contains($0)
    }
  }

  @Test("the clock is the daemon's, and the calendar has the days that it has learnt")
  func learntDays() async throws {
    let database = try StoreDatabase()
    try database.execute(RecentSessions.insertion(of: try Self.learnt()))
    let fixture = try await ServedFixture(database)
    // The fixture's last commit is known at 11:29 of a Monday.
    let clock = try await fixture.get("/v2/clock").json
    #expect((clock["timestamp"] as? String)?.hasPrefix("2026-07-06T11:") == true, "\(clock)")
    #expect((clock["next_open"] as? String) == "2026-07-06T13:00:00+08:00", "\(clock)")
    let week = try await fixture.get("/v2/calendar?start=2027-09-30&end=2027-10-11")
    let days = try JSONSerialization.jsonObject(with: Data(week.body.utf8)) as? [[String: Any]]
    #expect(days?.map { $0["date"] as? String } == ["2027-09-30", "2027-10-11"])
    let all = try await fixture.get("/v2/calendar")
    #expect(
      all.body.hasSuffix(
        #""date":"2027-12-31","open":"09:30","close":"15:00","#
          + #""session_open":"0915","session_close":"1530"}]"#), "\(all.body.suffix(200))")

    // In the middle of the holiday.
    var state = fixture.gateway.memory.state
    let holiday = try #require(TradingDay("2027-10-04"))
    state.knownAt = Timestamp(day: holiday, secondOfDay: 36_000)
    fixture.gateway.memory.publish(state)
    let closed = try await fixture.get("/v2/clock").json
    #expect(closed["is_open"] as? Bool == false, "\(closed)")
    #expect(closed["next_open"] as? String == "2027-10-11T09:30:00+08:00", "\(closed)")
    let market = try await fixture.get("/v1/market").json["session"] as? [String: Any]
    #expect(market?["phase"] as? String == "holiday")
  }

  @Test("before the market was read there is neither clock nor calendar")
  func unread() async throws {
    let fixture = try await ServedFixture()
    fixture.gateway.memory.publish(MarketState())
    for path in ["clock", "calendar"] {
      #expect(try await fixture.get("/v2/\(path)").status == 503)
    }
  }

  @Test("days that are learnt later are known with the next series")
  func later() async throws {
    let fixture = try await GatewayFixture()
    var samples = StoreSamples(seed: 6)
    _ = try await fixture.writer.commit(samples.sweep(position: 1, instruments: 1))
    let before = try await fixture.state(through: 1)
    #expect(before.calendar.lastDay == TradingCalendar.shanghai.lastDay)
    try fixture.database.execute(RecentSessions.insertion(of: try Self.learnt()))
    _ = try await fixture.writer.commit(samples.sweep(position: 2, instruments: 2))
    let after = try await fixture.state(through: 2)
    #expect(after.calendar.lastDay == TradingDay.first(of: 2028).advanced(by: -1))
  }

  @Test("an asset is tradable where the broker takes its kind and the exchange lists it")
  func tradable() async throws {
    let cases: KeyValuePairs = [
      "sh600000": true, "sz300750": true, "bj920000": true, "sh510050": true, "sh113050": true,
      "sh000001": false, "sh900901": false, "sh204001": false, "sh600005": false,
    ]
    let fixture = try await ServedFixture { writer in
      var samples = StoreSamples(seed: 7)
      var commit = samples.sweep(position: 1, instruments: 0)
      commit.quotes = try cases.map { spelling, _ in
        var row = samples.quote(0, second: Session.morningOpen)
        row.quote.symbol = try #require(Symbol(spelling))
        row.forming = nil
        if spelling == "sh600005" { row.quote.status = .delisted }
        return row
      }
      _ = try await writer.commit(commit)
      return 1
    }
    for (spelling, isTradable) in cases {
      let asset = try await fixture.get("/v2/assets/\(spelling)").json
      #expect(asset["tradable"] as? Bool == isTradable, "\(asset)")
      #expect(asset["fractionable"] as? Bool == false && asset["status"] as? String == "active")
    }
  }
}

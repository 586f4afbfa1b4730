/// The market at a glance: world indexes, the phase of the session, how fresh everything is.

import Hummingbird
import Market
import Reader

extension MarketRoutes {
  var overview: [Route] {
    [
      Route(
        "/v1/market", summary: "World indexes, the phase of the session, the place in the feed.",
        answer: .market, problems: [.serviceUnavailable]
      ) { _, _ in
        let state = memory.state
        try loaded(state)
        return Answer(json: Self.market(state, now: .now))
      }
    ]
  }

  static func market(_ state: MarketState, now: Timestamp) -> [UInt8] {
    let zone = MarketZone.shanghai
    var text = JSONWriter(capacity: 2_048)
    text.object { market in
      market.member("indexes") { list in
        list.array { list in
          for row in state.overview { list.object { $0.write(row) } }
        }
      }
      market.member("session") { session in
        session.object { session in
          let phase = SessionPhase(at: state.clock(at: now), by: state.calendar)
          session.member("market") { $0.string(MarketDefinition.mainlandChina.name) }
          session.member("tradingDay") { $0.boolean(phase != .holiday) }
          session.member("phase") { $0.string(phase.rawValue) }
        }
      }
      market.member("epoch") { $0.integer(state.epoch) }
      market.member("seq") { $0.integer(state.seq) }
      market.member("committedAt") { text in
        text.optional(state.committedAt) { $0.string(zone.text(of: $1)) }
      }
      market.member("stale") { $0.boolean(state.lostAt != nil) }
    }
    return text.bytes
  }
}

/// Of the mainland's trading day.
enum SessionPhase: String, Sendable {
  case holiday, closed, auction, open
  case preOpen = "pre_open"
  case lunch = "break"
  case afterHours = "after_hours"

  init(at moment: Timestamp, by calendar: TradingCalendar) {
    let day = moment.shanghaiDay
    // Beyond the days that the calendar knows a weekday counts as one.
    guard calendar.isTradingDay(day) ?? !day.isWeekend else {
      self = .holiday
      return
    }
    self =
      switch moment.shanghaiSecondOfDay {
      case ..<Session.auctionOpen: .preOpen
      case ..<Session.auctionMatch: .auction
      case ..<Session.morningOpen: .preOpen
      case ..<Session.morningClose: .open
      case ..<Session.afternoonOpen: .lunch
      case ..<Session.afternoonClose: .open
      case ..<Session.afterHoursOpen: .closed
      case ..<Session.afterHoursClose: .afterHours
      default: .closed
      }
  }
}

extension JSONWriter {
  fileprivate mutating func write(_ row: OverviewRow) {
    member("symbol") { $0.string(row.symbol) }
    member("name") { $0.optional(row.name) { $0.string($1) } }
    member("last") { $0.decimal(row.last) }
    member("change") { $0.decimal(row.change) }
    member("changePercent") { $0.decimal(row.percentChange) }
    member("at") { $0.string(MarketZone.shanghai.text(of: row.at)) }
  }
}

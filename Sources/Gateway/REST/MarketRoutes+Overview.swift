/// The market at a glance: world indexes, the phase of the session, how fresh everything is.

import HTTPTypes
import Market

extension MarketRoutes {
  var overview: [Route] {
    [
      Route(
        "/v1/market", summary: "World indexes, the phase of the session, the place in the feed.",
        answer: Overview.shape.schema, problems: [.serviceUnavailable]
      ) { _ in
        let state = try memory.loaded()
        let phase = SessionPhase(at: state.clock(at: .now), by: state.calendar)
        let overview = Overview(state: state, phase: phase)
        return .object { $0.write(overview, as: Overview.shape, in: .shanghai) }
      }
    ]
  }
}

/// Of the mainland's trading day.
enum SessionPhase: String, Sendable {
  case holiday, closed, auction, open
  case preOpen = "pre_open"
  case lunch = "break"
  case afterHours = "after_hours"

  init(at moment: Timestamp, by calendar: TradingCalendar) {
    guard calendar.mayTrade(moment.shanghaiDay) else {
      self = .holiday
      return
    }
    self.init(
      second: moment.shanghaiSecondOfDay, of: .mainlandChina.on(moment.shanghaiDay))
  }

  /// - Parameter market: with the hours of the day.
  init(second: Int, of market: MarketDefinition) {
    func isIn(_ hours: SessionHours) -> Bool { hours.opens <= second && second < hours.closes }
    let (first, last) = (market.sessions.first?.opens ?? 0, market.sessions.last?.closes ?? 0)
    self =
      if market.sessions.contains(where: isIn) {
        .open
      } else if second < first {
        market.auction.map(isIn) == true ? .auction : .preOpen
      } else if second < last {
        .lunch
      } else {
        market.afterHours.map(isIn) == true ? .afterHours : .closed
      }
  }
}

private struct Overview: Sendable {
  let state: MarketState
  let phase: SessionPhase

  static let shape = Shape<Overview>(
    "Market",
    fields: [
      .objects("indexes", as: OverviewRow.shape) { $0.state.overview },
      .object("session", as: SessionPhase.shape) { $0.phase }, .integer("epoch") { $0.state.epoch },
      .integer("seq") { $0.state.seq }, .optionalMoment("committedAt") { $0.state.committedAt },
      .boolean("stale") { $0.state.lostAt != nil },
    ])
}

extension SessionPhase {
  fileprivate static let shape = Shape<SessionPhase>(
    fields: [
      .string("market") { _ in MarketDefinition.mainlandChina.name },
      .boolean("tradingDay") { $0 != .holiday }, .string("phase") { $0.rawValue },
    ])
}

extension OverviewRow {
  fileprivate static let shape = Shape<OverviewRow>(
    fields: [
      .string("symbol") { $0.symbol }, .optionalString("name") { $0.name },
      .decimal("last") { $0.last }, .decimal("change") { $0.change },
      .decimal("changePercent") { $0.percentChange }, .moment("at") { $0.at },
    ])
}

/// What a repair asks for, in a worker and in a command alike.

import Feeds
import Market
import Polling

extension FeedRequest {
  /// The minutes of a repair's instrument from its first day on, with a day more than there are:
  /// held up by a ban, the answer may come when the next day has begun.
  package static func minutes(
    of order: RepairPlan.Order, on today: TradingDay, calendar: TradingCalendar,
    from source: Source
  ) -> FeedRequest {
    let days = (order.firstDay...max(order.firstDay, today)).count {
      calendar.isTradingDay($0) != false
    }
    let minutesPerDay = TradingHours.mainlandChina(on: today).minutesPerDay
    return FeedRequest(
      .newestBars(
        order.symbol, .minute1,
        count: min((days + 1) * minutesPerDay, source.newestBarsMax)), to: source)
  }
}

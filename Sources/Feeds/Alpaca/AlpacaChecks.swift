/// What candled counts on of Alpaca's services (docs/sources/alpaca.md).

import Market

extension Alpaca {
  package var checks: [SourceCheck] {
    // Four weeks with Thanksgiving, Christmas and New Year's Day have 18 sessions.
    [SourceCheck.credentials(SourceCheck.fourWeeks), SourceCheck.sessions(daysMin: 17)]
      + SourceCheck.pages { context in
        // A basic account gets nothing newer of SIP; five days always have a session.
        BarsQuery(
          symbols: ["AAPL", "MSFT"].compactMap { Symbol($0) }, timeframe: .minute15,
          start: Timestamp(seconds: context.now.seconds - 5 * 86_400),
          end: Timestamp(seconds: context.now.seconds - 1_200))
      }
  }
}

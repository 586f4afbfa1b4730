/// The answer to a `FeedRequest`: what it says, or why it says nothing.
///
/// A pure function of request, status and body, so that a replay of the journal comes to the same.
/// A bad row is refused with its reason and never takes a neighbour with it; an answer that is no
/// answer is refused as a whole.

import Market

package enum FeedResponse: Sendable, Hashable {
  /// What an answer with live quotes amounts to; its rows are read where they are booked.
  case quotes(QuoteOutcome)
  case candles(CandlePage)
  case list(InstrumentList)
  case sessions([MarketSession])
  /// How many instruments a list holds.
  case listCount(Int)
  /// The factors of one instrument and kind, by ascending day.
  case factors([AdjustmentFactor])
  /// Trading days, ascending.
  case calendar([TradingDay])
  case refused(FeedRefusal)

  /// - Parameters:
  ///   - status: of HTTP; the body has the last word where it says anything.
  ///   - body: as received, content encoding undone.
  ///   - calendar: as far as it is known; a bar of a day beyond it is refused.
  package static func decode(
    _ request: FeedRequest, status: Int, body: UnsafeRawBufferPointer,
    calendar: TradingCalendar = .shanghai
  ) -> FeedResponse {
    if case .quotes = request.query {
      var decoder = SourceRegistry.quotes(of: request.source).makeDecoder(nil)
      var batch = QuoteBatch()
      batch.begin(body: body)
      return .quotes(decoder.decode(body, status: status, into: &batch))
    }
    do throws(FeedRefusal) {
      return try request.sourceRequest.decode(body, status, calendar)
    } catch {
      return .refused(error)
    }
  }
}

/// Ready-made bars, in the order of the answer.
package struct CandlePage: Sendable, Hashable {
  package var candles: [Candle]
  package var refused: [RefusedRow]
  /// The members that were left out of `candles`.
  package var dropped: [DroppedMember] = []
  /// Asks for the next page of the same query; opaque. nil at the end.
  package var nextPageToken: String?
}

/// A row of an answer that was refused; its neighbours were kept.
package struct RefusedRow: Sendable, Hashable {
  /// The row's number among those of the response, good ones included, from 0.
  package var index: Int
  /// The row's symbol, if it could be read.
  package var symbol: Symbol?
  package var reason: RejectionReason
  /// The field and what was expected, for people.
  package var detail: String
  /// The row as it came, cut at `Rejection.payloadBytesMax`.
  package var payload: [UInt8]

  init(
    _ index: Int, of symbol: Symbol?, because fault: RowFault, payload: some Sequence<UInt8>
  ) {
    self.index = index
    self.symbol = symbol
    reason = fault.reason
    detail = fault.detail
    self.payload = Array(payload.prefix(Rejection.payloadBytesMax))
  }
}

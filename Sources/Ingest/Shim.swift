import Candles
import Commits
import Market

extension QuoteRow {
  init(quote: Quote, source: Source, forming: Candle?, bookState: [UInt8], receivedAt: Timestamp) {
    self.init(quote: quote, forming: forming, bookState: bookState, receivedAt: receivedAt)
  }
}
extension StoredState.InstrumentState {
  var source: Source { .live }
}

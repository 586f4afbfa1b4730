import Feeds
import Journal
import Market
import Polling

/// The series of journal entries, each named in one place: who writes an entry and who reads it
/// must spell alike.
extension JournalEntry {
  /// An answer of the quote endpoint: the series of its request group.
  /// - Parameter symbols: as asked for, joined by commas.
  package static func quotes(
    group: UInt16, symbols: [UInt8], from source: Source = .live, requestedAt: Timestamp,
    receivedAt: Timestamp, status: Int32 = 200, body: [UInt8]
  ) -> JournalEntry {
    JournalEntry(
      kind: .response, source: source, key: "\(quotesSeries)/\(group)", requestedAt: requestedAt,
      receivedAt: receivedAt, status: status, request: symbols, body: body)
  }

  /// An answer to a poll that came at once, as in memory.
  package static func quotes(
    _ request: PollRequest, at moment: Timestamp, body: [UInt8]
  ) -> JournalEntry {
    .quotes(
      group: request.group, symbols: request.symbolList, requestedAt: moment, receivedAt: moment,
      body: body)
  }

  /// A decision taken because time passed.
  package static func timer(at moment: Timestamp) -> JournalEntry {
    JournalEntry(
      kind: .timer, source: .live, key: "timer", requestedAt: moment, receivedAt: moment,
      status: 0, request: [], body: [])
  }

  private static let quotesSeries = "quotes"

  /// The request group of an answer with quotes; nil for one of another series.
  var quotesGroup: UInt16? {
    let parts = key.split(separator: "/")
    guard parts.count == 2, parts[0] == JournalEntry.quotesSeries,
      SourceRegistry.known(source)?.quotes != nil
    else { return nil }
    return UInt16(parts[1])
  }
}

/// What workers ask.
extension JournalEntry {
  /// An answer to a worker's question.
  package static func response(
    to feedRequest: FeedRequest, requestedAt: Timestamp, receivedAt: Timestamp, status: Int32,
    body: [UInt8]
  ) -> JournalEntry {
    JournalEntry(
      kind: .response, source: feedRequest.source, key: feedRequest.journalKey,
      requestedAt: requestedAt, receivedAt: receivedAt, status: status,
      request: Array(feedRequest.text.utf8), body: body)
  }

  /// A key is about to be used, or was parked.
  static func usage(_ usage: KeyUsage, at moment: Timestamp) -> JournalEntry {
    JournalEntry(
      kind: .control, source: usage.source, key: usage.journalKey, requestedAt: moment,
      receivedAt: moment, status: 0, request: Array(usage.text.utf8), body: [])
  }

  /// What a worker asked; nil for an entry of another kind.
  var feedRequest: FeedRequest? {
    guard kind == .response, quotesGroup == nil else { return nil }
    return FeedRequest(text: String(decoding: request, as: UTF8.self), source: source)
  }
}

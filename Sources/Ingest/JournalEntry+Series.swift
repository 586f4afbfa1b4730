import Feeds
import Journal
import Market

/// The series of journal entries, each named in one place: who writes an entry and who reads it
/// must spell alike.
extension JournalEntry {
  /// A decision taken because time passed.
  package static func timer(at moment: Timestamp) -> JournalEntry {
    JournalEntry(
      kind: .timer, source: .live, key: "timer", requestedAt: moment, receivedAt: moment,
      status: 0, request: [], body: [])
  }

  /// What steers the pipeline beside answers and time, as a text.
  static func control(
    _ text: String, of source: Source, key: String, at moment: Timestamp
  ) -> JournalEntry {
    JournalEntry(
      kind: .control, source: source, key: key, requestedAt: moment, receivedAt: moment, status: 0,
      request: Array(text.utf8), body: [])
  }

  /// The request group of an answer with quotes; nil for one of another series.
  var quotesGroup: UInt16? { Self.quotesGroup(key: key, of: source) }

  static func quotesGroup(key: String, of source: Source) -> UInt16? {
    let parts = key.split(separator: "/")
    guard parts.count == 2, parts[0] == FeedRequest.quotesSeries,
      SourceRegistry.known(source)?.quotes != nil
    else { return nil }
    return UInt16(parts[1])
  }
}

/// What workers request.
extension JournalEntry {
  /// An answer to a worker's request.
  package static func response(
    to feedRequest: FeedRequest, requestedAt: Timestamp, receivedAt: Timestamp, status: Int32,
    body: [UInt8]
  ) -> JournalEntry {
    JournalEntry(
      kind: .response, source: feedRequest.source, key: feedRequest.journalKey,
      requestedAt: requestedAt, receivedAt: receivedAt, status: status,
      request: feedRequest.bytes, body: body)
  }

  /// A key is about to be used, or was parked.
  static func usage(_ usage: KeyUsage, at moment: Timestamp) -> JournalEntry {
    control(usage.text, of: usage.source, key: usage.journalKey, at: moment)
  }

  /// What a worker asked; nil for an entry of another kind.
  var feedRequest: FeedRequest? {
    guard kind == .response, quotesGroup == nil else { return nil }
    return FeedRequest(text: String(decoding: request, as: UTF8.self), source: source)
  }
}

/// Live quotes without a network: an upstream that has nothing else, and entries of the journal.
import Feeds
import Ingest
import Journal
import Market
import Transport

package protocol QuotesUpstream: Upstream {
  func response(to query: QuotesQuery, at now: Timestamp) async -> UpstreamResponse
}

extension QuotesUpstream {
  package func response(
    to feedRequest: FeedRequest, key: String?, host: Int
  ) async -> UpstreamResponse {
    guard case .quotes(let query) = feedRequest.query else {
      preconditionFailure("\(feedRequest.text) requested of live quotes")
    }
    return await response(to: query, at: query.askedAt)
  }
}

extension SourceWorkers {
  /// Live quotes alone.
  package init(_ quotes: QuotesConfiguration..., upstream: any Upstream) {
    var configuration = WorkerConfiguration()
    configuration.quotes = quotes
    self.init(configuration, upstream: upstream)
  }
}

extension JournalEntry {
  /// An answer with live quotes.
  /// - Parameter symbols: as requested, joined by commas.
  package static func quotes(
    group: UInt16, symbols: [UInt8], from source: Source = .sina, requestedAt: Timestamp,
    receivedAt: Timestamp, status: Int32 = 200, body: [UInt8]
  ) -> JournalEntry {
    JournalEntry(
      kind: .response, source: source, key: "\(FeedRequest.quotesSeries)/\(group)",
      requestedAt: requestedAt, receivedAt: receivedAt, status: status, request: symbols,
      body: body)
  }
}

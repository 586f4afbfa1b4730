/// Something that a source counts on of its service, as data: a sentence, the requests that prove
/// it, and a pure function that validates the responses. Only `candled doctor` runs these checks.
///
/// They are written once, in `SourceCheck+Quotes` and `SourceCheck+Records`, and each source
/// declares its parameters. What cannot be tried at a moment says why, and is never called broken.

import Market

package struct SourceCheck: Sendable {
  /// Endpoint and subject: `quotes.units`.
  package let name: String
  /// What should be so, for people.
  package let sentence: String
  /// What to do where it is not.
  package let remedy: String
  package let requests: @Sendable (CheckContext) -> [CheckRequest]
  /// Whether a response that was refused as a whole breaks it; others are then not tried.
  let judgesRefusals: Bool
  /// Whether a key that was refused breaks it; others are then not tried.
  let judgesKey: Bool
  /// The verdict on one response for each request, in their order, none of them refused.
  let validate: @Sendable ([CheckResponse], CheckContext) -> CheckVerdict

  package init(
    _ name: String, sentence: String, remedy: String, judgesRefusals: Bool = false,
    judgesKey: Bool = false,
    requests: @escaping @Sendable (CheckContext) -> [CheckRequest],
    validate: @escaping @Sendable ([CheckResponse], CheckContext) -> CheckVerdict
  ) {
    self.name = name
    self.sentence = sentence
    self.remedy = remedy
    self.judgesRefusals = judgesRefusals
    self.judgesKey = judgesKey
    self.requests = requests
    self.validate = validate
  }
}

/// A request that proves something. Equal ones are sent once.
package struct CheckRequest: Sendable, Hashable {
  package let query: FeedQuery
  /// The pause before it is sent, behind the source's response before.
  package let waitSeconds: Int

  package init(_ query: FeedQuery, waitSeconds: Int = 0) {
    self.query = query
    self.waitSeconds = waitSeconds
  }
}

package enum CheckVerdict: Sendable, Hashable {
  case holds
  /// What was found in its place.
  case broken(String)
  /// Why it could not be tried.
  case untried(String)
  /// Why there was no response.
  case unreachable(String)

  /// The verdict in a word, for people and JSON.
  package var name: String {
    switch self {
    case .holds: "ok"
    case .broken: "broken"
    case .untried: "not tried"
    case .unreachable: "no response"
    }
  }

  package var detail: String? {
    switch self {
    case .holds: nil
    case .broken(let text), .untried(let text), .unreachable(let text): text
    }
  }

  /// Whether nearly all rows are as they should be: a bad one now and then is routine.
  /// - Parameter fault: what is wrong with a row; nil if nothing is.
  static func nearlyAll<Row>(
    _ rows: some Sequence<Row>, noun: String, perMilleMin: Int = 990, fault: (Row) -> String?
  ) -> CheckVerdict {
    var count = 0
    var faults: [String] = []
    for row in rows {
      count += 1
      if let found = fault(row) { faults.append(found) }
    }
    if count == 0 { return .untried("no \(noun) in the response") }
    if (count - faults.count) * 1000 >= count * perMilleMin { return .holds }
    return .broken("\(faults.count) of \(counted(count, noun)), the first: \(faults[0])")
  }
}

/// A response with what the source's own decoder read in it.
package struct CheckResponse {
  package let query: FeedQuery
  package let status: Int
  package let body: [UInt8]
  package let receivedAt: Timestamp
  let decoded: FeedResponse
  /// The rows of live quotes; empty for another request.
  let batch: QuoteBatch

  package init(
    _ request: FeedRequest, status: Int, body: [UInt8], receivedAt: Timestamp,
    calendar: TradingCalendar
  ) {
    query = request.query
    self.status = status
    self.body = body
    self.receivedAt = receivedAt
    var batch = QuoteBatch()
    decoded = body.withUnsafeBytes { bytes in
      guard case .quotes = request.query else {
        return FeedResponse.decode(request, status: status, body: bytes, calendar: calendar)
      }
      var decoder = SourceRegistry.quotes(of: request.source).makeDecoder()
      batch.begin(body: bytes)
      return .quotes(decoder.decode(bytes, status: status, into: &batch))
    }
    self.batch = batch
  }

  /// Why the response was refused as a whole; nil if it was not.
  var refusal: String? {
    let reason: String
    switch decoded {
    case .refused(let refusal): reason = "\(refusal.kind.name): \(refusal.sentence)"
    case .quotes(.ok): return nil
    case .quotes(let outcome): reason = outcome.name
    default: return nil
    }
    return "the response was refused: \(reason) (HTTP status \(status))"
  }

  /// Whether the key is the reason of the refusal.
  var refusesKey: Bool {
    guard case .refused(let refusal) = decoded else { return false }
    return [.unauthorised, .quotaExhausted, .entitlement].contains(refusal.kind)
  }

  /// Whether to send the source nothing more: that would make it worse.
  var endsRequests: Bool {
    switch decoded {
    case .quotes(.banned), .quotes(.throttled), .quotes(.unauthorised): true
    case .refused(let refusal):
      if case .throttled = refusal.kind { true } else { refusal.kind == .banned || refusesKey }
    default: false
    }
  }

  var candles: [Candle] { if case .candles(let page) = decoded { page.candles } else { [] } }
}

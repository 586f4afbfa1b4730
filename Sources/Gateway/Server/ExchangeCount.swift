import NIOHTTP1

/// The requests and the answers of a connection, as they pass one of its handlers.
struct ExchangeCount {
  private(set) var unanswered = 0
  private(set) var answered = 0
  /// A request's end has not come. Its answer may have gone before: what follows is read, and lost.
  private(set) var isReading = false

  var isIdle: Bool { unanswered == 0 && !isReading }

  /// A request is whole and has no answer.
  var isAnswering: Bool { unanswered > 0 && !isReading }

  mutating func read(_ part: HTTPServerRequestPart) {
    switch part {
    case .head:
      unanswered += 1
      isReading = true
    case .body: break
    case .end: isReading = false
    }
  }

  /// What could not be decoded is answered, too, and was no request here.
  mutating func write(_ part: HTTPServerResponsePart) {
    guard case .end = part else { return }
    unanswered = max(unanswered - 1, 0)
    answered += 1
  }
}

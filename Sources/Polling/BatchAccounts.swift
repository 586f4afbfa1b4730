import Market

/// Which batches of the serving source have gone without a good answer, and since when.
///
/// One good batch does not make up for the others: half of them without an answer is silence. One
/// bad batch is not: a symbol in it may be at fault, or its share of the source's servers.
struct BatchAccounts: Sendable {
  /// The moments of a batch, on the steady axis.
  private struct Batch: Sendable {
    /// The first request since the last good answer.
    var askedAt: Timestamp?
    var answeredAt: Timestamp?
  }

  /// How many there are, as the latest request had it.
  private(set) var count = 0
  private var batches: [UInt16: Batch] = [:]

  /// The number of batches without a response that is silence.
  private var silentMin: Int { (count + 1) / 2 }

  mutating func asked(_ batch: UInt16, of count: Int, at now: Timestamp) {
    if count != self.count { batches = batches.filter { $0.key < count } }
    self.count = count
    guard batch < count, batches[batch]?.askedAt == nil else { return }
    batches[batch, default: Batch()].askedAt = now
  }

  mutating func answered(_ batch: UInt16, at now: Timestamp) {
    guard batch < count else { return }
    batches[batch] = Batch(askedAt: nil, answeredAt: now)
  }

  /// Nothing is asked for a while: the time counts anew from the next request.
  mutating func forgetAsked() {
    for batch in batches.keys { batches[batch]?.askedAt = nil }
  }

  /// Too few are left without an answer for silence.
  func areAnswered(since moment: Timestamp) -> Bool {
    let answered = batches.values.count { batch in batch.answeredAt.map { $0 >= moment } ?? false }
    return count - answered < silentMin
  }

  /// When so many have been without an answer for so long; nil while too few are asked for.
  func silentAt(milliseconds: Int64, beganAt: Timestamp) -> Timestamp? {
    guard count > 0 else { return nil }
    let moments = waiting(milliseconds: milliseconds, beganAt: beganAt).map(\.silentAt).sorted()
    return moments.dropFirst(silentMin - 1).first
  }

  /// How many batches of a silent source have no answer, and for how long that is silence. One that
  /// was asked for just now may have its answer yet.
  func silent(
    at now: Timestamp, milliseconds: Int64, beganAt: Timestamp
  ) -> (batches: Int, since: Timestamp) {
    let waiting = waiting(milliseconds: milliseconds, beganAt: beganAt)
    let unanswered = batches.values.count { batch in
      batch.askedAt.map { $0.adding(milliseconds: milliseconds / 4) <= now } ?? false
    }
    return (unanswered, waiting.filter { $0.silentAt <= now }.map(\.since).max() ?? now)
  }

  /// A request gets three quarters of the time, so that a source that is asked seldom is not silent
  /// between two requests.
  private func waiting(
    milliseconds: Int64, beganAt: Timestamp
  ) -> [(since: Timestamp, silentAt: Timestamp)] {
    batches.values.compactMap { batch in
      guard let askedAt = batch.askedAt else { return nil }
      let since = max(batch.answeredAt ?? beganAt, beganAt)
      return (
        since,
        max(
          since.adding(milliseconds: milliseconds),
          askedAt.adding(milliseconds: milliseconds * 3 / 4))
      )
    }
  }
}

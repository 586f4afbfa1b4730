/// What was said of a database that is away: each sentence once, however they alternate, and only
/// so many. Kept until it is back.
struct LogThrottle: Sendable {
  /// A further one is in the STATUS line alone.
  private static let sentencesMax = 8

  private var sentences: Set<String> = []

  /// Whether it is worth a line of the log; from then on it is told.
  mutating func isNew(_ sentence: String) -> Bool {
    sentences.count < Self.sentencesMax && sentences.insert(sentence).inserted
  }
}

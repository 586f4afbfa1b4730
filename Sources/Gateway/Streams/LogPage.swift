/// The log messages of one commit, grouped by series, so that a follower of twenty finds its own
/// among the five thousand candles of a minute without looking at the others.

struct LogPage: Sendable {
  let seq: Int64
  let messages: [FeedMessage]
  /// Where the messages of a place begin in `order`; those without a place come first. Empty of a
  /// few messages, which are looked at one by one.
  private let starts: [Int32]
  /// Indices into `messages`, each group in the order of the commit.
  private let order: [Int32]

  private static let messagesMin = 16

  init(seq: Int64, messages: [FeedMessage]) {
    (self.seq, self.messages) = (seq, messages)
    guard messages.count >= Self.messagesMin else {
      (starts, order) = ([], [])
      return
    }
    let places = 1 + (messages.map { $0.place?.index ?? -1 }.max() ?? -1)
    var counts = [Int32](repeating: 0, count: places + 2)
    for message in messages { counts[Self.group(of: message) + 1] += 1 }
    for group in counts.indices.dropFirst() { counts[group] += counts[group - 1] }
    starts = counts
    var sorted = [Int32](repeating: 0, count: messages.count)
    for (index, message) in messages.enumerated() {
      let group = Self.group(of: message)
      sorted[Int(counts[group])] = Int32(index)
      counts[group] += 1
    }
    order = sorted
  }

  private static func group(of message: FeedMessage) -> Int { (message.place?.index ?? -1) + 1 }

  /// The messages that `interests` want, in the order of the commit.
  func indices(for interests: LogInterests) -> [Int] {
    if interests.wantsEverySeries || starts.isEmpty {
      return messages.indices.filter { interests.wants(messages[$0]) }
    }
    var found: [Int] = []
    append(group: 0, to: &found, for: interests)
    for place in interests.places {
      append(group: place.index + 1, to: &found, for: interests)
    }
    return found.sorted()
  }

  private func append(group: Int, to found: inout [Int], for interests: LogInterests) {
    guard group + 1 < starts.count else { return }
    for index in order[Int(starts[group])..<Int(starts[group + 1])]
    where interests.wants(messages[Int(index)]) {
      found.append(Int(index))
    }
  }
}

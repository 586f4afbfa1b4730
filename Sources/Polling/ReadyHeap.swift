// The jobs of a line that may be sent now, the next of them at hand: a binary heap, for a night of
// repairs may be a hundred thousand jobs, and each send wants the first.
//
// Entries are never taken out from the middle: one that no longer says what its job's line says is
// passed over when it comes up, and all are made anew when those outnumber the others.

struct ReadyHeap<Job: Hashable & Sendable>: Sendable {
  struct Entry: Sendable {
    let job: Job
    let priority: Int
    /// Among those of one priority.
    let place: UInt64

    fileprivate func goes(before other: Entry) -> Bool {
      (other.priority, place) < (priority, other.place)
    }
  }

  private var entries: [Entry] = []

  var count: Int { entries.count }
  var first: Entry? { entries.first }

  init() {}

  init(_ entries: [Entry]) {
    // Sorted, it is a heap.
    self.entries = entries.sorted { $0.goes(before: $1) }
  }

  mutating func insert(_ entry: Entry) {
    entries.append(entry)
    var place = entries.count - 1
    while place > 0, entries[place].goes(before: entries[(place - 1) / 2]) {
      entries.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  mutating func removeFirst() {
    entries.swapAt(0, entries.count - 1)
    entries.removeLast()
    var place = 0
    while true {
      let children = (2 * place + 1)..<min(2 * place + 3, max(entries.count, 2 * place + 1))
      guard let next = children.min(by: { entries[$0].goes(before: entries[$1]) }),
        entries[next].goes(before: entries[place])
      else { return }
      entries.swapAt(place, next)
      place = next
    }
  }
}

/// Reads a journal forward, also while a writer appends to it: at the end `next` returns nil, and
/// goes on when there is more. It never returns an entry that was not written whole, and never
/// steps over damage unless told to.
///
/// Segments may overlap: after a failed sync the writer copies what it could not trust into a new
/// segment that begins inside the old one (`JournalWriter.heal`). The later segment is the one to
/// believe from its first entry on, and nothing is delivered twice.

import Market

package final class JournalReader {
  private let directory: JournalDirectory
  private let decoder: EntryDecoder
  /// What was delivered last, or where to begin.
  private var after: JournalPosition
  private var scanner: SegmentScanner?
  private var trouble: JournalError?

  /// The positions the journal in `path` holds, nil when it holds none. Reads the last segment.
  package static func positions(
    in path: String
  ) throws(JournalError) -> ClosedRange<JournalPosition>? {
    let directory = JournalDirectory(path: path)
    let segments = try directory.segments()
    guard let first = segments.first, let last = segments.last else { return nil }
    let scanner = try SegmentScanner(last, in: directory)
    var end = last.first - 1
    walk: while true {
      switch try scanner.step() {
      case .frame(let header): end = header.sequence
      case .end: break walk
      case .broken(let offset):
        end = try scanner.highestSequence(after: offset) ?? end
        break walk
      }
    }
    guard first.first <= end else { return nil }
    return JournalPosition(first.first)...JournalPosition(end)
  }

  /// Starts behind `position`: the first entry returned is the next one. Throws `missing` when
  /// the journal does not reach from there, with the range it has.
  package init(
    directory path: String, after position: JournalPosition = .start
  ) throws(JournalError) {
    directory = JournalDirectory(path: path)
    decoder = try EntryDecoder()
    after = position
    let available = try JournalReader.positions(in: path)
    try JournalReader.check(position, against: available, in: directory)
  }

  /// The next entry, or nil at the end of what has been written. Throws `damaged` and `missing`,
  /// and keeps throwing until `skipDamage`.
  package func next() throws(JournalError) -> (position: JournalPosition, entry: JournalEntry)? {
    if let trouble { throw trouble }
    do throws(JournalError) {
      while let (position, entry) = try read() {
        guard position > after else { continue }
        after = position
        return (position, entry)
      }
      return nil
    } catch {
      trouble = error
      throw error
    }
  }

  /// Gives up what is left of the damaged segment and goes on with the next. Returns the position
  /// that `next` will deliver, or nil when no later segment exists (yet).
  package func skipDamage() throws(JournalError) -> JournalPosition? {
    guard trouble != nil, let scanner else { return nil }
    guard
      let following = try directory.segments().first(where: { $0.first > scanner.segment.first })
    else { return nil }
    try enter(following)
    trouble = nil
    return JournalPosition(following.first)
  }

  private static func check(
    _ position: JournalPosition, against available: ClosedRange<JournalPosition>?,
    in directory: JournalDirectory
  ) throws(JournalError) {
    let segments = try directory.segments()
    // A segment without entries yet still says which position comes next.
    let next = available?.lowerBound.sequence ?? segments.first?.first ?? 1
    let isReachable =
      position.sequence + 1 >= next
      && position <= (available?.upperBound ?? JournalPosition(next - 1))
    guard !isReachable, !(position == .start && available == nil) else { return }
    let range = available.map { "\($0.lowerBound.sequence) to \($0.upperBound.sequence)" }
    throw JournalError(
      .missing,
      sentence:
        "Entry \(position.sequence + 1) is not in the journal, which holds \(range ?? "none").",
      available: available)
  }

  private func read() throws(JournalError) -> (JournalPosition, JournalEntry)? {
    while true {
      guard let scanner else {
        guard let first = try firstSegment() else { return nil }
        try enter(first)
        continue
      }
      switch try scanner.step() {
      case .frame(let header): return try decoded(header, from: scanner)
      case .end, .broken:
        guard let entry = try readPastEnd(of: scanner) else {
          if self.scanner === scanner { return nil }
          continue
        }
        return entry
      }
    }
  }

  /// What comes where no frame is: the next segment, the end, or damage. The folder is listed
  /// before the segment is looked at once more, so that a writer who finished an entry and began
  /// a segment in between is not taken for damage.
  private func readPastEnd(
    of scanner: SegmentScanner
  ) throws(JournalError) -> (JournalPosition, JournalEntry)? {
    let following = try directory.segments().first { $0.first > scanner.segment.first }
    switch try scanner.step() {
    case .frame(let header):
      return try decoded(header, from: scanner)
    case .broken(let offset):
      if let following, following.first <= scanner.expected {
        try enter(following)
        return nil
      }
      if following == nil, try scanner.highestSequence(after: offset) == nil { return nil }
      throw JournalError.damage(in: scanner.segment, at: offset)
    case .end:
      guard let following else {
        try enterReplacement(of: scanner)
        return nil
      }
      guard following.first <= scanner.expected else {
        throw gap(from: scanner.expected, to: following.first - 1, in: scanner.segment)
      }
      try enter(following)
      return nil
    }
  }

  /// Goes on in the copy, should the writer have put one in the last segment's place.
  private func enterReplacement(of scanner: SegmentScanner) throws(JournalError) {
    guard scanner.isFileRemoved,
      let copy = try directory.segments().last(where: { $0.first <= scanner.expected })
    else { return }
    try enter(copy)
  }

  private func gap(from: Int64, to: Int64, in segment: JournalSegment) -> JournalError {
    JournalError(
      .missing, sentence: "Entries \(from) to \(to) are missing after segment \(segment.name).")
  }

  private func decoded(
    _ header: FrameHeader, from scanner: SegmentScanner
  ) throws(JournalError) -> (JournalPosition, JournalEntry) {
    guard let entry = scanner.withPayload({ decoder.decode($0) }) else {
      let start = scanner.offset - Int64(FrameHeader.byteCount + header.payloadBytes)
      throw JournalError.damage(in: scanner.segment, at: start)
    }
    return (JournalPosition(header.sequence), entry)
  }

  /// Differences reach back to their segment's start, so reading begins there.
  private func firstSegment() throws(JournalError) -> JournalSegment? {
    let segments = try directory.segments()
    return segments.last { $0.first <= after.sequence + 1 } ?? segments.first
  }

  private func enter(_ segment: JournalSegment) throws(JournalError) {
    scanner = try SegmentScanner(segment, in: directory)
    decoder.reset()
  }
}

/// The heads of a journal's latest entries: what a start must know before it sends anything, and
/// may not wait for. A head stands uncompressed in its frame, so that an hour of a whole market is
/// read without inflating a gigabyte.

import Market

package struct JournalHead: Sendable {
  package var position: JournalPosition
  package var kind: EntryKind
  package var source: Source
  package var key: String
  package var receivedAt: Timestamp
  /// What was asked for, or a control entry's text; nil in an answer.
  package var request: [UInt8]?
}

extension JournalReader {
  /// The heads of the entries received since a moment, in order. What is damaged is left out. There
  /// may be some of before that moment among them, and entries may come twice where a failed sync
  /// was healed.
  package static func heads(
    in path: String, since moment: Timestamp, _ body: (JournalHead) -> Void
  ) throws(JournalError) {
    let directory = JournalDirectory(path: path)
    let decoder = try EntryDecoder()
    for segment in try latest(in: directory, since: moment) {
      let scanner = try SegmentScanner(segment, in: directory)
      while case .frame(let header) = try scanner.step() {
        let position = JournalPosition(header.sequence)
        let made = scanner.withPayload { JournalHead($0, at: position, decoder: decoder) }
        guard let head = made else { continue }
        if head.receivedAt >= moment { body(head) }
      }
    }
  }

  /// The segments from the last one that begins before a moment on.
  private static func latest(
    in directory: JournalDirectory, since moment: Timestamp
  ) throws(JournalError) -> ArraySlice<JournalSegment> {
    let segments = try directory.segments()
    for (index, segment) in segments.enumerated().reversed() {
      let scanner = try SegmentScanner(segment, in: directory)
      guard case .frame = try scanner.step() else { continue }
      let beganAt = scanner.withPayload { EntryMeta($0)?.receivedAt }
      if let beganAt, beganAt < moment { return segments[index...] }
    }
    return segments[...]
  }
}

extension JournalHead {
  /// nil when the payload does not make an entry.
  fileprivate init?(
    _ payload: UnsafeRawBufferPointer, at position: JournalPosition, decoder: EntryDecoder
  ) {
    guard let meta = EntryMeta(payload) else { return nil }
    let key = payload[EntryMeta.byteCount..<meta.dataOffset]
    self.init(
      position: position, kind: meta.kind, source: meta.source,
      key: String(decoding: key, as: UTF8.self),
      receivedAt: meta.receivedAt,
      request: meta.kind == .response ? nil : decoder.decode(payload)?.request)
  }
}

/// Turns entries into frames. Each answer of a series is stored as a difference to the one before
/// it: zstd takes the earlier bytes as a prefix it may refer to, so a sweep that changed little
/// takes little space.
///
/// The encoder decides which earlier payloads are kept (`slots`) and writes that decision into
/// each frame; the decoder only follows, so the two can never disagree about what to forget.
/// Nothing is remembered of an entry until `commit()`: one that could not be written must not
/// become the base of the next.

import CZstd
import Market

/// What is kept for differences: at most 64 × 512 KiB. A batch of 800 quotes is 210 KB.
enum Slots {
  static let countMax = 64
  static let payloadBytesMax = 512 << 10
  /// The size below which a difference saves nothing.
  static let payloadBytesMin = 64
  /// The slot in the frame of an entry that is not kept.
  static let none = UInt8.max
}

final class EntryEncoder {
  private struct Series: Equatable {
    var kind: EntryKind
    var source: Source
    var key: String
  }

  private struct Slot {
    var series: Series
    var payload: [UInt8]
    var usedAt: Int64
  }

  /// The size above which the frame buffer is given back after use.
  private static let frameBytesKept = 1 << 20
  private static let compressionLevel: Int32 = 1
  /// Reaches over the prefix and the payload: 2 × 512 KiB.
  private static let windowLog: Int32 = 20
  /// Measured on 7 answers of 195 KB with 30 % of the lines new: 14 gives 136 KB a sweep, 17 gives
  /// 117 KB in the same 3.5 ms, 19 gives 116 KB in four times that.
  private static let hashLog: Int32 = 17

  private let context: OpaquePointer
  private var slots: [Slot] = []
  private var pending: (index: Int, slot: Slot)?
  private var frame: [UInt8] = []
  private(set) var frameBytes = 0

  init() throws(JournalError) {
    guard let context = ZSTD_createCCtx() else {
      throw JournalError(.system, sentence: "Cannot make a compressor: out of memory.")
    }
    self.context = context
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, EntryEncoder.compressionLevel)
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, EntryEncoder.windowLog)
    ZSTD_CCtx_setParameter(context, ZSTD_c_hashLog, EntryEncoder.hashLog)
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
  }

  deinit { ZSTD_freeCCtx(context) }

  /// Forgets all series: the first frame of each in a segment stands alone.
  func reset() {
    slots.removeAll()
    pending = nil
  }

  /// Lays the entry's frame into the buffer and returns the checksum the next one links to.
  func encode(
    _ entry: JournalEntry, sequence: Int64, previous: UInt32
  ) throws(JournalError) -> UInt32 {
    try EntryEncoder.check(entry)
    pending = nil
    let payload = entry.request + entry.body
    let index = slotIndex(for: entry, payload: payload, sequence: sequence)
    let start = FrameHeader.byteCount + EntryMeta.byteCount + entry.key.utf8.count
    let needed = start + max(payload.count, ZSTD_compressBound(payload.count))
    if frame.count < needed { frame = [UInt8](repeating: 0, count: needed) }
    let (packing, dataBytes) = try pack(payload, base: index, at: start)
    frameBytes = start + dataBytes
    let meta = EntryMeta(entry, packing: packing, slot: index.map(UInt8.init) ?? Slots.none)
    return frame.withUnsafeMutableBytes { buffer in
      let frame = UnsafeMutableRawBufferPointer(rebasing: buffer[..<frameBytes])
      meta.write(
        to: UnsafeMutableRawBufferPointer(rebasing: frame[FrameHeader.byteCount...]),
        key: entry.key)
      return FrameHeader.seal(frame, sequence: sequence, previous: previous)
    }
  }

  func withFrame<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    frame.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<frameBytes])) }
  }

  /// The frame is in the file: its payload may now be referred to.
  func commit() {
    if let (index, slot) = pending {
      if index == slots.count { slots.append(slot) } else { slots[index] = slot }
      pending = nil
    }
    if frame.count > EntryEncoder.frameBytesKept { frame = [] }
  }

  private static func check(_ entry: JournalEntry) throws(JournalError) {
    guard entry.key.utf8.count <= EntryLimits.keyBytesMax, entry.key.utf8.allSatisfy({ $0 < 128 })
    else {
      throw JournalError(
        .invalidEntry, sentence: "A key must be at most \(EntryLimits.keyBytesMax) ASCII bytes.")
    }
    let bytes = entry.request.count + entry.body.count
    guard bytes <= EntryLimits.payloadBytesMax else {
      throw JournalError(
        .invalidEntry,
        sentence: "An entry of \(bytes) bytes is over the \(EntryLimits.payloadBytesMax) allowed.")
    }
  }

  /// The slot of this series: its own, a fresh one, or the one unused for longest. nil when the
  /// payload is not to be kept: what is no answer can be read without the entries before it.
  private func slotIndex(for entry: JournalEntry, payload: [UInt8], sequence: Int64) -> Int? {
    guard entry.kind == .response,
      (Slots.payloadBytesMin...Slots.payloadBytesMax).contains(payload.count)
    else {
      return nil
    }
    let series = Series(kind: entry.kind, source: entry.source, key: entry.key)
    let index =
      slots.firstIndex { $0.series == series }
      ?? (slots.count < Slots.countMax ? slots.count : leastRecentlyUsed)
    pending = (index, Slot(series: series, payload: payload, usedAt: sequence))
    return index
  }

  private var leastRecentlyUsed: Int {
    slots.indices.reduce(0) { slots[$1].usedAt < slots[$0].usedAt ? $1 : $0 }
  }

  /// Stores the payload at `start` of the frame in the smallest form.
  private func pack(
    _ payload: [UInt8], base index: Int?, at start: Int
  ) throws(JournalError) -> (Packing, bytes: Int) {
    guard payload.count >= Slots.payloadBytesMin else {
      return (.plain, copy(payload, at: start))
    }
    let base = index.flatMap { $0 < slots.count ? slots[$0] : nil }
    let own = base.flatMap { $0.series == pending?.slot.series ? $0.payload : nil }
    if let own, own == payload { return (.same, 0) }
    let bytes = try compress(payload, prefix: own ?? [], at: start)
    guard bytes < payload.count else { return (.plain, copy(payload, at: start)) }
    return (own == nil ? .compressed : .difference, bytes)
  }

  private func copy(_ payload: [UInt8], at start: Int) -> Int {
    frame.replaceSubrange(start..<start + payload.count, with: payload)
    return payload.count
  }

  private func compress(
    _ payload: [UInt8], prefix: [UInt8], at start: Int
  ) throws(JournalError) -> Int {
    let result = prefix.withUnsafeBytes { prefix in
      payload.withUnsafeBytes { source in
        frame.withUnsafeMutableBytes { frame in
          let room = UnsafeMutableRawBufferPointer(rebasing: frame[start...])
          ZSTD_CCtx_refPrefix(context, prefix.baseAddress, prefix.count)
          return ZSTD_compress2(
            context, room.baseAddress, room.count, source.baseAddress, source.count)
        }
      }
    }
    guard ZSTD_isError(result) == 0 else {
      throw JournalError(
        .system, sentence: "Cannot compress: \(String(cString: ZSTD_getErrorName(result))).")
    }
    return result
  }
}

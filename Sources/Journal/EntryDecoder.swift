/// Turns the payloads of frames back into entries, following the slots the encoder chose. Frames
/// must come in order from the start of their segment.

import CZstd

final class EntryDecoder {
  private let context: OpaquePointer
  private var slots = [[UInt8]?](repeating: nil, count: Slots.countMax)

  init() throws(JournalError) {
    guard let context = ZSTD_createDCtx() else {
      throw JournalError(.system, sentence: "Cannot make a decompressor: out of memory.")
    }
    self.context = context
  }

  deinit { ZSTD_freeDCtx(context) }

  func reset() {
    for index in slots.indices { slots[index] = nil }
  }

  /// nil when the payload, though its checksum is right, does not make an entry.
  func decode(_ payload: UnsafeRawBufferPointer) -> JournalEntry? {
    guard let meta = EntryMeta(payload) else { return nil }
    let key = payload[EntryMeta.byteCount..<meta.dataOffset]
    let stored = UnsafeRawBufferPointer(rebasing: payload[meta.dataOffset...])
    guard let data = unpack(stored, of: meta), data.count == meta.requestBytes + meta.bodyBytes
    else {
      return nil
    }
    if Int(meta.slot) < slots.count { slots[Int(meta.slot)] = data }
    return JournalEntry(
      kind: meta.kind, source: meta.source, key: String(decoding: key, as: UTF8.self),
      requestedAt: meta.requestedAt, receivedAt: meta.receivedAt, status: meta.status,
      request: Array(data[..<meta.requestBytes]), body: Array(data[meta.requestBytes...]))
  }

  private func unpack(_ stored: UnsafeRawBufferPointer, of meta: EntryMeta) -> [UInt8]? {
    let base = Int(meta.slot) < slots.count ? slots[Int(meta.slot)] : nil
    switch meta.packing {
    case .plain: return Array(stored)
    case .compressed: return inflate(stored, to: meta.requestBytes + meta.bodyBytes, prefix: [])
    case .same: return base
    case .difference:
      guard let base else { return nil }
      return inflate(stored, to: meta.requestBytes + meta.bodyBytes, prefix: base)
    }
  }

  private func inflate(
    _ stored: UnsafeRawBufferPointer, to bytes: Int, prefix: [UInt8]
  ) -> [UInt8]? {
    var failed = false
    let data = [UInt8](unsafeUninitializedCapacity: bytes) { room, count in
      let result = prefix.withUnsafeBytes { prefix in
        ZSTD_DCtx_refPrefix(context, prefix.baseAddress, prefix.count)
        return ZSTD_decompressDCtx(
          context, room.baseAddress, bytes, stored.baseAddress, stored.count)
      }
      failed = ZSTD_isError(result) != 0 || result != bytes
      count = failed ? 0 : bytes
    }
    return failed ? nil : data
  }
}

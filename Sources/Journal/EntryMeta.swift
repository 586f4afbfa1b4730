/// The head of a frame's payload: everything of an entry but its bytes, uncompressed, so that a
/// segment can be dated and searched without inflating it.
///
///     0 kind   1 packing   2 slot   3 bytes of key   4 source   6 zero   8 status
///     12 requested at   20 received at   28 bytes of request   32 bytes of body   36 key, data

import Market

/// How the data of an entry (request, then body) is stored. The raw value is on disk.
enum Packing: UInt8 {
  case plain = 0
  /// zstd, standing alone.
  case compressed = 1
  /// zstd, as a difference to what the slot holds.
  case difference = 2
  /// Byte for byte what the slot holds; no data.
  case same = 3
}

struct EntryMeta {
  static let byteCount = 36
  /// A compressed frame is only kept when it is smaller than the plain bytes.
  static let payloadBytesMax = byteCount + EntryLimits.keyBytesMax + EntryLimits.payloadBytesMax

  var kind: EntryKind
  var packing: Packing
  var slot: UInt8
  var source: Source
  var status: Int32
  var requestedAt: Timestamp
  var receivedAt: Timestamp
  var requestBytes: Int
  var bodyBytes: Int
  var keyBytes: Int

  init(_ entry: JournalEntry, packing: Packing, slot: UInt8) {
    kind = entry.kind
    self.packing = packing
    self.slot = slot
    source = entry.source
    status = entry.status
    requestedAt = entry.requestedAt
    receivedAt = entry.receivedAt
    requestBytes = entry.request.count
    bodyBytes = entry.body.count
    keyBytes = entry.key.utf8.count
  }

  /// nil when a field has a value this version does not know, or the lengths do not fit.
  init?(_ payload: UnsafeRawBufferPointer) {
    guard payload.count >= EntryMeta.byteCount, let kind = EntryKind(rawValue: payload[0]),
      let packing = Packing(rawValue: payload[1])
    else { return nil }
    self.kind = kind
    self.packing = packing
    slot = payload[2]
    keyBytes = Int(payload[3])
    source = Source(rawValue: payload.integer(at: 4))
    status = payload.integer(at: 8)
    requestedAt = Timestamp(microseconds: payload.integer(at: 12))
    receivedAt = Timestamp(microseconds: payload.integer(at: 20))
    requestBytes = Int(payload.integer(at: 28, as: UInt32.self))
    bodyBytes = Int(payload.integer(at: 32, as: UInt32.self))
    guard requestBytes + bodyBytes <= EntryLimits.payloadBytesMax,
      keyBytes <= EntryLimits.keyBytesMax, payload.count >= dataOffset
    else { return nil }
  }

  var dataOffset: Int { EntryMeta.byteCount + keyBytes }

  func write(to payload: UnsafeMutableRawBufferPointer, key: String) {
    payload[0] = kind.rawValue
    payload[1] = packing.rawValue
    payload[2] = slot
    payload[3] = UInt8(keyBytes)
    payload.store(source.rawValue, at: 4)
    payload.store(UInt16(0), at: 6)
    payload.store(status, at: 8)
    payload.store(requestedAt.microseconds, at: 12)
    payload.store(receivedAt.microseconds, at: 20)
    payload.store(UInt32(requestBytes), at: 28)
    payload.store(UInt32(bodyBytes), at: 32)
    for (index, byte) in key.utf8.enumerated() { payload[EntryMeta.byteCount + index] = byte }
  }
}

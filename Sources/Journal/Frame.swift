/// The bytes on disk. A segment file is one header and then frames, nothing between them. All
/// integers are little-endian.
///
///     segment header, 24 bytes       frame header, 28 bytes
///     0  magic "CANDLEDJ"            0  magic "CNDJ"
///     8  checksum of 12…23           4  checksum of 8…27
///     12 version                     8  sequence (the entry's position)
///     16 first sequence              16 bytes of payload
///                                    20 checksum of the payload
///                                    24 checksum (field 4) of the frame or header before
///
/// The header has a checksum of its own so that a length is used only when it was written whole:
/// that is what tells a torn tail from damage. The link to the frame before makes a stretch of
/// stale but once valid bytes show.

import CLinux
import Glibc

func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
  candled_crc32c(0, bytes.baseAddress, bytes.count)
}

extension UnsafeMutableRawBufferPointer {
  func store(_ value: some FixedWidthInteger, at offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: type(of: value))
  }
}

extension UnsafeRawBufferPointer {
  func integer<Value: FixedWidthInteger>(at offset: Int, as type: Value.Type = Value.self) -> Value
  {
    Value(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
  }
}

struct SegmentHeader {
  static let byteCount = 24
  static let version: UInt32 = 1
  private static let magic: UInt64 = 0x4A44_454C_444E_4143

  let firstSequence: Int64
  let version: UInt32
  let checksum: UInt32

  init(firstSequence: Int64) {
    self.firstSequence = firstSequence
    version = SegmentHeader.version
    checksum = SegmentHeader.encode(firstSequence).withUnsafeBytes { $0.integer(at: 8) }
  }

  /// nil when the bytes are no segment header that was written whole.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= SegmentHeader.byteCount,
      bytes.integer(at: 0, as: UInt64.self) == SegmentHeader.magic
    else { return nil }
    checksum = bytes.integer(at: 8)
    version = bytes.integer(at: 12)
    firstSequence = bytes.integer(at: 16)
    guard checksum == SegmentHeader.checksum(of: bytes) else { return nil }
  }

  var encoded: [UInt8] { SegmentHeader.encode(firstSequence) }

  private static func encode(_ firstSequence: Int64) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: byteCount)
    bytes.withUnsafeMutableBytes { buffer in
      buffer.store(magic, at: 0)
      buffer.store(version, at: 12)
      buffer.store(firstSequence, at: 16)
      buffer.store(checksum(of: UnsafeRawBufferPointer(buffer)), at: 8)
    }
    return bytes
  }

  private static func checksum(of bytes: UnsafeRawBufferPointer) -> UInt32 {
    Journal.checksum(UnsafeRawBufferPointer(rebasing: bytes[12..<byteCount]))
  }
}

struct FrameHeader {
  static let byteCount = 28
  static let magicBytes = 4
  private static let magic: UInt32 = 0x4A44_4E43

  let sequence: Int64
  let payloadBytes: Int
  let payloadChecksum: UInt32
  let previous: UInt32
  let checksum: UInt32

  /// nil when the bytes are no frame header that was written whole.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= FrameHeader.byteCount,
      bytes.integer(at: 0, as: UInt32.self) == FrameHeader.magic
    else { return nil }
    checksum = bytes.integer(at: 4)
    sequence = bytes.integer(at: 8)
    payloadBytes = Int(bytes.integer(at: 16, as: UInt32.self))
    payloadChecksum = bytes.integer(at: 20)
    previous = bytes.integer(at: 24)
    guard checksum == FrameHeader.checksum(of: bytes),
      (EntryMeta.byteCount...EntryMeta.payloadBytesMax).contains(payloadBytes)
    else { return nil }
  }

  /// The first offset that holds the magic.
  static func firstMagic(in bytes: UnsafeRawBufferPointer) -> Int? {
    guard let base = bytes.baseAddress else { return nil }
    var offset = 0
    while offset + magicBytes <= bytes.count {
      let rest = bytes.count - magicBytes + 1 - offset
      guard let hit = memchr(base + offset, CInt(magic & 0xFF), rest) else { return nil }
      offset = UnsafeRawPointer(hit) - base
      if bytes.integer(at: offset, as: UInt32.self) == magic { return offset }
      offset += 1
    }
    return nil
  }

  /// Fills in the header of a frame whose payload already stands behind it.
  static func seal(
    _ frame: UnsafeMutableRawBufferPointer, sequence: Int64, previous: UInt32
  ) -> UInt32 {
    let payload = UnsafeRawBufferPointer(rebasing: frame[byteCount...])
    frame.store(magic, at: 0)
    frame.store(sequence, at: 8)
    frame.store(UInt32(payload.count), at: 16)
    frame.store(Journal.checksum(payload), at: 20)
    frame.store(previous, at: 24)
    let sum = checksum(of: UnsafeRawBufferPointer(frame))
    frame.store(sum, at: 4)
    return sum
  }

  private static func checksum(of bytes: UnsafeRawBufferPointer) -> UInt32 {
    Journal.checksum(UnsafeRawBufferPointer(rebasing: bytes[8..<byteCount]))
  }
}

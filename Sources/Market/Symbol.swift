/// The name of an instrument: up to 16 ASCII bytes held inline, so that a whole market of quotes
/// is compared, hashed and copied without touching the heap.
///
/// The canonical spelling is the one stored: `sh600519`, `sz000001`, `bj920000`, `AAPL`,
/// `gb_$ixic`, `rt_hkHSI`.
public struct Symbol: Sendable, Hashable {
  /// The first and the last eight bytes, first byte lowest, padded with zeros.
  public let low: UInt64
  public let high: UInt64

  public static let bytesMax = 16

  @inlinable
  public init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// nil unless 1…16 bytes, each a letter, a digit or one of `_ $ . - /`.
  public init?(bytes: UnsafeRawBufferPointer) {
    guard (1...Symbol.bytesMax).contains(bytes.count) else { return nil }
    var low: UInt64 = 0
    var high: UInt64 = 0
    for (index, byte) in bytes.enumerated() {
      guard Symbol.isAllowed(byte) else { return nil }
      if index < 8 {
        low |= UInt64(byte) << (8 * index)
      } else {
        high |= UInt64(byte) << (8 * (index - 8))
      }
    }
    self.init(low: low, high: high)
  }

  /// nil unless `text` is a symbol, as `init(bytes:)` says.
  public init?(_ text: some StringProtocol) {
    var copy = String(text)
    guard let symbol = copy.withUTF8({ Symbol(bytes: UnsafeRawBufferPointer($0)) }) else {
      return nil
    }
    self = symbol
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    case UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "."), UInt8(ascii: "-"),
      UInt8(ascii: "/"):
      true
    default: false
    }
  }

  /// The spelling, as ASCII bytes.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Symbol.bytesMax)
    for word in [low, high] {
      var rest = word
      while rest != 0 {
        bytes.append(UInt8(truncatingIfNeeded: rest))
        rest >>= 8
      }
    }
    return bytes
  }
}

extension Symbol: CustomStringConvertible, Comparable {
  public var description: String { String(decoding: bytes, as: Unicode.ASCII.self) }

  /// Byte order of the spelling.
  public static func < (left: Symbol, right: Symbol) -> Bool {
    (left.low.byteSwapped, left.high.byteSwapped) < (right.low.byteSwapped, right.high.byteSwapped)
  }
}

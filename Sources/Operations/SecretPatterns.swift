/// Byte strings that are looked for in one pass over a text, however many they are.
///
/// Each has at least four bytes: a hash of the four at a place says, for nearly all places, that
/// none begins there. What may begin is compared, the longest first.

struct SecretPatterns: Sendable {
  /// Those that begin with the same four bytes, the longest first.
  private var byStart: [UInt32: [[UInt8]]] = [:]
  /// A bit for each hash of the first four bytes of one.
  private var marks: [UInt64] = []

  var isEmpty: Bool { byStart.isEmpty }

  private static let startBytes = 4
  private static let hashBits: UInt32 = 12

  init() {}

  /// - Precondition: each has four bytes or more.
  init(_ patterns: Set<[UInt8]>) {
    if patterns.isEmpty { return }
    marks = Array(repeating: 0, count: 1 << (Self.hashBits - 6))
    for pattern in patterns {
      let start = pattern.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
      byStart[start, default: []].append(pattern)
      let hash = Self.hash(start)
      marks[hash >> 6] |= 1 << UInt64(hash & 63)
    }
    for start in byStart.keys { byStart[start]?.sort { $0.count > $1.count } }
  }

  /// Knuth's multiplicative hash.
  @inline(__always)
  private static func hash(_ start: UInt32) -> Int {
    Int((start &* 2_654_435_761) &>> (32 - hashBits))
  }

  /// Where they stand, in order; those that overlap are one place.
  func places(in bytes: UnsafeRawBufferPointer, bytesMin: Int = 0) -> [Range<Int>] {
    var places: [Range<Int>] = []
    guard !isEmpty, bytes.count >= Self.startBytes else { return places }
    marks.withUnsafeBufferPointer { marks in
      for place in 0...bytes.count - Self.startBytes {
        let start = bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
        let hash = Self.hash(start)
        if marks[hash >> 6] & 1 << UInt64(hash & 63) == 0 { continue }
        guard let length = length(at: place, start: start, in: bytes, bytesMin: bytesMin) else {
          continue
        }
        if let last = places.last, place < last.upperBound {
          places[places.count - 1] = last.lowerBound..<max(last.upperBound, place + length)
        } else {
          places.append(place..<place + length)
        }
      }
    }
    return places
  }

  /// Of the longest that begins there.
  private func length(
    at place: Int, start: UInt32, in bytes: UnsafeRawBufferPointer, bytesMin: Int
  ) -> Int? {
    let rest = UnsafeRawBufferPointer(rebasing: bytes[place...])
    return byStart[start]?.first { $0.count >= bytesMin && rest.starts(with: $0) }?.count
  }
}

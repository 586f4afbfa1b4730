/// The few byte searches the feeds share. Found positions are offsets into the buffer given.

import Glibc

extension UnsafeRawBufferPointer {
  /// The bytes from `start` up to `end`, as a buffer of their own.
  @inline(__always)
  func slice(_ start: Int, to end: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[start..<end])
  }

  /// The bytes behind the first `count`.
  func dropping(_ count: Int) -> UnsafeRawBufferPointer {
    slice(Swift.min(count, self.count), to: self.count)
  }

  /// Where `byte` first stands at or behind `start`.
  func offset(of byte: UInt8, from start: Int = 0) -> Int? {
    guard let base = baseAddress, start < count else { return nil }
    guard let found = memchr(base + start, Int32(byte), count - start) else { return nil }
    return UnsafeRawPointer(found) - base
  }

  /// Where `pattern` first stands at or behind `start`.
  func offset(of pattern: [UInt8], from start: Int = 0) -> Int? {
    guard let lead = pattern.first else { return nil }
    var next = start
    while let candidate = offset(of: lead, from: next) {
      if starts(with: pattern, at: candidate) { return candidate }
      next = candidate + 1
    }
    return nil
  }

  func starts(with pattern: [UInt8], at start: Int = 0) -> Bool {
    guard let base = baseAddress, start + pattern.count <= count else { return false }
    return pattern.withUnsafeBytes { other in
      guard let otherBase = other.baseAddress else { return true }
      return memcmp(base + start, otherBase, pattern.count) == 0
    }
  }

  func equals(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let left = baseAddress, let right = other.baseAddress else { return true }
    return memcmp(left, right, count) == 0
  }

  /// The bytes without the spaces, tabs and line ends around them.
  var trimmed: UnsafeRawBufferPointer {
    var start = 0
    var end = count
    while start < end, UnsafeRawBufferPointer.isBlank(self[start]) { start += 1 }
    while end > start, UnsafeRawBufferPointer.isBlank(self[end - 1]) { end -= 1 }
    return slice(start, to: end)
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || (9...13).contains(byte)
  }

  /// Where each part between two separators begins and ends; one part for an empty buffer.
  func parts(separatedBy separator: UInt8) -> [Range<Int>] {
    var parts: [Range<Int>] = []
    var start = 0
    while let end = offset(of: separator, from: start) {
      parts.append(start..<end)
      start = end + 1
    }
    parts.append(start..<count)
    return parts
  }
}

import Glibc

/// The line each instrument was last taken from, to know a repetition by its bytes: most lines of a
/// sweep say what the last one said. The memory of a line is used again for the next, so that a
/// sweep allocates nothing.
struct LineMemory: Sendable {
  /// The lines by the book's index; empty where none was seen since the start.
  private var lines: [[UInt8]] = []

  /// Whether `line` is what is kept at `index`; nil if nothing is.
  func holds(_ line: UnsafeRawBufferPointer, at index: Int) -> Bool? {
    guard index < lines.count, !lines[index].isEmpty else { return nil }
    guard lines[index].count == line.count, let theirs = line.baseAddress else { return false }
    return lines[index].withUnsafeBytes { mine in
      mine.baseAddress.map { memcmp($0, theirs, line.count) == 0 } ?? false
    }
  }

  /// The next line at `index` is none that was seen.
  mutating func forget(_ index: Int) {
    if index < lines.count { lines[index].removeAll(keepingCapacity: true) }
  }

  mutating func keep(_ line: UnsafeRawBufferPointer, at index: Int) {
    while lines.count <= index { lines.append([]) }
    lines[index].removeAll(keepingCapacity: true)
    lines[index].append(contentsOf: line)
  }
}

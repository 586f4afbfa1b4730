/// The fields of one line. Names are not decoded to find them: the second byte of a GB18030
/// character, which may be `~`, is stepped over. Kept and reused for every line.

struct TencentFields {
  private var content = UnsafeRawBufferPointer(start: nil, count: 0)
  private var ends: [Int] = []

  /// What is behind this many is never read: a line has 88 (docs/sources/tencent.md#fields).
  private static let countMax = 128

  var count: Int { ends.count }

  /// - Precondition: an index below `count`.
  subscript(index: Int) -> UnsafeRawBufferPointer {
    content.slice(index == 0 ? 0 : ends[index - 1] + 1, to: ends[index])
  }

  /// The field, or an empty one where the line is shorter.
  func optional(_ index: Int) -> UnsafeRawBufferPointer {
    index < count ? self[index] : content.slice(0, to: 0)
  }

  mutating func split(_ content: UnsafeRawBufferPointer, charset: NameCharset) {
    self.content = content
    ends.removeAll(keepingCapacity: true)
    let steps = charset == .gb18030
    var index = 0
    while index < content.count, ends.count < TencentFields.countMax {
      let byte = content[index]
      if byte == UInt8(ascii: "~") {
        ends.append(index)
      } else if steps, byte > 0x80, byte < 0xFF {
        index += 1
      }
      index += 1
    }
    if ends.count < TencentFields.countMax { ends.append(content.count) }
  }
}

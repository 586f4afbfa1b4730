/// GB18030 to Swift strings, by glibc's iconv(3).
///
/// One descriptor is opened once and reused: opening costs more than decoding a name. It is
/// stateful, so an instance belongs to one isolation domain. Decoding is per name, which confines
/// a bad byte to its name; no byte sequence fails as a whole, what cannot be read becomes U+FFFD.
/// Where the system has no GB18030 converter (a container without gconv), only ASCII and UTF-8
/// names are readable.

import Glibc

package final class GB18030Decoder {
  private let descriptor: iconv_t?
  private var output: [UInt8]

  /// A name longer than this is cut; the longest of a Chinese listing has 40 bytes.
  package static let nameBytesMax = 256
  /// A GB18030 byte becomes at most three of UTF-8, U+FFFD for a single bad byte being the worst.
  private static let expansionMax = 3
  /// What iconv(3) returns on failure: (size_t)-1.
  private static let failure = Int(-1)

  package init() {
    let opened = iconv_open("UTF-8", "GB18030")
    descriptor = opened == iconv_t(bitPattern: -1) ? nil : opened
    output = [UInt8](
      repeating: 0, count: GB18030Decoder.nameBytesMax * GB18030Decoder.expansionMax)
  }

  deinit {
    if let descriptor { iconv_close(descriptor) }
  }

  /// The text of `name`, without what `NameText` takes out. Never fails: unreadable bytes become
  /// U+FFFD.
  package func text(of name: RawName) -> String { NameText.clean(rawText(of: name)) }

  private func rawText(of name: RawName) -> String {
    let count = min(name.bytes.count, GB18030Decoder.nameBytesMax)
    let bytes = name.bytes.slice(0, to: count)
    if name.charset == .utf8 { return String(decoding: bytes, as: UTF8.self) }
    if let exact = decoded(bytes, replacing: false) { return exact }
    if NameCharset.isUTF8(bytes) { return String(decoding: bytes, as: UTF8.self) }
    return decoded(bytes, replacing: true) ?? String(decoding: bytes, as: UTF8.self)
  }

  /// nil if there is no converter or, unless `replacing`, a byte it cannot read.
  private func decoded(_ bytes: UnsafeRawBufferPointer, replacing: Bool) -> String? {
    guard let descriptor else { return nil }
    guard let base = bytes.baseAddress else { return "" }
    return output.withUnsafeMutableBytes { buffer -> String? in
      guard let start = buffer.baseAddress else { return nil }
      // iconv(3) declares its input mutable for historical reasons and never writes to it.
      var input: UnsafeMutablePointer<CChar>? = UnsafeMutablePointer(
        mutating: base.assumingMemoryBound(to: CChar.self))
      var inputLeft = bytes.count
      var target: UnsafeMutablePointer<CChar>? = start.assumingMemoryBound(to: CChar.self)
      var targetLeft = buffer.count
      iconv(descriptor, nil, nil, nil, nil)
      while inputLeft > 0 {
        if iconv(descriptor, &input, &inputLeft, &target, &targetLeft) != GB18030Decoder.failure {
          break
        }
        guard replacing, inputLeft > 0, targetLeft >= 3 else { return nil }
        for byte in [0xEF, 0xBF, 0xBD] as [UInt8] {
          target?.pointee = CChar(bitPattern: byte)
          target = target.map { $0 + 1 }
        }
        targetLeft -= 3
        input = input.map { $0 + 1 }
        inputLeft -= 1
      }
      let text = UnsafeRawBufferPointer(start: start, count: buffer.count - targetLeft)
      return String(decoding: text, as: UTF8.self)
    }
  }
}
